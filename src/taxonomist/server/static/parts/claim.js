// What is in doubt about a document, and a button for each of the two sides.

import { query } from "../api.js";
import { el } from "../dom.js";
import { percent } from "../words.js";

/**
 * Return what a dispute says.
 * @param {App} app
 * @param {DisputeInfo} dispute
 * @param {(nodes: Promise<TreeNode[]>) => void} onChoose called with the nodes of the chosen side
 */
export function claim(app, dispute, onChoose) {
  const nodesOf = async (/** @type {string[]} */ labels) => {
    const ids = labels.map((id) => query("", { id }).slice(1)).join("&");
    const { nodes } = /** @type {{nodes: TreeNode[]}} */ (await app.ask("GET", `nodes?${ids}`));
    return nodes;
  };
  const button = (/** @type {string[]} */ labels, /** @type {string[]} */ names) => el("button", {
    class: "button", disabled: !labels.length, onclick: () => onChoose(nodesOf(labels)),
  }, names.join(", ") || "nothing");
  return el("div", { class: "claim" }, el("span", {}, dispute.is_row ? "Given" : "Decided"), button(dispute.labels, dispute.label_names),
    el("span", {}, `A model that has not learned from it says, with ${percent(dispute.offered_probability)}`), button(dispute.offered, dispute.offered_names));
}
