// -- page: everything put in its place ------------------------------------------------------------------------------

// -- clusters ---------------------------------------------------------------------------------------------------------

const MOST_PANELS = 24; // at first; the others on demand

class Panels {
  /** @param choose called with the cluster that was chosen */
  constructor(data, choose) {
    Object.assign(this, { data, choose, chosen: null });
    const labels = [...Array(data.k).keys(), ...(data.hasNone ? [NONE] : [])];
    this.members = new Map(labels.map((label) => [label, membersOf(data, label)]));
    this.measure();
    this.nodes = new Map(labels.map((label) => [label, this.panel(label)]));
    byId("panel-order").addEventListener("change", () => this.arrange());
    byId("panel-least").addEventListener("input", () => this.arrange());
    byId("panels-svg").addEventListener("click", () => saveSvg(panelsFigure(data, this.shown(), this.ticked(), (label) => this.rangeOf(label)), `${data.title}-clusters`));
    byId("panel-scale").addEventListener("change", () => { this.tell(); fitAll(true); });
    byId("panel-more").firstElementChild.addEventListener("click", () => { this.all = true; this.arrange(); });
    byId("panels").classList.add(labels.length > 15 ? "many" : labels.length > 8 ? "several" : "few");
    this.drawn = new Set();
    this.arrange();
  }

  /** Finds the range of values that all panels share. */
  measure() {
    this.reach = reaches(this.data);
    this.range = commonRange(this.data, this.members, this.reach);
  }

  /** The members of each cluster whose conditions are ticked. */
  ticked() {
    return new Map([...this.members].map(([label, of]) => [label, shownOf(this.data, of)]));
  }

  /** The range of values of a panel, as was chosen: that of all, or its own. */
  rangeOf(label) {
    return byId("panel-scale").value === "own" ? ownRange(this.data, label, this.members.get(label), this.reach) : this.range;
  }

  /** Draws the panel of a cluster, once it is in the page. */
  draw(label) {
    if (this.drawn.has(label)) return;
    this.drawn.add(label);
    const host = this.nodes.get(label).querySelector(".figure");
    const height = byId("panels").matches(".many") ? 84 : byId("panels").matches(".several") ? 122 : 158;
    figure(host, (width) => panelChart(this.data, label, shownOf(this.data, this.members.get(label)), { width, height, range: this.rangeOf(label) }));
  }

  /** Says what the panels do not show: clusters that are hidden, and courses that reach beyond the shared scale. */
  tell() {
    const { data, members } = this;
    const words = [];
    if (this.hidden) words.push(`${count(this.hidden)} of ${count(members.size)} panels are hidden.`);
    const out = byId("panel-scale").value === "own" ? 0 : beyond([...members.values()].flat(), this.reach, this.range);
    if (out) words.push(`${counted(out, "course")} ${out === 1 ? "reaches" : "reach"} beyond the shared scale; on scales of their own all are seen whole.`);
    byId("panel-status").textContent = words.join(" ");
    const { time, value } = axisLabels(data);
    byId("panel-axes").textContent = `${time}: ${value}`;
  }

  panel(label) {
    const { data } = this;
    const size = this.members.get(label).length;
    const press = button("", () => this.choose(label),
      { class: "panel-title", "aria-pressed": "false" });
    const title = label === NONE ? "In none" : `Cluster ${label}`;
    press.append(badge(label, title), html("span", { class: "grow" }), " ",
      html("span", { class: "size" }, counted(size, "course")));
    const picture = html("div", { class: "figure" });
    picture.addEventListener("click", () => this.choose(label));
    return html("article", { class: "panel", "aria-label": title }, press, picture, html("p", { class: "hint" }, data.shapes[label] ?? "Better explained by curves of their own."));
  }

