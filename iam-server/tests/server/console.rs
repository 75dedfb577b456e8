//! The console in a real browser, on the real server.

use serde_json::Value;

use crate::browser::violations;
use crate::client::PASSWORD;
use crate::process::{Home, TIMEOUT, wait_for};
use crate::webdriver::Browser;

/// Browsers treat this address as safe without TLS.
const HOST: &str = "localhost";
const EMAIL: &str = "ada@example.com";

#[test]
fn the_root_leads_to_the_registration_of_the_first_tenant_and_to_sign_in() {
    let home = Home::new();
    let server = home.serve();
    let browser = Browser::knowing(HOST, server.address);
    let origin = format!("http://{HOST}:{}", server.address.port());
    browser.open(&format!("{origin}/"));
    browser.click("//a[text()='Register the first tenant']");
    for (field, text) in [("firstName", "Ada"), ("lastName", "Lovelace"), ("email", EMAIL), ("password", PASSWORD)] {
        browser.type_into(&format!("//input[@id='{field}']"), text);
    }
    browser.click("//main//button");
    assert_eq!(browser.text_of("//h1[starts-with(text(), 'Welcome')]"), "Welcome, Ada");
    assert_eq!(browser.run("return document.cookie"), "", "scripts cannot read the cookie");

    browser.click("//details[@class='me']/summary");
    browser.click("//button[text()='Sign out']");
    assert_eq!(browser.text_of("//p[@role='status']"), "You are signed out.");
    browser.type_into("//input[@id='email']", EMAIL);
    browser.type_into("//input[@id='password']", PASSWORD);
    browser.click("//main//button");
    browser.text_of("//h1[starts-with(text(), 'Welcome')]");
    // The script shows the local time, and keeps that of the server.
    let title = "return document.querySelector('time').title";
    let title = wait_for("a local time", TIMEOUT, || Some(browser.run(title)).filter(|title| *title != ""));
    assert!(title.as_str().unwrap().ends_with(" UTC"), "{title}");

    assert_eq!(violations(&browser), Vec::<String>::new());
    let elsewhere: Vec<String> = browser.requests().into_iter().filter(|url| !url.starts_with(&origin)).collect();
    assert!(elsewhere.iter().all(|url| url.starts_with("data:") || url.starts_with("chrome:")), "{elsewhere:#?}");
    // The policy is in force. Otherwise the check above would prove nothing.
    browser.run("document.body.appendChild(document.createElement('script')).text = 'window.isInjected = true'");
    assert_eq!(browser.run("return window.isInjected ?? null"), Value::Null);
}

#[test]
fn a_user_is_created_found_and_suspended_and_the_log_shows_it() {
    let home = Home::new();
    let server = home.serve();
    server.client().register(EMAIL);
    let browser = Browser::knowing(HOST, server.address);
    let origin = format!("http://{HOST}:{}", server.address.port());
    // Without a session, the page leads to sign-in, and from there back to itself.
    browser.open(&format!("{origin}/console/users"));
    browser.type_into("//input[@id='email']", EMAIL);
    browser.type_into("//input[@id='password']", PASSWORD);
    browser.click("//main//button");
    browser.click("//a[text()='New user']");
    let person = [("firstName", "Grace"), ("lastName", "Hopper"), ("email", "grace@example.com"), ("password", "weak")];
    for (field, text) in person {
        browser.type_into(&format!("//input[@id='{field}']"), text);
    }
    browser.click("//main//button");
    let error = browser.text_of("//p[@id='password-error']");
    assert!(error.starts_with("Password must have"), "{error}");
    browser.type_into("//input[@id='password']", PASSWORD);
    browser.click("//main//button");
    assert_eq!(browser.text_of("//h1[text()='Grace Hopper']"), "Grace Hopper");

    browser.click("//nav//a[text()='Users']");
    browser.type_into("//input[@id='search']", "grac");
    assert_eq!(browser.text_of("//p[@id='found' and text()='1 user']"), "1 user");
    browser.click("//div[@id='users']//a[text()='Grace Hopper']");
    browser.click("//details[@class='more']/summary");
    browser.click("//button[starts-with(text(), 'Suspend')]");
    browser.click("//button[text()='Suspend user']");
    assert_eq!(browser.text_of("//p[@role='status' and text()]"), "The user is suspended.");

    browser.click("//a[text()='changes to this user']");
    browser.click("(//ol//summary)[1]");
    assert_eq!(browser.text_of("(//ol//del)[1]"), "ACTIVE");
    assert_eq!(browser.text_of("(//ol//ins)[1]"), "SUSPENDED");
    assert_eq!(violations(&browser), Vec::<String>::new());
    for width in [360, 1_600] {
        browser.resize((width, 900));
        assert_eq!(browser.run("return document.documentElement.scrollWidth > innerWidth"), Value::Bool(false));
    }
}

#[test]
fn the_console_can_be_switched_off() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_CONSOLE", "off").serve();
    server.client().get("/console").expect(404);
    server.client().get("/").expect(404);
}
