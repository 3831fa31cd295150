// -- charts: what is drawn over time ---------------------------------------------------------------------------

const MOST_LINES = 150;
const FIRST = "var(--c0)";
const SECOND = "var(--c1)";
const AIR = 0.015; // at both ends of a time axis, for dots

/** Some of a list, evenly chosen. */
function some(list, most) {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, i) => list[Math.floor((i * (list.length - 1)) / (most - 1))]);
}

/** Whether time axes run on the model's clock; a page without a clock has plain time. */
const axisState = { onClock: true };

/**
 * The axis of time: where a time is on it (`place`), from where to where it goes (`x`), and its ticks. On the clock all
 * of them are as far apart as the model says, and labels are times all the same.
 */
function timeAxis(data, air = 0, grid = data.grid) {
  const onClock = data.clock !== null && axisState.onClock;
  const place = onClock ? (time) => clockTime(data, time) : (time) => time;
  const ends = [place(grid[0]), place(grid[grid.length - 1])];
  return { x: air ? extent([ends], air) : ends, place, xTicks: onClock ? clockTicks(data) : timeTicks(data) };
}

/** Ticks at the times of measurement where they are few and apart, otherwise at round numbers. */
function timeTicks(data) {
  return ([low, high], about) => {
    if (data.ownTimes || data.times.length > 12) return ticks([low, high], about);
    const times = Array.from(data.times);
    const gap = Math.min(...times.slice(1).map((t, i) => t - times[i]));
    return gap > (0.5 * (high - low)) / about ? times : ticks([low, high], about);
  };
}

/** Ticks on the clock: times of measurement, as many as there is room for, or round numbers where they are many. */
function clockTicks(data) {
  return ([low, high], about) => {
    const least = (0.5 * (high - low)) / about;
    const many = data.ownTimes || data.times.length > 30;
    return many ? roundTicks(data, [low, high], 1.4 * least) : apart(Array.from(data.times), (t) => clockTime(data, t), least);
  };
}

/** Some of ascending numbers, the first and the last among them, no two of them nearer than `least` in their places. */
function apart(numbers, place, least) {
  const last = numbers[numbers.length - 1];
  const found = [];
  for (const number of numbers) {
    const free = !found.length || place(number) - place(found[found.length - 1]) >= least;
    if (free && (number === last || place(last) - place(number) >= least)) found.push(number);
  }
  return found;
}

/** Times between two times on the clock, each the roundest that is far enough from the one before. */
function roundTicks(data, [low, high], least) {
  const found = [];
  const plain = (shown) => plainTime(data, shown);
  for (let at = low; at <= high;) {
    const next = roundest(plain(at), plain(Math.min(at + least, high)));
    if (next === null) break;
    found.push(next);
    at = clockTime(data, next) + least;
  }
  return found;
}

/** The number between two others with the fewest digits; null where there is nothing between them. */
function roundest(low, high) {
  if (low <= 0 && high >= 0) return 0;
  let power = 10 ** Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high))));
  for (let tries = 0; high > low && tries < 16; tries += 1, power /= 10) {
    for (const step of [power, power / 2, power / 5]) {
      const number = Math.ceil(low / step - 1e-9) * step;
      if (number <= high * (1 + 1e-12)) return Number(number.toPrecision(12));
    }
  }
  return null;
}

const WILDEST = 0.01; // of a cluster's courses, but one at least of ten, may reach beyond the shared scale; the panels say so

/** The smallest and the largest value of each course as it is drawn: means, where there are replicates. */
function reaches(data) {
  const found = { low: new Float64Array(data.n), high: new Float64Array(data.n) };
  const { starts, values, timeOf } = data;
  for (let i = 0; i < data.n; i += 1) {
    if (isAligned(data)) {
      [found.low[i], found.high[i]] = extent([averaged(shownCourse(data, i)).values], 0);
      continue;
    }
    let [low, high] = [Infinity, -Infinity];
    const shift = data.designStarts[data.designOf[i]] - starts[i];
    for (let j = starts[i]; j < starts[i + 1];) {
      const row = timeOf[j + shift];
      let [end, sum] = [j, 0];
      for (; end < starts[i + 1] && timeOf[end + shift] === row; end += 1) sum += values[end];
      low = Math.min(low, sum / (end - j));
      high = Math.max(high, sum / (end - j));
      j = end;
    }
    [found.low[i], found.high[i]] = [low + data.mean, high + data.mean];
  }
  return found;
}

