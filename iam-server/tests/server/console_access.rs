//! The pages of the console about roles, assignments and organizations in a real browser, on the real server.

use serde_json::{Value, json};

use crate::browser::violations;
use crate::client::PASSWORD;
use crate::process::{Server, TIMEOUT, wait_for};
use crate::store::Store;
use crate::webdriver::Browser;

/// Browsers treat this address as safe without TLS.
const HOST: &str = "localhost";
const EMAIL: &str = "ada@example.com";

/// Opens a page for the administrator of a tenant with another user and some organizations: Harbour is below North,
/// South is beside it.
fn open(server: &Server, path: &str) -> Browser {
    let session = server.client().register(EMAIL);
    let client = server.client().with_token(&session.access);
    let grace = json!({ "email": "grace@example.com", "password": PASSWORD, "firstName": "Grace", "lastName": "H." });
    client.post("/api/v1/users", &grace).expect(201);
    let north = client.post("/api/v1/organizations", &json!({ "name": "North" })).expect(201);
    client.post("/api/v1/organizations", &json!({ "name": "South" })).expect(201);
    client.post("/api/v1/organizations", &json!({ "name": "Harbour", "parentId": north["id"] })).expect(201);
    let browser = Browser::knowing(HOST, server.address);
    browser.open(&format!("http://{HOST}:{}{path}", server.address.port()));
    browser.type_into("//input[@id='email']", EMAIL);
    browser.type_into("//input[@id='password']", PASSWORD);
    browser.click("//main//button");
    browser
}

/// Checks that the page fits into a narrow and into a wide window, and does nothing that the policy refuses.
fn check_page(browser: &Browser) {
    for width in [360, 1_600] {
        browser.resize((width, 900));
        assert_eq!(browser.run("return document.documentElement.scrollWidth > innerWidth"), Value::Bool(false));
    }
    browser.resize((1_280, 3_000));
    assert_eq!(violations(browser), Vec::<String>::new());
}

fn notice(browser: &Browser) -> String {
    browser.text_of("//p[@role='status' and text()]")
}

#[test]
fn a_role_is_made_assigned_explained_changed_and_revoked() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let browser = open(&server, "/console/roles");
        browser.click("//a[text()='New role']");
        browser.type_into("//input[@id='name']", "DESK");
        browser.type_into("//input[@id='permission-filter']", "users:read");
        browser.click("//input[@value='users:read']");
        browser.click("//main//form//button");
        assert_eq!(browser.text_of("//main//ul/li[contains(., 'users:read')]"), "See users. users:read");
        check_page(&browser);

        browser.click("//a[text()='Assign this role']");
        browser.type_into("//input[@id='user']", "grac");
        let offered = "return document.querySelector('#user-options option')?.value ?? null";
        wait_for("an offered user", TIMEOUT, || Some(browser.run(offered)).filter(|value| *value != Value::Null));
        assert_eq!(browser.run(offered), "grace@example.com");
        browser.clear("//input[@id='user']");
        browser.type_into("//input[@id='user']", "grace@example.com");
        browser.type_into("//input[@id='organization']", "north");
        browser.click("//button[text()='Show the effects']");
        let effects = browser.text_of("//ul[contains(@class, 'effects')]//summary");
        assert!(effects.starts_with("Gains 1 permission in North"), "{effects}");
        check_page(&browser);
        browser.click("//button[@name='confirmed']");
        assert_eq!(notice(&browser), "The role is assigned.");
        check_page(&browser);

        browser.click("//a[text()='Check a user']");
        browser.type_into("//input[@id='permission']", "users:read");
        browser.type_into("//input[@id='organization']", "harbour");
        browser.click("//button[text()='Check']");
        assert_eq!(browser.text_of("//h2[@id='answer']"), "Allowed");
        assert!(browser.text_of("//main//section//li").starts_with("DESK · North (inherited from above)"));
        check_page(&browser);
        // The question goes along.
        browser.click("//a[text()='Permission holders']");
        assert_eq!(browser.text_of("//h2[text()='2 users']"), "2 users");

        browser.click("//td[contains(., 'DESK')]/a");
        browser.click("//a[text()='Edit']");
        browser.type_into("//input[@id='permission-filter']", "roles:read");
        browser.click("//input[@value='roles:read']");
        browser.click("//button[text()='Save']");
        let effects = browser.text_of("//ul[contains(@class, 'effects')]//summary");
        assert!(effects.starts_with("Gains 1 permission in North"), "{effects}");
        check_page(&browser);
        browser.click("//button[text()='Save']");
        assert_eq!(notice(&browser), "The changes are saved.");

        browser.click("//a[text()='grace@example.com']");
        browser.click("//button[starts-with(text(), 'Revoke')]");
        assert_eq!(browser.text_of("//ul[contains(@class, 'effects')]//del"), "Loses");
        browser.click("//button[text()='Revoke']");
        assert_eq!(notice(&browser), "The role is revoked.");
        browser.click("//nav//a[text()='Assignments']");
        assert_eq!(browser.text_of("//p[@id='found']"), "1 assignment");
        check_page(&browser);
    }
}

fn sign_in(browser: &Browser, email: &str) {
    browser.click("//details[@class='me']/summary");
    browser.click("//button[text()='Sign out']");
    assert_eq!(notice(browser), "You are signed out.");
    browser.type_into("//input[@id='email']", email);
    browser.type_into("//input[@id='password']", PASSWORD);
    browser.click("//main//button");
    browser.text_of("//h1[starts-with(text(), 'Welcome')]");
}

