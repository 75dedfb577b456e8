#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use chrono::TimeDelta;
use iam_core::assignment::{Assignment, NewAssignment};
use iam_core::eligibility::NewEligibility;
use iam_core::organization::{NewOrganization, Organization, OrganizationPatch, OrganizationStatus};
use iam_core::permission::NewPermission;
use iam_core::role::NewRole;
use iam_core::user::{NewServiceAccount, User};
use iam_core::{Caller, OrganizationId};

use crate::app::{App, EMAIL, person, request};

/// A console with an administrator that is signed in, another user, and an organization below another one.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    grace: User,
    north: Organization,
    harbour: Organization,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let north = make(&app, &ada, "North", None).await;
    let harbour = make(&app, &ada, "Harbour", Some(north.id)).await;
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, grace, north, harbour }
}

async fn make(app: &App, ada: &Caller, name: &str, parent: Option<OrganizationId>) -> Organization {
    let new = NewOrganization { name: name.to_owned(), slug: None, parent };
    app.iam.organizations().create(ada, new).await.unwrap().organization
}

impl Signed {
    async fn role(&self, name: &str) -> String {
        self.app.iam.roles().by_name(&self.ada, name).await.unwrap().unwrap().id.to_string()
    }

    /// Gives Grace a role.
    async fn assign(&self, name: &str, organization: Option<OrganizationId>) -> Assignment {
        let role = self.role(name).await.parse().unwrap();
        let new = NewAssignment { user: self.grace.id, role, organization, expires_at: None };
        self.app.iam.assignments().create(&self.ada, new).await.unwrap()
    }

    fn path(&self, assignment: &Assignment, action: &str) -> String {
        format!("/console/assignments/{}{action}?user={}", assignment.id, self.grace.id)
    }

    async fn held(&self) -> Vec<Assignment> {
        let grants = self.app.iam.assignments().of_user(&self.ada, self.grace.id).await.unwrap();
        grants.into_iter().map(|grant| grant.assignment).collect()
    }
}

