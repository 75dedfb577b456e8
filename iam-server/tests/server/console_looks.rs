//! What the scripts and the styles of the console do in a real browser: folded parts, passwords that can be seen, and the
//! focus after a mistake.

use serde_json::{Value, json};

use crate::browser::violations;
use crate::client::PASSWORD;
use crate::process::Server;
use crate::store::Store;
use crate::webdriver::Browser;

/// Browsers treat this address as safe without TLS.
const HOST: &str = "localhost";
const EMAIL: &str = "ada@example.com";

/// Whether an element is on the screen.
const IS_SHOWN: &str = "
    const isShown = (selector) => document.querySelector(selector).getClientRects().length > 0;";

/// Opens a page after sign-in. The cursor is in the first field of the form, so that the keyboard alone is enough.
fn open(server: &Server, path: &str) -> Browser {
    let browser = Browser::knowing(HOST, server.address);
    let origin = format!("http://{HOST}:{}", server.address.port());
    browser.open(&format!("{origin}/console{path}"));
    browser.text_of("//h1[text()='Sign in']");
    browser.wait_for_result("return document.activeElement.id", &json!("email"));
    browser.type_into("//input[@id='email']", &format!("{EMAIL}\u{e004}{PASSWORD}\u{e007}"));
    browser
}

#[test]
fn a_narrow_window_folds_the_menu_and_the_filters() {
    let store = Store::sqlite();
    let server = store.serve();
    server.client().register(EMAIL);
    let browser = open(&server, "/audit");
    browser.text_of("//h1[text()='Audit log']");
    let shown = format!(
        "{IS_SHOWN}
        return ['.menu', 'nav [aria-current]', 'nav a:not([aria-current])', '.filters', '#action'].map(isShown);"
    );
    browser.emulate(1_600, "light");
    assert_eq!(browser.run(&shown), json!([false, true, true, false, true]));
    browser.emulate(360, "light");
    assert_eq!(browser.run(&shown), json!([true, false, false, true, false]));
    browser.click("//summary[text()='Filters']");
    browser.click("//summary[contains(., 'Menu')]");
    assert_eq!(browser.run(&shown), json!([true, true, true, true, true]));
    browser.click("//nav//a[text()='Users']");
    browser.text_of("//h1[text()='Users']");
    // Each cell of a list names its column.
    let label = "return getComputedStyle(document.querySelector('td[data-label]'), '::before').content";
    let label = browser.run(label);
    assert!(label.as_str().unwrap().contains("Status"), "{label}");
    assert_eq!(violations(&browser), Vec::<String>::new());
}

#[test]
fn the_menu_of_the_account_opens_inside_of_the_window() {
    let store = Store::sqlite();
    let server = store.serve();
    server.client().register(EMAIL);
    let browser = open(&server, "/users");
    browser.text_of("//h1[text()='Users']");
    let summary = "//details[@class='me']/summary";
    let is_inside = "
        const box = document.querySelector('.me > div').getBoundingClientRect();
        return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;";
    let is_open = "return document.querySelector('.me').open";
    for width in [1_600, 1_280, 360] {
        browser.emulate(width, "light");
        browser.click(summary);
        assert_eq!(browser.run(is_inside), true, "{width}");
        // Escape.
        browser.type_into(summary, "\u{e00c}");
        assert_eq!(browser.run(is_open), false, "{width}");
    }
    // In a narrow window the menu covers the title.
    browser.emulate(1_280, "light");
    browser.click(summary);
    browser.click("//h1[text()='Users']");
    assert_eq!(browser.run(is_open), false);
    assert_eq!(violations(&browser), Vec::<String>::new());
}

#[test]
fn a_password_can_be_seen_and_the_first_mistake_gets_the_focus() {
    let store = Store::sqlite();
    let server = store.serve();
    server.client().register(EMAIL);
    let browser = open(&server, "/users/new");
    browser.text_of("//h1[text()='New user']");
    assert_eq!(browser.run("return document.activeElement === document.body"), Value::Bool(true));
    let fields = [("firstName", "Grace"), ("lastName", "Hopper"), ("email", "grace@example.com"), ("password", "weak")];
    for (field, typed) in fields {
        browser.type_into(&format!("//input[@id='{field}']"), typed);
    }
    let kind = "return document.getElementById('password').type";
    assert_eq!(browser.run(kind), "password");
    browser.click("//label[contains(., 'Show password')]/input");
    assert_eq!(browser.run(kind), "text");
    browser.click("//main//button");
    browser.text_of("//p[@id='password-error']");
    browser.wait_for_result("return document.activeElement.id", &json!("password"));
    assert_eq!(browser.run(kind), "password");
    assert_eq!(violations(&browser), Vec::<String>::new());
}

#[test]
fn a_form_is_sent_once_although_its_button_is_pressed_twice() {
    let store = Store::sqlite();
    let server = store.serve();
    server.client().register(EMAIL);
    let browser = open(&server, "/organizations/new");
    browser.type_into("//input[@id='name']", "North");
    let twice = "
        let sent = 0;
        document.addEventListener('submit', (event) => {
            if (!event.defaultPrevented) sent += 1;
            event.preventDefault();
        });
        const button = document.querySelector('main form button');
        button.click();
        button.click();
        return sent;";
    assert_eq!(browser.run(twice), 1);
}

