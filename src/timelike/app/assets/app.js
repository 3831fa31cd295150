"use strict";
// Files, how they are understood, a question, and runs. Text from people is only ever set as text.

const FIRST = ["course", "time", "value", "counts", "samples", "orient", "times", "no_header", "files", "duplicates"];
const LABELS = { course: "names of courses", counts: "the numbers are counts", no_header: "the table has no header", orient: "a course is", duplicates: "names that repeat" };
const COLUMN = ["course", "time", "value", "error", "subject", "replicate"];
const CHOICES = {
  scale: { label: "What is compared", values: [["", "values as they are"], ["center", "shapes: each course minus its mean"],
    ["standardize", "shapes of one size: also divided by its sd"]], verbs: ["cluster"] },
  k: { label: "Number of clusters", hint: "empty: chosen", verbs: ["cluster"] },
  "most-variable": { label: "Only so many courses, the most variable", hint: "empty: all", verbs: ["cluster"] },
  fdr: { label: "Expected share of false calls", hint: "empty: 0.05", verbs: ["changing", "compare"] },
  title: { label: "Title", hint: "empty: the file's name", verbs: ["cluster", "changing", "compare"] },
  "time-unit": { label: "Unit of the times", hint: "empty: as the file says", verbs: ["cluster", "changing", "compare"] },
  "value-name": { label: "What the values are", hint: "as log2 expression", verbs: ["cluster", "changing", "compare"] },
};
const ROLES = { table: "table of courses", samples: "sample sheet", gmt: "gene sets (GMT)", obo: "ontology (OBO)", gaf: "its annotations (GAF)" };
const TERMS = ["gmt", "obo", "gaf"];
const byId = (id) => document.getElementById(id);
const state = { files: [], menus: [], reading: {}, choices: {}, table: null, sheet: null, asked: 0, shown: null, seen: "" };

function make(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text !== undefined && text !== null) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (problem) {
    byId("lost").hidden = false;
    throw new Error("the app does not answer");
  }
  byId("lost").hidden = true;
  const type = answer.headers.get("content-type") || "";
  const found = type.includes("json") ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw new Error(found.error || `the app answered ${answer.status}`);
  return found;
}

const send = (path, data) => ask(path, { method: "POST", body: JSON.stringify(data) });

function trouble(sentence) {
  byId("trouble").textContent = sentence || "";
  byId("trouble").hidden = !sentence;
}

// -- files ------------------------------------------------------------------------------------------------------

