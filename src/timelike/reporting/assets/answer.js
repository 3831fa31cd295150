// -- answer: a page about which courses differ or change, everything put in its place ----------------------------

/** A number that sorts, also where there is none. */
function sortable(number) {
  return Number.isFinite(number) ? number : -Infinity;
}

/** The columns of the table. */
function answerColumns(data) {
  const numbers = (key, title, name, show) => ({ key, title, number: true, down: true,
    sort: (i) => sortable(cellOf(data, name, i)), show: (i) => show(cellOf(data, name, i)) });
  const texts = (key, title, name, show = named) => ({ key, title, text: (i) => cellOf(data, name, i), show: (i) => show(cellOf(data, name, i)) });
  const shared = [
    { key: "name", title: "Name", show: (i) => named(data.names[i]) },
    { key: "probability", title: "Probability", number: true, down: true, sort: (i) => -i, show: (i) => unsure(cellOf(data, "probability", i)) },
    numbers("bayes", "Log BF", "log_bayes_factor", score),
    { ...numbers("fdr", "FDR", "fdr", unsure), down: false },
  ];
  if (!data.compared) {
    return [...shared, numbers("size", "Change", "largest_change", (x) => digits(x, 3)),
      numbers("first", "Begins", "first_change", (x) => digits(x, 3)), numbers("peak", "Peak", "peak", (x) => digits(x, 3))];
  }
  const condition = (name) => badge(data.conditions.findIndex((one) => one.name === name), name);
  return [...shared, texts("kind", "Kind", "kind"), numbers("size", "Difference", "largest_difference", (x) => digits(x, 3)),
    texts("higher", "Higher in", "higher_in", condition), ...(data.partitioned ? [texts("partition", "Alike", "partition")] : [])];
}

class AnswerTable extends CourseTable {
  constructor(host, data, open) {
    super(host, data, open, answerColumns(data), { key: "probability", down: true });
  }

  /** Whether a course passes the filters. */
  asked(i) {
    const { data, wanted } = this;
    if (!wanted) return true;
    return (!wanted.called || isCalled(data, i, wanted.rate))
      && ["kind", "higher_in", "partition"].every((name) => !wanted[name] || cellOf(data, name, i) === wanted[name])
      && (!wanted.way || (data.size[i] > 0) === (wanted.way === "rise"));
  }

  /** Shows what passes new filters. */
  want(wanted) {
    this.wanted = wanted;
    this.update();
  }

  empty() {
    const words = "No course passes these filters and has this text in its name.";
    return html("tr", { role: "row" }, html("td", { role: "gridcell", colspan: this.columns.length }, words));
  }

  /** Saves the courses, all of them or those shown, with every column. */
  save(shown) {
    const { data } = this;
    const columns = Object.keys(data.columns);
    const which = shown ? this.order : data.names.map((_, i) => i);
    const plain = (value) => (typeof value !== "number" ? value : Number.isFinite(value) ? short(value) : "");
    const rows = which.map((i) => [data.names[i], ...columns.map((name) => plain(cellOf(data, name, i)))]);
    saveCsv(["name", ...columns], rows, `${data.title}-${shown ? "shown" : "courses"}`);
  }
}

// -- filters --------------------------------------------------------------------------------------------------------

/** The words of a column, the most frequent first, as a list to choose from; the value "" means all. */
function fillWords(id, data, name) {
  const select = byId(id);
  if (!select) return;
  const { words, of } = data.columns[name];
  const sizes = new Array(words.length).fill(0);
  for (const k of of) sizes[k] += 1;
  const order = words.map((_, k) => k).sort((a, b) => sizes[b] - sizes[a]);
  select.append(html("option", { value: "" }, "any"), ...order.map((k) => html("option", { value: words[k] }, `${words[k]} (${count(sizes[k])})`)));
}

