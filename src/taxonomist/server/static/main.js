// The screen: who is signed in, which project and view are shown, and where keys go.

import { Problem, Unreachable, call, patiently } from "./api.js";
import { byId, el, fill } from "./dom.js";
import { isTaken, showKeys } from "./keys.js";
import { notifyError } from "./notices.js";
import { Outbox } from "./outbox.js";
import { counted } from "./words.js";
import { DisputesView } from "./views/disputes.js";
import { FileView } from "./views/file.js";
import { HistoryView } from "./views/history.js";
import { QualityView } from "./views/quality.js";
import { QueueView } from "./views/queue.js";
import { signIn } from "./views/sign_in.js";
import { TaxonomyView } from "./views/taxonomy.js";
import { TryView } from "./views/try.js";

/** @type {[string, string, string, (app: App, argument: string) => View][]} path, name, key, view */
const VIEWS = [
  ["file", "File", "f", (app, id) => new FileView(app, id)],
  ["queue", "Queue", "q", (app) => new QueueView(app)],
  ["try", "Try it", "t", (app) => new TryView(app)],
  ["taxonomy", "Taxonomy", "x", (app, id) => new TaxonomyView(app, id)],
  ["quality", "Quality", "m", (app) => new QualityView(app)],
  ["disputes", "Disputes", "d", (app, id) => new DisputesView(app, id)],
  ["history", "History", "h", (app) => new HistoryView(app)],
];
/** @type {typeof VIEWS[number]} */
const BRANCH_VIEW = ["branch", "File", "", (app, branch) => new FileView(app, "", { branch })];
const ANYBODY = "anonymous";
const GO_MS = 1500;
const RETRY_MS = 1000;

const outbox = new Outbox();
/** @type {Session | null} */
let session = null;
/** @type {View | null} */
let view = null;
let goUntil = 0;
let isAway = false;

/**
 * The parts of the address: project, view, argument.
 * @returns {[string, string, string]}
 */
