// @ts-check

/**
 * Shows each moment in the time zone of the person, and each day, which is one in UTC, as people write it. The title
 * keeps what the page has said.
 * @param {ParentNode} root
 */
function showLocalTimes(root) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  const formatDay = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeZone: "UTC" });
  for (const element of root.querySelectorAll("time[datetime]:not([title])")) {
    const time = /** @type {HTMLTimeElement} */ (element);
    time.title = time.textContent ?? "";
    time.textContent = (time.dateTime.includes("T") ? format : formatDay).format(new Date(time.dateTime));
  }
}

/** Names the time zone of the moments above. */
function showZone() {
  const parts = new Intl.DateTimeFormat(document.documentElement.lang, { timeZoneName: "short" }).formatToParts();
  const zone = parts.find((part) => part.type === "timeZoneName")?.value ?? "";
  for (const element of document.querySelectorAll("[data-zone]")) {
    element.textContent = (/** @type {HTMLElement} */ (element).dataset.zone ?? "").replace("{zone}", zone);
  }
}

/** Says what a moment that is typed in UTC is in the time zone of the person. */
function sayTypedMoments() {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  for (const element of document.querySelectorAll("[data-local]")) {
    const said = /** @type {HTMLElement} */ (element);
    const field = document.getElementById(said.dataset.local ?? "");
    if (!(field instanceof HTMLInputElement)) continue;
    const say = () => {
      const moment = new Date(`${field.value}Z`);
      said.hidden = Number.isNaN(moment.getTime());
      said.textContent = said.hidden ? "" : (said.dataset.text ?? "").replace("{time}", format.format(moment));
    };
    say();
    field.addEventListener("input", say);
  }
}

/**
 * Leads to the first field that must be corrected.
 * @param {ParentNode} root
 */
function focusMistake(root) {
  const field = root.querySelector("[aria-invalid='true']");
  if (field instanceof HTMLElement) field.focus();
}

/** Lets a person see a password. It is hidden again before it is sent, so that browsers do not suggest it to others. */
function offerPasswords() {
  for (const box of document.querySelectorAll("input[data-reveals]")) {
    const field = document.getElementById(/** @type {HTMLElement} */ (box).dataset.reveals ?? "");
    if (!(box instanceof HTMLInputElement && field instanceof HTMLInputElement)) continue;
    const show = () => (field.type = box.checked ? "text" : "password");
    // A browser may keep the mark of the box when the page is loaded again.
    show();
    box.addEventListener("change", show);
    box.form?.addEventListener("submit", () => {
      box.checked = false;
      show();
    });
    box.closest("label")?.removeAttribute("hidden");
  }
}

/** Returns the address of the page, without empty filters and without what it says about the last action. */
function address() {
  const link = new URL(location.href);
  for (const [name, value] of [...link.searchParams]) {
    if (value === "" || name === "done") link.searchParams.delete(name);
  }
  return link.href;
}

/** Lets a person copy the link of a list, and secrets that are shown only once, or keep them in a file. */
function offerCopies() {
  for (const element of document.querySelectorAll("[data-copies], [data-link]")) {
    const place = /** @type {HTMLElement} */ (element);
    const codes = place.dataset.copies ? document.querySelectorAll(`#${place.dataset.copies} code`) : [];
    const texts = [...codes].map((code) => /** @type {HTMLElement} */ (code).dataset.plain ?? code.textContent ?? "");
    const text = texts.join("\n");
    const said = place.querySelector("[role='status']");
    const button = place.querySelector("button");
    // Browsers have no clipboard for a page that came without TLS from another machine.
    if (button) button.hidden = !navigator.clipboard;
    button?.addEventListener("click", async () => {
      if (!(said instanceof HTMLElement)) return;
      // Screen readers say a text again only if it has changed.
      said.textContent = "";
      const copied = codes.length > 0 ? text : address();
      const isCopied = await navigator.clipboard.writeText(copied).then(() => true, () => false);
      said.textContent = (isCopied ? said.dataset.copied : said.dataset.refused) ?? "";
    });
    const link = place.querySelector("a[download]");
    if (link instanceof HTMLAnchorElement) {
      link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/plain" }));
    }
    place.hidden = false;
  }
}

