//! Logins by e-mail (`docs/http-api.md#login-by-e-mail`): what the tests in the files below share, and the way to a
//! session.

mod attack;
mod code;
mod end;
mod race;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::mail::{Mail, MailKind};
use iam_core::tenant::{EmailLogin, TenantPatch};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::mail::tokens;
use crate::people::{PASSWORD, Person, claims, with};
use crate::request::{Response, members};

in_memory_with_mail![
    the_link_logs_in,
    the_code_logs_in_with_the_flow_of_its_request,
    a_code_may_be_typed_with_blanks_and_dashes,
    link_and_code_work_once_together,
    only_the_newest_message_counts,
    they_work_for_ten_minutes_from_the_sending_on,
    the_answer_is_the_same_for_an_address_without_an_account,
    only_verified_accounts_of_tenants_that_want_it_get_a_message,
    one_message_has_a_link_and_a_code_for_each_account,
    a_named_tenant_limits_the_message_to_its_account,
    beyond_three_messages_in_an_hour_the_last_one_stays_valid,
    requests_that_get_no_message_do_not_use_up_the_limit,
    a_request_is_recorded_with_the_address_it_came_from,
    a_login_is_recorded_with_its_method,
    a_second_factor_is_asked_for,
    a_user_who_must_set_up_a_factor_is_told,
    another_replica_finishes_the_login,
    the_setting_is_a_protection,
    missing_and_invalid_fields_are_named,
];

const EMAIL: &str = "ada@example.com";

/// A login by e-mail that has begun: what the client has, and what the message has.
pub(crate) struct Begun {
    pub(crate) flow: String,
    pub(crate) token: String,
    pub(crate) code: String,
}

impl Begun {
    fn by_link(&self) -> Value {
        json!({ "token": self.token })
    }

    fn by_code(&self) -> Value {
        json!({ "flow": self.flow, "code": self.code })
    }

    /// The flow with a code that is wrong.
    fn by_wrong_code(&self) -> Value {
        let wrong = if self.code == "00000000" { "00000001" } else { "00000000" };
        json!({ "flow": self.flow, "code": wrong })
    }
}

/// The codes in a message.
fn codes(mail: &Mail) -> Vec<String> {
    let code = |account: &iam_core::mail::MailAccount| account.link.as_ref().unwrap().code.as_ref().unwrap().clone();
    mail.accounts.iter().map(code).map(|code| code.expose().to_owned()).collect()
}

impl TestApp {
    /// Lets the users of a person's tenant log in by e-mail, and verifies the address of the person.
    pub(crate) async fn allow_email_login(&self, person: &Person) {
        let system = Caller::system(person.tenant.parse().unwrap(), "test");
        let patch = TenantPatch { email_login: Some(EmailLogin::On), ..TenantPatch::default() };
        self.iam.tenants().update(&system, system.tenant(), patch).await.unwrap();
        self.iam.users().verify_email(&system, &person.email).await.unwrap();
    }

    /// Requests a login. Returns the flow.
    async fn flow(&self, body: &Value) -> String {
        let answer = self.post("/auth/email-login").json(body).send().await;
        answer.accepted();
        assert_eq!(members(&answer.json()), ["flow"]);
        answer.json()["flow"].as_str().unwrap().to_owned()
    }

    /// Requests a login of a person in its tenant, and opens the message.
    pub(crate) async fn email_login(&self, person: &Person) -> Begun {
        self.mails().await;
        let flow = self.flow(&json!({ "email": person.email, "tenant": person.tenant })).await;
        let mails = self.mails().await;
        let [mail] = &mails[..] else { panic!("{mails:?}") };
        assert_eq!((mail.kind, mail.to.as_str(), mail.accounts.len()), (MailKind::Login, &*person.email, 1));
        Begun { flow, token: tokens(mail).remove(0), code: codes(mail).remove(0) }
    }

    /// An attempt to finish a login.
    async fn finish(&self, body: &Value) -> Response {
        self.post("/auth/email-login/finish").json(body).send().await
    }

