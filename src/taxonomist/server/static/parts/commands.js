// Buttons for what keys do about a document.

import { el } from "../dom.js";

/** @type {[string, string, string][]} name, key, meaning */
const COMMANDS = [
  ["Too vague", "v", "Stop at the deepest node that is sure"],
  ["None fits", "r", "No category of the taxonomy fits"],
  ["Skip", "s", "Leave it to somebody else"],
  ["Branch", "b", "Only suggestions within the active branch of the tree"],
  ["Level", "l", "File it at a level of the taxonomy"],
  ["Undo", "u", "Take back the last decision, and come back to its document"],
];

/**
 * @param {boolean} mayDecide
 * @param {(key: string) => void} onKey
 */
export const commands = (mayDecide, onKey) => el("div", { class: "commands" }, ...COMMANDS.map(([name, key, title]) =>
  el("button", { class: "button", title, onclick: () => onKey(key), disabled: !mayDecide }, name, el("kbd", { "aria-hidden": "true" }, key))));
