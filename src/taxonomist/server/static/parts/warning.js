// What people must know about the document in view before they decide: what others do with it.

import { el, fill } from "../dom.js";
import { whatOf } from "./others.js";

export class Warning {
  /**
   * @param {object} options
   * @param {string} options.user who is signed in
   * @param {(() => void) | null} options.onNext takes another document; null if there is no other
   * @param {(id: string) => void} options.onAgain shows a document as it is now
   */
  constructor({ user, onNext, onAgain }) {
    this._user = user;
    this._onNext = onNext;
    this._onAgain = onAgain;
    this.element = el("div", { class: "warning", role: "alert", hidden: true });
  }

  hide() {
    this.element.hidden = true;
  }

  /**
   * Somebody else decided about the document.
   * @param {EventInfo} event
   * @param {Record<string, string>} names
   */
  decided(event, names) {
    this._say(`${event.user} decided about this document just now: ${whatOf(event, names)}.`,
      el("button", { class: "button", onclick: () => this._onAgain(event.document_id) }, "Decide again"));
  }

  /** @param {string} user who has the document open, too */
  open(user) {
    this._say(`${user === this._user ? "Somebody else" : user} has this document open, too.`);
  }

  /**
   * @param {string} text
   * @param {HTMLElement} [button]
   */
  _say(text, button) {
    fill(this.element, el("p", {}, text),
      this._onNext && el("button", { class: "button", onclick: this._onNext }, "Take the next one"), button);
    this.element.hidden = false;
  }
}
