// Ask the service.

const BASE = new URL("v1/", document.baseURI);
const UNREACHABLE = [502, 503, 504];
const RETRY_MS = 1000;

/** An answer that says what is wrong. */
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {string} detail
   */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** The service does not answer now; asking again later helps. */
export class Unreachable extends Error {}

/**
 * Ask a route and return its answer.
 * @template T
 * @param {string} method
 * @param {string} path below /v1
 * @param {unknown} [body]
 * @returns {Promise<T>}
 */
export async function call(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json", "X-Taxonomist-Screen": "1" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(new URL(path, BASE), {
      method, headers, credentials: "same-origin",
      keepalive: method === "PUT", // a page that is left still gives back what it had open
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Unreachable("The service cannot be reached.");
  }
  if (UNREACHABLE.includes(answer.status)) throw new Unreachable("The service is busy.");
  if (answer.status === 204) return /** @type {T} */ (undefined);
  const found = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(answer.status, found?.detail ?? answer.statusText);
  return found;
}

/**
 * Ask again and again until the service answers.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {() => boolean} isWanted whether the answer still matters
 * @returns {Promise<T>}
 */
export async function patiently(ask, isWanted) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Unreachable) || !isWanted()) throw error;
      await new Promise((go) => { setTimeout(go, RETRY_MS); });
    }
  }
}

/**
 * Return a path with a query; values that are null are left out.
 * @param {string} path
 * @param {Record<string, string | number | boolean | null | undefined>} values
 */
export function query(path, values) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== "") found.set(name, String(value));
  }
  const text = found.toString();
  return text ? `${path}?${text}` : path;
}

/** A random key. */
export function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0")).join("");
}
