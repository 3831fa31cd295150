// -- shell: what every page has around its content: colours, the axis of time, addresses, menus ---------------------

const byId = (id) => document.getElementById(id);

/** The colours in use: "light" or "dark". */
function theme() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

/** What a page from a mail may not have: the reader's earlier choice. Without it nothing is lost. */
function remembered(what, value) {
  try {
    if (value !== undefined) localStorage.setItem(`timelike-${what}`, value);
    return localStorage.getItem(`timelike-${what}`);
  } catch {
    return null;
  }
}

function startTheme(changed) {
  const press = byId("theme");
  const say = () => {
    press.textContent = theme() === "dark" ? "Light" : "Dark";
    press.setAttribute("aria-label", `Switch to ${theme() === "dark" ? "light" : "dark"} colours`);
  };
  const chosen = remembered("theme");
  if (["light", "dark"].includes(chosen)) document.documentElement.dataset.theme = chosen;
  press.addEventListener("click", () => {
    document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
    remembered("theme", theme());
    say();
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { say(); changed(); });
  say();
}

/**
 * The button that draws all time axes on the model's clock, or in plain time; what is chosen stays chosen. Gives what
 * draws them on the clock (true) or not; nothing without a clock.
 */
function startAxis(data, changed = () => {}) {
  if (!data.clock) return null;
  const press = byId("time-axis");
  const say = () => {
    press.textContent = axisState.onClock ? "Plain time" : "On the clock";
    press.setAttribute("aria-label", `Draw time axes ${axisState.onClock ? "in plain time" : "on the clock"}`);
  };
  axisState.onClock = remembered("time-axis") !== "plain";
  const draw = (onClock) => {
    axisState.onClock = onClock;
    say();
    fitAll(true);
  };
  press.addEventListener("click", () => {
    draw(!axisState.onClock);
    remembered("time-axis", axisState.onClock ? "clock" : "plain");
    changed();
  });
  say();
  return draw;
}

/** Removes what this report has nothing to say about. */
function removeEmpty(data) {
  for (const node of document.querySelectorAll("[data-needs]")) if (!data[node.dataset.needs]) node.remove();
}

/** The course that the address names after "#course=", or -1. */
function askedFor(data) {
  const found = /^#course=(.*)$/s.exec(location.hash);
  if (!found) return -1;
  try {
    return data.names.indexOf(decodeURIComponent(found[1]));
  } catch {
    return -1;
  }
}

/** Copies a text, by the old way where the new one is not allowed. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = html("textarea", { class: "unseen", "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

function startCopy() {
  byId("copy").addEventListener("click", async () => {
    const text = [...byId("methods-text").querySelectorAll("p")].map((p) => p.textContent).join("\n\n");
    byId("copied").textContent = (await copy(text)) ? "Copied." : "Please select the text and copy it.";
  });
}

/** The link of the section in sight is marked. */
function followSections() {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const id of links.keys()) if (byId(id)) watcher.observe(byId(id));
}

/** The part of the address that leads to a course again. */
function addressOf(name) {
  try {
    return `course=${encodeURIComponent(name)}`;
  } catch {
    return ""; // half of a character cannot be part of an address
  }
}

/** Closes the menu of files when the reader has chosen one, or turns elsewhere. */
function connectMenu(menu) {
  menu.addEventListener("click", ({ target }) => { if (target.closest("button")) menu.open = false; });
  document.addEventListener("click", ({ target }) => { if (!menu.contains(target)) menu.open = false; });
  menu.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
