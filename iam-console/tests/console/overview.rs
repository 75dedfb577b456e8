#![cfg(test)]

use chrono::TimeDelta;

use crate::app::{App, EMAIL, person};

#[tokio::test]
async fn the_overview_counts_users_and_sign_ins() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    app.iam.users().suspend(&ada, grace.id).await.unwrap();
    app.post("/console/sign-in", "", &[("email", EMAIL), ("password", "Wr0ng-pass!")]).await;
    app.clock.advance(TimeDelta::days(1));
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("/console/users?status=SUSPENDED\">Suspended</a>: <strong>1</strong>"), "{body}");
    // The registration is a sign-in, too.
    assert!(body.contains("<th scope=\"row\">2026-01-31</th><td>1</td><td>1</td>"), "{body}");
    assert!(body.contains("<th scope=\"row\">2026-02-01</th><td>1</td><td>0</td>"), "{body}");
}

#[tokio::test]
async fn who_may_see_nothing_has_an_overview_of_itself() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let cookie = app.sign_in("grace@example.com").await;
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("You have no roles") && !body.contains("<svg") && !body.contains("status=ACTIVE"), "{body}");
}
