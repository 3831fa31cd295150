// -- how fine to look: the tree of the finest clusters, merged as far as the slider says; nothing is fitted anew ---------

const MINI = { width: 170, height: 92 };

/** Words about the nearest other cluster: apart from it, running into it, or divided as much as from it. */
function borderWords({ nearest, gap, verdict }, c, name) {
  if (gap[c] === null) return null;
  const other = name(nearest[c]);
  const words = { apart: `apart: ${other} is the nearest`, "runs into": `runs into ${other}`,
    divided: `has gaps within as wide as to ${other}` };
  return `${words[verdict[c]] ?? `the nearest is ${other}`} (gap ${digits(gap[c], 2)})`;
}

/** How many of a cluster's courses are not sure of it, in words; null where nobody knows. */
function unsureWords({ unsure }, c) {
  if (!unsure) return null;
  return unsure[c] === 0 ? "all sure" : `${unsure[c] < 0.005 ? "<1" : fixed(100 * unsure[c], 0)} % not sure`;
}

// -- one level of the tree -------------------------------------------------------------------------------------------

/** The finest clusters of each cluster of a level, in the order of the tree. */
function groupsAt(fine, k) {
  const groups = Array.from({ length: k }, () => []);
  for (const leaf of fine.order) groups[fine.levels[k - 1].of[leaf]].push(leaf);
  return groups;
}

/** The clusters of a level by those that the rest of the page shows: "cluster 3", "3a" for a part, "1 + 4" for a union. */
function namesOf(fine, groups) {
  const whole = (label) => fine.partOf.filter((own) => own === label).length;
  const parts = new Map();
  return groups.map((leaves) => {
    const labels = [...new Set(leaves.map((leaf) => fine.partOf[leaf]))].sort((a, b) => a - b);
    if (labels.length > 1) return { labels, text: `clusters ${labels.join(" + ")}` };
    if (leaves.length === whole(labels[0])) return { labels, text: `cluster ${labels[0]}` };
    const place = parts.get(labels[0]) ?? 0;
    parts.set(labels[0], place + 1);
    return { labels, text: `part ${labels[0]}${letters(place)}` };
  });
}

/** a, b, ... z, aa, ab ... */
function letters(place) {
  return (place >= 26 ? letters(Math.floor(place / 26) - 1) : "") + "abcdefghijklmnopqrstuvwxyz"[place % 26];
}

function sizeOf(fine, leaves) {
  return leaves.reduce((sum, leaf) => sum + fine.sizes[leaf], 0);
}

/** The curve of one of the finest clusters. */
function fineCurve(data, leaf) {
  const size = data.grid.length;
  return Float64Array.from(data.fine.curves.subarray(leaf * size, (leaf + 1) * size), (value) => value + data.mean);
}

/** The mean of the curves of finest clusters, each counted by its courses. */
function mergedCurve(data, leaves) {
  const { sizes } = data.fine;
  const total = leaves.reduce((sum, leaf) => sum + Math.max(sizes[leaf], 1), 0);
  const mean = new Float64Array(data.grid.length);
  for (const leaf of leaves) fineCurve(data, leaf).forEach((value, i) => { mean[i] += (value * Math.max(sizes[leaf], 1)) / total; });
  return mean;
}

/** A short tolerance at which there are so many clusters; null where two merges are equally high. */
function toleranceOf({ k, levels }, number) {
  const { low, high } = levels[number - 1];
  if (number === k) return 0;
  if (high === null) return roundest(1.1 * low, 1.5 * low);
  return high > low ? roundest(low + 0.15 * (high - low), high - 0.15 * (high - low)) : null;
}

// -- the tree -----------------------------------------------------------------------------------------------------------

