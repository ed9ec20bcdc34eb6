// Disputes: decisions and rows of the training table that the model doubts, to be checked.

import { el, fill, loading } from "../dom.js";
import { notify, notifyError } from "../notices.js";
import { excerpt } from "../parts/excerpt.js";
import { FileView } from "./file.js";
import { counted, moment, percent } from "../words.js";

const LOOK_MS = 1000;
const MOST = 200;

export class DisputesView {
  /**
   * @param {App} app
   * @param {string} wanted id of a document to check
   */
  constructor(app, wanted) {
    this._app = app;
    this._isClosed = false;
    this._list = el("ol", { class: "plain waiting" }, el("li", {}, loading()));
    this._note = el("p", { class: "note", role: "status" });
    this._job = el("div", { class: "controls" });
    /** @type {FileView | null} */
    this._file = null;
    this.element = el("div", { class: "disputes" });
    if (wanted) {
      this._open(wanted).catch(notifyError);
      return;
    }
    fill(this.element, el("h1", {}, "Disputes"),
      el("p", { class: "note" }, "Decisions and rows of the training table that the model doubts. It had not learned from them when it scored them, so some are mistakes of people."),
      this._job, this._note, this._list);
    this._load().catch(notifyError);
    this._watch().catch(notifyError);
  }

  /** @returns {Promise<{total: number, disputes: DisputeInfo[]}>} */
  _fetch() {
    return this._app.ask("GET", `disputes?limit=${MOST}`);
  }

  /**
   * Let people decide about what is in doubt; then comes the next dispute.
   * @param {string} id
   */
  async _open(id) {
    const { disputes } = await this._fetch();
    if (this._isClosed) return;
    const place = disputes.findIndex((each) => each.document_id === id);
    const next = disputes[place + 1];
    this._file = new FileView(this._app, id, {
      dispute: disputes[place],
      onDone: () => {
        if (next) this._check(next).catch(notifyError);
        else location.hash = this._app.link("disputes");
      },
    });
    this.element.className = "";
    fill(this.element, this._file.element);
  }

  async _load() {
    const found = await this._fetch();
    this._note.textContent = found.total ? `${counted(found.total, "label")} to check.` : "The model doubts no decision so far.";
    fill(this._list, ...found.disputes.map((each) => this._row(each)));
  }

  /** @param {DisputeInfo} each */
  _row(each) {
    const side = (/** @type {string} */ who, /** @type {string[]} */ names, /** @type {number} */ chance) => el("span", { class: "side-of-two" },
      el("span", { class: "note" }, who), el("strong", {}, names.join(", ") || "nothing"),
      chance ? el("span", { class: "chance" }, percent(chance)) : el("span", { class: "chance", title: "not among its ten best" }, "–"));
    return el("li", { class: "waiting-row" }, excerpt(each.texts),
      el("span", {},
        side(each.is_row ? "Given" : "Decided", each.label_names, each.chosen_probability),
        side("Model", each.offered_names, each.offered_probability)),
      el("span", { class: "note" }, el("span", {}, each.is_row ? "training table" : `${each.document_id} · ${each.user} · ${moment(each.at ?? "")}`),
        el("button", { class: "button", disabled: !this._app.mayDecide, onclick: () => this._check(each).catch(notifyError) }, "Check")));
  }

  /**
   * Open a dispute; a row becomes a document first.
   * @param {DisputeInfo} each
   */
  async _check(each) {
    if (each.is_row) {
      const document = { document_id: each.document_id, texts: each.texts };
      await this._app.ask("POST", "documents", { documents: [document] });
    }
    location.hash = this._app.link("disputes", each.document_id);
  }

  /** Show the newest check of the training table, again and again while it runs. */
  async _watch() {
    for (let wasRunning = false; !this._isClosed;) {
      const { jobs } = /** @type {{jobs: JobInfo[]}} */ (await this._app.ask("GET", "retrain"));
      const job = jobs.filter((each) => each.kind === "check").at(-1);
      this._drawJob(job);
      if (job?.state !== "running") {
        if (wasRunning) await this._load();
        if (wasRunning && job?.state !== "checked") notify(String(job?.result.error ?? "The check failed."), { isError: true });
        return;
      }
      wasRunning = true;
      await new Promise((go) => { setTimeout(go, LOOK_MS); });
    }
  }

  /** @param {JobInfo | undefined} job */
  _drawJob(job) {
    if (job?.state === "running") {
      fill(this._job, el("p", {}, `${job.step} …`), el("progress", { max: job.total ?? 4, value: job.done, "aria-label": "Check" }));
      return;
    }
    const may = this._app.project.can_retrain && this._app.mayAdminister;
    fill(this._job, el("button", { class: "button", disabled: !may, onclick: () => this._start() }, "Check the training table"),
      job?.ended_at ? el("span", { class: "note" }, `Last check ${moment(job.ended_at)}.`) : null);
  }

  async _start() {
    try {
      await this._app.ask("POST", "disputes", {});
      await this._watch();
    } catch (error) {
      notifyError(error);
    }
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    return this._file ? this._file.onKey(event) : false;
  }

  close() {
    this._isClosed = true;
    this._file?.close();
  }
}
