// History: every decision, who took it, when, and what was offered.

import { query } from "../api.js";
import { el, fill, loading } from "../dom.js";
import { notify, notifyError } from "../notices.js";
import { save, writeCsv } from "../parts/tables.js";
import { ACTIONS, moment } from "../words.js";

const PAGE = 100;

export class HistoryView {
  /** @param {App} app */
  constructor(app) {
    this._app = app;
    this._asked = 0;
    /** @type {number | null} */
    this._next = 0;
    /** @type {Set<number>} numbers of events that others undo */
    this._undone = new Set();
    this._action = el("select", { "aria-label": "Action", onchange: () => this._restart() }, el("option", { value: "" }, "All actions"),
      ...["accept", "correct", "reject", "too_vague", "skip", "undo"].map((action) => el("option", { value: action }, ACTIONS[action])));
    this._user = el("input", { type: "search", placeholder: "Person", "aria-label": "Person", onchange: () => this._restart() });
    this._document = el("input", { type: "search", placeholder: "Document", "aria-label": "Document", onchange: () => this._restart() });
    this._rows = el("tbody", {});
    this._more = el("button", { class: "button", onclick: () => this._load().catch(notifyError) }, "Show more");
    this.element = el("div", { class: "history" }, el("h1", {}, "History"),
      el("div", { class: "controls" }, this._action, this._user, this._document,
        el("button", { class: "button", onclick: () => this._export().catch(notifyError) }, "Save as CSV"),
        el("a", { class: "button", href: `v1/projects/${encodeURIComponent(app.project.project_id)}/export?format=csv`, download: "" }, "Decided documents as CSV")),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Decisions" }, el("table", { class: "stacked" }, el("thead", {}, el("tr", {},
        ...["When", "Who", "Document", "Decision", "Labels", "Offered", ""].map((name) => el("th", { scope: "col" }, name || el("span", { class: "unseen" }, "Undo"))))), this._rows)), this._more);
    this._restart();
  }

  get _filter() {
    return { newest_first: true, action: this._action.value, user: this._user.value.trim(), document_id: this._document.value.trim() };
  }

  _restart() {
    fill(this._rows, el("tr", {}, el("td", { colspan: 7 }, loading())));
    this._next = 0;
    this._undone.clear();
    this._load().catch(notifyError);
  }

  async _load() {
    const asked = this._asked += 1;
    const isFirst = !this._next;
    const page = /** @type {EventPage} */ (await this._app.ask("GET", query("decisions", { ...this._filter, limit: PAGE, after: this._next })));
    if (asked !== this._asked) return;
    this._next = page.next;
    this._more.hidden = page.next === null;
    if (isFirst) fill(this._rows);
    for (const event of page.events) if (event.undoes) this._undone.add(event.undoes);
    this._rows.append(...page.events.map((event) => this._row(event, page.names)));
    if (!this._rows.children.length) this._rows.append(el("tr", {}, el("td", { colspan: 7, class: "empty" }, "No decision yet.")));
  }

  /**
   * @param {EventInfo} event
   * @param {Record<string, string>} names
   */
  _row(event, names) {
    const listed = (/** @type {string[]} */ labels) => labels.map((label) => names[label] ?? label).join(", ");
    const isUndone = this._undone.has(event.event);
    const mayUndo = this._app.mayDecide && event.action !== "undo" && !isUndone;
    return el("tr", { class: isUndone ? "undone" : null },
      el("td", {}, moment(event.at)), el("td", {}, event.user),
      el("td", {}, el("a", { href: this._app.link("file", event.document_id) }, event.document_id)),
      el("td", {}, event.undoes ? `undid ${event.undoes}` : ACTIONS[event.action], event.key?.startsWith("bulk:") ? el("span", { class: "chip" }, "many") : null,
        event.key?.startsWith("check:") ? el("span", { class: "chip" }, "checked") : null),
      el("td", { class: "wide" }, listed(event.labels)), el("td", { class: "wide", "data-name": "offered" }, listed(event.offered)),
      el("td", {}, mayUndo ? el("button", { class: "button", "aria-label": `Undo decision ${event.event}`, onclick: () => this._undo(event.event) }, "Undo") : isUndone ? "undone" : ""));
  }

  /** @param {number} number */
  async _undo(number) {
    try {
      await this._app.ask("DELETE", `decisions/${number}`);
      notify("Undone.");
      this._restart();
    } catch (error) {
      notifyError(error);
    }
  }

  async _export() {
    /** @type {(string | number)[][]} */
    const rows = [["event", "at", "user", "document_id", "action", "labels", "offered", "version", "seconds", "undoes"]];
    for (let after = /** @type {number | null} */ (0); after !== null;) {
      const page = /** @type {EventPage} */ (await this._app.ask("GET", query("decisions", { ...this._filter, limit: 1000, after })));
      rows.push(...page.events.map((each) => [each.event, each.at, each.user, each.document_id, each.action,
        each.labels.join(";"), each.offered.join(";"), each.version ?? "", each.seconds ?? "", each.undoes ?? ""]));
      after = page.next;
    }
    save(`${this._app.project.project_id}-decisions.csv`, writeCsv(rows));
  }
}
