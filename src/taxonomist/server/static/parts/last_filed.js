// What was decided about the last document, in one line: decisions are shown before they are sent.

import { el, fill } from "../dom.js";
import { ACTIONS } from "../words.js";

export class LastFiled {
  constructor() {
    this._key = "";
    this.element = el("p", { class: "note last-filed", hidden: true });
  }

  /**
   * Show a decision.
   * @param {string} key key of the decision
   * @param {string} document id of the document
   * @param {string} action
   * @param {Place[]} places what it was filed under
   */
  show(key, document, action, places) {
    this._key = key;
    const isFiled = action === "accept" || action === "correct";
    const names = places.map((each) => each.name).join(", ") || "no category";
    fill(this.element, el("bdi", {}, document), isFiled ? " filed under " : ": ",
      isFiled ? el("strong", {}, names) : ACTIONS[action]);
    this.element.hidden = false;
  }

  /**
   * Take back what is said about a decision.
   * @param {string} key
   */
  takeBack(key) {
    if (key === this._key) this.element.hidden = true;
  }
}
