// -- table: all courses; only the rows in sight exist ------------------------------------------------------------

const ROW_HEIGHT = 36;
const BEYOND = 8;
const PRINTED_ROWS = 25;
const SHOWN_DETAILS = 1; // columns that the table has before the reader chooses

/** The columns of the table: title, what it is sorted by, and what a cell shows. */
function columnsOf(data) {
  const { count: k, indices, scores } = data.neighbors;
  const columns = [
    { key: "name", title: "Name", show: (i) => html("span", {}, starOf(i), named(data.names[i])) },
    ...(data.details ?? []).map(({ title, text }, place) => (
      { key: `detail-${place}`, title, text, kind: "detail", hidden: place >= SHOWN_DETAILS, show: (i) => named(text(i)) })),
    { key: "cluster", title: "Cluster", sort: (i) => (data.labels[i] === NONE ? data.k : data.labels[i]),
      show: (i) => badge(data.labels[i]) },
  ];
  if (data.probability) {
    columns.push(
      { key: "probability", title: "Probability", number: true, down: true, sort: (i) => data.probability[i],
        show: (i) => chance(data.probability[i]) },
    );
  }
  if (data.probability && !data.freed) {
    columns.push(
      { key: "second", title: "Second", sort: (i) => data.secondProbability[i], down: true,
        show: (i) => (data.secondProbability[i] < 0.0005 ? html("span", { class: "faint" }, "\u2013")
          : html("span", {}, badge(data.second[i]), ` ${chance(data.secondProbability[i])}`)) },
    );
  }
  for (const name of ["delay", "gain"].filter((one) => data.freed?.[one])) {
    const { mean, low, high } = data.freed[name];
    columns.push({ key: name, title: name === "delay" ? "Delay" : "Gain", number: true, sort: (i) => mean[i],
      show: (i) => (data.labels[i] === NONE ? html("span", { class: "faint" }, "\u2013") : within(mean[i], high[i] - low[i])) });
  }
  if (k) {
    columns.push(
      { key: "nearest", title: "Nearest", text: (i) => data.names[indices[i * k]],
        show: (i) => named(data.names[indices[i * k]]) },
      { key: "s", title: "s", number: true, down: true, sort: (i) => scores[i * k], show: (i) => score(scores[i * k]) },
    );
  }
  return columns;
}

class CourseTable {
  /** @param open called with the number of a course that was chosen */
  constructor(host, data, open, columns = columnsOf(data), sorted = { key: "name", down: false }) {
    Object.assign(this, { data, open, columns, sorted, text: "", cluster: null, active: 0 });
    this.lower = data.names.map((name) => name.toLowerCase());
    this.ranks = new Map();
    this.chosen = -1;
    this.body = html("tbody");
    this.head = html("thead");
    this.grid = html("table", { role: "grid", tabindex: "0", "aria-label": "Courses", class: "courses" }, this.head, this.body);
    this.view = html("div", { class: "view" }, this.grid);
    this.view.addEventListener("scroll", () => this.draw(), { passive: true });
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    host.append(this.view);
    this.update();
  }

  /** Shows the courses whose name or details contain the text, of one cluster or of all (null). */
  filter({ text = this.text, cluster = this.cluster } = {}) {
    Object.assign(this, { text, cluster });
    this.update();
  }

  /** Orders by a column; again, the other way round. */
  sort(column) {
    const again = this.sorted.key === column.key;
    this.sorted = { key: column.key, down: again ? !this.sorted.down : Boolean(column.down) };
    this.update();
  }

  update() {
    this.order = this.arranged();
    this.active = 0;
    this.view.scrollTop = 0;
    this.drawHead();
    this.draw();
    const all = this.order.length === this.data.n;
    const words = all ? counted(this.data.n, "course") : `${count(this.order.length)} of ${counted(this.data.n, "course")}`;
    document.getElementById("table-status").textContent = words;
  }

  /** The courses to show, in order; with a search, equal names first, then those that begin so. */
  arranged() {
    const wanted = this.text.trim().toLowerCase();
    const found = [];
    const searched = wanted ? this.searched() : this.lower;
    for (let i = 0; i < this.data.n; i += 1) if (this.asked(i) && searched[i].includes(wanted)) found.push(i);
    const rank = this.rankBy(this.sorted.key);
    const sign = this.sorted.down ? -1 : 1;
    const near = (i) => (this.lower[i] === wanted ? 0 : this.lower[i].startsWith(wanted) ? 1 : 2);
    if (wanted) return found.sort((a, b) => near(a) - near(b) || sign * (rank[a] - rank[b]));
    return found.sort((a, b) => sign * (rank[a] - rank[b]));
  }