    /// A person whose tenant wants logins by e-mail, and whose address is verified.
    async fn by_email(&self, email: &str) -> Person {
        let person = self.register(email).await;
        self.allow_email_login(&person).await;
        person
    }

    async fn patch_tenant(&self, by: &Person, body: Value) -> Response {
        self.patch(&format!("/tenants/{}", by.tenant)).by(by).json(&body).send().await
    }
}

async fn the_link_logs_in(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    let body = app.finish(&begun.by_link()).await.ok();
    assert_eq!(members(&body), ["accessToken", "expiresIn", "refreshToken", "tokenType", "user"]);
    assert_eq!((&body["user"]["id"], &body["user"]["lastLoginAt"]), (&json!(ada.user), &json!(app.now())));
    let session = Person::logged_in(&body);
    assert_ne!(session.session, ada.session);
    assert_eq!(claims(&session.access)["amr"], json!(["email"]));
    assert_eq!(app.get("/auth/me").by(&session).send().await.ok()["amr"], json!(["email"]));
    let body = json!({ "refreshToken": session.refresh });
    let refreshed = app.post("/auth/refresh").json(&body).send().await.ok();
    assert_eq!(claims(refreshed["accessToken"].as_str().unwrap())["amr"], json!(["email"]));
}

async fn the_code_logs_in_with_the_flow_of_its_request(app: TestApp) {
    let [ada, grace] = [app.by_email(EMAIL).await, app.by_email("grace@example.com").await];
    let [of_ada, of_grace] = [app.email_login(&ada).await, app.email_login(&grace).await];
    assert!(of_ada.code.len() == 8 && of_ada.code.bytes().all(|digit| digit.is_ascii_digit()), "{}", of_ada.code);
    let crossed = json!({ "flow": of_grace.flow, "code": of_ada.code });
    assert_eq!(app.finish(&crossed).await.invalid_fields(), ["code"]);
    assert_eq!(app.finish(&of_ada.by_code()).await.ok()["user"]["id"], ada.user);
    assert_eq!(app.finish(&of_grace.by_code()).await.ok()["user"]["id"], grace.user);
}

async fn a_code_may_be_typed_with_blanks_and_dashes(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    let (one, other) = begun.code.split_at(4);
    let body = json!({ "flow": begun.flow, "code": format!(" {one} - {other}\n") });
    app.finish(&body).await.ok();
}

async fn link_and_code_work_once_together(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    for is_by_link in [true, false] {
        let begun = app.email_login(&ada).await;
        app.finish(&if is_by_link { begun.by_link() } else { begun.by_code() }).await.ok();
        assert_eq!(app.finish(&begun.by_link()).await.invalid_fields(), ["token"]);
        assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"]);
    }
}

async fn only_the_newest_message_counts(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let [older, newer] = [app.email_login(&ada).await, app.email_login(&ada).await];
    assert_eq!(app.finish(&older.by_link()).await.invalid_fields(), ["token"]);
    assert_eq!(app.finish(&older.by_code()).await.invalid_fields(), ["code"]);
    let crossed = json!({ "flow": older.flow, "code": newer.code });
    assert_eq!(app.finish(&crossed).await.invalid_fields(), ["code"]);
    app.finish(&newer.by_code()).await.ok();
}

async fn they_work_for_ten_minutes_from_the_sending_on(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    app.mails().await;
    let flow = app.flow(&json!({ "email": EMAIL })).await;
    // The mail server was away.
    app.pass(TimeDelta::minutes(40));
    let mails = app.mails().await;
    let begun = Begun { flow, token: tokens(&mails[0]).remove(0), code: codes(&mails[0]).remove(0) };
    app.pass(TimeDelta::minutes(10) - TimeDelta::milliseconds(1));
    app.finish(&begun.by_code()).await.ok();
    let begun = app.email_login(&ada).await;
    app.pass(TimeDelta::minutes(10));
    assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"]);
    assert_eq!(app.finish(&begun.by_link()).await.invalid_fields(), ["token"]);
}

