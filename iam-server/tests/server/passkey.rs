//! Passkeys on the server's own page, in a real browser with a virtual authenticator.

use std::path::Path;

use serde_json::Value;

use crate::browser::violations;
use crate::client::PASSWORD;
use crate::process::{Home, TIMEOUT, wait_for};
use crate::webdriver::Browser;

/// Browsers accept passkeys at this address without TLS.
const HOST: &str = "localhost";
const EMAIL: &str = "ada@example.com";

fn page(browser: &Browser, port: u16) {
    browser.open(&format!("http://{HOST}:{port}/account/passkey"));
}

fn log_in_by_password(browser: &Browser) {
    browser.type_into("//input[@id='email']", EMAIL);
    browser.type_into("//input[@id='password']", PASSWORD);
    browser.click("//form[@id='login-by-password']/button");
}

/// Waits until the page says this.
fn says(browser: &Browser, expected: &str) {
    let said = || (browser.text_of("//p[@id='status'][text()]") == expected).then_some(());
    wait_for(expected, TIMEOUT, said);
}

fn is_logged_in(browser: &Browser) {
    says(browser, "You are logged in as Ada Lovelace.");
}

fn log_out(browser: &Browser) {
    browser.click("//button[@id='logout']");
    says(browser, "You are logged out.");
}

#[test]
fn a_passkey_is_registered_and_logs_in_on_the_page_of_the_server() {
    let home = Home::new();
    let server = home.serve();
    server.client().register(EMAIL);
    let port = server.address.port();
    let browser = Browser::knowing(HOST, server.address);
    browser.add_authenticator();
    page(&browser, port);
    log_in_by_password(&browser);
    is_logged_in(&browser);
    browser.clear("//input[@id='name']");
    browser.type_into("//input[@id='name']", "Work laptop");
    browser.click("//form[@id='register']/button");
    assert_eq!(browser.text_of("//ul[@id='passkeys']/li"), "Work laptop");
    let code = browser.text_of("//ul[@id='codes']/li[10]");
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, size) in [("phone", (390, 1_400)), ("desktop", (1_280, 1_000))] {
        browser.resize(size);
        browser.screenshot("//html", &pictures.join(format!("passkey-{name}.png")));
        assert_eq!(browser.run("return document.documentElement.scrollWidth > innerWidth"), Value::Bool(false));
    }

    log_out(&browser);
    browser.click("//button[@id='login-by-passkey']");
    is_logged_in(&browser);

    // The password alone is not enough any more.
    page(&browser, port);
    log_in_by_password(&browser);
    browser.click("//button[@id='second-factor-by-passkey']");
    is_logged_in(&browser);

    page(&browser, port);
    log_in_by_password(&browser);
    browser.type_into("//input[@id='code']", "000000");
    browser.click("//form[@id='second-factor']/button[not(@type)]");
    assert_eq!(browser.text_of("//p[@id='error']"), "The second factor is wrong or was used before.");
    browser.clear("//input[@id='code']");
    browser.type_into("//input[@id='code']", &code);
    browser.click("//form[@id='second-factor']/button[not(@type)]");
    is_logged_in(&browser);
    assert_eq!(violations(&browser), Vec::<String>::new());
    browser.run("document.body.appendChild(document.createElement('script')).text = 'window.isInjected = true'");
    assert_eq!(browser.run("return window.isInjected ?? null"), Value::Null);
}

#[test]
fn a_passkey_of_another_installation_does_not_log_in() {
    let (home, elsewhere) = (Home::new(), Home::new());
    let (server, other) = (home.serve(), elsewhere.serve());
    server.client().register(EMAIL);
    other.client().register(EMAIL);
    let browser = Browser::knowing(HOST, server.address);
    browser.add_authenticator();
    page(&browser, other.address.port());
    log_in_by_password(&browser);
    browser.click("//form[@id='register']/button");
    assert_eq!(browser.text_of("//ul[@id='passkeys']/li"), "This device");
    page(&browser, server.address.port());
    browser.click("//button[@id='login-by-passkey']");
    assert_eq!(browser.text_of("//p[@id='error']"), "The passkey is not accepted.");
}

#[test]
fn a_person_without_a_passkey_is_told_so() {
    let home = Home::new();
    let server = home.serve();
    let browser = Browser::knowing(HOST, server.address);
    browser.add_authenticator();
    page(&browser, server.address.port());
    browser.click("//button[@id='login-by-passkey']");
    assert_eq!(browser.text_of("//p[@id='error']"), "No passkey was used.");
}