  /** What the search looks at: names, and what else is known; made when first needed. */
  searched() {
    const { details } = this.data;
    if (!details) return this.lower;
    this.words ??= this.lower.map((name, i) => [name, ...details.map(({ text }) => text(i).toLowerCase())].join("\n"));
    return this.words;
  }

  /** Whether a course is of the cluster, of a condition and on the list that were asked for. */
  asked(i) {
    return (this.cluster === null || this.data.labels[i] === this.cluster)
      && isShown(this.data, i) && (!chosen.only || chosen.of === null || isMarked(i));
  }

  /** The columns that are shown. */
  inSight() {
    return this.columns.filter((column) => !column.hidden);
  }

  /** The place of each course in the order of a column; found once. */
  rankBy(key) {
    if (!this.ranks.has(key)) this.ranks.set(key, this.ranked(this.columns.find((column) => column.key === key)));
    return this.ranks.get(key);
  }

  ranked(column) {
    const { names, n } = this.data;
    const collator = new Intl.Collator("en", { numeric: true });
    const all = Array.from({ length: n }, (_, i) => i);
    const text = column.text ?? ((i) => names[i]);
    if (column.sort) all.sort((a, b) => column.sort(a) - column.sort(b) || a - b);
    else all.sort((a, b) => collator.compare(text(a), text(b)) || a - b);
    const rank = new Int32Array(n);
    all.forEach((i, place) => { rank[i] = place; });
    return rank;
  }

  // -- drawing ---------------------------------------------------------------------------------------------------

  drawHead() {
    const focused = document.activeElement?.dataset?.column;
    const cells = this.inSight().map((column) => {
      const on = this.sorted.key === column.key;
      const order = on ? (this.sorted.down ? "descending" : "ascending") : null;
      const arrow = html("span", { class: "arrow", "aria-hidden": "true" }, on ? (this.sorted.down ? "\u2193" : "\u2191") : "");
      const press = button(column.title, () => this.sort(column), { "data-column": column.key });
      press.append(arrow);
      return html("th", { scope: "col", role: "columnheader", "aria-sort": order, class: `col-${column.key} ${column.kind ?? ""}` }, press);
    });
    this.head.replaceChildren(html("tr", { role: "row", "aria-rowindex": 1 }, ...cells));
    this.head.querySelector(`[data-column="${focused}"]`)?.focus();
    this.grid.setAttribute("aria-rowcount", this.order.length + 1);
    this.grid.setAttribute("aria-colcount", this.inSight().length);
  }