  remark(label) {
    const { data } = this;
    if (label === NONE) return "A curve of their own explains these better than any cluster does.";
    const parts = [`values scatter by ${digits(data.scatter[label], 2)}`];
    for (const name of ["delay", "gain"]) parts.push(...rangeWords(data, this.members.get(label), name));
    if (data.certainty?.[label] != null) parts.push(`mean probability ${chance(data.certainty[label])}`);
    if (data.borders) parts.push(unsureWords(data.borders, label), borderWords(data.borders, label, clusterName));
    return parts.filter((words) => words).join(" \u00b7 ");
  }

  /** The clusters to show, in the order that was asked for; "none" comes last. */
  shown() {
    const { data } = this;
    const least = Number(byId("panel-least").value) || 0;
    const key = { number: (c) => c, peak: (c) => data.peaks[c], size: (c) => -data.sizes[c],
      scatter: (c) => data.scatter[c], certainty: (c) => -(data.certainty?.[c] ?? 0) }[byId("panel-order").value];
    const last = (label) => (label === NONE ? 1 : 0);
    return [...this.members.keys()].filter((label) => this.members.get(label).length >= least)
      .sort((a, b) => last(a) - last(b) || key(a) - key(b) || a - b);
  }

  arrange() {
    const shown = this.shown();
    const first = this.all ? shown : shown.slice(0, MOST_PANELS);
    byId("panels").replaceChildren(...first.map((label) => this.nodes.get(label)));
    byId("panel-more").hidden = first.length === shown.length;
    byId("panel-more").firstElementChild.textContent = `Show all ${count(shown.length)} clusters`;
    this.hidden = this.members.size - first.length;
    first.forEach((label) => this.draw(label));
    this.tell();
    fitAll();
  }

  /** Says how many courses of each cluster are shown, and how many are on the reader's list. */
  recount() {
    for (const [label, node] of this.nodes) {
      const of = this.members.get(label);
      const shown = shownOf(this.data, of);
      const marked = chosen.of ? shown.filter(isMarked).length : 0;
      const words = shown.length === of.length ? counted(of.length, "course") : `${count(shown.length)} of ${counted(of.length, "course")}`;
      node.querySelector(".size").replaceChildren(...(marked ? [html("span", { class: "star", title: "on your list" }, `${STAR} ${count(marked)}`), " "] : []), words);
    }
  }

  /** Marks the cluster whose courses the table shows. */
  mark(cluster) {
    this.chosen = cluster;
    for (const [label, node] of this.nodes) {
      node.querySelector("button").setAttribute("aria-pressed", String(label === cluster));
      node.classList.toggle("chosen", label === cluster);
    }
  }
}

/** A list of clusters to choose from; the value "" means all. */
function fillClusters(select, labels, sizes) {
  select.append(html("option", { value: "" }, "all"));
  for (const label of labels) {
    const size = sizes ? ` (${count(sizes(label))})` : "";
    select.append(html("option", { value: label }, `${label === NONE ? "none of these" : label}${size}`));
  }
}

// -- ontology terms -----------------------------------------------------------------------------------------------------

function startTerms(data) {
  if (!data.enrichment) return;
  const clusters = [...new Set(data.enrichment.map(([cluster]) => cluster))];
  fillClusters(byId("term-filter"), clusters);
  const update = () => drawTerms(data, byId("term-filter").value, Number(byId("term-limit").value));
  byId("term-filter").addEventListener("change", update);
  byId("term-limit").addEventListener("input", update);
  update();
}

function drawTerms(data, cluster, limit) {
  const rows = data.enrichment.filter((row) => (!cluster || row[0] === cluster) && row[7] <= limit);
  const words = ["Cluster", "Term", "Name", "Genes", "Fold", "q"];
  const head = html("tr", {}, ...words.map((word) => html("th", { scope: "col" }, word)));
  const body = rows.map(([label, term, name, genes, within, , fold, q]) => html("tr", {},
    html("td", {}, /^\d+$/.test(label) ? badge(Number(label)) : label), html("th", { scope: "row" }, term), html("td", {}, name),
    html("td", { class: "number" }, `${genes} of ${within}`), html("td", { class: "number" }, `\u00d7 ${digits(fold, 3)}`),
    html("td", { class: "number" }, q.toPrecision(2))));
  byId("terms").replaceChildren(html("table", { class: "plain" }, html("thead", {}, head), html("tbody", {}, ...body)));
  byId("term-status").textContent = rows.length ? `${counted(rows.length, "term")}.` : "No term is enriched at this q.";
}

