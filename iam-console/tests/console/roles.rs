#![cfg(test)]

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use iam_core::Caller;
use iam_core::assignment::NewAssignment;
use iam_core::organization::NewOrganization;
use iam_core::role::{NewRole, Role, RolePatch};

use crate::app::{Answer, App, EMAIL, form, person, request};

/// A console with an administrator that is signed in, and a role of its tenant.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    role: Role,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let role = app.iam.roles().create(&ada, reception("RECEPTION")).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, role }
}

fn reception(name: &str) -> NewRole {
    let description = Some("Sees who comes and goes".to_owned());
    NewRole { name: name.to_owned(), description, permissions: vec!["users:read".into()], ..NewRole::default() }
}

impl Signed {
    fn path(&self, action: &str) -> String {
        format!("/console/roles/{}{action}", self.role.id)
    }

    async fn now(&self) -> Role {
        self.app.iam.roles().get(&self.ada, self.role.id).await.unwrap()
    }

    /// Makes a user who holds the role.
    async fn holder(&self, email: &str) {
        let user = self.app.iam.users().create(&self.ada, person(email, "Grace")).await.unwrap();
        let new = NewAssignment { user: user.id, role: self.role.id, organization: None, expires_at: None };
        self.app.iam.assignments().create(&self.ada, new).await.unwrap();
    }

    async fn edit(&self, fields: &[(&str, &str)]) -> Answer {
        self.app.post_signed(&self.path("/edit"), &self.cookie, fields).await
    }
}

#[tokio::test]
async fn roles_are_listed_searched_and_explained() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let all = app.get("/console/roles", cookie).await;
    assert_eq!(all.status, StatusCode::OK);
    assert!(all.body.contains("5 roles") && all.body.contains("TENANT_ADMIN"), "{}", all.body);
    let found = app.get("/console/roles?search=comes%20and", cookie).await;
    assert!(found.body.contains("1 role<") && found.body.contains("RECEPTION"), "{}", found.body);
    let sent = request(Method::GET, "/console/roles?search=recep", cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await;
    assert!(part.body.contains("RECEPTION") && !part.body.contains("<html"), "{}", part.body);
    let none = app.get("/console/roles?search=zzz", cookie).await;
    assert!(none.body.contains("No role matches") && none.body.contains("Show all roles"), "{}", none.body);
    let one = app.get(&signed.path(""), cookie).await;
    assert!(one.body.contains("See users.") && one.body.contains("No user holds this role"), "{}", one.body);
}

#[tokio::test]
async fn a_person_who_does_not_see_all_holders_is_not_told_that_there_are_none() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    signed.holder("grace@example.com").await;
    let new = NewOrganization { name: "North".into(), ..NewOrganization::default() };
    let north = app.iam.organizations().create(ada, new).await.unwrap().organization.id;
    let permissions = vec!["roles:read".to_owned(), "role-assignments:read".to_owned()];
    let new = NewRole { name: "LOCAL".into(), permissions, ..NewRole::default() };
    let role = app.iam.roles().create(ada, new).await.unwrap().id;
    let user = app.iam.users().create(ada, person("alan@example.com", "Alan")).await.unwrap().id;
    let new = NewAssignment { user, role, organization: Some(north), expires_at: None };
    app.iam.assignments().create(ada, new).await.unwrap();
    let page = app.get(&signed.path(""), &app.sign_in("alan@example.com").await).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    assert!(page.body.contains("No user whom you may see holds this role."), "{}", page.body);
}

