// -- cluster: one cluster in full: its curve, its courses, what it means and what is near --------------------------

const MEMBER_HEIGHT = 30;
const SURE = 0.8;
const NEAREST = 5;
const MOST_TERMS = 12;
const MOST_Q = 0.05;

/** The nearest clusters and how far their curves are away: the root mean square difference, in units of the values. */
function nearestClusters(data, label) {
  const own = clusterCurve(data, label).mean;
  const away = (other) => {
    const { mean } = clusterCurve(data, other);
    return Math.sqrt(mean.reduce((sum, value, i) => sum + (value - own[i]) ** 2, 0) / own.length);
  };
  const others = Array.from({ length: data.k }, (_, c) => c).filter((c) => c !== label && data.sizes[c]);
  return others.map((c) => ({ label: c, away: away(c) })).sort((a, b) => a.away - b.away).slice(0, NEAREST);
}

/** The courses of a cluster, the surest first; all, or those that are sure of it or not. */
function chosenMembers(data, members, which) {
  if (!data.probability) return members;
  const kept = { all: () => true, sure: (p) => p >= SURE, unsure: (p) => p < SURE }[which];
  return members.filter((i) => kept(data.probability[i])).sort((a, b) => data.probability[b] - data.probability[a] || a - b);
}

class MemberList {
  /** A list of which only the rows in sight exist. @param open called with the number of a course */
  constructor(data, open) {
    Object.assign(this, { data, open, members: [] });
    this.rows = html("div", { class: "member-rows" });
    this.node = html("div", { class: "members", tabindex: "0", role: "region", "aria-label": "Members" }, this.rows);
    this.node.addEventListener("scroll", () => this.draw(), { passive: true });
  }

  show(members) {
    this.members = members;
    this.rows.style.height = `${members.length * MEMBER_HEIGHT}px`;
    this.node.scrollTop = 0;
    this.draw();
  }

  draw() {
    const first = Math.max(Math.floor(this.node.scrollTop / MEMBER_HEIGHT) - 4, 0);
    const shown = Math.ceil((this.node.clientHeight || 400) / MEMBER_HEIGHT) + 8;
    this.rows.replaceChildren(...this.members.slice(first, first + shown).map((i, at) => this.row(i, first + at)));
  }

  row(i, place) {
    const { data } = this;
    const press = button("", () => this.open(i), { class: "link", title: data.names[i], "data-course": i });
    press.append(...[starOf(i), named(data.names[i])].filter(Boolean));
    const row = html("div", { class: "member" }, press, html("span", {}, data.probability ? chance(data.probability[i]) : ""));
    row.style.top = `${place * MEMBER_HEIGHT}px`;
    return row;
  }
}

class ClusterPage {
  /** @param panels the clusters and their order  @param open called with the number of a course */
  constructor(data, panels, open) {
    Object.assign(this, { data, panels, label: null });
    this.list = new MemberList(data, (i) => { this.node.close(); open(i); byId("courses").scrollIntoView(); });
    this.node = byId("cluster");
    this.node.addEventListener("close", () => { this.label = null; stateChanged(); });
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.node.addEventListener("click", ({ target }) => { if (target === this.node) this.node.close(); });
    keepInLink("page", {
      write: () => (this.label === null ? null : this.label === NONE ? "none" : String(this.label)),
      read: (word) => this.follow(word),
    });
  }

  /** What the address asks for: a cluster, "none", or null for no page. */
  follow(word) {
    if (word === null) { this.node.close(); return ""; }
    const label = word === "none" ? NONE : /^\d+$/.test(word) ? Number(word) : NaN;
    if (!this.panels.members.has(label)) return `There is no cluster "${shortened(word, 60)}" here.`;
    this.show(label);
    return "";
  }

  show(label) {
    const { data } = this;
    this.label = label;
    this.members = shownOf(data, this.panels.members.get(label));
    const picture = html("div", { class: "figure" });
    this.node.replaceChildren(this.head(), html("div", { class: "cluster-parts" },
      html("div", {}, picture, this.tools(), ...this.terms(), ...this.near()), this.memberPart()));
    if (!this.node.open) this.node.showModal();
    figure(picture, (width) => this.draw(width));
    this.choose("all");
    this.node.scrollTop = 0;
    byId("cluster-name").focus();
    stateChanged();
  }

  draw(width) {
    const { data, label, members } = this;
    const labels = axisLabels(data, label);
    const height = Math.max(Math.min(Math.round(width * 0.5), 380), 240);
    return panelChart(data, label, members, { width, height, range: ownRange(data, label, members, this.panels.reach), xLabel: labels.time, yLabel: labels.value });
  }

