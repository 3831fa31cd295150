// -- answer charts: all courses by size and sureness; one course under all conditions ---------------------------

const NAMED_DOTS = 8;
const NEAR = 14; // pixels within which a dot is meant

/** Every course as a dot: by its size, and by its log Bayes factor. Also says which course is near a place. */
function volcanoChart(data, width, { rate, chosen, height = Math.min(420, Math.max(300, width * 0.62)) }) {
  const ys = data.columns.log_bayes_factor;
  const what = data.compared ? "largest difference" : "largest change";
  const frame = axes({
    width, height, x: extent([data.size], 0.06), y: extent([ys], 0.05), top: 26,
    xLabel: `${what} (${data.valueLabel})`, yLabel: "log Bayes factor",
    label: `${counted(data.n, "course")} by ${what} and log Bayes factor`,
  });
  const places = Array.from(data.size, (x, i) => [frame.toX(x), frame.toY(ys[i])]);
  const groups = new Map();
  places.forEach(([x, y], i) => {
    const kind = isCalled(data, i, rate) ? kindOf(data, i) : NONE;
    groups.set(kind, `${groups.get(kind) ?? ""}M${x.toFixed(1)} ${y.toFixed(1)}h0`);
  });
  for (const [kind, d] of [...groups].sort(([a], [b]) => a - b)) {
    frame.plot.append(svg("path", { d, fill: "none", stroke: kind === NONE ? "var(--axis)" : clusterColor(kind),
      "stroke-width": kind === NONE ? 3.4 : 5, "stroke-opacity": kind === NONE ? 0.5 : 0.85, "stroke-linecap": "round" }));
  }
  nameDots(data, frame, places, rate, width);
  if (chosen >= 0) {
    frame.plot.append(svg("circle", { cx: places[chosen][0], cy: places[chosen][1], r: 7, fill: "none",
      stroke: "var(--ink)", "stroke-width": 1.8 }));
  }
  frame.root.append(legend(volcanoEntries(data, width), frame.margin.left, 14));
  return { root: frame.root, near: (x, y) => nearest(places, x, y) };
}

/** Entries of the legend: conditions in which a course is higher, or rise and fall. */
function volcanoEntries(data, width) {
  const most = Math.max(Math.floor((width - 120) / (9 * data.conditions.length)), 6);
  const words = data.compared ? data.conditions.map(({ name }) => `higher in ${shortened(name, most)}`) : ["rise", "fall"];
  return words.map((text, kind) => ({ text, color: clusterColor(kind), dot: true }));
}

/** The dot that is nearest to a place, or -1 where none is near. */
function nearest(places, x, y) {
  let [best, found] = [NEAR ** 2, -1];
  for (let i = 0; i < places.length; i += 1) {
    const off = (places[i][0] - x) ** 2 + (places[i][1] - y) ** 2;
    if (off < best) [best, found] = [off, i];
  }
  return found;
}

/** Names beside the surest dots, where they lie on no other name. */
function nameDots(data, frame, places, rate, width) {
  const taken = [];
  for (let i = 0; i < Math.min(data.n, 5 * NAMED_DOTS) && taken.length < NAMED_DOTS; i += 1) {
    if (!isCalled(data, i, rate)) break;
    const [x, y] = places[i];
    const name = shortened(data.names[i], 20);
    const wide = 6 * name.length;
    const right = data.size[i] >= 0 ? x + wide + 8 < width : x - wide - 8 < frame.margin.left;
    const box = right ? [x + 5, x + 5 + wide] : [x - 5 - wide, x - 5];
    if (taken.some(([a, b, c]) => box[0] < b && a < box[1] && Math.abs(c - y) < 12)) continue;
    taken.push([...box, y]);
    frame.plot.append(svg("text", { x: right ? x + 5 : x - 5, y: y + 3.5, fill: "var(--ink)", stroke: "var(--halo)",
      "stroke-width": 3, "paint-order": "stroke", "text-anchor": right ? "start" : "end" }, name));
  }
}

