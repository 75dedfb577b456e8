// @ts-check

/**
 * Shows each moment in the time zone of the person. The title keeps it in UTC.
 * @param {ParentNode} root
 */
function showLocalTimes(root) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  for (const element of root.querySelectorAll("time[datetime]:not([title])")) {
    const time = /** @type {HTMLTimeElement} */ (element);
    time.title = time.textContent ?? "";
    time.textContent = format.format(new Date(time.dateTime));
  }
}

showLocalTimes(document);
// What is wrong with a request says nothing about the next one.
document.addEventListener("htmx:beforeRequest", () => document.getElementById("notice")?.replaceChildren());
document.addEventListener("htmx:load", (event) => showLocalTimes(/** @type {HTMLElement} */ (event.target)));
