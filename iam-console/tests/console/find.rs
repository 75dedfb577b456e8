#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::audit::AuditFilter;
use iam_core::organization::NewOrganization;
use iam_core::role::NewRole;

use crate::app::{App, EMAIL, person, request};

/// A console with an administrator that is signed in.
async fn signed() -> (App, Caller, String) {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    (app, ada, cookie)
}

async fn find(app: &App, cookie: &str, text: &str) -> String {
    let answer = app.get(&format!("/console/find?q={text}"), cookie).await;
    assert_eq!(answer.status, StatusCode::OK, "{text}: {}", answer.body);
    answer.body.split_once("<main").unwrap().1.to_owned()
}

#[tokio::test]
async fn people_roles_places_and_pages_are_found_by_a_part_of_their_names() {
    let (app, ada, cookie) = signed().await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Harbour")).await.unwrap().id;
    let description = Some("Works in the harbour".to_owned());
    let new = NewRole { name: "PILOT".into(), description, ..NewRole::default() };
    let role = app.iam.roles().create(&ada, new).await.unwrap().id;
    let new = NewOrganization { name: "Old harbour".into(), ..NewOrganization::default() };
    let place = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
    app.iam.users().suspend(&ada, grace).await.unwrap();
    let found = find(&app, &cookie, "HARB").await;
    for link in [format!("/users/{grace}\""), format!("/roles/{role}\""), format!("/organizations/{place}\"")] {
        assert!(found.contains(&link), "{link}: {found}");
    }
    assert!(found.contains("3 results") && found.contains("grace@example.com · Suspended"), "{found}");
    // A page of the console has its name, and other words.
    for text in ["webho", "notific"] {
        assert!(find(&app, &cookie, text).await.contains("href=\"/console/webhooks\""), "{text}");
    }
    assert!(find(&app, &cookie, "api+key").await.contains("href=\"/console/users?kind=SERVICE\""));
    assert!(find(&app, &cookie, "bulk").await.contains("href=\"/console/runs\""));
    assert!(find(&app, &cookie, "dashboard").await.contains("href=\"/console\""));
    // So has a permission.
    let permissions = find(&app, &cookie, "webhooks:cre").await;
    assert!(permissions.contains("href=\"/console/permissions/") && permissions.contains(">webhooks:create<"));
    let none = find(&app, &cookie, "nothing+of+this").await;
    assert!(none.contains("Nothing is found that you may see"), "{none}");
    let empty = find(&app, &cookie, "+").await;
    assert!(!empty.contains("<h2") && !empty.contains("Nothing is found"), "{empty}");
}

#[tokio::test]
async fn what_has_an_id_is_found_by_it() {
    let (app, ada, cookie) = signed().await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap().id;
    let role = app.iam.roles().create(&ada, NewRole { name: "PILOT".into(), ..NewRole::default() }).await.unwrap().id;
    // The next entry is the newest.
    app.clock.advance(TimeDelta::milliseconds(1));
    let new = NewOrganization { name: "North".into(), ..NewOrganization::default() };
    let place = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
    let entry = app.iam.audit().list(&ada, AuditFilter::default(), None, 1).await.unwrap().entries.remove(0).id;
    for path in [
        format!("/users/{grace}"),
        format!("/roles/{role}"),
        format!("/organizations/{place}"),
        format!("/audit/{entry}"),
    ] {
        let id = path.rsplit('/').next().unwrap();
        let found = find(&app, &cookie, id).await;
        assert!(found.contains("1 result<") && found.contains(&format!("href=\"/console{path}\"")), "{path}: {found}");
    }
    let page = app.get(&format!("/console/audit/{entry}"), &cookie).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(
        page.body.contains("ada@example.com created the organization North") && page.body.contains("<details open>")
    );
}

#[tokio::test]
async fn nothing_is_found_that_the_caller_may_not_see() {
    let (app, ada, _) = signed().await;
    app.person_with(&ada, "reader@example.com", &["roles:read"]).await;
    let hidden = app.iam.users().create(&ada, person("hidden@example.com", "Pilot")).await.unwrap().id;
    let role = app.iam.roles().create(&ada, NewRole { name: "PILOT".into(), ..NewRole::default() }).await.unwrap().id;
    let new = NewOrganization { name: "Pilots".into(), ..NewOrganization::default() };
    let place = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
    let entry = app.iam.audit().list(&ada, AuditFilter::default(), None, 1).await.unwrap().entries.remove(0).id;
    let reader = app.sign_in("reader@example.com").await;
    let found = find(&app, &reader, "pilot").await;
    assert!(found.contains(&format!("/roles/{role}")) && found.contains("1 result<"), "{found}");
    for id in [hidden.to_string(), place.to_string(), entry.to_string()] {
        let found = find(&app, &reader, &id).await;
        assert!(found.contains("Nothing is found") && !found.contains("<h2"), "{id}: {found}");
    }
    // Nor a page that refuses.
    let pages = find(&app, &reader, "role").await;
    assert!(pages.contains("href=\"/console/roles\"") && !pages.contains("/roles/new"), "{pages}");
    assert!(!find(&app, &reader, "webhooks").await.contains("/webhooks"));
    // And nothing of another tenant.
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    for text in ["pilot".to_owned(), hidden.to_string(), role.to_string(), place.to_string(), entry.to_string()] {
        assert!(find(&app, &eve, &text).await.contains("Nothing is found"), "{text}");
    }
}

#[tokio::test]
async fn the_palette_gets_the_same_results_as_a_list_of_options() {
    let (app, ada, cookie) = signed().await;
    for number in 0..7 {
        app.iam.users().create(&ada, person(&format!("user{number}@example.com"), "<b>Many")).await.unwrap();
    }
    let sent = request(Method::GET, "/console/find?q=lovelace", &cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await.body;
    assert!(part.contains("role=\"listbox\"") && !part.contains("<html") && !part.contains("<b>"), "{part}");
    assert_eq!(part.matches("role=\"option\"").count(), 5, "of each kind: {part}");
    for number in 0..5 {
        assert!(part.contains(&format!("id=\"palette-option-{number}\"")), "{part}");
    }
    assert!(part.contains("<p id=\"palette-status\" hx-swap-oob=\"innerHTML\">5 results</p>"), "{part}");
    // Each page of a session has the palette, and a button that leads to the page Find without a script.
    let page = app.get("/console/account", &cookie).await.body;
    assert!(page.contains("<dialog id=\"palette\"") && page.contains("class=\"find\" action=\"/console/find\""));
    assert!(!app.get("/console/sign-in", "").await.body.contains("<dialog"));
}
