// -- data: what the page is about, unpacked ----------------------------------------------------------------

const TYPES = {
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array,
  float32: Float32Array, float64: Float64Array,
};
const NONE = -1;

/** An array from its base64 text, see packing.py. */
function unpack(entry) {
  if (entry === null || entry === undefined) return null;
  const text = atob(entry.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return new TYPES[entry.type](bytes.buffer);
}

/** Everything that the page knows, with arrays unpacked. */
function readData() {
  const raw = JSON.parse(document.getElementById("data").textContent);
  const data = { ...raw };
  const packed = ["values", "noise", "times", "timeOf", "designOf", "designStarts", "grid", "labels", "curves",
    "bands", "probability", "second", "secondProbability"];
  for (const key of packed) data[key] = unpack(raw[key]);
  data.neighbors = { ...raw.neighbors, indices: unpack(raw.neighbors.indices), scores: unpack(raw.neighbors.scores) };
  if (raw.features) {
    const { rank, phi, grid, nodes } = raw.features;
    data.features = { rank, phi: unpack(phi), grid: unpack(grid), nodes: unpack(nodes) };
  }
  if (raw.conditions) data.conditions = unpackConditions(raw.conditions);
  if (raw.details) data.details = unpackDetails(raw.details);
  if (raw.fine) data.fine = { ...raw.fine, curves: unpack(raw.fine.curves) };
  if (raw.freed) data.freed = unpackFreed(raw.freed);
  if (raw.neighbors?.moved) data.neighbors.moved = { ...raw.neighbors.moved, ...unpackEstimates(raw.neighbors.moved) };
  data.n = raw.names.length;
  data.starts = startsOf(data);
  data.hasNone = data.labels.some((label) => label === NONE);
  return data;
}

/** The conditions, the number of each course's condition, and for each course those of the same name (`alike`). */
function unpackConditions({ names, of, nameOf }) {
  const owners = unpack(nameOf);
  const alike = new Map();
  owners.forEach((owner, i) => { alike.set(owner, [...(alike.get(owner) ?? []), i]); });
  return { names, of: unpack(of), alike: (index) => alike.get(owners[index]) };
}

/** What else is known about courses: titles of columns, and the text of a course in each. */
function unpackDetails({ names, columns }) {
  const texts = columns.map((column) => {
    if (Array.isArray(column)) return (i) => column[i];
    const of = unpack(column.of);
    return (i) => column.words[of[i]];
  });
  return names.map((title, place) => ({ title, text: texts[place] }));
}

/** Level, gain and delay of each course, and the curves that aligned courses lie on. */
function unpackFreed(raw) {
  const curves = { grid: unpack(raw.grid), curves: unpack(raw.curves), bands: unpack(raw.bands) };
  return { ...raw, ...unpackEstimates(raw), ...curves };
}

/** What is known of each course, or of each neighbour: mean, low and high. */
function unpackEstimates(raw) {
  const there = ["level", "gain", "delay"].filter((name) => raw[name]);
  return Object.fromEntries(there.map((name) => [name,
    { mean: unpack(raw[name].mean), low: unpack(raw[name].low), high: unpack(raw[name].high) }]));
}

/** Where the values of each course start, and where the last end. */
function startsOf({ designOf, designStarts, names }) {
  const starts = new Int32Array(names.length + 1);
  for (let i = 0; i < names.length; i += 1) {
    const design = designOf[i];
    starts[i + 1] = starts[i] + designStarts[design + 1] - designStarts[design];
  }
  return starts;
}

/**
 * One course: its times, its values as they were measured, their distance from the mean level, their noise variances
 * and the places of its times among all different times.
 */
function courseAt(data, index) {
  const first = data.designStarts[data.designOf[index]];
  const count = data.starts[index + 1] - data.starts[index];
  const rows = data.timeOf.subarray(first, first + count);
  const residuals = Float64Array.from(data.values.subarray(data.starts[index], data.starts[index + 1]));
  const noise = new Float64Array(count);
  for (let i = 0; i < count; i += 1) noise[i] = data.noise.length === 1 ? data.noise[0] : data.noise[first + i];
  return {
    index, rows, residuals, noise,
    times: Float64Array.from(rows, (row) => data.times[row]),
    values: residuals.map((value) => value + data.mean),
  };
}

/** The times of a course without repeats, and the mean of the replicates at each. */
function averaged({ times, values }) {
  const distinct = [];
  const means = [];
  for (let i = 0; i < times.length;) {
    let end = i;
    let sum = 0;
    while (end < times.length && times[end] === times[i]) sum += values[end++];
    distinct.push(times[i]);
    means.push(sum / (end - i));
    i = end;
  }
  return { times: distinct, values: means };
}

/** The courses of a cluster, in their order. */
function membersOf(data, label) {
  const members = [];
  for (let i = 0; i < data.n; i += 1) if (data.labels[i] === label) members.push(i);
  return members;
}

/** The curve of a cluster at the times of the grid, or where aligned courses are: mean and standard deviation. */
function clusterCurve(data, label, { grid, curves, bands } = data) {
  const size = grid.length;
  const part = [label * size, (label + 1) * size];
  return {
    mean: Float64Array.from(curves.subarray(...part), (value) => value + data.mean),
    sd: Float64Array.from(bands.subarray(...part)),
  };
}

// -- the clock -------------------------------------------------------------------------------------------------

/** The time that the model's clock shows at a time, see clock.py; plain time where it has none. */
function clockTime({ clock }, time) {
  if (!clock) return time;
  const { tau, start } = clock;
  if (start === null) return tau * Math.asinh(time / tau);
  const since = time - start;
  return since > 0 ? tau * Math.log1p(since / tau) : since;
}

/** The time at which the clock shows a time. */
function plainTime({ clock }, shown) {
  if (!clock) return shown;
  const { tau, start } = clock;
  if (start === null) return tau * Math.sinh(shown / tau);
  return start + (shown > 0 ? tau * Math.expm1(shown / tau) : shown);
}

// -- numbers and names for readers ---------------------------------------------------------------------------

const MINUS = "\u2212";

/** A whole number with its thousands apart. */
function count(number) {
  return number.toLocaleString("en-US");
}

/** "1 course", "2 courses". */
function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** A number with so many digits that matter, no trailing zeros. */
function digits(number, significant = 4) {
  if (!Number.isFinite(number)) return "";
  const whole = Math.floor(Math.log10(Math.abs(number) || 1)) + 1; // never round before the point
  const text = String(Number(number.toPrecision(Math.min(Math.max(significant, whole), 15))));
  return text.replace("-", MINUS);
}

/** A number beside others of the size of `scale`: rounded to hundredths of it. */
function beside(number, scale) {
  const step = 10 ** (Math.floor(Math.log10(Math.abs(scale) || 1)) - 2);
  return digits(Math.round(number / step) * step, 12);
}

/** A number with so many places behind the point. */
function fixed(number, places = 2) {
  const text = number.toFixed(places);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", MINUS);
}

/** A probability, never rounded to certainty. */
function chance(probability) {
  if (probability > 0.995 && probability < 1) return probability > 0.9995 ? ">0.999" : fixed(probability, 3);
  if (probability > 0 && probability < 0.005) return probability < 0.0005 ? "<0.001" : fixed(probability, 3);
  return fixed(probability, 2);
}

/** A similarity, or another logarithm of a ratio, in a table. */
function score(s) {
  return Math.abs(s) < 99.95 ? fixed(s, 1) : count(Math.round(s)).replace("-", MINUS);
}

/** A positive factor from its logarithm: "200", "1.2", "10" with a raised 43. */
function factor(log) {
  if (log > Math.log(1e6)) {
    const raised = String(Math.round(log / Math.LN10)).replace(/\d/g, (digit) => "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[digit]);
    return `10${raised}`;
  }
  const ratio = Math.exp(log);
  return Number(ratio.toPrecision(ratio < 1e4 ? 2 : 1)).toLocaleString("en-US");
}

/** What a similarity means, in a sentence. */
function meaning(s) {
  const [more, less] = s >= 0 ? ["one curve", "two"] : ["two curves", "one"];
  if (Math.abs(s) < 0.05) return "the data are about as likely under one curve as under two";
  return `the data are ${factor(Math.abs(s))} times likelier under ${more} than under ${less}`;
}

/** "cluster 3", or "none of these". */
function clusterName(label) {
  return label === NONE ? "none of these" : `cluster ${label}`;
}
