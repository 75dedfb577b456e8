//! Mail, as its reader gets it: messages in a directory, their links, and the pages behind them.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use mail_parser::{HeaderValue, Message, MessageParser};
use serde_json::json;

use crate::client::{Client, PASSWORD, text};
use crate::process::{Ended, Home, Launch, Server, TIMEOUT, wait_for};
use crate::store::Store;
use crate::user::reason;
use crate::webdriver::Browser;

const NEW_PASSWORD: &str = "An0ther-Horse!";
/// This is not a name of this machine, so that links cannot come from the address on which the server listens.
const HOST: &str = "iam.test";

/// A message in the directory of a server.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) kind: String,
    pub(crate) to: String,
    subject: String,
    plain: String,
    html: String,
    id: String,
}

impl Received {
    pub(crate) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let message: Message<'_> = MessageParser::default().parse(&bytes).unwrap();
        let header = |name: &str| match message.header(name) {
            Some(HeaderValue::Text(text)) => text.to_string(),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(header("Auto-Submitted"), "auto-generated");
        assert!(message.date().is_some());
        Self {
            kind: header("X-IAM-Message"),
            to: message.to().unwrap().first().unwrap().address().unwrap().to_owned(),
            subject: message.subject().unwrap().to_owned(),
            plain: message.body_text(0).unwrap().into_owned(),
            html: message.body_html(0).unwrap().into_owned(),
            id: message.message_id().unwrap().to_owned(),
        }
    }

    /// The links in the text, which are also in the HTML.
    pub(crate) fn links(&self) -> Vec<String> {
        let links: Vec<String> =
            self.plain.lines().filter(|line| line.starts_with("http")).map(str::to_owned).collect();
        let html = self.html.replace("&#x2f;", "/").replace("&#x2F;", "/").replace("&amp;", "&");
        assert!(links.iter().all(|link| html.contains(&format!("href=\"{link}\""))), "{html}");
        links
    }

    /// The tokens of the links.
    pub(crate) fn tokens(&self) -> Vec<String> {
        self.links().iter().map(|link| link.split_once("token=").unwrap().1.to_owned()).collect()
    }

    /// The codes in the text.
    pub(crate) fn codes(&self) -> Vec<String> {
        let is_code = |line: &&str| line.len() == 8 && line.bytes().all(|byte| byte.is_ascii_digit());
        self.plain.lines().filter(is_code).map(str::to_owned).collect()
    }
}

