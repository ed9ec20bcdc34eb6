// Files that people open or drop: texts and tables.

import { el } from "../dom.js";

const FORMULA = /^[=+\-@\t\r]/;

/**
 * Read CSV, with quoted cells.
 * @param {string} text
 * @param {string} [separator]
 * @returns {string[][]}
 */
export function readCsv(text, separator = ",") {
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  let cell = "";
  let isQuoted = false;
  const source = text.replace(/^\ufeff/, "");
  for (let i = 0; i < source.length; i += 1) {
    const sign = source[i];
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (source[i + 1] === '"') { cell += '"'; i += 1; }
      else isQuoted = false;
    } else if (sign === '"' && cell === "") isQuoted = true;
    else if (sign === separator) { row.push(cell); cell = ""; }
    else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && source[i + 1] === "\n") i += 1;
      row.push(cell);
      if (row.length > 1 || row[0] !== "") rows.push(row);
      row = [];
      cell = "";
    } else cell += sign;
  }
  row.push(cell);
  if (row.length > 1 || row[0] !== "") rows.push(row);
  return rows;
}

/**
 * Write CSV; cells that a spreadsheet would run get an apostrophe.
 * @param {(string | number)[][]} rows
 */
export function writeCsv(rows) {
  const cell = (/** @type {string | number} */ value) => {
    const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/**
 * Return the documents of a file: rows of a table, or one text.
 * @param {File} file
 * @param {string[]} columns columns that the model reads
 * @returns {Promise<{document_id: string | null, texts: Record<string, string>}[]>}
 */
export async function readDocuments(file, columns) {
  const text = await file.text();
  const name = file.name.toLowerCase();
  if (!name.endsWith(".csv") && !name.endsWith(".tsv")) {
    return [{ document_id: null, texts: { [columns.at(-1) ?? "text"]: text } }];
  }
  const [head = [], ...rows] = readCsv(text, name.endsWith(".tsv") ? "\t" : ",");
  const places = new Map(head.map((title, i) => [title.trim(), i]));
  const known = columns.filter((column) => places.has(column));
  // Without a column of the model's, the column with the longest texts is read.
  const longest = head.map((_, i) => rows.reduce((sum, row) => sum + (row[i]?.length ?? 0), 0));
  const place = longest.indexOf(Math.max(...longest, 0));
  const id = places.get("id") ?? places.get("document_id");
  return rows.map((row) => ({
    document_id: id === undefined ? null : row[id] || null,
    texts: known.length
      ? Object.fromEntries(known.map((column) => [column, row[places.get(column) ?? 0] ?? ""]))
      : { [columns.at(-1) ?? "text"]: row[place] ?? "" },
  })).filter((each) => Object.values(each.texts).some((part) => part.trim()));
}

/**
 * Let people save a text as a file.
 * @param {string} name
 * @param {string} text
 */
export function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/**
 * Return a field for a file, and its label, which looks like a button.
 * @param {string} name
 * @param {(file: File) => void} take
 */
export function filePicker(name, take) {
  const pick = el("input", { type: "file", accept: ".txt,.csv,.tsv,text/plain,text/csv", class: "unseen", id: "pick",
    onchange: () => { const file = pick.files?.[0]; if (file) take(file); pick.value = ""; } });
  return [pick, el("label", { class: "button", for: "pick", title: "A text or a CSV file; or drop it here" }, name)];
}

/**
 * Let an element take dropped files.
 * @param {HTMLElement} element
 * @param {(file: File) => void} take
 */
export function takesFiles(element, take) {
  element.addEventListener("dragover", (event) => { event.preventDefault(); element.classList.add("dropping"); });
  element.addEventListener("dragleave", () => element.classList.remove("dropping"));
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    element.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    if (file) take(file);
  });
}
