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
  const [status, problem] = [part("[data-status]"), part("[data-error]")];
  const [table, rows] = [part("[data-result]"), part("[data-result] tbody")];
  const buttons = /** @type {HTMLButtonElement[]} */ ([...form.querySelectorAll("button")]);
  let isRunning = false;
  let checked = "";

  /** @param {string | undefined} text @param {Record<string, number>} values */
  const filled = (text, values) => (text ?? "").replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

  /**
   * Returns an error with a text of the page.
   * @param {string} name
   */
  const because = (name) => new Error(form.dataset[name]);

  /** Reads the file, or what was pasted. A browser does not read a file that has changed since it was chosen. */
  async function read() {
    const chosen = file.files?.[0];
    if (!chosen) return area.value;
    let content;
    try {
      content = await chosen.arrayBuffer();
    } catch {
      file.value = "";
      throw because("changed");
    }
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(content);
    } catch {
      throw because("encoding");
    }
  }

  /**
   * Sends a part. Returns the rows of the answer.
   * @param {Record<string, string>} body
   */
  async function rowsOf(body) {
    const response = await send(form.action, new URLSearchParams(body)).catch(() => {
      throw because("lost");
    });
    const answer = await response.text();
    const redirect = response.headers.get("hx-redirect");
    if (redirect) {
      isRunning = false;
      location.assign(redirect);
      return null;
    }
    if (response.ok) return answer;
    const template = document.createElement("template");
    template.innerHTML = answer;
    throw new Error(template.content.textContent?.trim() || response.statusText);
  }

  /** @param {string} run */
  async function start(run) {
    const csv = await read();
    const [header, ...records] = recordsOf(csv);
    if (!header || records.length === 0) throw because("empty");
    if (run === "import" && csv !== checked) throw because("changed");
    const seen = new Set();
    let sent = 0;
    progress.hidden = false;
    progress.max = records.length;
    progress.value = 0;
    while (sent < records.length) {
      const [token, format] = ["form-token", "format"].map((name) => String(new FormData(form).get(name)));
      const first = records[sent];
      let end = sent + 1;
      while (end < records.length && end - sent < MAX_ROWS && records[end].end - first.start < MAX_LENGTH) end += 1;
      // With the empty lines between the rows, so that the server can count lines.
      const text = `${csv.slice(header.start, header.end)}\n${csv.slice(first.start, records[end - 1].end)}`;
      const answer = await rowsOf({ "form-token": token, run, format, csv: text, firstLine: String(first.line) });
      if (answer === null) return;
      table.hidden = false;
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
      if (rows.querySelector("[data-stopped]")) break;
      sent = end;
      progress.value = sent;
      status.textContent = filled(form.dataset.progress, { done: sent, total: records.length });
    }
    const [created, invited] = ["created", "invited"].map((kind) => rows.querySelectorAll(`[data-good=${kind}]`).length);
    const bad = rows.querySelectorAll("[data-email]").length - created - invited;
    const result = run === "check" ? form.dataset.checked : form.dataset.imported;
    status.textContent = filled(result, { created, invited, bad });
    checked = run === "check" ? csv : "";
    importButton.hidden = run !== "check" || created + invited === 0;
  }

  part("[data-file]").hidden = false;
  for (const input of [file, area, part("#format")]) {
    input.addEventListener("input", () => {
      importButton.hidden = table.hidden = true;
      status.textContent = problem.textContent = "";
    });
  }
  window.addEventListener("beforeunload", (event) => {
    if (isRunning) event.preventDefault();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const run = /** @type {HTMLButtonElement | null} */ (event.submitter)?.value === "import" ? "import" : "check";
    status.textContent = problem.textContent = "";
    rows.replaceChildren();
    table.hidden = true;
    isRunning = true;
    for (const button of buttons) button.disabled = true;
    try {
      await start(run);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const reached = rows.children.length > 0 ? "Some" : "None";
      status.textContent = "";
      problem.textContent = `${why} ${form.dataset[`${run}${reached}`]}`;
      importButton.hidden = true;
    }
    progress.hidden = true;
    (table.hidden ? form : table).scrollIntoView({ block: table.hidden ? "end" : "nearest" });
    for (const button of buttons) button.disabled = false;
    isRunning = false;
  });
}

const form = document.querySelector("form[data-import]");
if (form) watch(/** @type {HTMLFormElement} */ (form));
