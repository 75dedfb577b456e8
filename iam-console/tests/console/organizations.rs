#![cfg(test)]

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use iam_core::assignment::NewAssignment;
use iam_core::organization::{NewOrganization, OrganizationPatch, OrganizationStatus, OrganizationWithDepth};
use iam_core::{Caller, OrganizationId};

use crate::app::{Answer, App, EMAIL, form, person, request};

/// A console with an administrator that is signed in, and organizations: Harbour is below North, South is beside it.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    north: OrganizationId,
    south: OrganizationId,
    harbour: OrganizationId,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let north = make(&app, &ada, "North", None).await;
    let south = make(&app, &ada, "South", None).await;
    let harbour = make(&app, &ada, "Harbour", Some(north)).await;
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, north, south, harbour }
}

async fn make(app: &App, ada: &Caller, name: &str, parent: Option<OrganizationId>) -> OrganizationId {
    let new = NewOrganization { name: name.to_owned(), slug: None, parent };
    app.iam.organizations().create(ada, new).await.unwrap().organization.id
}

impl Signed {
    async fn get(&self, path: &str) -> Answer {
        self.app.get(path, &self.cookie).await
    }

    async fn part(&self, path: &str) -> Answer {
        let sent = request(Method::GET, path, &self.cookie).header("hx-request", "true");
        self.app.send(sent.body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.app.post_signed(path, &self.cookie, fields).await
    }

    async fn now(&self, id: OrganizationId) -> OrganizationWithDepth {
        self.app.iam.organizations().get(&self.ada, id).await.unwrap()
    }

    async fn version(&self, id: OrganizationId) -> String {
        self.now(id).await.version().to_string()
    }

    /// Makes a user who holds a role in an organization.
    async fn holder(&self, email: &str, role: &str, organization: OrganizationId) {
        let user = self.app.iam.users().create(&self.ada, person(email, "Grace")).await.unwrap();
        let role = self.app.iam.roles().by_name(&self.ada, role).await.unwrap().unwrap();
        let new = NewAssignment { user: user.id, role: role.id, organization: Some(organization), expires_at: None };
        self.app.iam.assignments().create(&self.ada, new).await.unwrap();
    }
}

fn path(id: OrganizationId, action: &str) -> String {
    format!("/console/organizations/{id}{action}")
}

#[tokio::test]
async fn the_tree_shows_two_levels_and_is_opened_branch_by_branch() {
    let signed = signed().await;
    make(&signed.app, &signed.ada, "Quay", Some(signed.harbour)).await;
    let top = signed.get("/console/organizations").await.body;
    assert!(top.contains("North") && top.contains("South") && top.contains("Harbour"), "{top}");
    assert!(!top.contains("Quay"), "{top}");
    let below = signed.part(&path(signed.harbour, "/below")).await;
    assert!(below.body.contains("Quay") && !below.body.contains("<html"), "{}", below.body);
    assert!(signed.part(&path(signed.south, "/below")).await.body.contains("There are no child organizations"));
    for number in 0..30 {
        make(&signed.app, &signed.ada, &format!("Team {number:02}"), Some(signed.south)).await;
    }
    let first = signed.part(&path(signed.south, "/below")).await.body;
    let top = signed.get("/console/organizations").await.body;
    for shown in [first, top] {
        assert!(shown.contains("Team 24") && !shown.contains("Team 25"), "{shown}");
        assert!(shown.contains(&format!("hx-get=\"{}?page=2\"", path(signed.south, "/below"))), "{shown}");
    }
    let second = signed.part(&path(signed.south, "/below?page=2")).await.body;
    assert!(second.contains("Team 29") && !second.contains("page=3"), "{second}");
}

#[tokio::test]
async fn only_an_organization_with_others_below_it_can_be_opened() {
    let signed = signed().await;
    let quay = make(&signed.app, &signed.ada, "Quay", Some(signed.harbour)).await;
    let top = signed.get("/console/organizations").await.body;
    let below = |id| format!("<details hx-get=\"{}\"", path(id, "/below"));
    assert!(top.contains("<details open>") && !top.contains(&below(signed.north)), "{top}");
    assert!(top.contains(&below(signed.harbour)) && !top.contains(&below(signed.south)), "{top}");
    assert!(signed.part(&path(signed.north, "/below")).await.body.contains(&below(signed.harbour)));
    // Each line can be dragged.
    let line = |id| format!("<div class=\"row\" draggable=\"true\" data-organization=\"{id}\"");
    assert!(top.contains(&line(signed.south)) && top.contains(&line(signed.harbour)), "{top}");
    let bottom = signed.part(&path(signed.harbour, "/below")).await.body;
    assert!(bottom.contains(&line(quay)) && !bottom.contains("<details"), "{bottom}");
}

#[tokio::test]
async fn each_line_counts_what_is_below_and_the_members_that_the_person_may_see() {
    let signed = signed().await;
    signed.holder("grace@example.com", "MEMBER", signed.north).await;
    signed.holder("alan@example.com", "MEMBER", signed.harbour).await;
    let tree = signed.get("/console/organizations").await.body;
    let texts = ["1 member · below it: 1 organization, 1 member", "1 member", "no members"];
    for text in texts {
        assert!(tree.contains(&format!("<span class=\"hint\">{text}</span>")), "{text}: {tree}");
    }
    let below = signed.part(&path(signed.north, "/below")).await.body;
    assert!(below.contains("<span class=\"hint\">1 member</span>"), "{below}");
    let her = signed.app.sign_in("grace@example.com").await;
    let tree = signed.app.get("/console/organizations", &her).await.body;
    assert!(tree.contains("<span class=\"hint\">below it: 1 organization</span>"), "{tree}");
    assert!(tree.contains("Harbour") && !tree.contains("1 member"), "{tree}");
}

#[tokio::test]
async fn the_map_draws_places_with_their_counts_and_can_begin_at_each() {
    let signed = signed().await;
    signed.holder("grace@example.com", "MEMBER", signed.harbour).await;
    let map = signed.get("/console/organizations/map").await.body;
    let place = |id, title: &str| format!("<a href=\"{}\"><title>{title}</title>", path(id, ""));
    let (north, south) = ("North · no members · below it: 1 organization, 1 member", "South · no members");
    for drawn in [place(signed.north, north), place(signed.south, south), place(signed.harbour, "Harbour · 1 member")]
    {
        assert!(map.contains(&drawn), "{drawn}: {map}");
    }
    assert_eq!(map.matches("<path ").count(), 1, "{map}");
    let from = |id| format!("<a href=\"/console/organizations/map?root={id}\"><title>");
    assert!(map.contains(&from(signed.north)) && !map.contains(&from(signed.south)), "{map}");
    assert!(map.contains(r#"role="document" aria-labelledby="map-title""#) && !map.contains("style="), "{map}");
    assert!(map.contains(r#"href="/console/organizations">Show as a list</a>"#), "{map}");
    let page = signed.get(&path(signed.north, "")).await.body;
    let address = format!("/console/organizations/map?root={}", signed.north);
    assert!(page.contains(&format!("<a href=\"{address}\">Map from here</a>")), "{page}");
    let part = signed.get(&address).await.body;
    assert!(part.contains("<h1>Map from North</h1>") && part.contains(&place(signed.harbour, "Harbour · 1 member")));
    assert!(!part.contains("South") && !part.contains(&from(signed.north)), "{part}");
    let unknown = signed.get("/console/organizations/map?root=00000000-0000-0000-0000-000000000000").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_map_is_zoomed_by_links() {
    let signed = signed().await;
    let usual = signed.get("/console/organizations/map").await.body;
    assert!(usual.contains(r#"<svg viewBox="0 0 544 192" width="544" height="192""#), "{usual}");
    assert!(usual.contains(r#"class="map fit low""#), "{usual}");
    assert!(usual.contains("/console/organizations/map?zoom=75\"") && usual.contains("map?zoom=150\""), "{usual}");
    let small = signed.get(&format!("/console/organizations/map?root={}&zoom=50", signed.north)).await.body;
    assert!(small.contains(r#"<svg viewBox="0 0 544 104" width="272" height="52""#), "{small}");
    assert!(small.contains(&format!("map?root={}&#38;zoom=75\"", signed.north)), "{small}");
    let fit = format!(r#"<a class="button plain" href="/console/organizations/map?root={}""#, signed.north);
    assert!(small.contains(&fit) && !small.contains("map fit"), "{small}");
}

#[tokio::test]
async fn a_map_of_more_than_a_thousand_places_says_how_many_are_not_drawn() {
    let signed = signed().await;
    for number in 0..998 {
        make(&signed.app, &signed.ada, &format!("Team {number:03}"), Some(signed.south)).await;
    }
    let map = signed.get("/console/organizations/map").await.body;
    assert_eq!(map.matches("<g class=\"place ").count(), 1_000);
    assert!(map.contains("1 organization is not drawn") && map.contains("1 below not drawn"));
    assert!(map.contains("Team 996") && !map.contains("Team 997"));
    let part = signed.get(&format!("/console/organizations/map?root={}", signed.south)).await.body;
    assert!(part.contains("Team 997") && !part.contains("not drawn"));
}

#[tokio::test]
async fn a_search_finds_organizations_with_their_place() {
    let signed = signed().await;
    let found = signed.get("/console/organizations?search=HARB").await.body;
    assert!(found.contains("1 organization<") && found.contains("<td data-label=\"Above\">North</td>"), "{found}");
    assert!(!found.contains(">South<"), "{found}");
    let none = signed.get("/console/organizations?search=zzz").await.body;
    assert!(none.contains("No organization matches") && none.contains("Show tree"), "{none}");
    let patch = OrganizationPatch { status: Some(OrganizationStatus::Suspended), ..OrganizationPatch::default() };
    signed.app.iam.organizations().update(&signed.ada, signed.south, patch).await.unwrap();
    let suspended = signed.part("/console/organizations?status=SUSPENDED").await.body;
    assert!(suspended.contains("South") && !suspended.contains("North") && !suspended.contains("<html"), "{suspended}");
}

#[tokio::test]
async fn a_tenant_without_organizations_says_what_they_are_for() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let page = app.get("/console/organizations", &cookie).await.body;
    assert!(page.contains("There are no organizations") && page.contains("/console/organizations/new"), "{page}");
}

#[tokio::test]
async fn an_organization_is_created_and_a_mistake_loses_nothing_that_was_typed() {
    let signed = signed().await;
    let new = "/console/organizations/new";
    let shown = signed.get(&format!("{new}?parent={}", signed.north)).await;
    assert!(shown.body.contains(r#"value="North""#), "{}", shown.body);
    let good = [("name", "Quay"), ("slug", "quay"), ("parent", "north")];
    let deep = ["A", "B", "C", "D"];
    let mut bottom = signed.harbour;
    for name in deep {
        bottom = make(&signed.app, &signed.ada, name, Some(bottom)).await;
    }
    let bottom = bottom.to_string();
    let cases = [
        (0, " ", "name-error", StatusCode::BAD_REQUEST),
        (1, "Not a slug", "slug-error", StatusCode::BAD_REQUEST),
        (2, "nowhere", "parent-error", StatusCode::BAD_REQUEST),
        (2, "00000000-0000-0000-0000-000000000000", "parent-error", StatusCode::NOT_FOUND),
        (2, &bottom, "parent-error", StatusCode::BAD_REQUEST),
    ];
    for (number, value, error, status) in cases {
        let mut fields = good;
        fields[number].1 = value;
        let answer = signed.post(new, &fields).await;
        assert_eq!(answer.status, status, "{value}: {}", answer.body);
        assert!(answer.body.contains(&format!(r#"<p id="{error}""#)), "{value}: {}", answer.body);
        assert!(number == 0 || answer.body.contains(r#"value="Quay""#), "{value}: {}", answer.body);
    }
    let taken = [("name", "Quay"), ("slug", "south"), ("parent", "")];
    let answer = signed.post(new, &taken).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains("already taken") && answer.body.contains(r#"value="Quay""#), "{}", answer.body);
    let answer = signed.post(new, &good).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let page = signed.get(answer.location()).await.body;
    assert!(page.contains("The organization is created") && page.contains(&path(signed.north, "")), "{page}");
}

#[tokio::test]
async fn the_page_shows_what_is_above_below_and_held_and_the_log() {
    let signed = signed().await;
    signed.holder("grace@example.com", "MEMBER", signed.north).await;
    let page = signed.get(&path(signed.north, "")).await.body;
    let (created, assigned) =
        ("created the organization North", "assigned the role MEMBER to grace@example.com in North");
    for text in ["Harbour", "grace@example.com", "MEMBER", created, assigned] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let below = signed.get(&path(signed.harbour, "")).await.body;
    assert!(below.contains(&format!(r#"<a href="{}">North</a>"#, path(signed.north, ""))), "{below}");
    assert!(below.contains("There are no child organizations") && below.contains("No user holds a role"), "{below}");
}

#[tokio::test]
async fn details_are_changed_unless_another_change_came_first() {
    let signed = signed().await;
    let address = path(signed.north, "");
    let version = signed.get(&address).await.hidden("version");
    let typed = [("name", "Far North"), ("slug", "far-north"), ("version", &*version)];
    let answer = signed.post(&address, &typed).await;
    assert_eq!(answer.location(), format!("{address}?done=saved"));
    assert_eq!(signed.now(signed.north).await.organization.slug.as_str(), "far-north");
    let late = [("name", "Near North"), ("slug", "far-north"), ("version", &*version)];
    let answer = signed.post(&address, &late).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    assert!(answer.body.contains(r#"value="Near North""#) && answer.body.contains("This has changed since"));
    let again = format!(r#"<a href="{address}">Open it again</a>"#);
    assert!(answer.body.contains(&again), "{}", answer.body);
    let version = signed.version(signed.north).await;
    let bad = [("name", ""), ("slug", "Far"), ("version", &*version)];
    let answer = signed.post(&address, &bad).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("name-error") && answer.body.contains("slug-error"), "{}", answer.body);
}

#[tokio::test]
async fn a_move_shows_who_gains_and_loses_before_it_is_made() {
    let signed = signed().await;
    signed.holder("grace@example.com", "MEMBER", signed.north).await;
    let address = path(signed.harbour, "/move");
    let version = signed.get(&address).await.hidden("version");
    let fields = [("place", "below"), ("parent", "south"), ("version", &*version)];
    let preview = signed.post(&address, &fields).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    assert!(preview.body.contains("Move Harbour below South"), "{}", preview.body);
    assert!(
        preview.body.contains("grace@example.com") && preview.body.contains("<del>Loses</del>"),
        "{}",
        preview.body
    );
    assert_eq!(signed.now(signed.harbour).await.organization.parent_id, Some(signed.north));
    let again = signed.post(&address, &[fields.as_slice(), &[("again", "yes")]].concat()).await;
    assert!(again.body.contains(r#"value="south""#) && again.body.contains("New position"), "{}", again.body);
    let confirmed = [fields.as_slice(), &[("confirmed", "yes")]].concat();
    let answer = signed.post(&address, &confirmed).await;
    assert_eq!(answer.location(), format!("{}?done=moved", path(signed.harbour, "")));
    assert_eq!(signed.now(signed.harbour).await.organization.parent_id, Some(signed.south));
    assert_eq!(signed.post(&address, &confirmed).await.status, StatusCode::PRECONDITION_FAILED);
    // To the top.
    let version = signed.version(signed.harbour).await;
    let fields = [("place", "top"), ("parent", ""), ("version", &*version), ("confirmed", "yes")];
    assert_eq!(signed.post(&address, &fields).await.status, StatusCode::SEE_OTHER);
    assert_eq!(signed.now(signed.harbour).await.organization.parent_id, None);
}

#[tokio::test]
async fn a_move_that_is_not_possible_is_refused_at_its_field() {
    let signed = signed().await;
    let address = path(signed.north, "/move");
    let version = signed.version(signed.north).await;
    let below = signed.harbour.to_string();
    for (parent, status) in [
        ("", StatusCode::BAD_REQUEST),
        ("nowhere", StatusCode::BAD_REQUEST),
        ("harbour", StatusCode::BAD_REQUEST),
        (&*below, StatusCode::BAD_REQUEST),
        ("00000000-0000-0000-0000-000000000000", StatusCode::NOT_FOUND),
    ] {
        for confirmed in [&[][..], &[("confirmed", "yes")]] {
            let fields = [("place", "below"), ("parent", parent), ("version", &*version)];
            let answer = signed.post(&address, &[fields.as_slice(), confirmed].concat()).await;
            assert_eq!(answer.status, status, "{parent}: {}", answer.body);
            assert!(answer.body.contains(r#"<p id="parent-error""#), "{parent}: {}", answer.body);
            assert_eq!(answer.hidden("version"), version);
        }
    }
    assert_eq!(signed.now(signed.north).await.organization.parent_id, None);
}

#[tokio::test]
async fn an_organization_is_suspended_reactivated_deleted_and_restored() {
    let signed = signed().await;
    signed.holder("grace@example.com", "MEMBER", signed.harbour).await;
    let steps = [
        ("/status", "SUSPENDED", "<del>Loses</del>", OrganizationStatus::Suspended),
        ("/status", "ACTIVE", "<ins>Gains</ins>", OrganizationStatus::Active),
        ("/delete", "", "<del>Loses</del>", OrganizationStatus::Inactive),
        ("/status", "ACTIVE", "No user gains or loses", OrganizationStatus::Active),
    ];
    for (action, status, effect, after) in steps {
        let before = signed.now(signed.harbour).await;
        let version = before.version().to_string();
        let fields = [("status", status), ("version", &*version)];
        let preview = signed.post(&path(signed.harbour, action), &fields).await;
        assert_eq!(preview.status, StatusCode::OK, "{status}: {}", preview.body);
        assert!(preview.body.contains(effect), "{status}: {}", preview.body);
        assert_eq!(signed.now(signed.harbour).await, before, "nothing has changed yet");
        let confirmed = [fields.as_slice(), &[("confirmed", "yes")]].concat();
        let answer = signed.post(&path(signed.harbour, action), &confirmed).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{status}: {}", answer.body);
        assert_eq!(signed.now(signed.harbour).await.organization.status, after);
        assert!(signed.get(answer.location()).await.body.contains(r#"<p class="notice" role="status">"#));
        // The same page, sent a second time, does nothing.
        let again = signed.post(&path(signed.harbour, action), &confirmed).await;
        assert_eq!(again.status, StatusCode::PRECONDITION_FAILED, "{status}");
    }
}

#[tokio::test]
async fn an_organization_with_others_below_stays_and_the_page_says_why() {
    let signed = signed().await;
    let version = signed.version(signed.north).await;
    for confirmed in [&[][..], &[("confirmed", "yes")]] {
        let fields = [&[("version", &*version)], confirmed].concat();
        let answer = signed.post(&path(signed.north, "/delete"), &fields).await;
        assert_eq!(answer.status, StatusCode::CONFLICT);
        assert!(answer.body.contains(r#"<p class="error" role="alert">"#), "{}", answer.body);
    }
    assert_eq!(signed.now(signed.north).await.organization.status, OrganizationStatus::Active);
}

#[tokio::test]
async fn an_administrator_of_an_organization_sees_only_its_part_of_the_tree() {
    let signed = signed().await;
    let Signed { app, north, south, harbour, .. } = &signed;
    make(app, &signed.ada, "Quay", Some(*harbour)).await;
    signed.holder("grace@example.com", "ORGANIZATION_ADMIN", *harbour).await;
    let her = app.sign_in("grace@example.com").await;
    let tree = app.get("/console/organizations", &her).await.body;
    assert!(tree.contains("Harbour") && !tree.contains("North") && !tree.contains("South"), "{tree}");
    assert!(!tree.contains("/console/organizations/new") && !tree.contains("data-root"), "{tree}");
    let map = app.get("/console/organizations/map", &her).await.body;
    assert!(map.contains("Harbour") && map.contains("Quay"), "{map}");
    assert!(!map.contains("North") && !map.contains("South") && !map.contains("not drawn"), "{map}");
    let page = app.get(&path(*harbour, ""), &her).await.body;
    assert!(page.contains("Quay") && !page.contains("North") && page.contains("may not see the audit log"), "{page}");
    let version = signed.version(*harbour).await;
    for id in [*north, *south] {
        for action in ["", "/below", "/move"] {
            assert_eq!(app.get(&path(id, action), &her).await.status, StatusCode::NOT_FOUND, "{action}");
        }
        let map = format!("/console/organizations/map?root={id}");
        assert_eq!(app.get(&map, &her).await.status, StatusCode::NOT_FOUND);
    }
    let below = south.to_string();
    let fields = [("place", "below"), ("parent", &*below), ("version", &*version), ("confirmed", "yes")];
    let answer = app.post_signed(&path(*harbour, "/move"), &her, &fields).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", answer.body);
    let fields = [("place", "top"), ("parent", ""), ("version", &*version), ("confirmed", "yes")];
    assert_eq!(app.post_signed(&path(*harbour, "/move"), &her, &fields).await.status, StatusCode::FORBIDDEN);
    assert_eq!(signed.version(*harbour).await, version);
}

#[tokio::test]
async fn who_may_only_look_gets_no_forms() {
    let signed = signed().await;
    signed.holder("grace@example.com", "MEMBER", signed.north).await;
    let her = signed.app.sign_in("grace@example.com").await;
    let page = signed.app.get(&path(signed.north, ""), &her).await.body;
    assert!(page.contains("Harbour") && page.contains("may not see who holds"), "{page}");
    for action in ["/status", "/delete", "/move"] {
        assert!(!page.contains(&path(signed.north, action)), "{action}: {page}");
    }
    let version = signed.version(signed.north).await;
    let fields = [("name", "Mine"), ("slug", "mine"), ("version", &*version), ("confirmed", "yes")];
    for action in ["", "/status", "/delete", "/move"] {
        let answer = signed.app.post_signed(&path(signed.north, action), &her, &fields).await;
        let expected = if action == "/move" { StatusCode::BAD_REQUEST } else { StatusCode::FORBIDDEN };
        assert_eq!(answer.status, expected, "{action}: {}", answer.body);
    }
    assert_eq!(signed.version(signed.north).await, version);
    signed.app.iam.users().create(&signed.ada, person("alan@example.com", "Alan")).await.unwrap();
    let nobody = signed.app.sign_in("alan@example.com").await;
    for page in ["/console/organizations", "/console/organizations/map"] {
        assert_eq!(signed.app.get(page, &nobody).await.status, StatusCode::FORBIDDEN, "{page}");
    }
}

#[tokio::test]
async fn organizations_are_of_one_tenant() {
    let signed = signed().await;
    signed.app.register("eve@example.org").await;
    let eve = signed.app.sign_in("eve@example.org").await;
    let version = signed.version(signed.north).await;
    let fields = [("name", "Mine"), ("slug", "mine"), ("place", "top"), ("version", &*version), ("confirmed", "yes")];
    for action in ["", "/below", "/move"] {
        assert_eq!(signed.app.get(&path(signed.north, action), &eve).await.status, StatusCode::NOT_FOUND, "{action}");
    }
    for action in ["", "/status", "/delete", "/move"] {
        let answer = signed.app.post_signed(&path(signed.north, action), &eve, &fields).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{action}");
    }
    let below = [("name", "Mine"), ("parent", &*signed.north.to_string())];
    let answer = signed.app.post_signed("/console/organizations/new", &eve, &below).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(signed.version(signed.north).await, version);
}

#[tokio::test]
async fn a_form_without_its_token_or_of_another_origin_changes_no_organization() {
    let signed = signed().await;
    let (address, cookie) = (path(signed.harbour, "/delete"), &*signed.cookie);
    let version = signed.version(signed.harbour).await;
    let fields = [("version", &*version), ("confirmed", "yes")];
    assert_eq!(signed.app.post(&address, cookie, &fields).await.status, StatusCode::FORBIDDEN);
    let token = signed.app.form_token(cookie).await;
    let mut sent = form(&address, cookie, &[fields.as_slice(), &[("form-token", &token)]].concat());
    sent.headers_mut().insert(HeaderName::from_static("origin"), HeaderValue::from_static("https://evil.example"));
    assert_eq!(signed.app.send(sent).await.status, StatusCode::FORBIDDEN);
    assert_eq!(signed.version(signed.harbour).await, version);
}

#[tokio::test]
async fn names_of_organizations_are_never_markup() {
    let signed = signed().await;
    let evil = make(&signed.app, &signed.ada, "<img src=x>\"'", Some(signed.north)).await;
    let version = signed.version(evil).await;
    let pages = [
        signed.get(&path(evil, "")).await,
        signed.get(&path(evil, "/move")).await,
        signed.get(&path(signed.north, "")).await,
        signed.part(&path(signed.north, "/below")).await,
        signed.get("/console/organizations").await,
        signed.get("/console/organizations/map").await,
        signed.get(&format!("/console/organizations/map?root={evil}")).await,
        signed.get("/console/organizations?search=img").await,
        signed.get("/console/pick/organizations?organization=img").await,
        signed.post(&path(evil, "/status"), &[("status", "SUSPENDED"), ("version", &version)]).await,
    ];
    for (number, page) in pages.iter().enumerate() {
        assert_eq!(page.status, StatusCode::OK, "{number}");
        assert!(!page.body.contains("<img") && page.body.contains("&#60;img"), "{number}: {}", page.body);
    }
}
