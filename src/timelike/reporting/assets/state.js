// -- state: what the reader has chosen, kept in the address behind "#" ----------------------------------------------

const LONG_LINK = 2000; // some mail programs cut longer ones
const MOST_LINK = 60000; // some browsers do not open longer ones
const LAST_LINKED = ["highlight", "find", "course"]; // after what they may depend on
const linked = new Map();
const linkState = { waiting: 0, reading: false };

/**
 * Keeps something in the address under a word. `write` gives it as text, as a list of texts, or as null where nothing
 * was chosen; `read` takes the same (a list where `list` is true) and may return a sentence about what it does not know.
 */
function keepInLink(key, { write, read, list = false }) {
  linked.set(key, { write, read, list });
}

/** The words of all choices, in the order in which they are written and read. */
function linkedKeys() {
  const place = (key) => LAST_LINKED.indexOf(key);
  return [...linked.keys()].sort((a, b) => place(a) - place(b));
}

/** A text that can stand in an address, whatever it contains; null for half of a character, which cannot. */
function inAddress(text) {
  try {
    return encodeURIComponent(text).replace(/%(3A|2F|40|3B)/g, decodeURIComponent);
  } catch {
    return null;
  }
}

/** The text again; what was typed by hand and is no address is taken as it stands. */
function fromAddress(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One choice as it stands in the address, or null. */
function linkedText(key) {
  const { write, list } = linked.get(key);
  const value = write();
  if (value === null || value === undefined || (list && !value.length)) return null;
  const words = [value].flat().map(inAddress).filter((word) => word !== null);
  return words.length ? `${key}=${words.join(",")}` : null;
}

/** Everything that was chosen, as it stands behind "#": "cluster=3&course=Samd14". */
function linkText() {
  return linkedKeys().map(linkedText).filter((text) => text !== null).join("&");
}

/** What an address asks for, by word. */
function askedInLink(text = location.hash) {
  const parts = text.replace(/^#/, "").split("&").filter((part) => part.includes("="));
  return new Map(parts.map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]));
}

/** To be called after every choice. A visit can be left again by the browser's "back"; other choices replace the address. */
function stateChanged(visit = false) {
  if (linkState.reading) return;
  clearTimeout(linkState.waiting);
  if (visit) writeLink("pushState");
  else linkState.waiting = setTimeout(() => writeLink("replaceState"), 250);
}

/** Writes the choices into the address; a browser that does not allow it shows the page all the same. */
function writeLink(way) {
  const text = linkText();
  const address = location.href.split("#")[0] + (text ? `#${text}` : "");
  if (address === location.href || text.length > MOST_LINK) return;
  try {
    history[way](null, "", address);
  } catch {
    // a page within another page may have no address of its own
  }
}

/** Follows the address: every choice that it changes is made, and what it does not know is said. */
function readLink() {
  clearTimeout(linkState.waiting);
  const asked = askedInLink();
  linkState.reading = true;
  const words = linkedKeys().map((key) => readChoice(key, asked.get(key) ?? null));
  linkState.reading = false;
  const strange = [...asked.keys()].filter((key) => !linked.has(key));
  if (strange.length) words.push(`This page does not know what "${strange.map(fromAddress).join('", "')}" in its address means.`);
  announce(words.filter((word) => word).join(" "));
  return asked;
}

function readChoice(key, text) {
  if ((text === null ? null : `${key}=${text}`) === linkedText(key)) return "";
  const { read, list } = linked.get(key);
  if (text === null) return read(null);
  return read(list ? text.split(",").filter((word) => word).map(fromAddress) : fromAddress(text));
}

/** Says something at the lower edge of the page, until the reader has seen it. */
function announce(words, seconds = 0) {
  const place = byId("announcement");
  place.hidden = !words;
  place.firstElementChild.textContent = words;
  clearTimeout(announce.waiting);
  if (seconds) announce.waiting = setTimeout(() => announce(""), 1000 * seconds);
}

/** The address of what is shown now, and what is to be known about it. */
function linkNow() {
  const text = linkText();
  const address = location.href.split("#")[0] + (text ? `#${text}` : "");
  if (text.length > MOST_LINK) {
    return { address: null, words: `This would be a link of ${count(address.length)} characters, more than browsers take: send the list of names beside the page.` };
  }
  const long = address.length > LONG_LINK ? ` It has ${count(address.length)} characters; some mail programs cut links that long.` : "";
  return { address, words: long };
}

async function copyLink() {
  const { address, words } = linkNow();
  if (!address) announce(words);
  else if (await copy(address)) announce(`The link to what you see is copied.${words}`, words ? 0 : 5);
  else announce(`Please copy the address of this page from the browser.${words}`);
}

/** Follows the address from now on; gives what it asked for. To be called when every choice has been named. */
function startState() {
  byId("copy-link").addEventListener("click", copyLink);
  byId("announcement").querySelector("button").addEventListener("click", () => announce(""));
  addEventListener("hashchange", () => {
    if (location.hash.includes("=") || !location.hash) readLink();
    else writeLink("replaceState"); // a section of the page: what was chosen stays chosen
  });
  return readLink();
}