// -- start ----------------------------------------------------------------------------------------------------------------

function startHeatmap(data, open) {
  const section = byId("heatmap-figure");
  if (data.ownTimes && !data.features) {
    section.replaceChildren("The kernel is too rough for a page to draw courses with times of their own side by side.");
    return null;
  }
  const heatmap = new Heatmap(data, open);
  if (data.freed?.level) byId("heatmap-mode").value = heatmap.mode = "own";
  heatmap.theme = theme();
  const entry = figure(section, (width) => heatmap.draw(width, heatmap.theme));
  byId("heatmap-mode").addEventListener("change", (event) => {
    heatmap.mode = event.target.value;
    fit(entry);
  });
  byId("heatmap-svg").addEventListener("click", () => saveSvg(heatmap.draw(760, "light"), `${data.title}-heatmap`));
  return { paint: (colors) => { heatmap.theme = colors; fit(entry); }, choose: () => heatmap.choose() };
}

/** The courses: table, one of them open, and the two filters that clusters and names make. */
function startCourses(data) {
  let asked = NONE; // the course that the reader opened
  const open = (index) => {
    asked = index;
    stateChanged(true);
    show(index, true);
  };
  const view = new CourseView(byId("course"), data, open);
  const table = new CourseTable(byId("table"), data, open);
  const show = (index, visit) => {
    if (index === view.current) return;
    view.show(index);
    table.mark(index);
    if (visit) byId("course").focus({ preventScroll: matchMedia("(min-width: 60rem)").matches });
  };
  show(table.order[0], false);
  table.narrowed = () => { if (table.order.length && !table.order.includes(view.current)) show(table.order[0], false); };
  keepInLink("course", {
    write: () => (asked === NONE ? null : data.names[asked]),
    read: (name) => {
      const index = name === null ? NONE : data.names.indexOf(name);
      if (name !== null && index < 0) return `There is no course "${shortened(name, 60)}" here.`;
      asked = index;
      if (index >= 0) show(index, document.documentElement.dataset.ready === "true");
      return "";
    },
  });
  connectSearch(table);
  for (const menu of document.querySelectorAll(".menu")) connectMenu(menu);
  return { table, open, reopen: () => view.show(view.current) };
}

function connectSearch(table) {
  const find = (text) => { table.filter({ text }); stateChanged(); };
  byId("search").addEventListener("input", ({ target }) => find(target.value));
  keepInLink("find", { write: () => table.text.trim() || null, read: (text) => { byId("search").value = text ?? ""; find(text ?? ""); } });
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") table.choose();
    else if (event.key === "ArrowDown") table.grid.focus();
    else return;
    event.preventDefault();
  });
  byId("csv-all").addEventListener("click", () => table.save(false));
  byId("csv-shown").addEventListener("click", () => table.save(true));
  byId("csv-neighbors").addEventListener("click", () => table.saveNeighbors());
}

