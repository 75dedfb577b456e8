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
  const { width, height } = drawing.viewBox.baseVal;

  /** Returns the zoom in per cent. That of a drawing that fits is often none of the steps. */
  const present = () => {
    const box = drawing.getBoundingClientRect();
    return Math.round(100 * Math.min(box.width / width, box.height / height));
  };
  const show = () => {
    shown.textContent = `${present()} %`;
  };

  /**
   * Draws in another size, and keeps the middle of what is seen where it is.
   * @param {number} percent the size, or 0 for one that fits
   */
  const draw = (percent) => {
    const before = present();
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = frame;
    frame.classList.toggle("fit", percent === 0);
    drawing.setAttribute("width", String((width * (percent || 100)) / 100));
    drawing.setAttribute("height", String((height * (percent || 100)) / 100));
    const after = present();
    const moved = (/** @type {number} */ start, /** @type {number} */ size) =>
      ((start + size / 2) * after) / before - size / 2;
    frame.scrollTo(moved(scrollLeft, clientWidth), moved(scrollTop, clientHeight));
    show();
  };

  /**
   * Goes to the next larger step, to the next smaller one, or to a size that fits.
   * @param {number} by
   */
  const zoom = (by) => {
    const at = present();
    const next = by > 0 ? steps.find((step) => step > at) : steps.filter((step) => step < at).pop();
    if (by === 0 || next !== undefined) {
      draw(by === 0 ? 0 : (next ?? 0));
    }
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
  window.addEventListener("resize", show);
  show();
  document.getElementById("map-keys")?.removeAttribute("hidden");
}
