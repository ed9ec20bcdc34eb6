// Numbers and times as people read them.

import { closed } from "./dom.js";

const PERCENT = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 0 });
const NUMBER = new Intl.NumberFormat("en");
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** @param {number} share */
export function percent(share) {
  if (share > 0 && share < 0.01) return "< 1%";
  if (share > 0.99 && share < 1) return "> 99%";
  return PERCENT.format(share);
}

/** @param {number} value */
export const number = (value) => NUMBER.format(value);

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const counted = (count, one, many = `${one}s`) =>
  `${number(count)} ${count === 1 ? one : many}`;

/** @param {string} time */
export const moment = (time) => TIME.format(new Date(time));

/** @param {string} time */
export const day = (time) => DAY.format(new Date(time));

/**
 * A name within a sentence: its direction of writing does not change that of the sentence.
 * @param {string} name
 */
export const isolated = (name) => `\u2068${closed(name)}\u2069`;

/**
 * A path. A node that has the name of its parent is left out.
 * @param {string[]} names
 */
export const path = (names) => names.filter((name, i) => name !== names[i - 1]).map(isolated).join(" › ");

/**
 * The start of a long text.
 * @param {string} text
 * @param {number} most characters
 */
export const cut = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);

/** @param {Estimated} found */
export function interval(found) {
  if (found.share === null) return "nothing measured yet";
  return `${percent(found.low)} to ${percent(found.high)}, ${counted(found.n, "document")}`;
}

export const ACTIONS = /** @type {Record<string, string>} */ ({
  accept: "accepted", correct: "corrected", reject: "rejected", too_vague: "too vague",
  skip: "skipped", undo: "undone", waiting: "waits",
});
