#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::assignment::NewAssignment;
use iam_core::invitation::{Invitation, InvitationFilter, InvitationStatus, NewInvitation};
use iam_core::organization::{NewOrganization, OrganizationPatch, OrganizationStatus};
use iam_core::page::PageRequest;

use crate::app::{App, EMAIL, person, request};

const NEW: &str = "/console/invitations/new";

async fn signed() -> (App, Caller, String) {
    let app = App::with_mail().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    (app, ada, cookie)
}

async fn all(app: &App, caller: &Caller) -> Vec<Invitation> {
    app.iam.invitations().list(caller, &InvitationFilter::default(), PageRequest::default()).await.unwrap().items
}

async fn invite(app: &App, caller: &Caller, email: &str) -> Invitation {
    let new = NewInvitation { email: email.to_owned(), ..NewInvitation::default() };
    app.iam.invitations().create(caller, new).await.unwrap()
}

#[tokio::test]
async fn a_person_is_invited_with_roles_in_an_organization_until_a_day() {
    let (app, ada, cookie) = signed().await;
    let new = NewOrganization { name: "Acme".into(), ..NewOrganization::default() };
    let acme = app.iam.organizations().create(&ada, new).await.unwrap().organization;
    let form = app.get(NEW, &cookie).await;
    assert!(form.body.contains(r#"hx-get="/console/pick/roles""#), "{}", form.body);
    // Another role: nothing that was typed is lost.
    let typed = [("email", "grace@example.com"), ("roles", "1"), ("role-0", "MEMBER"), ("more", "1")];
    let more = app.post_signed(NEW, &cookie, &typed).await;
    assert_eq!((more.status, more.hidden("roles")), (StatusCode::OK, "2".to_owned()));
    assert!(more.body.contains(r#"value="MEMBER""#) && more.body.contains(r#"name="role-1""#), "{}", more.body);
    assert!(all(&app, &ada).await.is_empty());
    // The key Enter presses the first button of the form. It must not add a role.
    let (_, shown) = more.body.split_once("<main").unwrap();
    assert!(shown.split("<button").nth(1).unwrap().starts_with(" hidden></button>"), "{shown}");

    let fields = [
        ("email", "grace@example.com"),
        ("firstName", "Grace"),
        ("lastName", ""),
        ("roles", "3"),
        ("role-0", "MEMBER"),
        ("role-1", ""),
        ("role-2", "organization admin"),
        ("organization-2", acme.slug.as_str()),
        ("until-2", "2026-06-30"),
    ];
    let answer = app.post_signed(NEW, &cookie, &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let shown = app.get(answer.location(), &cookie).await.body;
    for text in
        ["The invitation is on its way", "grace@example.com", "Pending", "ORGANIZATION_ADMIN", "Acme", "2026-07-01"]
    {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let invitation = all(&app, &ada).await.remove(0);
    assert_eq!(invitation.roles.len(), 2);
    assert_eq!(invitation.roles[1].organization_id, Some(acme.id));
    let list = app.get("/console/invitations", &cookie).await.body;
    assert!(list.contains("grace@example.com") && list.contains("Grace"), "{list}");
    assert!(!shown.contains("suspended"), "{shown}");
    let patch = OrganizationPatch { status: Some(OrganizationStatus::Suspended), ..OrganizationPatch::default() };
    app.iam.organizations().update(&ada, acme.id, patch).await.unwrap();
    let shown = app.get(answer.location(), &cookie).await.body;
    assert_eq!(shown.matches("This organization is suspended").count(), 1, "{shown}");
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_field_and_nothing_typed_is_lost() {
    let (app, ada, cookie) = signed().await;
    invite(&app, &ada, "taken@example.com").await;
    let cases = [
        (vec![("email", "nobody")], "email", StatusCode::BAD_REQUEST),
        (vec![("email", EMAIL)], "email", StatusCode::CONFLICT),
        (vec![("email", "taken@example.com")], "email", StatusCode::CONFLICT),
        (vec![("role-1", "NOBODY")], "role-1", StatusCode::BAD_REQUEST),
        (vec![("organization-1", "acme")], "role-1", StatusCode::BAD_REQUEST),
        (vec![("role-1", "MEMBER"), ("organization-1", "nowhere")], "organization-1", StatusCode::BAD_REQUEST),
        (vec![("role-1", "MEMBER"), ("until-1", "soon")], "until-1", StatusCode::BAD_REQUEST),
        (vec![("role-1", "MEMBER"), ("until-1", "2025-01-01")], "until-1", StatusCode::BAD_REQUEST),
        (vec![("role-1", "MEMBER"), ("role-2", "MEMBER")], "role-2", StatusCode::BAD_REQUEST),
    ];
    for (typed, field, status) in cases {
        let mut fields = vec![("roles", "3"), ("firstName", "Grace <i>")];
        if !typed.iter().any(|(name, _)| *name == "email") {
            fields.push(("email", "grace@example.com"));
        }
        fields.extend(&typed);
        let answer = app.post_signed(NEW, &cookie, &fields).await;
        assert_eq!(answer.status, status, "{typed:?}: {}", answer.body);
        assert!(answer.body.contains(&format!(r#"aria-describedby="{field}-error"#)), "{typed:?}: {}", answer.body);
        assert!(answer.body.contains(r#"value="Grace &#60;i&#62;""#), "{}", answer.body);
        assert!(answer.body.contains(r#"name="role-2""#), "{}", answer.body);
    }
    assert_eq!(all(&app, &ada).await.len(), 1);
}

#[tokio::test]
async fn the_list_is_filtered_by_status_and_has_pages() {
    let (app, ada, cookie) = signed().await;
    let empty = app.get("/console/invitations", &cookie).await.body;
    assert!(empty.contains("There is no invitation here") && empty.contains(NEW), "{empty}");
    let gone = invite(&app, &ada, "gone@example.com").await;
    app.iam.invitations().delete(&ada, gone.id).await.unwrap();
    for number in 0..30 {
        invite(&app, &ada, &format!("person{number}@example.com")).await;
    }
    let revoked = app.get("/console/invitations?status=REVOKED", &cookie).await.body;
    assert!(revoked.contains("gone@example.com") && !revoked.contains("person1@"), "{revoked}");
    let first = app.get("/console/invitations?status=PENDING", &cookie).await.body;
    assert!(first.contains("Page 1 of 2") && first.contains("status=PENDING&#38;page=2"), "{first}");
    let sent = request(Method::GET, "/console/invitations?status=EXPIRED", &cookie).header("hx-request", "true");
    let part = app.send(sent.body(Body::empty()).unwrap()).await.body;
    assert!(part.contains("Show all invitations") && !part.contains("<html"), "{part}");
}

#[tokio::test]
async fn an_invitation_is_sent_again_and_revoked() {
    let (app, ada, _) = signed().await;
    let invitation = invite(&app, &ada, "grace@example.com").await;
    let path = format!("/console/invitations/{}", invitation.id);
    app.clock.advance(chrono::TimeDelta::hours(2));
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.post_signed(&format!("{path}/resend"), &cookie, &[]).await;
    assert_eq!(answer.location(), format!("{path}?done=resent"));
    let ada_now = app.iam.authenticate(cookie.split('~').nth(1).unwrap(), Default::default()).await.unwrap();
    assert!(all(&app, &ada_now).await[0].expires_at > invitation.expires_at);
    assert_eq!(app.post(&format!("{path}/revoke"), &cookie, &[]).await.status, StatusCode::FORBIDDEN);
    let answer = app.post_signed(&format!("{path}/revoke"), &cookie, &[]).await;
    assert_eq!(answer.location(), format!("{path}?done=revoked"));
    assert_eq!(all(&app, &ada_now).await[0].status, InvitationStatus::Revoked);
    let shown = app.get(&path, &cookie).await.body;
    assert!(shown.contains("Revoked") && !shown.contains(&format!("{path}/resend")), "{shown}");
    for action in ["resend", "revoke"] {
        let answer = app.post_signed(&format!("{path}/{action}"), &cookie, &[]).await;
        assert_eq!(answer.status, StatusCode::CONFLICT, "{action}");
        assert!(answer.body.contains("not pending") && answer.body.contains("grace@example.com"), "{}", answer.body);
    }
}

#[tokio::test]
async fn the_console_refuses_what_the_api_refuses() {
    let (app, ada, _) = signed().await;
    let invitation = invite(&app, &ada, "alan@example.com").await;
    let path = format!("/console/invitations/{}", invitation.id);
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let member = app.iam.roles().by_name(&ada, "MEMBER").await.unwrap().unwrap();
    let new = NewAssignment { user: grace.id, role: member.id, organization: None, expires_at: None };
    app.iam.assignments().create(&ada, new).await.unwrap();
    let cookie = app.sign_in("grace@example.com").await;
    let answer = app.post_signed(NEW, &cookie, &[("email", "x@example.com")]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("invitations:create") && answer.body.contains("x@example.com"), "{}", answer.body);
    for action in ["resend", "revoke"] {
        let answer = app.post_signed(&format!("{path}/{action}"), &cookie, &[]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{action}");
    }
    // An invitation of another tenant does not exist.
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    assert_eq!(app.get(&path, &eve).await.status, StatusCode::NOT_FOUND);
    for action in ["resend", "revoke"] {
        assert_eq!(app.post_signed(&format!("{path}/{action}"), &eve, &[]).await.status, StatusCode::NOT_FOUND);
    }
    assert_eq!(all(&app, &ada).await[0].status, InvitationStatus::Pending);
}

#[tokio::test]
async fn without_mail_the_form_says_so() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let form = app.get(NEW, &cookie).await.body;
    assert!(form.contains("sends no mail") && form.contains("/console/users/new"), "{form}");
    assert!(!form.contains(r#"name="email""#), "{form}");
    let answer = app.post_signed(NEW, &cookie, &[("email", "grace@example.com")]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("sends no mail"), "{}", answer.body);
}

#[tokio::test]
async fn the_overview_shows_how_many_invitations_end_soon() {
    let (app, ada, cookie) = signed().await;
    invite(&app, &ada, "early@example.com").await;
    assert!(!app.get("/console", &cookie).await.body.contains("hand-invitations"));
    app.clock.advance(TimeDelta::days(5));
    let ada = app.caller(EMAIL).await;
    invite(&app, &ada, "late@example.com").await;
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get("/console", &cookie).await.body;
    assert!(body.contains("1 invitation ends within 2 days without an answer"), "{body}");
}
