// Why a document belongs to a category: its words for and against it, marked and in a line.

import { el, fill } from "../dom.js";
import { cut, percent } from "../words.js";

const MOST_FOR = 6;
const MOST_AGAINST = 4;
const MOST_CHARACTERS = 60; // of a name or a word
const PATIENCE_MS = 200;

export class Reasons {
  /**
   * @param {import("./supply.js").Supply} supply
   * @param {import("./evidence.js").Evidence} evidence
   */
  constructor(supply, evidence) {
    this._supply = supply;
    this._evidence = evidence;
    this._asked = 0;
    this.element = el("p", { class: "why note" });
  }

  /**
   * Show the evidence for a category; nothing without a document or a category.
   * @param {DocumentInfo | null} document
   * @param {Place | undefined} place
   */
  async show(document, place) {
    const asked = this._asked += 1;
    if (!document || !place) { this._say(null, []); return; }
    // Those of another category would mislead.
    setTimeout(() => { if (asked === this._asked) this._say(null, ["…"]); }, PATIENCE_MS);
    const found = await this._supply.explain(document, place.label);
    if (asked !== this._asked) return;
    this._asked += 1;
    this._say(found, found ? words(found, place.name) : ["The model has no reasons for this node."]);
  }

  /**
   * @param {Explanation | null} found
   * @param {(Node | string)[]} line
   */
  _say(found, line) {
    this._evidence.mark(found);
    fill(this.element, ...line);
  }
}

/**
 * Return the words for and against a category.
 * @param {Explanation} found
 * @param {string} category name of the category
 */
function words(found, category) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const { word, value } of found.levels.flatMap((level) => level.words)) {
    sums.set(word, (sums.get(word) ?? 0) + value);
  }
  const sorted = [...sums].sort((a, b) => b[1] - a[1]);
  const pro = sorted.filter(([, value]) => value > 0).slice(0, MOST_FOR);
  const contra = sorted.filter(([, value]) => value < 0).reverse().slice(0, MOST_AGAINST);
  const name = el("strong", { title: category }, cut(category, MOST_CHARACTERS));
  const chance = found.probability === null ? "" : ` (${percent(found.probability)})`;
  if (!pro.length && !contra.length) return ["No word speaks for or against ", name, `${chance}.`];
  const list = (/** @type {[string, number][]} */ some, /** @type {string} */ kind) =>
    some.map(([word]) => el("mark", { class: kind }, cut(word, MOST_CHARACTERS)));
  return ["For ", name, `${chance}: `, ...(pro.length ? list(pro, "for") : ["no word"]), contra.length ? " Against: " : "", ...list(contra, "against")];
}