/**
 * The range of values that all panels share: all values, unless some of the wildest courses of a cluster would flatten the
 * rest. Clusters count by themselves, so that few strong ones are seen whole beside many weak ones.
 */
function commonRange(data, members, reach) {
  const lists = [...members].map(([label, of]) => (label === NONE ? [] : mostOf(of, reach)));
  const whole = extent([reach.low, reach.high], 0.03);
  const most = lists.some((list) => list.length) ? extent([...lists, ...curvesOf(data)], 0.03) : whole;
  const air = 0.25 * (most[1] - most[0]);
  return [Math.max(Math.min(whole[0], most[0]), most[0] - air), Math.min(Math.max(whole[1], most[1]), most[1] + air)];
}

/** From where to where courses go, the wildest few left out. */
function mostOf(members, { low, high }) {
  const out = members.length < 10 ? 0 : Math.max(Math.floor(WILDEST * members.length), 1);
  const sorted = (ends) => Float64Array.from(members, (i) => ends[i]).sort();
  return members.length ? [sorted(low)[out], sorted(high)[members.length - 1 - out]] : [];
}

/** The curves of all clusters with their bands. */
function curvesOf(data) {
  const curve = (label) => clusterCurve(data, label, isAligned(data) ? data.freed : data);
  return Array.from({ length: data.k }, (_, label) => (data.sizes[label] ? curve(label) : null)).filter(Boolean)
    .flatMap((found) => (data.freed && !isAligned(data) ? [found.mean] : [edges(found, -2), edges(found, 2)]));
}

/** All values of a cluster, its curve and its band. */
function ownRange(data, label, members, { low, high }) {
  const lists = members.length ? [extent([members.map((i) => low[i]), members.map((i) => high[i])], 0.04)] : [];
  if (label === NONE || !members.length) return extent(lists.length ? lists : [[0, 1]], 0);
  const curve = clusterCurve(data, label, isAligned(data) ? data.freed : data);
  return extent([...lists, edges(curve, -2), edges(curve, 2)], 0.02);
}

/** How many courses reach beyond a range. */
function beyond(members, reach, [low, high]) {
  return members.filter((i) => reach.low[i] < low || reach.high[i] > high).length;
}

/** A panel: the courses of a cluster as thin lines, its curve and its band. */
function panelChart(data, label, members, { width, height = 190, range, ...labels }) {
  const wide = isAligned(data) ? data.freed : data; // where and which curves are
  const frame = axes({
    width, height, ...timeAxis(data, 0, wide.grid), y: range, ...labels,
    label: `${clusterName(label)}: ${counted(members.length, "course")} over ${axisLabels(data).time}`,
  });
  const drawn = some(members, MOST_LINES);
  const opacity = Math.min(0.9, Math.max(0.16, 6 / drawn.length)) * (chosen.of ? 0.6 : 1);
  for (const [color, these] of byColor(data, label, drawn)) {
    frame.plot.append(svg("path", {
      d: these.map((i) => courseLine(data, i, frame)).join(""), fill: "none", stroke: color, "stroke-width": 1,
      "stroke-opacity": opacity, "stroke-linecap": "round",
    }));
  }
  if (label !== NONE && members.length) {
    const curve = clusterCurve(data, label, wide);
    if (!data.freed || isAligned(data)) frame.plot.append(band(wide.grid, curve, frame, { fill: "var(--ink)", "fill-opacity": 0.1 }));
    frame.plot.append(
      line(wide.grid, curve.mean, frame, { stroke: "var(--halo)", "stroke-width": 4.5, "stroke-opacity": 0.75 }),
      line(wide.grid, curve.mean, frame, { stroke: "var(--ink)", "stroke-width": 2.2 }),
    );
  }
  frame.plot.append(...markedLines(data, members, frame));
  return frame.root;
}

