//! The pages of the console about accounts, in a real browser: one's own account, invitations, and the import.

use std::time::SystemTime;

use serde_json::{Value, json};
use totp_rs::Totp;

use crate::browser::violations;
use crate::client::{PASSWORD, text};
use crate::mail::{allow_email_login, wait_for_mail, with_mail};
use crate::process::{Server, TIMEOUT, wait_for};
use crate::store::Store;
use crate::webdriver::Browser;

/// Browsers treat this address as safe without TLS.
const HOST: &str = "localhost";
const EMAIL: &str = "ada@example.com";

/// A browser whose person is on the sign-in page of the console.
struct Visit {
    browser: Browser,
    origin: String,
}

impl Visit {
    fn to(server: &Server) -> Self {
        let browser = Browser::knowing(HOST, server.address);
        let origin = format!("http://{HOST}:{}", server.address.port());
        Self { browser, origin }
    }

    fn open(&self, path: &str) {
        self.browser.open(&format!("{}{path}", self.origin));
    }

    fn fill(&self, fields: &[(&str, &str)]) {
        for (field, text) in fields {
            let input = format!("//input[@id='{field}']");
            self.browser.clear(&input);
            self.browser.type_into(&input, text);
        }
    }

    fn sign_in(&self, email: &str) {
        self.open("/console/sign-in");
        self.browser.text_of("//h1[text()='Sign in']");
        self.fill(&[("email", email), ("password", PASSWORD)]);
        self.press("Sign in");
    }

    /// Clicks the first button of the page with this text.
    fn press(&self, text: &str) {
        self.browser.click(&format!("(//main//button[starts-with(normalize-space(), '{text}')])[1]"));
    }

    fn sign_out(&self) {
        self.browser.click("//details[@class='me']/summary");
        self.browser.click("//button[text()='Sign out']");
        self.says("You are signed out.");
    }

    /// Waits until the page says this.
    fn says(&self, expected: &str) {
        let said = format!("//p[@role='status'][text()=\"{expected}\"]");
        assert_eq!(self.browser.text_of(&said), expected);
    }

    /// Waits until the page says that something went wrong.
    fn refuses(&self, expected: &str) {
        let said = format!("//form/p[@role='alert'][text()=\"{expected}\"]");
        assert_eq!(self.browser.text_of(&said), expected);
    }

    /// Checks that a page fits into narrow and wide windows, and that it does nothing that its policy refuses.
    fn is_sound(&self) {
        for width in [360, 1_600] {
            self.browser.resize((width, 900));
            let overflow = self.browser.run("return document.documentElement.scrollWidth > innerWidth");
            assert_eq!(overflow, Value::Bool(false), "{width}: {}", self.browser.run("return location.pathname"));
        }
        assert_eq!(violations(&self.browser), Vec::<String>::new());
    }
}

#[test]
fn a_person_sets_up_its_factors_and_signs_in_with_each() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        server.client().register(EMAIL);
        let visit = Visit::to(&server);
        let browser = &visit.browser;
        browser.add_authenticator();
        visit.sign_in(EMAIL);
        browser.text_of("//h1[text()='Welcome, Ada']");

        // A passkey, with the first recovery codes.
        visit.open("/console/account/passkey");
        visit.fill(&[("name", "Work laptop")]);
        visit.press("Add a passkey");
        let recovery_code = browser.text_of("//ul/li[10]/code");
        visit.press("Copy");
        assert_eq!(browser.text_of("//span[@role='status' and text()]"), "Copied");
        let file = browser.run("return document.querySelector('a[download]').href");
        assert!(text(&file).starts_with("blob:"), "{file}");
        visit.is_sound();
        browser.click("//a[text()='Done']");
        assert_eq!(browser.text_of("//li//strong[text()='Work laptop']"), "Work laptop");
        visit.is_sound();
        visit.sign_out();
        browser.click("//button[text()='Sign in with a passkey']");
        browser.text_of("//h1[text()='Welcome, Ada']");

        // An authenticator app. The secret is on the page, and not in its address.
        visit.open("/console/account/authenticator");
        visit.fill(&[("name", "Phone")]);
        visit.press("Continue");
        let uri = "return document.querySelector('a[href^=\"otpauth:\"]')?.href";
        let uri = wait_for("the URI of the app", TIMEOUT, || browser.run(uri).as_str().map(str::to_owned));
        assert!(!text(&browser.run("return location.href")).contains('?'));
        visit.is_sound();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        visit.fill(&[("code", &Totp::from_url(&uri).unwrap().generate(now.as_secs()).to_string())]);
        visit.press("Confirm");
        visit.says("The factor is added. From now on, you sign in with it.");

        // The password is not enough any more. A reload does not send it again.
        visit.sign_out();
        visit.sign_in(EMAIL);
        browser.text_of("//h1[text()='Second step']");
        browser.run("location.reload()");
        visit.is_sound();
        visit.press("Sign in");
        assert_eq!(browser.text_of("//p[@id='proof-code-error']"), "Type the code that your app shows now.");
        visit.press("Use a passkey");
        browser.text_of("//h1[text()='Welcome, Ada']");
        visit.sign_out();
        visit.sign_in(EMAIL);
        browser.click("//summary[text()='Use a recovery code instead']");
        visit.fill(&[("proof-recovery-code", &recovery_code)]);
        visit.press("Sign in");
        browser.text_of("//h1[text()='Welcome, Ada']");
        assert_eq!(violations(browser), Vec::<String>::new());
    }
}