/**
 * Opens a palette in place of the page Find: by its button, by Ctrl+K or Cmd+K, and by the key / while no field has the
 * focus. The focus stays in its field, which names the active result.
 */
function offerPalette() {
  const button = document.getElementById("find");
  const palette = document.getElementById("palette");
  const field = document.getElementById("palette-q");
  if (!(button && palette instanceof HTMLDialogElement && field instanceof HTMLInputElement)) return;
  /** @type {HTMLElement[]} */
  let options = [];
  let active = 0;
  /** @param {number} next */
  const mark = (next) => {
    options[active]?.setAttribute("aria-selected", "false");
    active = next;
    const option = options[active];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-expanded", String(options.length > 0));
    if (option) field.setAttribute("aria-activedescendant", option.id);
    else field.removeAttribute("aria-activedescendant");
  };
  const open = () => {
    palette.showModal();
    field.select();
  };
  button.setAttribute("aria-haspopup", "dialog");
  button.setAttribute("aria-keyshortcuts", "/ Control+K Meta+K");
  button.querySelector("kbd")?.removeAttribute("hidden");
  button.addEventListener("click", (event) => {
    event.preventDefault();
    open();
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const isChord = event.key.toLowerCase() === "k" && !event.shiftKey && event.ctrlKey !== event.metaKey;
    const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey;
    const isTyped = event.target instanceof Element && event.target.closest("input, select, textarea, dialog");
    if (!isChord && (!isSlash || isTyped)) return;
    event.preventDefault();
    open();
  });
  field.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && options.length > 0) {
      event.preventDefault();
      mark((active + step + options.length) % options.length);
    } else if (event.key === "Enter" && !event.isComposing && options[active]) {
      event.preventDefault();
      options[active].click();
    }
  });
  // The results of before are not those of the new text. Until these come, the key Enter leads to the page Find.
  field.addEventListener("input", () => {
    mark(-1);
    options = [];
  });
  palette.addEventListener("htmx:afterSwap", () => {
    options = /** @type {HTMLElement[]} */ ([...palette.querySelectorAll("[role='option']")]);
    mark(0);
  });
  // What is wrong with a request is said in the palette, which covers the page.
  palette.addEventListener("htmx:beforeSwap", (event) => {
    /** @type {CustomEvent} */ (event).detail.target = document.getElementById("palette-found");
  });
  // A browser may show the page again as it was.
  window.addEventListener("pagehide", () => palette.close());
}

/** Closes the menu of the account when the person goes on elsewhere, because it covers links, and by the key Escape. */
function closeAccountMenu() {
  const menu = document.querySelector("details.me");
  if (!(menu instanceof HTMLDetailsElement)) return;
  /** @param {EventTarget | null} place */
  const leaveFor = (place) => {
    if (place instanceof Node && !menu.contains(place)) menu.open = false;
  };
  document.addEventListener("click", (event) => leaveFor(event.target));
  menu.addEventListener("focusout", (event) => leaveFor(event.relatedTarget));
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
}

/** Sends a form once, although the person presses twice. A page that is shown again sends it again. */
function sendOnce() {
  /** @type {Set<HTMLFormElement>} */
  const sent = new Set();
  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (event.defaultPrevented || form.method !== "post") return;
    if (sent.has(form)) event.preventDefault();
    sent.add(form);
  });
  window.addEventListener("pageshow", () => sent.clear());
}

/**
 * Shows what can be done with the selected lines of a list only if there are some, and how many. Lets a person select
 * all lines by the box in the head.
 */
