//! The lockout after failed logins (`docs/http-api.md#locks`).

use chrono::TimeDelta;
use futures_util::future::join_all;

use crate::app::TestApp;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};

on_every_store![
    "guesses race for the lock of the store";
    five_failures_are_401_and_then_even_the_right_password_is_403,
    the_answer_says_when_the_lock_ends,
    the_lock_ends_exactly_after_fifteen_minutes,
    attempts_while_locked_do_not_extend_the_lock,
    attempts_while_locked_do_not_count,
    after_a_lock_five_more_failures_lock_again,
    a_success_resets_the_failed_attempts,
    the_window_of_fifteen_minutes_slides,
    an_unknown_email_is_locked_too,
    an_unknown_email_of_a_named_tenant_is_locked_too,
    failures_count_per_email_in_any_case,
    failures_count_per_tenant,
    the_count_survives_a_restart,
    the_right_password_of_a_suspended_user_neither_counts_nor_clears,
    concurrent_guesses_cannot_exceed_five,
    a_lock_does_not_end_existing_sessions,
];

const LOCK: TimeDelta = TimeDelta::minutes(15);
const INSTANT: TimeDelta = TimeDelta::milliseconds(1);

async fn fail(app: &TestApp, email: &str, times: usize) {
    for _ in 0..times {
        app.attempt(email, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
}

async fn is_locked(app: &TestApp, email: &str) {
    app.attempt(email, PASSWORD).send().await.problem("account-locked");
}

async fn is_open(app: &TestApp, email: &str) {
    app.attempt(email, PASSWORD).send().await.ok();
}

async fn five_failures_are_401_and_then_even_the_right_password_is_403(app: TestApp) {
    app.register("ada@example.com").await;
    fail(&app, "ada@example.com", 5).await;
    is_locked(&app, "ada@example.com").await;
    app.attempt("ada@example.com", WRONG_PASSWORD).send().await.problem("account-locked");
}

async fn the_answer_says_when_the_lock_ends(app: TestApp) {
    app.register("ada@example.com").await;
    fail(&app, "ada@example.com", 5).await;
    // Rounded up to whole seconds: after that wait, a client must find the account unlocked.
    for (passed, left) in [(0, 900), (1, 900), (898_000, 2), (999, 1)] {
        app.pass(TimeDelta::milliseconds(passed));
        let answer = app.attempt("ada@example.com", PASSWORD).send().await;
        let problem = answer.problem("account-locked");
        assert!(problem["detail"].as_str().unwrap().contains("temporarily locked"));
        assert_eq!(problem["retryAfter"], left);
        assert_eq!(answer.header("retry-after"), Some(left.to_string().as_str()));
    }
}

async fn the_lock_ends_exactly_after_fifteen_minutes(app: TestApp) {
    app.register("ada@example.com").await;
    fail(&app, "ada@example.com", 5).await;
    app.pass(LOCK - INSTANT);
    is_locked(&app, "ada@example.com").await;
    app.pass(INSTANT);
    is_open(&app, "ada@example.com").await;
}

async fn attempts_while_locked_do_not_extend_the_lock(app: TestApp) {
    app.register("ada@example.com").await;
    fail(&app, "ada@example.com", 5).await;
    for _ in 0..14 {
        app.pass(TimeDelta::minutes(1));
        app.attempt("ada@example.com", WRONG_PASSWORD).send().await.problem("account-locked");
    }
    app.pass(TimeDelta::minutes(1));
    is_open(&app, "ada@example.com").await;
}

async fn attempts_while_locked_do_not_count(app: TestApp) {
    app.register("ada@example.com").await;
    fail(&app, "ada@example.com", 5).await;
    app.pass(LOCK - INSTANT);
    for _ in 0..5 {
        is_locked(&app, "ada@example.com").await;
    }
    app.pass(INSTANT);
    fail(&app, "ada@example.com", 4).await;
    is_open(&app, "ada@example.com").await;
}

async fn after_a_lock_five_more_failures_lock_again(app: TestApp) {
    app.register("ada@example.com").await;
    fail(&app, "ada@example.com", 5).await;
    app.pass(LOCK);
    fail(&app, "ada@example.com", 5).await;
    is_locked(&app, "ada@example.com").await;
}

async fn a_success_resets_the_failed_attempts(app: TestApp) {
    app.register("ada@example.com").await;
    for _ in 0..2 {
        fail(&app, "ada@example.com", 4).await;
        is_open(&app, "ada@example.com").await;
    }
}

async fn the_window_of_fifteen_minutes_slides(app: TestApp) {
    app.register("ada@example.com").await;
    fail(&app, "ada@example.com", 2).await;
    app.pass(TimeDelta::minutes(10));
    fail(&app, "ada@example.com", 2).await;
    app.pass(TimeDelta::minutes(5));
    // The first two are outside the window.
    fail(&app, "ada@example.com", 2).await;
    app.pass(TimeDelta::minutes(10) - INSTANT);
    // The last four of the six still count.
    fail(&app, "ada@example.com", 1).await;
    is_locked(&app, "ada@example.com").await;
}

async fn an_unknown_email_is_locked_too(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    fail(&app, "unknown@example.com", 5).await;
    let answer = app.attempt("unknown@example.com", PASSWORD).send().await;
    assert_eq!(answer.problem("account-locked")["retryAfter"], 900);
    // Strangers cannot lock out the user who gets the address later: a login that names the tenant always works.
    app.add_user(&ada, "unknown@example.com").await;
    is_locked(&app, "unknown@example.com").await;
    app.attempt_at(&ada.tenant, "unknown@example.com", PASSWORD).send().await.ok();
    // A success clears the count of the e-mail, too.
    is_open(&app, "unknown@example.com").await;
}

async fn an_unknown_email_of_a_named_tenant_is_locked_too(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..5 {
        app.attempt_at(&ada.tenant, "unknown@example.com", PASSWORD).send().await.problem("unauthorized");
    }
    app.attempt_at(&ada.tenant, "unknown@example.com", PASSWORD).send().await.problem("account-locked");
}

async fn failures_count_per_email_in_any_case(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.add_user(&ada, "bob@example.com").await;
    for email in ["ada@example.com", "Ada@example.com", "ADA@example.com", "ada@EXAMPLE.com", "ada@example.COM"] {
        fail(&app, email, 1).await;
    }
    is_locked(&app, "ada@example.com").await;
    is_open(&app, "bob@example.com").await;
}

async fn failures_count_per_tenant(app: TestApp) {
    let [here, there] = [app.register("ada@example.com").await, app.register("ada@example.com").await];
    for _ in 0..5 {
        app.attempt_at(&here.tenant, "ada@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    app.attempt_at(&here.tenant, "ada@example.com", PASSWORD).send().await.problem("account-locked");
    app.attempt_at(&there.tenant, "ada@example.com", PASSWORD).send().await.ok();
}

async fn the_count_survives_a_restart(app: TestApp) {
    app.register("ada@example.com").await;
    fail(&app, "ada@example.com", 4).await;
    let app = app.restarted().await;
    fail(&app, "ada@example.com", 1).await;
    is_locked(&app.restarted().await, "ada@example.com").await;
}

async fn the_right_password_of_a_suspended_user_neither_counts_nor_clears(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.set_status(&ada, &bob, "SUSPENDED").await;
    fail(&app, "bob@example.com", 4).await;
    for _ in 0..2 {
        app.attempt("bob@example.com", PASSWORD).send().await.problem("forbidden");
    }
    fail(&app, "bob@example.com", 1).await;
    is_locked(&app, "bob@example.com").await;
}

async fn concurrent_guesses_cannot_exceed_five(app: TestApp) {
    app.register("ada@example.com").await;
    let guesses = (0..12).map(|_| app.attempt("ada@example.com", WRONG_PASSWORD).send());
    let answers: Vec<u16> = join_all(guesses).await.iter().map(crate::request::Response::status).collect();
    assert_eq!(answers.iter().filter(|status| **status == 401).count(), 5, "{answers:?}");
    assert_eq!(answers.iter().filter(|status| **status == 403).count(), 7, "{answers:?}");
    is_locked(&app, "ada@example.com").await;
}

async fn a_lock_does_not_end_existing_sessions(app: TestApp) {
    let ada: Person = app.register("ada@example.com").await;
    fail(&app, "ada@example.com", 5).await;
    assert!(app.knows(&ada).await);
}
