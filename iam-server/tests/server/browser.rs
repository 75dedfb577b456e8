//! Swagger UI in a real browser: a user who has only the page gets an answer from the API.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::PASSWORD;
use crate::process::{Home, TIMEOUT, wait_for};
use crate::webdriver::Browser;

/// This is not a name of this machine: on localhost, Swagger UI leaves out things that it does elsewhere.
const HOST: &str = "iam.test";
const EMAIL: &str = "grace@navy.example";

/// The operation of the page with this method and path.
fn operation(method: &str, path: &str) -> String {
    format!("//div[contains(@class, 'opblock-{method}')][.//span[@data-path='{path}']]")
}

/// Opens an operation and sends its request. Returns the path of its answer.
fn execute(browser: &Browser, operation: &str, body: Option<&Value>) -> String {
    browser.click(&format!("{operation}//button[contains(@class, 'opblock-summary-control')]"));
    if let Some(body) = body {
        let input = format!("{operation}//textarea[contains(@class, 'body-param__text')]");
        // Control and A select the example that is there; the keys after it replace it.
        browser.type_into(&input, &format!("\u{e009}a\u{e000}{body}"));
    }
    browser.click(&format!("{operation}//button[contains(@class, 'execute')]"));
    format!("{operation}//table[contains(@class, 'live-responses-table')]//tr[@class='response']")
}

#[test]
fn users_are_listed_from_the_documentation_page() {
    let home = Home::new();
    let server = home.serve();
    server.client().register(EMAIL);
    let origin = format!("http://{HOST}:{}", server.address.port());
    let browser = Browser::knowing(HOST, server.address);

    browser.open(&format!("{origin}/docs"));
    // The page takes the token over from the answer to a login.
    let login = json!({ "email": EMAIL, "password": PASSWORD });
    let answer = execute(&browser, &operation("post", "/auth/login"), Some(&login));
    let status = browser.text_of(&format!("{answer}//td[contains(@class, 'response-col_status')]"));
    assert!(status.starts_with("200"), "{status}");

    let operation = operation("get", "/users");
    let answer = execute(&browser, &operation, None);
    let shown = browser.text_of(&format!("{operation}//div[contains(@class, 'opblock-section')]/.."));
    assert!(shown.contains("users:read"), "the page shows the permission: {shown}");
    let status = browser.text_of(&format!("{answer}//td[contains(@class, 'response-col_status')]"));
    browser.screenshot(&operation, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("swagger-ui.png"));
    assert!(status.starts_with("200"), "{status}");
    let body = browser.text_of(&format!("{answer}//td[contains(@class, 'response-col_description')]"));
    assert!(body.contains(EMAIL), "{body}");

    let refused = violations(&browser);
    assert!(refused.is_empty(), "the page does what its policy refuses: {refused:#?}");
    // The policy is in force, and the console shows what it refuses. Otherwise the check above would prove nothing.
    browser.run("document.body.appendChild(document.createElement('script')).text = 'window.isInjected = true'");
    let lines = wait_for("a violation", TIMEOUT, || Some(violations(&browser)).filter(|lines| !lines.is_empty()));
    assert!(lines[0].contains("script-src"), "{lines:#?}");
    assert_eq!(browser.run("return window.isInjected ?? null"), Value::Null);

    let requests = browser.requests();
    let asked = |url: &String| url.starts_with(&format!("{origin}/api/v1/users"));
    assert!(requests.iter().any(asked), "{requests:#?}");
    let elsewhere: Vec<&String> = requests.iter().filter(|url| leaves(url, &origin)).collect();
    assert!(elsewhere.is_empty(), "the page sends requests to other hosts: {elsewhere:#?}");
}

/// The examples of the page are sent as they stand, without a login and without another program.
#[test]
fn the_page_alone_leads_from_the_registration_to_the_audit_log() {
    let home = Home::new();
    let server = home.serve();
    let browser = Browser::knowing(HOST, server.address);
    browser.open(&format!("http://{HOST}:{}/docs", server.address.port()));

    for (method, path, expected, contained) in [
        ("post", "/auth/register", "201", "charles@example.com"),
        ("post", "/users", "201", "mary@example.com"),
        ("get", "/users", "200", "mary@example.com"),
        ("get", "/audit-logs", "200", "mary@example.com"),
    ] {
        let answer = execute(&browser, &operation(method, path), None);
        let body = browser.text_of(&format!("{answer}//td[contains(@class, 'response-col_description')]"));
        let status = browser.text_of(&format!("{answer}//td[contains(@class, 'response-col_status')]"));
        assert!(status.starts_with(expected), "{method} {path}: {status} {body}");
        assert!(body.contains(contained), "{method} {path}: {body}");
    }
    server
        .client()
        .post("/api/v1/auth/login", &json!({ "email": "mary@example.com", "password": "Passw0rd!" }))
        .expect(200);
}

#[test]
fn the_book_is_read_beside_the_documentation_page() {
    let home = Home::new();
    let server = home.serve();
    let browser = Browser::knowing(HOST, server.address);
    let origin = format!("http://{HOST}:{}", server.address.port());
    browser.open(&format!("{origin}/docs"));
    let link = browser.text_of("(//a[contains(@href, '/docs/book/audit')])[1]");
    assert_eq!(link, "More in the book");

    browser.open(&format!("{origin}/docs/book/audit"));
    assert_eq!(browser.text_of("//h1"), "The audit log");
    browser.click("//nav//a[text()='Performance']");
    assert_eq!(browser.text_of("//h1[text()='Performance']"), "Performance");
    assert_eq!(browser.run("return getComputedStyle(document.querySelector('nav')).flexBasis"), "208px");
    assert_eq!(browser.run("return [...document.images].filter(image => image.naturalWidth === 0).length"), 0);
    assert_eq!(violations(&browser), Vec::<String>::new());
}

/// Returns what the console says about the Content Security Policy.
pub(crate) fn violations(browser: &Browser) -> Vec<String> {
    browser.console().into_iter().filter(|line| line.contains("Content Security Policy")).collect()
}

/// Writes the pictures of the page that a browser shows, in light and in dark, for docs/console/README.md.
pub(crate) fn picture(browser: &Browser, name: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/console");
    for scheme in ["light", "dark"] {
        browser.emulate(1_280, scheme);
        browser.screenshot("//body", &directory.join(format!("{name}-{scheme}.png")));
    }
}

/// Returns whether a request goes to another host. Other schemes mean the page itself (`data:`) or the browser
/// (`chrome:`).
fn leaves(url: &str, origin: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    ["http", "https", "ws", "wss"].contains(&scheme) && !url.starts_with(&format!("{origin}/"))
}
