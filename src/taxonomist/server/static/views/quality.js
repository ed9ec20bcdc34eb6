// Quality: how good the model is, what is confused, the versions, and trainings.

import { bar, el, fill, loading } from "../dom.js";
import { notify, notifyError } from "../notices.js";
import { overTime, reliability } from "../parts/charts.js";
import { counted, interval, moment, number, percent } from "../words.js";

const LOOK_MS = 1000;
const MOST_LOOKS = 20;
const LOADING_MS = 20_000;

export class QualityView {
  /** @param {App} app */
  constructor(app) {
    this._app = app;
    this._isClosed = false;
    this._record = el("div", {}, loading());
    this._versions = el("section", {});
    this._training = el("section", { class: "card training", "aria-live": "polite" });
    this.element = el("div", { class: "quality" }, el("h1", {}, "Quality"), this._record,
      el("h2", {}, "Training"), this._training, el("h2", {}, "Versions"), this._versions);
    this._load().catch(notifyError);
    this._watch().catch(notifyError);
  }

  async _load() {
    const [found, versions] = await Promise.all([
      /** @type {Promise<TrackRecord>} */ (this._app.ask("GET", "quality")),
      /** @type {Promise<VersionList>} */ (this._app.ask("GET", "models")),
    ]);
    this._drawRecord(found);
    this._drawVersions(versions);
    return versions.live;
  }

  /** @param {TrackRecord} found */
  _drawRecord(found) {
    const { overall, moved } = found;
    const most = Math.max(...found.distances.map((each) => each.n), 1);
    fill(this._record,
      el("div", { class: "tiles" },
        tile("Right offers", overall.share === null ? "–" : percent(overall.share), interval(overall)),
        tile("Decisions", number(found.decided), `${number(found.corrected)} differ from the offer`),
        tile("What the last training changed", moved ? number(moved.n_moved) : "–",
          moved ? `of ${counted(moved.n_documents, "document")} are offered another category` : "no training yet")),
      overall.n ? el("div", { class: "charts" }, overTime(found.periods), reliability(found.reliability))
        : el("p", { class: "note" }, "Quality is measured on the random share: decide about some documents of it."),
      el("h2", {}, "Confusions"),
      found.confusions.length ? el("div", { class: "charts" },
        el("figure", {}, el("figcaption", {}, el("strong", {}, "How far off wrong offers are")), el("ul", { class: "plain distances" }, ...found.distances.map((each) =>
          el("li", {}, el("span", {}, counted(each.distance, "step")), bar(each.n / most, "fill missed"), el("span", {}, number(each.n)))))),
        table(["Offered", "Decided", "Times", "Steps"], found.confusions.slice(0, 10).map((each) =>
          [each.offered_names.join(", ") || "nothing", each.chosen_names.join(", ") || "nothing", number(each.n), String(each.distance)]), "Confusions"))
        : el("p", { class: "note" }, "No offer was corrected yet."));
  }

  /** @param {VersionList} found */
  _drawVersions(found) {
    const last = new Map(found.releases.map((each) => [each.version, each]));
    // A version that was released is loaded a moment later; until then nobody shall choose another.
    const { version: released, at = "" } = found.releases.at(-1) ?? {};
    const isSettled = released === found.live || Date.now() - Date.parse(at) > LOADING_MS;
    fill(this._versions, el("ul", { class: "plain versions" }, ...[...found.versions].reverse().map((each) => {
      const release = last.get(each.version);
      const compared = /** @type {Record<string, number> | undefined} */ (each.facts.comparison);
      return el("li", { class: each.is_live ? "card live" : "card" },
        el("p", {}, el("code", {}, each.version), " ", each.is_live ? el("span", { class: "chip good" }, "live") : each.version === released ? el("span", { class: "chip" }, isSettled ? "cannot be loaded" : "is being loaded") : null, ` ${each.origin}, ${moment(each.added_at)}`),
        compared ? el("p", { class: "note" }, `Trained on ${number(compared.documents)} documents. On ${number(compared.n_texts)} held-out ones: loss ${compared.new_loss.toFixed(3)}, before ${compared.old_loss.toFixed(3)}; right ${percent(compared.new_accuracy)}, before ${percent(compared.old_accuracy)}.`) : null,
        release ? el("p", { class: "note" }, `Went live ${moment(release.at)} by ${release.user}: ${release.reason}.`) : null,
        !each.is_live && isSettled && this._app.mayAdminister ? el("button", { class: "button", onclick: () => this._goLive(each.version) }, release ? "Roll back to this version" : "Let it go live") : null);
    })));
  }

  /** @param {string} version */
  async _goLive(version) {
    try {
      await this._app.ask("POST", `models/${version}/live`, { reason: "chosen on the screen" });
      notify(`Version ${version} is live.`);
      await this._load();
    } catch (error) {
      notifyError(error);
    }
  }

  /** Show the newest training, again and again while it runs. */
  async _watch() {
    for (let wasRunning = false; !this._isClosed;) {
      const { jobs } = /** @type {{jobs: JobInfo[]}} */ (await this._app.ask("GET", "retrain"));
      const job = jobs.filter((each) => each.kind === "train").at(-1);
      this._drawJob(job);
      if (job?.state !== "running") {
        if (wasRunning && job) await this._showTrained(job);
        return;
      }
      wasRunning = true;
      await new Promise((go) => { setTimeout(go, LOOK_MS); });
    }
  }

  /**
   * Show what a training has changed. A version goes live a moment after its training.
   * @param {JobInfo} job
   */
  async _showTrained(job) {
    for (let i = 0; i < MOST_LOOKS && !this._isClosed; i += 1) {
      const live = await this._load();
      if (job.state !== "live" || live === job.result.version) return;
      await new Promise((go) => { setTimeout(go, LOOK_MS); });
    }
  }

  /** @param {JobInfo | undefined} job */
  _drawJob(job) {
    const { can_retrain } = this._app.project;
    const start = el("button", { class: "button primary", disabled: !can_retrain || !this._app.mayAdminister, onclick: () => this._start() }, "Retrain on all decisions");
    if (job?.state === "running") {
      fill(this._training, el("p", {}, `${job.step} …`), el("progress", { max: job.total ?? 4, value: job.done, "aria-label": "Training" }));
      return;
    }
    const result = job?.result ?? {};
    fill(this._training, start,
      el("p", { class: "note" }, can_retrain ? "A new model learns from the training table and all decisions. It goes live unless it is worse." : "There is no training table: start the service with --data."),
      job ? el("p", {}, `Last training: ${job.state}, ${moment(job.started_at)} by ${job.user}. `,
        job.state === "trained" ? "The new model is worse, so it did not go live. " : "",
        typeof result.error === "string" ? result.error : "",
        result.kept_features ? ["It kept the words that it knew. ", el("button", {
          class: "link", disabled: !this._app.mayAdminister, onclick: () => this._start(true),
        }, "Train from scratch")] : null) : null);
  }

  /** Start a training. */
  async _start(full = false) {
    try {
      await this._app.ask("POST", "retrain", { full });
      await this._watch();
    } catch (error) {
      notifyError(error);
    }
  }

  close() {
    this._isClosed = true;
  }
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} more
 */
const tile = (name, value, more) => el("div", { class: "tile" }, el("h2", {}, name), el("p", { class: "value" }, value), el("p", { class: "note" }, more));

/**
 * @param {string[]} heads
 * @param {string[][]} rows
 * @param {string} label
 */
export function table(heads, rows, label) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", {}, cell)))))));
}