/** Where everything in the tree is: rows of the finest clusters, and tolerances from the root at the left to 0. */
function treeLayout(fine, width) {
  const row = fine.k > 30 ? 15 : 19;
  const margin = { left: 10, right: 84, top: 24, bottom: 38 };
  const top = fine.tree[fine.tree.length - 1][2] * 1.08 || 1;
  const toX = scale([top, 0], [margin.left, width - margin.right]);
  const places = new Array(2 * fine.k - 1);
  fine.order.forEach((leaf, i) => { places[leaf] = { x: toX(0), y: margin.top + (i + 0.5) * row, label: fine.partOf[leaf] }; });
  fine.tree.forEach(([a, b, height], i) => {
    const [p, q] = [places[a], places[b]];
    places[fine.k + i] = { x: toX(height), y: (p.y + q.y) / 2, label: p.label === q.label ? p.label : null };
  });
  return { row, margin, top, toX, places, width, height: margin.top + fine.k * row + margin.bottom };
}

/** The tree, the level that the rest of the page shows as a band, and the cut of the slider. */
function treeChart(data, number, width) {
  const { fine } = data;
  const at = treeLayout(fine, Math.min(width, 760));
  const root = svg("svg", {
    xmlns: SVG, viewBox: `0 0 ${at.width} ${at.height}`, width: at.width, height: at.height, role: "img", class: "tree",
    "aria-label": `Tree of ${fine.k} finest clusters over the tolerance, cut into ${counted(number, "cluster")}; ${fine.shown} are shown in this page`,
    "font-family": FONT, "font-size": 11, fill: "var(--muted)",
  });
  root.append(...shownBand(fine, at), ...toleranceAxis(at), ...treeBranches(fine, at), ...leafLabels(fine, at), ...cutMarks(fine, at, number));
  return root;
}

function shownBand(fine, { toX, top, margin, height }) {
  const { low, high } = fine.levels[fine.shown - 1];
  const [left, right] = [toX(Math.min(high ?? top, top)), toX(low)];
  const middle = Math.min(Math.max((left + right) / 2, margin.left + 26), toX(0) - 26);
  return [
    svg("rect", { x: left, y: margin.top - 4, width: Math.max(right - left, 2), height: height - margin.top - margin.bottom + 4, fill: "var(--accent-soft)" }),
    svg("text", { x: middle, y: 13, "text-anchor": "middle", fill: "var(--muted)" }, `${fine.shown} shown`),
  ];
}

function toleranceAxis({ toX, top, margin, height, width }) {
  const bottom = height - margin.bottom;
  const marks = ticks([0, top], (width - margin.left - margin.right) / 60).map((t) => svg("text",
    { x: toX(t), y: bottom + 15, "text-anchor": "middle" }, beside(t, top / 100)));
  return [svg("line", { x1: margin.left, x2: toX(0), y1: bottom, y2: bottom, stroke: "var(--axis)" }), ...marks,
    svg("text", { x: margin.left, y: bottom + 31 }, "tolerance: coarser to the left")];
}

function treeBranches(fine, { places }) {
  return fine.tree.map(([a, b], i) => {
    const { x, label } = places[fine.k + i];
    const [p, q] = [places[a], places[b]];
    const arm = ({ x: from, y, label: own }) => svg("path", { d: `M${x.toFixed(1)} ${y.toFixed(1)}H${from.toFixed(1)}`,
      stroke: own === null ? "var(--axis)" : clusterColor(own), "stroke-width": own === null ? 1.2 : 2 });
    const across = svg("path", { d: `M${x.toFixed(1)} ${p.y.toFixed(1)}V${q.y.toFixed(1)}`,
      stroke: label === null ? "var(--axis)" : clusterColor(label), "stroke-width": label === null ? 1.2 : 2 });
    return svg("g", { fill: "none", "stroke-linecap": "square" }, arm(p), arm(q), across);
  });
}