async fn the_answer_is_the_same_for_an_address_without_an_account(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.users().verify_email(&system, "grace@example.com").await.unwrap();
    app.set_status(&ada, &grace, "SUSPENDED").await;
    app.add_user(&ada, "unverified@example.com").await;
    let off = app.register("off@example.com").await;
    let of_off = Caller::system(off.tenant.parse().unwrap(), "test");
    app.iam.users().verify_email(&of_off, "off@example.com").await.unwrap();
    app.mails().await;
    let answer = async |body: Value| {
        let answer = app.post("/auth/email-login").json(&body).send().await;
        answer.accepted();
        let names: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
        (answer.text().len(), answer.text()[..14].to_owned(), names)
    };
    let known = answer(json!({ "email": EMAIL })).await;
    assert_eq!(app.mails().await.len(), 1);
    for body in [
        json!({ "email": "unknown@example.com" }),
        json!({ "email": EMAIL, "tenant": "no-such-tenant" }),
        json!({ "email": EMAIL, "tenant": "not a slug" }),
        json!({ "email": "grace@example.com", "tenant": ada.tenant }),
        json!({ "email": "unverified@example.com" }),
        json!({ "email": "off@example.com" }),
        json!({ "email": "off@example.com", "tenant": off.tenant }),
    ] {
        assert_eq!(answer(body.clone()).await, known, "{body}");
        assert!(app.mails().await.is_empty(), "{body}");
        // The flow of such a request takes codes like any other.
        let flow = app.flow(&body).await;
        let guess = json!({ "flow": flow, "code": "00000000" });
        assert_eq!(app.finish(&guess).await.invalid_fields(), ["code"], "{body}");
    }
}

async fn only_verified_accounts_of_tenants_that_want_it_get_a_message(app: TestApp) {
    let ada = app.register(EMAIL).await;
    assert_eq!(app.get(&format!("/tenants/{}", ada.tenant)).by(&ada).send().await.ok()["emailLogin"], "OFF");
    let sent = async || {
        app.flow(&json!({ "email": EMAIL, "tenant": ada.tenant })).await;
        app.mails().await.len()
    };
    app.mails().await;
    assert_eq!(sent().await, 0);
    let verify = async || {
        app.post("/auth/email/verification").by(&ada).send().await.accepted();
        let token = app.token(MailKind::Verify, EMAIL).await;
        app.post("/auth/email/verify").json(&json!({ "token": token })).send().await.no_content();
    };
    assert_eq!(app.patch_tenant(&ada, json!({ "emailLogin": "ON" })).await.ok()["emailLogin"], "ON");
    assert_eq!(sent().await, 0, "the address is not verified");
    verify().await;
    assert_eq!(sent().await, 1);
    app.patch_tenant(&ada, json!({ "emailLogin": "OFF" })).await.ok();
    assert_eq!(sent().await, 0);
}

async fn one_message_has_a_link_and_a_code_for_each_account(app: TestApp) {
    let people = [app.by_email(EMAIL).await, app.by_email(EMAIL).await, app.by_email(EMAIL).await];
    app.register(EMAIL).await;
    app.mails().await;
    let flow = app.flow(&json!({ "email": "ADA@example.com" })).await;
    let mails = app.mails().await;
    assert_eq!((mails.len(), mails[0].accounts.len()), (1, 3), "the account that is not verified is left out");
    let mut found = Vec::new();
    let (codes, tokens) = (codes(&mails[0]), tokens(&mails[0]));
    let by_code = app.finish(&json!({ "flow": flow, "code": codes[1] })).await.ok();
    found.push(by_code["user"]["tenantId"].clone());
    // The flow is finished; the other links stay.
    assert_eq!(app.finish(&json!({ "flow": flow, "code": codes[0] })).await.invalid_fields(), ["code"]);
    assert_eq!(app.finish(&json!({ "token": tokens[1] })).await.invalid_fields(), ["token"]);
    for token in [&tokens[0], &tokens[2]] {
        found.push(app.finish(&json!({ "token": token })).await.ok()["user"]["tenantId"].clone());
    }
    let mut expected: Vec<Value> = people.iter().map(|person| json!(person.tenant)).collect();
    for tenants in [&mut found, &mut expected] {
        tenants.sort_by_key(Value::to_string);
    }
    assert_eq!(found, expected);
}

