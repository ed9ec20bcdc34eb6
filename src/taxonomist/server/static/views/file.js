// File documents: the document, the suggestions, the tree, and keys for everything.

import { Problem, randomKey } from "../api.js";
import { el, fill, speak } from "../dom.js";
import { notify, notifyError } from "../notices.js";
import { Choice, placeOf } from "../parts/choice.js";
import { Chosen } from "../parts/chosen.js";
import { claim } from "../parts/claim.js";
import { commands } from "../parts/commands.js";
import { documentFacts, noDocument, nothingWaits } from "../parts/document_facts.js";
import { Evidence } from "../parts/evidence.js";
import { KeyLine } from "../parts/key_line.js";
import { LastFiled } from "../parts/last_filed.js";
import { Narrowing } from "../parts/narrowing.js";
import { Others, whoDecided } from "../parts/others.js";
import { Reasons } from "../parts/reasons.js";
import { SearchBox } from "../parts/search_box.js";
import { Suggestions } from "../parts/suggestions.js";
import { Supply } from "../parts/supply.js";
import { Tree } from "../parts/tree.js";
import { Warning } from "../parts/warning.js";
import { ACTIONS, number } from "../words.js";

const PATIENCE_MS = 300;

/**
 * @typedef {object} Filed a decision of this page
 * @property {DocumentInfo} document
 * @property {string} key
 */

export class FileView {
  /**
   * @param {App} app
   * @param {string} wanted id of a document; empty for the next one of the queue
   * @param {{branch?: string, dispute?: DisputeInfo, onDone?: () => void}} [options] a top node, to
   *   file only what the model puts there; a label in doubt to check; and what comes after the
   *   decision instead of the next document
   */
  constructor(app, wanted, { branch, dispute, onDone } = {}) {
    this._app = app;
    this._isCheck = onDone !== undefined;
    this._onDone = onDone;
    this._branch = branch;
    this._supply = new Supply(app, { branch: branch ?? null, onTaken: (user) => this._warning.open(user) });
    this._choice = new Choice(app.project.is_multilabel);
    /** @type {DocumentInfo | null} */
    this._document = null;
    /** @type {Filed[]} */
    this._filed = [];
    this._shownAt = 0;
    this._turn = 0;
    this._isLevelAsked = false;
    this._isClosed = false;
    this._isComing = false;
    this._focus = "";
    this._keys = new KeyLine();
    this._evidence = new Evidence(app.project.columns);
    this._suggestions = new Suggestions({
      isMultilabel: app.project.is_multilabel, keys: this._keys,
      onChoose: (place) => this._chooseSuggestion(place),
      onLook: (place) => this._look(this._suggestions.found[place]),
    });
    this._tree = new Tree(app, {
      label: "Taxonomy", keys: this._keys, hasCounts: false,
      onActive: (node, isChosen) => this._onTree(node, isChosen),
    });
    this._search = new SearchBox(app, {
      onChoose: (node) => this._chooseNode(node, true),
      onLeave: () => this._focusDocument(),
      onWait: (choice) => { this._focusDocument(); this._wait(choice); },
    });
    this._facts = el("p", { class: "note facts-line" });
    this._reasons = new Reasons(this._supply, this._evidence);
    this._warning = new Warning({
      user: app.session.user,
      onNext: this._isCheck ? null : () => this._takeNext(),
      onAgain: (id) => this._start(id).catch(notifyError),
    });
    this._chosen = new Chosen({
      isSet: app.project.is_multilabel, mayDecide: app.mayDecide,
      onConfirm: () => this._keys.run(() => this._confirm()),
      onLook: (place) => this._look(place), onTakeOut: (place) => this._toggle(place),
    });
    this._last = new LastFiled();
    this._narrow = el("div", { class: "narrow", hidden: true });
    const pane = el("section", { class: "card document", "aria-label": "Document" },
      this._facts, dispute ? claim(app, dispute, (nodes) => this._wait(this._chooseNodes(nodes))) : null, this._warning.element, this._evidence.element, this._reasons.element);
    this.element = el("div", { class: "file" },
      el("h1", { class: "unseen" }, "File documents"), pane,
      el("section", { class: "card middle", "aria-label": "Suggestions" },
        this._narrow, this._suggestions.element, this._chosen.element, commands(app.mayDecide, (key) => this._keys.run(/** @type {() => void} */ (this._actOf(key)))), this._last.element),
      el("section", { class: "card side", "aria-label": "Taxonomy" }, this._search.element, this._tree.element));
    this._narrowing = new Narrowing(app, (found) => this._narrowed(found));
    this._others = new Others(app, (event, names) => this._otherDecided(event, names));
    this._refused = (/** @type {import("../outbox.js").Entry} */ entry, /** @type {import("../api.js").Problem} */ problem) =>
      void this._onRefused(entry, problem);
    app.outbox.onRefused.push(this._refused);
    this._chosen.show(null);
    this._start(wanted).catch(notifyError);
  }

