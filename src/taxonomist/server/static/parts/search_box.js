// Search labels, synonyms and codes as people type: a combobox with a list of what was found.

import { query } from "../api.js";
import { el, fill } from "../dom.js";
import { notifyError } from "../notices.js";
import { path } from "../words.js";

const WAIT_MS = 60;
const MOST = 12;
let count = 0;

export class SearchBox {
  /**
   * @param {App} app
   * @param {object} options
   * @param {(node: TreeNode) => void} options.onChoose
   * @param {() => void} [options.onLeave] called on Escape
   * @param {(choice: Promise<void>) => void} [options.onWait] called when people have chosen what the
   *   service has not found yet
   */
  constructor(app, { onChoose, onLeave, onWait }) {
    this._app = app;
    this._onChoose = onChoose;
    this._onWait = onWait ?? ((choice) => void choice.catch(notifyError));
    this._onLeave = onLeave ?? (() => this.input.blur());
    /** @type {TreeNode[]} */
    this._found = [];
    this._foundFor = "";
    this._active = 0;
    this._asked = 0;
    this._id = `search-${count += 1}`;
    this._list = el("div", { class: "found", role: "listbox", id: `${this._id}-list`, "aria-label": "Found categories", hidden: true });
    this.input = el("input", {
      type: "search", class: "search", role: "combobox", placeholder: "Search names, synonyms, codes",
      "aria-label": "Search the taxonomy", "aria-expanded": "false", "aria-controls": `${this._id}-list`,
      "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false", maxlength: 200,
      oninput: () => this._typed(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this._onKey(event),
      onblur: () => setTimeout(() => this._hide(), 150),
    });
    this.element = el("div", { class: "search-box" }, this.input, this._list);
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  _typed() {
    const asked = this._asked += 1;
    setTimeout(async () => {
      const text = this.input.value.trim();
      if (asked !== this._asked) return;
      if (!text) { this._hide(); return; }
      const answer = /** @type {{nodes: TreeNode[]}} */ (
        await this._app.ask("GET", query("search", { q: text, limit: MOST })).catch(() => ({ nodes: [] })));
      if (asked !== this._asked) return;
      this._found = answer.nodes;
      this._foundFor = text;
      this._active = 0;
      this._draw();
    }, WAIT_MS);
  }

  _draw() {
    fill(this._list, ...this._found.map((node, i) => el("div", {
      class: i === this._active ? "hit active" : "hit", role: "option", id: `${this._id}-${i}`,
      "aria-selected": String(i === this._active),
      onmousedown: (/** @type {MouseEvent} */ event) => { event.preventDefault(); this._choose(i); },
    title: path(node.names) }, el("span", { class: "hit-name" }, node.name, node.id !== node.name ? el("span", { class: "code" }, node.id) : null),
    el("span", { class: "path" }, path(node.names.slice(0, -1))))));
    if (!this._found.length) this._list.append(el("p", { class: "note" }, "Nothing found."));
    this._list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    if (this._found.length) this.input.setAttribute("aria-activedescendant", `${this._id}-${this._active}`);
    else this.input.removeAttribute("aria-activedescendant");
    this._list.querySelector(".active")?.scrollIntoView({ block: "nearest" });
  }

  _hide() {
    this._asked += 1;
    this._list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {number} place */
  _choose(place) {
    const node = this._found[place];
    if (!node) return;
    this.input.value = "";
    this._found = [];
    this._hide();
    this._onChoose(node);
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step && this._found.length) {
      this._active = (this._active + step + this._found.length) % this._found.length;
      this._draw();
    } else if (event.key === "Enter") {
      this._enter();
    } else if (event.key === "Escape") {
      this.input.value = "";
      this._hide();
      this._onLeave();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Choose what is found; if the answer has not come yet, wait for it: no keystroke is lost. */
  _enter() {
    const text = this.input.value.trim();
    if (!text) return;
    if (this._list.hidden || this._foundFor !== text) this._onWait(this._chooseFirst(text));
    else this._choose(this._active);
  }

  /** @param {string} text */
  async _chooseFirst(text) {
    this._asked += 1;
    const answer = /** @type {{nodes: TreeNode[]}} */ (
      await this._app.ask("GET", query("search", { q: text, limit: MOST })));
    if (!answer.nodes.length) throw new Error(`No node matches “${text}”.`);
    this._found = answer.nodes;
    this._choose(0);
  }
}