#[test]
fn a_person_asks_for_a_role_another_one_approves_and_the_first_one_ends_it() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let browser = open(&server, "/console/eligibilities");
        browser.click("//main//a[text()='New eligibility']");
        browser.type_into("//input[@id='role']", "MEMBER");
        browser.type_into("//input[@id='organization']", "north");
        browser.type_into("//input[@id='user']", "grace@example.com");
        check_page(&browser);
        browser.click("//button[text()='Create eligibility']");
        assert!(notice(&browser).starts_with("The eligibility is created."));
        check_page(&browser);

        sign_in(&browser, "grace@example.com");
        browser.click("//nav//a[text()='Access requests']");
        browser.click("//main//a[text()='Request access']");
        browser.click("//td/a[text()='MEMBER']");
        browser.click("//select[@id='seconds']/option[@value='3600']");
        browser.type_into("//textarea[@id='reason']", "The disk of the shop is full.");
        check_page(&browser);
        browser.click("//button[text()='Show the effects']");
        let effects = browser.text_of("//ul[contains(@class, 'effects')]//summary");
        assert!(effects.starts_with("Gains 2 permissions in"), "{effects}");
        check_page(&browser);
        browser.click("//button[text()='Send request']");
        assert_eq!(notice(&browser), "The request is sent.");
        check_page(&browser);

        sign_in(&browser, EMAIL);
        browser.click("//a[text()='1 access request waits for your decision']");
        browser.click("//td/a[text()='MEMBER']");
        let effects = browser.text_of("//ul[contains(@class, 'effects')]//summary");
        assert!(effects.starts_with("Gains 2 permissions in North"), "{effects}");
        check_page(&browser);
        // The key Enter in the reason decides nothing.
        browser.type_into("//input[@id='reason']", "Go on.\u{e007}");
        browser.click("//button[text()='Approve']");
        assert!(notice(&browser).starts_with("Your approval is saved: grace@example.com has MEMBER until"));
        assert_eq!(browser.text_of("//div[@class='head']/span"), "Active");
        check_page(&browser);

        sign_in(&browser, "grace@example.com");
        assert!(browser.text_of("//section[@aria-labelledby='elevated']//li").starts_with("MEMBER · North"));
        check_page(&browser);
        browser.click("//section[@aria-labelledby='elevated']//summary");
        browser.click("//section[@aria-labelledby='elevated']//button");
        assert!(notice(&browser).starts_with("The access has ended"));
        assert_eq!(browser.text_of("//div[@class='head']/span"), "Ended");
        check_page(&browser);
    }
}

/// Drags an organization of the tree onto another one.
const DRAG: &str = "
    const named = (name) =>
        [...document.querySelectorAll('[data-organization]')].find((node) => node.textContent.startsWith(name));
    const dataTransfer = new DataTransfer();
    const send = (type, name) =>
        named(name).dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
    send('dragstart', 'Harbour');
    send('dragover', 'South');
    send('drop', 'South');";

#[test]
fn an_organization_is_moved_by_dragging_it_and_by_a_form() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let browser = open(&server, "/console/organizations");
        browser.text_of("//div[@draggable]//a[text()='Harbour']");
        check_page(&browser);
        browser.run(DRAG);
        assert_eq!(browser.text_of("//h1[starts-with(text(), 'Move')]"), "Move Harbour below South");
        assert_eq!(browser.text_of("//section/p"), "No user gains or loses a permission.");
        check_page(&browser);
        browser.click("//button[text()='Move']");
        assert_eq!(notice(&browser), "The organization is moved.");
        assert_eq!(browser.text_of("//nav[@class='trail']//li[2]"), "South");
        check_page(&browser);

        browser.click("//a[starts-with(text(), 'Move')]");
        browser.text_of("//h1[text()='Move Harbour']");
        browser.clear("//input[@id='parent']");
        browser.type_into("//input[@id='parent']", "nowhere");
        browser.click("//button[text()='Show the effects']");
        assert!(browser.text_of("//p[@id='parent-error']").starts_with("Parent organization must be"));
        browser.clear("//input[@id='parent']");
        browser.type_into("//input[@id='parent']", "north");
        browser.click("//button[text()='Show the effects']");
        browser.click("//button[text()='Move']");
        assert_eq!(browser.text_of("//nav[@class='trail']//a[text()='North']"), "North");

        browser.click("//a[text()='Create a child organization']");
        browser.type_into("//input[@id='name']", "Quay");
        browser.click("//button[text()='Create organization']");
        assert_eq!(browser.text_of("//h1[text()='Quay']"), "Quay");
        browser.click("//nav//a[text()='Organizations']");
        browser.type_into("//input[@id='search']", "qua");
        assert_eq!(browser.text_of("//div[@id='organizations']//td[2]"), "North › Harbour");
        check_page(&browser);
    }
}

/// Presses a key inside the map.
fn press(browser: &Browser, key: &str) {
    let event = format!("new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true, cancelable: true }})");
    browser.run(&format!("document.querySelector('#map a').dispatchEvent({event})"));
}

#[test]
fn the_map_of_organizations_is_zoomed_by_keys_and_by_links() {
    let store = Store::sqlite();
    let server = store.serve();
    let browser = open(&server, "/console/organizations/map");
    let zoom = || browser.text_of("//span[@id='zoom']");
    let width = || browser.run("return Number(document.querySelector('#map > svg').getAttribute('width'))");
    // The script shows it.
    browser.text_of("//span[@id='map-keys' and not(@hidden)]");
    let before = width().as_f64().unwrap();
    press(&browser, "+");
    assert_eq!((zoom(), width().as_f64().unwrap()), ("150 %".to_owned(), before * 1.5));
    press(&browser, "-");
    press(&browser, "-");
    assert_eq!(zoom(), "75 %");
    browser.click("//a[text()='Zoom in']");
    assert_eq!((zoom(), width().as_f64().unwrap()), ("100 %".to_owned(), before));
    check_page(&browser);
}
