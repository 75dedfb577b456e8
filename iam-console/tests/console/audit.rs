#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use iam_core::audit::NewEvent;
use iam_core::user::UserPatch;

use crate::app::{App, EMAIL, person, request};

#[tokio::test]
async fn a_change_is_shown_with_the_values_before_and_after() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let patch = UserPatch { last_name: Some("<b>Hopper".into()), ..UserPatch::default() };
    app.iam.users().update(&ada, grace.id, patch).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    let path = format!("/console/audit?resource=USER&action=UPDATE&id={}", grace.id);
    let answer = app.get(&path, &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    let difference = "<del>Lovelace</del></td><td><ins>&#60;b&#62;Hopper</ins>";
    assert!(answer.body.contains(difference) && !answer.body.contains("<b>"), "{}", answer.body);
    assert!(answer.body.contains("by ada@example.com"), "{}", answer.body);
    assert!(answer.body.contains(&format!("/console/users/{}", grace.id)), "{}", answer.body);
    assert!(!answer.body.contains("LOGIN</strong>"), "{}", answer.body);
}

#[tokio::test]
async fn the_log_has_pages_that_keep_the_filter() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    for number in 0..30 {
        let event = NewEvent {
            action: "SENT".into(),
            resource_type: "INVOICE".into(),
            resource_id: Some(format!("invoice/{number}")),
            ..NewEvent::default()
        };
        app.iam.audit().log(&ada, event).await.unwrap();
    }
    let cookie = app.sign_in(EMAIL).await;
    let first = app.get("/console/audit?action=SENT", &cookie).await;
    assert_eq!(first.body.matches("INVOICE SENT</strong>").count(), 25);
    assert!(first.body.contains("id=invoice/29") || first.body.contains("id=invoice%2F29"), "{}", first.body);
    let (_, rest) = first.body.split_once(r#"rel="next" href=""#).expect("older entries");
    let older = rest.split('"').next().unwrap().replace("&#38;", "&");
    let second = app.get(&older, &cookie).await;
    assert_eq!(second.body.matches("INVOICE SENT</strong>").count(), 5, "{older}");
    assert!(!second.body.contains(r#"rel="next""#));
    assert!(second.body.contains("/console/audit?action=SENT\">Newest"), "{}", second.body);
}

#[tokio::test]
async fn an_empty_log_says_what_to_do_and_a_wrong_filter_what_is_wrong() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let none = app.get("/console/audit?from=2020-01-01&until=2020-01-31", &cookie).await;
    assert!(none.body.contains("No entry matches") && none.body.contains("Show all entries"), "{}", none.body);
    for query in ["from=yesterday", "user=ada", "cursor=x", "correlation=%20x%20y"] {
        let answer = app.get(&format!("/console/audit?{query}"), &cookie).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
    }
    let sent = request(Method::GET, "/console/audit?action=LOGIN", &cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await;
    assert!(part.body.contains("SESSION LOGIN") && !part.body.contains("<html"), "{}", part.body);
    let sent = request(Method::GET, "/console/audit?from=yesterday", &cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await;
    assert!(part.body.contains(r#"class="error""#) && !part.body.contains("<html"), "{}", part.body);
}

#[tokio::test]
async fn the_log_is_for_those_who_may_read_it_and_of_one_tenant() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let cookie = app.sign_in("grace@example.com").await;
    assert_eq!(app.get("/console/audit", &cookie).await.status, StatusCode::FORBIDDEN);
    app.register("eve@example.org").await;
    let cookie = app.sign_in("eve@example.org").await;
    let answer = app.get("/console/audit", &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(!answer.body.contains("example.com"), "{}", answer.body);
}