/** The clusters: choosing one shows its courses. */
function startClusters(data, table, open) {
  const select = byId("cluster-filter");
  const filter = (cluster) => {
    select.value = cluster ?? "";
    table.filter({ cluster });
    table.narrowed();
    panels.mark(cluster);
    stateChanged();
  };
  const panels = new Panels(data, (cluster) => {
    filter(cluster);
    page.show(cluster);
  });
  const page = new ClusterPage(data, panels, open);
  fillClusters(select, [...panels.members.keys()], (label) => panels.members.get(label).length);
  select.addEventListener("change", () => filter(select.value === "" ? null : Number(select.value)));
  keepInLink("cluster", {
    write: () => (panels.chosen === null ? null : panels.chosen === NONE ? "none" : String(panels.chosen)),
    read: (word) => {
      const label = word === "none" ? NONE : word === null ? null : /^\d+$/.test(word) ? Number(word) : NaN;
      if (label !== null && !panels.members.has(label)) return `There is no cluster "${shortened(word, 60)}" here.`;
      filter(label);
      return "";
    },
  });
  alignState.changed = () => { panels.measure(); panels.tell(); };
  return { panels, filter };
}

/** The columns with what else is known: the reader chooses which of them the table has. */
function startColumns(data, table) {
  if (!data.details) return;
  for (const column of table.columns.filter(({ kind }) => kind === "detail")) {
    const box = html("input", { type: "checkbox" });
    box.checked = !column.hidden;
    box.addEventListener("change", () => { column.hidden = !box.checked; table.update(); });
    byId("columns").append(html("label", {}, box, named(column.title)));
  }
}

/** What follows when the reader marks other courses or shows other conditions. */
function startChosen(data, { table, panels, filter, later, reopen }) {
  const conditions = () => { panels.recount(); table.filter(); table.narrowed(); later.heatmap?.choose(); fitAll(true); };
  const marks = () => { panels.recount(); table.filter(); reopen(); fitAll(true); };
  new Toolbox(data, marks);
  startConditions(data, { changed: conditions, choose: (label) => { filter(label); byId("courses").scrollIntoView(); } });
  startLists(data, table, panels.members);
  startColumns(data, table);
}

/** The axis of time, which a link keeps too. */
function startLinkedAxis(data) {
  const draw = startAxis(data, () => stateChanged());
  if (!draw) return;
  keepInLink("axis", {
    write: () => (axisState.onClock ? null : "plain"),
    read: (word) => { if (word !== null) draw(word !== "plain"); },
  });
}

function startNumbers(data) {
  if (!data.evidence) return;
  figure(byId("numbers-figure"), (width) => numbersChart(data, width));
  byId("numbers-svg").addEventListener("click", () => saveSvg(numbersChart(data, SAVED_WIDTH), `${data.title}-numbers`));
}

/** The numbers behind the page, for the browser's console: by names of courses. */
function offerNumbers(data) {
  const named = (name) => courseAt(data, data.names.indexOf(name));
  window.timelikeReport = Object.freeze({
    explain: (first, second) => explain(data, named(first), named(second)),
    curve: (...names) => sharedCurve(data, names.map(named)),
    times: Array.from(data.grid),
  });
}

function start() {
  const data = readData();
  removeEmpty(data);
  startLinkedAxis(data);
  startAligned(data);
  const { table, open, reopen } = startCourses(data);
  const later = { heatmap: null };
  startChosen(data, { table, later, reopen, ...startClusters(data, table, open) });
  startOrder(data, open);
  startFine(data);
  startNumbers(data);
  startTerms(data);
  startCopy();
  followSections();
  offerNumbers(data);
  const asked = startState();
  if (["course", "find", "cluster"].some((key) => asked.has(key))) byId("courses").scrollIntoView();
  startLater(data, { open, table, later });
}

/** What can wait until the page stands: the heatmap, and what follows changes of size, colour and medium. */
function startLater(data, { open, table, later }) {
  startTheme(() => later.heatmap?.paint(theme()));
  setTimeout(() => {
    later.heatmap = startHeatmap(data, open);
    document.documentElement.dataset.ready = "true";
  });
  let waiting = 0;
  addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => fitAll()); });
  addEventListener("beforeprint", () => { later.heatmap?.paint("light"); table.print(true); });
  addEventListener("afterprint", () => { later.heatmap?.paint(theme()); table.print(false); });
}

start();