/** A course as a thin line through the means of its replicates, as text. */
function courseLine(data, index, frame) {
  const { times, values } = averaged(shownCourse(data, index));
  return times.length > 1 ? path(times, values, frame) : `${path(times, values, frame)}h0.1`;
}

/** The courses of a panel by the colour of their lines: that of the cluster, or those of conditions. */
function byColor(data, label, members) {
  if (!data.conditions || !chosen.byColor) return [[clusterColor(label), members]];
  return data.conditions.names.map((_, k) => [conditionColor(k), members.filter((i) => data.conditions.of[i] === k)]);
}

/** The courses of the reader's list, over all others. */
function markedLines(data, members, frame) {
  if (!chosen.of) return [];
  return some(members.filter(isMarked), MOST_MARKED).map((i) => svg("path", {
    d: courseLine(data, i, frame), fill: "none", stroke: "var(--mark)", "stroke-width": 1.8, "stroke-linecap": "round", class: "marked",
  }, svg("title", {}, [data.names[i], detailWords(data, i)].filter((words) => words).join(" \u00b7 "))));
}

/** All panels in one figure, for a file. */
function panelsFigure(data, labels, members, rangeOf) {
  const [width, height, columns] = [300, 200, Math.min(3, labels.length)];
  const rows = Math.ceil(labels.length / columns);
  const size = { width: width * columns, height: (height + 26) * rows + 24 };
  const root = svg("svg", {
    xmlns: SVG, viewBox: `0 0 ${size.width} ${size.height}`, ...size, role: "img", "aria-label": "clusters",
    "font-family": FONT, "font-size": 12,
  });
  const { time, value } = axisLabels(data);
  root.append(svg("text", { x: 12, y: size.height - 8, fill: "var(--muted)" }, `${value}, over ${time}`));
  labels.forEach((label, i) => {
    const [left, top] = [(i % columns) * width, Math.floor(i / columns) * (height + 26)];
    const panel = panelChart(data, label, members.get(label), { width, height, range: rangeOf(label) });
    panel.setAttribute("x", left);
    panel.setAttribute("y", top + 22);
    const title = `${clusterName(label)}: ${count(members.get(label).length)}`;
    root.append(svg("text", { x: left + 12, y: top + 15, fill: "var(--ink)", "font-weight": 600 }, title), panel);
  });
  return root;
}

/** The courses of the same name under other conditions. */
function othersOf(data, index) {
  return data.conditions ? data.conditions.alike(index).filter((other) => other !== index) : [];
}

/** The condition of a course; without conditions, nothing. */
function conditionName(data, index) {
  return data.conditions ? data.conditions.names[data.conditions.of[index]] : "";
}

/** The colour of a condition: its own, not that of a cluster. */
function conditionColor(k) {
  return `var(--q${k % 6})`;
}

/** The line of a condition: whole, dashed, dotted, so that it can be told on paper. */
function conditionDash(k) {
  return [null, "7 3", "2 3", "9 3 2 3", "12 4", "4 2"][k % 6];
}

/** The colour of a course in its own figure: that of its condition. */
function courseColor(data, index) {
  return data.conditions ? conditionColor(data.conditions.of[index]) : FIRST;
}

/** The line of a course in its own figure. */
function courseDash(data, index) {
  return data.conditions ? conditionDash(data.conditions.of[index]) : null;
}

/** A course under another condition: hollow dots and a thin curve in the colour of that condition. */
function otherCondition(data, { course, own }, frame) {
  const color = courseColor(data, course.index);
  const curve = own ? [line(own.times, own.mean, frame, { stroke: color, "stroke-width": 1.6, "stroke-dasharray": courseDash(data, course.index) })] : [];
  return [...curve, ...dots(course, frame, { fill: "var(--paper)", stroke: color, "stroke-width": 1.4 }, conditionName(data, course.index))];
}

