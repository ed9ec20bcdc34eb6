// What stands above a document, and what stands there if none waits.

import { el } from "../dom.js";
import { ACTIONS, number } from "../words.js";

/**
 * @param {App} app
 * @param {DocumentInfo} document
 * @param {string} branch name of the branch that is filed; empty for all
 * @param {number} total number of documents that wait
 */
export function documentFacts(app, document, branch, total) {
  return [
    document.document_id,
    document.is_random ? el("span", { class: "chip", title: "Belongs to the random share, which measures quality" }, "random share") : null,
    branch ? el("a", { class: "chip", href: app.link("file"), title: "File all branches" }, "only ", el("bdi", {}, branch), " ×") : null,
    document.event ? el("span", { class: "chip" }, `${ACTIONS[document.state]} before`) : null,
    total ? el("span", { class: "left" }, `${number(total)} waiting, riskiest first`) : null,
  ];
}

/**
 * @param {App} app
 * @param {string} id
 */
export const noDocument = (app, id) => el("div", { class: "empty" }, el("h2", {}, "There is no such document."),
  el("p", {}, "This project has none with the id ", el("bdi", {}, id), "."), el("p", {}, el("a", { href: app.link("file") }, "File the next one"), "."));

/**
 * @param {App} app
 * @param {boolean} hasOthers whether others have documents open that wait
 */
export function nothingWaits(app, hasOthers) {
  return el("div", { class: "empty" }, el("h2", {}, "Nothing waits."),
    el("p", {}, hasOthers ? "Others have the last documents open." : "There is no document left to decide about."),
    el("p", {}, el("a", { href: app.link("queue") }, "Add documents to the queue"), ", ", el("a", { href: app.link("try") }, "try a text"), ", or ",
      el("a", { href: app.link("quality") }, "see how good the model is"), "."));
}
