// -- answer pane: one course, how sure its answer is, and when it differs or changes ----------------------------

/** A probability or a rate: what lies within the precision of a number is neither certain nor impossible. */
function unsure(probability) {
  return chance(Math.min(Math.max(probability, 1e-12), 1 - 1e-12));
}

/** A time with its unit. */
function timeWords(data, time) {
  return `${digits(time, 3)}${data.timeUnit ? ` ${data.timeUnit}` : ""}`;
}

/** The stretches of a difference, in words. */
function stretchWords(data, pair, curve) {
  const [first, second] = data.pairs[pair].map((c) => data.conditions[c].name);
  return stretchesOf(data, curve).map(({ from, to, sign }) => {
    const [higher, lower] = sign > 0 ? [second, first] : [first, second];
    const when = from === to ? `at ${timeWords(data, from)}` : `from ${digits(from, 3)} to ${timeWords(data, to)}`;
    return `${when} higher in ${higher} than in ${lower}`;
  });
}

class AnswerView {
  constructor(host, data) {
    Object.assign(this, { host, data, current: -1, pair: 0 });
  }

  /** Shows a course. */
  show(index) {
    const { data } = this;
    this.current = index;
    const picture = html("div", { class: "figure" });
    this.below = html("div", {});
    this.host.replaceChildren(
      html("h3", { tabindex: "-1", id: "course-name" }, named(data.names[index])),
      ...this.sentences(index), picture, this.tools(index), this.below,
    );
    figure(picture, (width) => valuesChart(data, index, width));
    if (data.compared) this.compare(data.pairOf[index]);
  }

  sentences(index) {
    const { data } = this;
    const [probability, bayes, rate] = ["probability", "log_bayes_factor", "fdr"].map((name) => cellOf(data, name, index));
    const verb = data.compared ? "Differs" : "Changes";
    const first = `${verb} with probability ${unsure(probability)}; log Bayes factor ${score(bayes)}, `
      + `false discovery rate ${unsure(rate)} down to here.`;
    return [html("p", { class: "belonging" }, first), html("p", { class: "belonging" }, data.compared ? this.kind(index) : this.when(index))];
  }

  /** Of which kind a difference is, if there is one. */
  kind(index) {
    const { data } = this;
    const [kind, sure] = ["kind", "kind_probability"].map((name) => cellOf(data, name, index));
    const words = { level: "the same at all times (level)", shape: "not the same at all times (shape)", delay: "a delay" }[kind] ?? kind;
    const late = kind === "delay" ? ` of ${timeWords(data, cellOf(data, "delay", index))} in ${data.conditions[1].name}` : "";
    const [size, at, higher] = ["largest_difference", "largest_at", "higher_in"].map((name) => cellOf(data, name, index));
    const largest = Number.isFinite(size) ? ` It is largest at ${timeWords(data, at)}: ${digits(Math.abs(size), 3)} higher in ${higher}.` : "";
    return `If it differs, the difference is ${words}${late}, with probability ${unsure(sure)}.${largest}`;
  }

  /** When a course changes. */
  when(index) {
    const { data } = this;
    const [first, low, high] = ["", "_from", "_to"].map((end) => cellOf(data, `first_change${end}`, index));
    if (!Number.isFinite(first)) return "It does not change more probably than not.";
    const [size, peak] = [cellOf(data, "largest_change", index), cellOf(data, "peak", index)];
    return `It begins to change at ${timeWords(data, first)} (${digits(low, 3)} to ${digits(high, 3)}) and is furthest off at `
      + `${timeWords(data, peak)}: ${size > 0 ? "higher" : "lower"} by ${digits(Math.abs(size), 3)}.`;
  }

  tools(index) {
    const { data } = this;
    const save = () => saveSvg(valuesChart(data, index, SAVED_WIDTH), data.names[index]);
    const hint = index < data.curved ? "" : `Curves are in this page for the ${count(data.curved)} surest courses; dashed lines join the means of replicates.`;
    return html("div", { class: "controls" }, html("span", { class: "grow" }, html("span", { class: "hint" }, hint)),
      button("Figure (SVG)", save, { class: "quiet", id: "course-svg" }));
  }

  // -- differences -------------------------------------------------------------------------------------------------

  /** Shows the difference between two conditions. */
  compare(pair) {
    const { data, current: index } = this;
    this.pair = pair;
    const parts = [...this.chances(index)];
    if (index < data.curved) {
      const picture = html("div", { class: "figure" });
      const curve = curveAt(data, data.differences[pair], index, 0);
      const words = stretchWords(data, pair, curve).join("; ") || "At no time is the band of the difference off zero";
      const save = () => saveSvg(differenceChart(data, index, pair, SAVED_WIDTH), `${data.names[index]}-difference`);
      parts.unshift(this.title(pair), html("p", { class: "verdict", id: "intervals", role: "status" }, `${words[0].toUpperCase()}${words.slice(1)}.`), picture,
        html("div", { class: "controls" }, html("span", { class: "grow" }), button("Difference (SVG)", save, { class: "quiet", id: "difference-svg" })));
      this.below.replaceChildren(...parts);
      figure(picture, (width) => differenceChart(data, index, pair, width));
    } else this.below.replaceChildren(...parts);
  }

  /** Which difference is shown; with several conditions, a choice. */
  title(pair) {
    const { data } = this;
    const words = ([first, second]) => `${data.conditions[second].name} less ${data.conditions[first].name}`;
    if (data.pairs.length === 1) return html("h4", {}, words(data.pairs[0]));
    const select = html("select", { id: "pair" }, ...data.pairs.map((one, k) => html("option", { value: k, selected: k === pair ? "" : null }, words(one))));
    select.addEventListener("change", () => { this.compare(Number(select.value)); byId("pair").focus(); });
    return html("div", { class: "controls" }, html("label", {}, "Difference ", select));
  }

  /** How probable each way is in which conditions can be alike. */
  chances(index) {
    const { partitions } = this.data;
    if (!partitions) return [];
    const { words, chances } = partitions;
    const rows = words.map((word, k) => [word, chances[index * words.length + k]]).sort((a, b) => b[1] - a[1]).slice(0, 8)
      .map(([word, share]) => {
        const bar = html("span", {});
        bar.style.width = `${100 * share}%`;
        return html("tr", {}, html("th", { scope: "row" }, named(word)), html("td", { class: "number" }, chance(share)), html("td", { class: "bar-cell" }, bar));
      });
    return [html("h4", {}, "Which conditions are alike"), html("table", { class: "plain chances" }, html("tbody", {}, ...rows))];
  }
}