function countSelected() {
  const element = document.querySelector("[data-selected]");
  const form = element?.closest("form");
  if (!(element instanceof HTMLElement && form)) return;
  const fields = () => {
    const found = [...form.elements].filter((field) => field instanceof HTMLInputElement);
    return /** @type {HTMLInputElement[]} */ (found);
  };
  const boxes = () => fields().filter((field) => field.name === "selected");
  // The head comes with the list, which a filter replaces.
  const all = () => fields().find((field) => field.dataset.all !== undefined);
  const say = () => {
    const offered = boxes();
    const count = offered.filter((box) => box.checked).length;
    const text = element.dataset.text?.replace("{count}", `${count}`) ?? "";
    form.hidden = count === 0;
    if (element.textContent !== text) element.textContent = text;
    const box = all();
    if (!box) return;
    box.checked = count > 0 && count === offered.length;
    box.indeterminate = count > 0 && count < offered.length;
    box.closest("label")?.removeAttribute("hidden");
  };
  document.addEventListener("change", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement && box.form === form)) return;
    if (box === all()) for (const other of boxes()) other.checked = box.checked;
    say();
    // The bar must not cover the line that brings it up.
    if (box.name === "selected") box.scrollIntoView({ block: "nearest" });
  });
  // The boxes are empty only after this event.
  form.addEventListener("reset", () => setTimeout(say));
  document.addEventListener("htmx:afterSettle", say);
  window.addEventListener("pageshow", say);
  form.classList.add("scripted");
  say();
}

/** Says how many boxes of each group are chosen. */
function countChosen() {
  for (const element of document.querySelectorAll("[data-count]")) {
    const said = /** @type {HTMLElement} */ (element);
    const group = said.closest("[data-group]");
    if (!group) continue;
    const say = () => {
      const boxes = [...group.querySelectorAll("input")];
      const chosen = boxes.filter((box) => box.checked).length;
      const text = (said.dataset.count ?? "").replace("{chosen}", `${chosen}`);
      said.textContent = text.replace("{all}", `${boxes.length}`);
    };
    group.addEventListener("change", say);
    // A browser may show the page again with the boxes as they were.
    window.addEventListener("pageshow", say);
  }
}

/** Closes a menu of actions by a click elsewhere, and by the key Escape. */
function closeMenus() {
  /** @param {Event} event */
  const close = (event) => {
    for (const element of document.querySelectorAll("details.more[open]")) {
      const menu = /** @type {HTMLDetailsElement} */ (element);
      if (event instanceof KeyboardEvent) menu.querySelector("summary")?.focus();
      else if (event.target instanceof Node && menu.contains(event.target)) continue;
      menu.open = false;
    }
  };
  document.addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close(event);
  });
}

/** Hides the permissions of a form that do not have all typed words. Those that are chosen stay. */
function filterPermissions() {
  const place = document.querySelector("[data-filters]");
  const field = place?.querySelector("input");
  const all = place?.closest("fieldset");
  if (!(place instanceof HTMLElement && field && all)) return;
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    const isFiltered = field.value.trim() !== "";
    for (const element of all.querySelectorAll("[data-group]")) {
      const group = /** @type {HTMLElement} */ (element);
      const choices = /** @type {HTMLElement[]} */ ([...group.querySelectorAll("label.choice")]);
      for (const choice of choices) {
        const text = choice.textContent?.toLowerCase() ?? "";
        const isChosen = choice.querySelector("input")?.checked ?? false;
        choice.hidden = !isChosen && !words.every((word) => text.includes(word));
      }
      group.hidden = choices.every((choice) => choice.hidden);
      const hasChosen = choices.some((choice) => choice.querySelector("input")?.checked);
      if (group instanceof HTMLDetailsElement) group.open = isFiltered || hasChosen;
    }
  };
  field.addEventListener("input", show);
  // The key Enter in this field does not send the form.
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  place.hidden = false;
  show();
}

sendOnce();
countSelected();
countChosen();
closeMenus();
filterPermissions();
showLocalTimes(document);
showZone();
sayTypedMoments();
offerPasswords();
offerCopies();
offerPalette();
closeAccountMenu();
focusMistake(document);
// What is wrong with a request says nothing about the next one.
document.addEventListener("htmx:beforeRequest", () => document.getElementById("notice")?.replaceChildren());
document.addEventListener("htmx:load", (event) => {
  const part = /** @type {HTMLElement} */ (event.target);
  showLocalTimes(part);
  // htmx also says this about the page itself, which has its focus already.
  if (part !== document.body) focusMistake(part);
});
