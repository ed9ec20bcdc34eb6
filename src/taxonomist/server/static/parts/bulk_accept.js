// Accept many offers at once, after a look at a random sample of them.

import { randomKey } from "../api.js";
import { el, fill } from "../dom.js";
import { notify, notifyError } from "../notices.js";
import { counted, number, path, percent } from "../words.js";
import { excerpt } from "./excerpt.js";

export class BulkAccept {
  /**
   * @param {App} app
   * @param {() => void} onDone
   */
  constructor(app, onDone) {
    this._app = app;
    this._onDone = onDone;
    /** @type {string | null} */
    this.branch = null;
    this._least = el("input", { type: "number", min: 50, max: 100, step: 1, value: 95, id: "bulk-least" });
    this._place = el("div", { class: "bulk-sample" });
    this.element = el("details", { class: "card bulk" }, el("summary", {}, "Accept many at once"),
      el("p", { class: "note" }, "The documents whose offers are at least this probable. You look at a random sample first; the random share is left out."),
      el("form", { class: "controls", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this._draw().catch(notifyError); } },
        el("label", { for: "bulk-least" }, "Probability from"), this._least, "%",
        el("button", { class: "button" }, "Draw a sample")), this._place);
  }

  get _question() {
    return { probability: Number(this._least.value) / 100, branch: this.branch };
  }

  async _draw() {
    const question = this._question;
    const found = /** @type {BulkSample} */ (await this._app.ask("POST", "bulk-sample", question));
    if (!found.n_documents) {
      fill(this._place, el("p", { role: "status" }, "No waiting document has an offer this probable."));
      return;
    }
    /** @type {Map<string, boolean>} */
    const verdicts = new Map();
    const rest = found.n_documents - found.sample.length;
    const apply = el("button", { class: "button primary", disabled: true, onclick: () => {
      apply.disabled = true;
      this._apply(question, found, verdicts).catch((error) => { apply.disabled = false; notifyError(error); });
    } }, rest ? `Accept these and ${counted(rest, "more document")}` : "Accept these");
    const left = el("p", { class: "note", role: "status" }, `${counted(found.sample.length, "document")} to check`);
    fill(this._place, el("p", {}, `${counted(found.n_documents, "document")} match. Is each of these offers right?`),
      el("ol", { class: "plain waiting" }, ...found.sample.map((each) => this._question_of(each, verdicts, () => {
        const open = found.sample.length - verdicts.size;
        apply.disabled = open > 0;
        left.textContent = open ? `${number(open)} to check` : `${[...verdicts.values()].filter(Boolean).length} of ${verdicts.size} are right.`;
      }))), left, apply);
  }

  /**
   * @param {DocumentInfo} document
   * @param {Map<string, boolean>} verdicts
   * @param {() => void} onVerdict
   */
  _question_of(document, verdicts, onVerdict) {
    const offer = document.offer;
    const answer = (/** @type {boolean} */ isRight, /** @type {string} */ name) => el("label", { class: "answer" },
      el("input", { type: "radio", name: `bulk-${document.number}`, onchange: () => { verdicts.set(document.document_id, isRight); onVerdict(); } }), name);
    return el("li", { class: "waiting-row" }, excerpt(document.texts),
      el("span", { class: "waiting-offer" }, el("strong", {}, offer?.names.join(", ")), el("span", { class: "chance" }, percent(offer?.alternatives[0]?.probability ?? 0)),
        el("span", { class: "path" }, (offer?.paths ?? []).map(path).join("; "))),
      el("fieldset", { class: "answers" }, el("legend", { class: "unseen" }, `Is the offer for ${document.document_id} right?`), answer(true, "right"), answer(false, "wrong")));
  }

  /**
   * Store the verdicts about the sample, then accept the others.
   * @param {{probability: number, branch: string | null}} question
   * @param {BulkSample} found
   * @param {Map<string, boolean>} verdicts
   */
  async _apply(question, found, verdicts) {
    for (const each of found.sample) {
      const action = verdicts.get(each.document_id) ? "accept" : "reject";
      await this._app.ask("POST", "decisions", {
        document_id: each.document_id, action, version: found.version, expected: each.event,
        key: `sample:${found.version}:${each.number}:${randomKey()}`,
      });
    }
    const sample = found.sample.map((each) => each.document_id);
    /** @type {string | null} */
    let batch = null;
    let accepted = 0;
    for (;;) {
      const done = /** @type {BulkResult} */ (await this._app.ask("POST", "bulk-accept", { ...question, version: found.version, sample, batch }));
      batch = done.batch;
      accepted += done.n_accepted;
      if (!done.n_left || !done.n_accepted) break;
    }
    fill(this._place);
    const undo = () => void this._app.ask("DELETE", `bulk-accept/${batch}`).then(() => { notify("Undone."); this._onDone(); }).catch(notifyError);
    if (accepted) notify(`${counted(accepted, "document")} accepted besides the sample.`, { stays: true, actions: [["Undo all of them", undo]] });
    else notify("The sample was all that matched, and is decided.");
    this._onDone();
  }
}
