// Disputes: decisions that the model doubts, to be checked.

import { el, fill } from "../dom.js";
import { notifyError } from "../notices.js";
import { FileView } from "./file.js";
import { beginning, counted, moment, percent } from "../words.js";

export class DisputesView {
  /**
   * @param {App} app
   * @param {string} wanted id of a document to check
   */
  constructor(app, wanted) {
    this._app = app;
    this._list = el("ol", { class: "plain waiting" });
    this._note = el("p", { class: "note", role: "status" });
    /** @type {FileView | null} */
    this._file = wanted ? new FileView(app, wanted, { isCheck: true }) : null;
    this.element = this._file ? this._file.element : el("div", { class: "disputes" }, el("h1", {}, "Disputes"),
      el("p", { class: "note" }, "Decisions that the model doubts. It had not learned from them when it made its offer, so some are mistakes of people."),
      this._note, this._list);
    if (!this._file) this._load().catch(notifyError);
  }

  async _load() {
    const found = /** @type {{total: number, disputes: DisputeInfo[]}} */ (await this._app.ask("GET", "disputes"));
    this._note.textContent = found.total ? `${counted(found.total, "decision")} to check.` : "The model doubts no decision.";
    fill(this._list, ...found.disputes.map((each) => el("li", { class: "waiting-row" },
      el("span", { class: "waiting-text", dir: "auto" }, beginning(each.document.texts, 260)),
      el("span", { class: "waiting-offer" }, "Decided: ", el("strong", {}, each.label_names.join(", ") || "nothing"), each.chosen_probability ? ` ${percent(each.chosen_probability)}` : " not among the best ten",
        el("br"), "Model: ", el("strong", {}, each.offered_names.join(", ")), ` ${percent(each.offered_probability)}`),
      el("span", { class: "note" }, `${each.document.document_id} · ${each.user} · ${moment(each.at)} `,
        el("a", { class: "button", href: this._app.link("disputes", each.document.document_id) }, "Check")))));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    return this._file ? this._file.onKey(event) : false;
  }

  close() {
    this._file?.close();
  }
}
