// -- aligned: courses that differ in level, gain and delay, drawn on the curve of their cluster or as measured -------

const MOST_ROWS_OF_ORDER = 400;

/** Whether courses are drawn on the curve of their cluster; a page without freedoms has them as measured. */
const alignState = { on: true, changed: () => {} };

function isAligned(data) {
  return Boolean(data.freed) && alignState.on;
}

/** How a course differs from its cluster's curve; null where it is in none, or may not differ. */
function moveOf(data, index) {
  const label = data.labels[index];
  if (!data.freed || label === NONE) return null;
  const { delay, gain, level, clusterLevels } = data.freed;
  return {
    delay: delay?.mean[index] ?? 0, gain: gain?.mean[index] ?? 1,
    middle: level ? level.mean[index] : data.mean, onto: level ? clusterLevels[label] : data.mean,
  };
}

/** Times and values moved onto the cluster's curve: earlier by the delay, of its size, at its level. */
function movedOnto({ delay, gain, middle, onto }, { times, values }) {
  return { times: times.map((t) => t - delay), values: values.map((v) => (v - middle) / gain + onto) };
}

/** A course as it is drawn: aligned or as measured. */
function shownCourse(data, index) {
  const course = courseAt(data, index);
  const move = isAligned(data) ? moveOf(data, index) : null;
  return move ? { ...course, ...movedOnto(move, course) } : course;
}

/** A course and its own curve with its times (null without a basis), both aligned or as measured. */
function drawnCourse(data, course) {
  const own = sharedCurve(data, [course]);
  const move = isAligned(data) ? moveOf(data, course.index) : null;
  if (!move) return [course, own && { ...own, times: data.grid }];
  const curve = own && movedOnto(move, { times: Float64Array.from(data.grid), values: own.mean });
  return [{ ...course, ...movedOnto(move, course) },
    curve && { times: curve.times, mean: curve.values, sd: own.sd.map((sd) => sd / move.gain) }];
}

/** The curve of a course's cluster; beside values as measured, as late, large and high as this course. */
function clusterFor(data, index) {
  const label = data.labels[index];
  if (!data.freed) return { times: data.grid, mean: clusterCurve(data, label).mean };
  const { mean } = clusterCurve(data, label, data.freed);
  if (isAligned(data)) return { times: data.freed.grid, mean };
  const { delay, gain, middle, onto } = moveOf(data, index);
  const inside = (t) => t >= data.grid[0] && t <= data.grid[data.grid.length - 1];
  const points = Array.from(data.freed.grid, (t, i) => [t + delay, middle + gain * (mean[i] - onto)]).filter(([t]) => inside(t));
  return { times: points.map(([t]) => t), mean: points.map(([, value]) => value) };
}

/** Labels of the axes, which say what was moved. */
function axisLabels(data, label = 0) {
  const { timeLabel: time, valueLabel: value } = data;
  if (!isAligned(data) || label === NONE) return { time, value };
  const { delay, gain, level } = data.freed;
  return { time: delay ? `${time}, aligned` : time, value: gain || level ? `${value}, aligned` : value };
}

// -- the switch ----------------------------------------------------------------------------------------------------

/** What the panels show, in words. */
function alignWords(data) {
  const { words, names } = data.freed;
  if (alignState.on) return `Courses are drawn without their ${words}: each is moved onto the curve of its cluster.`;
  const plain = { level: "of the mean level", gain: "of gain 1", delay: "without delay" };
  return `Courses are drawn as they were measured. The curve is that of a course ${names.map((name) => plain[name]).join(", ")}; its band would not hold them, and is not drawn.`;
}

/** A choice between aligned and as measured; all of them on the page go together. */
function alignChoice() {
  const select = html("select", { class: "align" }, html("option", { value: "aligned" }, "aligned"),
    html("option", { value: "measured" }, "as measured"));
  select.value = alignState.on ? "aligned" : "measured";
  return html("label", {}, "Courses ", select);
}

/** The switch: what is chosen stays chosen. */
function startAligned(data) {
  if (!data.freed) return;
  alignState.on = remembered("align") !== "measured";
  byId("align").replaceChildren(alignChoice());
  byId("align-words").textContent = alignWords(data);
  document.addEventListener("change", ({ target }) => {
    if (!target.matches("select.align")) return;
    alignState.on = target.value === "aligned";
    remembered("align", target.value);
    for (const other of document.querySelectorAll("select.align")) other.value = target.value;
    byId("align-words").textContent = alignWords(data);
    alignState.changed();
    fitAll(true);
  });
}

