#![cfg(test)]

use axum::http::{StatusCode, header};
use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::audit::AuditFilter;
use iam_core::tenant::TenantPatch;
use iam_core::user::{User, UserPatch};
use serde_json::json;

use crate::app::{Answer, App, EMAIL, PASSWORD, person};

const STOP: &str = "/console/stop-acting";
const REASON: &str = "Ticket <1>";

/// A console with an administrator that is signed in, and a user who may read users.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    grace: User,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    app.person_with(&ada, "grace@example.com", &["users:read", "users:update"]).await;
    let users = app.iam.users().list(&ada, &Default::default(), Default::default(), Default::default()).await.unwrap();
    let grace = users.items.into_iter().find(|user| user.email.as_str() == "grace@example.com").unwrap();
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, grace }
}

impl Signed {
    fn path(&self, action: &str) -> String {
        format!("/console/users/{}{action}", self.grace.id)
    }

    async fn act(&self, more: &[(&str, &str)]) -> Answer {
        let fields = [[("reason", REASON), ("seconds", "900")].as_slice(), more].concat();
        self.app.post_signed(&self.path("/act"), &self.cookie, &fields).await
    }

    /// Begins to act as Grace. Returns the cookie.
    async fn acting(&self, more: &[(&str, &str)]) -> String {
        let answer = self.act(more).await;
        assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/console"), "{}", answer.body);
        answer.cookies("")
    }
}

fn is_acting(answer: &Answer) -> bool {
    answer.body.contains(STOP)
}

#[tokio::test]
async fn a_person_acts_as_a_user_until_it_stops() {
    let signed = signed().await;
    let page = signed.app.get(&signed.path(""), &signed.cookie).await;
    assert!(
        page.body.contains("/act\"") && page.body.contains("name=\"readOnly\" type=\"checkbox\" value=\"1\" checked")
    );
    let acting = signed.acting(&[("readOnly", "1")]).await;
    let home = signed.app.get("/console", &acting).await;
    assert_eq!(home.status, StatusCode::OK);
    let banner = [EMAIL, "grace@example.com", "This session is read-only", "2026-01-31 09:30 UTC"];
    assert!(is_acting(&home) && banner.iter().all(|text| home.body.contains(text)), "{}", home.body);
    // The page of an error and that of the user say so too.
    assert!(is_acting(&signed.app.get("/console/nowhere", &acting).await));
    let own = signed.app.get("/console/account", &acting).await;
    assert!(own.body.contains("Ticket &#60;1&#62;") && !own.body.contains(REASON), "{}", own.body);
    assert!(!own.body.contains("/sign-out-everywhere"), "{}", own.body);
    let stopped = signed.app.post_signed(STOP, &acting, &[]).await;
    assert_eq!(stopped.location(), signed.path(""));
    let back = stopped.cookies(&acting);
    let page = signed.app.get(&signed.path(""), &back).await;
    assert!(page.status == StatusCode::OK && !is_acting(&page), "{}", page.body);
    // The session has ended, and the older cookie leads on as oneself.
    let late = signed.app.get("/console", &acting).await;
    assert!(late.status == StatusCode::OK && !is_acting(&late) && late.headers.contains_key(header::SET_COOKIE));
    let nothing = signed.app.post_signed(STOP, &back, &[]).await;
    assert_eq!(nothing.location(), "/console");
}

#[tokio::test]
async fn what_is_done_is_recorded_with_both_and_said_so() {
    let signed = signed().await;
    let acting = signed.acting(&[]).await;
    let alan = signed.app.iam.users().create(&signed.ada, person("alan@example.com", "Alan")).await.unwrap();
    let suspend = format!("/console/users/{}/suspend", alan.id);
    signed.app.post_signed(&suspend, &acting, &[("confirmed", "yes")]).await;
    let log = signed.app.iam.audit().list(&signed.ada, AuditFilter::default(), None, 1).await.unwrap();
    assert_eq!((&*log.entries[0].action, log.entries[0].user_id), ("USER_SUSPENDED", Some(signed.grace.id)));
    signed.app.post_signed(STOP, &acting, &[]).await;
    let shown = signed.app.get("/console/audit", &signed.cookie).await.body;
    for sentence in [
        "ada@example.com started to act as grace@example.com",
        "ada@example.com as grace@example.com suspended alan@example.com",
        "ada@example.com no longer acts as grace@example.com",
    ] {
        assert!(shown.contains(sentence), "{sentence}: {shown}");
    }
}

