// -- answer data: what a page about an answer is about, unpacked ----------------------------------------------

/** A column of the table: numbers, or texts as places in a list. */
function unpackColumn(entry) {
  return entry.words ? { words: entry.words, of: unpack(entry.of) } : unpack(entry);
}

/** Curves of many courses: a number is so many steps. */
function unpackCurves({ step, mean, sd }) {
  return { step, mean: unpack(mean), sd: unpack(sd) };
}

/** All data of the page, ready for use. */
function readAnswer() {
  const raw = JSON.parse(document.getElementById("data").textContent);
  const data = { ...raw, n: raw.names.length };
  for (const key of ["size", "grid", "times", "pairOf", "middles"]) data[key] = unpack(raw[key]);
  data.columns = Object.fromEntries(Object.entries(raw.columns).map(([name, entry]) => [name, unpackColumn(entry)]));
  data.conditions = raw.conditions.map(unpackCondition);
  data.curves = raw.curves.map(unpackCurves);
  data.differences = (raw.differences ?? []).map(unpackCurves);
  data.curved = data.middles.length;
  if (raw.partitions) data.partitions = { ...raw.partitions, chances: unpack(raw.partitions.chances) };
  return data;
}

function unpackCondition(raw) {
  const found = { name: raw.name };
  for (const key of ["place", "values", "timeOf", "designOf", "designStarts"]) found[key] = unpack(raw[key]);
  found.starts = startsOf({ designOf: found.designOf, designStarts: found.designStarts, names: found.designOf });
  return found;
}

/** Times and values of a course under a condition; null where it was not measured. */
function valuesAt(data, condition, index) {
  const { place, values, timeOf, designOf, designStarts, starts } = data.conditions[condition];
  const at = place[index];
  if (at < 0) return null;
  const first = designStarts[designOf[at]];
  const own = values.subarray(starts[at], starts[at + 1]);
  return {
    times: Float64Array.from(own, (_, i) => data.times[timeOf[first + i]]),
    values: Float64Array.from(own),
  };
}

/** One of many curves, around a level; null where the page does not have it. */
function curveAt(data, { step, mean, sd }, index, level) {
  if (index >= data.curved) return null;
  const part = [index * data.grid.length, (index + 1) * data.grid.length];
  return {
    mean: Float64Array.from(mean.subarray(...part), (steps) => level + steps * step),
    sd: Float64Array.from(sd.subarray(...part), (steps) => steps * step),
  };
}

/** The curve of a course under a condition. */
function conditionCurve(data, condition, index) {
  return curveAt(data, data.curves[condition], index, data.middles[index]);
}

/** A cell of the table: a number or a text. */
function cellOf(data, name, index) {
  const column = data.columns[name];
  return column.words ? column.words[column.of[index]] : column[index];
}

/** Whether a course is called at an expected false discovery rate. */
function isCalled(data, index, rate) {
  return data.columns.fdr[index] <= rate;
}

/** Which colour a course has: that of the condition in which it is higher, or that of rise or fall. */
function kindOf(data, index) {
  if (data.compared) return data.conditions.findIndex(({ name }) => name === cellOf(data, "higher_in", index));
  return data.size[index] > 0 ? 0 : 1;
}

/** The stretches of time in which a curve's band of 95 % is off zero; those that nothing was measured between are one. */
function stretchesOf(data, { mean, sd }) {
  const found = [];
  const sign = (i) => (Math.abs(mean[i]) > 1.96 * sd[i] ? Math.sign(mean[i]) : 0);
  for (let i = 0; i < mean.length; i += 1) {
    if (!sign(i)) continue;
    const last = found[found.length - 1];
    const next = last && (last.to === data.grid[i - 1] || !data.times.some((t) => t > last.to && t < data.grid[i]));
    if (next && last.sign === sign(i)) last.to = data.grid[i];
    else found.push({ from: data.grid[i], to: data.grid[i], sign: sign(i) });
  }
  return found;
}
