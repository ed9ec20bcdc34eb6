// What other people decide meanwhile.

import { query } from "../api.js";
import { ACTIONS, isolated } from "../words.js";

const LOOK_MS = 3000;

/**
 * Return what was decided.
 * @param {EventInfo} event
 * @param {Record<string, string>} names
 */
export const whatOf = (event, names) =>
  event.labels.map((label) => isolated(names[label] ?? label)).join(", ") || ACTIONS[event.action];

/**
 * Say who decided about a document last; empty if nobody did.
 * @param {App} app
 * @param {string} id
 */
export async function whoDecided(app, id) {
  const page = /** @type {EventPage} */ (await app.ask("GET",
    query("decisions", { newest_first: true, limit: 1, document_id: id })).catch(() => ({ events: [], names: {} })));
  const last = page.events[0];
  return last ? `${last.user} decided about it first: ${whatOf(last, page.names)}.` : "";
}

export class Others {
  /**
   * @param {App} app
   * @param {(event: EventInfo, names: Record<string, string>) => void} onEvent
   */
  constructor(app, onEvent) {
    this._app = app;
    this._onEvent = onEvent;
    /** @type {Set<string>} keys of decisions of this page */
    this.mine = new Set();
    /** @type {number | null} */
    this._last = null;
    this._timer = setInterval(() => void this._look(), LOOK_MS);
    void this._look();
  }

  async _look() {
    if (document.hidden && this._last !== null) return;
    try {
      if (this._last === null) {
        const newest = /** @type {EventPage} */ (await this._app.ask("GET", "decisions?newest_first=true&limit=1"));
        this._last = newest.events[0]?.event ?? 0;
        return;
      }
      const page = /** @type {EventPage} */ (
        await this._app.ask("GET", query("decisions", { after: this._last, limit: 200 })));
      for (const event of page.events) {
        this._last = event.event;
        const isMine = event.key !== null && this.mine.has(event.key);
        if (!isMine && event.action !== "undo") this._onEvent(event, page.names);
      }
    } catch {
      // The outbox says it if the service cannot be reached.
    }
  }

  close() {
    clearInterval(this._timer);
  }
}