#[tokio::test]
async fn a_form_of_oneself_is_not_sent_as_another_user() {
    let signed = signed().await;
    let before = signed.app.form_token(&signed.cookie).await;
    let acting = signed.acting(&[]).await;
    let during = signed.app.form_token(&acting).await;
    let answer = signed.app.post(&signed.path("/suspend"), &acting, &[("form-token", &before)]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let back = signed.app.post_signed(STOP, &acting, &[]).await.cookies(&acting);
    let answer = signed.app.post(&signed.path("/suspend"), &back, &[("form-token", &during)]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_refusal_says_why_and_asks_for_no_proof() {
    let signed = signed().await;
    signed.app.sign_in("grace@example.com").await;
    let acting = signed.acting(&[]).await;
    for path in ["/console/account/end-other-sessions", "/console/sign-out-everywhere"] {
        let answer = signed.app.post_signed(path, &acting, &[]).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(!answer.body.contains("proof-password") && is_acting(&answer), "{}", answer.body);
    }
    let fields = [("currentPassword", PASSWORD), ("newPassword", "N3w&Password")];
    let answer = signed.app.post_signed("/console/account/password", &acting, &fields).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("You are acting as another user") && is_acting(&answer), "{}", answer.body);
}

#[tokio::test]
async fn a_mistake_in_the_form_loses_nothing_that_was_typed() {
    let signed = signed().await;
    let long = "x".repeat(501);
    let answer =
        signed.app.post_signed(&signed.path("/act"), &signed.cookie, &[("reason", &long), ("seconds", "300")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("reason-error") && answer.body.contains(&long), "{}", answer.body);
    signed.app.clock.advance(TimeDelta::minutes(11));
    let asked = signed.act(&[]).await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN);
    assert!(asked.body.contains("proof-password") && asked.body.contains("Ticket &#60;1&#62;"), "{}", asked.body);
    signed.acting(&[("proof-password", PASSWORD)]).await;
}

#[tokio::test]
async fn signing_out_ends_both_sessions() {
    let signed = signed().await;
    let acting = signed.acting(&[]).await;
    let answer = signed.app.post_signed("/console/sign-out", &acting, &[]).await;
    assert_eq!(answer.location(), "/console/sign-in?out=1");
    assert!(signed.app.get("/console", &acting).await.is_to_sign_in());
    assert!(signed.app.get("/console", &signed.cookie).await.is_to_sign_in());
}

#[tokio::test]
async fn the_own_tokens_are_renewed_meanwhile() {
    let signed = signed().await;
    let answer =
        signed.app.post_signed(&signed.path("/act"), &signed.cookie, &[("reason", "x"), ("seconds", "3600")]).await;
    let acting = answer.cookies("");
    let token = signed.app.form_token(&acting).await;
    signed.app.clock.advance(TimeDelta::minutes(16));
    let page = signed.app.get("/console", &acting).await;
    assert!(is_acting(&page), "{}", page.body);
    let renewed = page.cookies(&acting);
    assert_eq!(signed.app.post(STOP, &renewed, &[("form-token", &token)]).await.location(), signed.path(""));
}

#[tokio::test]
async fn at_the_end_of_the_time_the_person_is_itself_again() {
    let signed = signed().await;
    let acting = signed.acting(&[]).await;
    signed.app.clock.advance(TimeDelta::minutes(15));
    let page = signed.app.get("/console/users", &acting).await;
    assert!(page.status == StatusCode::OK && !is_acting(&page), "{}", page.body);
    let back = page.cookies(&acting);
    assert!(!signed.app.get("/console/users", &back).await.headers.contains_key(header::SET_COOKIE));
}

#[tokio::test]
async fn the_form_is_only_where_it_can_be_used() {
    let signed = signed().await;
    let has_form = async |path: &str, cookie: &str| signed.app.get(path, cookie).await.body.contains("/act\"");
    let own = format!("/console/users/{}", signed.ada.user().unwrap());
    assert!(has_form(&signed.path(""), &signed.cookie).await && !has_form(&own, &signed.cookie).await);
    let grace = signed.app.sign_in("grace@example.com").await;
    assert!(!has_form(&own, &grace).await);
    let acting = signed.acting(&[]).await;
    assert!(!has_form(&own, &acting).await);
    signed.app.iam.users().suspend(&signed.ada, signed.grace.id).await.unwrap();
    assert!(!has_form(&signed.path(""), &signed.cookie).await);
}

#[tokio::test]
async fn an_api_key_in_the_place_of_the_token_is_none() {
    let signed = signed().await;
    let acting = signed.acting(&[]).await;
    let (own, _) = acting.rsplit_once('~').unwrap();
    for token in ["iamk_019bb2a4-5c10-7a1e-9b7d-3f0c2ad41b7b_x", "x"] {
        let page = signed.app.get("/console", &format!("{own}~{token}")).await;
        assert!(page.status == StatusCode::OK && !is_acting(&page), "{}", page.body);
    }
    // The own token of another person is not one by which it is acted as.
    let grace = signed.app.sign_in("grace@example.com").await;
    let access = grace.split('~').nth(1).unwrap();
    let page = signed.app.get("/console", &format!("{own}~{access}")).await;
    assert!(!is_acting(&page) && page.body.contains(EMAIL), "{}", page.body);
    for bad in [format!("{own}~"), format!("{acting}~x")] {
        let page = signed.app.get("/console", &bad).await;
        assert!(page.status == StatusCode::OK && !is_acting(&page), "{}", page.body);
    }
}

#[tokio::test]
async fn what_is_left_in_the_browser_acts_as_no_one() {
    let signed = signed().await;
    let (first, second) = (signed.acting(&[]).await, signed.acting(&[]).await);
    let part = |cookies: &str, index: usize| cookies.split("; ").nth(index).unwrap().to_owned();
    assert!(part(&first, 1).split_once('=').unwrap().0.ends_with("-acting"), "{first}");
    let mixed = format!("{}; {}", part(&second, 0), part(&first, 1));
    let page = signed.app.get("/console", &mixed).await;
    assert!(page.status == StatusCode::OK && !is_acting(&page), "{}", page.body);
    let alone = part(&first, 1);
    assert!(signed.app.get("/console", &alone).await.is_to_sign_in());
}

/// A browser keeps no cookie of more than 4096 bytes.
#[tokio::test]
async fn tokens_with_as_many_attributes_as_they_may_have_fit_into_cookies() {
    let signed = signed().await;
    let definitions = json!([{ "key": "a", "type": "STRING", "inToken": true }]);
    let patch =
        TenantPatch { user_attributes: Some(serde_json::from_value(definitions).unwrap()), ..TenantPatch::default() };
    signed.app.iam.tenants().update(&signed.ada, signed.ada.tenant(), patch).await.unwrap();
    for user in [signed.grace.id, signed.ada.user().unwrap()] {
        let attributes = json!({ "a": "x".repeat(1_015) }).as_object().cloned();
        let patch = UserPatch { attributes, ..UserPatch::default() };
        signed.app.iam.users().update(&signed.ada, user, patch).await.unwrap();
    }
    let own = signed.app.sign_in(EMAIL).await;
    let act = [("reason", "x"), ("seconds", "900")];
    let answer = signed.app.post_signed(&signed.path("/act"), &own, &act).await;
    let acting = answer.cookies(&own);
    assert!(is_acting(&signed.app.get("/console", &acting).await));
    for cookie in acting.split("; ") {
        assert!((1_500..3_900).contains(&cookie.len()), "{}", cookie.len());
    }
}

#[tokio::test]
async fn a_session_that_can_change_nothing_begins_no_action_on_many() {
    let signed = signed().await;
    let acting = signed.acting(&[("readOnly", "1")]).await;
    let user = signed.ada.user().unwrap().to_string();
    for confirmation in [[].as_slice(), &[("confirmed", "yes"), ("run", "1-x")]] {
        let fields = [[("action", "reactivate"), ("selected", &*user)].as_slice(), confirmation].concat();
        let answer = signed.app.post_signed("/console/runs", &acting, &fields).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
        assert!(answer.body.contains("in a session that can change nothing"), "{}", answer.body);
    }
}
