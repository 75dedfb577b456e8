//! An authenticator app, of another implementation than the service, and functions to set one up.

use iam_core::clock::Clock as _;
use iam_core::factor::FactorChange;
use iam_core::random::SystemRandom;
use iam_core::{AuditBatch, Caller, Change};
use iam_model::id::IdGenerator;
use serde_json::{Value, json};
use totp_rs::Totp;

use crate::app::TestApp;
use crate::people::{PASSWORD, Person};
use crate::request::Response;

/// The seconds of a step.
pub(crate) const STEP: i64 = 30;

/// An app with the secret of one factor.
pub(crate) struct Authenticator {
    pub(crate) id: String,
    totp: Totp,
    /// The recovery codes that came with the factor.
    pub(crate) recovery_codes: Vec<String>,
}

impl Authenticator {
    /// Reads the QR code's URI.
    pub(crate) fn scan(setup: &Value) -> Self {
        let totp = Totp::from_url(setup["uri"].as_str().unwrap()).unwrap();
        Self { id: setup["id"].as_str().unwrap().to_owned(), totp, recovery_codes: Vec::new() }
    }

    pub(crate) fn issuer(&self) -> Option<&str> {
        self.totp.issuer()
    }

    /// The code that the app shows, some steps after the present one.
    pub(crate) fn code(&self, app: &TestApp, steps: i64) -> String {
        let at = app.clock.now().timestamp() + steps * STEP;
        self.totp.generate(at.try_into().unwrap()).to_string()
    }
}

/// The codes of an answer.
pub(crate) fn codes(answer: &Value) -> Vec<String> {
    let codes = answer["recoveryCodes"].as_array().unwrap().iter();
    codes.map(|code| code.as_str().unwrap().to_owned()).collect()
}

impl TestApp {
    /// Sets up an app that is not confirmed.
    pub(crate) async fn set_up(&self, person: &Person) -> Authenticator {
        let setup = self.post("/auth/factors/totp").by(person).json(&json!({})).send().await.created();
        Authenticator::scan(&setup)
    }

    pub(crate) async fn confirm(&self, person: &Person, id: &str, code: &str) -> Response {
        let path = format!("/auth/factors/totp/{id}/confirm");
        self.post(&path).by(person).json(&json!({ "code": code })).send().await
    }

    /// Sets up an app and confirms it by the code of the step before, so that the present code is not used.
    pub(crate) async fn enrol(&self, person: &Person) -> Authenticator {
        let mut app = self.set_up(person).await;
        let answer = self.confirm(person, &app.id, &app.code(self, -1)).await.ok();
        if answer["recoveryCodes"].is_array() {
            app.recovery_codes = codes(&answer);
        }
        app
    }

    /// Logs in with the password. Returns the challenge for the second factor.
    pub(crate) async fn challenge(&self, person: &Person) -> String {
        let answer = self.attempt_at(&person.tenant, &person.email, PASSWORD).send().await;
        answer.problem("second-factor-required")["challenge"].as_str().unwrap().to_owned()
    }

    /// Answers a challenge.
    pub(crate) async fn answer(&self, challenge: &str, code: &str) -> Response {
        let body = json!({ "challenge": challenge, "code": code });
        self.post("/auth/login/second-factor").json(&body).send().await
    }

    /// Answers a challenge by a recovery code.
    pub(crate) async fn recover(&self, challenge: &str, code: &str) -> Response {
        let body = json!({ "challenge": challenge, "recoveryCode": code });
        self.post("/auth/login/second-factor").json(&body).send().await
    }

    /// Removes all factors of a person by trusted code. Its sessions stay.
    pub(crate) async fn remove_factors(&self, person: &Person) {
        let (tenant, user) = (person.tenant.parse().unwrap(), person.user.parse().unwrap());
        let caller = Caller::system(tenant, "test");
        let mut work = self.store.begin(tenant).await.unwrap();
        work.lock_user(user).await.unwrap();
        let factors = work.factors(user).await.unwrap();
        let change = Change::from(FactorChange::Remove { user, factors, is_last: true, grants: None });
        let batch = AuditBatch::of(&change, caller.author(), self.iam.now(), &IdGenerator::new(), &SystemRandom);
        work.write(&change, batch).await.unwrap();
        work.commit().await.unwrap();
    }

    /// The names of the person's factors, and how many recovery codes are left.
    pub(crate) async fn factors(&self, person: &Person) -> (Vec<String>, u64) {
        let list = self.get("/auth/factors").by(person).send().await.ok();
        let names = list["data"].as_array().unwrap().iter().map(|factor| factor["name"].as_str().unwrap().to_owned());
        (names.collect(), list["recoveryCodesLeft"].as_u64().unwrap())
    }
}
