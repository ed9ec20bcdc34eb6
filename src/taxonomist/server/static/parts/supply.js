// The next documents, fetched before they are needed, with the explanations of their offers.

import { patiently, query } from "../api.js";
import { Leases } from "./leases.js";

const WORDS = 12; // of each level, for and against
const PAGE = 20;
const FEW = 8;
const EXPLAINED_AHEAD = 2;
const HELD_AHEAD = 2;

export class Supply {
  /**
   * @param {App} app
   * @param {object} options
   * @param {string | null} options.branch
   * @param {(user: string) => void} options.onTaken called when somebody else has the
   *   document open that is in view
   */
  constructor(app, { branch, onTaken }) {
    this._app = app;
    this._onTaken = onTaken;
    this._shown = "";
    this._isClosed = false;
    this._leases = new Leases(app, () => this._onLeases());
    this._branch = branch;
    /** @type {DocumentInfo[]} */
    this._ready = [];
    /** @type {Set<string>} documents that are done with */
    this._done = new Set();
    /** @type {Map<string, Promise<Explanation | null>>} */
    this._explained = new Map();
    /** @type {Promise<void> | null} */
    this._filling = null;
    this.total = 0;
    /** Whether the service left out documents because others have them open. */
    this.hasOthers = false;
    this.branchName = branch ?? "";
  }

  /**
   * Return the next document; null if none waits.
   * @returns {Promise<DocumentInfo | null>}
   */
  async next() {
    if (!this._ready.length) await this._fill();
    await this._leases.check(this._ready.slice(0, HELD_AHEAD + 1).map((each) => each.document_id));
    if (!this._ready.length) await this._fill();
    const found = this._ready.shift() ?? null;
    this.prepare();
    return found;
  }

  /**
   * Return the next document; while it is wanted, ask again until the service answers.
   * @param {() => boolean} isWanted
   * @returns {Promise<DocumentInfo | null>}
   */
  nextWhile(isWanted) {
    return patiently(() => this.next(), isWanted);
  }

  /**
   * Hold a document, and those that come next.
   * @param {DocumentInfo | null} document the one in view
   */
  hold(document) {
    this._shown = document?.document_id ?? "";
    const ids = this._ready.slice(0, HELD_AHEAD).map((each) => each.document_id);
    void this._leases.hold(document ? [this._shown, ...ids] : []);
  }

  /** Leave out what others have open: they will decide about it. */
  _onLeases() {
    const { others } = this._leases;
    this._ready = this._ready.filter((each) => !others.has(each.document_id));
    const user = others.get(this._shown);
    if (user !== undefined) this._onTaken(user);
  }

  close() {
    this._isClosed = true;
    this._leases.close();
  }

  /** Explain the offers of the documents that come next, and fetch more. */
  prepare() {
    for (const each of this._ready.slice(0, EXPLAINED_AHEAD)) {
      const label = each.offer?.labels[0];
      if (label) void this.explain(each, label);
    }
    if (this._ready.length < FEW) void this._fill().catch(() => {});
  }

  /**
   * Put a document first again.
   * @param {DocumentInfo} document
   */
  giveBack(document) {
    this._done.delete(document.document_id);
    this._ready = this._ready.filter((each) => each.document_id !== document.document_id);
    this._ready.unshift(document);
  }

  /**
   * Leave a document out from now on.
   * @param {string} id
   */
  leaveOut(id) {
    this._done.add(id);
    this._ready = this._ready.filter((each) => each.document_id !== id);
  }

  async _fill() {
    this._filling ??= this._fetch().finally(() => { this._filling = null; });
    await this._filling;
  }

  async _fetch() {
    // Decisions on their way are not in the store yet, so some more are asked for.
    const limit = Math.min(200, PAGE + this._ready.length + this._app.outbox.size);
    const page = /** @type {QueuePage} */ (
      await this._app.ask("GET", query("queue", { limit, branch: this._branch, holder: this._leases.holder })));
    this.total = page.total;
    this.hasOthers = page.documents.length < Math.min(limit, page.total);
    this.branchName = page.branches.find((each) => each.branch === this._branch)?.name ?? this.branchName;
    const known = new Set(this._ready.map((each) => each.document_id));
    for (const each of page.documents) {
      if (!known.has(each.document_id) && !this._done.has(each.document_id)) this._ready.push(each);
    }
  }

  /**
   * Return why a document belongs to a category; null if the model cannot say.
   * @param {DocumentInfo} document
   * @param {string} category
   * @returns {Promise<Explanation | null>}
   */
  explain(document, category) {
    if (!this._app.project.can_explain) return Promise.resolve(null);
    const key = `${document.document_id}\n${category}`;
    let found = this._explained.get(key);
    if (!found) {
      const texts = this._app.project.columns.map((name) => [name, document.texts[name] ?? ""]);
      const body = { document: { texts: Object.fromEntries(texts) }, category, words: WORDS };
      found = patiently(() => this._app.ask("POST", "explain", body), () => !this._isClosed).catch(() => null);
      this._explained.set(key, found);
      if (this._explained.size > 200) this._explained.delete([...this._explained.keys()][0]);
    }
    return found;
  }
}
