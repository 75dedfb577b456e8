//! A headless Chromium, driven by the W3C WebDriver protocol. It is the headless shell, which has no windows of its own
//! and so takes half the time.

use std::env;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::process::{Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Client, text};
use crate::process::{Process, TIMEOUT, clean_command, wait_for};

/// The name of an element in answers of the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// What ChromeDriver writes before its port.
const STARTED: &str = "started successfully on port";

/// A ChromeDriver in a process group of its own. The whole group is ended when this is dropped: ChromeDriver ends the
/// script that starts Debian's headless shell, but not always the browser.
struct DriverProcess(Process);

impl Drop for DriverProcess {
    fn drop(&mut self) {
        let _ = kill_process_group(self.0.pid(), Signal::KILL);
    }
}

/// Starts ChromeDriver on a free port. It takes a port that is free for IPv6, and ends if another process has the same
/// port for IPv4.
fn start_driver(directory: &Path) -> (DriverProcess, u16) {
    let driver = program("chromedriver");
    for _ in 0..5 {
        let mut command = clean_command(&driver);
        command.env("HOME", directory).env("TMPDIR", directory).arg("--port=0").process_group(0);
        let process = DriverProcess(Process::start(command));
        let line = process.0.output.wait_for_any(&[STARTED, "port not available"]);
        if line.contains(STARTED) {
            return (process, port(&line));
        }
    }
    panic!("ChromeDriver found no free port");
}

/// A browser with a fresh profile. It is closed when this is dropped.
pub(crate) struct Browser {
    driver: Client,
    session: String,
    _driver_process: DriverProcess,
    _profile: TempDir,
}

impl Browser {
    /// Opens a browser that knows only this host, at this address. So it cannot reach other machines.
    pub(crate) fn knowing(host: &str, address: SocketAddr) -> Self {
        Self::resolving(&format!("MAP {host} {}, MAP * ~NOTFOUND", address.ip()))
    }

    /// Opens a browser that knows only addresses of this machine, and no names. Each address is a site of its own.
    pub(crate) fn on_loopback() -> Self {
        Self::resolving("EXCLUDE 127.0.0.*, MAP * ~NOTFOUND")
    }

