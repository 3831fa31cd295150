// -- course: one course, its neighbours, and why two courses are alike --------------------------------------------

const SUGGESTED = 12;

class CourseView {
  /** @param open called with the number of a course that the reader wants to see instead */
  constructor(host, data, open) {
    Object.assign(this, { host, data, open });
    this.current = -1;
    this.other = -1;
  }

  /** Shows a course, beside its nearest neighbour. */
  show(index) {
    const { data } = this;
    this.current = index;
    this.comparison = html("div", { class: "comparison", role: "region", "aria-label": "Comparison" });
    const picture = html("div", { class: "figure" });
    this.host.replaceChildren(
      html("h3", { tabindex: "-1", id: "course-name" }, starOf(index), named(data.names[index])),
      ...this.known(index), this.belonging(index), ...this.placing(index), ...this.elsewhere(index), picture, this.tools(index), this.neighbors(index), this.search(), this.comparison,
    );
    const course = courseAt(data, index);
    this.picture = figure(picture, (width) => courseChart(data, course, width));
    const { count: k, indices } = data.neighbors;
    if (k) this.compare(indices[index * k]);
  }

  /** What the file said about the course beside its values. */
  known(index) {
    const lines = (this.data.details ?? []).map(({ title, text }) => [title, text(index)]).filter(([, text]) => text);
    if (!lines.length) return [];
    return [html("dl", { class: "known" }, ...lines.map(([title, text]) => html("div", {}, html("dt", {}, title), html("dd", {}, named(text)))))];
  }

  /** Where the course belongs, in a sentence. */
  belonging(index) {
    const { data } = this;
    const label = data.labels[index];
    const words = html("p", { class: "belonging" }, "In ");
    words.append(badge(label, label === NONE ? "none of the clusters" : `cluster ${label}`));
    if (data.probability) {
      words.append(` with probability ${chance(data.probability[index])}`);
      if (data.secondProbability[index] >= 0.0005) {
        words.append(`; next ${clusterName(data.second[index])}, ${chance(data.secondProbability[index])}`);
      }
    }
    words.append(".");
    return words;
  }

  /** How the course differs from the curve of its cluster, in a sentence. */
  placing(index) {
    const words = placeWords(this.data, index);
    return words ? [html("p", { class: "belonging placing" }, words)] : [];
  }

  /** Where the course of the same name is under the other conditions; nothing where there is none. */
  elsewhere(index) {
    const { data } = this;
    return othersOf(data, index).map((other) => {
      const visit = button("open", () => this.open(other), { class: "quiet small", "aria-label": `Open ${data.names[other]}` });
      const label = data.labels[other];
      const place = badge(label, label === NONE ? "none of the clusters" : `cluster ${label}`);
      const sure = data.probability ? ` (${chance(data.probability[other])})` : "";
      return html("p", { class: "belonging elsewhere" }, "Under ", named(conditionName(data, other)), ": ", place, `${sure} `, visit);
    });
  }

  tools(index) {
    const name = this.data.names[index];
    const file = () => saveSvg(courseChart(this.data, courseAt(this.data, index), SAVED_WIDTH), name);
    const words = this.data.features ? "" : "The kernel is too rough for curves of single courses in a page: only values are shown.";
    const choice = this.data.freed ? [alignChoice()] : [];
    return html("div", { class: "controls" }, ...choice, html("span", { class: "grow" }, html("span", { class: "hint" }, words)),
      button("Figure (SVG)", file, { class: "quiet", id: "course-svg" }));
  }

  // -- neighbours ------------------------------------------------------------------------------------------------

  neighbors(index) {
    const { data } = this;
    const { count: k, indices, scores } = data.neighbors;
    if (!k) return html("p", { class: "hint" }, "There is no other course to compare with.");
    const rows = Array.from({ length: k }, (_, j) => this.neighbor(indices[index * k + j], scores[index * k + j], index * k + j));
    const head = html("tr", {}, ...["Nearest courses", "Cluster", "s", ...this.moves(), ""].map((title) => html("th", { scope: "col" },
      title || html("span", { class: "unseen" }, "Open"))));
    const table = html("table", { class: "plain neighbors" }, html("thead", {}, head), html("tbody", {}, ...rows));
    const { moved } = data.neighbors;
    if (!moved && !data.freed) return table;
    const words = moved ? `Alike up to ${moved.words}: s allows for these.` : "Alike as measured: s allows for no level, gain or delay.";
    return html("div", {}, html("p", { class: "hint", id: "alike" }, words), table);
  }

  /** What is known about how neighbours differ: titles of columns. */
  moves() {
    const { delay, gain } = this.data.neighbors.moved ?? {};
    return [...(delay ? ["later by"] : []), ...(gain ? ["times"] : [])];
  }

  neighbor(other, s, at) {
    const { data } = this;
    const compare = button("", () => this.compare(other), { class: "link", "data-other": other, "aria-pressed": "false" });
    compare.append(...[starOf(other), named(data.names[other])].filter(Boolean));
    if (data.details) compare.title = detailWords(data, other);
    const visit = button("open", () => this.open(other), { class: "quiet small", "aria-label": `Open ${data.names[other]}` });
    return html("tr", {}, html("th", { scope: "row" }, compare), html("td", {}, badge(data.labels[other])),
      html("td", { class: "number" }, score(s)), ...this.moveCells(at), html("td", { class: "number" }, visit));
  }

  /** By how much a neighbour is later and larger, with the interval for those who point at it. */
  moveCells(at) {
    const { delay, gain } = this.data.neighbors.moved ?? {};
    return [delay, gain].filter(Boolean).map(({ mean, low, high }) => {
      const [width, said] = [high[at] - low[at], (number) => within(number, high[at] - low[at])];
      return html("td", { class: "number", title: `${said(low[at], width)} to ${said(high[at], width)} (90 %)` }, said(mean[at]));
    });
  }

