#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use iam_core::Caller;
use iam_core::assignment::NewAssignment;
use iam_core::audit::{AuditEntry, NewEvent};
use iam_core::organization::{NewOrganization, OrganizationPatch};
use iam_core::role::NewRole;
use iam_core::user::UserPatch;
use serde_json::{Value, json};

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
    let difference = "<tr class=\"changed\"><th scope=\"row\">Last name <span class=\"mark\">changed</span></th>\n\
        <td data-label=\"Before\"><del>Lovelace</del></td>\n<td data-label=\"After\"><ins>&#60;b&#62;Hopper</ins></td></tr>";
    assert!(answer.body.contains(difference) && !answer.body.contains("<b>"), "{}", answer.body);
    let sentence = "<strong>ada@example.com changed the user grace@example.com (Last name)</strong>";
    assert!(
        answer.body.contains(sentence) && answer.body.contains("<dd>Changed <code>USER UPDATE</code></dd>"),
        "{}",
        answer.body
    );
    assert!(answer.body.contains(&format!("/console/users/{}", grace.id)), "{}", answer.body);
    assert!(!answer.body.contains("signed in</strong>"), "{}", answer.body);
    // The filter has words, and their codes as its values.
    assert!(answer.body.contains(r#"<option value="UPDATE" selected>Changed</option>"#), "{}", answer.body);
    assert!(answer.body.contains(r#"<option value="ROLE_ASSIGNMENT">Role assignment</option>"#), "{}", answer.body);
    // On a narrow screen, filters are folded unless one is set.
    assert!(answer.body.contains(r#"<details class="filters" open>"#), "{}", answer.body);
    assert!(app.get("/console/audit", &cookie).await.body.contains(r#"<details class="filters">"#));
}

#[tokio::test]
async fn values_of_objects_are_compared_one_by_one_and_secrets_are_named_as_such() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let id = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap().id;
    for (secret, floor) in [("first", 2), ("second", 3)] {
        let attributes = json!({ "secret": secret, "desk": { "room": 1, "floor": floor } });
        let attributes = Some(attributes.as_object().cloned().unwrap());
        app.iam.users().update(&ada, id, UserPatch { attributes, ..UserPatch::default() }).await.unwrap();
        app.clock.advance(chrono::TimeDelta::seconds(1));
    }
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get(&format!("/console/audit?resource=USER&action=UPDATE&id={id}"), &cookie).await.body;
    let newest = body.split("<li id=\"entry-").nth(1).unwrap();
    let (changed, unchanged) = newest.split_once("<summary>1 unchanged field</summary>").unwrap();
    assert!(changed.contains("<del>2</del></td>\n<td data-label=\"After\"><ins>3</ins>"), "{newest}");
    assert!(changed.contains("Attributes: desk.floor") && !changed.contains("desk.room"), "{newest}");
    assert!(unchanged.contains("Attributes: desk.room <span class=\"mark\">unchanged</span>"), "{newest}");
    assert!(changed.contains("Attributes: secret <span class=\"mark\">not shown</span>"), "{newest}");
    assert_eq!(changed.matches("Redacted: the log keeps no secrets.").count(), 2, "{newest}");
}

#[tokio::test]
async fn ids_in_values_stand_beside_their_names_and_an_entry_has_the_number_of_its_event() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let mut places = Vec::new();
    for name in ["North", "Harbour"] {
        let new = NewOrganization { name: name.into(), ..NewOrganization::default() };
        places.push(app.iam.organizations().create(&ada, new).await.unwrap().organization.id);
    }
    let patch = OrganizationPatch { parent: Some(Some(places[0])), ..OrganizationPatch::default() };
    app.iam.organizations().update(&ada, places[1], patch).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get("/console/audit?resource=ORGANIZATION&action=UPDATE", &cookie).await.body;
    assert!(body.contains("changed the organization Harbour (Parent organization)</strong>"), "{body}");
    assert!(body.contains(&format!("<ins>North ({})</ins>", places[0])), "{body}");
    let (_, rest) = body.split_once("<li id=\"entry-").unwrap();
    let path = format!("/console/audit/{}", rest.split('"').next().unwrap());
    assert!(!app.get(&path, &cookie).await.body.contains("Event number"));
    while app.iam.sequence_audit_logs().await.unwrap().more {}
    let body = app.get(&path, &cookie).await.body;
    assert!(body.contains("<p class=\"hint\">Event number: "), "{body}");
}

#[tokio::test]
async fn the_last_days_are_links_that_keep_the_other_filters() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let today = app.iam.now().date_naive();
    let (yesterday, week) = (today - chrono::Days::new(1), today - chrono::Days::new(6));
    let path = format!("/console/audit?action=LOGIN&from={yesterday}&until={yesterday}");
    let body = app.get(&path, &cookie).await.body.replace("&#38;", "&");
    let link =
        |from, until| format!("<a href=\"/console/audit?action=LOGIN&from={from}&until={until}\" class=\"chip\"");
    for (link, text) in [
        (link(today, today), ">Today</a>"),
        (link(yesterday, yesterday), " aria-current=\"true\">Yesterday</a>"),
        (link(week, today), ">Last 7 days</a>"),
    ] {
        assert!(body.contains(&format!("{link}{text}")), "{link}: {body}");
    }
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
    assert_eq!(first.body.matches("recorded INVOICE SENT</strong>").count(), 25);
    assert!(first.body.contains("id=invoice/29") || first.body.contains("id=invoice%2F29"), "{}", first.body);
    let (_, rest) = first.body.split_once(r#"rel="next" href=""#).expect("older entries");
    let older = rest.split('"').next().unwrap().replace("&#38;", "&");
    let second = app.get(&older, &cookie).await;
    assert_eq!(second.body.matches("recorded INVOICE SENT</strong>").count(), 5, "{older}");
    assert!(!second.body.contains(r#"rel="next""#));
    assert!(second.body.contains("/console/audit?action=SENT\">Newest"), "{}", second.body);
}

#[tokio::test]
async fn an_empty_log_says_what_to_do_and_a_wrong_filter_what_is_wrong() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let none = app.get("/console/audit?from=2020-01-01&until=2020-01-31", &cookie).await;
    assert!(none.body.contains("No entry matches") && none.body.contains("Show all entries"), "{}", none.body);
    let cases = [
        ("from=yesterday", "from", "must be a day"),
        ("until=2026-13-01", "until", "must be a day"),
        ("user=adam", "user", "must be the e-mail address or the name of one user"),
        ("user=eve%40example.org", "user", "must be the e-mail address or the name of one user"),
        ("organization=%3Cb%3E", "organization", "must be the name of one organization"),
        ("resource=USER&id=x%40example.com", "id", "must be the e-mail address or the name of one user"),
        ("correlation=%20x%20y", "correlation", "must be a correlation ID"),
    ];
    for (query, field, expected) in cases {
        let answer = app.get(&format!("/console/audit?{query}"), &cookie).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        let start = format!(r#"<p id="{field}-error" class="error">"#);
        let (_, rest) = answer.body.split_once(&start).unwrap_or_else(|| panic!("{query}: {}", answer.body));
        assert!(rest.split('<').next().unwrap().contains(expected), "{query}: {}", answer.body);
        assert!(answer.body.contains(&format!(r#"aria-describedby="{field}-error"#)), "{query}: {}", answer.body);
        assert!(!answer.body.contains("<li id=\"entry-") && answer.body.contains("Correct the marked fields"));
    }
    let answer = app.get("/console/audit?cursor=x", &cookie).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let sent = request(Method::GET, "/console/audit?action=LOGIN", &cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await;
    assert!(part.body.contains("ada@example.com signed in") && !part.body.contains("<html"), "{}", part.body);
    let sent = request(Method::GET, "/console/audit?from=yesterday", &cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await;
    // The field is replaced, and no list is left.
    assert_eq!(part.status, StatusCode::OK);
    assert!(part.body.contains(r#"<div id="from-field" hx-swap-oob="innerHTML">"#), "{}", part.body);
    assert!(part.body.contains(r#"id="from-error""#) && !part.body.contains(r#"id="until-field""#), "{}", part.body);
    assert!(!part.body.contains("<html") && !part.body.contains("<li id="), "{}", part.body);
}

#[tokio::test]
async fn the_log_is_for_those_who_may_read_it_and_of_one_tenant() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let cookie = app.sign_in("grace@example.com").await;
    let refused = app.get("/console/audit", &cookie).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let text = "It needs audit-logs:read: ask an administrator.";
    assert!(refused.body.contains("<h1>You may not see this page</h1>") && refused.body.contains(text), "{refused:?}");
    assert!(!refused.body.contains("/access-requests/new"), "{refused:?}");
    app.register("eve@example.org").await;
    let cookie = app.sign_in("eve@example.org").await;
    let answer = app.get("/console/audit", &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(!answer.body.contains("example.com"), "{}", answer.body);
}

async fn log(app: &App, caller: &Caller, action: &str, number: &str) -> AuditEntry {
    let event = NewEvent {
        action: action.into(),
        resource_type: "INVOICE".into(),
        resource_id: Some(number.into()),
        ..NewEvent::default()
    };
    app.iam.audit().log(caller, event).await.unwrap()
}

fn after(body: &str) -> u64 {
    let (_, rest) = body.split_once(r#"data-after=""#).unwrap_or_else(|| panic!("{body}"));
    rest.split('"').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn new_entries_come_once_newest_first_and_pass_the_filter() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    log(&app, &ada, "SENT", "1").await;
    app.iam.sequence_audit_logs().await.unwrap();
    let news = async |query: &str| app.get(&format!("/console/audit/news?action=SENT{query}"), &cookie).await;
    // The first answer has the newest entries, as the page has them.
    let first = news("").await;
    assert_eq!(first.status, StatusCode::OK);
    assert_eq!(first.body.matches("<li id=\"entry-").count(), 1, "{}", first.body);
    let place = after(&first.body);
    assert_eq!(place, app.iam.audit().checkpoint(&ada).await.unwrap().signed.checkpoint.size);
    let none = news(&format!("&after={place}")).await.body;
    assert!(after(&none) == place && !none.contains("<li"), "{none}");
    log(&app, &ada, "SENT", "2<i>").await;
    log(&app, &ada, "PAID", "3").await;
    let last = log(&app, &ada, "SENT", "4").await;
    // An entry that is not sequenced yet is not skipped.
    assert_eq!(after(&news(&format!("&after={place}")).await.body), place);
    app.iam.sequence_audit_logs().await.unwrap();
    let found = news(&format!("&after={place}")).await.body;
    assert!(found.starts_with("<ol") && !found.contains("PAID") && !found.contains("<i>"), "{found}");
    assert_eq!(found.matches("<li id=\"entry-").count(), 2, "{found}");
    assert_eq!(found.find("<li id=").unwrap(), found.find(&format!("<li id=\"entry-{}", last.id)).unwrap());
    assert_eq!(after(&found), place + 3);
    assert!(!found.contains("data-more"), "{found}");
    let suspended = app.get(&format!("/console/audit/news?action=SUSPEND&after={place}"), &cookie).await;
    assert_eq!(after(&suspended.body), place + 3);
    for query in ["after=x", "from=yesterday", "user=adam"] {
        let answer = app.get(&format!("/console/audit/news?{query}"), &cookie).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
    }
}

#[tokio::test]
async fn many_new_entries_come_in_several_answers() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    app.iam.sequence_audit_logs().await.unwrap();
    let start = app.iam.audit().checkpoint(&ada).await.unwrap().signed.checkpoint.size;
    for number in 0..101 {
        log(&app, &ada, "SENT", &number.to_string()).await;
    }
    app.iam.sequence_audit_logs().await.unwrap();
    let first = app.get(&format!("/console/audit/news?after={start}"), &cookie).await.body;
    assert!(first.matches("<li id=").count() == 100 && first.contains(" data-more"), "{first}");
    let second = app.get(&format!("/console/audit/news?after={}", after(&first)), &cookie).await.body;
    assert!(second.matches("<li id=").count() == 1 && !second.contains(" data-more"), "{second}");
    assert!(second.contains("<code>100</code>"), "{second}");
}

#[tokio::test]
async fn the_script_gets_the_checkpoint_and_proofs_as_the_api_gives_them() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let entry = log(&app, &ada, "SENT", "1").await;
    let path = format!("/console/audit/{}/proof", entry.id);
    let pending = app.get(&path, &cookie).await;
    assert_eq!(pending.status, StatusCode::CONFLICT, "an entry without a place has no proof");
    app.iam.sequence_audit_logs().await.unwrap();
    let json = async |path: &str| -> Value { serde_json::from_str(&app.get(path, &cookie).await.body).unwrap() };
    let state = app.iam.audit().checkpoint(&ada).await.unwrap();
    let size = state.signed.checkpoint.size;
    let expected = json!({ "note": state.signed.note, "key": state.verifier_key });
    assert_eq!(json("/console/audit/checkpoint").await, expected);
    let proof = app.iam.audit().prove_inclusion(&ada, entry.id, Some(size)).await.unwrap();
    let hashes: Vec<String> = proof.hashes.iter().map(ToString::to_string).collect();
    let found = json(&format!("{path}?size={size}")).await;
    assert_eq!((&found["index"], &found["size"]), (&json!(proof.index), &json!(size)));
    assert_eq!((&found["hashes"], &found["statement"]), (&json!(hashes), &json!(entry.statement())));
    let openings = found["openings"].as_array().unwrap();
    assert_eq!((openings.len(), &openings[0]["values"]), (2, &json!("[]")));
    let found = json(&format!("/console/audit/consistency?from=1&to={size}")).await;
    let proof = app.iam.audit().prove_consistency(&ada, 1, Some(size)).await.unwrap();
    let hashes: Vec<String> = proof.hashes.iter().map(ToString::to_string).collect();
    assert_eq!(found, json!({ "hashes": hashes }));
    for path in [format!("{path}?size=0"), "/console/audit/consistency?from=9&to=8".into(), format!("{path}?size=x")] {
        let answer = app.get(&path, &cookie).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}");
    }
}

#[tokio::test]
async fn proofs_and_news_are_for_those_who_may_read_the_log_and_of_one_tenant() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let entry = log(&app, &ada, "SENT", "1").await;
    app.iam.sequence_audit_logs().await.unwrap();
    let proof = format!("/console/audit/{}/proof", entry.id);
    let all = ["/console/audit/news", "/console/audit/checkpoint", "/console/audit/consistency?from=1&to=2", &*proof];
    let grace = app.sign_in("grace@example.com").await;
    for path in all {
        assert_eq!(app.get(path, &grace).await.status, StatusCode::FORBIDDEN, "{path}");
        assert!(app.get(path, "").await.is_to_sign_in(), "{path}");
    }
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    assert_eq!(app.get(&proof, &eve).await.status, StatusCode::NOT_FOUND);
    assert!(!app.get("/console/audit/news", &eve).await.body.contains("INVOICE"));
}

#[tokio::test]
async fn the_page_of_the_log_has_its_script_and_the_texts_of_it() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let page = app.get("/console/audit?action=LOGIN", &cookie).await.body;
    let path = page.split('"').find(|text| text.ends_with("/audit.js")).expect("a script");
    let script = app.get(path, "").await;
    assert_eq!(script.status, StatusCode::OK);
    assert!(
        page.contains(r#"data-news="action=LOGIN""#)
            && page.contains("data-check>")
            && page.contains(r#"id="check-log""#),
        "{page}"
    );
    // Every text that the script shows is in the page, and every text of the page is shown.
    let texts: Vec<&str> = page.split(r#"data-text=""#).skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(texts.len() > 30);
    for name in texts {
        assert!(script.body.contains(&format!(r#""{name}""#)), "{name}");
    }
    let part = app.get("/console/audit?cursor=x", &cookie).await;
    assert_eq!(part.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn names_of_users_are_shown_as_far_as_the_reader_may_see_the_users() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let mary = app.iam.users().create(&ada, person("mary@example.com", "Mary")).await.unwrap();
    let new = NewOrganization { name: "Branch".into(), slug: None, parent: None };
    let branch = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
    let give = async |user, name: &str, permission: &str, organization| {
        let permissions = vec![permission.to_owned()];
        let role = app.iam.roles().create(&ada, NewRole { name: name.into(), permissions, ..NewRole::default() }).await;
        let new = NewAssignment { user, role: role.unwrap().id, organization, expires_at: None };
        app.iam.assignments().create(&ada, new).await.unwrap();
    };
    give(grace.id, "READER", "audit-logs:read", None).await;
    let cookie = app.sign_in("grace@example.com").await;
    app.sign_in("mary@example.com").await;
    let by = |id: &str| format!("<strong>{id} signed in</strong>");
    let body = app.get("/console/audit", &cookie).await.body;
    let (ada_id, mary_id) = (ada.user().unwrap().to_string(), mary.id.to_string());
    assert!(body.contains(&by(&ada_id)) && body.contains(&by(&mary_id)), "{body}");
    // In an organization, the permission is for its members only.
    give(grace.id, "PEOPLE", "users:read", Some(branch)).await;
    give(mary.id, "NOTHING", "roles:read", Some(branch)).await;
    let cookie = app.sign_in("grace@example.com").await;
    let body = app.get("/console/audit", &cookie).await.body;
    assert!(body.contains(&by(&ada_id)) && body.contains(&by("mary@example.com")), "{body}");
}

/// Returns the sentences of a page, newest first.
fn sentences(body: &str) -> Vec<&str> {
    body.split("<strong>").skip(1).map(|rest| rest.split("</strong>").next().unwrap()).collect()
}

#[tokio::test]
async fn an_entry_says_what_was_done_to_whom() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let new = NewOrganization { name: "<i>Sales".into(), slug: None, parent: None };
    let sales = app.iam.organizations().create(&ada, new).await.unwrap().organization;
    let member = app.iam.roles().by_name(&ada, "MEMBER").await.unwrap().unwrap();
    for organization in [None, Some(sales.id)] {
        let new = NewAssignment { user: grace.id, role: member.id, organization, expires_at: None };
        app.iam.assignments().create(&ada, new).await.unwrap();
    }
    let new = NewRole { name: "DESK".into(), permissions: vec!["users:read".into()], ..NewRole::default() };
    let desk = app.iam.roles().create(&ada, new).await.unwrap();
    let patch = iam_core::role::RolePatch { description: Some("Front".into()), ..Default::default() };
    app.iam.roles().update(&ada, desk.id, patch).await.unwrap();
    app.sign_in("grace@example.com").await;
    let session = app.iam.sessions().list(&ada, grace.id).await.unwrap()[0].id;
    app.iam.sessions().terminate(&ada, session).await.unwrap();
    app.sign_in("grace@example.com").await;
    app.iam.users().suspend(&ada, grace.id).await.unwrap();
    app.iam.users().suspend(&ada, grace.id).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get("/console/audit", &cookie).await.body;
    let (said, grace_id) = (sentences(&body), grace.id);
    let expected = [
        "ada@example.com signed in",
        "ada@example.com ended a session of grace@example.com, because the user was suspended",
        "ada@example.com suspended grace@example.com",
        "grace@example.com signed in",
        "ada@example.com ended a session of grace@example.com",
        "grace@example.com signed in",
        "ada@example.com changed the role DESK (Description)",
        "ada@example.com created the role DESK",
        "ada@example.com assigned the role MEMBER to grace@example.com in &#60;i&#62;Sales",
        "ada@example.com assigned the role MEMBER to grace@example.com in the whole tenant",
        "ada@example.com created the organization &#60;i&#62;Sales",
        "ada@example.com created the user grace@example.com",
    ];
    let mut found = said.clone();
    // Both entries of the suspension have the same moment.
    if found[1] == expected[2] {
        found.swap(1, 2);
    }
    assert_eq!(found[..expected.len()], expected, "a suspension that changes nothing is not recorded");
    // The filter takes people and places by their names.
    let by_grace = app.get("/console/audit?user=GRACE%40example.com", &cookie).await.body;
    assert_eq!(sentences(&by_grace), ["grace@example.com signed in"; 2]);
    assert!(by_grace.contains(r#"value="GRACE@example.com""#), "{by_grace}");
    let by_id = app.get(&format!("/console/audit?user={grace_id}"), &cookie).await.body;
    assert!(sentences(&by_id) == sentences(&by_grace) && by_id.contains(r#"value="grace@example.com""#), "{by_id}");
    let by_name = app.get("/console/audit?user=grace%20lovelace", &cookie).await.body;
    assert_eq!(sentences(&by_name), sentences(&by_grace));
    let about = app.get("/console/audit?resource=USER&id=grace%40example.com", &cookie).await.body;
    assert_eq!(sentences(&about), [expected[2], expected[11]]);
    assert!(about.contains("in the log without this filter"), "{about}");
    let place = app.get(&format!("/console/audit?organization={}", sales.slug), &cookie).await.body;
    assert_eq!(sentences(&place), [expected[8], expected[10]]);
    let page = app.get(&format!("/console/organizations/{}", sales.id), &cookie).await.body;
    assert!(page.contains(expected[8]) && !page.contains("ROLE_ASSIGNMENT"), "{page}");
    assert!(page.contains(&format!("/console/audit?organization={}", sales.id)), "{page}");
    // Another tenant finds neither.
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    for query in ["user=grace%40example.com".to_owned(), format!("organization={}", sales.slug)] {
        let answer = app.get(&format!("/console/audit?{query}"), &eve).await;
        assert!(answer.status == StatusCode::BAD_REQUEST && sentences(&answer.body).is_empty(), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_reader_who_may_not_see_users_filters_by_their_ids() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let permissions = vec!["audit-logs:read".to_owned()];
    let role = app.iam.roles().create(&ada, NewRole { name: "READER".into(), permissions, ..NewRole::default() }).await;
    let new = NewAssignment { user: grace.id, role: role.unwrap().id, organization: None, expires_at: None };
    app.iam.assignments().create(&ada, new).await.unwrap();
    let cookie = app.sign_in("grace@example.com").await;
    let answer = app.get("/console/audit?user=ada%40example.com", &cookie).await;
    assert!(answer.body.contains("must be the ID of a user"), "{}", answer.body);
    let id = ada.user().unwrap();
    let answer = app.get(&format!("/console/audit?user={id}&resource=USER"), &cookie).await;
    // The entry itself has the address of the new user.
    assert_eq!(sentences(&answer.body)[0], format!("{id} created the user grace@example.com"));
}
