// -- chosen: which courses the reader wants to see, and which to be marked, in every part of the page ---------------

const MOST_MARKED = 300; // highlighted lines in a panel
const STAR = "\u2605";

/** `of` says for each course whether it is on the reader's list; `shown` which conditions are shown (null: all). */
const chosen = { words: [], of: null, missing: [], only: false, shown: null, byColor: false };

/** Whether the reader's list has this course. */
function isMarked(i) {
  return chosen.of !== null && chosen.of[i] === 1;
}

/** Whether a course is of a condition that is shown. */
function isShown(data, i) {
  return chosen.shown === null || chosen.shown.has(data.conditions.of[i]);
}

/** Those of some courses whose condition is shown. */
function shownOf(data, members) {
  return chosen.shown === null ? members : members.filter((i) => isShown(data, i));
}

/** A star before the name of a course on the reader's list; nothing elsewhere. */
function starOf(i) {
  return isMarked(i) ? html("span", { class: "star", title: "on your list" }, STAR, html("span", { class: "unseen" }, "on your list ")) : null;
}

/** What else is known about a course, in one line; empty where nothing is. */
function detailWords(data, i) {
  return (data.details ?? []).map(({ text }) => text(i)).filter((words) => words).join(" \u00b7 ");
}

/** The name of a course without its condition. */
function plainName(data, i) {
  const name = data.names[i];
  if (!data.conditions) return name;
  const condition = data.conditions.names[data.conditions.of[i]];
  return name.endsWith(condition) ? name.slice(0, name.length - condition.length).replace(/\s*\|\s*$/, "") : name;
}
