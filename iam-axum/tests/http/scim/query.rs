//! Searches of directories (`docs/directories.md#queries`).

use axum::http::Method;
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{ENTERPRISE, Staff, USER, path};
use crate::app::TestApp;
use crate::request::members;

on_every_store![
    "the store evaluates filters, sorts and skips";
    a_filter_finds_the_users_who_meet_it,
    a_filter_that_cannot_be_used_is_400,
    a_filter_is_bounded_before_it_is_read,
    users_come_in_pages,
    users_are_sorted,
    a_search_by_post_is_the_same,
    an_answer_shows_what_is_asked_for,
    unknown_parameters_are_ignored,
];

/// The users of a directory, one a second: grace, Alan, who is not active, and one with a name of signs.
async fn people(staff: &Staff<'_>) -> [Value; 3] {
    let emails = json!([
        { "value": "grace@example.com", "type": "work", "primary": true },
        { "value": "grace@home.example", "type": "home" },
    ]);
    let grace = json!({ "displayName": "Amazing Grace", "emails": emails });
    let alan =
        json!({ "userName": "Alan", "displayName": "Zuse", "name": { "familyName": "Turing" }, "active": false });
    let signs = json!({ "userName": "edsger_100%", "externalId": "a\"b\\c'", "name": { "givenName": "Edsger" } });
    let mut made = Vec::new();
    for (name, members) in [("grace", grace), ("alan", alan), ("edsger", signs)] {
        made.push(staff.made(name, &members).await);
        staff.app.pass(TimeDelta::seconds(1));
    }
    made.try_into().unwrap()
}

/// The user names in a list.
fn names(list: &Value) -> Vec<&str> {
    let resources = list["Resources"].as_array().unwrap();
    assert_eq!(list["itemsPerPage"], resources.len());
    resources.iter().map(|user| user["userName"].as_str().unwrap()).collect()
}

async fn list(staff: &Staff<'_>, query: &str) -> Value {
    let list = staff.get(&format!("/Users?{query}")).send().await.scim(200);
    assert_eq!(list["schemas"], json!(["urn:ietf:params:scim:api:messages:2.0:ListResponse"]));
    list
}

