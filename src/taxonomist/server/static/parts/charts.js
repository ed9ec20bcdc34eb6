// Drawings: shares over time, and the reliability of probabilities.

import { el, svg } from "../dom.js";
import { day, moment, percent } from "../words.js";

const WIDTH = 420;
const HEIGHT = 240;
const EDGE = { left: 44, right: 12, top: 12, bottom: 30 };

/** @param {number} share */
const up = (share) => HEIGHT - EDGE.bottom - share * (HEIGHT - EDGE.top - EDGE.bottom);
/** @param {number} share */
const across = (share) => EDGE.left + share * (WIDTH - EDGE.left - EDGE.right);

/**
 * @param {string} title
 * @param {string} note
 * @param {SVGElement[]} parts
 * @param {[number, string][]} below places and names below the axis
 */
function frame(title, note, parts, below) {
  const lines = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    svg("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: up(share), y2: up(share) }),
    svg("text", { x: EDGE.left - 6, y: up(share) + 4, "text-anchor": "end" }, percent(share)),
  ]);
  const names = below.map(([place, name]) => svg("text", {
    x: across(place), y: HEIGHT - 8, "text-anchor": place === 0 ? "start" : place === 1 ? "end" : "middle",
  }, name));
  return el("figure", {}, el("figcaption", {}, el("strong", {}, title), " ", note), svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": title },
    ...lines, ...names, ...parts));
}

/**
 * @param {number} x
 * @param {Estimated} right
 * @param {string} title
 */
function estimate(x, right, title) {
  return svg("g", { class: "s0" }, svg("title", {}, title),
    svg("line", { class: "line", x1: x, x2: x, y1: up(right.low), y2: up(right.high) }),
    svg("circle", { class: "dot", cx: x, cy: up(right.share ?? 0), r: 5 }));
}

/** @param {TrackRecord["periods"]} periods */
export function overTime(periods) {
  const place = (/** @type {number} */ i) => (periods.length > 1 ? 0.05 + 0.9 * i / (periods.length - 1) : 0.5);
  const line = periods.map(({ right }, i) => `${i ? "L" : "M"}${across(place(i))} ${up(right.share ?? 0)}`).join("");
  const [first, last] = [periods[0].start, periods[periods.length - 1].end];
  const when = day(first) === day(last) ? moment : day;
  return frame("Right offers over time", "with intervals of 95%", [
    svg("path", { class: "line s0", d: line }),
    ...periods.map(({ start, end, right }, i) =>
      estimate(across(place(i)), right, `${when(start)} to ${when(end)}: ${percent(right.share ?? 0)} of ${right.n}`)),
  ], [[0, when(first)], [1, when(last)]]);
}

/** @param {TrackRecord["reliability"]} points */
export function reliability(points) {
  return frame("Right offers by their probability", "dashed: ideal", [
    svg("line", { class: "ideal", x1: across(0), y1: up(0), x2: across(1), y2: up(1) }),
    ...points.map(({ probability, right }) =>
      estimate(across(probability), right, `${percent(probability)}: ${percent(right.share ?? 0)} of ${right.n}`)),
  ], [[0, "0%"], [0.5, "50%"], [1, "100%"]]);
}
