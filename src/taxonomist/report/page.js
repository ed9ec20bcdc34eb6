(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const tree = document.getElementById("tree");
  const CHUNK = 200, FEW = 40, MATCHES = 20;
  const parent = data.ids.map(() => -1);
  data.children.forEach((below, code) => below.forEach((child) => {
    if (parent[child] < 0) parent[child] = code;
  }));

  const name = (code) => data.names[code] || data.ids[code];
  const title = (code) => (data.names[code] ? `${data.names[code]} ${data.ids[code]}` : data.ids[code]);
  const sought = data.ids.map((id, code) => `${id} ${name(code)}`.toLowerCase());
  const total = (code) => data.support[code] + data.predicted[code];
  const f1 = (code) => (total(code) ? 2 * data.found[code] / total(code) : NaN);
  const share = (part, whole) => (whole ? (part / whole).toFixed(3) : "–");

  function element(kind, className, text) {
    const made = document.createElement(kind);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function ordered(codes) {
    const order = document.getElementById("order").value;
    if (order === "own") return codes;
    const key = order === "items" ? (c) => -data.support[c] : (c) => (isNaN(f1(c)) ? 2 : f1(c));
    return codes.slice().sort((a, b) => key(a) - key(b));
  }

  function stack(code) {
    const found = data.found[code];
    const parts = { found, missed: data.support[code] - found, added: data.predicted[code] - found };
    const whole = parts.found + parts.missed + parts.added;
    const bar = element("span", "stack");
    const text = `${parts.found} found, ${parts.missed} missed, ${parts.added} wrongly predicted`;
    bar.setAttribute("role", "img");
    bar.setAttribute("aria-label", text);
    bar.title = text;
    for (const kind in parts) {
      const piece = element("i", kind);
      piece.style.width = whole ? 100 * parts[kind] / whole + "%" : "0";
      bar.append(piece);
    }
    return bar;
  }

  function row(code, kind) {
    const made = element(kind, "row");
    const label = element("span", "label", name(code));
    if (data.names[code]) label.append(" ", element("span", "id", data.ids[code]));
    const found = data.found[code];
    made.append(
      label, stack(code),
      element("span", "", isNaN(f1(code)) ? "–" : f1(code).toFixed(3)),
      element("span", "", data.support[code].toLocaleString("en")),
      element("span", "", share(found, data.predicted[code])),
      element("span", "", share(found, data.support[code])));
    return made;
  }

  function about(code) {
    const made = element("div", "about");
    if (data.takenFor[code]) {
      const others = data.takenFor[code].map(([other, count]) => `${title(other)} (${count})`);
      made.append(element("p", "", "Confused with: " + others.join(", ")));
    }
    if (data.words[code]) {
      const line = element("p", "", "Words: ");
      data.words[code].forEach((word) => line.append(element("span", "chip", word)));
      made.append(line);
    }
    return made;
  }

  function node(code) {
    const below = data.children[code];
    const opens = below.length || data.takenFor[code] || data.words[code];
    const made = element(opens ? "details" : "div", "node");
    made.dataset.code = code;
    made.append(row(code, opens ? "summary" : "div"));
    if (opens) made.addEventListener("toggle", () => made.open && fill(made));
    return made;
  }

  function fill(made) {
    if (made.dataset.filled) return;
    made.dataset.filled = "yes";
    const code = Number(made.dataset.code);
    made.append(about(code));
    const kids = element("div", "kids");
    made.append(kids);
    list(kids, ordered(data.children[code]));
  }

  // Many siblings come in portions, and a button stands for each run that is not drawn yet.
  function list(box, codes) {
    const at = new Map(codes.map((code, place) => [code, place]));
    function gap(from, to, before) {
      if (from >= to) return null;
      const button = element("button", "", `${to - from} more …`);
      button.type = "button";
      Object.assign(button, { from, to });
      button.addEventListener("click", () => portion(button, from));
      return box.insertBefore(button, before);
    }
    function portion(button, start) {
      const end = Math.min(start + CHUNK, button.to);
      gap(button.from, start, button);
      codes.slice(start, end).forEach((code) => box.insertBefore(node(code), button));
      gap(end, button.to, button);
      button.remove();
    }
    box.show = (code) => {
      const place = at.get(code);
      const missing = [...box.querySelectorAll(":scope > button")];
      const button = missing.find((one) => one.from <= place && place < one.to);
      if (button) portion(button, place - place % CHUNK);
    };
    const all = gap(0, codes.length, null);
    if (all) portion(all, 0);
  }

  function draw() {
    tree.replaceChildren();
    const tops = data.children[0].length ? ordered(data.children[0]) : [0];
    list(tree, tops);
    const second = tops.reduce((sum, code) => sum + data.children[code].length, 0);
    if (second <= FEW) {
      tree.querySelectorAll(":scope > details").forEach((made) => { made.open = true; fill(made); });
    }
  }

  function reveal(code) {
    const path = [];
    for (let at = code; at > 0; at = parent[at]) path.unshift(at);
    let box = tree, made = null;
    for (const step of path) {
      box.show(step);
      made = box.querySelector(`:scope > [data-code="${step}"]`);
      if (made.tagName === "DETAILS") { made.open = true; fill(made); }
      box = made.querySelector(":scope > .kids");
    }
    tree.querySelectorAll(".hit").forEach((old) => old.classList.remove("hit"));
    if (made) { made.classList.add("hit"); made.scrollIntoView({ block: "center" }); }
  }

  function find() {
    const text = document.getElementById("find").value.trim().toLowerCase();
    const matches = document.getElementById("matches");
    matches.replaceChildren();
    if (!text) return;
    let n = 0;
    for (let code = 1; code < data.ids.length; code++) {
      if (!sought[code].includes(text)) continue;
      if (++n > MATCHES) continue;
      const button = element("button", "", `${name(code)}  ·  ${data.ids[code]}`);
      button.type = "button";
      button.addEventListener("click", () => reveal(code));
      const line = element("li");
      line.append(button);
      matches.append(line);
    }
    if (n > MATCHES) matches.append(element("li", "note", `${n - MATCHES} more; type more letters.`));
    if (!n) matches.append(element("li", "note", "No category has this in its name or id."));
  }

  document.getElementById("order").addEventListener("change", draw);
  document.getElementById("find").addEventListener("input", find);
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("section > .scroll details.examples").forEach((made) => { made.open = true; });
  });
  draw();
})();
