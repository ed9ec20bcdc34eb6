// Make elements. Texts only ever become text nodes, never HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Set an attribute, a listener (`onclick`) or a property (`value`, `checked`).
 * @param {Element} element
 * @param {string} name
 * @param {unknown} value
 */
function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on") && typeof value === "function") {
    element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
  } else if (name === "value" || name === "checked" || name === "disabled") {
    /** @type {any} */ (element)[name] = value;
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Return a new element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown>} [facts] attributes and listeners
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, facts = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(facts)) set(element, name, value);
  put(element, ...children);
  return element;
}

/**
 * Return a new element of a drawing.
 * @param {string} tag
 * @param {Record<string, unknown>} [facts]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(tag, facts = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(facts)) set(element, name, value);
  put(element, ...children);
  return element;
}

/**
 * Return a text whose marks of direction end with it, so that they change nothing after it.
 * @param {string} text
 */
export function closed(text) {
  if (!/[\u202a-\u202e\u2066-\u2069]/.test(text)) return text;
  let depth = 0;
  const kept = text.replace(/[\u2066-\u2069]/g, (sign) => {
    if (sign === "\u2069" && !depth) return "";
    depth += sign === "\u2069" ? -1 : 1;
    return sign;
  });
  const open = (kept.match(/[\u202a\u202b\u202d\u202e]/g) ?? []).length;
  return kept + "\u2069".repeat(depth) + "\u202c".repeat(open);
}

/**
 * Append children.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function put(element, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : closed(String(child)));
  }
}

/**
 * Replace all children.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren();
  put(element, ...children);
}

/**
 * Return a bar whose filled part is a share.
 * @param {number} share
 * @param {string} [kind]
 */
export function bar(share, kind = "fill") {
  const part = el("i", { class: kind });
  part.style.inlineSize = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, part);
}

/** Return what stands where something is on its way. */
export const loading = () => el("p", { class: "empty loading" }, "Loading …");

/**
 * Return an element of the page.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}.`);
  return found;
}

/**
 * Say something to screen readers.
 * @param {string} text
 */
export function speak(text) {
  byId("spoken").textContent = text;
}
