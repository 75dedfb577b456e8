// @ts-check

/*
 * Moves an organization by dragging it onto another one. The form that is sent leads to the preview of the move. The
 * page of an organization has a form for those who do not drag.
 */

const form = document.getElementById("move");

/** @type {HTMLElement | null} */
let dragged = null;

/**
 * Returns where an event would move the organization: to another organization, or to the top.
 * @param {DragEvent} event
 * @returns {HTMLElement | null}
 */
function target(event) {
  const place = event.target instanceof Element ? event.target.closest("[data-organization], [data-root]") : null;
  // Nothing can be moved below itself.
  const isBelow = dragged?.closest(".node")?.contains(place);
  return place instanceof HTMLElement && !isBelow ? place : null;
}

/** @param {HTMLElement | null} place */
function mark(place) {
  for (const marked of document.querySelectorAll(".over")) {
    marked.classList.toggle("over", marked === place);
  }
  place?.classList.add("over");
}

if (form instanceof HTMLFormElement) {
  /**
   * @param {string} name
   * @param {string} value
   */
  const fill = (name, value) => {
    const input = form.elements.namedItem(name);
    if (input instanceof HTMLInputElement) {
      input.value = value;
    }
  };

  document.addEventListener("dragstart", (event) => {
    const node = event.target instanceof Element ? event.target.closest("[data-organization]") : null;
    dragged = node instanceof HTMLElement ? node : null;
    if (dragged && event.dataTransfer) {
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", dragged.textContent?.trim() ?? "");
      document.body.classList.add("dragging");
    }
  });
  document.addEventListener("dragover", (event) => {
    const place = dragged && target(event);
    mark(place);
    if (place) {
      event.preventDefault();
    }
  });
  document.addEventListener("drop", (event) => {
    const place = dragged && target(event);
    if (!dragged || !place) {
      return;
    }
    event.preventDefault();
    const parent = place.dataset.organization;
    fill("version", dragged.dataset.version ?? "");
    fill("place", parent ? "below" : "top");
    fill("parent", parent ?? "");
    form.action = `${form.dataset.base}${dragged.dataset.organization}/move`;
    form.requestSubmit();
  });
  document.addEventListener("dragend", () => {
    dragged = null;
    mark(null);
    document.body.classList.remove("dragging");
  });
}
