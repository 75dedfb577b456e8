// @ts-check
// Buttons that a passkey completes. Browsers offer passkeys to scripts only, so a button is hidden until this runs.

/**
 * Asks the browser for the answer of a passkey. Without options from the server, there is none: then the server gets
 * the form without an answer, and shows why.
 * @param {HTMLButtonElement} button
 * @param {HTMLFormElement} form
 * @returns {Promise<string>}
 */
async function answerOf(button, form) {
  const token = new FormData(form).get("form-token");
  const body = new URLSearchParams(typeof token === "string" ? { "form-token": token } : {});
  const response = await fetch(button.dataset.options ?? "", { method: "POST", body });
  if (!response.headers.get("content-type")?.startsWith("application/json")) return "";
  const options = await response.json();
  const credential =
    button.dataset.passkey === "create"
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  return JSON.stringify(/** @type {PublicKeyCredential} */ (credential).toJSON());
}

/**
 * Sends the form of a button with the answer of a passkey.
 * @param {HTMLButtonElement} button
 * @param {HTMLFormElement} form
 */
async function send(button, form) {
  const error = form.querySelector("[data-passkey-error]");
  error?.replaceChildren();
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = button.dataset.field ?? "";
  try {
    field.value = await answerOf(button, form);
  } catch (reason) {
    const isKnown = reason instanceof DOMException && reason.name === "InvalidStateError";
    error?.replaceChildren((isKnown ? button.dataset.known : button.dataset.cancelled) ?? "");
    return;
  }
  form.append(field);
  form.submit();
}

const isSupported = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;
for (const element of document.querySelectorAll("button[data-passkey]")) {
  const button = /** @type {HTMLButtonElement} */ (element);
  const form = button.form;
  if (!isSupported || !form) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    // The other fields of the form come first. A second click must not begin another ceremony.
    if (button.dataset.passkey === "create" && !form.reportValidity()) return;
    button.disabled = true;
    await send(button, form);
    button.disabled = false;
  });
}
