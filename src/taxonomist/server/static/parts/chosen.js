// Says what Enter would do.

import { el, fill } from "../dom.js";
import { path } from "../words.js";

/**
 * @param {HTMLElement} place
 * @param {import("./choice.js").Choice} choice
 * @param {object} options
 * @param {boolean} options.isSet whether documents have label sets
 * @param {(label: string) => void} options.onLook
 * @param {(place: Place) => void} options.onTakeOut
 */
export function sayChosen(place, { places, isTooVague }, { isSet, onLook, onTakeOut }) {
  if (isTooVague) fill(place, el("p", {}, "Too vague for any category. ", el("kbd", {}, "Enter"), " confirms."));
  else if (isSet) {
    fill(place, el("p", { class: "note" }, places.length ? "Chosen:" : "Nothing chosen: Enter files it under no category."),
      el("ul", { class: "chips" }, ...places.map((each) => el("li", { class: "chip" },
        el("button", { class: "link", title: path(each.path_names), onclick: () => onLook(each.label) }, each.name),
        el("button", { class: "close", "aria-label": `Take out ${each.name}`, onclick: () => onTakeOut(each) }, "×")))));
  } else {
    fill(place, places[0]
      ? el("p", {}, el("kbd", {}, "Enter"), " files this under ", el("strong", {}, places[0].name),
        places[0].path_names.length > 1 ? el("span", { class: "path" }, path(places[0].path_names.slice(0, -1))) : null)
      : el("p", { class: "note" }, "Choose a category."));
  }
}
