// @ts-check
// Follows the audit log, and checks its entries by the proofs of RFC 6962.

/** @typedef {{ origin: string, size: number, root: string, text: string, signatures: string[] }} Checkpoint */
/** @typedef {{ note: string, key: string, at: string, since: string }} Kept */
/** @typedef {{ commitment: string, salt: string, values: string }} Opening */
/** @typedef {{ index: number, size: number, hashes: string[], statement: string, openings: Opening[] }} Inclusion */
/** @typedef {{ isGood: boolean | null, name: string, values?: Record<string, string> }} Finding */

/**
 * Returns an element that the page always has.
 * @param {string} id
 */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no ${id}`);
  return found;
}

const log = element("log");
const base = log.dataset.base ?? "";

/**
 * Returns a text of the page, with values in the place of their names.
 * @param {string} name
 * @param {Record<string, string>} [values]
 */
function text(name, values = {}) {
  const texts = /** @type {HTMLTemplateElement} */ (element("texts"));
  const found = texts.content.querySelector(`[data-text="${name}"]`)?.textContent ?? name;
  return found.replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
}

/**
 * Shows a moment in the time zone of the person.
 * @param {string} moment
 */
function shown(moment) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  return format.format(new Date(moment));
}

/**
 * Asks the console. Without a session, the page leads to sign-in.
 * @param {string} path
 */
async function ask(path) {
  const response = await fetch(`${base}/audit/${path}`, { headers: { "HX-Request": "true" } });
  const elsewhere = response.headers.get("HX-Redirect");
  if (elsewhere) {
    location.assign(elsewhere);
    throw new Error(text("ended"));
  }
  if (!response.ok) {
    const problem = document.createElement("template");
    problem.innerHTML = await response.text();
    throw new Error(problem.content.textContent?.trim() || response.statusText);
  }
  return response;
}

// Following.

/** How often new entries are asked for, and how often at most before a person must say so again. */
const PAUSE = 5_000;
const MOST_POLLS = 360;
const MOST_ENTRIES = 1_000;

/** How many entries a check of the log compares at most: as many as a page has. */
const MOST_CHECKED = 25;

const follow = /** @type {HTMLButtonElement} */ (element("follow"));
const followState = element("follow-state");
/** @type {{ timer: number, polls: number, filter: string, after: string | null } | null} */
let following = null;

/** @param {string} why */
function stopFollowing(why) {
  if (following) clearTimeout(following.timer);
  following = null;
  follow.setAttribute("aria-pressed", "false");
  followState.textContent = why;
}

/** Asks for new entries once. Returns whether there are more. */
async function poll() {
  const filter = document.querySelector("[data-news]")?.getAttribute("data-news");
  if (!following || filter === null || filter === undefined) return stopFollowing("");
  if (filter !== following.filter) {
    following.filter = filter;
    following.after = null;
  }
  const query = new URLSearchParams(filter);
  if (following.after !== null) query.set("after", following.after);
  const response = await ask(`news?${query}`);
  const template = document.createElement("template");
  template.innerHTML = await response.text();
  const found = template.content.querySelector("ol");
  // The person has stopped, or chosen another filter.
  const now = document.querySelector("[data-news]")?.getAttribute("data-news");
  if (!found || !following || now !== filter) return false;
  const items = [...found.children];
  const unknown = items.filter((item) => !document.getElementById(item.id));
  const list = document.querySelector("#entries > ol");
  if (following.after === null && list && items.length > 0 && unknown.length === items.length) {
    stopFollowing(text("gap"));
    return false;
  }
  following.after = found.dataset.after ?? null;
  if (list) {
    list.prepend(...unknown);
  } else if (unknown.length > 0) {
    document.querySelector("#entries > .empty")?.replaceWith(found);
  }
  if (unknown.length > 0) {
    for (const item of unknown) item.dispatchEvent(new Event("htmx:load", { bubbles: true }));
    followState.textContent = text("news", { count: String(unknown.length) });
  }
  if ((list?.children.length ?? 0) > MOST_ENTRIES) stopFollowing(text("long"));
  return found.dataset.more !== undefined;
}

async function followOn() {
  if (!following) return;
  try {
    let hasMore = false;
    if (!document.hidden) {
      following.polls += 1;
      hasMore = (await poll()) === true;
    }
    if (following && following.polls >= MOST_POLLS) stopFollowing(text("long"));
    if (following) following.timer = setTimeout(followOn, hasMore ? 0 : PAUSE);
  } catch (error) {
    stopFollowing(`${text("stopped")} ${error instanceof Error ? error.message : error}`);
  }
}

follow.addEventListener("click", () => {
  if (following) return stopFollowing("");
  following = { timer: 0, polls: 0, filter: "", after: null };
  follow.setAttribute("aria-pressed", "true");
  followState.textContent = text("following");
  followOn();
});

// Checking.

/** @param {string} base64 */
function bytes(base64) {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** @param {Uint8Array} found */
function hex(found) {
  return [...found].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {(Uint8Array | number)[]} parts */
async function sha256(...parts) {
  const all = parts.flatMap((part) => (typeof part === "number" ? [part] : [...part]));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(all)));
}

/** @param {string} value */
function utf8(value) {
  return new TextEncoder().encode(value);
}

/**
 * @param {number} index
 * @param {string} statement
 */
async function leaf(index, statement) {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(index));
  return sha256(0, number, await sha256(utf8(statement)));
}

/**
 * @param {Uint8Array} left
 * @param {Uint8Array} right
 */
function node(left, right) {
  return sha256(1, left, right);
}

/** @param {number} number */
function half(number) {
  return Math.floor(number / 2);
}

/**
 * Computes the root hash from a leaf (RFC 9162 §2.1.3.2). `null` if the proof cannot be of this leaf and this tree.
 * @param {Inclusion} proof
 */
async function rootOf({ index, size, hashes, statement }) {
  let [root, position, last] = [await leaf(index, statement), index, size - 1];
  for (const hash of hashes.map(bytes)) {
    if (last === 0) return null;
    if (position % 2 === 1 || position === last) {
      root = await node(hash, root);
      while (position % 2 === 0 && position !== 0) [position, last] = [half(position), half(last)];
    } else {
      root = await node(root, hash);
    }
    [position, last] = [half(position), half(last)];
  }
  return last === 0 ? root : null;
}

/**
 * Whether a tree starts with an earlier one (RFC 9162 §2.1.4.2).
 * @param {Checkpoint} older
 * @param {Checkpoint} newer
 * @param {string[]} hashes
 */
async function continues(older, newer, hashes) {
  if (older.size > newer.size) return false;
  if (older.size === newer.size) return older.root === newer.root;
  if (older.size === 0) return true;
  const path = hashes.map(bytes);
  if (Number.isInteger(Math.log2(older.size))) path.unshift(bytes(older.root));
  const [first, ...rest] = path;
  if (!first) return false;
  let [before, after, position, last] = [first, first, older.size - 1, newer.size - 1];
  while (position % 2 === 1) [position, last] = [half(position), half(last)];
  for (const hash of rest) {
    if (last === 0) return false;
    if (position % 2 === 1 || position === last) {
      before = await node(hash, before);
      after = await node(hash, after);
      while (position % 2 === 0 && position !== 0) [position, last] = [half(position), half(last)];
    } else {
      after = await node(after, hash);
    }
    [position, last] = [half(position), half(last)];
  }
  return last === 0 && hex(before) === hex(bytes(older.root)) && hex(after) === hex(bytes(newer.root));
}

/**
 * Reads a signed note. `null` if it is none.
 * @param {string} note
 * @returns {Checkpoint | null}
 */
function opened(note) {
  const end = note.indexOf("\n\n") + 1;
  const [origin, size, root] = note.slice(0, end).split("\n");
  if (!end || !origin || !root || !/^\d+$/.test(size ?? "")) return null;
  return { origin, size: Number(size), root, text: note.slice(0, end), signatures: note.slice(end + 1).split("\n") };
}

/**
 * Whether a key has signed a checkpoint. `null` if the browser does not have this algorithm.
 * @param {Checkpoint} checkpoint
 * @param {string} verifier
 */
async function isSigned(checkpoint, verifier) {
  const [name, identifier, ...rest] = verifier.split("+");
  const encoded = bytes(rest.join("+"));
  const computed = hex((await sha256(utf8(`${name}\n`), encoded)).slice(0, 4));
  if (name !== checkpoint.origin || computed !== identifier || encoded[0] !== 1) return false;
  let key;
  try {
    key = await crypto.subtle.importKey("raw", encoded.slice(1), "Ed25519", false, ["verify"]);
  } catch {
    return null;
  }
  for (const line of checkpoint.signatures) {
    const [mark, signer, value] = line.split(" ");
    if (mark !== "\u2014" || signer !== name || !value) continue;
    const signature = bytes(value);
    if (hex(signature.slice(0, 4)) !== identifier) continue;
    if (await crypto.subtle.verify("Ed25519", key, signature.slice(4), utf8(checkpoint.text))) return true;
  }
  return false;
}

const PLACE = `iam-checkpoint:${base}:${log.dataset.tenant}`;

/** @returns {Kept | null} */
function kept() {
  const found = localStorage.getItem(PLACE);
  return found ? JSON.parse(found) : null;
}

/**
 * Compares the present checkpoint with the one that this browser keeps.
 * @returns {Promise<{ earlier: Kept | null, note: string, key: string, present: Checkpoint, findings: Finding[] }>}
 */
async function comparedCheckpoint() {
  const earlier = kept();
  const { note, key } = await (await ask("checkpoint")).json();
  const present = opened(note);
  if (!present) throw new Error("The answer is not a checkpoint.");
  /** @type {Finding[]} */
  const findings = [];
  const signed = await isSigned(present, earlier?.key ?? key);
  const time = shown(earlier?.since ?? new Date().toISOString());
  if (earlier && earlier.key !== key) findings.push({ isGood: false, name: "other-key", values: { time } });
  else if (signed === null) findings.push({ isGood: null, name: "signature-unknown" });
  else if (!signed) findings.push({ isGood: false, name: "not-signed" });
  else findings.push({ isGood: true, name: earlier ? "signed" : "signed-first", values: { time } });
  if (earlier) {
    const older = opened(earlier.note);
    const at = shown(earlier.at);
    const values = { time: at, old: String(older?.size), size: String(present.size) };
    const isLonger = older !== null && older.size > 0 && older.size < present.size;
    const path = `consistency?from=${older?.size}&to=${present.size}`;
    const hashes = isLonger ? (await (await ask(path)).json()).hashes : [];
    const isContinued = older !== null && older.origin === present.origin && (await continues(older, present, hashes));
    findings.push({ isGood: isContinued, name: isContinued ? "grown" : "not-grown", values });
  }
  return { earlier, note, key, present, findings };
}

/** @param {Finding[]} findings */
function isBad(findings) {
  return findings.some(({ isGood }) => isGood === false);
}

/**
 * Keeps the present checkpoint, unless something does not match.
 * @param {{ earlier: Kept | null, note: string, key: string, findings: Finding[] }} compared
 */
function keep({ earlier, note, key, findings }) {
  if (isBad(findings)) return;
  const at = new Date().toISOString();
  localStorage.setItem(PLACE, JSON.stringify({ note, key, at, since: earlier?.since ?? at }));
}

/**
 * Compares an entry with the log that a checkpoint is about.
 * @param {Element} item
 * @param {Checkpoint} present
 */
async function proven(item, present) {
  const id = item.id.replace("entry-", "");
  /** @type {Inclusion} */
  const proof = await (await ask(`${id}/proof?size=${present.size}`)).json();
  const root = await rootOf(proof);
  const isIncluded = proof.size === present.size && root !== null && hex(root) === hex(bytes(present.root));
  const values = { size: String(present.size), hashes: String(proof.hashes.length) };
  /** @type {Finding[]} */
  const findings = [{ isGood: isIncluded, name: isIncluded ? "included" : "not-included", values }];
  const statement = JSON.parse(proof.statement);
  for (const { commitment, salt, values: withheld } of proof.openings) {
    const isSame = hex(await sha256(bytes(salt), utf8(withheld))) === statement[commitment];
    if (!isSame) findings.push({ isGood: false, name: "not-personal" });
  }
  const isWhole = proof.openings.length === 2;
  findings.push({ isGood: isWhole ? true : null, name: isWhole ? "personal" : "erased" });
  const { action, resourceType, createdAt } = /** @type {HTMLElement} */ (item).dataset;
  const isShown =
    statement.id === id &&
    statement.action === action &&
    statement.resourceType === resourceType &&
    statement.createdAt === createdAt;
  findings.push({ isGood: isShown, name: isShown ? "shown" : "not-shown" });
  const withheld = proof.openings.map(({ commitment, values }) => `${commitment}: ${values}`);
  return { index: proof.index, findings, evidence: [proof.statement, ...withheld] };
}

/**
 * Checks one entry.
 * @param {Element} item
 * @param {HTMLElement} place
 */
async function checkEntry(item, place) {
  const compared = await comparedCheckpoint();
  const { earlier, present, note, key } = compared;
  const { index, findings: found, evidence } = await proven(item, present);
  const findings = [...found, ...compared.findings];
  const older = earlier ? opened(earlier.note) : null;
  const isOld = older !== null && index < older.size;
  const time = shown(earlier?.at ?? new Date().toISOString());
  keep({ ...compared, findings });
  // This follows from the findings, so it is said only if all of them are good.
  const said = text(isOld ? "protected" : earlier ? "newer" : "first", { time });
  showFindings(place, text("good"), [said], findings, [...evidence, note, key]);
}

/**
 * Checks the whole log against the checkpoint that this browser keeps, and the entries of the page against the log.
 * @param {HTMLElement} place
 */
async function checkLog(place) {
  const compared = await comparedCheckpoint();
  const { earlier, present, note, key } = compared;
  const findings = [...compared.findings];
  const items = [...document.querySelectorAll("#entries li[data-action]")].slice(0, MOST_CHECKED);
  let checked = 0;
  /** @type {string[]} */
  const reasons = [];
  for (const item of items) {
    place.textContent = text("checking", { done: String(checked), count: String(items.length) });
    try {
      const found = (await proven(item, present)).findings;
      const sentence = item.querySelector("strong")?.textContent ?? "";
      if (isBad(found)) findings.push({ isGood: false, name: "entry-differs", values: { sentence } });
      checked += 1;
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  keep({ ...compared, findings });
  const said = [text("log-compared", { count: String(checked) })];
  if (!earlier) said.unshift(text("log-kept"));
  if (reasons[0]) said.push(text("log-waiting", { count: String(reasons.length), why: reasons[0] }));
  const title = earlier ? text("log-good", { time: shown(earlier.at) }) : text("log-first");
  showFindings(place, title, said, findings, [note, key]);
}

/**
 * @param {string} tag
 * @param {string} content
 */
function made(tag, content) {
  const found = document.createElement(tag);
  found.textContent = content;
  return found;
}

/**
 * Shows what a check has found: what is wrong, or the title and what follows from the findings.
 * @param {HTMLElement} place
 * @param {string} title
 * @param {string[]} said
 * @param {Finding[]} findings
 * @param {string[]} evidence
 */
function showFindings(place, title, said, findings, evidence) {
  const wrong = findings.filter(({ isGood }) => isGood === false).map(({ name, values }) => text(name, values));
  const strong = made("strong", wrong.length > 0 ? text("bad") : title);
  strong.className = wrong.length > 0 ? "error" : "good";
  const sentences = wrong.length > 0 ? [...wrong, text("operator")] : said;
  const list = document.createElement("ul");
  for (const { isGood, name, values } of findings) {
    const mark = isGood === null ? "mark-unknown" : isGood ? "mark-good" : "mark-bad";
    list.append(made("li", `${text(mark)} ${text(name, values)}`));
  }
  for (const name of ["limit-truth", "limit-others", "limit-script"]) {
    list.append(made("li", `${text("mark-unknown")} ${text(name)}`));
  }
  const code = made("pre", evidence.join("\n\n"));
  code.tabIndex = 0;
  const details = document.createElement("details");
  details.append(made("summary", text("how")), list, made("strong", text("evidence")), code);
  place.replaceChildren(strong, ...sentences.map((sentence) => made("p", sentence)), details);
}

/**
 * Runs a check while its button is disabled. Then the focus is on the result.
 * @param {HTMLButtonElement} button
 * @param {HTMLElement} place
 * @param {() => Promise<void>} check
 */
async function run(button, place, check) {
  place.className = "checked";
  place.tabIndex = -1;
  button.disabled = true;
  try {
    if (!window.isSecureContext) throw new Error(text("insecure"));
    await check();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    place.replaceChildren(made("strong", text("unknown")), made("p", why));
  }
  button.disabled = false;
  place.focus();
}

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target.closest("button") : null;
  if (target?.id === "check-log") {
    const place = element("log-checked");
    run(target, place, () => checkLog(place));
  }
  const item = target?.closest("li");
  if (!target?.hasAttribute("data-check") || !item) return;
  const place = item.querySelector(".checked") ?? document.createElement("div");
  if (!(place instanceof HTMLElement)) return;
  target.after(place);
  run(target, place, () => checkEntry(item, place));
});

// What was wrong with a field of the filter says nothing about its new value.
document.addEventListener("input", (event) => {
  const input = event.target instanceof Element ? event.target : null;
  if (!input?.closest("form[role=search]")) return;
  input.removeAttribute("aria-invalid");
  input.closest(".field")?.querySelector(".error")?.remove();
});

/** A checkpoint that is older than this is replaced when the page is loaded, so that it covers newer entries. */
const FRESH = 60 * 60 * 1_000;

async function keepCheckpoint() {
  const earlier = kept();
  if (!window.isSecureContext || (earlier && Date.now() - Date.parse(earlier.at) < FRESH)) return;
  const compared = await comparedCheckpoint();
  keep(compared);
  const wrong = compared.findings.filter(({ isGood }) => isGood === false);
  const alarm = wrong.map(({ name, values }) => text(name, values));
  if (wrong.length > 0) element("alarm").textContent = [...alarm, text("operator")].join(" ");
}

document.documentElement.classList.add("scripted");
// Without a checkpoint, the page shows the log as before.
keepCheckpoint().catch((error) => console.warn(error));