function startFilters(data, table, changed) {
  if (data.compared) {
    fillWords("kind-filter", data, "kind");
    fillWords("higher-filter", data, "higher_in");
    if (data.partitioned) fillWords("partition-filter", data, "partition");
  } else byId("way-filter").append(...["any", "rise", "fall"].map((word) => html("option", { value: word === "any" ? "" : word }, word)));
  byId("rate").value = data.fdr;
  const wanted = () => ({ called: byId("called-filter").value, rate: Number(byId("rate").value) || 0, kind: byId("kind-filter")?.value,
    higher_in: byId("higher-filter")?.value, partition: byId("partition-filter")?.value, way: byId("way-filter")?.value });
  const update = () => { table.want(wanted()); changed(wanted().rate); };
  for (const id of ["called-filter", "rate", "kind-filter", "higher-filter", "partition-filter", "way-filter"]) {
    byId(id)?.addEventListener("input", update);
  }
}

// -- the volcano ------------------------------------------------------------------------------------------------------

class Volcano {
  constructor(data, open) {
    Object.assign(this, { data, rate: data.fdr, chosen: -1 });
    const host = byId("volcano");
    this.entry = figure(host, (width) => {
      this.chart = volcanoChart(data, width, this);
      return this.chart.root;
    });
    host.addEventListener("click", (event) => { const i = this.at(event); if (i >= 0) open(i); });
    host.addEventListener("pointermove", (event) => this.read(this.at(event)));
    byId("volcano-svg").addEventListener("click", () => saveSvg(volcanoChart(data, SAVED_WIDTH, { rate: this.rate, chosen: -1 }).root, `${data.title}-volcano`));
  }

  /** The course at which the reader points, or -1. */
  at(event) {
    const box = this.chart.root.getBoundingClientRect();
    const scale = this.chart.root.viewBox.baseVal.width / box.width;
    return this.chart.near((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  }

  read(i) {
    const { data } = this;
    const words = i < 0 ? ["\u00a0"] : [named(data.names[i]), `: ${digits(data.size[i], 3)}, log Bayes factor ${score(cellOf(data, "log_bayes_factor", i))}, `
      + `probability ${unsure(cellOf(data, "probability", i))}`];
    byId("volcano-name").replaceChildren(...words);
  }

  /** Draws anew with another rate, or with another course open. */
  update(news) {
    Object.assign(this, news);
    fit(this.entry);
  }
}

// -- start ------------------------------------------------------------------------------------------------------------

function startAnswer() {
  const data = readAnswer();
  removeEmpty(data);
  startAxis(data);
  const open = (index) => { location.hash = addressOf(data.names[index]); show(index, true); };
  const volcano = new Volcano(data, (index) => { open(index); byId("courses").scrollIntoView(); });
  const view = new AnswerView(byId("course"), data);
  const table = new AnswerTable(byId("table"), data, open);
  const show = (index, visit) => {
    if (index < 0 || index === view.current) return;
    view.show(index);
    table.mark(index);
    volcano.update({ chosen: index });
    if (visit) byId("course").focus({ preventScroll: matchMedia("(min-width: 60rem)").matches });
  };
  show(askedFor(data) >= 0 ? askedFor(data) : 0, false);
  addEventListener("hashchange", () => show(askedFor(data), true));
  startFilters(data, table, (rate) => volcano.update({ rate }));
  startSearch(table);
  connectMenu(document.querySelector(".menu"));
  startCopy();
  followSections();
  if (askedFor(data) >= 0) byId("courses").scrollIntoView();
  startTheme(() => {});
  let waiting = 0;
  addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => fitAll()); });
  addEventListener("beforeprint", () => table.print(true));
  addEventListener("afterprint", () => table.print(false));
  document.documentElement.dataset.ready = "true";
}

function startSearch(table) {
  byId("search").addEventListener("input", ({ target }) => table.filter({ text: target.value }));
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") table.choose();
    else if (event.key === "ArrowDown") table.grid.focus();
    else return;
    event.preventDefault();
  });
  byId("csv-all").addEventListener("click", () => table.save(false));
  byId("csv-shown").addEventListener("click", () => table.save(true));
}

startAnswer();
