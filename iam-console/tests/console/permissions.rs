#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use iam_core::Caller;
use iam_core::permission::{NewPermission, RegisteredPermission};
use iam_core::role::NewRole;

use crate::app::{App, EMAIL, request};

/// A console with an administrator that is signed in, and a permission of the application.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    refund: RegisteredPermission,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let new = NewPermission { name: "orders:refund".into(), description: Some("Give money back.".into()) };
    let refund = app.iam.permissions().create(&ada, new).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, refund }
}

impl Signed {
    fn path(&self, action: &str) -> String {
        format!("/console/permissions/{}{action}", self.refund.id)
    }

    async fn role(&self, name: &str, permissions: &[&str]) {
        let permissions = permissions.iter().map(|&permission| permission.to_owned()).collect();
        let new = NewRole { name: name.to_owned(), permissions, ..NewRole::default() };
        self.app.iam.roles().create(&self.ada, new).await.unwrap();
    }
}

#[tokio::test]
async fn permissions_of_the_application_come_first_and_are_searched() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let roles = app.get("/console/roles", cookie).await.body;
    assert!(roles.contains(r#"href="/console/permissions""#), "{roles}");
    let all = app.get("/console/permissions", cookie).await.body;
    let (first, _) = all.split_once("</tr>\n<tr><td>").unwrap();
    assert!(first.contains(">orders:refund</a>") && first.ends_with(">Custom</td>"), "{all}");
    assert!(all.contains("Built in") && all.contains("Page 1 of"), "{all}");
    let sent = request(Method::GET, "/console/permissions?search=money", cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await.body;
    assert!(part.contains("1 permission<") && part.contains(&signed.path("")) && !part.contains("<html"), "{part}");
    let none = app.get("/console/permissions?search=zzz", cookie).await.body;
    assert!(none.contains("No permission matches") && none.contains("Show all permissions"), "{none}");
}

#[tokio::test]
async fn a_permission_is_registered_and_a_mistake_loses_nothing_that_was_typed() {
    let Signed { app, cookie, .. } = signed().await;
    let path = "/console/permissions/new";
    for name in ["orders", "Orders:Pay"] {
        let answer = app.post_signed(path, &cookie, &[("name", name), ("description", "Take money.")]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{name}");
        assert!(answer.body.contains(r#"<p id="name-error""#), "{name}: {}", answer.body);
        assert!(answer.body.contains(r#"value="Take money.""#), "{name}: {}", answer.body);
    }
    let taken = app.post_signed(path, &cookie, &[("name", "orders:refund")]).await;
    assert_eq!(taken.status, StatusCode::CONFLICT);
    assert!(taken.body.contains("already exists") && taken.body.contains(r#"value="orders:refund""#), "{}", taken.body);
    let good = app.post_signed(path, &cookie, &[("name", "orders:pay"), ("description", "Take money.")]).await;
    let page = app.get(good.location(), &cookie).await.body;
    assert!(page.contains("The permission is registered") && page.contains("Take money."), "{page}");
}

#[tokio::test]
async fn a_permission_names_the_roles_that_have_it_also_by_a_wildcard() {
    let signed = signed().await;
    signed.role("CASHIER", &["orders:refund"]).await;
    signed.role("CLERK", &["orders:*"]).await;
    signed.role("READER", &["users:read"]).await;
    let page = signed.app.get(&signed.path(""), &signed.cookie).await.body;
    let (naming, by_wildcard) = page.split_once("By wildcard").unwrap();
    assert!(naming.contains(">CASHIER</a>") && !naming.contains("CLERK"), "{page}");
    assert!(by_wildcard.contains(">CLERK</a> · <code>orders:*</code>"), "{page}");
    assert!(by_wildcard.contains(">TENANT_ADMIN</a> · <code>*</code>"), "{page}");
    // The others can get it.
    let (held, others) = page.split_once("Add it to a role").unwrap();
    assert!(!held.contains("READER") && others.contains(">READER</a>") && !others.contains("CASHIER"), "{page}");
    let links = others.split("href=\"").filter_map(|rest| rest.split('"').next());
    let links: Vec<&str> = links.filter(|link| link.ends_with("?permission=orders%3Arefund")).collect();
    assert_eq!(links.len(), others.matches("?permission=orders%3Arefund").count(), "{others}");
    for link in links {
        let form = signed.app.get(link, &signed.cookie).await.body;
        assert!(form.contains(r#"value="orders:refund" checked>"#), "{link}: {form}");
    }
    assert!(page.contains("/console/access/who?permission=orders%3Arefund"), "{page}");
}

#[tokio::test]
async fn only_a_permission_that_no_role_names_is_deleted_after_a_look_at_the_effects() {
    let signed = signed().await;
    let Signed { app, ada, cookie, refund } = &signed;
    let preview = app.post_signed(&signed.path("/delete"), cookie, &[]).await;
    assert_eq!(preview.status, StatusCode::OK, "{}", preview.body);
    assert!(preview.body.contains("Delete the permission orders:refund"), "{}", preview.body);
    assert!(preview.body.contains("No user gains or loses a permission."), "{}", preview.body);
    assert!(app.get(&signed.path(""), cookie).await.body.contains("orders:refund"), "nothing is deleted yet");
    signed.role("CASHIER", &["orders:refund"]).await;
    for fields in [&[][..], &[("confirmed", "yes")]] {
        let refused = app.post_signed(&signed.path("/delete"), cookie, fields).await;
        assert_eq!(refused.status, StatusCode::CONFLICT);
        assert!(refused.body.contains("A role has this permission."), "{}", refused.body);
        assert!(refused.body.contains("<dt>Roles with this permission</dt><dd>CASHIER</dd>"), "{}", refused.body);
    }
    let cashier = app.iam.roles().by_name(ada, "CASHIER").await.unwrap().unwrap();
    app.iam.roles().delete(ada, cashier.id).await.unwrap();
    let deleted = app.post_signed(&signed.path("/delete"), cookie, &[("confirmed", "yes")]).await;
    assert_eq!(deleted.location(), "/console/permissions?done=deleted");
    let list = app.get(deleted.location(), cookie).await.body;
    assert!(list.contains("The permission is deleted") && !list.contains(refund.name.as_str()), "{list}");
    assert_eq!(app.get(&signed.path(""), cookie).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_built_in_permission_is_only_shown() {
    let Signed { app, cookie, .. } = signed().await;
    let found = app.get("/console/permissions?search=webhooks:read", &cookie).await.body;
    let (_, rest) = found.split_once(r#"<td><a href=""#).unwrap();
    let path = rest.split('"').next().unwrap();
    let page = app.get(path, &cookie).await.body;
    assert!(page.contains("See webhooks") && !page.contains("/delete\""), "{page}");
    let refused = app.post_signed(&format!("{path}/delete"), &cookie, &[("confirmed", "yes")]).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn who_may_only_read_the_catalogue_sees_neither_roles_nor_buttons() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    app.person_with(ada, "grace@example.com", &["permissions:read"]).await;
    let grace = app.sign_in("grace@example.com").await;
    let list = app.get("/console/permissions", &grace).await.body;
    assert!(list.contains("orders:refund") && !list.contains("/permissions/new"), "{list}");
    let page = app.get(&signed.path(""), &grace).await.body;
    assert!(page.contains("You may not see roles.") && !page.contains("TENANT_ADMIN"), "{page}");
    assert!(!page.contains("/delete\""), "{page}");
    for (path, fields) in
        [("/console/permissions/new", [("name", "orders:pay")]), (&*signed.path("/delete"), [("confirmed", "yes")])]
    {
        assert_eq!(app.post_signed(path, &grace, &fields).await.status, StatusCode::FORBIDDEN, "{path}");
    }
}
