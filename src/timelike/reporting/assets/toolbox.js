// -- toolbox: a list of names that the reader has, marked in every part of the page; and lists to take away ----------

/** For each name, name without condition and detail, in small letters, the courses that have it. */
function coursesByWord(data) {
  const found = new Map();
  const add = (text, i) => {
    const key = text.trim().toLowerCase();
    if (!key) return;
    const there = found.get(key);
    if (!there) found.set(key, [i]);
    else if (there[there.length - 1] !== i) there.push(i);
  };
  for (let i = 0; i < data.n; i += 1) {
    add(data.names[i], i);
    add(plainName(data, i), i);
    for (const { text } of data.details ?? []) add(text(i), i);
  }
  return found;
}

/** The names in a pasted text: a line, a cell or a word each, the longest that is known. */
function namesIn(text, known) {
  const words = text.split(/[\r\n]+/).flatMap((line) => split(line, known, [/[\t,;]+/, /\s+/]));
  return [...new Map(words.map((word) => [word.toLowerCase(), word])).values()];
}

function split(text, known, [separator, ...finer]) {
  const word = text.trim().replace(/^["']|["']$/g, "");
  if (!word) return [];
  if (known.has(word.toLowerCase()) || !separator) return [word];
  return word.split(separator).flatMap((part) => split(part, known, finer));
}

class Toolbox {
  /** @param changed called when other courses are marked */
  constructor(data, changed) {
    Object.assign(this, { data, changed, known: null });
    this.box = byId("toolbox");
    this.field = byId("toolbox-names");
    byId("toolbox-open").addEventListener("click", () => this.open(this.box.hidden));
    byId("toolbox-close").addEventListener("click", () => this.open(false));
    byId("toolbox-mark").addEventListener("click", () => this.take(this.field.value));
    byId("toolbox-clear").addEventListener("click", () => { this.field.value = ""; this.take(""); });
    byId("toolbox-only").addEventListener("change", ({ target }) => { chosen.only = target.checked; this.done(); });
    this.box.addEventListener("keydown", ({ key }) => { if (key === "Escape") this.open(false); });
    keepInLink("only", { write: () => (chosen.only ? "highlighted" : null), read: (word) => { chosen.only = word !== null; this.done(); } });
    keepInLink("highlight", { list: true, write: () => chosen.words, read: (words) => this.read(words ?? []) });
  }

  open(open) {
    this.box.hidden = !open;
    byId("toolbox-open").setAttribute("aria-expanded", String(open));
    (open ? this.field : byId("toolbox-open")).focus();
  }

  read(words) {
    this.field.value = words.join("\n");
    this.mark(words);
    if (!chosen.missing.length) return "";
    return `${counted(chosen.missing.length, "name")} of the list ${chosen.missing.length === 1 ? "is" : "are"} not in this page.`;
  }

  take(text) {
    this.known ??= coursesByWord(this.data);
    this.mark(namesIn(text, this.known));
  }

  /** Marks the courses that have one of the words. */
  mark(words) {
    this.known ??= words.length ? coursesByWord(this.data) : null;
    const of = new Uint8Array(this.data.n);
    const missing = [];
    for (const word of words) {
      const found = this.known.get(word.trim().toLowerCase());
      if (found) for (const i of found) of[i] = 1;
      else missing.push(word);
    }
    Object.assign(chosen, { words, missing, of: of.includes(1) ? of : null, only: chosen.only && of.includes(1) });
    this.done();
  }

  done() {
    byId("toolbox-only").checked = chosen.only;
    byId("toolbox-only").disabled = chosen.of === null;
    byId("toolbox-open").textContent = chosen.words.length ? `Highlight (${count(chosen.words.length - chosen.missing.length)})` : "Highlight";
    byId("toolbox-found").replaceChildren(...this.account());
    this.changed();
    stateChanged();
  }

  /** How many of the names are where, and which are nowhere. */
  account() {
    if (!chosen.words.length) return [];
    const found = chosen.words.length - chosen.missing.length;
    const lines = [html("p", {}, `${count(found)} of your ${counted(chosen.words.length, "name")} ${found === 1 ? "is" : "are"} here: ${counted(chosen.of?.reduce((a, b) => a + b, 0) ?? 0, "course")}.`)];
    const sizes = this.sizes();
    if (sizes.size) {
      lines.push(html("ul", {}, ...[...sizes].map(([label, size]) => html("li", {}, badge(label, clusterName(label)),
        `: ${count(size)} of your ${counted(chosen.words.length, "name")}`))));
    }
    if (chosen.missing.length) lines.push(html("p", { id: "toolbox-missing" }, `${count(chosen.missing.length)} not found: `, named(chosen.missing.slice(0, 100).join(", ")), chosen.missing.length > 100 ? " \u2026" : ""));
    return lines;
  }

  /** For each cluster the number of names of the list that have a course there. */
  sizes() {
    const { data } = this;
    const sizes = new Map();
    for (const word of chosen.words) {
      const labels = new Set((this.known.get(word.trim().toLowerCase()) ?? []).map((i) => data.labels[i]));
      for (const label of labels) sizes.set(label, (sizes.get(label) ?? 0) + 1);
    }
    const place = (label) => (label === NONE ? Infinity : label);
    return new Map([...sizes].sort(([a], [b]) => place(a) - place(b)));
  }
}

// -- lists to take away ------------------------------------------------------------------------------------------------

/** What programs know genes by: the names of some courses without their conditions, each once. */
function plainNames(data, members) {
  return [...new Set(members.map((i) => plainName(data, i)))];
}

/** The names of some courses, one a line. */
function saveNames(data, members, name) {
  const lines = plainNames(data, members).map((words) => `${words.replace(/\s*[\r\n]+\s*/g, " ")}\n`);
  save(lines.join(""), filename(name, "txt"), "text/plain;charset=utf-8");
}

/** What the list of a cluster is called, here and in the folder of a run. */
function listName(label) {
  return label === NONE ? "none" : `cluster_${label}`;
}

/** One table with a column a cluster. */
function saveColumns(data, lists) {
  const columns = [...lists.values()].map((members) => plainNames(data, members));
  const longest = Math.max(...columns.map((names) => names.length));
  const rows = Array.from({ length: longest }, (_, r) => columns.map((names) => names[r] ?? ""));
  saveCsv([...lists.keys()].map(listName), rows, "by_cluster");
}

function startLists(data, table, members) {
  const name = () => (table.cluster === null ? "names" : listName(table.cluster));
  byId("names-shown").addEventListener("click", () => saveNames(data, table.order, name()));
  byId("names-columns").addEventListener("click", () => saveColumns(data, members));
  byId("names-copy").addEventListener("click", async () => {
    const names = plainNames(data, table.order);
    const done = await copy(names.join("\n"));
    announce(done ? `${counted(names.length, "name")} copied.` : "The browser does not allow copying: download the names instead.", 5);
  });
}