// -- in words ------------------------------------------------------------------------------------------------------

/** A number beside an interval so wide. */
function within(number, width) {
  return beside(number, 33 * width);
}

/** "2.1 h later (1.5 to 2.8)", "0.1 h earlier (0.6 earlier to 0.4 later)". */
function laterWords(data, { mean, low, high }, i) {
  const unit = data.timeUnit ? ` ${data.timeUnit}` : "";
  const said = (number) => within(Math.abs(number), high[i] - low[i]);
  const side = (number) => (number < 0 ? "earlier" : "later");
  const bounds = low[i] < 0 && high[i] > 0 ? `${said(low[i])} earlier to ${said(high[i])} later`
    : [said(low[i]), said(high[i])].sort((a, b) => Number(a) - Number(b)).join(" to ");
  return `${said(mean[i])}${unit} ${side(mean[i])} (${bounds})`;
}

/** "0.61 times as large (0.5 to 0.7)". */
function largerWords({ mean, low, high }, i) {
  const said = (number) => within(number, high[i] - low[i]);
  return `${said(mean[i])} times as large (${said(low[i])} to ${said(high[i])})`;
}

/** How a course differs from its cluster's curve, in a sentence; nothing where it is in none. */
function placeWords(data, index) {
  if (!moveOf(data, index)) return "";
  const { delay, gain, level } = data.freed;
  const parts = [...(delay ? [laterWords(data, delay, index)] : []), ...(gain ? [largerWords(gain, index)] : [])];
  if (level) {
    const said = (number) => within(number, level.high[index] - level.low[index]);
    parts.push(`around a level of ${said(level.mean[index])} (${said(level.low[index])} to ${said(level.high[index])})`);
  }
  return `It is the curve of its cluster, ${parts.join(", ")}. In brackets: 90 % intervals.`;
}

/** Smallest and largest of an estimate in a cluster, in words. */
function rangeWords(data, members, name) {
  const known = data.freed?.[name];
  if (!known || !members.length) return [];
  const [low, high] = extent([members.map((i) => known.mean[i])], 0);
  const unit = name === "delay" && data.timeUnit ? ` ${data.timeUnit}` : "";
  return [`${name}s ${digits(low, 2)} to ${digits(high, 2)}${unit}`];
}

/** How a neighbour differs from a course, in words; nothing where that is not known. */
function neighborWords(data, at) {
  const { delay, gain } = data.neighbors.moved ?? {};
  return [...(delay ? [laterWords(data, delay, at)] : []), ...(gain ? [largerWords(gain, at)] : [])].join(", ");
}

// -- two courses ---------------------------------------------------------------------------------------------------

/** A neighbour as late, large and high as the course that it is a neighbour of, whose own curve it is moved to. */
function movedNeighbor(data, first, second, at, own) {
  const { delay, gain, words } = data.neighbors.moved;
  const times = second.times.map((t) => t - (delay?.mean[at] ?? 0));
  const values = second.values.map((v) => (v - data.mean) / (gain?.mean[at] ?? 1) + data.mean);
  if (!words.includes("level")) return { ...second, times, values };
  const [low, high] = extent([first.times], 0);
  const apart = Array.from(times, (t, i) => (t >= low && t <= high ? curveAt(data.grid, own.mean, t) - values[i] : NaN))
    .filter((difference) => !Number.isNaN(difference));
  const shift = apart.reduce((sum, difference) => sum + difference, 0) / (apart.length || 1);
  return { ...second, times, values: values.map((v) => v + shift) };
}

/** Value of a curve between the times at which it is known. */
function curveAt(grid, mean, time) {
  let i = 1;
  while (i < grid.length - 1 && grid[i] < time) i += 1;
  return mean[i - 1] + ((time - grid[i - 1]) / (grid[i] - grid[i - 1] || 1)) * (mean[i] - mean[i - 1]);
}

