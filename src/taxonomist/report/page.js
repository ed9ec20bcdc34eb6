(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const tree = document.getElementById("tree");
  const CHUNK = 200, FEW = 40, MATCHES = 20;

  // A large page holds its nodes in packed blocks, each of which is unpacked when it is needed.
  const size = data.size || data.ids.length, n_nodes = data.n_nodes || size;
  const blocks = data.blocks ? [] : [data];
  const block = (code) => {
    const k = Math.floor(code / size);
    return blocks[k] || (blocks[k] = JSON.parse(unpacked(data.blocks[k])));
  };
  const get = (column, code) => block(code)[column][code % size];

  const name = (code) => get("names", code) || get("ids", code);
  const title = (code) => (get("names", code) ? `${get("names", code)} ${get("ids", code)}` : get("ids", code));
  const total = (code) => get("support", code) + get("predicted", code);
  const f1 = (code) => (total(code) ? 2 * get("found", code) / total(code) : NaN);
  const shown = (score) => (isNaN(score) ? "–" : score.toFixed(3));
  let words = null;
  const sought = (code) => {
    if (!words) words = Array.from({ length: n_nodes }, (_, one) => title(one).toLowerCase());
    return words[code];
  };
  const share = (part, whole) => (whole ? (part / whole).toFixed(3) : "–");

  function element(kind, className, text) {
    const made = document.createElement(kind);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const order = () => document.getElementById("order").value;

  function ordered(codes) {
    if (order() === "own") return codes;
    const key = order() === "items" ? (c) => -get("support", c) : (c) => (isNaN(f1(c)) ? 2 : f1(c));
    return codes.slice().sort((a, b) => key(a) - key(b));
  }

  function stack(code) {
    const found = get("found", code);
    const parts = { found, missed: get("support", code) - found, added: get("predicted", code) - found };
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
    if (get("names", code)) label.append(" ", element("span", "id", get("ids", code)));
    const found = get("found", code);
    made.append(
      label, stack(code),
      element("span", "", shown(f1(code))),
      element("span", "", get("support", code).toLocaleString("en")),
      element("span", "", share(found, get("predicted", code))),
      element("span", "", share(found, get("support", code))));
    return made;
  }

  function about(code) {
    const made = element("div", "about");
    if (get("takenFor", code)) {
      const others = get("takenFor", code).map(([other, count]) => `${title(other)} (${count})`);
      made.append(element("p", "", "Confused with: " + others.join(", ")));
    }
    if (get("words", code)) {
      const line = element("p", "", "Words: ");
      get("words", code).forEach((word) => line.append(element("span", "chip", word)));
      made.append(line);
    }
    return made;
  }

  function node(code) {
    const below = get("children", code);
    const opens = below.length || get("takenFor", code) || get("words", code);
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
    list(kids, ordered(get("children", code)));
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
    const tops = get("children", 0).length ? ordered(get("children", 0)) : [0];
    list(tree, tops);
    const second = tops.reduce((sum, code) => sum + get("children", code).length, 0);
    if (second <= FEW) {
      tree.querySelectorAll(":scope > details").forEach((made) => { made.open = true; fill(made); });
    }
  }

  function reveal(code) {
    const path = [];
    for (let at = code; at > 0; at = get("parent", at)) path.unshift(at);
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

  function button(text, code) {
    const made = element("button", "", text);
    made.type = "button";
    made.addEventListener("click", () => reveal(code));
    return made;
  }

  // Without a text, the worst or the largest of all categories; in their own order, none.
  function find() {
    const text = document.getElementById("find").value.trim().toLowerCase();
    const matches = document.getElementById("matches");
    matches.replaceChildren();
    if (!text && (order() === "own" || n_nodes <= FEW)) return;
    let codes = [];
    for (let code = 1; code < n_nodes; code++) {
      if (text ? sought(code).includes(text) : total(code)) codes.push(code);
    }
    const n = codes.length;
    codes = ordered(codes).slice(0, MATCHES);
    for (const code of codes) {
      const line = element("li");
      line.append(button(`${name(code)}  ·  ${get("ids", code)}`, code));
      line.append(element("span", "note", ` F1 ${shown(f1(code))}, ${get("support", code)} items`));
      matches.append(line);
    }
    if (n > MATCHES) matches.append(element("li", "note", `${n - MATCHES} more; type more letters.`));
    if (!n) matches.append(element("li", "note", "No category has this in its name or id."));
  }

  function confused() {
    const text = document.getElementById("confused").value.trim().toLowerCase();
    const box = document.getElementById("pairs");
    box.replaceChildren();
    if (!text) return;
    const pairs = [];
    for (let code = 1; code < n_nodes; code++) {
      const isMeant = sought(code).includes(text);
      for (const [other, count] of get("takenFor", code) || []) {
        if (isMeant || sought(other).includes(text)) pairs.push([count, code, other]);
      }
    }
    pairs.sort((a, b) => b[0] - a[0]);
    for (const [count, code, other] of pairs.slice(0, MATCHES)) {
      const line = element("li");
      line.append(button(name(code), code), " taken for ", button(name(other), other), ` (${count})`);
      box.append(line);
    }
    const n = pairs.length;
    if (n > MATCHES) box.append(element("li", "note", `${n - MATCHES} more; type more letters.`));
    if (!n) box.append(element("li", "note", "No such category was confused with another."));
  }

  document.getElementById("order").addEventListener("change", () => { draw(); find(); });
  document.getElementById("find").addEventListener("input", find);
  const box = document.getElementById("confused");
  if (box) box.addEventListener("input", confused);
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("section > .scroll details.examples").forEach((made) => { made.open = true; });
  });
  draw();
})();