/** Entries of the legend of a course: one a condition where there are conditions, as long as the figure allows. */
function courseEntries(data, course, others, own, width) {
  const color = courseColor(data, course.index);
  if (!others.length) return [{ text: "values", color, dot: true }, ...(own ? [{ text: "its curve", color }] : [])];
  const most = Math.max(Math.floor((width - 160) / (7 * (others.length + 1))) - 5, 3);
  return [course.index, ...others].map((index, i) => (
    { text: shortened(conditionName(data, index), most), color: courseColor(data, index), dot: true, hollow: i > 0, dashes: courseDash(data, index) }));
}

/** A course: its values, its own curve with the band, the curve of its cluster, and its name under other conditions. */
function courseChart(data, course, width) {
  const name = data.names[course.index];
  const label = data.labels[course.index];
  const [shown, own] = drawnCourse(data, course);
  const cluster = label === NONE ? null : clusterFor(data, course.index);
  const others = othersOf(data, course.index).filter((other) => !isAligned(data) || data.labels[other] === label);
  const under = others.map((index) => drawnCourse(data, courseAt(data, index))).map(([other, curve]) => ({ course: other, own: curve }));
  const color = courseColor(data, course.index);
  const lists = [shown.values, ...(own ? [edges(own, -2), edges(own, 2)] : []), ...(cluster ? [cluster.mean] : []),
    ...under.flatMap((other) => [other.course.values, ...(other.own ? [other.own.mean] : [])])];
  const { time, value } = axisLabels(data, label);
  const frame = axes({
    width, height: 270, ...timeAxis(data, AIR, isAligned(data) ? data.freed.grid : data.grid), y: extent(lists, 0.03), top: 26,
    xLabel: time, yLabel: value,
    label: `Values of ${name} over ${time}, with its curve and the curve of ${clusterName(label)}`,
  });
  if (own) frame.plot.append(band(own.times, own, frame, { fill: color, "fill-opacity": 0.16 }));
  for (const other of under) frame.plot.append(...otherCondition(data, other, frame));
  if (cluster) {
    frame.plot.append(line(cluster.times, cluster.mean, frame,
      { stroke: "var(--ink)", "stroke-width": 1.6, "stroke-dasharray": "5 4" }));
  }
  if (own) frame.plot.append(line(own.times, own.mean, frame, { stroke: color, "stroke-width": 2.2, "stroke-dasharray": courseDash(data, course.index) }));
  frame.plot.append(...dots(shown, frame, { fill: color, stroke: "var(--halo)" }, "value"));
  const entries = courseEntries(data, course, others, own, width);
  if (cluster) entries.push({ text: clusterName(label), color: "var(--ink)", dashed: true });
  frame.root.append(legend(entries, frame.margin.left, 14));
  return frame.root;
}

/** A curve moved by so many standard deviations. */
function edges({ mean, sd }, times) {
  return mean.map((m, i) => m + times * sd[i]);
}

/** Two courses, the curve each has for itself (thin) and the one that they would share, with its band. */
function pairChart(data, first, second, width) {
  const shared = sharedCurve(data, [first, second]);
  const own = [first, second].map((course) => sharedCurve(data, [course]));
  const lists = [first.values, second.values, edges(shared, -2), edges(shared, 2), ...own.map(({ mean }) => mean)];
  const names = [first, second].map(({ index }) => data.names[index]);
  const frame = axes({
    width, height: 270, ...timeAxis(data, AIR), y: extent(lists, 0.03), top: 26,
    xLabel: data.timeLabel, yLabel: data.valueLabel,
    label: `Values of ${names[0]} and ${names[1]} over ${data.timeLabel}, with the curve that they would share`,
  });
  frame.plot.append(
    band(data.grid, shared, frame, { fill: "var(--ink)", "fill-opacity": 0.12 }),
    line(data.grid, shared.mean, frame, { stroke: "var(--ink)", "stroke-width": 2.2 }),
  );
  [first, second].forEach((course, i) => {
    const color = [FIRST, SECOND][i];
    frame.plot.append(
      line(data.grid, own[i].mean, frame, { stroke: color, "stroke-width": 1.4, "stroke-dasharray": "5 4" }),
      ...dots(course, frame, { fill: color, stroke: "var(--halo)" }, names[i]),
    );
  });
  frame.root.append(legend(pairEntries(names, width), frame.margin.left, 14));
  return frame.root;
}