/// Lets the users of the client's tenant log in by e-mail.
pub(crate) fn allow_email_login(client: &Client) {
    let path = format!("/api/v1/tenants/{}", text(&client.get("/api/v1/auth/me").expect(200)["tenant"]["id"]));
    client.send("PATCH", &path, Some(r#"{ "emailLogin": "ON" }"#)).unwrap().expect(200);
}

/// Returns the launch of a server that writes messages into the directory `mails`.
pub(crate) fn with_mail(launch: Launch, home: &Home) -> Launch {
    let mails = home.path().join("mails");
    std::fs::create_dir_all(&mails).unwrap();
    launch.env("IAM_MAIL_DIR", mails)
}

/// Returns the messages in the directory `mails`, oldest first.
pub(crate) fn mails(home: &Home) -> Vec<Received> {
    let mut paths: Vec<_> =
        std::fs::read_dir(home.path().join("mails")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
    // The name is the identifier of the message, which begins with its time.
    paths.sort();
    paths.iter().map(|path| Received::read(path)).collect()
}

/// Waits for the newest message of a kind to an address, if it is at least the `count`-th.
pub(crate) fn wait_for_mail(home: &Home, kind: &str, to: &str, count: usize) -> Received {
    wait_for(&format!("{kind} to {to}"), TIMEOUT, || {
        let mut found = mails(home);
        found.retain(|mail| (mail.kind.as_str(), mail.to.as_str()) == (kind, to));
        (found.len() >= count).then(|| found.pop()).flatten()
    })
}

fn forgot(client: &Client, email: &str) {
    client.post("/api/v1/auth/password/forgot", &json!({ "email": email })).expect(202);
}

#[test]
fn a_message_has_two_texts_a_sender_and_a_link_to_the_public_url() {
    let home = Home::new();
    let launch = with_mail(home.iam_server(), &home).env("IAM_MAIL_FROM", "Acme <no-reply@acme.example>");
    let server = launch.env("IAM_PUBLIC_URL", "https://id.acme.example/").serve();
    server.client().register("grace@navy.example");
    let mail = wait_for_mail(&home, "VERIFY", "grace@navy.example", 1);
    assert!(mail.id.ends_with("@acme.example"), "{mail:?}");
    assert!(mail.subject.starts_with("Confirm your e-mail address"), "{mail:?}");
    assert!(mail.links()[0].starts_with("https://id.acme.example/account/verify?token=iaml_"), "{mail:?}");
    server.client().post("/api/v1/auth/email/verify", &json!({ "token": mail.tokens()[0] })).expect(204);
}

#[test]
fn pages_and_templates_of_the_operator_replace_those_of_the_server() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("templates")).unwrap();
    home.file("templates/reset.txt", "Geheim: {{ link }}\n");
    let launch = with_mail(home.iam_server(), &home).env("IAM_MAIL_TEMPLATES", home.path().join("templates"));
    let server = launch.env("IAM_LINK_RESET", "https://app.example.com/new#token={token}").serve();
    server.client().register("grace@navy.example");
    forgot(&server.client(), "grace@navy.example");
    let mail = wait_for_mail(&home, "RESET", "grace@navy.example", 1);
    assert!(mail.plain.starts_with("Geheim: https://app.example.com/new#token=iaml_"), "{mail:?}");
}

#[test]
fn a_setting_of_mail_that_cannot_work_is_refused_at_the_start() {
    let home = Home::new();
    home.file("verify.txt", "no link");
    let refused = |variables: &[(&str, &str)]| {
        let launch = home.iam_server().args(["--listen", "127.0.0.1:0"]);
        let ended = variables.iter().fold(launch, |launch, (name, value)| launch.env(name, value)).run();
        assert!(matches!(ended.code, Some(1 | 2)), "{ended:?}");
        assert!(!ended.log.contains("hunter2"), "{ended:?}");
        ended.log.lines().last().unwrap().to_owned()
    };
    let smtp = ("IAM_SMTP_URL", "smtps://user:hunter2@mail.example");
    assert!(refused(&[smtp]).contains("mail_from"));
    assert!(refused(&[("IAM_SMTP_URL", "https://user:hunter2@mail.example")]).contains("smtp_url"));
    assert!(refused(&[smtp, ("IAM_MAIL_DIR", ".")]).contains("mail_dir"));
    assert!(refused(&[("IAM_MAIL_DIR", "missing")]).contains("mail_dir: there is no directory missing"));
    assert!(refused(&[("IAM_MAIL_DIR", "."), ("IAM_MAIL_FROM", "nobody")]).contains("mail_from"));
    assert!(refused(&[("IAM_MAIL_DIR", "."), ("IAM_LINK_VERIFY", "https://a.example/")]).contains("link_verify"));
    assert!(refused(&[("IAM_MAIL_DIR", "."), ("IAM_LINK_LOGIN", "https://a.example/")]).contains("link_login"));
    let complaint = refused(&[("IAM_MAIL_DIR", "."), ("IAM_MAIL_TEMPLATES", ".")]);
    assert!(complaint.contains("mail_templates"), "{complaint}");
}

#[test]
fn a_message_survives_a_kill_before_it_is_sent() {
    for store in [Store::sqlite(), Store::postgres()] {
        // A mail server that accepts connections, and never answers.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("smtp://{}", silent.local_addr().unwrap());
        let launch = store.iam_server().env("IAM_SMTP_URL", &url).env("IAM_MAIL_FROM", "no-reply@acme.example");
        let server = launch.serve();
        server.client().register("grace@navy.example");
        // The server is sending the message now.
        let connection = silent.accept().unwrap();
        server.kill();
        drop(connection);
        // Another process sends it when the claim of the killed one has expired.
        let server = with_mail(store.iam_server(), store.home()).serve();
        assert!(mails(store.home()).is_empty());
        store.tamper("UPDATE messages SET next_attempt_at = created_at, claimed_until = NULL");
        let mail = wait_for_mail(store.home(), "VERIFY", "grace@navy.example", 1);
        server.client().post("/api/v1/auth/email/verify", &json!({ "token": mail.tokens()[0] })).expect(204);
    }
}

#[test]
fn two_replicas_send_each_message_once() {
    let store = Store::postgres();
    let (one, other) =
        (with_mail(store.iam_server(), store.home()).serve(), with_mail(store.iam_server(), store.home()).serve());
    thread::scope(|scope| {
        for (number, server) in [&one, &other, &one, &other].into_iter().enumerate() {
            scope.spawn(move || {
                for round in 0..5 {
                    server.client().register(&format!("person-{number}-{round}@navy.example"));
                }
            });
        }
    });
    wait_for("all messages", TIMEOUT, || (mails(store.home()).len() >= 20).then_some(()));
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    mails(store.home()).into_iter().for_each(|mail| *count.entry(mail.to).or_default() += 1);
    assert_eq!((count.len(), count.values().max()), (20, Some(&1)), "{count:?}");
    wait_for("the count of sent messages", TIMEOUT, || (sent(&one) + sent(&other) == 20).then_some(()));
}

fn sent(server: &Server) -> u32 {
    let metrics = text(&server.client().get("/metrics").expect(200));
    let line = metrics.lines().find_map(|line| line.strip_prefix("mail_messages_total{outcome=\"sent\"} "));
    line.unwrap_or("0").parse().unwrap()
}

#[test]
fn no_token_is_in_the_database_or_the_log() {
    let home = Home::new();
    let server = with_mail(home.iam_server(), &home).env("IAM_LOG", "trace").serve();
    let client = server.client();
    let session = client.register("grace@navy.example");
    allow_email_login(&client.with_token(&session.access));
    forgot(&client, "grace@navy.example");
    let verify = wait_for_mail(&home, "VERIFY", "grace@navy.example", 1).tokens().remove(0);
    let reset = wait_for_mail(&home, "RESET", "grace@navy.example", 1).tokens().remove(0);
    for token in [&verify, &reset] {
        client.get(&format!("/account/reset?token={token}"));
        client.get(&format!("/account/verify?token={token}"));
    }
    client.post("/api/v1/auth/email/verify", &json!({ "token": verify })).expect(204);
    let start = json!({ "email": "grace@navy.example" });
    let flow = text(&client.post("/api/v1/auth/email-login", &start).expect(202)["flow"]);
    let mail = wait_for_mail(&home, "LOGIN", "grace@navy.example", 1);
    let (login, code) = (mail.tokens().remove(0), mail.codes().remove(0));
    client.get(&format!("/account/login?token={login}"));
    client.post("/api/v1/auth/email-login/finish", &json!({ "flow": flow, "code": code })).expect(200);
    client.post("/api/v1/auth/password/reset", &json!({ "token": reset, "newPassword": NEW_PASSWORD })).expect(204);
    let log = server.log().text();
    server.stop();
    let mut database = Vec::new();
    for name in home.files().iter().filter(|name| name.starts_with("iam.db")) {
        database.extend(std::fs::read(home.path().join(name)).unwrap());
    }
    for token in [&verify, &reset, &login, &flow, &code] {
        // Also a part of it, in case that a line breaks.
        let part = &token[token.len().saturating_sub(24)..];
        assert!(!log.contains(part), "a token is in the log");
        assert!(!contains(&database, part.as_bytes()), "a token is in the database");
    }
    assert!(contains(&database, b"grace@navy.example"), "the search finds what is there");
}

fn contains(bytes: &[u8], sought: &[u8]) -> bool {
    bytes.windows(sought.len()).any(|window| window == sought)
}

#[test]
fn the_pages_verify_an_address_set_a_password_and_accept_an_invitation() {
    for size in [(390, 844), (1280, 900)] {
        let home = Home::new();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let public = format!("http://{HOST}:{port}");
        let launch = with_mail(home.iam_server(), &home).env("IAM_PUBLIC_URL", &public);
        let server = launch.serve_at(port);
        let session = server.client().register("grace@navy.example");
        let browser = Browser::knowing(HOST, server.address);
        browser.resize(size);
        let picture = |name: &str| {
            let file = format!("account-{name}-{}.png", size.0);
            browser.screenshot("//body", &Path::new(env!("CARGO_TARGET_TMPDIR")).join(file));
            let width = browser.run("return document.documentElement.scrollWidth - window.innerWidth");
            assert!(width.as_i64().unwrap() <= 0, "{name} is wider than the window");
        };

        let mail = wait_for_mail(&home, "VERIFY", "grace@navy.example", 1);
        browser.open(&mail.links()[0]);
        assert!(browser.text_of("//p").contains("grace@navy.example"));
        picture("verify");
        let me = server.client().with_token(&session.access).get("/api/v1/auth/me").expect(200);
        assert!(me["user"]["emailVerifiedAt"].is_null(), "opening the page verifies nothing");
        browser.click("//button");
        assert_eq!(browser.text_of("//h1[. = 'Thank you']"), "Thank you");
        let me = server.client().with_token(&session.access).get("/api/v1/auth/me").expect(200);
        assert!(me["user"]["emailVerifiedAt"].is_string(), "{me}");
        browser.open(&mail.links()[0]);
        assert_eq!(browser.text_of("//h1"), "This link does not work");
        picture("refused");

        forgot(&server.client(), "grace@navy.example");
        let mail = wait_for_mail(&home, "RESET", "grace@navy.example", 1);
        browser.open(&mail.links()[0]);
        // Long enough for the browser, and refused by the service.
        browser.type_into("//input[@id='password']", "only lower case");
        browser.click("//button");
        assert!(browser.text_of("//p[@id='error']").contains("upper-case"));
        browser.wait_for_result("return document.activeElement.id", &json!("password"));
        let described = "return document.activeElement.getAttribute('aria-describedby')";
        browser.wait_for_result(described, &json!("error rule"));
        picture("reset");
        browser.type_into("//input[@id='password']", NEW_PASSWORD);
        browser.click("//button");
        assert_eq!(browser.text_of("//h1[. = 'Your password is saved']"), "Your password is saved");
        let login = json!({ "email": "grace@navy.example", "password": NEW_PASSWORD });
        server.client().post("/api/v1/auth/login", &login).expect(200);
        server
            .client()
            .post("/api/v1/auth/login", &json!({ "email": "grace@navy.example", "password": PASSWORD }))
            .expect(401);

        let ada = server.client().register("ada@navy.example");
        let ada = server.client().with_token(&ada.access);
        let invitation = json!({ "email": "mary@navy.example", "firstName": "Mary", "roles": [] });
        ada.post("/api/v1/invitations", &invitation).expect(201);
        let mail = wait_for_mail(&home, "INVITATION", "mary@navy.example", 1);
        browser.open(&mail.links()[0]);
        assert_eq!(browser.run("return document.getElementById('first-name').value"), "Mary");
        browser.type_into("//input[@id='last-name']", " ");
        browser.type_into("//input[@id='password']", "only lower case");
        browser.click("//button");
        assert!(browser.text_of("//p[@id='error']").contains("upper-case"));
        assert!(browser.text_of("//p[@id='last-name-error']").starts_with("The last name must"));
        let described = "return document.getElementById('last-name').getAttribute('aria-describedby')";
        assert_eq!(browser.run(described), "last-name-error");
        picture("invitation");
        browser.type_into("//input[@id='last-name']", "Jackson");
        browser.type_into("//input[@id='password']", NEW_PASSWORD);
        browser.click("//button");
        assert_eq!(browser.text_of("//h1[. = 'Welcome']"), "Welcome");
        browser.click("//a[. = 'Log in']");
        assert_eq!(browser.text_of("//h1[. = 'Sign in']"), "Sign in");
        let login = json!({ "email": "mary@navy.example", "password": NEW_PASSWORD });
        let mary = server.client().post("/api/v1/auth/login", &login).expect(200);
        assert_eq!((&mary["user"]["firstName"], &mary["user"]["lastName"]), (&json!("Mary"), &json!("Jackson")));
        browser.open(&mail.links()[0]);
        assert_eq!(browser.text_of("//h1"), "This link does not work");

        let scripts = browser.run("return document.scripts.length");
        assert_eq!(scripts, 0);
        let labels = browser
            .run("return [...document.querySelectorAll('input:not([type=hidden])')].every(it => it.labels.length)");
        assert_eq!(labels, true);
        let refused: Vec<String> =
            browser.console().into_iter().filter(|line| line.contains("Content Security")).collect();
        assert!(refused.is_empty(), "{refused:#?}");
    }
}

fn test_mail(home: &Home, variables: &[(&str, &str)]) -> Ended {
    let launch = home.iam_server().args(["mail", "test", "grace@navy.example"]);
    variables.iter().fold(launch, |launch, (name, value)| launch.env(name, value)).run()
}

#[test]
fn a_test_message_says_why_it_was_not_sent() {
    let home = Home::new();
    let ended = test_mail(&home, &[]);
    assert_eq!(reason(&ended), "iam-server: mail is off: set smtp_url and mail_from");
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("smtp://user:hunter2@{}", listener.local_addr().unwrap())
    };
    let ended = test_mail(&home, &[("IAM_SMTP_URL", &closed), ("IAM_MAIL_FROM", "no-reply@acme.example")]);
    assert!(reason(&ended).starts_with("iam-server: the message was not sent: "), "{ended:?}");
    assert!(ended.log.contains("onnection") && !ended.log.contains("hunter2"), "{ended:?}");
}
