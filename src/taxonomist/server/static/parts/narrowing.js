// Ask the model again about a document: within a branch, at a level, or for a node that is sure.

import { query } from "../api.js";
import { el } from "../dom.js";
import { percent } from "../words.js";
import { placeOf } from "./choice.js";

const SURE = 0.8;

/**
 * @typedef {object} Narrowed
 * @property {(Node | string)[]} text what was asked
 * @property {OfferedCategory[]} alternatives empty to leave the suggestions as they are
 * @property {Place[]} places what the model decides for
 * @property {boolean} isTooVague whether no node is sure
 */

export class Narrowing {
  /**
   * @param {App} app
   * @param {(found: Narrowed) => void} onFound
   */
  constructor(app, onFound) {
    this._app = app;
    this._onFound = onFound;
    this._asked = 0;
    this.isActive = false;
  }

  clear() {
    this.forget();
    this.isActive = false;
  }

  /** Forget an answer that is on its way. */
  forget() {
    this._asked += 1;
  }

  /**
   * Stop at the deepest node that is sure.
   * @param {DocumentInfo} document
   */
  stopEarly(document) {
    return this._ask(document, { confident: SURE, top: 0 }, (chance, names) => names.size
      ? [`Stopped where the model is sure (${percent(SURE)} or more)${chance}.`]
      : [`The model is sure of no node (${percent(SURE)} or more).`]);
  }

  /**
   * @param {DocumentInfo} document
   * @param {string} branch
   */
  restrict(document, branch) {
    return this._ask(document, { branch, top: 9 }, (_, names) => ["Only within ", el("bdi", {}, names.get(branch)?.name ?? branch), "."], [branch]);
  }

  /**
   * @param {DocumentInfo} document
   * @param {number} level
   */
  level(document, level) {
    return this._ask(document, { level, top: 0 }, (chance) => [`At level ${level}${chance}.`]);
  }

  /**
   * @param {DocumentInfo} document
   * @param {Record<string, unknown>} options
   * @param {(chance: string, names: Map<string, TreeNode>) => (Node | string)[]} say
   * @param {string[]} [more] ids of nodes whose names are needed
   */
  async _ask(document, options, say, more = []) {
    const asked = this._asked += 1;
    const texts = Object.fromEntries(this._app.project.columns.map((name) => [name, document.texts[name] ?? ""]));
    const answer = /** @type {DecideAnswer} */ (
      await this._app.ask("POST", "decide", { documents: [{ texts }], ...options }));
    const found = answer.results[0];
    const ids = [...new Set([...found.labels, ...found.top.map((each) => each.label), ...more])];
    const nodes = ids.length ? /** @type {{nodes: TreeNode[]}} */ (await this._app.ask("GET",
      `nodes?${ids.map((id) => query("", { id }).slice(1)).join("&")}`)).nodes : [];
    if (asked !== this._asked) return;
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const places = found.labels.flatMap((label) => byId.has(label) ? [placeOf(/** @type {TreeNode} */ (byId.get(label)))] : []);
    this.isActive = true;
    this._onFound({
      // The probabilities of a set would say little without its names.
      text: say(found.probabilities.length === 1 ? `: ${percent(found.probabilities[0])}` : "", byId),
      alternatives: found.top.flatMap((each) => byId.has(each.label)
        ? [{ ...placeOf(/** @type {TreeNode} */ (byId.get(each.label))), probability: each.probability }] : []),
      places,
      isTooVague: !places.length,
    });
  }
}
