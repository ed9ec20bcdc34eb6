// The words for and against a category, in a line.

import { el, fill } from "../dom.js";
import { percent } from "../words.js";

const MOST_FOR = 6;
const MOST_AGAINST = 4;

/**
 * Say why a document belongs to a category.
 * @param {HTMLElement} place
 * @param {Explanation | null} found null if the model cannot say
 * @param {string} label
 */
export function sayWhy(place, found, label) {
  if (!found) { fill(place, "The model gives reasons for its categories, not for the nodes above them."); return; }
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const { word, value } of found.levels.flatMap((level) => level.words)) {
    sums.set(word, (sums.get(word) ?? 0) + value);
  }
  const words = [...sums].sort((a, b) => b[1] - a[1]);
  const pro = words.filter(([, value]) => value > 0).slice(0, MOST_FOR);
  const contra = words.filter(([, value]) => value < 0).reverse().slice(0, MOST_AGAINST);
  const chance = found.probability === null ? "" : ` (${percent(found.probability)})`;
  const name = `${found.levels.find((level) => level.node === found.category)?.name || label}${chance}`;
  if (!pro.length && !contra.length) { fill(place, `No word speaks for or against ${name}.`); return; }
  const list = (/** @type {[string, number][]} */ some, /** @type {string} */ kind) =>
    some.map(([word]) => el("mark", { class: kind }, word));
  fill(place, `For ${name}: `,
    ...(pro.length ? list(pro, "for") : ["no word"]), contra.length ? " Against: " : "", ...list(contra, "against"));
}