#[tokio::test]
async fn a_long_list_of_roles_has_pages_with_a_search_too() {
    let Signed { app, ada, cookie, .. } = signed().await;
    for number in 0..30 {
        app.iam.roles().create(&ada, reception(&format!("SHIFT_{number}"))).await.unwrap();
    }
    let first = app.get("/console/roles?search=shift", &cookie).await;
    assert!(first.body.contains("30 roles") && first.body.contains("Page 1 of 2"), "{}", first.body);
    assert!(first.body.contains("search=shift&#38;page=2") && first.body.contains(">SHIFT_0<"), "{}", first.body);
    let second = app.get("/console/roles?search=shift&page=2", &cookie).await;
    assert_eq!(second.body.matches(">SHIFT_").count(), 5, "{}", second.body);
    assert!(app.get("/console/roles?page=2", &cookie).await.body.contains("Page 2 of 2"));
    assert_eq!(app.get("/console/roles?page=0", &cookie).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_role_is_created_and_a_mistake_loses_nothing_that_was_typed() {
    let Signed { app, ada, cookie, .. } = signed().await;
    let path = "/console/roles/new";
    let shown = app.get(path, &cookie).await.body;
    for text in [r#"value="orders:*""#, r#"value="users:*""#, r#"value="users:read""#, "See users."] {
        assert_eq!(shown.contains(text), text != r#"value="orders:*""#, "{text}");
    }
    let bad = [("name", "desk 1!"), ("description", "At the door"), ("scope", "TENANT"), ("permission", "users:read")];
    let answer = app.post_signed(path, &cookie, &bad).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("name-error") && answer.body.contains(r#"value="At the door""#), "{}", answer.body);
    assert!(answer.body.contains(r#"value="users:read" checked"#), "{}", answer.body);
    assert!(answer.body.contains(r#"value="TENANT" selected"#), "{}", answer.body);
    let answer = app.post_signed(path, &cookie, &[("name", "DESK"), ("scope", "NOWHERE")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"<p id="scope-error""#), "{}", answer.body);
    let unknown = [("name", "DESK"), ("scope", "ANY"), ("permission", "users:read"), ("permission", "orders:pay")];
    let answer = app.post_signed(path, &cookie, &unknown).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("orders:pay must be a registered permission."), "{}", answer.body);
    let taken = [("name", "RECEPTION"), ("scope", "ANY")];
    let answer = app.post_signed(path, &cookie, &taken).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains(r#"<p class="error" role="alert">A role with this name"#), "{}", answer.body);
    let good = [("name", "Front desk"), ("scope", "ANY"), ("permission", "users:*"), ("permission", "roles:read")];
    let answer = app.post_signed(path, &cookie, &good).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let made = app.iam.roles().by_name(&ada, "FRONT_DESK").await.unwrap().unwrap();
    let permissions: Vec<String> = made.permissions.iter().map(ToString::to_string).collect();
    assert_eq!(permissions, ["roles:read", "users:*"]);
    let shown = app.get(answer.location(), &cookie).await.body;
    assert!(shown.contains("Users: all actions") && shown.contains("The role is created"), "{shown}");
}

#[tokio::test]
async fn an_edit_shows_who_gains_and_loses_before_it_is_saved() {
    let signed = signed().await;
    signed.holder("grace@example.com").await;
    let shown = signed.app.get(&signed.path("/edit"), &signed.cookie).await;
    // Only the group with a chosen permission is open.
    assert!(shown.body.contains("<h1>Edit RECEPTION</h1>"), "{}", shown.body);
    let group = shown.body.split("<details class=\"group\"").find(|group| group.contains(">Users <")).unwrap();
    assert!(group.contains(" open>") && group.contains(">1 of "), "{group}");
    assert_eq!(shown.body.matches("data-group open>").count(), 1, "{}", shown.body);
    let version = shown.hidden("version");
    let fields = [
        ("name", "RECEPTION"),
        ("description", "Sees roles"),
        ("scope", "ANY"),
        ("permission", "roles:read"),
        ("version", &*version),
    ];
    let preview = signed.edit(&fields).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    assert!(preview.body.contains("1 user gains or loses permissions"), "{}", preview.body);
    assert!(preview.body.contains("<ins>Gains</ins> 1 permission in the whole tenant"), "{}", preview.body);
    assert!(preview.body.contains("See users. <code class=\"hint\">users:read</code>"), "{}", preview.body);
    assert!(preview.body.contains("grace@example.com"));
    assert_eq!(signed.now().await, signed.role, "nothing is saved yet");
    // The person can go back to what was typed.
    let again = [fields.as_slice(), &[("again", "yes")]].concat();
    let back = signed.edit(&again).await;
    assert!(back.body.contains(r#"value="Sees roles""#) && back.body.contains(r#"value="roles:read" checked"#));
    assert_eq!(back.hidden("version"), version);
    let confirmed = [fields.as_slice(), &[("confirmed", "yes")]].concat();
    let saved = signed.edit(&confirmed).await;
    assert_eq!(saved.location(), format!("{}?done=saved", signed.path("")));
    let now = signed.now().await;
    assert!(now.description.as_str() == "Sees roles" && now.permissions != signed.role.permissions);
}

#[tokio::test]
async fn a_new_name_needs_no_preview_and_does_not_replace_a_change_that_came_first() {
    let signed = signed().await;
    let version = signed.app.get(&signed.path("/edit"), &signed.cookie).await.hidden("version");
    let renamed =
        [("name", "DOOR"), ("description", ""), ("scope", "ANY"), ("permission", "users:read"), ("version", &*version)];
    assert_eq!(signed.edit(&renamed).await.status, StatusCode::SEE_OTHER);
    assert_eq!(signed.now().await.name.as_str(), "DOOR");
    let mut late = renamed;
    late[0].1 = "GATE";
    let answer = signed.edit(&late).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    assert!(answer.body.contains("This has changed since") && answer.body.contains(r#"value="GATE""#));
    let again = format!(r#"<a href="{}">Open it again</a>"#, signed.path("/edit"));
    assert!(answer.body.contains(&again), "{}", answer.body);
    assert_eq!(signed.edit(&late[..4]).await.status, StatusCode::PRECONDITION_FAILED, "without a version");
    // The same holds for a change that a preview would show, and for the one that is confirmed.
    late[3].1 = "roles:read";
    assert_eq!(signed.edit(&late).await.status, StatusCode::PRECONDITION_FAILED);
    let confirmed = [late.as_slice(), &[("confirmed", "yes")]].concat();
    assert_eq!(signed.edit(&confirmed).await.status, StatusCode::PRECONDITION_FAILED);
    assert_eq!(signed.now().await.name.as_str(), "DOOR");
}

#[tokio::test]
async fn built_in_roles_are_only_shown_and_copied() {
    let Signed { app, ada, cookie, .. } = signed().await;
    let auditor = app.iam.roles().by_name(&ada, "AUDITOR").await.unwrap().unwrap();
    let path = format!("/console/roles/{}", auditor.id);
    let shown = app.get(&path, &cookie).await.body;
    assert!(!shown.contains(&format!("{path}/edit")) && !shown.contains(&format!("{path}/delete")), "{shown}");
    assert_eq!(app.get(&format!("{path}/edit"), &cookie).await.location(), path);
    let fields = [("name", "AUDITOR"), ("scope", "TENANT"), ("version", &*auditor.version.to_string())];
    assert_eq!(app.post_signed(&format!("{path}/edit"), &cookie, &fields).await.status, StatusCode::CONFLICT);
    let fields = [("version", &*auditor.version.to_string())];
    assert_eq!(app.post_signed(&format!("{path}/delete"), &cookie, &fields).await.status, StatusCode::CONFLICT);
    let copy = app.get(&format!("/console/roles/new?from={}", auditor.id), &cookie).await.body;
    assert!(copy.contains(r#"value="audit-logs:read" checked"#) && !copy.contains(r#"value="AUDITOR""#), "{copy}");
}

#[tokio::test]
async fn only_a_role_that_nobody_holds_is_deleted() {
    let signed = signed().await;
    let other = signed.app.iam.roles().create(&signed.ada, reception("DOOR")).await.unwrap();
    signed.holder("grace@example.com").await;
    let version = signed.app.get(&signed.path(""), &signed.cookie).await.hidden("version");
    let answer = signed.app.post_signed(&signed.path("/delete"), &signed.cookie, &[("version", &version)]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(answer.body.contains("assigned to at least one user"), "{}", answer.body);
    let path = format!("/console/roles/{}/delete", other.id);
    let stale = signed.app.post_signed(&path, &signed.cookie, &[]).await;
    assert_eq!(stale.status, StatusCode::PRECONDITION_FAILED);
    let fields = [("version", &*other.version.to_string())];
    let answer = signed.app.post_signed(&path, &signed.cookie, &fields).await;
    assert_eq!(answer.location(), "/console/roles?done=deleted");
    assert!(signed.app.iam.roles().get(&signed.ada, other.id).await.is_err());
}

#[tokio::test]
async fn nobody_gives_a_role_more_than_it_may_itself() {
    let signed = signed().await;
    let Signed { app, ada, role, .. } = &signed;
    let grace = app.iam.users().create(ada, person("grace@example.com", "Grace")).await.unwrap();
    let permissions = ["roles:read", "roles:create", "roles:update", "users:read"].map(str::to_owned).into();
    let editor = NewRole { name: "EDITOR".into(), permissions, ..NewRole::default() };
    let editor = app.iam.roles().create(ada, editor).await.unwrap();
    let new = NewAssignment { user: grace.id, role: editor.id, organization: None, expires_at: None };
    app.iam.assignments().create(ada, new).await.unwrap();
    let cookie = app.sign_in("grace@example.com").await;
    let version = role.version.to_string();
    let more = [("name", "RECEPTION"), ("scope", "ANY"), ("permission", "users:delete"), ("version", &*version)];
    for confirmed in [&[][..], &[("confirmed", "yes")]] {
        let answer = app.post_signed(&signed.path("/edit"), &cookie, &[more.as_slice(), confirmed].concat()).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.body.contains("higher privileges") && answer.body.contains(r#"value="users:delete" checked"#));
    }
    assert_eq!(signed.now().await.permissions, role.permissions);
    // Whom a change affects is counted, and not shown.
    signed.holder("alan@example.com").await;
    let less = [("name", "RECEPTION"), ("scope", "ANY"), ("permission", "roles:read"), ("version", &*version)];
    let preview = app.post_signed(&signed.path("/edit"), &cookie, &less).await.body;
    assert!(preview.contains("1 user gains or loses") && preview.contains("1 of them is not shown"), "{preview}");
    assert!(!preview.contains("alan"), "{preview}");
    // Those who hold the role are hidden, and so is what the caller may not do.
    let shown = app.get(&signed.path(""), &cookie).await;
    assert_eq!(shown.status, StatusCode::OK);
    assert!(shown.body.contains("may not see who holds") && !shown.body.contains("/delete\""), "{}", shown.body);
}

#[tokio::test]
async fn roles_are_of_one_tenant_and_for_those_who_may_see_them() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    for action in ["", "/edit"] {
        assert_eq!(app.get(&signed.path(action), &eve).await.status, StatusCode::NOT_FOUND, "{action}");
    }
    let fields = [("name", "STOLEN"), ("scope", "ANY"), ("version", "1"), ("confirmed", "yes")];
    for action in ["/edit", "/delete"] {
        let answer = app.post_signed(&signed.path(action), &eve, &fields).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{action}");
    }
    let copy = app.get(&format!("/console/roles/new?from={}", signed.role.id), &eve).await;
    assert!(!copy.body.contains("checked"), "{}", copy.body);
    app.iam.users().create(ada, person("grace@example.com", "Grace")).await.unwrap();
    let grace = app.sign_in("grace@example.com").await;
    for path in ["/console/roles", &signed.path("")] {
        assert_eq!(app.get(path, &grace).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(app.post_signed("/console/roles/new", &grace, &fields).await.status, StatusCode::FORBIDDEN);
    assert_eq!(signed.now().await, signed.role);
}

#[tokio::test]
async fn a_form_without_its_token_or_of_another_origin_changes_no_role() {
    let signed = signed().await;
    let (path, cookie) = (signed.path("/delete"), &*signed.cookie);
    let version = signed.role.version.to_string();
    assert_eq!(signed.app.post(&path, cookie, &[("version", &version)]).await.status, StatusCode::FORBIDDEN);
    let token = signed.app.form_token(cookie).await;
    let mut sent = form(&path, cookie, &[("version", &version), ("form-token", &token)]);
    sent.headers_mut().insert(HeaderName::from_static("origin"), HeaderValue::from_static("https://evil.example"));
    assert_eq!(signed.app.send(sent).await.status, StatusCode::FORBIDDEN);
    assert_eq!(signed.now().await, signed.role);
}

#[tokio::test]
async fn texts_of_roles_are_never_markup() {
    let signed = signed().await;
    let patch = RolePatch { description: Some("<b>bold</b>\"'".into()), ..RolePatch::default() };
    signed.app.iam.roles().update(&signed.ada, signed.role.id, patch).await.unwrap();
    for path in ["/console/roles", &*signed.path(""), &*signed.path("/edit"), "/console/roles?search=%3Cb%3E"] {
        let body = signed.app.get(path, &signed.cookie).await.body;
        assert!(!body.contains("<b>") && body.contains("&#60;b&#62;"), "{path}: {body}");
    }
}

#[tokio::test]
async fn roles_stand_side_by_side_with_what_each_permits() {
    let signed = signed().await;
    let Signed { app, ada, cookie, role } = &signed;
    let whole = NewRole { name: "WHOLE".into(), permissions: vec!["users:*".into()], ..NewRole::default() };
    let whole = app.iam.roles().create(ada, whole).await.unwrap();
    let list = app.get("/console/roles", cookie).await.body;
    assert!(list.contains(r#"href="/console/roles/matrix""#), "{list}");
    let path = format!("/console/roles/matrix?roles={},{}", role.id, whole.id);
    let both = app.get(&path, cookie).await.body;
    let row = |name: &str| {
        let named = format!(r#"<code class="hint">{}</code>"#, name.replace(':', ":<wbr>"));
        both.split("<tr>").find(|row| row.contains(&named)).map(str::to_owned).unwrap_or_default()
    };
    let cells = |name: &str| -> Vec<String> { row(name).split("<td ").skip(1).map(str::to_owned).collect() };
    let [reception, whole_cell] = cells("users:read").try_into().unwrap();
    assert!(reception.contains(r#"data-label="RECEPTION""#) && reception.contains("> Yes</span>"), "{both}");
    assert!(whole_cell.contains("> Yes, by users:*</span>"), "{both}");
    let [reception, whole_cell] = cells("users:*").try_into().unwrap();
    assert!(reception.contains("> No</span>") && whole_cell.contains("> Yes</span>"), "{both}");
    assert!(row("roles:read").matches("> No</span>").count() == 2 && row("roles:*").is_empty(), "{both}");
    // Without a choice, there are the first ones, and another role is added by its name.
    let first = app.get("/console/roles/matrix", cookie).await.body;
    assert!(first.contains(">AUDITOR</a>") && first.contains(">WHOLE</a>"), "{first}");
    let one = format!("/console/roles/matrix?roles={}", role.id);
    assert!(!app.get(&one, cookie).await.body.contains(">WHOLE<"));
    let added = app.get(&format!("{one}&add=whole"), cookie).await;
    assert_eq!(added.location(), path.replace(',', "%2C"));
    let unknown = app.get(&format!("{one}&add=nothing"), cookie).await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    assert!(unknown.body.contains(r#"<p id="add-error""#), "{}", unknown.body);
    app.iam.roles().delete(ada, whole.id).await.unwrap();
    let rest = app.get(&path, cookie).await.body;
    assert!(rest.contains("does not exist any more") && rest.contains(">RECEPTION</a>"), "{rest}");
    assert_eq!(app.get("/console/roles/matrix?roles=x", cookie).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn no_more_than_eight_roles_stand_side_by_side() {
    let Signed { app, ada, cookie, .. } = signed().await;
    for number in 0..5 {
        app.iam.roles().create(&ada, reception(&format!("SHIFT_{number}"))).await.unwrap();
    }
    let first = app.get("/console/roles/matrix", &cookie).await.body;
    assert_eq!(first.matches(r#"<th scope="col">"#).count(), 1 + 8, "{first}");
    assert!(first.contains("At most 8 roles are shown") && !first.contains(r#"name="add""#), "{first}");
    let (_, link) = first.split_once(r#"<a class="remove" href="/console/roles/matrix?roles="#).unwrap();
    let without = format!("/console/roles/matrix?roles={}", link.split('"').next().unwrap());
    let fewer = app.get(&without, &cookie).await.body;
    assert!(fewer.matches(r#"<th scope="col">"#).count() == 1 + 7 && fewer.contains(r#"name="add""#), "{fewer}");
}

#[tokio::test]
async fn the_differences_of_two_roles_are_counted_and_named() {
    let signed = signed().await;
    let Signed { app, ada, cookie, role } = &signed;
    let permissions = vec!["users:read".into(), "roles:read".into()];
    let door = NewRole { name: "DOOR".into(), permissions, ..NewRole::default() };
    let door = app.iam.roles().create(ada, door).await.unwrap();
    let page = app.get(&signed.path(""), cookie).await.body;
    assert!(page.contains(&format!("/console/roles/matrix?left={}", role.id)), "{page}");
    let half = app.get(&format!("/console/roles/matrix?left={}", role.id), cookie).await.body;
    assert!(half.contains(r#"value="RECEPTION""#) && half.contains("Choose two roles"), "{half}");
    // A link keeps the ids, because names change.
    let path = format!("/console/roles/matrix?left={}&right={}", role.id, door.id);
    assert_eq!(app.get("/console/roles/matrix?left=reception&right=DOOR", cookie).await.location(), path);
    let all = app.get(&path, cookie).await.body;
    assert!(all.contains("1 difference<") && all.matches("Only in DOOR").count() == 1, "{all}");
    assert!(all.matches(r#"class="differs""#).count() == 1 && all.contains(">users:<wbr>read</code>"), "{all}");
    let only = app.get(&format!("{path}&only=1"), cookie).await.body;
    assert!(only.contains("Only in DOOR") && !only.contains(">users:<wbr>read</code>"), "{only}");
    let same = app.get(&format!("/console/roles/matrix?left={}&right={}", role.id, role.id), cookie).await.body;
    assert!(same.contains("No differences") && !same.contains("differs"), "{same}");
    let unknown = app.get("/console/roles/matrix?left=nothing&right=DOOR", cookie).await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST);
    assert!(unknown.body.contains(r#"<p id="left-error""#), "{}", unknown.body);
}

#[tokio::test]
async fn only_those_who_may_see_roles_compare_them() {
    let signed = signed().await;
    let Signed { app, ada, role, .. } = &signed;
    app.iam.users().create(ada, person("grace@example.com", "Grace")).await.unwrap();
    let grace = app.sign_in("grace@example.com").await;
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    for query in [String::new(), format!("?roles={}", role.id), format!("?left={}&right={}", role.id, role.id)] {
        let path = format!("/console/roles/matrix{query}");
        assert_eq!(app.get(&path, &grace).await.status, StatusCode::FORBIDDEN, "{path}");
        assert!(!app.get(&path, &eve).await.body.contains("RECEPTION"), "{path}");
    }
}