async fn a_filter_finds_the_users_who_meet_it(app: TestApp) {
    let staff = Staff::of(&app).await;
    let made = people(&staff).await;
    let [id, created] = [&made[1]["id"], &made[1]["meta"]["created"]].map(|text| text.as_str().unwrap());
    let (grace, alan, edsger) = ("grace", "Alan", "edsger_100%");
    let all = &[grace, alan, edsger][..];
    for (filter, expected) in [
        (r#"userName eq "GRACE""#.to_owned(), &[grace][..]),
        (r#"USERNAME EQ "grace""#.to_owned(), &[grace]),
        (format!(r#"{USER}:userName eq "alan""#), &[alan]),
        (r#"userName eq "8b4ba5d4-6a2c-4a4d-9cf9-1b6a1d1f3c5d""#.to_owned(), &[]),
        (r#"userName ne "grace""#.to_owned(), &[alan, edsger]),
        (r#"userName co "r_100""#.to_owned(), &[edsger]),
        (r#"userName co "g_a""#.to_owned(), &[]),
        (r#"userName co "g%e""#.to_owned(), &[]),
        (r#"userName ew "%""#.to_owned(), &[edsger]),
        (r#"userName sw "AL""#.to_owned(), &[alan]),
        (r#"userName gt "b" and userName lt "f""#.to_owned(), &[edsger]),
        (r#"externalId eq "id-alan""#.to_owned(), &[alan]),
        (r#"externalId eq "ID-alan""#.to_owned(), &[]),
        (r#"externalId eq "a\"b\\c'""#.to_owned(), &[edsger]),
        (format!(r#"id eq "{id}""#), &[alan]),
        (r#"id eq "77c""#.to_owned(), &[]),
        ("active eq true".to_owned(), &[grace, edsger]),
        (r#"active eq "False""#.to_owned(), &[alan]),
        ("displayName pr".to_owned(), &[grace, alan]),
        ("not(displayName pr)".to_owned(), &[edsger]),
        (r#"displayName ne "amazing grace""#.to_owned(), &[alan, edsger]),
        (r#"not (displayName eq "amazing grace")"#.to_owned(), &[alan, edsger]),
        (r#"name.familyName eq "HOPPER""#.to_owned(), &[grace]),
        (r#"name.givenName eq "edsger" or name.familyName eq "turing""#.to_owned(), &[alan, edsger]),
        (r#"emails co "home.example""#.to_owned(), &[grace]),
        (r#"emails[type eq "work"].value eq "ALAN@example.com""#.to_owned(), &[alan]),
        (r#"emails.type eq "home" and emails.value eq "grace@example.com""#.to_owned(), &[grace]),
        (r#"emails[type eq "home" and value eq "grace@example.com"]"#.to_owned(), &[]),
        (r#"not (emails[type eq "home"])"#.to_owned(), &[alan, edsger]),
        (r#"emails[primary eq true and value ew "@example.com"]"#.to_owned(), all),
        (format!(r#"meta.created ge "{created}""#), &[alan, edsger]),
        (format!(r#"meta.created lt "{}""#, created.replace('Z', "+00:00")), &[grace]),
        (format!(r#"meta.lastModified eq "{created}""#), &[alan]),
        (r#"active eq true and (userName eq "alan" or userName eq "grace")"#.to_owned(), &[grace]),
        (r#"userName eq "alan" or userName eq "grace" and active eq false"#.to_owned(), &[alan]),
    ] {
        let found = staff.get("/Users").query("filter", &filter).send().await.scim(200);
        assert_eq!(names(&found), expected, "{filter}");
        assert_eq!(found["totalResults"], expected.len(), "{filter}");
    }
}

/// A filter that is left out would show all users.
async fn a_filter_that_cannot_be_used_is_400(app: TestApp) {
    let staff = Staff::of(&app).await;
    people(&staff).await;
    for filter in [
        "",
        "userName",
        r#"userName eq "grace"#,
        r#"userName = "grace""#,
        r#"title eq "Admiral""#,
        r#"manager eq "1""#,
        r#"members.value eq "1""#,
        r#"userName eq 7"#,
        "active gt true",
        r#"meta.created co "2026""#,
        r#"meta.created gt "yesterday""#,
        r#"name eq "grace""#,
        r#"(userName eq "grace""#,
    ] {
        let answer = staff.get("/Users?attributes=userName").query("filter", filter).send().await;
        let detail = answer.refused(400, Some("invalidFilter"));
        assert!(!detail.contains("grace"), "{detail}");
    }
    let twice = staff.get("/Users").query("filter", "active eq true").query("filter", "active eq false");
    twice.send().await.refused(400, Some("invalidFilter"));
}

async fn a_filter_is_bounded_before_it_is_read(app: TestApp) {
    let staff = Staff::of(&app).await;
    people(&staff).await;
    let search =
        async |filter: String| staff.write(Method::POST, "/Users/.search", &json!({ "filter": filter })).send().await;
    let levels = |count: usize| format!("{}active eq true{}", "(".repeat(count), ")".repeat(count));
    let terms = |count: usize| vec!["active eq true"; count].join(" and ");
    assert_eq!(search(levels(60)).await.scim(200)["totalResults"], 2);
    assert_eq!(search(terms(100)).await.scim(200)["totalResults"], 2);
    let long = format!(r#"userName eq "{}""#, "x".repeat(4096));
    for filter in [levels(65), terms(101), long, "(".repeat(200_000), format!("{}a pr", "not (".repeat(50_000))] {
        search(filter).await.refused(400, Some("invalidFilter"));
    }
}

async fn users_come_in_pages(app: TestApp) {
    let staff = Staff::of(&app).await;
    people(&staff).await;
    let (grace, alan, edsger) = ("grace", "Alan", "edsger_100%");
    for (query, start, expected) in [
        ("", 1, &[grace, alan, edsger][..]),
        ("count=2", 1, &[grace, alan]),
        ("startIndex=2&count=1", 2, &[alan]),
        ("startIndex=3&count=200", 3, &[edsger]),
        ("startIndex=4&count=100", 4, &[]),
        ("startIndex=0&count=1", 1, &[grace]),
        ("startIndex=-5&count=1", 1, &[grace]),
        ("count=0", 1, &[]),
        ("count=-1", 1, &[]),
        ("count=100000", 1, &[grace, alan, edsger]),
        ("startIndex=9223372036854775807", 9_223_372_036_854_775_807_u64, &[]),
    ] {
        let page = list(&staff, query).await;
        assert_eq!((names(&page).as_slice(), &page["totalResults"]), (expected, &json!(3)), "{query}");
        assert_eq!(page["startIndex"], start, "{query}");
    }
    for query in ["count=x", "startIndex=", "count=1.5"] {
        staff.get(&format!("/Users?{query}")).send().await.refused(400, Some("invalidValue"));
    }
    // What is deleted is gone from its page.
    let all = list(&staff, "").await;
    staff.delete(&path(&all["Resources"][0])).send().await.no_content();
    let rest = list(&staff, "startIndex=1&count=1").await;
    assert_eq!((names(&rest), &rest["totalResults"]), (vec![alan], &json!(2)));
}

async fn users_are_sorted(app: TestApp) {
    let staff = Staff::of(&app).await;
    let made = people(&staff).await;
    let title = json!([{ "op": "add", "path": "title", "value": "Admiral" }]);
    staff.patched(&made[0], &title).await;
    let (grace, alan, edsger) = ("grace", "Alan", "edsger_100%");
    for (query, expected) in [
        ("sortBy=userName", [alan, edsger, grace]),
        ("sortBy=USERNAME&sortOrder=ascending", [alan, edsger, grace]),
        ("sortBy=userName&sortOrder=descending", [grace, edsger, alan]),
        ("sortBy=displayName", [grace, alan, edsger]),
        ("sortBy=meta.created&sortOrder=descending", [edsger, alan, grace]),
        ("sortBy=meta.lastModified", [alan, edsger, grace]),
        ("sortBy=name.familyName", [grace, alan, edsger]),
        ("sortOrder=descending", [grace, alan, edsger]),
    ] {
        assert_eq!(names(&list(&staff, query).await), expected, "{query}");
    }
    for query in ["sortBy=title", "sortBy=active", "sortBy=userName&sortOrder=up"] {
        staff.get(&format!("/Users?{query}")).send().await.refused(400, Some("invalidValue"));
    }
}

async fn a_search_by_post_is_the_same(app: TestApp) {
    let staff = Staff::of(&app).await;
    people(&staff).await;
    let body = json!({
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],
        "filter": "active eq true",
        "sortBy": "userName",
        "sortOrder": "descending",
        "startIndex": 1,
        "count": 1,
        "attributes": ["userName"],
    });
    let query = "filter=active%20eq%20true&sortBy=userName&sortOrder=descending&count=1&attributes=userName";
    let expected = list(&staff, query).await;
    assert_eq!((names(&expected), &expected["totalResults"]), (vec!["grace"], &json!(2)));
    for path in ["/Users/.search", "/.search"] {
        let found = staff.write(Method::POST, path, &body).send().await.scim(200);
        assert_eq!(found, expected, "{path}");
        let all = staff.write(Method::POST, path, &json!({})).send().await.scim(200);
        assert_eq!(all["totalResults"], 3, "{path}");
        let bad = staff.write(Method::POST, path, &json!({ "filter": "title pr" })).send().await;
        bad.refused(400, Some("invalidFilter"));
        staff.write(Method::POST, path, &json!([])).send().await.refused(400, Some("invalidSyntax"));
    }
}

async fn an_answer_shows_what_is_asked_for(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({ "title": "Admiral", ENTERPRISE: { "department": "Navy" } })).await;
    let at = path(&user);
    let everything = members(&user);
    for (query, expected) in [
        ("attributes=userName", vec!["id", "schemas", "userName"]),
        ("attributes=USERNAME,%20title", vec!["id", "schemas", "title", "userName"]),
        ("attributes=urn:ietf:params:scim:schemas:core:2.0:User:userName", vec!["id", "schemas", "userName"]),
        ("attributes=department", vec!["id", "schemas", ENTERPRISE]),
        ("attributes=nothing", vec!["id", "schemas"]),
        ("excludedAttributes=id,schemas", everything.clone()),
        ("", everything.clone()),
    ] {
        for answer in [
            staff.get(&format!("{at}?{query}")).send().await.scim(200),
            list(&staff, query).await["Resources"][0].clone(),
            staff
                .write(
                    Method::PATCH,
                    &format!("{at}?{query}"),
                    &json!({ "Operations": [
                { "op": "add", "path": "title", "value": "Admiral" },
            ] }),
                )
                .send()
                .await
                .scim(200),
        ] {
            let mut expected = expected.clone();
            expected.sort_unstable();
            assert_eq!(members(&answer), expected, "{query}");
        }
    }
    let shown = staff.get(&format!("{at}?attributes=name.givenName,emails.value")).send().await.scim(200);
    assert_eq!(shown["name"], json!({ "givenName": "grace" }));
    assert_eq!(shown["emails"], json!([{ "value": "grace@example.com" }]));
    let without = staff.get(&format!("{at}?excludedAttributes=name.givenName,meta")).send().await.scim(200);
    assert_eq!((&without["name"], &without["meta"]), (&json!({ "familyName": "Hopper" }), &Value::Null));
    let both = format!("{at}?attributes=userName&excludedAttributes=name");
    let change = json!({ "Operations": [{ "op": "replace", "path": "title", "value": "x" }] });
    for request in [staff.get(&both), staff.write(Method::PATCH, &both, &change)] {
        app.unrecorded(&staff.ada, request.send()).await.refused(400, Some("invalidValue"));
    }
}

/// Entra ID adds a flag to each address, and OneLogin ends it by an `&`.
async fn unknown_parameters_are_ignored(app: TestApp) {
    let staff = Staff::of(&app).await;
    people(&staff).await;
    let query = "aadOptscim062020&filter=userName+eq+%22grace%22&";
    assert_eq!(names(&list(&staff, query).await), ["grace"]);
    staff.get("/Users/77c?aadOptscim062020").send().await.refused(404, None);
}