  /**
   * Let keys wait for an answer.
   * @param {Promise<unknown>} answer
   */
  _wait(answer) {
    let isComing = true;
    setTimeout(() => { if (isComing) this.element.classList.add("asking"); }, PATIENCE_MS);
    this._keys.during(answer).catch(notifyError).finally(() => {
      isComing = false;
      this.element.classList.remove("asking");
    });
  }

  /** @param {Promise<TreeNode[]>} found */
  async _chooseNodes(found) {
    const nodes = await found;
    this._choice.set(nodes.map(placeOf));
    if (nodes[0]) void this._tree.reveal(nodes[0].path);
    this._drawChoice();
  }

  /** @param {string} wanted */
  async _start(wanted) {
    if (!wanted) return this._next();
    const turn = this._leave();
    const found = /** @type {DocumentInfo | null} */ (await this._app.ask("GET", `documents/${encodeURIComponent(wanted)}`).catch((error) => {
      if (error instanceof Problem && error.status === 404) return null;
      throw error;
    }));
    if (turn !== this._turn) return;
    if (!found) { this._show(null, noDocument(this._app, wanted)); return; }
    this._supply.leaveOut(wanted);
    this._show(found);
    this._supply.prepare();
  }

  /**
   * Leave a document. Until another one is shown there is none, so that keys do not hit the last one.
   * @returns {number} the turn, which is over when something else is shown
   */
  _leave() {
    const turn = this._turn += 1;
    this._document = null;
    this._isComing = true;
    this._keys.clear();
    setTimeout(() => { if (turn === this._turn) this.element.classList.add("coming"); }, PATIENCE_MS);
    return turn;
  }

  /** Leave the document in view to others. */
  _takeNext() {
    this._supply.leaveOut(this._document?.document_id ?? "");
    this._next().catch(notifyError);
  }

  /** Show the next document. */
  async _next() {
    const turn = this._leave();
    const found = await this._supply.nextWhile(() => turn === this._turn);
    if (turn === this._turn) this._show(found);
    else if (found) this._supply.giveBack(found);
  }

  /**
   * @param {DocumentInfo | null} document
   * @param {HTMLElement} [instead] what to show without a document
   */
  _show(document, instead = nothingWaits(this._app, this._supply.hasOthers)) {
    this._turn += 1;
    this._document = document;
    this._isComing = false;
    this._keys.clear();
    this.element.classList.remove("coming");
    this._narrowing.clear();
    this._isLevelAsked = false;
    this._warning.hide();
    this._shownAt = performance.now();
    this.element.classList.toggle("nothing", !document);
    this.element.dataset.document = document?.document_id ?? "";
    this._supply.hold(document);
    if (!document) {
      fill(this._facts);
      this._suggestions.show([]);
      this._choice.set([]);
      this._drawChoice();
      fill(this._evidence.element, instead);
      return;
    }
    this._evidence.show(document.texts);
    fill(this._facts, ...documentFacts(this._app, document, this._branch ? this._supply.branchName : "", this._supply.total));
    this._offer();
    this._focusDocument();
    speak(`Document ${document.document_id}. ${this._suggestions.found[0]?.name ?? ""}`);
  }