/** Entries of the legend of two courses, as long as the figure allows. */
function pairEntries(names, width, shared = true) {
  const most = Math.max(Math.floor((width - 250) / 14), 8);
  const entries = names.map((name, i) => ({ text: shortened(name, most), color: [FIRST, SECOND][i], dot: true }));
  return shared ? [...entries, { text: "one curve for both", color: "var(--ink)" }] : entries;
}

/** What each value adds to the similarity, as bars along time. */
function barsChart(data, first, second, contributions, width) {
  const sums = [first, second].map((course, i) => summed(course.times, contributions[i]));
  const { x, place, xTicks } = timeAxis(data);
  const span = x[1] - x[0] || 1;
  const gaps = sums.flatMap(({ times }) => times.slice(1).map((t, i) => place(t) - place(times[i])));
  const gap = Math.min(...gaps, span / 12);
  const air = 0.5 * gap;
  const frame = axes({
    width, height: 190, x: [x[0] - air, x[1] + air], place, xTicks,
    y: extent([...sums.map(({ totals }) => totals), [0]], 0.06),
    xLabel: data.timeLabel, yLabel: "adds to s", top: 26,
    label: `What each value of ${data.names[first.index]} and ${data.names[second.index]} adds to their similarity`,
  });
  const wide = Math.max(frame.along(0.4 * gap) - frame.along(0), 1.5);
  sums.forEach(({ times, totals }, i) => times.forEach((time, k) => {
    const [a, b] = [frame.toY(0), frame.toY(totals[k])];
    frame.plot.append(svg("rect", {
      x: (frame.toX(time) + (i - 1) * wide).toFixed(1), y: Math.min(a, b).toFixed(1), width: wide.toFixed(1),
      height: Math.abs(a - b).toFixed(1), fill: [FIRST, SECOND][i],
    }, svg("title", {}, `at ${digits(time)}: ${fixed(totals[k])}`)));
  }));
  frame.plot.append(svg("line", { x1: 0, x2: width, y1: frame.toY(0), y2: frame.toY(0), stroke: "var(--axis)" }));
  const names = [first, second].map(({ index }) => data.names[index]);
  frame.root.append(legend(pairEntries(names, width, false), frame.margin.left, 14));
  return frame.root;
}

/** Distinct times, and the sum of the numbers at each. */
function summed(times, numbers) {
  const totals = new Map();
  times.forEach((time, i) => totals.set(time, (totals.get(time) ?? 0) + numbers[i]));
  return { times: [...totals.keys()], totals: [...totals.values()] };
}

/** What speaks for each number of clusters, against the best; the number shown is marked. */
function numbersChart(data, width) {
  const { k, perCourse, best } = data.evidence;
  const worst = Math.min(...perCourse);
  const frame = axes({
    width: Math.min(width, 760), height: 280, x: [Math.min(...k) - 0.4, Math.max(...k) + 0.4],
    y: [worst * 1.08 || -1, -worst * 0.12 || 0.1], 
    xTicks: (range, about) => ticks(range, about, 1), xLabel: "number of clusters",
    yLabel: "log evidence per course, against the best",
    label: `Log evidence for ${k[0]} to ${k[k.length - 1]} clusters; it is largest for ${best}, ${data.k} are shown`,
  });
  frame.plot.append(line(k, perCourse, frame, { stroke: FIRST, "stroke-width": 1.6 }));
  k.forEach((number, i) => {
    const chosen = number === data.k;
    frame.plot.append(svg("circle", {
      cx: frame.toX(number), cy: frame.toY(perCourse[i]), r: chosen ? 6 : 3.2, fill: chosen ? SECOND : FIRST,
    }, svg("title", {}, `${counted(number, "cluster")}: ${fixed(perCourse[i], 3)}`)));
    if (chosen) {
      frame.root.append(svg("text", {
        x: frame.toX(number) + 8, y: frame.toY(perCourse[i]) + 18, fill: "var(--ink)",
        "font-weight": 600,
      }, `${number} shown`));
    }
  });
  return frame.root;
}