/** The sizes of the finest clusters, and beside them the clusters that the page shows. */
function leafLabels(fine, { places, row, toX }) {
  const right = toX(0);
  const nodes = fine.sizes.map((size, leaf) => svg("text",
    { x: right + 38, y: places[leaf].y + 4, "text-anchor": "end" }, count(size)));
  nodes.push(svg("text", { x: right + 40, y: 13, "text-anchor": "end" }, "courses"), svg("text", { x: right + 46, y: 13 }, "cluster"));
  for (let label = 0; label < fine.shown; label += 1) {
    const ys = fine.order.filter((leaf) => fine.partOf[leaf] === label).map((leaf) => places[leaf].y);
    if (!ys.length) continue;
    const [first, last] = [Math.min(...ys), Math.max(...ys)];
    nodes.push(svg("rect", { x: right + 45, y: first - row / 2 + 2, width: 4, height: last - first + row - 4, rx: 2, fill: clusterColor(label) }),
      svg("text", { x: right + 55, y: (first + last) / 2 + 4, fill: "var(--ink)", "font-weight": 600 }, String(label)));
  }
  return nodes;
}

/** The line at the tolerance of the slider, and a dot for each cluster that it cuts off. */
function cutMarks(fine, { places, toX, top, margin, height }, number) {
  const { low, high } = fine.levels[number - 1];
  const x = toX((low + Math.min(high ?? top, top)) / 2);
  const groups = groupsAt(fine, number);
  const middle = (leaves) => branchOf(fine, leaves);
  return [
    svg("line", { x1: x, x2: x, y1: margin.top - 4, y2: height - margin.bottom, stroke: "var(--accent)", "stroke-width": 1.5, "stroke-dasharray": "4 3" }),
    ...groups.map((leaves) => svg("circle", { cx: x.toFixed(1), cy: places[middle(leaves)].y.toFixed(1), r: 4, fill: "var(--paper)",
      stroke: "var(--accent)", "stroke-width": 2 }, svg("title", {}, counted(sizeOf(fine, leaves), "course")))),
  ];
}

/** The branch that has exactly these finest clusters below it. */
function branchOf(fine, leaves) {
  const inside = new Set(leaves);
  let branch = leaves[0];
  fine.tree.forEach(([a, b], i) => { if (inside.has(a) && inside.has(b)) inside.add(branch = fine.k + i); });
  return branch;
}

// -- the clusters of a level ----------------------------------------------------------------------------------------------

/** Small pictures of the clusters of a level: the curves of the finest ones, and their mean. */
function levelPanels(data, number) {
  const { fine } = data;
  const groups = groupsAt(fine, number);
  const names = namesOf(fine, groups);
  const range = extent(fine.order.map((leaf) => fineCurve(data, leaf)), 0.06);
  const level = fine.levels[number - 1];
  return html("div", { class: "minis" }, ...groups.map((leaves, g) => {
    const { labels, text } = names[g];
    const told = [borderWords(level, g, (other) => names[other].text), unsureWords(level, g)].filter((words) => words);
    const title = html("figcaption", {}, ...labels.slice(0, 6).map((label) => swatchOf(label)),
      html("b", {}, text), ` ${count(sizeOf(fine, leaves))}`);
    return html("figure", { class: "mini" }, title, miniChart(data, leaves, range, text), html("p", { class: "hint" }, told.join(" \u00b7 ")));
  }));
}

