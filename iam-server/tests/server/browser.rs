//! Swagger UI in a real browser: a user who has only the page gets an answer from the API.

use std::path::Path;

use serde_json::Value;

use crate::process::{Home, TIMEOUT, wait_for};
use crate::webdriver::Browser;

/// This is not a name of this machine: on localhost, Swagger UI leaves out things that it does elsewhere.
const HOST: &str = "iam.test";
const EMAIL: &str = "grace@navy.example";

#[test]
fn users_are_listed_from_the_documentation_page() {
    let home = Home::new();
    let server = home.serve();
    let session = server.client().register(EMAIL);
    let origin = format!("http://{HOST}:{}", server.address.port());
    let browser = Browser::knowing(HOST, server.address);

    browser.open(&format!("{origin}/docs"));
    browser.click("//div[@class='auth-wrapper']/button[contains(@class, 'authorize')]");
    browser.type_into("//div[@class='modal-ux']//input", &session.access);
    browser.click("//div[@class='modal-ux']//button[@type='submit']");
    browser.click("//div[@class='modal-ux']//button[text()='Close']");

    let operation = "//div[contains(@class, 'opblock-get')][.//span[@data-path='/users']]";
    browser.click(&format!("{operation}//button[contains(@class, 'opblock-summary-control')]"));
    browser.click(&format!("{operation}//button[contains(@class, 'execute')]"));
    let answer = format!("{operation}//table[contains(@class, 'live-responses-table')]//tr[@class='response']");
    let status = browser.text_of(&format!("{answer}//td[contains(@class, 'response-col_status')]"));
    browser.screenshot(operation, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("swagger-ui.png"));
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

/// Returns what the console says about the Content Security Policy.
fn violations(browser: &Browser) -> Vec<String> {
    browser.console().into_iter().filter(|line| line.contains("Content Security Policy")).collect()
}

/// Returns whether a request goes to another host. Other schemes mean the page itself (`data:`) or the browser
/// (`chrome:`).
fn leaves(url: &str, origin: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    ["http", "https", "ws", "wss"].contains(&scheme) && !url.starts_with(&format!("{origin}/"))
}
