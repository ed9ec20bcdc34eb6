// The taxonomy: browse and search it, and see what is known about a node.

import { bar, el, fill, loading } from "../dom.js";
import { notifyError } from "../notices.js";
import { excerpt } from "../parts/excerpt.js";
import { SearchBox } from "../parts/search_box.js";
import { Tree } from "../parts/tree.js";
import { counted, interval, number, path, percent } from "../words.js";

export class TaxonomyView {
  /**
   * @param {App} app
   * @param {string} wanted id of a node
   */
  constructor(app, wanted) {
    this._app = app;
    this._asked = 0;
    this._isClosed = false;
    this._details = el("section", { class: "card details", "aria-live": "polite", "aria-label": "Node" },
      loading());
    this._tree = new Tree(app, { label: "Taxonomy", onActive: (node) => this._show(node.id) });
    this._search = new SearchBox(app, { onChoose: (node) => this._go(node.id, node.path) });
    this.element = el("div", { class: "taxonomy" },
      el("h1", {}, "Taxonomy ", el("span", { class: "note" }, `${number(app.project.n_nodes)} nodes, ${number(app.project.n_categories)} of them categories of the model`)),
      el("div", { class: "two" }, el("section", { class: "card side", "aria-label": "Tree" }, this._search.element, this._tree.element), this._details));
    (wanted ? this._open(wanted) : this._tree.start()).catch(notifyError);
  }

  /** @param {string} id */
  async _open(id) {
    const found = await this._fetch(id);
    await this._tree.reveal(found.path);
  }

  /**
   * @param {string} id
   * @param {string[]} steps
   */
  _go(id, steps) {
    void this._tree.reveal(steps);
    this._show(id);
    this._tree.element.focus();
  }

  /** @param {string} id */
  _show(id) {
    this._fetch(id).catch(notifyError);
  }

  /** @param {string} id */
  async _fetch(id) {
    const asked = this._asked += 1;
    this._tree.mark([id]);
    if (!this._isClosed) history.replaceState(null, "", this._app.link("taxonomy", id));
    const found = /** @type {NodeDetails} */ (await this._app.ask("GET", `nodes/${encodeURIComponent(id)}`));
    if (asked === this._asked) this._draw(found);
    return found;
  }

  /** @param {NodeDetails} node */
  _draw(node) {
    const strongest = Math.max(...node.words.map((word) => word.value), 0) || 1;
    const other = (/** @type {string[]} */ names) => names.join(", ") || "nothing";
    fill(this._details,
      el("p", { class: "path" }, path(node.names.slice(0, -1))),
      el("h2", {}, node.name), node.id !== node.name ? el("p", { class: "code" }, node.id) : null,
      node.synonyms.length ? el("p", {}, "Also: ", node.synonyms.join(", ")) : null,
      node.note ? el("p", { class: "scope-note" }, node.note) : null,
      el("dl", { class: "facts" },
        fact("Documents", counted(node.n_decided, "decision")),
        fact("Found by the model", node.quality.share === null ? "not measured yet" : `${percent(node.quality.share)} (${interval(node.quality)})`),
        fact("Below it", counted(node.n_children, "child", "children")),
        fact("The model", node.is_category ? "can choose it" : "chooses below it")),
      el("h3", {}, "Telling words"),
      node.words.length ? el("ul", { class: "plain words" }, ...node.words.map((word) => el("li", {}, el("span", {}, word.word), bar(word.value / strongest))))
        : el("p", { class: "note" }, "The model has no words for this node."),
      el("h3", {}, "Examples"),
      node.examples.length ? node.examples.map((each) => el("blockquote", { dir: "auto" },
        el("a", { href: this._app.link("file", each.document_id) }, excerpt(each.texts)), each.is_decided ? null : el("span", { class: "chip" }, "by the model")))
        : el("p", { class: "note" }, "No document yet."),
      el("h3", {}, "Worst confusions"),
      node.confusions.length ? el("ul", {}, ...node.confusions.map((each) => el("li", {}, `${number(each.n)} × offered `, el("strong", {}, other(each.offered_names)), ", decided ", el("strong", {}, other(each.chosen_names)))))
        : el("p", { class: "note" }, "None yet."));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.key === "/") { this._search.focus(); return true; }
    if (event.key.startsWith("Arrow")) { this._tree.element.focus({ preventScroll: true }); return this._tree.onKey(event); }
    return false;
  }

  close() {
    this._isClosed = true;
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