  /** Show what the model offers, and choose it. */
  _offer() {
    const offer = this._document?.offer;
    const found = offer?.alternatives ?? [];
    this._suggestions.show(found);
    const known = new Map(found.map((each) => [each.label, each]));
    const offered = offer ? offer.labels.map((label, i) => known.get(label) ??
      { label, name: offer.names[i], path: [label], path_names: [offer.names[i]] }) : [];
    this._choice.set(offered);
    this._tree.collapse();
    this._tree.light(found.filter((each) => each.probability >= 0.01));
    if (offered[0]) void this._tree.reveal(offered[0].path);
    this._drawChoice();
  }

  /** @param {import("../parts/narrowing.js").Narrowed} found */
  _narrowed({ text, alternatives, places, isTooVague }) {
    fill(this._narrow, el("span", {}, ...text), el("button", { class: "button", onclick: () => this._restore() }, "Back", el("kbd", { "aria-hidden": "true" }, "Esc")));
    this._narrow.hidden = false;
    if (alternatives.length) {
      this._suggestions.show(alternatives);
      this._tree.light(alternatives);
    }
    if (isTooVague) this._choice.setTooVague();
    else this._choice.set(places);
    if (places[0]) void this._tree.reveal(places[0].path);
    this._drawChoice();
  }

  _restore() {
    this._narrowing.clear();
    this._isLevelAsked = false;
    if (this._document) this._offer();
    this._focusDocument();
  }

  _drawChoice() {
    this._narrow.hidden = !this._narrowing.isActive && !this._isLevelAsked;
    this._suggestions.mark(this._choice.labels);
    this._tree.mark(this._choice.labels);
    this._chosen.show(this._document && this._choice);
    const { places } = this._choice;
    this._look(places.find((place) => place.label === this._focus) ?? places[0]);
  }

  /**
   * Show the evidence for a category.
   * @param {Place | undefined} place
   */
  _look(place) {
    this._focus = place?.label ?? "";
    this._chosen.focus(this._focus);
    void this._reasons.show(this._document, place);
  }

  /** @param {number} place */
  _chooseSuggestion(place) {
    const found = this._suggestions.found[place];
    if (!this._document) this._sayComing();
    if (!found || !this._document) return;
    this._toggle(found);
    if (!this._app.project.is_multilabel) this._confirm();
  }

  /** @param {Place} place */
  _toggle(place) {
    this._choice.toggle(place);
    this._focus = place.label;
    this._drawChoice();
  }

  /**
   * @param {TreeNode} node
   * @param {boolean} isFound whether search found it, so the tree must show it
   */
  _chooseNode(node, isFound) {
    const place = placeOf(node);
    this._narrowing.forget();
    if (isFound) void this._tree.reveal(node.path);
    this._toggle(place);
    if (isFound) this._focusDocument();
    speak(`${node.name} is chosen. Enter confirms.`);
  }

  /**
   * @param {TreeNode} node
   * @param {boolean} isChosen
   */
  _onTree(node, isChosen) {
    speak(node.name);
    // In a tree of single categories, walking is choosing; Enter confirms.
    if (isChosen || !this._app.project.is_multilabel) this._chooseNode(node, false);
  }

  _confirm() {
    if (!this._document) { this._sayComing(); return; }
    const found = this._choice.decision(this._document?.offer?.labels ?? []);
    if (found) this._decide(found.action, found.labels);
    else speak("Choose a category first.");
  }

  /**
   * Decide, and show the next document at once.
   * @param {string} action
   * @param {string[]} labels
   */
  _decide(action, labels) {
    const document = this._document;
    if (!document) { this._sayComing(); return; }
    if (!this._app.mayDecide) { notify("Sign in with a token that may decide.", { isError: true }); return; }
    const key = (this._isCheck ? "check:" : "") + randomKey();
    const seconds = Math.round(performance.now() - this._shownAt) / 1000;
    this._others.mine.add(key);
    this._app.outbox.add({ key, project: this._app.project.project_id, kind: "decide", body: {
      document_id: document.document_id, action, labels, version: document.offer?.version ?? null,
      expected: document.event, seconds, key,
    } });
    this._filed.push({ document, key });
    this._last.show(key, document.document_id, action, this._choice.places);
    this._supply.leaveOut(document.document_id);
    this._supply.total = Math.max(0, this._supply.total - 1);
    speak(`${ACTIONS[action]}.`);
    if (this._isClosed) return;
    if (this._onDone) this._onDone();
    else this._next().catch(notifyError);
  }