function route() {
  const [project = "", name = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  return [decodeURIComponent(project), name, decodeURIComponent(rest.join("/"))];
}

/**
 * @param {string} project
 * @param {string} name
 * @param {string} [argument]
 */
function link(project, name, argument = "") {
  const end = argument ? `/${encodeURIComponent(argument)}` : "";
  return `#/${encodeURIComponent(project)}/${name}${end}`;
}

/**
 * @param {Session} known
 * @param {ProjectFacts} project
 * @returns {App}
 */
function appOf(known, project) {
  return {
    session: known, project, outbox,
    mayDecide: known.role === "decide" || known.role === "admin",
    mayAdminister: known.role === "admin",
    ask: async (method, path, body) => {
      try {
        return await call(method, `projects/${encodeURIComponent(project.project_id)}/${path}`, body);
      } catch (error) {
        if (error instanceof Problem && error.status === 401) void start();
        if (error instanceof Unreachable) void sayAway();
        throw error;
      }
    },
    link: (name, argument) => link(project.project_id, name, argument),
  };
}

function show() {
  if (!session) return;
  const [wanted, name, argument] = route();
  const project = session.projects.find((each) => each.project_id === wanted) ?? session.projects[0];
  const found = [...VIEWS, BRANCH_VIEW].find(([path]) => path === name) ?? VIEWS[0];
  if (project.project_id !== wanted || found[0] !== name) {
    location.replace(link(project.project_id, found[0]));
    return;
  }
  view?.close?.();
  drawTop(project, found === BRANCH_VIEW ? VIEWS[0][0] : found[0]);
  document.title = `${found[1]} · ${project.project_id} · Taxonomist`;
  view = found[3](appOf(session, project), argument);
  fill(byId("main"), view.element);
  byId("main").dataset.view = found[0];
}

/**
 * @param {ProjectFacts} project
 * @param {string} current
 */
function drawTop(project, current) {
  if (!session) return;
  const choose = el("select", {
    "aria-label": "Project", onchange: () => { location.hash = link(choose.value, current); },
  }, ...session.projects.map((each) => el("option", { value: each.project_id }, each.project_id)));
  choose.value = project.project_id;
  fill(byId("top"),
    el("span", { class: "brand" }, el("img", { src: "static/icon.svg", alt: "", width: 24, height: 24 }), "Taxonomist"),
    session.projects.length > 1 ? choose : el("span", { class: "project" }, project.project_id),
    el("nav", { "aria-label": "Views" }, ...VIEWS.map(([path, name]) =>
      el("a", { href: link(project.project_id, path), "aria-current": path === current ? "page" : null }, name))),
    el("span", { class: "state", id: "state", role: "status" }),
    el("span", { class: "user" }, session.user),
    session.has_cookie ? el("button", { class: "link", onclick: signOut }, "Sign out") : null,
    session.user === ANYBODY ? el("button", { class: "link", onclick: askForToken }, "Sign in") : null,
    el("button", { class: "button round", "aria-label": "Show the keys", title: "Keys (?)", onclick: showKeys }, "?"));
  byId("top").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  drawState();
}

function drawState() {
  const place = document.getElementById("state");
  if (!place) return;
  const isOffline = isAway || !outbox.isReachable;
  place.classList.toggle("away", isOffline);
  if (isOffline) place.textContent = outbox.size ? `Offline: ${counted(outbox.size, "decision")} kept here` : "Offline";
  else place.textContent = outbox.size ? "Saving …" : "";
  place.title = isOffline ? "All goes on as soon as the service answers." : "";
}

/** Say that the service does not answer, until it does. */
async function sayAway() {
  if (isAway) return;
  isAway = true;
  drawState();
  await patiently(() => call("GET", "session"), () => true);
  isAway = false;
  drawState();
}

/** Let somebody sign in, whether a token is needed or this service is open to readers. */
function askForToken() {
  view?.close?.();
  view = null;
  fill(byId("main"), signIn(() => void start()));
}

async function signOut() {
  await call("DELETE", "session").catch(notifyError);
  location.reload();
}

async function start() {
  try {
    session = /** @type {Session} */ (await call("GET", "session"));
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    fill(byId("main"), el("p", { class: "empty" }, "The service does not answer. Trying again …"));
    setTimeout(() => void start(), RETRY_MS);
    return;
  }
  if (session.role === null) {
    fill(byId("top"));
    askForToken();
    return;
  }
  void outbox.send();
  show();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (isTaken(event)) return;
  const isGoing = performance.now() < goUntil;
  goUntil = 0;
  const [project] = route();
  const target = isGoing && VIEWS.find(([, , key]) => key === event.key);
  if (target) location.hash = link(project, target[0]);
  else if (event.key === "?") showKeys();
  else if (event.key === "g") goUntil = performance.now() + GO_MS;
  else if (!view?.onKey?.(event)) return;
  event.preventDefault();
}

/**
 * After a click, keys belong to the view again: Enter confirms, and does not press the button once more.
 * @param {MouseEvent} event
 */
function onClick(event) {
  const target = event.target instanceof Element ? event.target.closest("button, a") : null;
  // A click that a key has made has no count.
  if (event.detail && target instanceof HTMLElement && !target.closest("dialog")) target.blur();
}

outbox.onChanged.push(drawState);
outbox.onSignedOut.push(() => { session = null; void start(); });
outbox.onRefused.push((_, problem) => {
  // The view that filed it says more; without it, say at least this.
  if (!(view instanceof FileView)) notifyError(problem);
});
window.addEventListener("hashchange", show);
document.addEventListener("keydown", onKey);
document.addEventListener("click", onClick, true);
window.addEventListener("unhandledrejection", (event) => {
  if (event.reason instanceof Problem && event.reason.status === 401) void start();
  else notifyError(event.reason);
});
void start();