#[test]
fn a_person_makes_a_key_changes_its_password_and_ends_other_sessions() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        client.register(EMAIL);
        let visit = Visit::to(&server);
        let browser = &visit.browser;
        visit.sign_in(EMAIL);
        browser.click("//details[@class='me']/summary");
        browser.click("//a[text()='My account']");
        browser.click("//a[text()='New API key']");
        visit.fill(&[("name", "nightly"), ("organizationId", "nowhere")]);
        browser.click("//summary[starts-with(., 'Users ')]");
        browser.click("//input[@value='users:read']");
        visit.press("Create key");
        let error = browser.text_of("//p[@id='organizationId-error']");
        assert!(error.starts_with("Organization must be"), "{error}");
        visit.is_sound();
        // The chosen permission is kept.
        browser.clear("//input[@id='organizationId']");
        visit.press("Create key");
        let key = browser.text_of("//ul/li/code[starts-with(text(), 'iamk_')]");
        client.with_token(&key).get("/api/v1/users").expect(200);
        client.with_token(&key).get("/api/v1/roles").expect(403);
        browser.click("//a[text()='Done']");
        browser.click("//button[starts-with(text(), 'Revoke')]");
        visit.press("Revoke key");
        visit.says("The key is revoked.");
        client.with_token(&key).get("/api/v1/users").expect(401);

        let other = client.with_token(&client.log_in(EMAIL).access);
        visit.press("End all other sessions");
        visit.says("Your other sessions have ended.");
        other.get("/api/v1/auth/me").expect(401);
        visit.is_sound();

        browser.click("//a[text()='Change password']");
        visit.fill(&[("currentPassword", PASSWORD), ("newPassword", "An0ther-Horse!")]);
        visit.press("Change password");
        visit.says("Your password is changed. Your other sessions have ended.");
        client.post("/api/v1/auth/login", &json!({ "email": EMAIL, "password": "An0ther-Horse!" })).expect(200);
        assert_eq!(violations(browser), Vec::<String>::new());
    }
}

#[test]
fn a_person_is_invited_and_signs_in() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = with_mail(store.iam_server(), store.home()).serve();
        server.client().register(EMAIL);
        let visit = Visit::to(&server);
        let browser = &visit.browser;
        visit.sign_in(EMAIL);
        browser.click("//nav//a[text()='Invitations']");
        visit.is_sound();
        browser.click("(//main//a[text()='Invite a person'])[1]");
        visit.fill(&[("email", "grace@example.com"), ("firstName", "Grace"), ("role-0", "MEMBER")]);
        visit.is_sound();
        visit.press("Send invitation");
        visit.says("The invitation is on its way.");
        visit.is_sound();
        // A newer message replaces one that is not sent yet.
        wait_for_mail(store.home(), "INVITATION", "grace@example.com", 1);
        visit.press("Send new link");
        let mail = wait_for_mail(store.home(), "INVITATION", "grace@example.com", 2);
        let token = mail.tokens().remove(0);
        let accepted = json!({ "token": token, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        server.client().post("/api/v1/invitations/accept", &accepted).expect(201);
        visit.open("/console/invitations?status=ACCEPTED");
        browser.text_of("//a[text()='grace@example.com']");
        visit.sign_out();
        visit.sign_in("grace@example.com");
        browser.text_of("//h1[text()='Welcome, Grace']");
    }
}

/// The page behind the link sends its form to the console, as a browser does it.
#[test]
fn a_person_signs_in_by_the_code_and_by_the_link_of_a_message() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = with_mail(store.iam_server(), store.home()).serve();
        let client = server.client();
        allow_email_login(&client.with_token(&client.register(EMAIL).access));
        let verify = json!({ "token": wait_for_mail(store.home(), "VERIFY", EMAIL, 1).tokens().remove(0) });
        client.post("/api/v1/auth/email/verify", &verify).expect(204);
        let visit = Visit::to(&server);
        let browser = &visit.browser;
        let request = || {
            visit.open("/console/sign-in");
            visit.fill(&[("email", EMAIL)]);
            visit.press("Sign in by e-mail");
            browser.text_of("//h1[text()='Sign in by e-mail']");
        };
        request();
        visit.is_sound();
        let code = wait_for_mail(store.home(), "LOGIN", EMAIL, 1).codes().remove(0);
        visit.fill(&[("code", &code)]);
        visit.press("Sign in");
        browser.text_of("//h1[text()='Welcome, Ada']");
        visit.sign_out();
        request();
        let token = wait_for_mail(store.home(), "LOGIN", EMAIL, 2).tokens().remove(0);
        visit.open(&format!("/account/login?token={token}"));
        assert!(browser.text_of("//main/p").contains(EMAIL));
        browser.click("//button[text()='Log in']");
        browser.text_of("//h1[text()='Welcome, Ada']");
        assert_eq!(violations(browser), Vec::<String>::new());
    }
}

