// The documents that this page has open, so that others are given other ones.

import { tabKey } from "../outbox.js";

const RENEW_MS = 40_000;
const ABSENT_MS = 300_000;
const SIGNS = ["keydown", "pointermove", "wheel"];

/** @typedef {{seconds: number, others: {document_id: string, user: string}[]}} LeaseAnswer */

export class Leases {
  /**
   * @param {App} app
   * @param {() => void} onAnswer called when it is known who has what
   */
  constructor(app, onAnswer) {
    this._app = app;
    this._onAnswer = onAnswer;
    /** @type {string[]} */
    this._wanted = [];
    /** @type {Promise<void> | null} */
    this._asking = null;
    /** @type {Set<string>} documents whose state is known */
    this._known = new Set();
    /** @type {Map<string, string>} who has documents that others have */
    this.others = new Map();
    this._seenAt = performance.now();
    this._see = () => { this._seenAt = performance.now(); };
    this._leave = () => void this._ask([]).catch(() => {});
    for (const sign of SIGNS) window.addEventListener(sign, this._see, { passive: true });
    window.addEventListener("pagehide", this._leave);
    this._timer = setInterval(() => this._renew(), RENEW_MS);
  }

  /** The key of this page; null if it may not decide, and so needs no lease. */
  get holder() {
    return this._app.mayDecide ? tabKey() : null;
  }

  /**
   * Hold documents, and give back all others.
   * @param {string[]} ids
   * @returns {Promise<void>}
   */
  hold(ids) {
    this._wanted = ids;
    this._asking ??= this._askAll();
    return this._asking;
  }

  /**
   * Hold documents unless the state of the first is known.
   * @param {string[]} ids
   */
  async check(ids) {
    if (this._asking) await this._asking;
    if (ids[0] && !this._known.has(ids[0])) await this.hold(ids);
  }

  /** One request at a time, so that the last one counts. */
  async _askAll() {
    for (let asked = null; asked !== this._wanted;) {
      asked = this._wanted;
      // Without an answer people work on: of two decisions, one will be refused.
      const answer = await this._ask(asked).catch(() => null);
      this._known = new Set(answer ? asked : []);
      this.others = new Map(answer?.others.map((each) => [each.document_id, each.user]));
    }
    this._asking = null;
    this._onAnswer();
  }

  /**
   * @param {string[]} documents
   * @returns {Promise<LeaseAnswer | null>}
   */
  async _ask(documents) {
    return this.holder ? this._app.ask("PUT", `leases/${this.holder}`, { documents }) : null;
  }

  _renew() {
    if (!document.hidden && performance.now() - this._seenAt < ABSENT_MS) void this.hold([...this._wanted]);
  }

  close() {
    clearInterval(this._timer);
    for (const sign of SIGNS) window.removeEventListener(sign, this._see);
    window.removeEventListener("pagehide", this._leave);
    void this.hold([]);
  }
}
