// @ts-check
// Sends a CSV file in parts, one after the other, and shows what became of each row.

/** How many rows a part has at most, and how many characters: the server takes bodies of a limited size. */
const MAX_ROWS = 50;
const MAX_LENGTH = 20_000;

/**
 * Finds the records of a CSV text: where each begins and ends, and its line. A line break inside of quotes belongs to its
 * record.
 * @param {string} text
 * @returns {{ start: number, end: number, line: number }[]}
 */
function recordsOf(text) {
  const records = [];
  let start = 0;
  let line = 1;
  let next = 1;
  let isQuoted = false;
  for (let index = 0; index <= text.length; index += 1) {
    const char = text[index];
    if (char === '"') isQuoted = !isQuoted;
    if (char === "\n") next += 1;
    if (index < text.length && (char !== "\n" || isQuoted)) continue;
    if (text.slice(start, index).trim()) records.push({ start, end: index, line });
    start = index + 1;
    line = next;
  }
  return records;
}

/**
 * Sends a part until the server takes it: it may be busy, or have counted too many requests.
 * @param {string} address
 * @param {URLSearchParams} body
 * @returns {Promise<Response>}
 */
async function send(address, body) {
  for (;;) {
    const response = await fetch(address, { method: "POST", body, headers: { "hx-request": "true" } });
    const seconds = Number(response.headers.get("retry-after"));
    if (![429, 503].includes(response.status) || !seconds) return response;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

/** @param {HTMLFormElement} form */
function watch(form) {
  /** @param {string} selector */
  const part = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));
  const file = /** @type {HTMLInputElement} */ (part("#file"));
  const area = /** @type {HTMLTextAreaElement} */ (part("#csv"));
  const progress = /** @type {HTMLProgressElement} */ (part("form[data-import] progress"));
  const importButton = /** @type {HTMLButtonElement} */ (part("button[value=import]"));
  const [status, table, rows] = [part("[data-status]"), part("[data-result]"), part("[data-result] tbody")];
  const buttons = /** @type {HTMLButtonElement[]} */ ([...form.querySelectorAll("button")]);
  let isRunning = false;

  /** @param {string | undefined} text @param {Record<string, number>} values */
  const filled = (text, values) => (text ?? "").replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

  /** @param {string} run */
  async function start(run) {
    const csv = file.files?.[0] ? await file.files[0].text() : area.value;
    const [header, ...records] = recordsOf(csv);
    if (!header || records.length === 0) {
      status.textContent = form.dataset.empty ?? "";
      return;
    }
    const seen = new Set();
    let [sent, good] = [0, 0];
    rows.replaceChildren();
    table.hidden = progress.hidden = false;
    progress.max = records.length;
    progress.value = 0;
    while (sent < records.length) {
      const token = String(new FormData(form).get("form-token"));
      const first = records[sent];
      let end = sent + 1;
      while (end < records.length && end - sent < MAX_ROWS && records[end].end - first.start < MAX_LENGTH) end += 1;
      // With the empty lines between the rows, so that the server can count lines.
      const text = `${csv.slice(header.start, header.end)}\n${csv.slice(first.start, records[end - 1].end)}`;
      const body = { "form-token": token, run, csv: text, firstLine: String(first.line) };
      const response = await send(form.action, new URLSearchParams(body));
      const answer = await response.text();
      const redirect = response.headers.get("hx-redirect");
      if (redirect) {
        location.assign(redirect);
        return;
      }
      if (!response.ok) {
        part("#notice").innerHTML = answer;
        status.textContent = form.dataset.lost ?? "";
        return;
      }
      const before = rows.children.length;
      rows.insertAdjacentHTML("beforeend", answer);
      for (const row of [...rows.children].slice(before)) {
        const email = /** @type {HTMLElement} */ (row).dataset.email?.toLowerCase();
        if (run !== "check" || !row.hasAttribute("data-good")) continue;
        // A check on the server compares only the rows of a part.
        if (seen.has(email)) {
          row.removeAttribute("data-good");
          row.lastElementChild?.replaceChildren(form.dataset.repeated ?? "");
        }
        seen.add(email);
      }
      good = rows.querySelectorAll("[data-good]").length;
      if (rows.querySelector("[data-stopped]")) break;
      sent = end;
      progress.value = sent;
      status.textContent = filled(form.dataset.progress, { done: sent, total: records.length });
    }
    const bad = rows.querySelectorAll("[data-email]").length - good;
    status.textContent = filled(run === "check" ? form.dataset.checked : form.dataset.imported, { good, bad });
    importButton.hidden = run !== "check" || good === 0;
  }

  part("[data-file]").hidden = false;
  for (const input of [file, area]) {
    input.addEventListener("input", () => {
      importButton.hidden = true;
    });
  }
  window.addEventListener("beforeunload", (event) => {
    if (isRunning) event.preventDefault();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const run = /** @type {HTMLButtonElement | null} */ (event.submitter)?.value ?? "check";
    part("#notice").replaceChildren();
    isRunning = true;
    for (const button of buttons) button.disabled = true;
    try {
      await start(run);
    } catch {
      status.textContent = form.dataset.lost ?? "";
    }
    for (const button of buttons) button.disabled = false;
    isRunning = false;
  });
}

const form = document.querySelector("form[data-import]");
if (form) watch(/** @type {HTMLFormElement} */ (form));