#[test]
fn a_file_of_users_is_checked_and_imported_in_parts() {
    // The hash of "hash imported".
    let hash = "$pbkdf2-sha256$i=10000,l=32$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I";
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let ada = client.with_token(&client.register(EMAIL).access);
        let mut csv = "email,firstName,lastName,passwordHash\r\n".to_owned();
        for number in 0..120 {
            csv += &format!("user{number}@example.com,\"First\n\",{number},\"{hash}\"\r\n");
        }
        csv += &format!("user3@example.com,Same,Address,\"{hash}\"\r\nbroken\r\n");
        let file = store.home().file("users.csv", &csv);
        let visit = Visit::to(&server);
        let browser = &visit.browser;
        visit.sign_in(EMAIL);
        browser.click("//nav//a[text()='Users']");
        browser.click("//a[text()='Import']");
        visit.is_sound();
        visit.press("Check");
        let empty =
            "Choose a file, or paste its text: a line with the names of the columns, and rows. Nothing was checked.";
        visit.refuses(empty);
        browser.type_into("//input[@id='file']", file.to_str().unwrap());
        visit.press("Check");
        visit.says("Users that can be created: 120. People who can be invited: 0. Rows with errors: 2.");
        // Each row has its line of the file, also behind rows that have two lines.
        assert_eq!(browser.text_of("//tbody/tr[121]/td[1]"), "242");
        assert_eq!(browser.text_of("//tbody/tr[121]/td[3]"), "A row before it has the same e-mail address.");
        assert_eq!(browser.text_of("//tbody/tr[122]/td[1]"), "243");
        assert_eq!(ada.get("/api/v1/users").expect(200)["pagination"]["total"], 1);
        visit.press("Import");
        visit.says("Users that were created: 120. People who were invited: 0. Rows that were refused: 2.");
        assert_eq!(ada.get("/api/v1/users").expect(200)["pagination"]["total"], 121);
        visit.is_sound();
        browser.click("//tbody/tr[120]//a[text()='created']");
        browser.text_of("//h1[contains(text(), '119')]");
        visit.is_sound();
    }
}

#[test]
fn people_of_a_file_without_hashes_are_invited() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = with_mail(store.iam_server(), store.home()).serve();
        let client = server.client();
        let ada = client.with_token(&client.register(EMAIL).access);
        let visit = Visit::to(&server);
        let browser = &visit.browser;
        visit.sign_in(EMAIL);
        browser.text_of("//h1[text()='Welcome, Ada']");
        visit.open("/console/users/import");
        let file = store.home().file("people.csv", "email;firstName\r\ngrace@example.com;Grace\r\n");
        browser.type_into("//input[@id='file']", file.to_str().unwrap());
        visit.press("Check");
        visit.refuses("The file has no column lastName. Nothing was checked.");
        assert_eq!(browser.run("return document.querySelector('[data-result]').hidden"), true);

        // The file is corrected on the disk, and the browser does not read it again.
        let content = "email;firstName;lastName\r\ngrace@example.com;Grace;Hopper\r\nbroken;Kate;Moss\r\n";
        store.home().file("people.csv", content);
        visit.press("Check");
        visit.refuses("The file has changed. Choose it again, and check it. Nothing was checked.");
        browser.type_into("//input[@id='file']", file.to_str().unwrap());
        visit.press("Check");
        visit.says("Users that can be created: 0. People who can be invited: 1. Rows with errors: 1.");
        store.home().file("people.csv", format!("{content}mary@example.com;Mary;M\r\n"));
        visit.press("Import");
        visit.refuses("The file has changed. Choose it again, and check it. Nothing was imported.");
        assert_eq!(ada.get("/api/v1/invitations").expect(200)["pagination"]["total"], 0);

        store.home().file("latin.csv", b"email;firstName;lastName\r\nx@example.com;J\xf6rg;X\r\n");
        browser.type_into("//input[@id='file']", store.home().path().join("latin.csv").to_str().unwrap());
        visit.press("Check");
        let encoding = browser.text_of("//form/p[@role='alert'][contains(text(), 'UTF-8')]");
        assert!(encoding.ends_with("Nothing was checked."), "{encoding}");

        browser.type_into("//input[@id='file']", file.to_str().unwrap());
        visit.press("Check");
        visit.says("Users that can be created: 0. People who can be invited: 2. Rows with errors: 1.");
        visit.is_sound();
        visit.press("Import");
        visit.says("Users that were created: 0. People who were invited: 2. Rows that were refused: 1.");
        visit.is_sound();
        wait_for_mail(store.home(), "INVITATION", "mary@example.com", 1);
        browser.click("//tbody/tr[1]//a[text()='invited']");
        browser.text_of("//h1[contains(., 'grace@example.com')]");
        assert_eq!(ada.get("/api/v1/invitations").expect(200)["pagination"]["total"], 2);
        assert_eq!(ada.get("/api/v1/users").expect(200)["pagination"]["total"], 1);
    }
}