  /** A field for any other name; while one types, names that contain the text are offered. */
  search() {
    const { data } = this;
    const names = html("datalist", { id: "other-names" });
    const field = html("input", { id: "other", list: "other-names", autocomplete: "off", spellcheck: "false",
      placeholder: "any other course" });
    const status = html("span", { class: "hint", role: "status", id: "other-status" });
    const chosen = (last) => {
      const exact = data.names.indexOf(field.value.trim());
      if (exact >= 0 && exact !== this.current) this.compare(exact);
      status.textContent = last && exact < 0 && field.value.trim() ? "There is no course of this name." : "";
    };
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      const found = wanted ? data.names.filter((name) => name.toLowerCase().includes(wanted)) : [];
      names.replaceChildren(...found.slice(0, SUGGESTED).map((value) => html("option", { value })));
      chosen(false);
    });
    field.addEventListener("change", () => chosen(true));
    return html("div", { class: "controls" }, html("label", { class: "grow" }, "Compare with ", field), names, status);
  }

  // -- two courses --------------------------------------------------------------------------------------------------

  /** Sets the open course beside another one. */
  compare(other) {
    const { data } = this;
    this.other = other;
    for (const node of this.host.querySelectorAll("[data-other]")) {
      node.setAttribute("aria-pressed", String(Number(node.dataset.other) === other));
    }
    const [first, second] = [this.current, other].map((index) => courseAt(data, index));
    const why = explain(data, first, second);
    this.explanation = why;
    if (!why) {
      this.comparison.replaceChildren(html("p", { class: "hint" }, "The kernel is too rough for a comparison in a page."));
      return;
    }
    this.drawComparison(first, second, why);
  }

  drawComparison(first, second, why) {
    const { data } = this;
    const names = [first, second].map(({ index }) => data.names[index]);
    const [pair, bars] = [html("div", { class: "figure" }), html("div", { class: "figure" })];
    const file = (draw, what) => () => saveSvg(draw(SAVED_WIDTH), `${names.join("-")}-${what}`);
    const drawPair = (width) => pairChart(data, first, second, width);
    const drawBars = (width) => barsChart(data, first, second, why.contributions, width);
    const aligned = this.aligned(first, second, names);
    const measured = data.freed || data.neighbors.moved ? "As measured: " : "";
    this.comparison.replaceChildren(
      html("h4", {}, named(names[0]), " and ", named(names[1])), ...aligned.nodes,
      html("p", { class: "verdict", role: "status" }, measured, html("b", { id: "similarity" }, `s = ${fixed(why.s)}`), `: ${meaning(why.s)}.`),
      ...this.remark(first, second, why.s),
      pair,
      html("p", { class: "hint" }, "What each measured value adds to s, in the order of time. The bars add up to s."),
      bars,
      html("div", { class: "controls" }, html("span", { class: "grow" }),
        button("Curves (SVG)", file(drawPair, "curves"), { class: "quiet", id: "pair-svg" }),
        button("Bars (SVG)", file(drawBars, "bars"), { class: "quiet", id: "bars-svg" })),
      this.numbers([first, second], names, why.contributions),
    );
    aligned.draw();
    figure(pair, drawPair);
    figure(bars, drawBars);
  }

  /** How a neighbour is alike once it is moved: words, a figure, and what draws it; nothing where that is not known. */
  aligned(first, second, names) {
    const { data } = this;
    const { count: k, indices, scores, moved } = data.neighbors;
    const place = Array.from({ length: k }, (_, j) => first.index * k + j).find((j) => indices[j] === second.index);
    if (!moved || place === undefined) return { nodes: [], draw: () => {} };
    const s = scores[place];
    const how = neighborWords(data, place);
    const picture = html("div", { class: "figure" });
    const nodes = [
      html("p", { class: "verdict", id: "aligned-similarity" }, `Up to ${moved.words}: `, html("b", {}, `s = ${fixed(s)}`), `: ${meaning(s)}.`),
      ...(how ? [html("p", { class: "belonging", id: "aligned-how" }, named(names[1]), ` is `, named(names[0]), `, ${how}.`)] : []), picture,
    ];
    return { nodes, draw: () => figure(picture, (width) => alignedPairChart(data, first, second, place, width)) };
  }

  /** Why courses that are not the same can be in one cluster; nothing where there is nothing to explain. */
  remark(first, second, s) {
    const { labels } = this.data;
    if (s >= 0 || labels[first.index] !== labels[second.index] || labels[first.index] === NONE) return [];
    const free = this.data.freed ? `, once their ${this.data.freed.words} are taken out` : "";
    return [html("p", { class: "hint" }, `They are in one cluster all the same: its courses are alike${free}, not identical.`)];
  }

  /** The bars as numbers. */
  numbers(courses, names, contributions) {
    const head = html("tr", {}, ...["course", this.data.timeLabel, this.data.valueLabel, "adds to s"]
      .map((title) => html("th", { scope: "col" }, title)));
    const rows = courses.flatMap((course, k) => Array.from(course.times, (time, i) => html("tr", {},
      html("th", { scope: "row" }, named(names[k])), html("td", { class: "number" }, digits(time, 6)),
      html("td", { class: "number" }, digits(course.values[i], 6)),
      html("td", { class: "number" }, fixed(contributions[k][i], 4)))));
    const table = html("table", { class: "plain", id: "contributions" }, html("thead", {}, head), html("tbody", {}, ...rows));
    const box = html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The bars as numbers" }, table);
    return html("details", {}, html("summary", {}, "The bars as numbers"), box);
  }
}
