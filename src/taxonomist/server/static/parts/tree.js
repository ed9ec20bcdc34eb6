// A tree of the taxonomy: children are loaded when they are seen, and only the rows in view exist.
// It follows the WAI-ARIA pattern of trees, with one active row.

import { patiently, query } from "../api.js";
import { bar, el, fill } from "../dom.js";
import { notifyError } from "../notices.js";
import { KeyLine } from "./key_line.js";
import { percent } from "../words.js";

const PAGE = 100;
const SPARE_ROWS = 8;
const LONGEST_CODE = 12; // a longer one, such as an address, says little in a row
const JOINT = "\u001f";
const KEYS = ["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "Home", "End", " "];

/**
 * @typedef {object} Branch children of a node, of which some are loaded
 * @property {number} total
 * @property {(TreeNode | undefined)[]} nodes
 * @property {Set<number>} asked offsets of pages on their way
 *
 * @typedef {object} Row
 * @property {string} key ids of the path to this row
 * @property {string | null} parent
 * @property {TreeNode | undefined} node undefined while it is loaded
 * @property {number} place
 * @property {number} count
 * @property {number} depth
 */

/** @param {TreeNode} node */
const nameAndCode = (node) => (node.id === node.name ? node.name : `${node.name} (${node.id})`);

export class Tree {
  /**
   * @param {App} app
   * @param {object} options
   * @param {string} options.label
   * @param {KeyLine} [options.keys] the line in which keys wait
   * @param {boolean} [options.hasCounts] whether rows show how many documents were decided
   * @param {(node: TreeNode, isChosen: boolean) => void} options.onActive called when another row
   *   becomes active; chosen means by Enter, space or click
   */
  constructor(app, { label, onActive, keys = new KeyLine(), hasCounts = true }) {
    this._app = app;
    this._onActive = onActive;
    this._keys = keys;
    this._hasCounts = hasCounts;
    /** @type {Promise<unknown> | null} rows on their way, for which keys wait */
    this._loading = null;
    /** @type {Map<string | null, Branch>} */
    this._branches = new Map();
    /** @type {Set<string>} */
    this._open = new Set();
    /** @type {Map<string, number>} */
    this._lit = new Map();
    /** @type {Set<string>} */
    this._chosen = new Set();
    /** @type {Row[] | null} */
    this._rows = null;
    this._active = "";
    this._revealed = 0;
    this._rowHeight = 32;
    this._id = `tree-${Math.random().toString(36).slice(2, 8)}`;
    this._list = el("div", { class: "tree-rows", role: "presentation" });
    this.element = el("div", {
      class: "tree", role: "tree", tabindex: "0", "aria-label": label,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (this.onKey(event)) { event.preventDefault(); event.stopPropagation(); }
      },
      onscroll: () => this._draw(),
    }, this._list);
    new ResizeObserver(() => this._draw()).observe(this.element);
    this._top = this._load(null, 0);
  }

  /** The active node, if its row is loaded. */
  get active() {
    return this._allRows().find((row) => row.key === this._active)?.node;
  }

  /**
   * Light categories and the branches above them.
   * @param {Iterable<OfferedCategory>} found
   */
  light(found) {
    this._lit = new Map();
    for (const { path, probability } of found) {
      for (const node of path) this._lit.set(node, Math.min(1, (this._lit.get(node) ?? 0) + probability));
    }
    this._draw();
  }

  /** Make the first row active. */
  async start() {
    await this._top;
    if (!this._active) this._move("Home");
  }

  /**
   * Mark the chosen nodes.
   * @param {Iterable<string>} labels
   */
  mark(labels) {
    this._chosen = new Set(labels);
    this._draw();
  }

  /** Close all branches. */
  collapse() {
    this._open.clear();
    this._rows = null;
    this._active = "";
    this._revealed += 1;
  }

  /**
   * Open the branches above a node and make its row active.
   * @param {string[]} path ids from the top to the node
   */
  reveal(path) {
    return this._during(this._reveal(path));
  }

  /** @param {string[]} path */
  async _reveal(path) {
    const revealed = this._revealed += 1;
    const steps = await this._shownSteps(path);
    for (let i = 0; i < steps.length; i += 1) {
      const parent = i ? steps[i - 1] : null;
      if (!this._placeOf(parent, steps[i])) await this._load(parent, 0, steps[i]);
      if (revealed !== this._revealed) return;
      if (i < steps.length - 1) this._open.add(steps.slice(0, i + 1).join(JOINT));
    }
    this._rows = null;
    this._active = steps.join(JOINT);
    this._scrollTo(this._active);
    this._draw();
  }

  /**
   * Let keys wait for rows.
   * @param {Promise<void>} rows
   */
  async _during(rows) {
    const all = this._loading = Promise.all([this._loading, rows]);
    await all;
    if (this._loading === all) this._loading = null;
  }

  /**
   * A path may begin above the top rows, with a root that is not shown.
   * @param {string[]} path
   */
  async _shownSteps(path) {
    if (!this._branches.get(null)?.total) await this._load(null, 0, path[0]);
    if (this._placeOf(null, path[0]) || path.length < 2) return path;
    await this._load(null, 0, path[1]);
    return this._placeOf(null, path[1]) && !this._placeOf(null, path[0]) ? path.slice(1) : path;
  }

  /**
   * @param {string | null} parent
   * @param {string} child
   */
  _placeOf(parent, child) {
    return this._branches.get(parent)?.nodes.some((node) => node?.id === child) ?? false;
  }

  /**
   * Load a page of children.
   * @param {string | null} parent
   * @param {number} offset
   * @param {string} [child] load the page with this child instead
   */
  async _load(parent, offset, child) {
    const known = this._branches.get(parent);
    if (known && !child && known.asked.has(offset)) return;
    known?.asked.add(offset);
    try {
      const path = query("tree", { parent, offset, child, limit: PAGE });
      const page = /** @type {TreePage} */ (await patiently(
        () => this._app.ask("GET", path), () => this.element.isConnected));
      const branch = this._branches.get(parent) ??
        { total: page.total, nodes: new Array(page.total), asked: new Set([offset]) };
      page.nodes.forEach((node, i) => { branch.nodes[page.offset + i] = node; });
      branch.asked.add(page.offset);
      this._branches.set(parent, branch);
    } catch (error) {
      known?.asked.delete(offset);
      notifyError(error);
    }
    this._rows = null;
    this._draw();
  }

  /** @returns {Row[]} */
  _allRows() {
    if (this._rows) return this._rows;
    /** @type {Row[]} */
    const rows = [];
    /** @type {(parent: string | null, path: string, depth: number) => void} */
    const add = (parent, path, depth) => {
      const branch = this._branches.get(parent);
      if (!branch) return;
      for (let place = 0; place < branch.total; place += 1) {
        const node = branch.nodes[place];
        const own = node ? node.id : `#${place}`;
        const key = path ? path + JOINT + own : own;
        rows.push({ key, parent, node, place, count: branch.total, depth });
        if (node && this._open.has(key)) add(node.id, key, depth + 1);
      }
    };
    add(null, "", 1);
    this._rows = rows;
    return rows;
  }

  _draw() {
    const rows = this._allRows();
    const height = this._rowHeight;
    const view = this.element;
    const first = Math.max(0, Math.floor(view.scrollTop / height) - SPARE_ROWS);
    const last = Math.min(rows.length, Math.ceil((view.scrollTop + view.clientHeight) / height) + SPARE_ROWS);
    this._list.style.blockSize = `${rows.length * height}px`;
    const shown = rows.slice(first, last);
    fill(this._list, ...shown.map((row, i) => this._drawn(row, first + i)));
    const one = this._list.firstElementChild;
    if (one instanceof HTMLElement && one.offsetHeight && one.offsetHeight !== height) {
      this._rowHeight = one.offsetHeight;
      this._draw();
      return;
    }
    const active = shown.findIndex((row) => row.key === this._active);
    if (active >= 0) view.setAttribute("aria-activedescendant", `${this._id}-${first + active}`);
    else view.removeAttribute("aria-activedescendant");
    for (const row of shown) {
      if (!row.node) void this._load(row.parent, Math.floor(row.place / PAGE) * PAGE);
    }
  }

  /**
   * @param {Row} row
   * @param {number} place
   */
  _drawn(row, place) {
    const node = row.node;
    const isOpen = this._open.has(row.key);
    const chance = node && this._lit.get(node.id);
    const isChosen = !!node && this._chosen.has(node.id);
    const element = el("div", {
      class: ["tree-row", row.key === this._active && "active", chance && "lit", isChosen && "chosen"]
        .filter(Boolean).join(" "),
      role: "treeitem", id: `${this._id}-${place}`, title: node && nameAndCode(node),
      "aria-level": row.depth, "aria-setsize": row.count, "aria-posinset": row.place + 1,
      "aria-expanded": node?.n_children ? String(isOpen) : null,
      "aria-selected": String(isChosen),
      onclick: (/** @type {MouseEvent} */ event) => this._clicked(row, event),
    },
    el("span", { class: "twisty", "aria-hidden": "true" }, node?.n_children ? (isOpen ? "▾" : "▸") : ""),
    node && node.id !== node.name && node.id.length <= LONGEST_CODE && el("span", { class: "code" }, node.id),
    el("span", { class: "tree-name" }, node ? node.name : "…"),
    chance ? el("span", { class: "tree-chance" }, bar(chance), percent(chance)) : null,
    this._hasCounts && node?.n_decided ? el("span", { class: "tree-count", title: "decided documents" }, node.n_decided) : null);
    element.style.insetBlockStart = `${place * this._rowHeight}px`;
    element.style.setProperty("--depth", String(row.depth - 1));
    return element;
  }

  /**
   * @param {Row} row
   * @param {MouseEvent} event
   */
  _clicked(row, event) {
    if (!row.node) return;
    const onTwisty = event.target instanceof Element && event.target.classList.contains("twisty");
    if (onTwisty) {
      this._toggle(row);
      return;
    }
    this._activate(row, true);
  }

  /** @param {Row} row */
  _toggle(row) {
    if (!row.node?.n_children) return;
    if (this._open.has(row.key)) this._open.delete(row.key);
    else {
      this._open.add(row.key);
      if (!this._branches.has(row.node.id)) void this._during(this._load(row.node.id, 0));
    }
    this._rows = null;
    this._draw();
  }

  /**
   * @param {Row} row
   * @param {boolean} isChosen
   */
  _activate(row, isChosen) {
    this._active = row.key;
    this._scrollTo(row.key);
    this._draw();
    if (row.node) this._onActive(row.node, isChosen);
  }

  /** @param {string} key */
  _scrollTo(key) {
    const place = this._allRows().findIndex((row) => row.key === key);
    if (place < 0) return;
    const view = this.element;
    const rows = this._allRows();
    this._list.style.blockSize = `${rows.length * this._rowHeight}px`;
    const top = place * this._rowHeight;
    if (top < view.scrollTop + this._rowHeight || top > view.scrollTop + view.clientHeight - 2 * this._rowHeight) {
      view.scrollTop = Math.max(0, top - view.clientHeight / 2);
    }
  }

  /**
   * Take a key, as trees do.
   * @param {KeyboardEvent} event
   * @returns {boolean} whether it was of use
   */
  onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !KEYS.includes(event.key)) return false;
    if (this._loading) void this._keys.during(this._loading);
    this._keys.run(() => this._move(event.key));
    return true;
  }

  /** @param {string} key */
  _move(key) {
    const rows = this._allRows();
    const here = rows.findIndex((row) => row.key === this._active);
    const row = rows[here];
    const go = (/** @type {number} */ to) => {
      const target = rows[Math.max(0, Math.min(rows.length - 1, to))];
      if (target) this._activate(target, false);
    };
    const isOpen = row && this._open.has(row.key);
    if (key === "ArrowDown") go(here + 1);
    else if (key === "ArrowUp") go(here < 0 ? 0 : here - 1);
    else if (key === "Home") go(0);
    else if (key === "End") go(rows.length - 1);
    else if (key === " " && row) this._activate(row, true);
    else if (key === "ArrowRight") {
      if (!row) go(0);
      else if (isOpen) go(here + 1);
      else this._toggle(row);
    } else if (key === "ArrowLeft" && row) {
      const above = row.key.slice(0, Math.max(0, row.key.lastIndexOf(JOINT)));
      if (isOpen) this._toggle(row);
      else if (above) go(rows.findIndex((each) => each.key === above));
    }
  }
}
