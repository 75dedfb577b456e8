//! Sign-in by a foreign OpenID Connect provider in the console, in a real browser, which goes between two sites.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::browser::{picture, violations};
use crate::client::{PASSWORD, text};
use crate::federation::{ADMINISTRATOR, DONE, Fixture, Provider};
use crate::process::{TIMEOUT, free_address, wait_for};
use crate::webdriver::Browser;

/// A person of the domain for which the provider speaks.
const GRACE: &str = "grace@example.com";

/// A browser, and a tenant whose provider Acme speaks for example.com.
struct Visit {
    browser: Browser,
    fixture: Fixture,
    provider: SocketAddr,
}

impl Visit {
    fn new() -> (Self, Provider) {
        let provider = free_address();
        let start = |callback: &str, backchannel: &str| Provider::oidc_provider(provider, callback, backchannel);
        let (fixture, running) = Fixture::new(start);
        fixture.speak_for("example.com");
        (Self { browser: Browser::on_loopback(), fixture, provider }, running)
    }

    /// Waits until the server asks the provider again, which it does not do for some seconds after a failure.
    fn wait_until_asked_again(&self) {
        let start = json!({
            "providerId": self.fixture.provider["id"],
            "redirectUri": DONE,
            "codeChallenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        });
        wait_for("the provider to be asked again", TIMEOUT, || {
            // Not as often as it is asked otherwise: the server limits how often a client begins a login.
            thread::sleep(Duration::from_millis(500));
            let answer = self.fixture.server.client().post("/api/v1/auth/federation/start", &start);
            (answer.status == 200).then_some(())
        });
    }

    fn open(&self, path: &str) {
        self.browser.open(&format!("http://{}{path}", self.fixture.server.address));
    }

    /// Clicks the first button of the page with this text.
    fn press(&self, text: &str) {
        self.browser.click(&format!("(//main//button[starts-with(normalize-space(), '{text}')])[1]"));
    }

    /// Tells the page for sign-in who is there.
    fn arrive_as(&self, email: &str) {
        self.browser.type_into("//input[@id='email']", email);
        self.press("Continue");
    }

    /// Fills in the form of the provider.
    fn log_in_at_provider(&self, login: &str) {
        // Once there is the one field, there is the other. It may contain the address that the console has passed on.
        self.browser.type_into("//input[@name='password']", "x");
        self.browser.clear("//input[@name='login']");
        self.browser.type_into("//input[@name='login']", login);
        self.browser.click("//button[@type='submit']");
    }

    /// Waits until the page says this.
    fn says(&self, expected: &str) {
        assert_eq!(self.browser.text_of(&format!("//p[@role='status'][text()=\"{expected}\"]")), expected);
    }

    /// Waits until the page says that something went wrong.
    fn refuses(&self, expected: &str) {
        assert_eq!(self.browser.text_of(&format!("//p[@role='alert'][text()=\"{expected}\"]")), expected);
    }

    /// Checks that no page has done what its policy refuses.
    fn is_sound(&self) {
        assert_eq!(violations(&self.browser), Vec::<String>::new());
    }
}

#[test]
fn a_person_signs_in_by_the_provider_of_its_address() {
    let (visit, _provider) = Visit::new();
    let browser = &visit.browser;
    visit.open("/console/users");
    browser.text_of("//h1[text()='Sign in']");
    assert_eq!(browser.run("return document.querySelectorAll('input[type=password]').length"), 0);
    visit.arrive_as(GRACE);
    visit.press("Sign in with Acme");
    visit.log_in_at_provider("grace");

    // It was made on the way, with the role of the provider, and is where it wanted to go.
    browser.text_of("//h1[text()='Users']");
    assert_eq!(browser.run("return location.pathname + location.search"), "/console/users");
    browser.text_of(&format!("//details[@class='me']/summary[contains(., '{GRACE}')]"));
    visit.open("/console/account");
    let linked = browser.text_of("//section[@aria-labelledby='identities']//li");
    assert!(linked.contains("Acme") && linked.contains(GRACE), "{linked}");
    visit.is_sound();
}

#[test]
fn a_person_links_an_account_in_my_account() {
    let (visit, _provider) = Visit::new();
    let browser = &visit.browser;
    visit.open("/console/account");
    // No provider speaks for this address.
    visit.arrive_as(ADMINISTRATOR);
    browser.type_into("//input[@id='password']", PASSWORD);
    visit.press("Sign in");
    visit.press("Link Acme");
    visit.log_in_at_provider("mary");

    // The session is still there, although the browser comes from another site.
    visit.says("The account is linked. From now on, you can sign in with it.");
    let linked = browser.text_of("//section[@aria-labelledby='identities']//li");
    assert!(linked.contains("Acme") && linked.contains("mary@example.com"), "{linked}");
    browser.click("//section[@aria-labelledby='identities']//li//button");
    visit.says("The account is no longer linked to yours.");
    browser.text_of("//section[@aria-labelledby='identities']/p[text()='No account is linked to yours.']");
    visit.is_sound();
}

#[test]
fn a_provider_that_is_down_and_one_that_refuses_are_explained() {
    let (visit, running) = Visit::new();
    drop(running);
    visit.open("/console/account");
    visit.arrive_as(GRACE);
    visit.press("Sign in with Acme");
    visit.refuses("The identity provider does not answer. Try again later.");

    // The page has kept the address.
    let callback = text(&visit.fixture.provider["callbackUrl"]);
    let _provider = Provider::oidc_provider(visit.provider, &callback, &callback);
    visit.wait_until_asked_again();
    visit.press("Continue");
    visit.press("Sign in with Acme");
    visit.browser.click("//a[contains(text(), 'Cancel')]");
    visit.refuses("The provider did not sign you in. Try again, or choose another way.");
    // The person can begin again, and still goes where it wanted.
    visit.arrive_as(GRACE);
    visit.press("Sign in with Acme");
    visit.log_in_at_provider("grace");
    visit.browser.text_of("//h1[text()='My account']");
    visit.is_sound();
}

/// Writes the pictures of docs/console/README.md that show the button of a provider.
#[test]
#[ignore = "writes pictures of the documentation; scripts/console-pictures runs it"]
fn pictures_of_a_sign_in_by_a_provider_are_written() {
    let (visit, _provider) = Visit::new();
    visit.open("/console/sign-in");
    visit.arrive_as(GRACE);
    visit.browser.text_of("//button[text()='Sign in with Acme']");
    picture(&visit.browser, "sign-in-provider");
}
