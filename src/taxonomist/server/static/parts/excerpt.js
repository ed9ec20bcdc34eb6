// The start of a document, for lists.

import { el } from "../dom.js";

const MOST_CHARACTERS = 600; // more than the lines that are shown have room for

/**
 * Return the start of a document; the first of several texts, such as a title, stands out.
 * @param {Record<string, string>} texts
 */
export function excerpt(texts) {
  const parts = Object.values(texts).map((text) => text.slice(0, MOST_CHARACTERS).replace(/\s+/g, " ").trim()).filter(Boolean);
  const [head, ...rest] = parts.length > 1 ? parts : ["", ...parts];
  return el("span", { class: "excerpt", dir: "auto" },
    head ? el("strong", {}, head) : null, rest.length ? el("span", {}, rest.join(" · ")) : null);
}
