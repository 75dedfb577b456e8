//! The audit log and the access reviews of the console in a real browser.

use serde_json::{Value, json};

use crate::browser::violations;
use crate::client::{Client, PASSWORD, text};
use crate::process::{Server, TIMEOUT, wait_for};
use crate::store::Store;
use crate::webdriver::Browser;

const HOST: &str = "localhost";
const EMAIL: &str = "ada@example.com";

/// Opens a page of the console, and signs in.
fn signed_in(server: &Server, path: &str) -> Browser {
    let browser = Browser::knowing(HOST, server.address);
    browser.open(&format!("http://{HOST}:{}/console{path}", server.address.port()));
    browser.type_into("//input[@id='email']", EMAIL);
    browser.type_into("//input[@id='password']", PASSWORD);
    browser.click("//main//button");
    browser
}

fn create_user(client: &Client, email: &str) -> String {
    let user = json!({ "email": email, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    text(&client.post("/api/v1/users", &user).expect(201)["id"])
}

fn fits(browser: &Browser) {
    for width in [360, 1_600] {
        browser.resize((width, 900));
        assert_eq!(browser.run("return document.documentElement.scrollWidth > innerWidth"), Value::Bool(false));
    }
}

/// Returns the text of an element, also what is folded.
fn all_text(browser: &Browser, selector: &str) -> String {
    text(&browser.run(&format!("return document.querySelector('{selector}').textContent")))
}

/// Returns the id of the newest entry about a created user.
fn entry_id(browser: &Browser) -> String {
    text(&browser.run("return document.querySelector('li[data-action=CREATE][data-resource-type=USER]').id"))
}

/// Presses the button that checks the log. Returns what the page says then.
fn check_log(browser: &Browser) -> String {
    browser.run("document.getElementById('log-checked').replaceChildren()");
    browser.click("//button[@id='check-log']");
    browser.text_of("//div[@id='log-checked']/details/summary");
    browser.text_of("//div[@id='log-checked']")
}

#[test]
fn the_log_is_filtered_by_a_person() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let ada = client.with_token(&client.register(EMAIL).access);
        create_user(&ada, "kate@example.com");
        let browser = signed_in(&server, "/audit");
        browser.type_into("//input[@id='user']", "kato\u{e007}");
        let error = browser.text_of("//p[@id='user-error']");
        assert!(error.starts_with("Actor must be the e-mail address or the name of one user"), "{error}");
        browser.text_of("//div[@id='entries']//p[text()='Correct the marked fields.']");
        let is_listed = "return document.querySelector('#entries li') !== null";
        assert_eq!(browser.run(is_listed), false, "nothing is shown as if it matched");
        assert_eq!(browser.run("return document.getElementById('user').getAttribute('aria-invalid')"), "true");
        fits(&browser);
        browser.clear("//input[@id='user']");
        browser.type_into("//input[@id='user']", "kat");
        assert_eq!(browser.run("return document.getElementById('user-error')"), Value::Null);
        // The field offers the person.
        let offered = "return document.querySelector('#user-options option')?.value ?? null";
        wait_for("an offer", TIMEOUT, || Some(browser.run(offered)).filter(|value| value == "kate@example.com"));
        browser.clear("//input[@id='user']");
        browser.type_into("//input[@id='user']", &format!("{EMAIL}\u{e007}"));
        browser.text_of("//li//strong[text()='ada@example.com created the user kate@example.com']");
        assert_eq!(violations(&browser), Vec::<String>::new());
        fits(&browser);
    }
}

