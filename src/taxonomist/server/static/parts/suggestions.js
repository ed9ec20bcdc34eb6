// The suggestions of the model, as a listbox: digits choose them.

import { bar, el, fill } from "../dom.js";
import { path, percent } from "../words.js";

export const MOST = 9;

export class Suggestions {
  /**
   * @param {object} options
   * @param {boolean} options.isMultilabel
   * @param {import("./key_line.js").KeyLine} options.keys
   * @param {(place: number) => void} options.onChoose
   * @param {(place: number) => void} options.onLook called when one is looked at
   */
  constructor({ isMultilabel, keys, onChoose, onLook }) {
    /** @type {OfferedCategory[]} */
    this.found = [];
    this._keys = keys;
    this._onChoose = onChoose;
    this._onLook = onLook;
    this._active = 0;
    /** @type {Set<string>} */
    this._chosen = new Set();
    this.element = el("div", {
      class: "suggestions", role: "listbox", tabindex: "0", "aria-label": "Suggestions of the model",
      "aria-multiselectable": isMultilabel ? "true" : null,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this._onKey(event),
    });
  }

  /** @param {OfferedCategory[]} found */
  show(found) {
    this.found = found.slice(0, MOST);
    this._active = 0;
    this._draw();
  }

  /** @param {Iterable<string>} labels */
  mark(labels) {
    this._chosen = new Set(labels);
    this._draw();
  }

  _draw() {
    fill(this.element, ...this.found.map((each, i) => el("div", {
      class: ["suggestion", this._chosen.has(each.label) && "chosen", i === this._active && "active"]
        .filter(Boolean).join(" "),
      role: "option", id: `suggestion-${i}`, "aria-selected": String(this._chosen.has(each.label)),
      title: path(each.path_names), onclick: () => this._onChoose(i),
    },
    el("kbd", {}, i + 1),
    el("span", { class: "suggestion-name" }, each.name),
    el("span", { class: "chance" }, percent(each.probability)),
    bar(each.probability),
    el("span", { class: "path" }, each.label !== each.name ? el("span", { class: "code" }, each.label) : null,
      path(each.path_names.slice(0, -1))))));
    if (this.found.length) this.element.setAttribute("aria-activedescendant", `suggestion-${this._active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) this._keys.run(() => this._step(step));
    else if (event.key === " ") this._keys.run(() => this._onChoose(this._active));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} step */
  _step(step) {
    this._active = Math.max(0, Math.min(this.found.length - 1, this._active + step));
    this._draw();
    this._onLook(this._active);
  }
}
