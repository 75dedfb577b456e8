//! Mail by SMTP, with a real mail server (`smtp.py`) that accepts, refuses, hangs or dies.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::mail::Received;
use crate::process::{Home, Launch, Process, TIMEOUT, clean_command, wait_for};
use crate::store::Store;
use crate::user::reason;

/// A mail server. It is killed when this is dropped.
struct MailServer {
    process: Process,
    port: u16,
    home: Home,
}

impl MailServer {
    fn start(mode: &str) -> Self {
        Self::start_in(Home::new(), mode, &[])
    }

    /// Starts a server with a certificate for `localhost` that it has signed itself.
    fn with_certificate(mode: &str) -> Self {
        let home = Home::new();
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = home.file("certificate.pem", certified.cert.pem());
        let key = home.file("key.pem", certified.signing_key.serialize_pem());
        Self::start_in(home, mode, &[certificate, key])
    }

    fn start_in(home: Home, mode: &str, certificate: &[PathBuf]) -> Self {
        let python = std::env::var_os("IAM_TEST_SMTP_PYTHON").expect("run scripts/test or scripts/with-smtp");
        let mut command = clean_command(Path::new(&python));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/smtp.py");
        command.arg(script).arg(home.path()).arg(mode).args(certificate);
        let process = Process::start(command);
        let line = process.output.wait_for_line("listening on");
        let port = line.rsplit(' ').next().unwrap().parse().unwrap();
        Self { process, port, home }
    }

    fn url(&self, scheme: &str, user: &str) -> String {
        format!("{scheme}://{user}127.0.0.1:{}", self.port)
    }

    /// Lets a server send its mail here.
    fn used_by(&self, launch: Launch) -> Launch {
        with_url(launch, &self.url("smtp", ""))
    }

    /// Returns the accepted messages.
    fn mails(&self) -> Vec<Received> {
        let names = self.home.files().into_iter().filter(|name| name.ends_with(".eml") && !name.starts_with('.'));
        names.map(|name| Received::read(&self.home.path().join(name))).collect()
    }

    fn wait_for_mails(&self, count: usize) -> Vec<Received> {
        wait_for("messages", TIMEOUT, || Some(self.mails()).filter(|mails| mails.len() >= count))
    }
}

fn with_url(launch: Launch, url: &str) -> Launch {
    launch.env("IAM_SMTP_URL", url).env("IAM_MAIL_FROM", "Acme <no-reply@acme.example>")
}

/// Makes all messages due now.
fn hurry(store: &Store) {
    store.tamper("UPDATE messages SET next_attempt_at = created_at, claimed_until = NULL");
}

#[test]
fn a_message_is_sent_by_smtp() {
    let (home, mail_server) = (Home::new(), MailServer::start("accept"));
    let server = mail_server.used_by(home.iam_server()).serve();
    server.client().register("grace@navy.example");
    let mail = mail_server.wait_for_mails(1).remove(0);
    assert_eq!((mail.kind.as_str(), mail.to.as_str()), ("VERIFY", "grace@navy.example"));
    server.client().post("/api/v1/auth/email/verify", &json!({ "token": mail.tokens()[0] })).expect(204);
}

#[test]
fn a_password_is_sent_only_after_starttls() {
    let mail_server = MailServer::with_certificate("auth");
    let home = Home::new();
    let test = |user: &str| {
        let launch = with_url(home.iam_server(), &mail_server.url("smtp", user));
        launch.args(["mail", "test", "grace@navy.example"]).run()
    };
    let accepted = test("iam:hunter2@");
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    assert_eq!(accepted.output, "The mail server has accepted the message: 250 2.0.0 queued as 4Kx7");
    assert_eq!(mail_server.mails()[0].kind, "TEST");
    let refused = test("iam:wrong-password@");
    assert!(reason(&refused).contains("535"), "{refused:?}");
    assert!(!refused.log.contains("wrong-password"), "{refused:?}");
    assert!(reason(&test("")).contains("530"));
}

#[test]
fn the_connection_can_use_tls_from_the_start() {
    let mail_server = MailServer::with_certificate("tls");
    let home = Home::new();
    let launch = with_url(home.iam_server(), &mail_server.url("smtps", ""));
    let ended = launch.args(["mail", "test", "grace@navy.example"]).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(mail_server.mails().len(), 1);
}

#[test]
fn a_refused_message_delays_no_request_and_is_sent_later() {
    for mode in ["busy", "die", "lose"] {
        let (store, mail_server) = (Store::sqlite(), MailServer::start(mode));
        let server = mail_server.used_by(store.iam_server()).serve();
        server.client().register("grace@navy.example");
        let line = server.log().wait_for_line("a message was not sent; it is tried again");
        assert!(line.contains("kind=\"VERIFY\"") && line.contains("attempt=1"), "{line}");
        assert!(!line.contains("iaml_"), "{line}");
        server.stop();
        let healthy = MailServer::start("accept");
        let server = healthy.used_by(store.iam_server()).serve();
        hurry(&store);
        let mail = healthy.wait_for_mails(1).remove(0);
        // The server may have accepted the message and lost only the answer: then both have the same link.
        for before in mail_server.mails() {
            assert_eq!(before.tokens(), mail.tokens());
        }
        assert_eq!(mail_server.mails().len(), usize::from(mode == "lose"));
        server.client().post("/api/v1/auth/email/verify", &json!({ "token": mail.tokens()[0] })).expect(204);
    }
}

#[test]
fn a_process_that_is_killed_while_it_sends_loses_no_message() {
    for store in [Store::sqlite(), Store::postgres()] {
        let hanging = MailServer::start("hang");
        let server = hanging.used_by(store.iam_server()).serve();
        server.client().register("grace@navy.example");
        hanging.process.output.wait_for_line("hanging");
        // Other requests go on meanwhile.
        server.client().log_in("grace@navy.example");
        server.kill();
        let healthy = MailServer::start("accept");
        let _server = healthy.used_by(store.iam_server()).serve();
        hurry(&store);
        assert_eq!(healthy.wait_for_mails(1).len(), 1);
    }
}