/** A course with its own curve, and a neighbour moved onto it. */
function alignedPairChart(data, first, second, at, width) {
  const own = sharedCurve(data, [first]);
  const moved = movedNeighbor(data, first, second, at, own);
  const names = [first, second].map(({ index }) => data.names[index]);
  const frame = axes({
    width, height: 240, ...timeAxis(data, AIR, extent([data.grid, moved.times], 0)), y: extent([first.values, moved.values, edges(own, -2), edges(own, 2)], 0.03),
    top: 26, xLabel: data.neighbors.moved.delay ? `${data.timeLabel}, aligned` : data.timeLabel, yLabel: data.valueLabel,
    label: `Values of ${names[0]} with its curve, and those of ${names[1]} moved onto it`,
  });
  frame.plot.append(
    band(data.grid, own, frame, { fill: FIRST, "fill-opacity": 0.14 }), line(data.grid, own.mean, frame, { stroke: FIRST, "stroke-width": 1.8 }),
    ...dots(first, frame, { fill: FIRST, stroke: "var(--halo)" }, names[0]), ...dots(moved, frame, { fill: SECOND, stroke: "var(--halo)" }, names[1]),
  );
  const entries = pairEntries(names, width, false);
  entries[1].text += ", moved";
  frame.root.append(legend(entries, frame.margin.left, 14));
  return frame.root;
}

// -- the order -----------------------------------------------------------------------------------------------------

/** The courses of all clusters, cluster after cluster, each from the smallest to the largest. */
function orderedRows(data, { mean }) {
  const members = Array.from({ length: data.n }, (_, i) => i).filter((i) => data.labels[i] !== NONE);
  return members.sort((a, b) => data.labels[a] - data.labels[b] || mean[a] - mean[b] || a - b);
}

/** Rows of a figure: the courses, and where each is from the top, with a gap between clusters. */
function placedRows(data, known) {
  const all = orderedRows(data, known);
  const rows = some(all, MOST_ROWS_OF_ORDER);
  const gap = Math.max(1, 0.03 * rows.length);
  let at = 0;
  const places = rows.map((row, i) => { at += i && data.labels[row] !== data.labels[rows[i - 1]] ? 1 + gap : 1; return at; });
  return { rows, places, last: at + 1, all: all.length };
}

/** A course in a figure of the order: its interval and its point, with words for those who point at them. */
function orderMark(data, index, mark, name, open) {
  const known = data.freed[name];
  const said = (part) => within(known[part][index], known.high[index] - known.low[index]);
  const words = name === "delay" ? laterWords(data, known, index) : `${said("mean")} (${said("low")} to ${said("high")})`;
  const group = svg("g", { class: "mark", "data-course": index }, svg("title", {}, `${data.names[index]}: ${words}`), ...mark);
  if (open) group.addEventListener("click", () => open(index));
  return group;
}

/** Level, gain or delay of all courses along a line, cluster after cluster, with their intervals. */
function orderChart(data, name, width, open) {
  const known = data.freed[name];
  if (name === "delay" && data.freed.period !== null) return circleChart(data, width, open);
  const { rows, places, last } = placedRows(data, known);
  const place = name === "gain" ? (x) => Math.log(x) : (x) => x;
  const ends = extent([rows.map((i) => place(known.low[i])), rows.map((i) => place(known.high[i]))], 0.02);
  const unit = { delay: `later than the cluster's curve${data.timeUnit ? ` (${data.timeUnit})` : ""}`, gain: "times as large as the cluster's curve", level: `level (${data.valueLabel})` };
  const height = Math.min(Math.max(60 + 6 * rows.length, 180), 620);
  const box = { left: 76, right: 14, top: 8, bottom: 38 };
  const along = scale(ends, [box.left, width - box.right]);
  const down = scale([0, last], [box.top, height - box.bottom]);
  const root = emptyFigure(width, height, `${name}s of ${counted(rows.length, "course")} in ${counted(data.k, "cluster")}, with 90 % intervals`);
  const marks = name === "gain" ? gainTicks(ends) : ticks(ends, (width - box.left) / 80);
  for (const t of marks) {
    const x = along(place(t)).toFixed(1);
    root.append(svg("line", { x1: x, x2: x, y1: box.top, y2: height - box.bottom, stroke: place(t) === 0 && name !== "level" ? "var(--axis)" : "var(--grid)" }),
      svg("text", { x, y: height - box.bottom + 15, "text-anchor": "middle" }, digits(t, 4)));
  }
  root.append(svg("text", { x: width - box.right, y: height - 6, "text-anchor": "end" }, unit[name]));
  rows.forEach((i, r) => {
    const [y, color] = [down(places[r]).toFixed(1), clusterColor(data.labels[i])];
    const interval = { x1: along(place(known.low[i])).toFixed(1), x2: along(place(known.high[i])).toFixed(1), y1: y, y2: y, stroke: color, "stroke-opacity": 0.45 };
    const dot = { cx: along(place(known.mean[i])).toFixed(1), cy: y, r: rows.length > 120 ? 1.8 : 3, fill: color };
    root.append(orderMark(data, i, [svg("line", interval), svg("circle", dot)], name, open));
  });
  return nameClusters(data, root, rows, (r) => down(places[r]));
}