#[test]
fn the_log_is_followed_and_an_entry_is_checked_by_the_browser() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let ada = client.with_token(&client.register(EMAIL).access);
        let browser = signed_in(&server, "/audit");
        // The page keeps the checkpoint of its first visit.
        let kept = "return Object.values(localStorage).find(value => value.includes('note')) ?? null";
        wait_for("a kept checkpoint", TIMEOUT, || Some(browser.run(kept)).filter(|kept| !kept.is_null()));
        browser.click("//button[@id='follow']");
        browser.text_of("//p[@id='follow-state']");
        for number in 0..4 {
            create_user(&ada, &format!("u{number}@example.com"));
        }
        browser.text_of("//li[@data-action='CREATE' and @data-resource-type='USER'][4]");
        let repeated = "const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
            return ids.length - new Set(ids).size";
        assert_eq!(browser.run(repeated), 0, "no entry is shown twice");
        browser.click("//button[@id='follow']");

        let entry = "//li[@data-action='CREATE' and @data-resource-type='USER'][1]";
        let check = || {
            browser.click(&format!("{entry}//button[@data-check]"));
            browser.text_of(&format!("{entry}//div[@class='checked']/strong[1]"));
            wait_for("the check", TIMEOUT, || {
                let is_over = "return document.querySelector('button[data-check]:disabled') === null";
                Some(browser.run(is_over)).filter(|is_over| *is_over == Value::Bool(true))
            });
            let checked = format!("{entry}//div[@class='checked']");
            (browser.text_of(&checked), all_text(&browser, &format!("#{} .checked", entry_id(&browser))))
        };
        browser.click(&format!("{entry}//summary"));
        let (found, all) = check();
        assert!(found.starts_with("Checked: everything matches."), "{found}");
        assert!(found.contains("The entry is newer than the last check of this browser"), "{found}");
        assert!(!found.contains("checkpoint"), "the details are folded: {found}");
        assert!(all.contains("None of them was changed") && all.contains("is signed with the key"), "{all}");
        let (found, _) = check();
        assert!(
            found.starts_with("Checked: everything matches.") && found.contains("has not changed since"),
            "{found}"
        );
        let found = check_log(&browser);
        assert!(found.starts_with("The log was not changed since this browser last checked it, on "), "{found}");
        let entries = browser.run("return document.querySelectorAll('#entries li[data-action]').length");
        assert!(found.contains(&format!("compared with the log, and match: {entries}.")), "{found}");
        assert!(all_text(&browser, "#log-checked").contains("starts with the same"), "{found}");
        assert_eq!(violations(&browser), Vec::<String>::new());
        fits(&browser);

        store.tamper("UPDATE audit_entries SET resource_id = '99' WHERE resource_type = 'USER' AND action = 'CREATE'");
        let (found, _) = check();
        assert!(found.starts_with("Checked: something does not match."), "{found}");
        assert!(found.contains("is not the root in the present checkpoint"), "{found}");
        assert!(!found.contains("has not changed since"), "{found}");
        let found = check_log(&browser);
        assert!(found.starts_with("Checked: something does not match."), "{found}");
        assert!(
            found.contains("ada@example.com created the user u3@example.com") && found.contains("is not as the log")
        );
        assert!(found.contains("audit verify") && !found.contains("was not changed"), "{found}");

        // Another log than the one that the browser has seen before.
        browser.run(
            "for (const [name, value] of Object.entries(localStorage)) {
                const kept = JSON.parse(value);
                const lines = kept.note.split('\\n');
                lines[2] = btoa('x'.repeat(32));
                localStorage.setItem(name, JSON.stringify({ ...kept, note: lines.join('\\n') }));
            }",
        );
        let (found, _) = check();
        assert!(found.starts_with("Checked: something does not match."), "{found}");
        assert!(found.contains("does not start with") && found.contains("audit verify"), "{found}");
        let (found, _) = check();
        assert!(found.starts_with("Checked: something does not match."), "the checkpoint is not replaced: {found}");
        let found = check_log(&browser);
        assert!(found.contains("does not start with") && !found.contains("was not changed"), "{found}");
    }
}

#[test]
fn an_access_review_is_begun_decided_in_place_and_completed() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let ada = client.with_token(&client.register(EMAIL).access);
        let grace = create_user(&ada, "grace@example.com");
        let shop = text(&ada.post("/api/v1/organizations", &json!({ "name": "Shop" })).expect(201)["id"]);
        let roles = ada.get("/api/v1/roles?limit=100").expect(200);
        let roles = roles["data"].as_array().unwrap();
        let member = text(&roles.iter().find(|role| role["name"] == "MEMBER").unwrap()["id"]);
        let new = json!({ "userId": grace, "roleId": member, "organizationId": shop });
        ada.post("/api/v1/role-assignments", &new).expect(201);

        let browser = signed_in(&server, "");
        browser.click("//nav//a[text()='Access reviews']");
        browser.click("//a[text()='New review']");
        browser.type_into("//input[@id='name']", "Spring");
        browser.run("document.getElementById('dueAt').value = '2999-01-31'");
        browser.type_into("//input[@id='search']", "nothing\u{e007}");
        browser.text_of("//p[text()='No organization matches.']");
        assert_eq!(browser.run("return document.getElementById('name').value"), "Spring", "Enter begins no review");
        browser.clear("//input[@id='search']");
        browser.type_into("//input[@id='search']", "sho");
        browser.click("//label[contains(., 'Shop')]/input");
        browser.click("//label[contains(., 'MEMBER')]/input");
        browser.click("//main//button[text()='Start review']");
        assert_eq!(browser.text_of("//h1[text()='Spring']"), "Spring");
        browser.click("//summary[starts-with(., 'Reason')]");
        browser.type_into("//input[@name='reason']", "Has left.");
        browser.click("//button[@value='REVOKE']");
        browser.text_of("//p[@class='progress']/span[text()='1 of 1 decided']");
        browser.wait_for_result("return document.activeElement.value", &json!("REVOKE"));
        assert_eq!(browser.text_of("//main//button[@aria-pressed='true']").lines().next(), Some("Revoke"));
        let said = browser.run("return document.getElementById('found').textContent");
        assert_eq!(said, "Saved: Revoke, grace@example.com, MEMBER");
        // A refusal is shown above the items, and takes no item away.
        browser.run("document.querySelector('.decide input[name=form-token]').value = 'x'");
        browser.click("//button[@value='KEEP']");
        let refused = browser.text_of("//div[@id='notice']/p[@class='error']");
        assert!(refused.starts_with("This form is not from this page"), "{refused}");
        browser.text_of("//li//button[@value='KEEP']");
        fits(&browser);
        browser.click("//summary[text()='Complete review…']");
        browser.click("//button[text()='Yes, complete it']");
        browser.text_of("//li[contains(., 'Revoked.') and contains(., 'Has left.')]");
        assert_eq!(violations(&browser), Vec::<String>::new());
        let left = ada.get(&format!("/api/v1/users/{grace}/roles")).expect(200);
        assert_eq!(left["data"].as_array().or(left.as_array()).map(Vec::len), Some(0), "{left}");
    }
}
