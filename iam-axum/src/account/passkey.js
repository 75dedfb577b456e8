// The page on which a person logs in and adds passkeys. Tokens stay in this page and end with it.

const element = (id) => document.getElementById(id);
let token = null;
let challenge = null;

class Refused extends Error {
  constructor(problem) {
    super(problem.errors?.map((error) => `${error.field} ${error.message}`).join(", ") || problem.detail);
    this.problem = problem;
  }
}

async function call(method, path, body) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (body) headers["Content-Type"] = "application/json";
  const response = await fetch(`..${path}`, { method, headers, body: body && JSON.stringify(body) });
  const answer = response.status === 204 ? null : await response.json();
  if (!response.ok) throw new Refused(answer);
  return answer;
}

async function credentialFor(options) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return (await navigator.credentials.get({ publicKey })).toJSON();
}

function show(section) {
  for (const id of ["login", "second-factor", "account"]) element(id).hidden = id !== section;
}

function items(id, texts) {
  element(id).replaceChildren(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

// Removes what was typed: the next person at this computer must not find it.
function forget() {
  challenge = null;
  element("login-by-password").reset();
  element("second-factor").reset();
}

async function showAccount() {
  const [me, factors] = await Promise.all([call("GET", "/auth/me"), call("GET", "/auth/factors")]);
  element("status").textContent = `You are logged in as ${me.user.firstName} ${me.user.lastName}.`;
  const passkeys = factors.data.filter((factor) => factor.type === "passkey");
  items("passkeys", passkeys.map((passkey) => passkey.name));
  show("account");
}

function startAgain(status) {
  token = null;
  forget();
  element("recovery").hidden = true;
  items("codes", []);
  element("status").textContent = status;
  show("login");
}

async function enter(login) {
  token = login.accessToken;
  forget();
  await showAccount();
}

const actions = {
  async "login-by-passkey"() {
    const options = await call("POST", "/auth/passkeys/options", {});
    await enter(await call("POST", "/auth/passkeys/login", { credential: await credentialFor(options) }));
  },
  async "login-by-password"() {
    const body = { email: element("email").value, password: element("password").value };
    if (element("tenant").value) body.tenant = element("tenant").value;
    try {
      await enter(await call("POST", "/auth/login", body));
    } catch (error) {
      if (!error.problem?.challenge) throw error;
      challenge = error.problem.challenge;
      element("second-factor-by-passkey").hidden = !error.problem.methods.includes("passkey");
      show("second-factor");
    }
  },
  async "second-factor-by-passkey"() {
    const options = await call("POST", "/auth/login/second-factor/options", { challenge });
    await enter(await call("POST", "/auth/login/second-factor", { challenge, credential: await credentialFor(options) }));
  },
  async "second-factor"() {
    const typed = element("code").value.trim();
    const proof = /^\d{6}$/.test(typed) ? { code: typed } : { recoveryCode: typed };
    await enter(await call("POST", "/auth/login/second-factor", { challenge, ...proof }));
  },
  async register() {
    const options = await call("POST", "/auth/factors/passkeys/options");
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    const credential = (await navigator.credentials.create({ publicKey })).toJSON();
    const made = await call("POST", "/auth/factors/passkeys", { name: element("name").value, credential });
    if (made.recoveryCodes) {
      items("codes", made.recoveryCodes);
      element("recovery").hidden = false;
    }
    await showAccount();
  },
  async logout() {
    await call("POST", "/auth/logout");
    startAgain("You are logged out.");
  },
  async "start-again"() {
    startAgain("");
  },
};

for (const [id, action] of Object.entries(actions)) {
  element(id).addEventListener(element(id).tagName === "FORM" ? "submit" : "click", async (event) => {
    event.preventDefault();
    element("error").hidden = true;
    try {
      await action();
    } catch (error) {
      // The person has closed the dialog of the browser, or has no passkey here.
      const isCancelled = error.name === "NotAllowedError";
      element("error").textContent = isCancelled ? "No passkey was used." : error.message;
      // The session has ended, or has authenticated too long ago to add a passkey.
      if (token && error.problem?.status === 401) startAgain("Log in again.");
      element("error").hidden = false;
    }
  });
}
