// @ts-check

/*
 * Zooms the map of organizations in place, also with the keys + and - inside the map. Without it, the links of the zoom
 * load the page again.
 */

const frame = document.getElementById("map");
const drawing = frame?.querySelector("svg");
const shown = document.getElementById("zoom");

if (frame && drawing && shown) {
  const steps = (frame.dataset.steps ?? "").split(" ").map(Number);
  let at = steps.indexOf(Number(frame.dataset.step));

  /**
   * Goes some steps further, and keeps the middle of what is seen where it is.
   * @param {number} by
   */
  const zoom = (by) => {
    const [before, after] = [steps[at], steps[at + by]];
    if (before === undefined || after === undefined) {
      return;
    }
    at += by;
    const { width, height } = drawing.viewBox.baseVal;
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = frame;
    drawing.setAttribute("width", String((width * after) / 100));
    drawing.setAttribute("height", String((height * after) / 100));
    const moved = (/** @type {number} */ start, /** @type {number} */ size) =>
      ((start + size / 2) * after) / before - size / 2;
    frame.scrollTo(moved(scrollLeft, clientWidth), moved(scrollTop, clientHeight));
    shown.textContent = `${after} %`;
  };

  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("[data-zoom]") : null;
    if (link instanceof HTMLElement && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      zoom(Number(link.dataset.zoom));
    }
  });
  frame.addEventListener("keydown", (event) => {
    const by = event.key === "+" ? 1 : event.key === "-" ? -1 : 0;
    if (by && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      zoom(by);
    }
  });
  document.getElementById("map-keys")?.removeAttribute("hidden");
}
