// Messages at the edge of the screen.

import { Unreachable } from "./api.js";
import { byId, el } from "./dom.js";

const SHORT_MS = 4000;

/**
 * Show a message.
 * @param {string} text
 * @param {object} [options]
 * @param {boolean} [options.stays] whether it stays until somebody closes it
 * @param {boolean} [options.isError]
 * @param {[string, () => void][]} [options.actions] names and what they do
 * @returns {() => void} what closes it
 */
export function notify(text, { stays = false, isError = false, actions = [] } = {}) {
  // What is said again replaces what was said.
  for (const each of byId("notices").children) if (each.firstChild?.textContent === text) each.remove();
  const close = () => box.remove();
  const buttons = actions.map(([name, act]) =>
    el("button", { class: "button", onclick: () => { close(); act(); } }, name));
  const box = el("div", { class: isError ? "notice error" : "notice", role: isError ? "alert" : "status" },
    el("p", {}, text), ...buttons,
    el("button", { class: "close", "aria-label": "Close this message", onclick: close }, "×"));
  byId("notices").append(box);
  if (!stays) setTimeout(close, SHORT_MS);
  return close;
}

/** @param {unknown} error */
export function notifyError(error) {
  // That the service is away ends by itself.
  const stays = !(error instanceof Unreachable);
  notify(error instanceof Error ? error.message : String(error), { isError: true, stays });
}