    fn resolving(rules: &str) -> Self {
        let chromium = program("chromium-headless-shell");
        let profile = TempDir::new().unwrap();
        let (process, port) = start_driver(profile.path());
        let driver = Client::of(SocketAddr::from(([127, 0, 0, 1], port)));
        let arguments = [
            "--headless",
            // Chromium refuses to run as root with its sandbox, and containers often lack what the sandbox needs.
            "--no-sandbox",
            // Containers often have a small /dev/shm.
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--no-proxy-server",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
            "--window-size=1280,3000",
            &format!("--host-resolver-rules={rules}"),
        ];
        let options = json!({ "binary": chromium, "args": arguments });
        let capabilities = json!({ "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "performance": "ALL", "browser": "ALL" },
        }});
        let answer = driver.post("/session", &json!({ "capabilities": capabilities })).expect(200)["value"].take();
        let browser = Self {
            driver,
            session: format!("/session/{}", text(&answer["sessionId"])),
            _driver_process: process,
            _profile: profile,
        };
        // A browser with windows lets the page in front write to the clipboard. The headless shell needs a permission.
        browser.devtools("Browser.grantPermissions", &json!({ "permissions": ["clipboardSanitizedWrite"] }));
        browser
    }

    pub(crate) fn open(&self, url: &str) {
        self.command("url", &json!({ "url": url })).unwrap();
    }

    /// Clicks the element at this XPath, once it exists and can be clicked.
    pub(crate) fn click(&self, xpath: &str) {
        wait_for(&format!("{xpath} to be clicked"), TIMEOUT, || {
            self.command(&format!("element/{}/click", self.find(xpath)?), &json!({})).ok()
        });
    }

    /// Types into the element at this XPath.
    pub(crate) fn type_into(&self, xpath: &str, keys: &str) {
        wait_for(&format!("{xpath} to be filled in"), TIMEOUT, || {
            self.command(&format!("element/{}/value", self.find(xpath)?), &json!({ "text": keys })).ok()
        });
    }

    /// Returns the text of the element at this XPath, once there is one.
    pub(crate) fn text_of(&self, xpath: &str) -> String {
        wait_for(&format!("a text in {xpath}"), TIMEOUT, || {
            let answer = self.driver.get(&format!("{}/element/{}/text", self.session, self.find(xpath)?));
            answer.body["value"].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
        })
    }

    /// Gives the browser an authenticator inside the device, whose user is verified (WebAuthn Level 3 §11).
    pub(crate) fn add_authenticator(&self) {
        let authenticator = json!({
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": true,
            "hasUserVerification": true,
            "isUserVerified": true,
        });
        self.command("webauthn/authenticator", &authenticator).unwrap();
    }

    /// Shows the page as a window of this width would, with this color scheme: `light` or `dark`.
    pub(crate) fn emulate(&self, width: u32, scheme: &str) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        for (command, parameters) in
            [("Emulation.setDeviceMetricsOverride", metrics), ("Emulation.setEmulatedMedia", media)]
        {
            self.devtools(command, &parameters);
        }
    }

    /// Makes the window this wide and this high.
    pub(crate) fn resize(&self, (width, height): (u32, u32)) {
        self.command("window/rect", &json!({ "width": width, "height": height })).unwrap();
    }

    /// Returns every URL that the browser has requested, from the browser's own log.
    pub(crate) fn requests(&self) -> Vec<String> {
        let entries = self.command("se/log", &json!({ "type": "performance" })).unwrap();
        let message =
            |entry: &Value| serde_json::from_str::<Value>(&text(&entry["message"])).unwrap()["message"].take();
        let messages = entries.as_array().unwrap().iter().map(message);
        let sent = messages.filter(|message| message["method"] == "Network.requestWillBeSent");
        sent.map(|message| text(&message["params"]["request"]["url"])).collect()
    }

    /// Returns what pages and the browser have written to the console since the last call.
    pub(crate) fn console(&self) -> Vec<String> {
        let entries = self.command("se/log", &json!({ "type": "browser" })).unwrap();
        let line = |entry: &Value| format!("{} {}", text(&entry["level"]), text(&entry["message"]));
        entries.as_array().unwrap().iter().map(line).collect()
    }

    /// Removes what a field contains.
    pub(crate) fn clear(&self, xpath: &str) {
        self.command(&format!("element/{}/clear", self.find(xpath).unwrap()), &json!({})).unwrap();
    }

    /// Writes a picture of the element at this XPath to a PNG file.
    pub(crate) fn screenshot(&self, xpath: &str, path: &Path) {
        let element = self.find(xpath).unwrap();
        let image = self.driver.get(&format!("{}/element/{element}/screenshot", self.session)).expect(200);
        std::fs::write(path, STANDARD.decode(text(&image["value"])).unwrap()).unwrap();
    }

    /// Runs a script in the page and returns its result.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("execute/sync", &json!({ "script": script, "args": [] })).unwrap()
    }

    /// Waits until a script returns this. What a browser does after it has drawn a page, such as to set the focus, is
    /// not yet true when an element is there.
    pub(crate) fn wait_for_result(&self, script: &str, expected: &Value) {
        wait_for(&format!("{expected} from {script}"), TIMEOUT, || (self.run(script) == *expected).then_some(()));
    }

    /// Runs a command of the DevTools protocol.
    fn devtools(&self, command: &str, parameters: &Value) {
        self.command("goog/cdp/execute", &json!({ "cmd": command, "params": parameters })).unwrap();
    }

    fn find(&self, xpath: &str) -> Option<String> {
        let found = self.command("element", &json!({ "using": "xpath", "value": xpath })).ok()?;
        Some(text(&found[ELEMENT]))
    }

    /// Runs a command. Returns its result or its error, for instance because an element does not exist yet.
    fn command(&self, command: &str, arguments: &Value) -> Result<Value, Value> {
        let mut answer = self.driver.post(&format!("{}/{command}", self.session), arguments);
        let value = answer.body["value"].take();
        if answer.status == 200 { Ok(value) } else { Err(value) }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // This must not panic: the test may have failed already.
        let _ = self.driver.try_delete(&self.session);
    }
}

fn program(name: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "needs {name}: run scripts/test or scripts/with-chromium, or install Debian's chromium-headless-shell and \
             chromium-driver"
        )
    })
}

fn port(line: &str) -> u16 {
    let (_, port) = line.split_once("on port ").unwrap();
    port.trim_end_matches('.').trim().parse().unwrap_or_else(|error| panic!("{error}: {line}"))
}