  /** A key that decides never acts on a document that was not in view when it was pressed. */
  _sayComing() {
    if (this._isComing) notify("The document is still on its way, so nothing was decided.");
  }

  _undo() {
    const last = this._filed.pop();
    if (!last) { notify("There is nothing to undo here. History undoes older decisions."); return; }
    this._app.outbox.undo(this._app.project.project_id, last.key, randomKey());
    this._last.takeBack(last.key);
    if (this._document) this._supply.giveBack(this._document);
    this._supply.total += 1;
    this._show(last.document);
    notify("Undone.");
  }

  _tooVague() {
    if (this._document) this._wait(this._narrowing.stopEarly(this._document));
  }

  _restrict() {
    if (!this._document) return;
    if (this._narrowing.isActive) { this._restore(); return; }
    const node = this._tree.active;
    const first = this._choice.places[0];
    const branch = node ? (node.n_children ? node.id : node.path.at(-2)) : first?.path[0];
    if (branch) this._wait(this._narrowing.restrict(this._document, branch));
  }

  _askLevel() {
    this._isLevelAsked = true;
    const depth = this._app.project.depth;
    fill(this._narrow, "At which level? ", ...Array.from({ length: Math.min(9, depth) }, (_, i) =>
      el("button", { class: "button", onclick: () => this._keys.run(() => this._level(i + 1)) }, i + 1)));
    this._narrow.hidden = false;
    speak(`Which level? 1 to ${number(depth)}.`);
  }

  /** @param {number} level */
  _level(level) {
    this._isLevelAsked = false;
    if (this._document) this._wait(this._narrowing.level(this._document, level));
  }

  /**
   * Somebody else decided about a document.
   * @param {EventInfo} event
   * @param {Record<string, string>} names
   */
  _otherDecided(event, names) {
    if (event.document_id !== this._document?.document_id) {
      if (event.action !== "undo" && event.action !== "skip") this._supply.leaveOut(event.document_id);
      return;
    }
    this._warning.decided(event, names);
  }

  /**
   * A decision was not stored: say so, and offer to look again.
   * @param {import("../outbox.js").Entry} entry
   * @param {import("../api.js").Problem} problem
   */
  async _onRefused(entry, problem) {
    const id = String(entry.body.document_id ?? "");
    this._filed = this._filed.filter((each) => each.key !== entry.key);
    this._last.takeBack(entry.key);
    const first = problem.status === 409 && id ? await whoDecided(this._app, id) : "";
    notify(`Your decision about ${id || "a document"} was not stored. ${first || problem.message}`, {
      isError: true, stays: true,
      actions: id ? [["Look again", () => this._start(id).catch(notifyError)]] : [],
    });
  }

  _focusDocument() {
    this._evidence.element.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const isLink = event.target instanceof HTMLButtonElement || event.target instanceof HTMLAnchorElement;
    if ((event.key === "Enter" || event.key === " ") && isLink) return false;
    if (event.key.startsWith("Arrow") || event.key === " ") return this._tree.onKey(event);
    if (event.key === "/") this._search.focus();
    else if (event.key === "Escape") { this._keys.clear(); this._restore(); }
    else {
      const act = this._actOf(event.key);
      // A key that is held down decides once.
      if (act && !event.repeat) this._keys.run(act);
      return !!act;
    }
    return true;
  }

  /**
   * What a key does once all answers before it have come.
   * @param {string} key
   * @returns {(() => void) | undefined}
   */
  _actOf(key) {
    if (/^[1-9]$/.test(key)) {
      return () => (this._isLevelAsked ? this._level(Number(key)) : this._chooseSuggestion(Number(key) - 1));
    }
    return /** @type {Record<string, () => void>} */ ({
      Enter: () => this._confirm(), v: () => this._tooVague(), b: () => this._restrict(),
      l: () => this._askLevel(), u: () => this._undo(),
      s: () => this._decide("skip", []), r: () => this._decide("reject", []),
    })[key];
  }

  close() {
    this._isClosed = true;
    this._supply.close();
    this._others.close();
    this._app.outbox.onRefused = this._app.outbox.onRefused.filter((tell) => tell !== this._refused);
  }
}
