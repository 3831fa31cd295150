// -- conditions: which of them are shown, in panels, table and heatmap ------------------------------------------------

/** Boxes to tick in every place that has them, and the table of clusters and conditions, whose numbers can be chosen. */
function startConditions(data, { changed, choose }) {
  if (!data.conditions) return;
  const { names } = data.conditions;
  const show = (shown) => {
    chosen.shown = shown.size === names.length || !shown.size ? null : shown;
    tick();
    changed();
    stateChanged();
  };
  const groups = [...document.querySelectorAll("[data-conditions]")];
  for (const group of groups) group.append(...names.map((_, k) => conditionBox(data, k, (on) => show(ticked(names.length, k, on)))));
  const tick = () => groups.forEach((group) => group.querySelectorAll("input").forEach((box, k) => { box.checked = chosen.shown?.has(k) ?? true; }));
  tick();
  byId("color-conditions").addEventListener("change", ({ target }) => { chosen.byColor = target.checked; fitAll(true); });
  keepInLink("conditions", {
    list: true,
    write: () => (chosen.shown === null ? null : [...chosen.shown].sort((a, b) => a - b).map((k) => names[k])),
    read: (words) => {
      const unknown = (words ?? []).filter((word) => !names.includes(word));
      show(new Set((words ?? names).filter((word) => names.includes(word)).map((word) => names.indexOf(word))));
      return unknown.length ? `There is no condition "${unknown.map((word) => shortened(word, 60)).join('", "')}" here.` : "";
    },
  });
  chooseCells((label, k) => { show(new Set([k])); choose(label); });
}

/** The conditions shown after one more or one less is ticked. */
function ticked(all, k, on) {
  const shown = new Set(chosen.shown ?? Array.from({ length: all }, (_, i) => i));
  if (on) shown.add(k);
  else shown.delete(k);
  return shown;
}

/** A box to tick, with colour, line and name of the condition. */
function conditionBox(data, k, ticking) {
  const box = html("input", { type: "checkbox" });
  box.addEventListener("change", () => ticking(box.checked));
  const sample = svg("svg", { width: 22, height: 10, "aria-hidden": "true" }, svg("line",
    { x1: 0, x2: 22, y1: 5, y2: 5, stroke: conditionColor(k), "stroke-width": 2.4, "stroke-dasharray": conditionDash(k) }));
  return html("label", {}, box, sample, named(data.conditions.names[k]));
}

/** The numbers of the table of clusters and conditions become buttons, beside the colours of the clusters. */
function chooseCells(choose) {
  for (const row of document.querySelectorAll("#by-condition tbody tr")) {
    const label = /\d+/.exec(row.cells[0].textContent);
    row.cells[0].replaceChildren(badge(label ? Number(label[0]) : NONE, row.cells[0].textContent));
    [...row.cells].slice(1).forEach((cell, k) => {
      const words = cell.textContent;
      if (!words.startsWith("0 ")) cell.replaceChildren(button(words, () => choose(label ? Number(label[0]) : NONE, k), { class: "link" }));
    });
  }
}