#[test]
fn the_palette_finds_by_the_keyboard_alone() {
    let store = Store::sqlite();
    let server = store.serve();
    let client = server.client();
    let ada = client.with_token(&client.register(EMAIL).access);
    let grace =
        json!({ "email": "grace@example.com", "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    ada.post("/api/v1/users", &grace).expect(201);
    let browser = open(&server, "/users?status=ACTIVE");
    browser.text_of("//h1[text()='Users']");
    let (brand, field) = ("//a[@class='brand']", "//input[@id='palette-q']");
    let is_open = "return document.getElementById('palette').open";
    let active = "return document.getElementById('palette-q').getAttribute('aria-activedescendant')";
    // In a field, the key is a character.
    browser.type_into("//input[@id='search']", "/");
    assert_eq!(browser.run(is_open), false);
    browser.type_into(brand, "/");
    browser.wait_for_result("return document.activeElement.id", &json!("palette-q"));
    browser.type_into(field, "user");
    browser.wait_for_result(active, &json!("palette-option-0"));
    // ArrowDown, and ArrowUp to the last one.
    browser.type_into(field, "\u{e015}");
    browser.wait_for_result(active, &json!("palette-option-1"));
    browser.type_into(field, "\u{e013}\u{e013}");
    let last = browser.run("return [...document.querySelectorAll('[role=option]')].at(-1).id");
    browser.wait_for_result(active, &last);
    // Escape.
    browser.type_into(field, "\u{e00c}");
    browser.wait_for_result(is_open, &Value::Bool(false));
    // Ctrl and K, also in a field.
    browser.type_into("//input[@id='search']", "\u{e009}k");
    browser.wait_for_result(is_open, &Value::Bool(true));
    browser.type_into(field, "\u{e00c}");
    browser.wait_for_result(is_open, &Value::Bool(false));
    browser.click("//button[@id='find']");
    browser.clear(field);
    browser.type_into(field, "hopper");
    let option = browser.text_of("//a[@role='option'][@aria-selected='true']");
    assert!(option.starts_with("Grace Hopper"), "{option}");
    browser.type_into(field, "\u{e007}");
    browser.text_of("//h1[text()='Grace Hopper']");
    assert_eq!(violations(&browser), Vec::<String>::new());
}

#[test]
fn the_link_of_a_list_is_copied_and_a_narrow_window_keeps_the_columns_that_sort() {
    let store = Store::sqlite();
    let server = store.serve();
    server.client().register(EMAIL);
    let browser = open(&server, "/users?search=ada&status=&done=created");
    browser.text_of("//h1[text()='Users']");
    browser.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    browser.click("//button[text()='Copy link']");
    assert_eq!(browser.text_of("//span[@role='status' and text()]"), "Copied");
    let copied = browser.run("return window.copied");
    assert!(copied.as_str().unwrap().ends_with("/console/users?search=ada"), "{copied}");
    browser.emulate(360, "light");
    let shown = format!("{IS_SHOWN} return ['th[aria-sort] a', 'a.chip'].map(isShown);");
    assert_eq!(browser.run(&shown), json!([true, true]));
    browser.click("//th/a[text()='Last sign-in']");
    browser.text_of("//th[@aria-sort='ascending']/a[text()='Last sign-in']");
    assert_eq!(violations(&browser), Vec::<String>::new());
}

#[test]
fn the_bar_of_actions_is_there_with_a_selection_and_is_one_line_on_a_narrow_screen() {
    let store = Store::sqlite();
    let server = store.serve();
    server.client().register(EMAIL);
    let browser = open(&server, "/users");
    browser.text_of("//h1[text()='Users']");
    browser.emulate(360, "light");
    let shown = format!("{IS_SHOWN} return ['.many-bar', '#many-actions button'].map(isShown);");
    browser.wait_for_result(&shown, &json!([false, false]));
    browser.click("//td[@class='select']/input");
    browser.text_of("//p[@data-selected][text()='1 selected']");
    assert_eq!(browser.run(&shown), json!([true, false]));
    let height = browser.run("return document.querySelector('.many-bar').offsetHeight");
    assert!(height.as_u64().unwrap() <= 60, "{height} px");
    browser.click("//button[@popovertarget='many-actions']");
    browser.wait_for_result(&shown, &json!([true, true]));
    // Escape.
    browser.type_into("//button[@value='suspend']", "\u{e00c}");
    browser.wait_for_result(&shown, &json!([true, false]));
    browser.click("//button[@type='reset']");
    browser.wait_for_result(&shown, &json!([false, false]));
    browser.emulate(1_600, "light");
    browser.click("//td[@class='select']/input");
    browser.wait_for_result(&shown, &json!([true, true]));
    assert_eq!(violations(&browser), Vec::<String>::new());
}
