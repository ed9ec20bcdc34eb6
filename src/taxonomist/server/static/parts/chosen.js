// What is chosen: the button that files, which says what Enter does, and the chips of a set.

import { el, fill } from "../dom.js";
import { counted, path } from "../words.js";

export class Chosen {
  /**
   * @param {object} options
   * @param {boolean} options.isSet whether documents have label sets
   * @param {boolean} options.mayDecide
   * @param {() => void} options.onConfirm
   * @param {(place: Place) => void} options.onLook
   * @param {(place: Place) => void} options.onTakeOut
   */
  constructor({ isSet, mayDecide, onConfirm, onLook, onTakeOut }) {
    this._isSet = isSet;
    this._onLook = onLook;
    this._onTakeOut = onTakeOut;
    this._chips = el("ul", { class: "chips", "aria-label": "Chosen categories", hidden: !isSet });
    this._words = el("span", { class: "confirm-words" });
    const button = el("button", { class: "button primary confirm", onclick: onConfirm, disabled: !mayDecide },
      this._words, el("kbd", { "aria-hidden": "true" }, "Enter"));
    this.element = el("div", { class: "chosen-now" }, this._chips, button);
  }

  /** @param {import("./choice.js").Choice | null} choice null without a document */
  show(choice) {
    fill(this._words, ...(choice ? this._whatEnterDoes(choice) : ["Confirm"]));
    fill(this._chips, ...(choice?.places ?? []).map((each) => el("li", { class: "chip", "data-label": each.label },
      el("button", { class: "link", title: path(each.path_names), onclick: () => this._onLook(each) }, each.name),
      el("button", { class: "close", "aria-label": `Take out ${each.name}`, onclick: () => this._onTakeOut(each) }, "×"))));
  }

  /**
   * Show which category's evidence is in view.
   * @param {string} label
   */
  focus(label) {
    for (const chip of this._chips.children) {
      if (chip.getAttribute("data-label") === label) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    }
  }

  /** @param {import("./choice.js").Choice} choice */
  _whatEnterDoes({ places, isTooVague }) {
    if (isTooVague) return ["Too vague for any category"];
    if (this._isSet) {
      return [places.length ? `File under ${counted(places.length, "category", "categories")}` : "File under no category"];
    }
    return places[0] ? ["File under ", el("strong", {}, places[0].name)] : ["Choose a category"];
  }
}