function swatchOf(label) {
  const swatch = html("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = clusterColor(label);
  return swatch;
}

function miniChart(data, leaves, range, text) {
  const { width, height } = MINI;
  const { x, place } = timeAxis(data);
  const along = scale(x, [1, width - 1]);
  const frame = { toX: (time) => along(place(time)), toY: scale(range, [height - 2, 2]) };
  const mean = mergedCurve(data, leaves);
  const each = leaves.length > 1 ? leaves : [];
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Curve of ${text} over ${data.timeLabel}` },
    svg("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, fill: "none", stroke: "var(--edge)" }),
    ...each.map((leaf) => line(data.grid, fineCurve(data, leaf), frame, { stroke: clusterColor(data.fine.partOf[leaf]), "stroke-width": 1, "stroke-opacity": 0.75 })),
    line(data.grid, mean, frame, { stroke: "var(--halo)", "stroke-width": 4.5, "stroke-opacity": 0.75 }),
    line(data.grid, mean, frame, { stroke: leaves.length > 1 ? "var(--ink)" : clusterColor(data.fine.partOf[leaves[0]]), "stroke-width": 2.2 }));
}

// -- the slider ------------------------------------------------------------------------------------------------------------

/** The tolerances of a level, with as many digits as tell its two ends apart. */
function toleranceWords({ low, high }, finest) {
  if (high === null) return `at tolerances above ${digits(low, 3)}`;
  if (high <= low) return `at no tolerance of their own: several merge at ${digits(low, 3)}`;
  if (finest) return `at tolerances below ${digits(high, 3)}`;
  const enough = [3, 4, 5, 6, 7, 8].find((n) => digits(low, n) !== digits(high, n)) ?? 9;
  return `at tolerances from ${digits(low, enough)} to ${digits(high, enough)}`;
}

/** "6 clusters, at tolerances from 0.31 to 0.42." */
function levelWords({ k, levels, shown }, number) {
  const finest = number === k ? ", the finest" : "";
  const here = number === shown ? "; the level that this page shows" : "";
  return `${counted(number, "cluster")}${finest}, ${toleranceWords(levels[number - 1], number === k)}${here}.`;
}

/** What the next finer level splits, and whether a gap is there. */
function splitWords(fine, number) {
  if (number === fine.k) return "";
  const coarse = groupsAt(fine, number);
  const finer = groupsAt(fine, number + 1);
  const c = coarse.findIndex((leaves, g) => leaves.length !== (finer[g]?.length ?? 0));
  const sizes = [finer[c], finer[c + 1]].map((leaves) => count(sizeOf(fine, leaves)));
  const { text } = namesOf(fine, coarse)[c];
  const how = { true: ", which a wide gap keeps apart", false: ", which run into each other: a matter of taste" };
  return `The next finer level splits ${text} into ${sizes[0]} and ${sizes[1]} courses${how[fine.split[number - 1]] ?? ""}.`;
}

/** How to have a level in Python and on the command line. */
function levelCommands(fine, number) {
  const tolerance = toleranceOf(fine, number);
  const python = `found.at(${tolerance === null ? `k=${number}` : `tolerance=${tolerance}`})`;
  const nodes = ["To have these clusters: ", html("code", {}, python), " in Python"];
  if (fine.command && tolerance !== null) nodes.push(", ", html("code", {}, `timelike cluster FILE --tolerance ${tolerance}`), " on the command line");
  return [...nodes, "."];
}

function startFine(data) {
  if (!data.fine) return;
  const { fine } = data;
  const slider = byId("fine-level");
  const number = () => Number(slider.value);
  Object.assign(slider, { min: 1, max: fine.k, value: fine.shown });
  const tree = figure(byId("fine-tree"), (width) => treeChart(data, number(), width));
  const panels = figure(byId("fine-panels"), () => levelPanels(data, number()));
  const say = () => {
    slider.setAttribute("aria-valuetext", levelWords(fine, number()));
    byId("fine-status").textContent = levelWords(fine, number());
    byId("fine-split").textContent = splitWords(fine, number());
    byId("fine-how").replaceChildren(...levelCommands(fine, number()));
    byId("fine-shown").disabled = number() === fine.shown;
  };
  const go = (k) => { slider.value = k; fit(tree); fit(panels); say(); };
  slider.addEventListener("input", () => go(number()));
  byId("fine-shown").textContent = `Back to the ${count(fine.shown)} shown`;
  byId("fine-shown").addEventListener("click", () => { go(fine.shown); slider.focus(); });
  byId("fine-tree").addEventListener("click", (event) => go(levelUnder(fine, event)));
  byId("fine-svg").addEventListener("click", () => saveSvg(treeChart(data, number(), SAVED_WIDTH), `${data.title}-tree`));
  say();
}

/** The number of clusters at the tolerance that somebody points at. */
function levelUnder(fine, { clientX, currentTarget }) {
  const picture = currentTarget.querySelector("svg");
  const { left, width } = picture.getBoundingClientRect();
  const { margin, top, width: drawn } = treeLayout(fine, picture.viewBox.baseVal.width);
  const tolerance = scale([margin.left, drawn - margin.right], [top, 0])(((clientX - left) / width) * drawn);
  return fine.tree.filter(([, , height]) => height >= tolerance).length + 1;
}
