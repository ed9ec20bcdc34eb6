// What the service answers; its OpenAPI description has the details.

interface ProjectFacts {
  project_id: string; version: string; columns: string[]; is_multilabel: boolean;
  can_explain: boolean; can_retrain: boolean; n_nodes: number; n_categories: number; depth: number;
}
interface Session {
  user: string; role: "read" | "decide" | "admin" | null; has_cookie: boolean; release: string;
  projects: ProjectFacts[];
}
interface Estimated { n: number; n_right: number; share: number | null; low: number; high: number; }
interface TreeNode {
  id: string; name: string; path: string[]; names: string[]; n_children: number;
  is_category: boolean; n_decided: number; quality: Estimated;
}
interface TreePage { parent: TreeNode | null; total: number; offset: number; nodes: TreeNode[]; }
interface Place { label: string; name: string; path: string[]; path_names: string[]; }
interface OfferedCategory extends Place { probability: number; }
interface Offer {
  version: string; labels: string[]; names: string[]; paths: string[][];
  alternatives: OfferedCategory[]; expected_loss: number; branch: string;
}
interface DocumentInfo {
  document_id: string; number: number; texts: Record<string, string>; is_random: boolean;
  added_at: string; added_by: string; offer: Offer | null; state: string; labels: string[]; event: number;
}
interface BranchWaiting { branch: string; name: string; n_documents: number; expected_loss: number; }
interface QueuePage { documents: DocumentInfo[]; total: number; branches: BranchWaiting[]; }
interface EventInfo {
  event: number; document_id: string; action: string; labels: string[]; offered: string[];
  version: string | null; user: string; seconds: number | null; at: string; undoes: number | null;
  key: string | null;
}
interface EventPage { events: EventInfo[]; names: Record<string, string>; next: number | null; }
interface Progress {
  n_decided: number; n_waiting: number; users: { user: string; n_decided: number }[];
}
interface DecidedText {
  document_id: string | null; labels: string[]; names: string[]; paths: string[][];
  probabilities: number[]; note: string; expected_loss: number;
  top: { label: string; name: string; probability: number }[];
}
interface DecideAnswer { version: string; results: DecidedText[]; }
interface Explanation {
  version: string; category: string; path: string[]; probability: number | null; score: number;
  levels: { node: string; name: string; value: number; words: { word: string; value: number }[] }[];
  text: string; spans: { start: number; end: number; value: number }[];
}
interface Confusion {
  offered: string[]; offered_names: string[]; chosen: string[]; chosen_names: string[];
  n: number; distance: number;
}
interface NodeDetails extends TreeNode {
  synonyms: string[]; note: string; words: { word: string; value: number }[];
  examples: { document_id: string; texts: Record<string, string>; is_decided: boolean }[];
  confusions: Confusion[];
}
interface BulkSample { version: string; n_documents: number; sample: DocumentInfo[]; }
interface BulkResult { batch: string; n_accepted: number; n_left: number; sample: Estimated; }
interface VersionInfo {
  version: string; origin: string; added_at: string; is_live: boolean; facts: Record<string, unknown>;
}
interface VersionList {
  live: string; versions: VersionInfo[];
  releases: { version: string; at: string; user: string; reason: string }[];
}
interface JobInfo {
  job: string; kind: string; state: string; step: string; done: number; total: number | null; user: string;
  started_at: string; ended_at: string | null; result: Record<string, unknown>;
}
interface TrackRecord {
  live: string; overall: Estimated; decided: number; corrected: number;
  periods: { start: string; end: string; right: Estimated }[];
  reliability: { probability: number; right: Estimated }[];
  distances: { distance: number; n: number }[];
  confusions: Confusion[];
  moved: { old: string; new: string; n_documents: number; n_moved: number } | null;
}
interface DisputeInfo {
  document_id: string; texts: Record<string, string>; is_row: boolean; labels: string[];
  label_names: string[];
  offered: string[]; offered_names: string[]; chosen_probability: number;
  offered_probability: number; user: string | null; at: string | null;
}

/** A view of the screen. */
interface View {
  element: HTMLElement;
  /** Take a key that no field has taken; return whether it was of use. */
  onKey?: (event: KeyboardEvent) => boolean;
  /** Called when another view is shown. */
  close?: () => void;
}
/** What views share. */
interface App {
  session: Session;
  project: ProjectFacts;
  outbox: import("./outbox.js").Outbox;
  mayDecide: boolean;
  mayAdminister: boolean;
  /** Ask a route of the project. */
  ask: <T>(method: string, path: string, body?: unknown) => Promise<T>;
  /** The address of a view of the project. */
  link: (view: string, argument?: string) => string;
}