/** A course: its values under every condition in colours, with curves and bands where the page has them. */
function valuesChart(data, index, width) {
  const shown = data.conditions.map((condition, c) => ({ ...condition, c, course: valuesAt(data, c, index),
    curve: conditionCurve(data, c, index) })).filter(({ course }) => course);
  const lists = shown.flatMap(({ course, curve }) => [course.values, ...(curve ? [edges(curve, -2), edges(curve, 2)] : [])]);
  const frame = axes({
    width, height: 280, ...timeAxis(data, AIR), y: extent(lists, 0.03), top: 26,
    xLabel: data.timeLabel, yLabel: data.valueLabel,
    label: `Values of ${data.names[index]} over ${data.timeLabel}${data.compared ? " under every condition" : ""}`,
  });
  for (const { c, curve } of shown) {
    if (curve) frame.plot.append(band(data.grid, curve, frame, { fill: clusterColor(c), "fill-opacity": 0.15 }));
  }
  for (const { c, name, course, curve } of shown) {
    const color = clusterColor(c);
    if (curve) frame.plot.append(line(data.grid, curve.mean, frame, { stroke: color, "stroke-width": 2.2 }));
    else frame.plot.append(meansLine(course, frame, color));
    frame.plot.append(...dots(course, frame, { fill: color, stroke: "var(--halo)" }, data.compared ? name : "value"));
  }
  if (data.changing) drawWhen(data, index, frame);
  frame.root.append(legend(valuesEntries(data, shown, width), frame.margin.left, 14));
  return frame.root;
}

/** A thin line through the means of replicates. */
function meansLine(course, frame, color) {
  const { times, values } = averaged(course);
  return line(times, values, frame, { stroke: color, "stroke-width": 1, "stroke-dasharray": "3 3" });
}

function valuesEntries(data, shown, width) {
  if (!data.compared) {
    return [{ text: "values", color: clusterColor(0), dot: true }, { text: "begins to change", color: clusterColor(2), dot: true },
      { text: "furthest off", color: clusterColor(1), dot: true }];
  }
  const most = Math.max(Math.floor(width / (9 * shown.length)) - 6, 6);
  return shown.map(({ c, name }) => ({ text: shortened(name, most), color: clusterColor(c), dot: true }));
}

/** When a course begins to change and when it is furthest off, at the bottom of its figure. */
function drawWhen(data, index, frame) {
  ["first_change", "peak"].forEach((name, k) => {
    const [at, low, high] = ["", "_from", "_to"].map((end) => cellOf(data, name + end, index));
    if (!Number.isFinite(at)) return;
    const [y, color] = [frame.bottom - 6 - 8 * k, clusterColor(k ? 1 : 2)];
    frame.plot.append(
      svg("line", { x1: frame.toX(low), x2: frame.toX(high), y1: y, y2: y, stroke: color, "stroke-width": 3, "stroke-opacity": 0.5 }),
      svg("circle", { cx: frame.toX(at), cy: y, r: 4, fill: color }),
    );
  });
}

/** The difference of a course between two conditions, with its band; times at which it is off zero are shaded. */
function differenceChart(data, index, pair, width) {
  const curve = curveAt(data, data.differences[pair], index, 0);
  const [first, second] = data.pairs[pair];
  const names = [first, second].map((c) => data.conditions[c].name);
  const frame = axes({
    width, height: 190, ...timeAxis(data, AIR), y: extent([edges(curve, -2), edges(curve, 2), [0]], 0.04),
    xLabel: data.timeLabel, yLabel: "difference",
    label: `${names[1]} less ${names[0]} of ${data.names[index]} over ${data.timeLabel}`,
  });
  for (const { from, to, sign } of stretchesOf(data, curve)) {
    const [left, right] = [frame.toX(from), frame.toX(to)];
    frame.plot.append(svg("rect", { x: left.toFixed(1), y: 0, width: Math.max(right - left, 2).toFixed(1), height: frame.bottom,
      fill: clusterColor(sign > 0 ? second : first), "fill-opacity": 0.16 }));
  }
  frame.plot.append(
    svg("line", { x1: 0, x2: width, y1: frame.toY(0), y2: frame.toY(0), stroke: "var(--axis)" }),
    band(data.grid, curve, frame, { fill: "var(--ink)", "fill-opacity": 0.12 }),
    line(data.grid, curve.mean, frame, { stroke: "var(--ink)", "stroke-width": 2.2 }),
  );
  return frame.root;
}