  head() {
    const { label, members } = this;
    const title = label === NONE ? "None of these" : `Cluster ${label}`;
    const all = this.panels.members.get(label).length;
    const size = members.length === all ? counted(all, "course") : `${count(members.length)} of ${counted(all, "course")}`;
    const words = [this.data.shapes[label], this.conditions()].filter(Boolean).map((text) => ` \u00b7 ${text}`).join("");
    return html("header", { class: "cluster-head" },
      html("h2", { id: "cluster-name", tabindex: "-1" }, badge(label, title)),
      html("p", { class: "grow" }, `${size}${words}`),
      button("Previous", () => this.step(-1), { class: "quiet", id: "cluster-previous" }),
      button("Next", () => this.step(1), { class: "quiet", id: "cluster-next" }),
      button("Close", () => this.node.close(), { class: "quiet", id: "cluster-close" }));
  }

  /** How many of its courses are of each condition, in words; nothing where there are none. */
  conditions() {
    const { members, data: { conditions } } = this;
    return conditions ? conditions.names.map((name, k) => `${shortened(name)}: ${count(members.filter((i) => conditions.of[i] === k).length)}`).join(", ") : "";
  }

  tools() {
    const { data, label } = this;
    return html("div", { class: "controls" }, html("p", { class: "hint grow" }, this.panels.remark(label)),
      button("Figure (SVG)", () => saveSvg(this.draw(SAVED_WIDTH), `${data.title}-${clusterName(label)}`), { class: "quiet", id: "cluster-svg" }));
  }

  /** The nearest clusters, each of which can be opened. */
  near() {
    const { data, label } = this;
    if (label === NONE || data.k < 2) return [];
    const rows = nearestClusters(data, label).map(({ label: other, away }) => {
      const press = button("", () => this.show(other), { class: "link" });
      press.append(badge(other, `Cluster ${other}`));
      return html("tr", {}, html("td", {}, press), html("td", { class: "number" }, digits(away, 3)), html("td", {}, data.shapes[other]));
    });
    const words = "How much its curve differs from theirs: the root mean square difference, in the unit of the values.";
    return [html("h3", {}, "Nearest clusters"), html("p", { class: "hint" }, words),
      html("table", { class: "plain", id: "near" }, html("tbody", {}, ...rows))];
  }

  /** The terms that it is enriched for. */
  terms() {
    if (!this.data.enrichment) return [];
    const found = this.data.enrichment.filter(([cluster, , , , , , , q]) => cluster === String(this.label) && q <= MOST_Q).slice(0, MOST_TERMS);
    const rows = found.map(([, term, name, genes, within, , fold, q]) => html("tr", {}, html("td", {}, `${name} (${term})`),
      html("td", { class: "number" }, `${genes} of ${within}`), html("td", { class: "number" }, `\u00d7 ${digits(fold, 3)}`),
      html("td", { class: "number" }, q.toPrecision(2))));
    const head = ["Enriched terms", "genes", "fold", "q"].map((title, i) => html("th", { scope: "col", class: i ? "number" : null }, title));
    return rows.length ? [html("table", { class: "plain", id: "cluster-terms" }, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows))]
      : [html("p", { class: "hint" }, `No term is enriched (q at most ${MOST_Q}).`)];
  }

  // -- members -------------------------------------------------------------------------------------------------------

  memberPart() {
    const { data } = this;
    const select = html("select", { id: "member-filter", "aria-label": "Which members" });
    const words = { all: "all", sure: `sure (from ${SURE})`, unsure: `not sure (below ${SURE})` };
    for (const which of data.probability ? Object.keys(words) : ["all"]) {
      select.append(html("option", { value: which }, `${words[which]}: ${count(chosenMembers(data, this.members, which).length)}`));
    }
    select.addEventListener("change", () => this.choose(select.value));
    const status = html("span", { class: "hint", role: "status", id: "member-status" });
    const names = () => plainNames(data, this.list.members);
    const say = async () => { status.textContent = (await copy(`${names().join("\n")}\n`)) ? `${counted(names().length, "name")} copied.` : "Please use the file instead."; };
    const called = () => [listName(this.label), ...(select.value === "all" ? [] : [select.value])].join("_");
    return html("div", {}, html("h3", {}, "Members"), html("div", { class: "controls" }, select,
      button("Copy", say, { class: "quiet", id: "member-copy" }),
      button("Save", () => saveNames(data, this.list.members, called()), { class: "quiet", id: "member-save" }), status), this.list.node);
  }

  choose(which) {
    this.list.show(chosenMembers(this.data, this.members, which));
  }

  // -- from cluster to cluster -----------------------------------------------------------------------------------------

  step(by) {
    const all = this.panels.shown();
    const place = all.indexOf(this.label);
    this.show(all[(place + by + all.length) % all.length]);
  }

  key(event) {
    if (event.target.closest("input, select, .members")) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.step(by);
  }
}
