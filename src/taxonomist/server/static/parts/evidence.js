// The texts of a document, with the words marked that speak for and against a category.

import { el, fill, put } from "../dom.js";

const SHOWN_CHARACTERS = 20_000;
const LEAST_STRENGTH = 0.2;

/**
 * Return where characters begin. The service counts code points, JavaScript counts UTF-16 units.
 * @param {string} text
 * @returns {(place: number) => number}
 */
export function placer(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (place) => place;
  const starts = [0];
  for (const character of text) starts.push(starts[starts.length - 1] + character.length);
  return (place) => starts[Math.min(place, starts.length - 1)];
}

export class Evidence {
  /** @param {string[]} columns */
  constructor(columns) {
    this._columns = columns;
    this.element = el("div", { class: "texts", dir: "auto", tabindex: "0", role: "region", "aria-label": "Texts of the document" });
    /** @type {Record<string, string>} */
    this._texts = {};
    /** @type {Explanation | null} */
    this._found = null;
    this._isWhole = false;
  }

  /**
   * Show a document, without marks.
   * @param {Record<string, string>} texts
   */
  show(texts) {
    this._texts = texts;
    this._found = null;
    this._isWhole = false;
    this.element.scrollTop = 0;
    this._draw();
  }

  /**
   * Mark the words of an explanation; null takes the marks away.
   * @param {Explanation | null} found
   */
  mark(found) {
    this._found = found;
    this._draw();
  }

  _draw() {
    const names = this._columns.filter((name) => this._texts[name]);
    const shown = names.length ? names : Object.keys(this._texts);
    const spans = this._spans();
    let left = this._isWhole ? Infinity : SHOWN_CHARACTERS;
    let isCut = false;
    fill(this.element, ...shown.map((name, i) => {
      const text = this._texts[name] ?? "";
      const part = el(i === 0 && shown.length > 1 ? "h2" : "p", { class: "text", dir: "auto" });
      put(part, marked(text.slice(0, left), spans.get(name) ?? []));
      isCut ||= text.length > left;
      left -= Math.min(left, text.length);
      return el("section", {}, shown.length > 1 ? el("h3", {}, name) : null, part);
    }));
    if (isCut) {
      const total = Object.values(this._texts).reduce((sum, text) => sum + text.length, 0);
      this.element.append(el("button", {
        class: "button", onclick: () => { this._isWhole = true; this._draw(); },
      }, `Show all ${total.toLocaleString("en")} characters`));
    }
  }

  /** @returns {Map<string, [number, number, number][]>} marks by column: start, end, strength */
  _spans() {
    /** @type {Map<string, [number, number, number][]>} */
    const found = new Map();
    if (!this._found) return found;
    const { text, spans } = this._found;
    const parts = this._columns.map((name) => this._texts[name] ?? "");
    // A long text has more marks than a function can have arguments.
    const largest = spans.reduce((most, span) => Math.max(most, Math.abs(span.value)), 0) || 1;
    const place = placer(text);
    let start = 0;
    for (const [i, part] of parts.entries()) {
      const at = part ? text.indexOf(part, start) : -1;
      if (at < 0) continue;
      const end = at + part.length;
      const inside = [];
      for (const span of spans) {
        const [from, to] = [place(span.start), place(span.end)];
        const strength = span.value / largest;
        if (from >= at && to <= end && Math.abs(strength) >= LEAST_STRENGTH) {
          inside.push(/** @type {[number, number, number]} */ ([from - at, to - at, strength]));
        }
      }
      found.set(this._columns[i], inside);
      start = end;
    }
    return found;
  }
}

/**
 * @param {string} text
 * @param {[number, number, number][]} spans
 * @returns {(Node | string)[]}
 */
function marked(text, spans) {
  const parts = [];
  let end = 0;
  for (const [from, to, strength] of spans) {
    if (from < end || to > text.length) continue;
    const mark = el("mark", {
      class: strength > 0 ? "for" : "against",
      title: `${strength > 0 ? "for" : "against"}, ${Math.round(100 * Math.abs(strength))}% of the strongest word`,
    }, text.slice(from, to));
    mark.style.setProperty("--strength", `${Math.round(8 + 32 * Math.abs(strength))}%`);
    parts.push(text.slice(end, from), mark);
    end = to;
  }
  parts.push(text.slice(end));
  return parts;
}