async fn a_named_tenant_limits_the_message_to_its_account(app: TestApp) {
    let [_, second] = [app.by_email(EMAIL).await, app.by_email(EMAIL).await];
    let begun = app.email_login(&second).await;
    assert_eq!(app.finish(&begun.by_code()).await.ok()["user"]["tenantId"], second.tenant);
    let tenant = app.get(&format!("/tenants/{}", second.tenant)).by(&second).send().await.ok();
    app.flow(&json!({ "email": EMAIL, "tenant": tenant["slug"] })).await;
    assert_eq!(app.mails().await[0].accounts.len(), 1);
}

async fn beyond_three_messages_in_an_hour_the_last_one_stays_valid(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    for _ in 0..2 {
        app.email_login(&ada).await;
    }
    let last = app.email_login(&ada).await;
    let pretended = app.flow(&json!({ "email": EMAIL, "tenant": ada.tenant })).await;
    assert!(app.mails().await.is_empty());
    let crossed = json!({ "flow": pretended, "code": last.code });
    assert_eq!(app.finish(&crossed).await.invalid_fields(), ["code"]);
    app.finish(&last.by_code()).await.ok();
    app.pass(TimeDelta::hours(1));
    app.email_login(&ada).await;
}

async fn requests_that_get_no_message_do_not_use_up_the_limit(app: TestApp) {
    let [ada, off] = [app.by_email(EMAIL).await, app.register(EMAIL).await];
    for tenant in ["no-such-tenant", &off.tenant] {
        for _ in 0..3 {
            app.flow(&json!({ "email": EMAIL, "tenant": tenant })).await;
            app.mails().await;
        }
    }
    let begun = app.email_login(&ada).await;
    app.finish(&begun.by_link()).await.ok();
}

async fn a_request_is_recorded_with_the_address_it_came_from(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let request = app.post("/auth/email-login").json(&json!({ "email": EMAIL }));
    request.from("192.0.2.77").header("x-correlation-id", "requesting").send().await.accepted();
    app.mails().await;
    let entries = app.audit(&ada, &[("correlationId", "requesting")]).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    let entry = &entries[0];
    assert_eq!((&entry["action"], &entry["resourceId"]), (&json!("EMAIL_LOGIN_REQUESTED"), &json!(ada.user)));
    assert_eq!((&entry["userId"], &entry["ipAddress"]), (&Value::Null, &json!("192.0.2.77")));
}

async fn a_login_is_recorded_with_its_method(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    app.finish(&begun.by_wrong_code()).await.invalid_fields();
    let session = Person::logged_in(&app.finish(&begun.by_code()).await.ok());
    let failure = &app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await[0];
    let metadata = json!({ "email": EMAIL, "reason": "INVALID_CODE", "attemptCount": 1 });
    assert_eq!((&failure["metadata"], &failure["userId"]), (&metadata, &Value::Null));
    let login = &app.audit(&ada, &[("action", "LOGIN"), ("resourceId", &session.session)]).await[0];
    assert_eq!((&login["metadata"], &login["userId"]), (&json!({ "method": "email" }), &json!(ada.user)));
    let shown = format!("{:?}", app.audit(&ada, &[]).await);
    for secret in [&begun.token, &begun.code, &begun.flow] {
        assert!(!shown.contains(secret));
    }
}

