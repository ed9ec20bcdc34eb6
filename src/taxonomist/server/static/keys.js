// The keys of the screen, and the dialog that lists them.

import { el } from "./dom.js";

const FILE_KEYS = [
  ["1…9", "file under this suggestion; in label sets, add it or take it out"],
  ["Enter", "confirm what is chosen"],
  ["/", "search names, synonyms and codes"],
  ["↑ ↓ → ←", "walk the tree: up, down, open or child, close or parent"],
  ["Space", "choose the active node of the tree"],
  ["v", "too vague: stop at the deepest node that is sure"],
  ["b", "restrict the suggestions to the active branch; again to lift it"],
  ["l", "ask for a level, then a digit"],
  ["r", "none of the categories fits"],
  ["u", "undo the last decision, and come back to its document"],
  ["s", "skip: somebody else may decide"],
  ["Esc", "back to the offer of the model"],
];
const VIEW_KEYS = [
  ["g f", "File"], ["g q", "Queue"], ["g t", "Try it"], ["g x", "Taxonomy"], ["g m", "Quality"],
  ["g d", "Disputes"], ["g h", "History"], ["?", "these keys"],
];

/** Show all keys. */
export function showKeys() {
  const row = (/** @type {string[]} */ [key, text]) =>
    el("div", {}, el("dt", {}, ...key.split(" ").map((each) => el("kbd", {}, each))), el("dd", {}, text));
  const dialog = el("dialog", { class: "keys", "aria-labelledby": "keys-title", onclose: () => dialog.remove() },
    el("h2", { id: "keys-title" }, "Keys"),
    el("div", { class: "keys-lists" },
      el("section", {}, el("h3", {}, "File documents"), el("dl", {}, ...FILE_KEYS.map(row))),
      el("section", {}, el("h3", {}, "Everywhere"), el("dl", {}, ...VIEW_KEYS.map(row)),
        el("p", { class: "note" }, "Programs use the ", el("a", { href: "docs" }, "routes of the service"), "."))),
    el("form", { method: "dialog" }, el("button", { class: "button primary", autofocus: true }, "Close", el("kbd", { "aria-hidden": "true" }, "Esc"))));
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * Whether a key belongs to a field or a dialog, and not to the view.
 * @param {KeyboardEvent} event
 */
export function isTaken(event) {
  const target = event.target;
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return true;
  if (document.querySelector("dialog[open]")) return true;
  return target instanceof Element && target.closest("input, textarea, select") !== null;
}