#[tokio::test]
async fn a_role_is_assigned_to_a_user_that_is_named_by_its_email() {
    let signed = signed().await;
    let Signed { app, cookie, grace, north, .. } = &signed;
    let role = signed.role("MEMBER").await;
    let form = app.get(&format!("/console/assignments/new?user={}", grace.id), cookie).await;
    assert!(form.body.contains(r#"value="grace@example.com""#) && form.body.contains("MEMBER"), "{}", form.body);
    let fields =
        [("user", "Grace@Example.com"), ("role", &*role), ("organization", "north"), ("until", "2026-03-01T12:30")];
    let preview = app.post_signed("/console/assignments/new", cookie, &fields).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    for text in ["Assign MEMBER to grace@example.com in North and below", "<ins>Gains</ins> 2 permissions in North"] {
        assert!(preview.body.contains(text), "{text}: {}", preview.body);
    }
    assert_eq!(signed.held().await, [], "nothing is assigned yet");
    // The person can go back to what was typed.
    let again = [fields.as_slice(), &[("again", "yes")]].concat();
    let back = app.post_signed("/console/assignments/new", cookie, &again).await;
    assert!(back.body.contains(r#"value="Grace@Example.com""#) && back.body.contains(r#"value="north""#));
    let confirmed = [fields.as_slice(), &[("confirmed", "yes")]].concat();
    let answer = app.post_signed("/console/assignments/new", cookie, &confirmed).await;
    assert_eq!(answer.location(), format!("/console/users/{}?done=assigned", grace.id));
    let held = signed.held().await;
    assert_eq!(held.len(), 1);
    assert_eq!(held[0].organization_id, Some(north.id));
    assert_eq!(held[0].expires_at.unwrap().to_rfc3339(), "2026-03-01T12:30:00+00:00");
    let page = app.get(answer.location(), cookie).await.body;
    assert!(page.contains("The role is assigned") && page.contains("North") && page.contains("2026-03-01"), "{page}");
}

#[tokio::test]
async fn a_role_in_a_suspended_organization_gives_nothing_and_the_page_says_so() {
    let signed = signed().await;
    let Signed { app, ada, cookie, north, .. } = &signed;
    let role = signed.role("MEMBER").await;
    let preview = async |organization: &str| {
        let fields = [("user", "grace@example.com"), ("role", &*role), ("organization", organization), ("until", "")];
        app.post_signed("/console/assignments/new", cookie, &fields).await.body
    };
    let offered =
        async |text: &str| app.get(&format!("/console/pick/organizations?organization={text}"), cookie).await.body;
    assert!(!preview("north").await.contains("suspended"));
    assert!(!offered("north").await.contains("suspended"));
    let patch = OrganizationPatch { status: Some(OrganizationStatus::Suspended), ..OrganizationPatch::default() };
    app.iam.organizations().update(ada, north.id, patch).await.unwrap();
    let here = "This organization is suspended: roles in it give nothing until it is active again.";
    let above = "An organization above this one is suspended: roles here give nothing";
    assert!(offered("north").await.contains(r#"<option value="north">North · suspended</option>"#));
    for (organization, warning) in [("north", here), ("harbour", above)] {
        let page = preview(organization).await;
        assert!(page.contains(warning), "{page}");
    }
    assert!(!preview("").await.contains("suspended"));
    let eligibility = NewEligibility {
        organization: Some(north.id),
        ..NewEligibility::of_user(role.parse().unwrap(), signed.grace.id)
    };
    let eligibility = app.iam.eligibilities().create(ada, eligibility).await.unwrap().id;
    let page = app.get(&format!("/console/eligibilities/{eligibility}"), cookie).await.body;
    assert!(page.contains(here), "{page}");
    let grace = signed.grace.id.to_string();
    let many =
        [("action", "assign"), ("selected", &*grace), ("role", "MEMBER"), ("organization", "north"), ("until", "")];
    let page = app.post_signed("/console/runs", cookie, &many).await.body;
    assert!(page.contains("<h1>Add 1 role assignment</h1>") && page.contains(here), "{page}");
}

#[tokio::test]
async fn a_mistake_in_an_assignment_stands_at_its_field_and_loses_nothing() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let (member, tenant) = (signed.role("MEMBER").await, signed.role("TENANT_ADMIN").await);
    let good = [("user", "grace@example.com"), ("role", &*member), ("organization", ""), ("until", "")];
    let cases = [
        (0, "nobody@example.com", "user-error", StatusCode::BAD_REQUEST),
        (1, "", "role-error", StatusCode::BAD_REQUEST),
        (2, "nowhere", "organization-error", StatusCode::BAD_REQUEST),
        (3, "2026-01-01T00:00", "until-error", StatusCode::BAD_REQUEST),
        (3, "tomorrow", "until-error", StatusCode::BAD_REQUEST),
    ];
    for (number, value, error, status) in cases {
        let mut fields = good;
        fields[number].1 = value;
        let answer = app.post_signed("/console/assignments/new", cookie, &fields).await;
        assert_eq!(answer.status, status, "{value}");
        assert!(answer.body.contains(&format!(r#"<p id="{error}""#)), "{value}: {}", answer.body);
        assert!(number == 0 || answer.body.contains(r#"value="grace@example.com""#), "{value}: {}", answer.body);
        assert!(number == 1 || answer.body.contains(&format!(r#"value="{member}" selected"#)), "{value}");
        assert_eq!(answer.body.matches(r#"aria-invalid="true""#).count(), 1, "{value}");
    }
    let all_wrong = [("user", "nobody"), ("role", ""), ("organization", "nowhere"), ("until", "tomorrow")];
    let answer = app.post_signed("/console/assignments/new", cookie, &all_wrong).await;
    assert_eq!(answer.body.matches(r#"aria-invalid="true""#).count(), 4, "{}", answer.body);
    let mut refused = good;
    (refused[1].1, refused[2].1) = (&tenant, "north");
    let answer = app.post_signed("/console/assignments/new", cookie, &refused).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("only held in the whole tenant"), "{}", answer.body);
    signed.assign("MEMBER", None).await;
    let answer = app.post_signed("/console/assignments/new", cookie, &good).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains("already holds this role"), "{}", answer.body);
}

#[tokio::test]
async fn a_person_or_an_organization_is_named_by_its_name_if_no_other_has_it() {
    let signed = signed().await;
    let Signed { app, ada, cookie, north, .. } = &signed;
    let role = signed.role("MEMBER").await;
    let ask = async |user: &str, organization: &str| {
        let fields = [("user", user), ("role", &*role), ("organization", organization), ("until", "")];
        app.post_signed("/console/assignments/new", cookie, &fields).await
    };
    let named = ask("grace lovelace", "NORTH").await;
    assert!(named.body.contains("Assign MEMBER to grace@example.com in North and below"), "{}", named.body);
    app.iam.users().create(ada, person("another@example.com", "Grace")).await.unwrap();
    let twin = NewOrganization { name: "Harbour".into(), parent: Some(north.id), ..NewOrganization::default() };
    app.iam.organizations().create(ada, NewOrganization { slug: Some("twin".into()), ..twin }).await.unwrap();
    let twins = ask("Grace Lovelace", "Harbour").await;
    assert_eq!(twins.status, StatusCode::BAD_REQUEST);
    assert!(twins.body.contains(r#"<p id="user-error""#), "{}", twins.body);
    // A short name is unique.
    assert!(!twins.body.contains(r#"<p id="organization-error""#), "{}", twins.body);
}

#[tokio::test]
async fn a_field_offers_users_organizations_and_roles_while_a_person_types() {
    let Signed { app, cookie, ada, .. } = signed().await;
    app.iam.users().create(&ada, person("xss@example.com", "<i>x</i>")).await.unwrap();
    let users = app.get("/console/pick/users?user=grac", &cookie).await;
    assert!(users.body.contains(r#"<option value="grace@example.com">Grace Lovelace</option>"#), "{}", users.body);
    assert!(!users.body.contains(EMAIL));
    let escaped = app.get("/console/pick/users?user=xss", &cookie).await;
    assert!(escaped.body.contains("&#60;i&#62;") && !escaped.body.contains("<i>"), "{}", escaped.body);
    for field in ["organization", "parent"] {
        let found = app.get(&format!("/console/pick/organizations?{field}=harb"), &cookie).await;
        assert!(found.body.contains(r#"<option value="harbour">Harbour</option>"#), "{}", found.body);
        assert!(!found.body.contains("north"));
    }
    let roles = app.get("/console/pick/roles?role-3=admin", &cookie).await;
    assert!(roles.body.contains(r#"<option value="ORGANIZATION_ADMIN">"#) && !roles.body.contains("MEMBER"));
    // Who may see nobody is offered nobody, and a stranger is led to sign-in.
    let grace = app.sign_in("grace@example.com").await;
    let none = app.get("/console/pick/users?user=ada", &grace).await;
    assert!(none.status == StatusCode::OK && !none.body.contains("option"), "{none:?}");
    assert!(app.get("/console/pick/users?user=ada", "").await.is_to_sign_in());
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    assert!(!app.get("/console/pick/users?user=grace", &eve).await.body.contains("grace"));
    assert!(!app.get("/console/pick/organizations?organization=north", &eve).await.body.contains("north"));
}

#[tokio::test]
async fn a_service_account_is_chosen_and_shown_by_its_name_unless_another_has_the_same() {
    let Signed { app, cookie, ada, .. } = signed().await;
    let make = async || {
        let new = NewServiceAccount { name: "Nightly import".to_owned() };
        app.iam.users().create_service_account(&ada, new).await.unwrap().id
    };
    let robot = make().await;
    let pages = ["/console/assignments/new", "/console/access", "/console/assignments"];
    let shown = async |value: &str| {
        let field = format!(r#"name="user" type="text" autocomplete="off" value="{value}""#);
        for page in pages {
            let answer = app.get(&format!("{page}?user={robot}"), &cookie).await;
            assert!(answer.status == StatusCode::OK && answer.body.contains(&field), "{page}: {}", answer.body);
        }
    };
    shown("Nightly import").await;
    let offered = app.get("/console/pick/users?user=night", &cookie).await.body;
    assert!(offered.contains(r#"<option value="Nightly import">Service account</option>"#), "{offered}");
    let found = app.get("/console/assignments?user=Nightly+import", &cookie).await;
    assert!(found.status == StatusCode::OK && found.body.contains("No assignment matches"), "{}", found.body);
    make().await;
    shown(&robot.to_string()).await;
    let offered = app.get("/console/pick/users?user=night", &cookie).await.body;
    assert!(offered.contains(&format!(r#"<option value="{robot}">Nightly import (Service account)"#)), "{offered}");
}

#[tokio::test]
async fn assignments_are_filtered_by_user_role_organization_and_moment() {
    let signed = signed().await;
    let Signed { app, cookie, north, .. } = &signed;
    let member = signed.role("MEMBER").await;
    app.clock.advance(TimeDelta::minutes(5));
    signed.assign("MEMBER", Some(north.id)).await;
    let count = async |query: &str| {
        let answer = app.get(&format!("/console/assignments?{query}"), cookie).await;
        assert_eq!(answer.status, StatusCode::OK, "{query}: {}", answer.body);
        answer.body.matches("<tr><td").count()
    };
    assert_eq!(count("").await, 2);
    assert_eq!(count("user=grace@example.com").await, 1);
    assert_eq!(count(&format!("user={}", signed.grace.id)).await, 1);
    assert_eq!(count(&format!("role={member}")).await, 1);
    assert_eq!(count("organization=north").await, 1);
    assert_eq!(count("organization=harbour").await, 0);
    assert_eq!(count("at=2026-01-31T09:15").await, 1, "she did not hold it yet");
    assert_eq!(count("at=2027-01-31T09:15").await, 2);
    let sent = request(Method::GET, "/console/assignments?organization=north", cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await;
    assert!(part.body.contains("1 assignment<") && !part.body.contains("<html"), "{}", part.body);
    let empty = app.get("/console/assignments?organization=harbour", cookie).await.body;
    assert!(empty.contains("No assignment matches") && empty.contains("Show all assignments"), "{empty}");
    for (query, error) in
        [("user=nobody", "user-error"), ("at=x", "at-error"), ("organization=x", "organization-error")]
    {
        let answer = app.get(&format!("/console/assignments?{query}"), cookie).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(answer.body.contains(&format!(r#"<p id="{error}""#)), "{query}: {}", answer.body);
    }
    let past = app.get("/console/assignments?at=2020-01-01T00:00", cookie).await;
    assert_eq!(past.status, StatusCode::BAD_REQUEST);
    assert!(past.body.contains(r#"<p id="at-error""#), "{}", past.body);
}

#[tokio::test]
async fn a_long_list_of_assignments_has_pages_that_keep_the_filter() {
    let Signed { app, ada, cookie, north, .. } = signed().await;
    let member = app.iam.roles().by_name(&ada, "MEMBER").await.unwrap().unwrap();
    for number in 0..30 {
        let user = app.iam.users().create(&ada, person(&format!("user{number}@example.com"), "Many")).await.unwrap();
        let new = NewAssignment { user: user.id, role: member.id, organization: Some(north.id), expires_at: None };
        app.iam.assignments().create(&ada, new).await.unwrap();
    }
    let first = app.get("/console/assignments?organization=north", &cookie).await.body;
    assert!(first.contains("30 assignments") && first.contains("organization=north&#38;page=2"), "{first}");
    let second = app.get("/console/assignments?organization=north&page=2", &cookie).await.body;
    assert_eq!(second.matches("<tr><td").count(), 5, "{second}");
}

#[tokio::test]
async fn a_role_is_revoked_after_a_look_at_what_is_lost() {
    let signed = signed().await;
    let Signed { app, cookie, north, grace, .. } = &signed;
    let held = signed.assign("MEMBER", Some(north.id)).await;
    let user = app.get(&format!("/console/users/{}", grace.id), cookie).await.body;
    assert!(user.contains(&format!("/console/assignments/{}/revoke?user={}", held.id, grace.id)), "{user}");
    let path = signed.path(&held, "/revoke");
    let preview = app.post_signed(&path, cookie, &[]).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    assert!(preview.body.contains("Revoke MEMBER of grace@example.com"), "{}", preview.body);
    for text in ["<del>Loses</del> 2 permissions in North", "See users. <code", ">users:read</code>"] {
        assert!(preview.body.contains(text), "{text}: {}", preview.body);
    }
    assert_eq!(signed.held().await.len(), 1, "nothing is revoked yet");
    let answer = app.post_signed(&path, cookie, &[("confirmed", "yes")]).await;
    assert_eq!(answer.location(), format!("/console/users/{}?done=revoked", grace.id));
    assert_eq!(signed.held().await, []);
    assert_eq!(app.post_signed(&path, cookie, &[("confirmed", "yes")]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_last_administrator_keeps_its_role_and_the_page_says_why() {
    let Signed { app, ada, cookie, .. } = signed().await;
    let user = ada.user().unwrap();
    let held = app.iam.assignments().of_user(&ada, user).await.unwrap();
    let path = format!("/console/assignments/{}/revoke?user={user}", held[0].assignment.id);
    for fields in [&[][..], &[("confirmed", "yes")]] {
        let answer = app.post_signed(&path, &cookie, fields).await;
        assert_eq!(answer.status, StatusCode::CONFLICT);
        assert!(answer.body.contains(r#"<p class="error" role="alert">"#), "{}", answer.body);
        assert!(!answer.body.contains(r#"name="confirmed""#), "{}", answer.body);
    }
}

#[tokio::test]
async fn the_end_of_a_role_is_changed_and_removed() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let held = signed.assign("MEMBER", None).await;
    let page = app.get(&signed.path(&held, ""), cookie).await;
    assert!(page.body.contains("grace@example.com") && page.body.contains("ada@example.com"), "{}", page.body);
    let path = signed.path(&held, "/end");
    let preview = app.post_signed(&path, cookie, &[("until", "2026-02-01T00:00")]).await;
    assert!(preview.body.contains("Change the end of MEMBER of grace@example.com"), "{}", preview.body);
    assert_eq!(signed.held().await[0].expires_at, None, "nothing is changed yet");
    let again = app.post_signed(&path, cookie, &[("until", "2026-02-01T00:00"), ("again", "yes")]).await;
    assert!(again.body.contains(r#"value="2026-02-01T00:00""#), "{}", again.body);
    let answer = app.post_signed(&path, cookie, &[("until", "2026-02-01T00:00"), ("confirmed", "yes")]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(signed.held().await[0].expires_at.unwrap().to_rfc3339(), "2026-02-01T00:00:00+00:00");
    assert!(app.get(&signed.path(&held, ""), cookie).await.body.contains(r#"value="2026-02-01T00:00""#));
    for (typed, shown) in [("2020-01-01T00:00", "must be in the future"), ("soon", "must be a day and a time")] {
        let answer = app.post_signed(&path, cookie, &[("until", typed)]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert!(answer.body.contains(shown) && answer.body.contains(&format!(r#"value="{typed}""#)), "{}", answer.body);
    }
    let endless = [("until", ""), ("confirmed", "yes")];
    assert_eq!(app.post_signed(&path, cookie, &endless).await.status, StatusCode::SEE_OTHER);
    assert_eq!(signed.held().await[0].expires_at, None);
}

#[tokio::test]
async fn the_console_refuses_assignments_that_the_api_refuses() {
    let signed = signed().await;
    let Signed { app, ada, cookie, north, harbour, grace, .. } = &signed;
    let (member, admin) = (signed.role("MEMBER").await, signed.role("ORGANIZATION_ADMIN").await);
    let held = signed.assign("ORGANIZATION_ADMIN", Some(harbour.id)).await;
    let mine = app.iam.assignments().of_user(ada, ada.user().unwrap()).await.unwrap();
    let her = app.sign_in("grace@example.com").await;
    // She sees the assignments of her organization only.
    let list = app.get("/console/assignments", &her).await.body;
    assert!(
        list.contains(r#"<span class="hint">grace@example.com</span>"#) && !list.contains("ada@example.com"),
        "{list}"
    );
    let post = async |fields: &[(&str, &str)]| app.post_signed("/console/assignments/new", &her, fields).await;
    // She does not see users of other organizations, and so names them by their ids.
    let ada_id = ada.user().unwrap().to_string();
    let answer = post(&[("user", EMAIL), ("role", &member), ("organization", "harbour")]).await;
    assert!(answer.body.contains(r#"<p id="user-error""#), "{}", answer.body);
    let answer = post(&[("user", &ada_id), ("role", &member), ("organization", "")]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
    let above = north.id.to_string();
    let answer = post(&[("user", &ada_id), ("role", &admin), ("organization", &above)]).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND, "{}", answer.body);
    assert!(answer.body.contains(r#"<p id="organization-error""#), "{}", answer.body);
    let powerful = NewRole { name: "POWERFUL".into(), permissions: vec!["*".into()], ..NewRole::default() };
    let powerful = app.iam.roles().create(ada, powerful).await.unwrap().id.to_string();
    let answer = post(&[("user", "grace@example.com"), ("role", &powerful), ("organization", "harbour")]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("higher privileges"), "{}", answer.body);
    for action in ["/revoke", "/end"] {
        let path = format!("/console/assignments/{}{action}?user={ada_id}", mine[0].assignment.id);
        let answer = app.post_signed(&path, &her, &[("confirmed", "yes")]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{action}");
    }
    // Another tenant knows neither the assignment nor the user.
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    assert_eq!(app.get(&signed.path(&held, ""), &eve).await.status, StatusCode::NOT_FOUND);
    for action in ["/revoke", "/end"] {
        let answer = app.post_signed(&signed.path(&held, action), &eve, &[("confirmed", "yes")]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{action}");
    }
    let fields = [("user", &*grace.id.to_string()), ("role", &*member)];
    assert_eq!(app.post_signed("/console/assignments/new", &eve, &fields).await.status, StatusCode::NOT_FOUND);
    // A form needs its token.
    let answer = app.post(&signed.path(&held, "/revoke"), cookie, &[("confirmed", "yes")]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert_eq!(signed.held().await.len(), 1);
}

#[tokio::test]
async fn why_names_the_role_and_the_organization_that_it_is_inherited_from() {
    let signed = signed().await;
    let Signed { app, cookie, north, grace, .. } = &signed;
    assert!(app.get("/console/access", cookie).await.body.contains("Choose a permission"));
    signed.assign("MEMBER", Some(north.id)).await;
    let ask = async |query: &str| {
        let answer = app.get(&format!("/console/access?user=grace@example.com&{query}"), cookie).await;
        assert_eq!(answer.status, StatusCode::OK, "{query}: {}", answer.body);
        answer.body
    };
    let yes = ask("permission=users:read&organization=harbour").await;
    assert!(yes.contains(">Allowed</h2>") && yes.contains("MEMBER"), "{yes}");
    assert!(yes.contains("North (inherited from above)") && yes.contains("Assigned by ada@example.com"), "{yes}");
    assert!(yes.contains(r#"value="harbour""#) && yes.contains(r#"value="users:read""#), "{yes}");
    let direct = ask("permission=users:read&organization=north").await;
    assert!(direct.contains(">Allowed</h2>") && !direct.contains("inherited"), "{direct}");
    let elsewhere = ask("permission=users:read").await;
    assert!(
        elsewhere.contains("but in these organizations") && elsewhere.contains(">North</a> · MEMBER"),
        "{elsewhere}"
    );
    let (_, answer) = elsewhere.split_once("but in these organizations").unwrap();
    let (_, link) = answer.split_once(r#"href="/console/access?user="#).unwrap();
    let address = format!("/console/access?user={}", link.split('"').next().unwrap().replace("&#38;", "&"));
    let there = app.get(&address, cookie).await.body;
    assert!(there.contains(">Allowed</h2>"), "{address}: {there}");
    let never = ask("permission=users:delete&organization=north").await;
    assert!(never.contains(">Not allowed</h2>") && never.contains("No role of the user"), "{never}");
    app.iam.users().suspend(&signed.ada, grace.id).await.unwrap();
    let suspended = ask("permission=users:read&organization=north").await;
    assert!(suspended.contains(">Not allowed</h2>") && suspended.contains("not active"), "{suspended}");
    let own = app.get("/console/access?permission=users:delete", cookie).await.body;
    assert!(
        own.contains(">Allowed</h2>") && own.contains("TENANT_ADMIN") && own.contains("Assigned by ada@example.com"),
        "{own}"
    );
}

#[tokio::test]
async fn why_answers_for_an_earlier_moment() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    app.clock.advance(TimeDelta::minutes(5));
    signed.assign("MEMBER", None).await;
    app.clock.advance(TimeDelta::minutes(5));
    let ask = async |at: &str| {
        let path = format!("/console/access?user=grace@example.com&permission=users:read&at={at}");
        app.get(&path, cookie).await
    };
    assert!(ask("2026-01-31T09:16").await.body.contains(">Not allowed</h2>"));
    assert!(ask("2026-01-31T09:22").await.body.contains(">Allowed</h2>"));
    let before = ask("2020-01-01T00:00").await;
    assert_eq!(before.status, StatusCode::BAD_REQUEST);
    assert!(before.body.contains(r#"<p id="at-error""#), "{}", before.body);
}

#[tokio::test]
async fn the_holders_in_single_organizations_are_found_by_their_roles() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let member = signed.role("MEMBER").await;
    let link = format!(r#"<a href="/console/assignments?role={member}">MEMBER</a>"#);
    let question = "/console/access/who?permission=users:read";
    // Whoever holds the role in the whole tenant is in the answer already.
    signed.assign("MEMBER", None).await;
    let alone = app.get(question, cookie).await.body;
    assert!(alone.contains("No other user may do it in a single organization.") && !alone.contains(&link), "{alone}");
    let held = signed.held().await.remove(0);
    app.iam.assignments().delete(&signed.ada, held.id).await.unwrap();
    signed.assign("MEMBER", Some(signed.north.id)).await;
    let everywhere = app.get(question, cookie).await.body;
    assert!(everywhere.contains(&link) && everywhere.contains("in a single organization may do it there"));
    let nowhere = app.get("/console/access/who?permission=webhooks:read", cookie).await.body;
    assert!(!nowhere.contains(&link), "{nowhere}");
    assert!(everywhere.contains("1 user in the whole tenant"), "{everywhere}");
    let in_words = app.get("/console/access/who?permission=see+users", cookie).await.body;
    assert!(in_words.contains("1 user in the whole tenant"), "{in_words}");
    let there = app.get("/console/access/who?permission=users:read&organization=north", cookie).await.body;
    assert!(!there.contains(&link), "{there}");
}

#[tokio::test]
async fn the_pages_about_access_keep_what_was_typed_on_another_one() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let typed = "user=grace%40example.com&permission=users%3Aread&organization=north&at=2026-01-31T09%3A15";
    for page in ["", "/who", "/holders"] {
        let body = app.get(&format!("/console/access{page}?{typed}"), cookie).await.body;
        for tab in ["", "/who", "/holders"] {
            let link = format!(r#"<a href="/console/access{tab}?{}""#, typed.replace('&', "&#38;"));
            assert!(body.contains(&link), "{page} {tab}: {body}");
        }
        // The form sends what it has no field for.
        assert!(body.contains(r#"name="user""#) && body.contains(r#"value="grace@example.com""#), "{page}: {body}");
        assert!(body.contains(r#"name="permission""#) && body.contains(r#"value="users:read""#), "{page}: {body}");
    }
}

#[tokio::test]
async fn questions_are_refused_in_place() {
    let signed = signed().await;
    let Signed { app, cookie, north, .. } = &signed;
    let cases = [
        ("/console/access?permission=x", "permission-error", StatusCode::BAD_REQUEST),
        ("/console/access?permission=Reserved", "permission-error", StatusCode::BAD_REQUEST),
        ("/console/access?permission=users:read&user=nobody", "user-error", StatusCode::BAD_REQUEST),
        ("/console/access?permission=users:read&organization=x", "organization-error", StatusCode::BAD_REQUEST),
        ("/console/access/who?permission=x", "permission-error", StatusCode::BAD_REQUEST),
        ("/console/access/who?permission=users:read&at=x", "at-error", StatusCode::BAD_REQUEST),
        ("/console/access/who?permission=users", "permission-error", StatusCode::BAD_REQUEST),
        ("/console/access/holders?organization=x", "organization-error", StatusCode::BAD_REQUEST),
        ("/console/access/holders?organization=&at=x", "at-error", StatusCode::BAD_REQUEST),
        ("/console/access/holders?at=2020-01-01T00:00", "at-error", StatusCode::BAD_REQUEST),
    ];
    for (path, error, status) in cases {
        let answer = app.get(path, cookie).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains(&format!(r#"<p id="{error}""#)), "{path}: {}", answer.body);
    }
    // About others, only those may ask who may see what they hold.
    let her = app.sign_in("grace@example.com").await;
    for path in ["/console/access?user={}&permission=users:read", "/console/access/who?permission=users:read"] {
        let path = path.replace("{}", &signed.ada.user().unwrap().to_string());
        let answer = app.get(&path, &her).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
        assert!(answer.body.contains("role-assignments:read") && answer.body.contains(r#"name="permission""#));
    }
    let answer = app.get("/console/access/holders?organization=", &her).await;
    assert!(answer.status == StatusCode::FORBIDDEN && !answer.body.contains(EMAIL), "{}", answer.body);
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    let (user, place) = (signed.grace.id, north.id);
    for path in [
        format!("/console/access?permission=users:read&user={user}"),
        format!("/console/access?permission=users:read&organization={place}"),
        format!("/console/access/who?permission=users:read&organization={place}"),
        format!("/console/access/holders?organization={place}"),
    ] {
        let answer = app.get(&path, &eve).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}: {}", answer.body);
        assert!(!answer.body.contains("North") && !answer.body.contains("grace@"), "{path}");
    }
}

#[tokio::test]
async fn who_lists_all_users_with_the_permission_and_why() {
    let signed = signed().await;
    let Signed { app, ada, cookie, north, .. } = &signed;
    assert!(app.get("/console/access/who", cookie).await.body.contains("Choose a permission"));
    signed.assign("MEMBER", Some(north.id)).await;
    let there = app.get("/console/access/who?permission=users:read&organization=harbour", cookie).await.body;
    assert!(
        there.contains("2 users") && there.contains("grace@example.com") && there.contains("TENANT_ADMIN"),
        "{there}"
    );
    assert!(there.contains("North (inherited from above)"), "{there}");
    let everywhere = app.get("/console/access/who?permission=users:read", cookie).await.body;
    assert!(
        everywhere.contains("1 user in the whole tenant<") && !everywhere.contains("grace@example.com"),
        "{everywhere}"
    );
    let member = app.iam.roles().by_name(ada, "MEMBER").await.unwrap().unwrap();
    for number in 0..30 {
        let user = app.iam.users().create(ada, person(&format!("user{number}@example.com"), "Many")).await.unwrap();
        let new = NewAssignment { user: user.id, role: member.id, organization: None, expires_at: None };
        app.iam.assignments().create(ada, new).await.unwrap();
    }
    let first = app.get("/console/access/who?permission=users:read", cookie).await.body;
    assert!(first.contains("31 users") && first.contains("permission=users%3Aread&#38;page=2"), "{first}");
    let second = app.get("/console/access/who?permission=users:read&page=2", cookie).await.body;
    assert_eq!(second.matches("<tr><td").count(), 6, "{second}");
}

#[tokio::test]
async fn who_could_do_something_on_a_day_of_last_week_is_found_by_a_word() {
    let signed = signed().await;
    let Signed { app, ada, north, grace, .. } = &signed;
    let description = Some("Give money back.".to_owned());
    let refund = NewPermission { name: "orders:refund".into(), description };
    app.iam.permissions().create(ada, refund).await.unwrap();
    let cashier = NewRole { name: "CASHIER".into(), permissions: vec!["orders:refund".into()], ..NewRole::default() };
    app.iam.roles().create(ada, cashier).await.unwrap();
    let held = signed.assign("CASHIER", Some(north.id)).await;
    app.clock.advance(TimeDelta::days(3));
    app.iam.assignments().delete(&Caller::system(ada.tenant(), "test"), held.id).await.unwrap();
    app.clock.advance(TimeDelta::days(5));
    let cookie = app.sign_in(EMAIL).await;
    let ask = async |place: &str, at: &str| {
        let path = format!("/console/access/who?permission=refund&organization={place}&at={at}");
        let answer = app.get(&path, &cookie).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        answer.body
    };
    let then = ask("North", "2026-02-03T09:00").await;
    assert!(then.contains(grace.email.as_str()) && then.contains("CASHIER"), "{then}");
    assert!(then.contains("Give money back. <code>orders:refund</code> · North"), "{then}");
    assert!(!ask("North", "").await.contains(grace.email.as_str()));
    // The answer about the whole tenant does not read as if it were complete.
    let whole = ask("", "2026-02-03T09:00").await;
    assert!(whole.contains("in a single organization only are not listed") && !then.contains("not listed"), "{whole}");
}

#[tokio::test]
async fn the_holders_of_roles_in_an_organization_have_their_own_and_inherited_ones() {
    let signed = signed().await;
    let Signed { app, ada, cookie, grace, north, harbour } = &signed;
    let cells = |body: &str| -> Vec<String> {
        let row = body.split("<tr>").find(|row| row.contains(grace.email.as_str())).unwrap_or_default();
        row.split("<td data-label=").skip(1).map(str::to_owned).collect()
    };
    assert!(app.get("/console/access/holders", cookie).await.body.contains("Choose an organization"));
    signed.assign("MEMBER", Some(north.id)).await;
    let role = signed.role("AUDITOR").await.parse().unwrap();
    let until = Some(app.iam.now() + TimeDelta::days(1));
    let admin = signed.role("ORGANIZATION_ADMIN").await.parse().unwrap();
    for (role, organization, expires_at) in [(role, None, None), (admin, Some(harbour.id), until)] {
        let new = NewAssignment { user: grace.id, role, organization, expires_at };
        app.iam.assignments().create(ada, new).await.unwrap();
    }
    let below = app.get("/console/access/holders?organization=harbour", cookie).await.body;
    assert!(below.contains("2 users") && below.contains("TENANT_ADMIN"), "{below}");
    let [own, inherited] = cells(&below).try_into().unwrap();
    assert!(own.contains(">ORGANIZATION_ADMIN<") && own.contains("until <time datetime=\"2026-02-01"), "{own}");
    assert!(!own.contains(">MEMBER<") && !own.contains(">AUDITOR<"), "{own}");
    assert!(inherited.contains(">MEMBER<") && inherited.contains("from North"), "{inherited}");
    assert!(inherited.contains(">AUDITOR<") && inherited.contains("from the whole tenant"), "{inherited}");
    let above = app.get("/console/access/holders?organization=north", cookie).await.body;
    let [own, inherited] = cells(&above).try_into().unwrap();
    assert!(own.contains(">MEMBER<") && !inherited.contains(">ORGANIZATION_ADMIN<"), "{above}");
    let everywhere = app.get("/console/access/holders?organization=", cookie).await.body;
    let [own] = cells(&everywhere).try_into().unwrap();
    assert!(own.contains(">AUDITOR<") && !own.contains(">MEMBER<"), "{own}");
    // An administrator of the organization sees who holds roles there, also those from above.
    let auditor = signed.held().await.into_iter().find(|held| held.role_id == role).unwrap();
    app.iam.assignments().delete(ada, auditor.id).await.unwrap();
    let her = app.sign_in(grace.email.as_str()).await;
    let seen = app.get(&format!("/console/access/holders?organization={}", harbour.id), &her).await.body;
    assert!(seen.contains("2 users") && seen.contains(">TENANT_ADMIN<"), "{seen}");
    app.clock.advance(TimeDelta::days(2));
    let cookie = app.sign_in(EMAIL).await;
    let ended = app.get("/console/access/holders?organization=harbour", &cookie).await.body;
    assert!(!ended.contains(">ORGANIZATION_ADMIN<"), "{ended}");
    let then = app.get("/console/access/holders?organization=harbour&at=2026-01-31T09:15", &cookie).await.body;
    assert!(then.contains("2 users") && then.contains(">ORGANIZATION_ADMIN<"), "{then}");
}

#[tokio::test]
async fn the_holders_of_roles_have_pages_that_keep_the_organization() {
    let signed = signed().await;
    let Signed { app, ada, cookie, north, .. } = &signed;
    let member = signed.role("MEMBER").await.parse().unwrap();
    for number in 0..30 {
        let user = app.iam.users().create(ada, person(&format!("user{number}@example.com"), "Many")).await.unwrap();
        let new = NewAssignment { user: user.id, role: member, organization: Some(north.id), expires_at: None };
        app.iam.assignments().create(ada, new).await.unwrap();
    }
    let first = app.get("/console/access/holders?organization=north", cookie).await.body;
    assert!(first.contains("31 users") && first.contains("organization=north&#38;page=2"), "{first}");
    let second = app.get("/console/access/holders?organization=north&page=2", cookie).await.body;
    assert_eq!(second.matches("<tr><td").count(), 6, "{second}");
}