async fn a_second_factor_is_asked_for(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let authenticator = app.enrol(&ada).await;
    let begun = app.email_login(&ada).await;
    let problem = app.finish(&begun.by_code()).await.problem("second-factor-required");
    assert_eq!(problem["methods"], json!(["totp", "recovery-code"]));
    assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"], "it is used up");
    let challenge = problem["challenge"].as_str().unwrap();
    app.answer(challenge, "000000").await.problem("unauthorized");
    let answer = app.answer(challenge, &authenticator.code(&app, 0)).await;
    let session = Person::logged_in(&answer.ok());
    assert_eq!(claims(&session.access)["amr"], json!(["email", "otp", "mfa"]));
    let login = &app.audit(&ada, &[("action", "LOGIN"), ("resourceId", &session.session)]).await[0];
    assert_eq!(login["metadata"]["method"], "email+totp");
    // The factor has proven more than the mailbox.
    assert_eq!(app.get("/auth/me").by(&session).send().await.ok()["authTime"], app.now());
    app.patch_tenant(&session, json!({ "passwordPolicy": "nist-800-63b-4" })).await.ok();
}

async fn a_user_who_must_set_up_a_factor_is_told(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    app.patch_tenant(&ada, json!({ "secondFactor": "REQUIRED" })).await.ok();
    let begun = app.email_login(&ada).await;
    let answer = app.finish(&begun.by_link()).await.ok();
    let by_password = app.attempt(EMAIL, PASSWORD).send().await.ok();
    assert!(answer["enrolBy"].is_string());
    assert_eq!(answer["enrolBy"], by_password["enrolBy"]);
}

async fn another_replica_finishes_the_login(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    app.restarted().await.finish(&begun.by_code()).await.ok();
    let begun = app.email_login(&ada).await;
    app.restarted().await.finish(&begun.by_link()).await.ok();
}

async fn the_setting_is_a_protection(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let path = format!("/tenants/{}", ada.tenant);
    let on = json!({ "emailLogin": "ON" });
    let by_key = app.patch(&path).bearer(key["key"].as_str().unwrap()).json(&on);
    assert!(by_key.send().await.detail("forbidden").contains("api key"));
    let updater = app.colleague_who_may(&ada, "updater@example.com", &["tenants:read"]).await;
    app.patch(&path).by(&updater).json(&on).send().await.lacks("tenants:update");
    assert_eq!(app.patch_tenant(&ada, json!({ "emailLogin": "SOMETIMES" })).await.invalid_fields(), ["emailLogin"]);
    app.patch_tenant(&ada, on.clone()).await.ok();
    let entry = &app.audit(&ada, &[("action", "UPDATE"), ("resourceId", &ada.tenant)]).await[0];
    let (old, new) = (json!({ "emailLogin": "OFF" }), on);
    assert_eq!((&entry["oldValue"], &entry["newValue"]), (&old, &new));
    app.pass(TimeDelta::minutes(10) + TimeDelta::milliseconds(1));
    app.patch_tenant(&ada, json!({ "emailLogin": "OFF" })).await.problem("insufficient-authentication");
}

async fn missing_and_invalid_fields_are_named(app: TestApp) {
    let refused = async |path: &str, body: Value| app.post(path).json(&body).send().await.invalid_fields();
    assert_eq!(refused("/auth/email-login", json!({})).await, ["email"]);
    assert_eq!(refused("/auth/email-login", json!({ "email": "no address" })).await, ["email"]);
    assert_eq!(refused("/auth/email-login", json!({ "email": EMAIL, "x": 1 })).await, ["x"]);
    let finish = "/auth/email-login/finish";
    for (body, field) in [
        (json!({}), "token"),
        (json!({ "flow": "iamc_" }), "code"),
        (json!({ "code": "12345678" }), "flow"),
        (json!({ "token": "iaml_", "flow": "iamc_", "code": "12345678" }), "token"),
        (json!({ "token": "iaml_", "code": "12345678" }), "token"),
        (with(json!({ "token": "iaml_" }), &json!({ "email": EMAIL })), "email"),
    ] {
        assert_eq!(refused(finish, body.clone()).await, [field], "{body}");
    }
    for path in ["/auth/email-login", finish] {
        app.get(path).send().await.problem("method-not-allowed");
    }
}
