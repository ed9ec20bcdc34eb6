// Sign in with a token.

import { call } from "../api.js";
import { el } from "../dom.js";

/**
 * Return a form that signs in.
 * @param {() => void} onDone
 */
export function signIn(onDone) {
  const field = el("input", {
    type: "password", id: "token", autocomplete: "current-password", required: true, placeholder: "tax_…",
  });
  const error = el("p", { class: "error-text", role: "alert" });
  const form = el("form", {
    class: "card sign-in",
    onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        await call("POST", "session", { token: field.value.trim() });
        onDone();
      } catch (found) {
        error.textContent = found instanceof Error ? found.message : String(found);
      }
    },
  },
  el("h1", {}, "Taxonomist"),
  el("p", {}, "Sign in with your token. Whoever runs this service makes one with ", el("code", {}, "taxonomist token add"), "."),
  el("label", { for: "token" }, "Token"), field, error,
  el("button", { class: "button primary" }, "Sign in"));
  setTimeout(() => field.focus());
  return form;
}