  /** Draws the rows in sight and a few beyond. */
  draw() {
    const height = this.view.clientHeight || 480;
    const top = this.printing ? 0 : this.view.scrollTop;
    const first = Math.max(Math.floor(top / ROW_HEIGHT) - BEYOND, 0);
    const shown = this.printing ? PRINTED_ROWS : Math.ceil(height / ROW_HEIGHT) + 2 * BEYOND;
    const last = Math.min(first + shown, this.order.length);
    const rows = [this.gap(first)];
    for (let place = first; place < last; place += 1) rows.push(this.row(place));
    rows.push(this.gap(this.printing ? 0 : this.order.length - last));
    if (!this.order.length) rows.push(this.empty());
    this.body.replaceChildren(...rows);
    if (this.order.length) this.grid.setAttribute("aria-activedescendant", `row-${this.active}`);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  /** The place of rows that are not drawn. */
  gap(rows) {
    const row = html("tr", { "aria-hidden": "true", class: "gap" });
    row.style.height = `${rows * ROW_HEIGHT}px`;
    return row;
  }

  empty() {
    const where = [this.cluster === null ? "" : " in this cluster", chosen.shown === null ? "" : " under these conditions", chosen.only ? " on your list" : ""];
    const words = `No course has this text in its name${this.data.details ? " or its details" : ""}${where.join("")}.`;
    return html("tr", { role: "row" }, html("td", { role: "gridcell", colspan: this.inSight().length }, words));
  }

  row(place) {
    const i = this.order[place];
    const row = html("tr", {
      role: "row", id: `row-${place}`, "data-place": place, "aria-rowindex": place + 2,
      "aria-selected": i === this.chosen ? "true" : "false", class: [place === this.active ? "active" : "", isMarked(i) ? "marked" : ""].join(" ").trim() || null,
    });
    for (const column of this.inSight()) {
      const shown = column.show(i);
      const whole = column.sort ? null : column.key === "name" ? [this.data.names[i], detailWords(this.data, i)].filter((words) => words).join("\n") : shown.textContent; // a long name is cut, this shows all of it
      row.append(html("td", { role: "gridcell", class: `col-${column.key} ${column.kind ?? ""}`, title: whole }, shown));
    }
    return row;
  }

  // -- pointing and keys -------------------------------------------------------------------------------------------

  click(event) {
    const row = event.target.closest("tr[data-place]");
    if (!row) return;
    this.active = Number(row.dataset.place);
    this.choose();
  }

  choose() {
    if (this.order.length) this.open(this.order[this.active]);
  }

  key(event) {
    if (event.target !== this.grid) return;
    const page = Math.max(Math.floor(this.view.clientHeight / ROW_HEIGHT) - 2, 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) this.move(this.active + moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.choose();
    else return;
    event.preventDefault();
  }

  /** Makes another row the active one and brings it into sight. */
  move(place) {
    this.active = Math.min(Math.max(place, 0), Math.max(this.order.length - 1, 0));
    const header = this.head.offsetHeight;
    const top = this.active * ROW_HEIGHT;
    const room = this.view.clientHeight - header - ROW_HEIGHT;
    if (top < this.view.scrollTop) this.view.scrollTop = top;
    else if (top > this.view.scrollTop + room) this.view.scrollTop = top - room;
    this.draw();
  }

  /** Marks the course that is open. */
  mark(index) {
    this.chosen = index;
    this.draw();
  }

  /** Draws the first rows one below the other for paper, or returns to the screen. */
  print(printing) {
    this.printing = printing;
    this.draw();
  }

  // -- files -------------------------------------------------------------------------------------------------------

  /** Saves the courses, all of them or those shown. */
  save(shown) {
    const { data } = this;
    const { count: k, indices, scores } = data.neighbors;
    const which = shown ? this.order : data.names.map((_, i) => i);
    const header = ["name", "cluster", ...(data.probability ? ["probability", "second", "second_probability"] : []),
      ...(k ? ["neighbor", "similarity"] : []), ...estimateNames(data.freed),
      ...(data.details ?? []).map(({ title }) => title), ...(chosen.of ? ["highlighted"] : [])];
    const rows = which.map((i) => [data.names[i], data.labels[i],
      ...(data.probability ? [short(data.probability[i]), data.second[i], short(data.secondProbability[i])] : []),
      ...(k ? [data.names[indices[i * k]], short(scores[i * k])] : []), ...estimateCells(data.freed, i),
      ...(data.details ?? []).map(({ text }) => text(i)), ...(chosen.of ? [chosen.of[i]] : [])]);
    saveCsv(header, rows, `${data.title}-${shown ? "shown" : "clusters"}`);
  }

  /** Saves the nearest neighbours of every course, one a row. */
  saveNeighbors() {
    const { data } = this;
    const { count: k, indices, scores } = data.neighbors;
    const rows = [];
    for (let i = 0; i < data.n; i += 1) {
      for (let j = 0; j < k; j += 1) rows.push([data.names[i], j + 1, data.names[indices[i * k + j]], short(scores[i * k + j]), ...estimateCells(data.neighbors.moved, i * k + j)]);
    }
    saveCsv(["course", "rank", "neighbor", "score", ...estimateNames(data.neighbors.moved)], rows, `${data.title}-neighbours`);
  }
}

/** What is known of level, gain and delay. */
function estimatesOf(known) {
  return ["delay", "gain", "level"].filter((name) => known?.[name]);
}

/** Names of columns of a file with level, gain and delay. */
function estimateNames(known) {
  return estimatesOf(known).flatMap((name) => [name, `${name}_low`, `${name}_high`]);
}

/** Its cells. */
function estimateCells(known, at) {
  return estimatesOf(known).flatMap((name) => ["mean", "low", "high"].map((part) => short(known[name][part][at])));
}

/** A number with the digits that its storage can hold. */
function short(number) {
  return Number(number.toPrecision(7));
}
