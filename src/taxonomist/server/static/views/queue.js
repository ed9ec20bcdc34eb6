// The queue: what waits, why it comes first, and many decisions at once after a sampled check.

import { query } from "../api.js";
import { bar, el, fill, loading } from "../dom.js";
import { notify, notifyError } from "../notices.js";
import { BulkAccept } from "../parts/bulk_accept.js";
import { excerpt } from "../parts/excerpt.js";
import { filePicker, readDocuments, takesFiles } from "../parts/tables.js";
import { counted, day, isolated, number, percent } from "../words.js";

const WAIT_MS = 200;
const SHOWN = 100;
const AT_ONCE = 50;

/** The beginning of this day. */
export function today() {
  const time = new Date();
  time.setHours(0, 0, 0, 0);
  return time.toISOString();
}

export class QueueView {
  /** @param {App} app */
  constructor(app) {
    this._app = app;
    this._asked = 0;
    this._nBranches = 0;
    this._branch = el("select", { "aria-label": "Branch", onchange: () => this._load() }, el("option", { value: "" }, "All branches"));
    this._order = el("select", { "aria-label": "Order", onchange: () => this._load() },
      ...[["loss", "Riskiest first"], ["newest", "Newest first"], ["oldest", "Oldest first"]].map(([value, name]) => el("option", { value }, name)));
    this._words = el("input", { type: "search", placeholder: "Search the texts", "aria-label": "Search the texts", maxlength: 200, oninput: () => this._typed() });
    this._start = el("a", { class: "button primary far", href: app.link("file") }, "Start filing");
    this._list = el("ol", { class: "plain waiting" }, el("li", {}, loading()));
    this._total = el("p", { class: "note", role: "status" });
    this._progress = el("div", { class: "tiles" });
    this._bulk = new BulkAccept(app, () => { this._load(); });
    this.element = el("div", { class: "queue" }, el("h1", {}, "Queue"), this._progress,
      el("div", { class: "controls" }, this._order, this._branch, this._words,
        ...(app.mayDecide ? filePicker("Add documents …", (file) => void this._add(file)) : []), this._start),
      app.mayDecide ? this._bulk.element : null, this._total, this._list);
    if (app.mayDecide) takesFiles(this.element, (file) => void this._add(file));
    this._load();
  }

  _typed() {
    const asked = this._asked += 1;
    setTimeout(() => { if (asked === this._asked) this._load(); }, WAIT_MS);
  }

  _load() {
    this._fetch().catch(notifyError);
  }

  async _fetch() {
    const asked = this._asked += 1;
    const branch = this._branch.value;
    const [page, progress] = await Promise.all([
      /** @type {Promise<QueuePage>} */ (this._app.ask("GET", query("queue", {
        limit: SHOWN, branch, order: this._order.value, q: this._words.value.trim() }))),
      /** @type {Promise<Progress>} */ (this._app.ask("GET", query("progress", { since: today() }))),
    ]);
    if (asked !== this._asked) return;
    if (!branch) {
      this._nBranches = page.branches.length;
      fill(this._branch, el("option", { value: "" }, "All branches"), ...page.branches.map((each) =>
        el("option", { value: each.branch }, `${each.name || "None"} (${number(each.n_documents)})`)));
    }
    this._drawProgress(progress, this._nBranches);
    this._bulk.branch = branch || null;
    this._start.href = branch ? this._app.link("branch", branch) : this._app.link("file");
    const shown = page.documents.length < page.total ? `; shown: ${number(page.documents.length)}, ` : ": ";
    this._total.textContent = !page.total ? "No document waits." : `${counted(page.total, "document waits", "documents wait")}${shown}${this._orderWords}.`;
    fill(this._list, ...page.documents.map((each) => this._row(each)));
    if (!page.documents.length) this._list.append(el("li", { class: "empty" }, this._emptyWords));
  }

  /** Why no document is shown. */
  get _emptyWords() {
    if (this._words.value.trim()) return "No waiting document has these words.";
    return this._app.mayDecide ? "Nothing waits here. Drop a text or a CSV file on this page to add documents." : "Nothing waits here.";
  }

  /** In which order the documents are. */
  get _orderWords() {
    if (this._order.value === "newest") return "newest first";
    if (this._order.value === "oldest" || this._words.value.trim()) return "oldest first";
    return "riskiest first, with the random share mixed in";
  }

  /** @param {DocumentInfo} document */
  _row(document) {
    const best = document.offer?.alternatives.find((each) => each.label === document.offer?.labels[0]) ?? document.offer?.alternatives[0];
    return el("li", {}, el("a", { class: "waiting-row", href: this._app.link("file", document.document_id) },
      excerpt(document.texts),
      el("span", { class: "waiting-offer" }, best ? [el("strong", {}, document.offer?.names.map(isolated).join(", ") || "No category"), el("span", { class: "chance" }, percent(best.probability)), bar(best.probability)] : "not scored yet"),
      el("span", { class: "note" }, el("span", {}, document.document_id, " · ", day(document.added_at)),
        document.offer ? el("span", { title: "How far off the offer is on average, in steps of the taxonomy, if the model is right about its doubts" }, `expected loss ${document.offer.expected_loss.toFixed(2)}`) : null,
        document.is_random ? el("span", { class: "chip", title: "Drawn at random to measure quality" }, "random share") : null,
        document.state === "skip" ? el("span", { class: "chip" }, "skipped") : null)));
  }

  /**
   * @param {Progress} found
   * @param {number} nBranches top nodes below which documents wait
   */
  _drawProgress(found, nBranches) {
    const total = found.n_decided + found.n_waiting;
    const tile = (/** @type {string} */ name, /** @type {string} */ value, /** @type {Node | string | null} */ more) =>
      el("div", { class: "tile" }, el("h2", {}, name), el("p", { class: "value" }, value), more);
    fill(this._progress, tile("Decided today", number(found.n_decided), bar(total ? found.n_decided / total : 0)),
      tile("Waiting", number(found.n_waiting), el("p", { class: "note" }, counted(nBranches, "branch", "branches"))),
      tile("People today", number(found.users.length), el("p", { class: "note" }, found.users.slice(0, 5).map((each) => `${each.user} ${number(each.n_decided)}`).join(" · "))));
  }

  /** @param {File} file */
  async _add(file) {
    try {
      const documents = await readDocuments(file, this._app.project.columns);
      for (let i = 0; i < documents.length; i += AT_ONCE) {
        await this._app.ask("POST", "documents", { documents: documents.slice(i, i + AT_ONCE) });
      }
      notify(`${counted(documents.length, "document")} added.`);
      this._load();
    } catch (error) {
      notifyError(error);
    }
  }
}