/** Ratios between two logarithms: 0.5, 1, 2 where there is room. */
function gainTicks([low, high]) {
  const decades = [0.01, 0.1, 1, 10, 100].flatMap((power) => [1, 2, 5].map((m) => m * power));
  return decades.filter((ratio) => Math.log(ratio) >= low && Math.log(ratio) <= high);
}

/** A figure without axes. */
function emptyFigure(width, height, label) {
  return svg("svg", {
    xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label,
    "font-family": FONT, "font-size": 11, fill: "var(--muted)",
  });
}

/** Names of the clusters beside the middle of their rows. */
function nameClusters(data, root, rows, at) {
  for (let i = 0; i < rows.length;) {
    const label = data.labels[rows[i]];
    let end = i;
    while (end < rows.length && data.labels[rows[end]] === label) end += 1;
    root.append(svg("text", { x: 4, y: (at(i) + at(end - 1)) / 2 + 4, fill: "var(--ink)" }, clusterName(label)));
    i = end;
  }
  return root;
}

/** Phases of all courses on a circle, on which time runs clockwise; a later row is further out. */
function circleChart(data, width, open) {
  const { delay, period } = data.freed;
  const { rows, places, last } = placedRows(data, delay);
  const size = Math.min(width, 460);
  const [center, outer] = [size / 2, size / 2 - 26];
  const radius = (r) => outer * (0.45 + (0.52 * places[r]) / last);
  const point = (time, r) => {
    const angle = (2 * Math.PI * time) / period;
    return [center + r * Math.sin(angle), center - r * Math.cos(angle)].map((x) => x.toFixed(1));
  };
  const root = emptyFigure(size, size, `phases of ${counted(rows.length, "course")} in ${counted(data.k, "cluster")}, with 90 % intervals`);
  root.append(svg("circle", { cx: center, cy: center, r: outer, fill: "none", stroke: "var(--axis)" }));
  for (let part = 0; part < 8; part += 1) {
    const [x, y] = point((part / 8) * period, outer + 13);
    const [x2, y2] = point((part / 8) * period, outer);
    root.append(svg("line", { x1: center, y1: center, x2, y2, stroke: "var(--grid)" }),
      svg("text", { x, y: Number(y) + 4, "text-anchor": "middle" }, digits((part / 8) * period, 3)));
  }
  rows.forEach((i, r) => {
    const color = clusterColor(data.labels[i]);
    const arc = Array.from({ length: 17 }, (_, k) => point(delay.low[i] + (k / 16) * (delay.high[i] - delay.low[i]), radius(r)).join(" "));
    const [cx, cy] = point(delay.mean[i], radius(r));
    root.append(orderMark(data, i, [svg("path", { d: `M${arc.join("L")}`, fill: "none", stroke: color, "stroke-opacity": 0.45 }),
      svg("circle", { cx, cy, r: rows.length > 120 ? 1.8 : 3, fill: color })], "delay", open));
  });
  const entries = [...new Set(rows.map((i) => data.labels[i]))].slice(0, 8);
  entries.forEach((label, k) => root.append(
    svg("circle", { cx: center - 30, cy: center + (k - (entries.length - 1) / 2) * 15 - 4, r: 3.6, fill: clusterColor(label) }),
    svg("text", { x: center - 20, y: center + (k - (entries.length - 1) / 2) * 15, fill: "var(--ink)" }, clusterName(label))));
  return root;
}

function startOrder(data, open) {
  if (!data.freed) return;
  const select = byId("order-of");
  for (const name of ["delay", "gain", "level"].filter((one) => data.freed[one])) select.append(html("option", { value: name }, name));
  const draw = (width, visit) => orderChart(data, select.value, Math.min(width, 860), visit);
  const entry = figure(byId("order-figure"), (width) => draw(width, open));
  select.addEventListener("change", () => fit(entry));
  byId("order-svg").addEventListener("click", () => saveSvg(draw(SAVED_WIDTH), `${data.title}-${select.value}`));
  const left = orderedRows(data, data.freed[select.value]).length - MOST_ROWS_OF_ORDER;
  byId("order-status").textContent = left > 0 ? `${count(MOST_ROWS_OF_ORDER)} courses are drawn, evenly chosen; the table has all.` : "";
}