async function add(files) {
  byId("read-section").hidden = false;
  for (const file of files) {
    const item = { name: file.name, size: file.size, number: null, role: roleOf(file.name) };
    state.files.push(item);
    listFiles();
    try {
      const kept = await ask(`/api/files?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      Object.assign(item, kept, { role: item.role });
    } catch (problem) {
      state.files.splice(state.files.indexOf(item), 1);
      trouble(problem.message);
      listFiles();
      return;
    }
  }
  const sheet = state.files.find((file) => file.role === "samples");
  if (sheet && state.files.some((file) => file.role === "table")) state.reading.samples = sheet.number;
  listFiles();
  understand();
}

function roleOf(name) {
  const plain = name.toLowerCase().replace(/\.gz$/, "");
  const kind = plain.startsWith("gene_association.") ? "gaf" : plain.split(".").pop();
  if (TERMS.includes(kind)) return kind;
  return /(^|[^a-z])(samples?|sheet|design|metadata|coldata|pheno)/i.test(name) && state.files.length ? "samples" : "table";
}

function listFiles() {
  byId("files").replaceChildren(...state.files.map((file) => {
    const row = make("li");
    row.append(make("strong", file.name), make("span", sizeOf(file.size), { class: "size" }));
    if (file.number === null) return row.append(make("span", "reading ...", { class: "size" })), row;
    const role = make("select", null, { "aria-label": `What ${file.name} is` });
    for (const [value, text] of Object.entries(ROLES)) {
      const option = make("option", text, { value });
      option.selected = file.role === value;
      role.append(option);
    }
    role.onchange = () => { file.role = role.value; rolesChanged(); };
    const away = make("button", "Remove", { type: "button", "aria-label": `Remove ${file.name}` });
    away.onclick = () => { state.files.splice(state.files.indexOf(file), 1); rolesChanged(); };
    row.append(role, away);
    return row;
  }));
}

function rolesChanged() {
  const sheet = state.files.find((file) => file.role === "samples");
  if (sheet) state.reading.samples = sheet.number; else delete state.reading.samples;
  listFiles();
  understand();
}

function sizeOf(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function terms() {
  const given = state.files.filter((file) => TERMS.includes(file.role) && file.number !== null);
  const twice = given.find((file, i) => given.some((other, j) => j < i && other.role === file.role));
  if (twice) throw new Error(`${twice.name} is the second file of the kind \u201c${ROLES[twice.role]}\u201d: remove one of them.`);
  return Object.fromEntries(given.map((file) => [file.role, file.number]));
}

const tables = () => state.files.filter((file) => file.role === "table" && file.number !== null).map((file) => file.number);

// -- how they were understood ------------------------------------------------------------------------------------

async function understand() {
  const asked = ++state.asked;
  const some = tables().length > 0;
  byId("no-table").hidden = true;
  byId("read-section").hidden = !some && byId("trouble").hidden;
  byId("ask-section").hidden = !some;
  if (!some) {
    if (state.files.some((file) => TERMS.includes(file.role))) byId("no-table").hidden = false;
    return;
  }
  byId("account").replaceChildren(make("p", "Reading ..."));
  let found;
  try {
    found = await send("/api/understand", { files: tables(), reading: state.reading, terms: terms() });
  } catch (problem) {
    found = { error: problem.message };
  }
  if (asked !== state.asked) return; // another choice was made meanwhile
  trouble(found.error);
  if (found.error && !found.lines) byId("correct").open = true;
  if (found.table !== undefined) state.table = found.table;
  state.sheet = found.sheet || null;
  byId("account").replaceChildren(...(found.lines || []).map((line) => make("p", line)));
  draw(found.curves || []);
  preview();
  drawMenus();
  byId("run").disabled = Boolean(found.error);
}

function preview() {
  const table = byId("preview");
  table.replaceChildren();
  if (!state.table) return;
  const head = make("tr");
  head.append(...state.table.header.map((name) => make("th", name || "(no name)", { title: name })));
  if (state.table.columns > state.table.header.length) head.append(make("th", `... ${state.table.columns} columns`));
  table.append(head, ...state.table.rows.map((cells) => {
    const row = make("tr");
    row.append(...cells.map((cell) => make("td", cell, { title: cell })));
    return row;
  }));
}

function draw(curves) {
  const picture = byId("picture");
  picture.replaceChildren();
  picture.toggleAttribute("hidden", !curves.length);
  if (!curves.length) return;
  const times = curves.flatMap((curve) => curve.times), values = curves.flatMap((curve) => curve.values);
  const [left, right, low, high] = [Math.min(...times), Math.max(...times), Math.min(...values), Math.max(...values)];
  const x = (t) => 46 + 584 * (right > left ? (t - left) / (right - left) : 0.5);
  const y = (v) => 152 - 142 * (high > low ? (v - low) / (high - low) : 0.5);
  const svg = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  picture.append(svg("line", { x1: 46, x2: 630, y1: 156, y2: 156 }));
  const short = (number) => String(Number(number.toPrecision(3)));
  picture.append(svg("text", { x: 46, y: 172 }, short(left)), svg("text", { x: 630, y: 172, "text-anchor": "end" }, short(right)));
  picture.append(svg("text", { x: 40, y: 152, "text-anchor": "end" }, short(low)), svg("text", { x: 40, y: 18, "text-anchor": "end" }, short(high)));
  for (const curve of curves) {
    const points = curve.times.map((time, i) => `${x(time).toFixed(1)} ${y(curve.values[i]).toFixed(1)}`);
    const line = svg("path", { d: points.length > 1 ? `M${points.join("L")}` : `M${points[0]}h3` });
    line.append(svg("title", {}, curve.name));
    picture.append(line);
  }
}

function drawMenus() {
  const open = document.activeElement && document.activeElement.name;
  const groups = { menus: [], "more-menus": [] };
  for (const row of state.menus) {
    if (row.name === "samples") continue; // said beside the file
    if (row.name === "files" && tables().length < 2) continue;
    groups[FIRST.includes(row.name) ? "menus" : "more-menus"].push(field(row));
  }
  for (const [id, fields] of Object.entries(groups)) byId(id).replaceChildren(...fields);
  if (open) document.getElementsByName(open)[0]?.focus();
}

function field(row) {
  const label = make("label");
  const input = control(row);
  input.name = row.name;
  input.onchange = () => {
    const value = input.type === "checkbox" ? input.checked : input.value;
    if (value === "" || value === false) delete state.reading[row.name]; else state.reading[row.name] = value;
    understand();
  };
  const name = LABELS[row.name] || row.name.replaceAll("_", " ");
  if (input.type === "checkbox") {
    label.className = "flag";
    label.append(input, make("span", name));
  } else {
    label.append(make("span", name), input);
  }
  label.append(make("small", row.help.replaceAll(/--([a-z-]+)/g, "\u201c$1\u201d")));
  return label;
}

function control(row) {
  const value = state.reading[row.name];
  if (row.kind === "True or False") {
    const input = make("input", null, { type: "checkbox" });
    input.checked = Boolean(value);
    return input;
  }
  const columns = [...new Set([...(state.table ? state.table.header : []), ...(state.sheet ? state.sheet.header : [])])];
  const options = row.choices.length ? row.choices : COLUMN.includes(row.name) ? columns.filter(Boolean) : null;
  if (!options) {
    const input = make("input", null, { type: "text", autocomplete: "off" });
    input.value = value ?? "";
    return input;
  }
  const select = make("select");
  select.append(make("option", "as the file shows", { value: "" }));
  select.append(...options.map((name) => make("option", name, { value: name })));
  if (value !== undefined && !options.includes(value)) select.append(make("option", value, { value }));
  select.value = value ?? "";
  return select;
}

// -- the question ------------------------------------------------------------------------------------------------

const verb = () => document.querySelector("input[name=verb]:checked").value;

function drawChoices() {
  byId("choices").replaceChildren(...Object.entries(CHOICES).filter(([, row]) => row.verbs.includes(verb())).map(([name, row]) => {
    const label = make("label", row.label);
    const input = row.values ? make("select") : make("input", null, { type: "text", autocomplete: "off" });
    for (const [value, text] of row.values || []) input.append(make("option", text, { value }));
    input.name = `choice-${name}`;
    input.value = state.choices[name] ?? "";
    input.onchange = () => { state.choices[name] = input.value; };
    label.append(input);
    if (row.hint) label.append(make("small", row.hint));
    return label;
  }));
}

async function run() {
  const chosen = Object.entries(state.choices).filter(([name, value]) => value !== "" && CHOICES[name].verbs.includes(verb()));
  byId("run").disabled = true;
  try {
    const asked = { verb: verb(), files: tables(), reading: state.reading, choices: Object.fromEntries(chosen) };
    const job = await send("/api/runs", verb() === "cluster" ? { ...asked, terms: terms() } : asked);
    state.shown = job.name;
    trouble("");
    await refresh();
    byId("runs-title").scrollIntoView({ behavior: "smooth" });
  } catch (problem) {
    trouble(problem.message);
    byId("trouble").scrollIntoView();
  }
  byId("run").disabled = false;
}

// -- runs --------------------------------------------------------------------------------------------------------

async function refresh() {
  let found;
  try {
    found = await ask("/api/runs");
  } catch (problem) {
    return;
  }
  const seen = JSON.stringify(found);
  if (seen === state.seen) return;
  state.seen = seen;
  const open = found.jobs.filter((job) => job.state !== "done");
  const busy = new Set(open.map((job) => job.name)); // a record is there before the report is
  found.runs = found.runs.filter((one) => !busy.has(one.name));
  drawJobs(open.slice(-5));
  byId("no-runs").hidden = found.jobs.length + found.runs.length > 0;
  byId("runs").replaceChildren(...found.runs.map(listed));
  const wanted = found.runs.find((one) => one.name === state.shown);
  if (wanted && byId("report").dataset.name !== wanted.name) show(wanted);
}

function drawJobs(jobs) {
  byId("jobs").replaceChildren(...jobs.map((job) => {
    const box = make("div", null, { class: "job", "data-state": job.state });
    const title = make("h3", job.name);
    const minutes = `${Math.floor(job.seconds / 60)}:${String(Math.floor(job.seconds % 60)).padStart(2, "0")}`;
    title.append(make("span", job.state === "waiting" ? "waiting" : `${job.state}, ${minutes}`, { class: "when" }));
    if (job.state === "waiting" || job.state === "running") {
      const cancel = make("button", "Cancel", { type: "button" });
      cancel.onclick = async () => { cancel.disabled = true; await send(`/api/runs/${encodeURIComponent(job.name)}/cancel`, {}); refresh(); };
      title.append(cancel);
      box.append(title, make("progress", null, { "aria-label": "under way" }));
    } else {
      box.append(title);
    }
    const lines = make("pre", job.lines.join("\n"), { "aria-live": "polite" });
    const how = make("details");
    how.append(make("summary", "The same on the command line"), make("code", job.command));
    box.append(lines, how);
    requestAnimationFrame(() => { lines.scrollTop = lines.scrollHeight; });
    return box;
  }));
}

function listed(one) {
  const row = make("li");
  const open = make("button", one.name, { type: "button" });
  open.onclick = () => { state.shown = one.name; show(one); byId("report-section").scrollIntoView({ behavior: "smooth" }); };
  row.append(open, make("span", one.verb), make("span", one.written.slice(0, 16).replace("T", " "), { class: "when" }));
  return row;
}

function show(one) {
  const base = `/runs/${encodeURIComponent(one.name)}`;
  byId("report-section").hidden = false;
  byId("report-title").textContent = one.name;
  byId("report").dataset.name = one.name;
  byId("report").hidden = !one.report;
  byId("report-tab").hidden = !one.report;
  byId("report-tab").href = `${base}/report.html`;
  byId("archive").href = `${base}/all.zip`;
  if (one.report) byId("report").src = `${base}/report.html`;
  byId("outputs").replaceChildren(...one.files.map((file) => {
    const row = make("li");
    const path = file.name.split("/").map(encodeURIComponent).join("/");
    row.append(make("a", file.name, { href: `${base}/files/${path}` }), make("span", ` ${sizeOf(file.size)}`, { class: "when" }));
    return row;
  }));
}

// -- begin -------------------------------------------------------------------------------------------------------

async function begin() {
  const drop = byId("drop"), chooser = byId("chooser");
  chooser.onchange = () => { add([...chooser.files]); chooser.value = ""; };
  drop.onkeydown = (event) => { if (event.target === drop && (event.key === "Enter" || event.key === " ")) chooser.click(); };
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length) add([...event.dataTransfer.files]);
    });
  }
  for (const radio of document.querySelectorAll("input[name=verb]")) radio.onchange = drawChoices;
  byId("run").onclick = run;
  drawChoices();
  state.menus = await ask("/api/menus");
  await refresh();
  setInterval(refresh, 1000);
}

begin();
