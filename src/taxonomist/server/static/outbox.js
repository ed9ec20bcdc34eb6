// Decisions on their way to the service. They are kept in this browser until the service has
// stored them, are sent in order, and each has a key, so that none is stored twice.

import { Problem, Unreachable, call, randomKey } from "./api.js";

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8000;
const PLACE = "taxonomist.outbox.";
const TAB = "taxonomist.tab";

/**
 * @typedef {object} Entry
 * @property {string} key
 * @property {string} project
 * @property {"decide" | "undo"} kind
 * @property {Record<string, unknown>} body a decision; for an undo, `of` is the key of the decision
 */

/**
 * Tells `stored` (entry, event), `refused` (entry, problem) and `changed` to its listeners.
 */
export class Outbox {
  constructor() {
    /** @type {Entry[]} */
    this.entries = read();
    /** @type {Map<string, number>} numbers of events by key */
    this.numbers = new Map();
    this.isReachable = true;
    /** @type {((entry: Entry, event: EventInfo) => void)[]} */
    this.onStored = [];
    /** @type {((entry: Entry, problem: Problem) => void)[]} */
    this.onRefused = [];
    /** @type {(() => void)[]} */
    this.onChanged = [];
    /** @type {(() => void)[]} */
    this.onSignedOut = [];
    this._isSending = false;
    this._wait = FIRST_WAIT_MS;
    window.addEventListener("online", () => this.send());
  }

  get size() {
    return this.entries.length;
  }

  /** @param {Entry} entry */
  add(entry) {
    this.entries.push(entry);
    this._changed();
    void this.send();
  }

  /**
   * Undo a decision; one that was not sent yet is taken back.
   * @param {string} project
   * @param {string} key
   * @param {string} undoKey
   */
  undo(project, key, undoKey) {
    const place = this.entries.findIndex((entry) => entry.key === key);
    if (place > 0 || (place === 0 && !this._isSending)) {
      this.entries.splice(place, 1);
      this._changed();
      return;
    }
    const body = { of: key, number: this.numbers.get(key) };
    this.add({ key: undoKey, project, kind: "undo", body });
  }

  /** Send what waits, until all is stored or the service does not answer. */
  async send() {
    if (this._isSending) return;
    this._isSending = true;
    try {
      while (this.entries.length) {
        const entry = this.entries[0];
        try {
          const event = await this._store(entry);
          this.numbers.set(entry.key, event.event);
          this._reached(entry);
          this.onStored.forEach((tell) => tell(entry, event));
        } catch (error) {
          if (error instanceof Unreachable) return this._later();
          if (!(error instanceof Problem)) throw error;
          if (error.status === 401) this.onSignedOut.forEach((tell) => tell());
          if (error.status === 401 || error.status === 429) return this._later();
          this._reached(entry);
          this.onRefused.forEach((tell) => tell(entry, error));
        }
      }
    } finally {
      this._isSending = false;
    }
  }

  /**
   * @param {Entry} entry
   * @returns {Promise<EventInfo>}
   */
  _store(entry) {
    const path = `projects/${entry.project}/decisions`;
    if (entry.kind === "decide") return call("POST", path, entry.body);
    const number = entry.body.number ?? this.numbers.get(String(entry.body.of));
    if (number === undefined) throw new Problem(404, "The decision to undo was not stored.");
    return call("DELETE", `${path}/${number}`);
  }

  /** @param {Entry} entry */
  _reached(entry) {
    this.entries = this.entries.filter((each) => each !== entry);
    this.isReachable = true;
    this._wait = FIRST_WAIT_MS;
    this._changed();
  }

  _later() {
    this.isReachable = false;
    this._changed();
    setTimeout(() => void this.send(), this._wait);
    this._wait = Math.min(2 * this._wait, LONGEST_WAIT_MS);
  }

  _changed() {
    try {
      if (this.entries.length) localStorage.setItem(ownPlace(), JSON.stringify(this.entries));
      else localStorage.removeItem(ownPlace());
    } catch {
      // Without room in this browser, they are kept in this page only.
    }
    this.onChanged.forEach((tell) => tell());
  }
}

/** The key of this tab, which stays when the page is loaded again. */
export function tabKey() {
  const tab = sessionStorage.getItem(TAB) ?? randomKey();
  sessionStorage.setItem(TAB, tab);
  return tab;
}

/** Each tab has a place of its own in the browser's storage. */
const ownPlace = () => PLACE + tabKey();

/**
 * Return what this tab and others have left. If another tab still sends the same, the keys see to
 * it that it is stored once.
 * @returns {Entry[]}
 */
function read() {
  /** @type {Entry[]} */
  const found = [];
  try {
    for (const place of Object.keys(localStorage).filter((name) => name.startsWith(PLACE))) {
      found.push(...JSON.parse(localStorage.getItem(place) ?? "[]"));
      if (place !== ownPlace()) localStorage.removeItem(place);
    }
    if (found.length) localStorage.setItem(ownPlace(), JSON.stringify(found));
  } catch {
    // A browser without storage, or with a damaged one, has nothing to send.
  }
  return found;
}
