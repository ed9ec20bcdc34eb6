// Try it: paste a text or drop a file, and see what the model says and why. Nothing is stored.

import { bar, el, fill } from "../dom.js";
import { notify, notifyError } from "../notices.js";
import { Evidence } from "../parts/evidence.js";
import { filePicker, readDocuments, save, takesFiles, writeCsv } from "../parts/tables.js";
import { counted, path, percent } from "../words.js";

const AT_ONCE = 50;
const MOST_ROWS = 200;
const LEAST_SHOWN = 3;
const LEAST_CHANCE = 0.01; // rarer categories would push the reasons out of view

export class TryView {
  /** @param {App} app */
  constructor(app) {
    this._app = app;
    this._fields = app.project.columns.map((name) => ({ name, field: this._field(name) }));
    this._answer = el("section", { class: "card", "aria-live": "polite", "aria-label": "Answer" },
      el("p", { class: "empty" }, "What the model says comes here, with the words behind it."));
    const form = el("form", { class: "card try-form", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      this._ask().catch(notifyError);
    } },
    ...this._fields.map(({ name, field }) => el("label", {}, el("span", {}, name), field)),
    el("div", { class: "buttons" }, el("button", { class: "button primary" }, "What is it?", el("kbd", { "aria-hidden": "true" }, "Ctrl Enter")),
      ...filePicker("Open a file …", (file) => void this._takeFile(file)),
      el("span", { class: "note" }, "or drop a text or a CSV file here")));
    takesFiles(form, (file) => void this._takeFile(file));
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.ctrlKey) { event.preventDefault(); this._ask().catch(notifyError); }
    });
    this.element = el("div", { class: "try" }, el("h1", {}, "Try it"),
      el("p", { class: "note" }, `Nothing is stored. The model knows ${counted(app.project.n_categories, "category", "categories")}.`),
      el("div", { class: "try-parts" }, form, this._answer));
    setTimeout(() => this._fields[0].field.focus());
  }

  /** @param {string} name */
  _field(name) {
    const isLong = name === this._app.project.columns.at(-1);
    return el("textarea", { name, rows: isLong ? 9 : 2, dir: "auto", placeholder: isLong ? "Paste a text" : "" });
  }

  get _texts() {
    return Object.fromEntries(this._fields.map(({ name, field }) => [name, field.value]));
  }

  async _ask() {
    const texts = this._texts;
    if (!Object.values(texts).some((text) => text.trim())) { this._fields[0].field.focus(); return; }
    const answer = /** @type {DecideAnswer} */ (
      await this._app.ask("POST", "decide", { documents: [{ texts }], top: 9 }));
    const found = answer.results[0];
    const evidence = new Evidence(this._app.project.columns);
    evidence.show(texts);
    const explain = async (/** @type {string} */ category) => {
      if (!this._app.project.can_explain) return;
      evidence.mark(/** @type {Explanation} */ (
        await this._app.ask("POST", "explain", { document: { texts }, category })));
    };
    const likely = found.top.filter((each, i) => i < LEAST_SHOWN || each.probability >= LEAST_CHANCE);
    this.element.classList.remove("many");
    fill(this._answer,
      el("h2", {}, found.names.map((name, i) => name || found.labels[i]).join(", ") || "No category"),
      ...found.paths.map((steps) => el("p", { class: "path" }, path(steps))),
      found.note ? el("p", { class: "note" }, found.note) : null,
      el("ul", { class: "plain suggestions" }, ...likely.map((each) => el("li", {},
        el("button", { class: "suggestion", title: "Show the words for and against", onclick: () => explain(each.label).catch(notifyError) },
          el("span", { class: "suggestion-name" }, each.name || each.label, each.name && each.name !== each.label ? el("span", { class: "code" }, each.label) : null),
          el("span", { class: "chance" }, percent(each.probability)), bar(each.probability))))),
      evidence.element,
      el("div", { class: "buttons" }, el("button", { class: "button", onclick: () => this._save([{ document_id: null, texts }], [found]) }, "Save as CSV"),
        this._app.mayDecide ? el("button", { class: "button", onclick: () => this._addToQueue([{ texts }]) }, "Put into the queue") : null));
    const first = found.labels[0] ?? found.top[0]?.label;
    if (first) await explain(first).catch(() => {});
  }

  /** @param {File} file */
  async _takeFile(file) {
    try {
      const documents = await readDocuments(file, this._app.project.columns);
      if (!documents.length) { notify("The file has no texts.", { isError: true }); return; }
      if (documents.length === 1) {
        for (const { name, field } of this._fields) field.value = documents[0].texts[name] ?? "";
        await this._ask();
        return;
      }
      await this._askMany(documents);
    } catch (error) {
      notifyError(error);
    }
  }

  /** @param {{document_id: string | null, texts: Record<string, string>}[]} documents */
  async _askMany(documents) {
    /** @type {DecidedText[]} */
    const results = [];
    this.element.classList.add("many");
    for (let i = 0; i < documents.length; i += AT_ONCE) {
      fill(this._answer, el("progress", { max: documents.length, value: i }), ` ${counted(i, "text")} of ${documents.length}`);
      const part = documents.slice(i, i + AT_ONCE).map(({ texts }) => ({ texts }));
      const answer = /** @type {DecideAnswer} */ (await this._app.ask("POST", "decide", { documents: part, top: 3 }));
      results.push(...answer.results);
    }
    const rows = results.slice(0, MOST_ROWS).map((found, i) => el("tr", {},
      el("th", { scope: "row" }, documents[i].document_id ?? i + 1),
      el("td", { class: "wide", dir: "auto" }, Object.values(documents[i].texts).join(" · ").slice(0, 140)),
      el("td", {}, found.names.join(", ")), el("td", {}, found.probabilities.map(percent).join(", "))));
    fill(this._answer, el("h2", {}, counted(results.length, "text")),
      el("div", { class: "buttons" }, el("button", { class: "button primary", onclick: () => this._save(documents, results) }, "Save as CSV"),
        this._app.mayDecide ? el("button", { class: "button", onclick: () => this._addToQueue(documents) }, "Put into the queue") : null),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Results" }, el("table", {}, el("thead", {}, el("tr", {}, ...["id", "text", "category", "probability"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, ...rows))),
      results.length > MOST_ROWS ? el("p", { class: "note" }, `The file has all ${results.length}; ${MOST_ROWS} are shown.`) : null);
  }

  /**
   * @param {{document_id: string | null, texts: Record<string, string>}[]} documents
   * @param {DecidedText[]} results
   */
  _save(documents, results) {
    const columns = this._app.project.columns;
    const rows = results.map((found, i) => [documents[i].document_id ?? String(i + 1), ...columns.map((name) => documents[i].texts[name] ?? ""),
      found.labels.join(";"), found.names.join(";"), found.paths.map((steps) => steps.join(" > ")).join(";"), found.probabilities.join(";")]);
    save(`${this._app.project.project_id}-suggestions.csv`, writeCsv([["id", ...columns, "label", "name", "path", "probability"], ...rows]));
  }

  /** @param {{document_id?: string | null, texts: Record<string, string>}[]} documents */
  async _addToQueue(documents) {
    try {
      for (let i = 0; i < documents.length; i += AT_ONCE) {
        await this._app.ask("POST", "documents", { documents: documents.slice(i, i + AT_ONCE) });
      }
      notify(`${counted(documents.length, "document")} wait in the queue.`, { actions: [["Show the queue", () => { location.hash = this._app.link("queue"); }]] });
    } catch (error) {
      notifyError(error);
    }
  }
}
