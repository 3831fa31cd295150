// -- svg: elements, axes, figures that follow the width of the page, and files ---------------------------------

const SVG = "http://www.w3.org/2000/svg";
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const SAVED_WIDTH = 640;

/** An element with attributes and children. Text becomes text and nothing else, whatever it contains. */
function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** An HTML element. */
function html(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** A button that does something. */
function button(text, action, attributes = {}) {
  const node = html("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", action);
  return node;
}

/** A name from the data, which may be written in any direction. */
function named(text) {
  const at = conditionStart(text);
  if (at === text.length) return html("bdi", { class: "name" }, text);
  return html("bdi", { class: "name two" }, html("span", { class: "stem" }, text.slice(0, at)), html("span", { class: "tail" }, text.slice(at)));
}

/** A cluster's number, or other words about it, beside its colour. */
function badge(label, words = label === NONE ? "none" : String(label)) {
  const swatch = html("span", { class: "swatch", "aria-hidden": "true" });
  swatch.style.background = clusterColor(label);
  return html("span", { class: "badge" }, swatch, words);
}

/** The colour of a cluster; the number always stands beside it, because colours repeat. */
function clusterColor(label) {
  return label === NONE ? "var(--none)" : `var(--c${label % 24})`;
}

/** Where the condition of a course begins in its name, or the end of the name. */
function conditionStart(name) {
  const found = name.lastIndexOf(" | ");
  return found > 0 ? found : name.length;
}

/** The text, cut where it is too long for a figure; what stands behind the last bar, the condition, is kept. */
function shortened(text, most = 30) {
  if (text.length <= most) return text;
  const end = text.slice(conditionStart(text));
  return end.length < most - 3 ? `${text.slice(0, most - 1 - end.length)}\u2026${end}` : `${text.slice(0, most - 1)}\u2026`;
}

// -- scales and axes -------------------------------------------------------------------------------------------

/** The straight line that takes the first interval to the second. */
function scale([low, high], [from, to]) {
  const slope = high === low ? 0 : (to - from) / (high - low);
  return (value) => from + (value - low) * slope;
}

/** Round numbers between two others, about so many. */
function ticks([low, high], about, least = 0) {
  const raw = Math.max((high - low) / Math.max(about, 1), least);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Smallest and largest of several lists of numbers, with some air around them. */
function extent(lists, air = 0.05) {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (const value of list) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (!(high > low)) return [low - 1, high + 1];
  return [low - air * (high - low), high + air * (high - low)];
}

let clips = 0;

/**
 * An empty figure with axes. Gives the root, the group to draw into (cut at the edges) and the two scales.
 * `label` is read out for those who cannot see it; `xTicks` chooses the ticks of the first axis. `place` says where on
 * that axis a number is, `x` from where to where the axis goes.
 */
function axes({ width, height, x, y, xLabel, yLabel, label, top = 8, xTicks = ticks, place = (number) => number }) {
  const about = Math.max(height / 55, 3.5);
  const few = ticks(y, about);
  const yTicks = few.length < 2 ? ticks(y, 2 * about) : few;
  const widest = Math.max(...yTicks.map((t) => beside(t, (y[1] - y[0]) / 100).length));
  const margin = { left: (yLabel ? 24 : 8) + widest * 6.6 + 4, right: 12, top, bottom: xLabel ? 36 : 20 };
  const along = scale(x, [margin.left, width - margin.right]);
  const toX = (number) => along(place(number));
  const toY = scale(y, [height - margin.bottom, margin.top]);
  const root = svg("svg", {
    xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label,
    "font-family": FONT, "font-size": 11, fill: "var(--muted)",
  });
  const clip = `clip-${clips += 1}`;
  const [right, bottom] = [width - margin.right, height - margin.bottom];
  const box = { x: margin.left, y: margin.top, width: right - margin.left, height: Math.max(bottom - margin.top, 1) };
  root.append(svg("clipPath", { id: clip }, svg("rect", box)));
  for (const t of yTicks) {
    root.append(
      svg("line", { x1: margin.left, x2: right, y1: toY(t), y2: toY(t), stroke: "var(--grid)" }),
      svg("text", { x: margin.left - 6, y: toY(t) + 3.5, "text-anchor": "end" }, beside(t, (y[1] - y[0]) / 100)),
    );
  }
  for (const t of xTicks(x, (right - margin.left) / 60)) {
    root.append(svg("text", { x: toX(t), y: bottom + 14, "text-anchor": "middle" }, beside(t, (x[1] - x[0]) / 100)));
  }
  root.append(svg("line", { x1: margin.left, x2: right, y1: bottom, y2: bottom, stroke: "var(--axis)" }));
  if (xLabel) root.append(svg("text", { x: right, y: height - 6, "text-anchor": "end" }, xLabel));
  if (yLabel) {
    const middle = (margin.top + bottom) / 2;
    root.append(svg("text", { transform: `translate(12 ${middle}) rotate(-90)`, "text-anchor": "middle" }, yLabel));
  }
  const plot = svg("g", { "clip-path": `url(#${clip})` });
  root.append(plot);
  return { root, plot, along, toX, toY, margin, bottom };
}

/** The path through points, as text. */
function path(xs, ys, { toX, toY }) {
  let text = "";
  for (let i = 0; i < xs.length; i += 1) {
    text += `${i ? "L" : "M"}${toX(xs[i]).toFixed(1)} ${toY(ys[i]).toFixed(1)}`;
  }
  return text;
}

/** The area between two lines, as text. */
function area(xs, low, high, scales) {
  const back = path(Array.from(xs).reverse(), Array.from(high).reverse(), scales);
  return `${path(xs, low, scales)}${back.replace("M", "L")}Z`;
}

/** A line. */
function line(xs, ys, frame, attributes) {
  return svg("path", { d: path(xs, ys, frame), fill: "none", "stroke-linejoin": "round", ...attributes });
}

/** The band of two standard deviations around a curve. */
function band(xs, { mean, sd }, frame, attributes) {
  const low = mean.map((m, i) => m - 2 * sd[i]);
  const high = mean.map((m, i) => m + 2 * sd[i]);
  return svg("path", { d: area(xs, low, high, frame), stroke: "none", ...attributes });
}

/** Dots, each with its numbers for those who point at it. */
function dots({ times, values }, frame, attributes, name) {
  return Array.from(times, (time, i) => svg(
    "circle", { cx: frame.toX(time).toFixed(1), cy: frame.toY(values[i]).toFixed(1), r: 3.2, ...attributes },
    svg("title", {}, `${name} at ${digits(time)}: ${digits(values[i])}`),
  ));
}

/** A legend in one line: text beside a short line or a dot, from the left. */
function legend(entries, left, y) {
  const group = svg("g", {});
  let x = left;
  for (const { text, color, dashed, dashes, hollow, dot: round } of entries) {
    const mark = round
      ? svg("circle", { cx: x + 7, cy: y - 4, r: 3.6, fill: hollow ? "var(--paper)" : color, stroke: color })
      : svg("line", { x1: x, x2: x + 14, y1: y - 4, y2: y - 4, stroke: color, "stroke-width": 2.2,
        "stroke-dasharray": dashed ? "4 3" : null });
    if (dashes !== undefined) group.append(svg("line", { x1: x - 4, x2: x + 18, y1: y - 4, y2: y - 4, stroke: color, "stroke-width": 1.8, "stroke-dasharray": dashes }));
    const beside = dashes === undefined ? 19 : 23;
    group.append(mark, svg("text", { x: x + beside, y, fill: "var(--ink)" }, text));
    x += beside + 6.3 * text.length + 16;
  }
  return group;
}

// -- figures that follow the width of the page ------------------------------------------------------------------

const figures = new Set();

/** Draws a figure into its place, now and whenever the place changes its width. */
function figure(host, draw) {
  const entry = { host, draw, width: 0 };
  figures.add(entry);
  fit(entry);
  return entry;
}

/** Draws a figure anew. */
function fit(entry) {
  entry.width = Math.max(Math.floor(entry.host.clientWidth), 140);
  entry.host.replaceChildren(entry.draw(entry.width));
}

/** Draws anew what has another width than before, or everything; forgets what has left the page. */
function fitAll(everything = false) {
  for (const entry of figures) {
    if (!entry.host.isConnected) figures.delete(entry);
    else if (everything || Math.abs(entry.host.clientWidth - entry.width) > 1) fit(entry);
  }
}

// -- files -------------------------------------------------------------------------------------------------------

/** Hands a text to the reader as a file. */
function save(text, filename, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = html("a", { href: url, download: filename });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** A file name that every system takes. */
function filename(text, ending) {
  const plain = text.normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^[._]+|[._]+$/g, "");
  return `${plain.slice(0, 60) || "figure"}.${ending}`;
}

/** Saves a figure in the colours of paper, whatever the page has at the moment. */
function saveSvg(root, name) {
  const probe = html("div", { "data-theme": "light", hidden: "" });
  document.body.append(probe);
  const colors = getComputedStyle(probe);
  const text = new XMLSerializer().serializeToString(root)
    .replace(/var\((--[\w-]+)\)/g, (_, variable) => colors.getPropertyValue(variable).trim() || "black");
  probe.remove();
  save(text, filename(name, "svg"), "image/svg+xml");
}

/** A text as a cell of a CSV file. A spreadsheet must not take a name for a formula. */
function cell(value) {
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Saves rows of cells as a CSV file. */
function saveCsv(header, rows, name) {
  const text = [header, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
  save(`${text}\r\n`, filename(name, "csv"), "text/csv;charset=utf-8");
}
