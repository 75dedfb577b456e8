//! Invitations (`docs/http-api.md#invitations`).

use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::invitation::NewInvitation;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::factor::set_policy;
use crate::mail::{kinds, tokens};
use crate::people::{PASSWORD, Person, profile, with};
use crate::request::{Request, Response, each_sorted};

in_memory_with_mail![
    an_invited_person_becomes_a_user_with_the_roles,
    an_invitation_shows_what_was_asked_for,
    the_message_greets_the_person,
    the_roles_may_be_empty,
    an_invitation_works_for_7_days,
    a_lookup_shows_the_invitation_and_uses_nothing,
    every_token_that_is_not_valid_gets_the_same_answer,
    an_invitation_that_is_sent_again_has_a_new_link_and_7_more_days,
    beyond_the_limit_of_the_address_the_last_link_stays_valid,
    a_revoked_invitation_is_kept_and_cannot_be_accepted,
    what_is_not_pending_can_be_neither_resent_nor_deleted,
    an_address_of_a_user_or_an_invitation_is_409_and_named,
    inviting_needs_what_the_roles_permit,
    in_an_organization_inviting_needs_roles_in_it_or_below,
    in_an_organization_only_its_invitations_are_seen_and_changed,
    the_inviter_must_still_hold_what_the_roles_permit,
    the_inviter_must_still_be_allowed_to_invite,
    an_inviter_who_is_not_active_invites_nobody,
    a_role_that_grew_is_compared_with_the_inviter_again,
    a_right_that_ends_adds_nothing_to_an_offered_role,
    a_role_or_an_organization_that_is_gone_is_409,
    roles_that_have_expired_are_left_out,
    an_address_that_was_taken_meanwhile_is_409_and_named,
    an_invitation_by_trusted_code_needs_no_inviter,
    the_tenant_must_be_active,
    the_quota_of_users_holds,
    the_quota_of_pending_invitations_holds,
    a_repeated_acceptance_logs_in_to_the_same_user,
    an_acceptance_shows_until_when_a_factor_is_needed,
    an_invitation_takes_effect_once,
    missing_and_invalid_fields_are_named,
    a_list_filters_by_status_and_address,
    an_erasure_covers_the_invitation_that_the_person_accepted,
];

impl TestApp {
    /// Invites a person. Returns the id of the invitation.
    pub(crate) async fn invite(&self, by: &Person, new: &Value) -> String {
        let made = self.post("/invitations").by(by).json(new).send().await.created();
        made["id"].as_str().unwrap().to_owned()
    }
}

const GRACE: &str = "grace@example.com";

fn without_roles(email: &str) -> Value {
    json!({ "email": email, "roles": [] })
}

/// An invitation with one role.
fn with_role(email: &str, role: &str, organization: Option<&str>) -> Value {
    json!({ "email": email, "roles": [{ "roleId": role, "organizationId": organization }] })
}

/// The token that an invitation sends.
async fn invited(app: &TestApp, by: &Person, new: &Value) -> String {
    app.mails().await;
    app.invite(by, new).await;
    app.token(MailKind::Invitation, new["email"].as_str().unwrap()).await
}

fn acceptance(token: &str) -> Value {
    json!({ "token": token, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" })
}

async fn accept(app: &TestApp, token: &str) -> Response {
    app.post("/invitations/accept").json(&acceptance(token)).send().await
}

async fn status(app: &TestApp, by: &Person, id: &str) -> Value {
    app.get(&format!("/invitations/{id}")).by(by).send().await.ok()["status"].clone()
}

async fn is_refused(app: &TestApp, token: &str) {
    assert_eq!(accept(app, token).await.invalid_fields(), ["token"]);
}

async fn an_invited_person_becomes_a_user_with_the_roles(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let branch = app.organization(&ada, "branch").await.to_string();
    let until = shown(app.iam.now() + TimeDelta::days(30));
    let [member, auditor] = [app.role_id(&ada, "MEMBER").await, app.role_id(&ada, "AUDITOR").await];
    let roles = json!([
        { "roleId": member, "organizationId": branch },
        { "roleId": auditor, "expiresAt": until },
    ]);
    let token = invited(&app, &ada, &json!({ "email": "Grace@Example.com", "roles": roles })).await;
    let answer = accept(&app, &token).await;
    let accepted = answer.created();
    let grace = Person::logged_in(&accepted);
    assert_eq!(accepted["tenant"]["id"], json!(ada.tenant));
    let registered = app.post("/auth/register").json(&profile("new@example.com")).send().await.created();
    assert!(accepted.as_object().unwrap().keys().eq(registered.as_object().unwrap().keys()), "{accepted}");
    let user = app.user(&ada, &grace.user).await;
    assert_eq!(user["email"], "Grace@Example.com");
    assert_eq!((&user["firstName"], &user["lastName"]), (&json!("Grace"), &json!("Hopper")));
    assert_eq!((&user["status"], &user["emailVerifiedAt"]), (&json!("ACTIVE"), &json!(app.now())));
    assert!(app.knows(&grace).await);
    let held = app.get(&format!("/users/{}/roles", grace.user)).by(&ada).send().await.ok();
    let held = held["data"].as_array().unwrap();
    let of = |role: &str| held.iter().find(|held| held["roleId"] == *role).unwrap();
    assert_eq!(held.len(), 2);
    assert_eq!((&of(&member)["organizationId"], &of(&member)["expiresAt"]), (&json!(branch), &Value::Null));
    assert_eq!((&of(&auditor)["organizationId"], &of(&auditor)["expiresAt"]), (&Value::Null, &json!(until)));
    assert!(held.iter().all(|held| held["createdBy"] == json!(ada.user)));
    app.attempt(GRACE, PASSWORD).send().await.ok();
    // The address needs no other verification.
    assert_eq!(kinds(&app.mails().await), [(MailKind::Verify, "new@example.com")]);
}

async fn an_invitation_shows_what_was_asked_for(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let role = app.role_id(&ada, "MEMBER").await;
    let new = with(with_role(GRACE, &role, None), &json!({ "firstName": "Grace" }));
    let made = app.post("/invitations").by(&ada).json(&new).send().await.created();
    let expected = json!({
        "id": made["id"],
        "email": GRACE,
        "firstName": "Grace",
        "lastName": null,
        "status": "PENDING",
        "roles": [{ "roleId": role, "organizationId": null, "expiresAt": null }],
        "invitedBy": ada.user,
        "expiresAt": shown(app.iam.now() + TimeDelta::days(7)),
        "createdAt": app.now(),
    });
    assert_eq!(made, expected);
    let path = format!("/invitations/{}", made["id"].as_str().unwrap());
    assert_eq!(app.get(&path).by(&ada).send().await.ok(), expected);
    assert_eq!(app.get("/invitations").by(&ada).send().await.ok()["data"], json!([expected]));
}

async fn the_message_greets_the_person(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let named = with(without_roles(GRACE), &json!({ "firstName": "Grace", "lastName": "Hopper" }));
    app.invite(&ada, &named).await;
    app.invite(&ada, &without_roles("eve@example.com")).await;
    let mails = app.mails().await;
    let names: Vec<&str> = mails.iter().map(|mail| mail.accounts[0].name.as_str()).collect();
    assert_eq!(names, ["Grace Hopper", ""]);
    assert!(mails.iter().all(|mail| mail.accounts[0].tenant == "Ada Lovelace"));
}

async fn the_roles_may_be_empty(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["invitations:create"]).await;
    let token = invited(&app, &bob, &without_roles(GRACE)).await;
    let grace = Person::logged_in(&accept(&app, &token).await.created());
    let held = app.get(&format!("/users/{}/roles", grace.user)).by(&ada).send().await.ok();
    assert_eq!(held["data"], json!([]));
}

async fn an_invitation_works_for_7_days(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let late = app.invite(&ada, &without_roles("late@example.com")).await;
    let too_late = app.token(MailKind::Invitation, "late@example.com").await;
    app.pass(TimeDelta::milliseconds(1));
    let token = invited(&app, &ada, &without_roles(GRACE)).await;
    app.pass(TimeDelta::days(7) - TimeDelta::milliseconds(1));
    is_refused(&app, &too_late).await;
    accept(&app, &token).await.created();
    let ada = app.login(&ada).await;
    assert_eq!(status(&app, &ada, &late).await, "EXPIRED");
    // The address can be invited again.
    let token = invited(&app, &ada, &without_roles("late@example.com")).await;
    assert_eq!(status(&app, &ada, &late).await, "EXPIRED");
    accept(&app, &token).await.created();
}

async fn a_lookup_shows_the_invitation_and_uses_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = invited(&app, &ada, &with(without_roles(GRACE), &json!({ "lastName": "Hopper" }))).await;
    let look_up = || app.post("/invitations/lookup").json(&json!({ "token": token })).send();
    for _ in 0..2 {
        let expected = json!({
            "email": GRACE,
            "tenant": { "name": "Ada Lovelace" },
            "firstName": null,
            "lastName": "Hopper",
            "expiresAt": shown(app.iam.now() + TimeDelta::days(7)),
        });
        assert_eq!(app.unrecorded(&ada, look_up()).await.ok(), expected);
    }
    accept(&app, &token).await.created();
    assert_eq!(look_up().await.invalid_fields(), ["token"]);
}

async fn every_token_that_is_not_valid_gets_the_same_answer(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let verification = app.token(MailKind::Verify, "ada@example.com").await;
    app.post("/auth/password/forgot").json(&json!({ "email": "ada@example.com" })).send().await.accepted();
    let reset = app.token(MailKind::Reset, "ada@example.com").await;
    let spent = invited(&app, &ada, &without_roles("spent@example.com")).await;
    accept(&app, &spent).await.created();
    let id = app.invite(&ada, &without_roles("revoked@example.com")).await;
    let revoked = app.token(MailKind::Invitation, "revoked@example.com").await;
    app.delete(&format!("/invitations/{id}")).by(&ada).send().await.no_content();
    let id = app.invite(&ada, &without_roles("again@example.com")).await;
    let replaced = app.token(MailKind::Invitation, "again@example.com").await;
    app.post(&format!("/invitations/{id}/resend")).by(&ada).send().await.accepted();
    let mut answers = Vec::new();
    for token in ["", "iaml_", "nonsense", &verification, &reset, &spent, &revoked, &replaced] {
        answers.push(accept(&app, token).await.problem("validation-error")["errors"].clone());
        let look_up = app.post("/invitations/lookup").json(&json!({ "token": token })).send().await;
        answers.push(look_up.problem("validation-error")["errors"].clone());
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    // An invitation neither verifies an address nor resets a password.
    let token = app.token(MailKind::Invitation, "again@example.com").await;
    let verify = app.post("/auth/email/verify").json(&json!({ "token": token })).send().await;
    assert_eq!(verify.invalid_fields(), ["token"]);
    let body = json!({ "token": token, "newPassword": PASSWORD });
    assert_eq!(app.post("/auth/password/reset").json(&body).send().await.invalid_fields(), ["token"]);
    accept(&app, &token).await.created();
}

async fn an_invitation_that_is_sent_again_has_a_new_link_and_7_more_days(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let id = app.invite(&ada, &without_roles(GRACE)).await;
    let first = app.token(MailKind::Invitation, GRACE).await;
    app.pass(TimeDelta::days(6));
    let ada = app.login(&ada).await;
    app.post(&format!("/invitations/{id}/resend")).by(&ada).send().await.accepted();
    let second = app.token(MailKind::Invitation, GRACE).await;
    is_refused(&app, &first).await;
    app.pass(TimeDelta::days(6));
    accept(&app, &second).await.created();
    let ada = app.login(&ada).await;
    assert_eq!(status(&app, &ada, &id).await, "ACCEPTED");
}

async fn beyond_the_limit_of_the_address_the_last_link_stays_valid(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let id = app.invite(&ada, &without_roles(GRACE)).await;
    let resend = || app.post(&format!("/invitations/{id}/resend")).by(&ada).send();
    for _ in 0..2 {
        app.mails().await;
        resend().await.accepted();
    }
    let token = app.token(MailKind::Invitation, GRACE).await;
    app.pass(TimeDelta::minutes(1));
    app.unrecorded(&ada, resend()).await.accepted();
    assert!(app.mails().await.is_empty());
    accept(&app, &token).await.created();
}

async fn a_revoked_invitation_is_kept_and_cannot_be_accepted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let unsent = app.invite(&ada, &without_roles("unsent@example.com")).await;
    app.delete(&format!("/invitations/{unsent}")).by(&ada).send().await.no_content();
    assert!(app.mails().await.is_empty(), "its message is not sent any more");
    let id = app.invite(&ada, &without_roles(GRACE)).await;
    let token = app.token(MailKind::Invitation, GRACE).await;
    app.delete(&format!("/invitations/{id}")).by(&ada).send().await.no_content();
    assert_eq!(status(&app, &ada, &id).await, "REVOKED");
    is_refused(&app, &token).await;
    app.invite(&ada, &without_roles(GRACE)).await;
}

async fn what_is_not_pending_can_be_neither_resent_nor_deleted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let expired = app.invite(&ada, &without_roles("expired@example.com")).await;
    app.pass(TimeDelta::days(7));
    let ada = app.login(&ada).await;
    app.mails().await;
    let accepted = app.invite(&ada, &without_roles(GRACE)).await;
    let token = app.token(MailKind::Invitation, GRACE).await;
    accept(&app, &token).await.created();
    let revoked = app.invite(&ada, &without_roles("revoked@example.com")).await;
    app.delete(&format!("/invitations/{revoked}")).by(&ada).send().await.no_content();
    app.mails().await;
    for id in [expired, accepted, revoked] {
        app.unrecorded(&ada, app.post(&format!("/invitations/{id}/resend")).by(&ada).send()).await.problem("conflict");
        app.unrecorded(&ada, app.delete(&format!("/invitations/{id}")).by(&ada).send()).await.problem("conflict");
    }
    assert!(app.mails().await.is_empty());
}

async fn an_address_of_a_user_or_an_invitation_is_409_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let gone = app.add_user(&ada, "gone@example.com").await;
    app.delete(&format!("/users/{gone}")).by(&ada).send().await.no_content();
    app.invite(&ada, &without_roles(GRACE)).await;
    for taken in ["ADA@example.com", "gone@example.com", "Grace@Example.com"] {
        let refused = app.unrecorded(&ada, app.post("/invitations").by(&ada).json(&without_roles(taken)).send()).await;
        assert_eq!(refused.fields("conflict"), ["email"], "{taken}");
        let detail = refused.detail("conflict");
        assert_eq!(detail.contains("deleted"), taken.starts_with("gone"), "{detail}");
    }
    let blind = app.colleague_who_may(&ada, "blind@example.com", &["invitations:create"]).await;
    let refused = app.post("/invitations").by(&blind).json(&without_roles("gone@example.com")).send().await;
    assert!(!refused.detail("conflict").contains("deleted"), "{}", refused.text());
    let eve = app.register("eve@example.org").await;
    app.invite(&eve, &without_roles(GRACE)).await;
}

async fn inviting_needs_what_the_roles_permit(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let branch = app.organization(&ada, "branch").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["invitations:create"]).await;
    let invite = |new: &Value| app.post("/invitations").by(&bob).json(new).send();
    let reader = app.role(&ada, "READER", &["users:read"]).await;
    let until = app.iam.now() + TimeDelta::days(5);
    invite(&with_role(GRACE, &reader, None)).await.escalates();
    invite(&with_role(GRACE, &app.role_id(&ada, "TENANT_ADMIN").await, None)).await.escalates();
    // Held for some time, and in an organization: an invitation gives it there and so long.
    app.permit_until(&bob, &["users:read"], Some(branch), Some(until)).await;
    let role = |organization: Value, expires_at: Value| {
        json!({
            "email": GRACE,
            "roles": [{ "roleId": reader, "organizationId": organization, "expiresAt": expires_at }],
        })
    };
    invite(&role(Value::Null, json!(shown(until)))).await.escalates();
    invite(&role(json!(branch), Value::Null)).await.escalates();
    invite(&role(json!(branch), json!(shown(until + TimeDelta::milliseconds(1))))).await.escalates();
    invite(&role(json!(branch), json!(shown(until)))).await.created();
    // The permission to assign roles is not needed, and is not enough.
    let eve = app.colleague_who_may(&ada, "eve@example.com", &["role-assignments:*", "users:*"]).await;
    app.post("/invitations").by(&eve).json(&without_roles("x@example.com")).send().await.lacks("invitations:create");
}

async fn in_an_organization_inviting_needs_roles_in_it_or_below(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let root = app.organization(&ada, "root").await;
    let [branch, beside] = [app.below(&ada, root, "branch").await, app.below(&ada, root, "beside").await];
    let leaf = app.below(&ada, branch, "leaf").await;
    let bob = app.colleague_in(&ada, branch, "bob@example.com", &["invitations:create"]).await;
    let role = app.role(&ada, "EMPTY", &[]).await;
    let invite = |organizations: &[Option<String>]| {
        let roles: Vec<Value> =
            organizations.iter().map(|id| json!({ "roleId": role, "organizationId": id })).collect();
        app.post("/invitations").by(&bob).json(&json!({ "email": GRACE, "roles": roles })).send()
    };
    let [root, branch, beside, leaf] = [root, branch, beside, leaf].map(|id| Some(id.to_string()));
    invite(&[]).await.lacks("invitations:create");
    invite(&[None]).await.lacks("invitations:create");
    invite(&[branch.clone(), None]).await.lacks("invitations:create");
    for hidden in [&root, &beside] {
        let refused = invite(&[branch.clone(), hidden.clone()]).await;
        assert_eq!(refused.fields("not-found"), ["roles[1].organizationId"]);
    }
    invite(&[branch, leaf]).await.created();
}

async fn in_an_organization_only_its_invitations_are_seen_and_changed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let root = app.organization(&ada, "root").await;
    let [branch, beside] = [app.below(&ada, root, "branch").await, app.below(&ada, root, "beside").await];
    let role = app.role(&ada, "EMPTY", &[]).await;
    let roles = |ids: Vec<Value>| -> Value {
        ids.into_iter().map(|id| json!({ "roleId": role, "organizationId": id })).collect()
    };
    let inside = app.invite(&ada, &with_role("inside@example.com", &role, Some(&branch.to_string()))).await;
    let mut outside = Vec::new();
    for (email, ids) in [
        ("tenant@example.com", vec![Value::Null]),
        ("none@example.com", vec![]),
        ("beside@example.com", vec![json!(beside)]),
        ("both@example.com", vec![json!(branch), json!(beside)]),
        ("wide@example.com", vec![json!(branch), Value::Null]),
    ] {
        outside.push(app.invite(&ada, &json!({ "email": email, "roles": roles(ids) })).await);
    }
    let bob = app.colleague_in(&ada, branch, "bob@example.com", &["invitations:*"]).await;
    let listed = app.get("/invitations").by(&bob).send().await.ok();
    assert_eq!((&listed["pagination"]["total"], each_sorted(&listed, "id")), (&json!(1), vec![inside.clone()]));
    let requests = |id: &str| -> [Request<'_>; 3] {
        [
            app.get(&format!("/invitations/{id}")).by(&bob),
            app.post(&format!("/invitations/{id}/resend")).by(&bob),
            app.delete(&format!("/invitations/{id}")).by(&bob),
        ]
    };
    for id in &outside {
        for request in requests(id) {
            request.send().await.problem("not-found");
        }
    }
    let reader = app.colleague_in(&ada, branch, "reader@example.com", &["invitations:read"]).await;
    app.permit_in(&reader, beside, &["invitations:*"]).await;
    // The reader may know the invitation, but not change it.
    app.post(&format!("/invitations/{inside}/resend")).by(&reader).send().await.lacks("invitations:update");
    app.delete(&format!("/invitations/{inside}")).by(&reader).send().await.lacks("invitations:delete");
    let [get, resend, delete] = requests(&inside);
    get.send().await.ok();
    resend.send().await.accepted();
    delete.send().await.no_content();
}

async fn the_inviter_must_still_hold_what_the_roles_permit(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["invitations:create"]).await;
    let reader = app.role(&ada, "READER", &["users:read"]).await;
    let own = app.permit(&bob, &["users:read"]).await;
    app.mails().await;
    let id = app.invite(&bob, &with_role(GRACE, &reader, None)).await;
    let token = app.token(MailKind::Invitation, GRACE).await;
    app.delete(&format!("/role-assignments/{own}")).by(&ada).send().await.no_content();
    app.unrecorded(&ada, accept(&app, &token)).await.problem("conflict");
    assert_eq!(status(&app, &ada, &id).await, "PENDING");
    app.permit(&bob, &["users:read"]).await;
    accept(&app, &token).await.created();
}

async fn the_inviter_must_still_be_allowed_to_invite(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let own = app.permit(&bob, &["invitations:create"]).await;
    let token = invited(&app, &bob, &without_roles(GRACE)).await;
    app.delete(&format!("/role-assignments/{own}")).by(&ada).send().await.no_content();
    accept(&app, &token).await.problem("conflict");
    let branch = app.organization(&ada, "branch").await;
    app.permit_in(&bob, branch, &["invitations:create"]).await;
    accept(&app, &token).await.problem("conflict");
    app.permit(&bob, &["invitations:create"]).await;
    accept(&app, &token).await.created();
}

async fn an_inviter_who_is_not_active_invites_nobody(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.administrator_beside(&ada).await;
    let token = invited(&app, &bob, &without_roles(GRACE)).await;
    app.set_status(&ada, &bob.user, "SUSPENDED").await;
    accept(&app, &token).await.problem("conflict");
    app.set_status(&ada, &bob.user, "ACTIVE").await;
    accept(&app, &token).await.created();
    let bob = app.login(&bob).await;
    let token = invited(&app, &ada, &without_roles("eve@example.com")).await;
    app.set_status(&bob, &ada.user, "INACTIVE").await;
    accept(&app, &token).await.problem("conflict");
}

async fn a_role_that_grew_is_compared_with_the_inviter_again(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["invitations:create"]).await;
    let role = app.role(&ada, "GROWING", &[]).await;
    let token = invited(&app, &bob, &with_role(GRACE, &role, None)).await;
    let grow = json!({ "permissions": ["users:delete"] });
    app.patch(&format!("/roles/{role}")).by(&ada).json(&grow).send().await.ok();
    accept(&app, &token).await.problem("conflict");
}

async fn a_right_that_ends_adds_nothing_to_an_offered_role(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (bob, until) = (app.colleague(&ada, "bob@example.com").await, app.iam.now() + TimeDelta::days(1));
    app.role(&ada, "ENDING", &["roles:update", "users:delete"]).await;
    app.assign(&ada, &bob.user, "ENDING", None, Some(until)).await;
    let [lasting, ending] = [app.role(&ada, "LASTING", &[]).await, app.role(&ada, "SHORT", &[]).await];
    app.invite(&ada, &with_role(GRACE, &lasting, None)).await;
    let roles = json!([{ "roleId": ending, "expiresAt": shown(until) }]);
    app.invite(&ada, &json!({ "email": "eve@example.com", "roles": roles })).await;
    let grow = json!({ "permissions": ["users:delete"] });
    let grow = |role: &str| app.patch(&format!("/roles/{role}")).by(&bob).json(&grow).send();
    assert!(grow(&lasting).await.detail("forbidden").contains("users:delete"));
    grow(&ending).await.ok();
}

async fn a_role_or_an_organization_that_is_gone_is_409(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let branch = app.organization(&ada, "branch").await;
    let [role, other] = [app.role(&ada, "GONE", &[]).await, app.role(&ada, "OTHER", &[]).await];
    let without_role = invited(&app, &ada, &with_role(GRACE, &role, None)).await;
    let new = with_role("eve@example.com", &other, Some(&branch.to_string()));
    let without_organization = invited(&app, &ada, &new).await;
    let tenant_wide = invited(&app, &ada, &with_role("x@example.com", &other, None)).await;
    app.delete(&format!("/roles/{role}")).by(&ada).send().await.no_content();
    app.delete(&format!("/organizations/{branch}")).by(&ada).send().await.no_content();
    let scope = json!({ "scope": "ORGANIZATION" });
    app.patch(&format!("/roles/{other}")).by(&ada).json(&scope).send().await.ok();
    for token in [without_role, without_organization, tenant_wide] {
        accept(&app, &token).await.problem("conflict");
    }
}

async fn roles_that_have_expired_are_left_out(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [first, second] = [app.role(&ada, "FIRST", &[]).await, app.role(&ada, "SECOND", &[]).await];
    let in_an_hour = app.iam.now() + TimeDelta::hours(1);
    let roles = json!([{ "roleId": first, "expiresAt": shown(in_an_hour) }, { "roleId": second }]);
    let token = invited(&app, &ada, &json!({ "email": GRACE, "roles": roles })).await;
    app.pass(TimeDelta::hours(1));
    let grace = Person::logged_in(&accept(&app, &token).await.created());
    let ada = app.login(&ada).await;
    let request = app.get("/role-assignments").query("userId", &grace.user).query("includeExpired", "true");
    let held = request.by(&ada).send().await.ok();
    assert_eq!(each_sorted(&held, "roleId"), [second]);
}

async fn an_address_that_was_taken_meanwhile_is_409_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let id = app.invite(&ada, &without_roles(GRACE)).await;
    let token = app.token(MailKind::Invitation, GRACE).await;
    let user = app.add_user(&ada, GRACE).await;
    assert_eq!(app.unrecorded(&ada, accept(&app, &token)).await.fields("conflict"), ["email"]);
    assert_eq!(status(&app, &ada, &id).await, "PENDING");
    let moved = json!({ "email": "other@example.com" });
    app.patch(&format!("/users/{user}")).by(&ada).json(&moved).send().await.ok();
    accept(&app, &token).await.created();
}

async fn an_invitation_by_trusted_code_needs_no_inviter(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let host = Caller::system(ada.tenant.parse().unwrap(), "test");
    let new = NewInvitation { email: GRACE.to_owned(), ..NewInvitation::default() };
    let made = app.iam.invitations().create(&host, new).await.unwrap();
    let shown = app.get(&format!("/invitations/{}", made.id)).by(&ada).send().await.ok();
    assert_eq!(shown["invitedBy"], Value::Null);
    let token = app.token(MailKind::Invitation, GRACE).await;
    accept(&app, &token).await.created();
}

async fn the_tenant_must_be_active(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = invited(&app, &ada, &without_roles(GRACE)).await;
    let host = || Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.tenants().suspend(&host()).await.unwrap();
    is_refused(&app, &token).await;
    app.iam.tenants().reactivate(&host()).await.unwrap();
    accept(&app, &token).await.created();
}

async fn the_quota_of_users_holds(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = invited(&app, &ada, &without_roles(GRACE)).await;
    let full = app.with_settings(|settings| settings.quota.users = 1).await;
    full.unrecorded(&ada, accept(&full, &token)).await.problem("conflict");
    accept(&app, &token).await.created();
}

async fn the_quota_of_pending_invitations_holds(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.with_settings(|settings| settings.quota.invitations = 3).await;
    let invite = |number: usize| {
        let body = without_roles(&format!("guest-{number}@example.com"));
        app.post("/invitations").by(&ada).json(&body).send()
    };
    let answers = futures_util::future::join_all((0..6).map(invite)).await;
    let (made, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status() == 201);
    assert_eq!((made.len(), refused.len()), (3, 3));
    for answer in refused {
        let detail = answer.detail("conflict");
        assert_eq!(detail, "the tenant has reached its quota of 3 pending invitations.");
    }
    // Another tenant has a quota of its own, and what is not pending does not count.
    let eve = app.register("eve@example.com").await;
    app.post("/invitations").by(&eve).json(&without_roles(GRACE)).send().await.created();
    let id = made[0].created()["id"].as_str().unwrap().to_owned();
    app.delete(&format!("/invitations/{id}")).by(&ada).send().await.no_content();
    invite(7).await.created();
    invite(8).await.problem("conflict");
    app.pass(TimeDelta::days(7));
    let ada = app.login(&ada).await;
    let body = without_roles("guest-9@example.com");
    app.post("/invitations").by(&ada).json(&body).send().await.created();
}

async fn a_repeated_acceptance_logs_in_to_the_same_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = invited(&app, &ada, &without_roles(GRACE)).await;
    let accept = |body: Value| app.post("/invitations/accept").header("idempotency-key", "key").json(&body).send();
    let first = accept(acceptance(&token)).await;
    app.pass(TimeDelta::minutes(5));
    let again = accept(acceptance(&token)).await;
    assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), (None, Some("true")));
    let [grace, once_more] = [&first, &again].map(|answer| Person::logged_in(&answer.created()));
    assert_eq!(grace.user, once_more.user);
    assert_ne!(grace.session, once_more.session);
    let other = accept(with(acceptance(&token), &json!({ "lastName": "Murray" }))).await;
    assert_eq!(other.invalid_fields(), ["token"]);
    app.set_status(&ada, &grace.user, "SUSPENDED").await;
    accept(acceptance(&token)).await.problem("forbidden");
    app.set_status(&ada, &grace.user, "ACTIVE").await;
    let grace = app.login(&grace).await;
    // A repeat with the password alone does not avoid a second factor.
    let authenticator = app.enrol(&grace).await;
    accept(acceptance(&token)).await.problem("second-factor-required");
    app.delete(&format!("/auth/factors/{}", authenticator.id)).by(&grace).send().await.no_content();
    let change = json!({ "currentPassword": PASSWORD, "newPassword": "An0ther$ecret" });
    app.post("/auth/password").by(&grace).json(&change).send().await.no_content();
    accept(acceptance(&token)).await.problem("unauthorized");
}

async fn an_acceptance_shows_until_when_a_factor_is_needed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    set_policy(&app, &ada, "REQUIRED", 30).await;
    app.pass(TimeDelta::days(1));
    let ada = app.login(&ada).await;
    let token = invited(&app, &ada, &without_roles(GRACE)).await;
    let accepted = accept(&app, &token).await.created();
    assert_eq!(accepted["enrolBy"], json!(shown(app.iam.now() + TimeDelta::days(30))));
    let me = app.get("/auth/me").by(&Person::logged_in(&accepted)).send().await.ok();
    assert_eq!(me["enrolBy"], accepted["enrolBy"]);
}

async fn an_invitation_takes_effect_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let invite = |body: Value| app.post("/invitations").by(&ada).header("idempotency-key", "key").json(&body).send();
    let first = invite(without_roles(GRACE)).await.created();
    assert_eq!(app.unrecorded(&ada, invite(without_roles(GRACE))).await.created(), first);
    invite(without_roles("other@example.com")).await.problem("idempotency-key-reused");
}

async fn missing_and_invalid_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(app.get("/invitations/17").by(&ada).send().await.invalid_fields(), ["id"]);
    let role = app.role(&ada, "EMPTY", &[]).await;
    let inside = app.role_id(&ada, "ORGANIZATION_ADMIN").await;
    let id = "019bb16e-fe80-7000-8004-dadadadadada";
    let invite = |body: &Value| app.post("/invitations").by(&ada).json(body).send();
    let roles = |roles: Value| json!({ "email": GRACE, "roles": roles });
    assert_eq!(invite(&json!({})).await.invalid_fields(), ["email"]);
    let body = json!({ "email": "no address", "firstName": "", "lastName": "x".repeat(101), "roles": [] });
    assert_eq!(invite(&body).await.invalid_fields(), ["email", "firstName", "lastName"]);
    let body = roles(json!([{}, { "roleId": "x", "organizationId": "y", "expiresAt": "z" }]));
    assert_eq!(
        invite(&body).await.invalid_fields(),
        ["roles[0].roleId", "roles[1].roleId", "roles[1].organizationId", "roles[1].expiresAt"]
    );
    let twice = roles(json!([{ "roleId": role }, { "roleId": role, "expiresAt": "2099-01-01T00:00:00Z" }]));
    assert_eq!(invite(&twice).await.invalid_fields(), ["roles[1].roleId"]);
    let past = roles(json!([{ "roleId": role, "expiresAt": app.now() }]));
    assert_eq!(invite(&past).await.invalid_fields(), ["roles[0].expiresAt"]);
    let many: Vec<Value> = (0..51).map(|n| json!({ "roleId": format!("019bb16e-fe80-7000-8004-{n:012}") })).collect();
    assert_eq!(invite(&roles(json!(many))).await.invalid_fields(), ["roles"]);
    let unknown = roles(json!([{ "roleId": role }, { "roleId": id }]));
    assert_eq!(invite(&unknown).await.fields("not-found"), ["roles[1].roleId"]);
    let unknown = roles(json!([{ "roleId": role, "organizationId": id }]));
    assert_eq!(invite(&unknown).await.fields("not-found"), ["roles[0].organizationId"]);
    let misplaced = roles(json!([{ "roleId": inside }]));
    assert_eq!(invite(&misplaced).await.fields("validation"), ["roles[0].organizationId"]);

    let token = invited(&app, &ada, &without_roles(GRACE)).await;
    let accept = |body: &Value| app.post("/invitations/accept").json(body).send();
    // The token says which policy the password must follow.
    assert_eq!(accept(&json!({})).await.invalid_fields(), ["token"]);
    let all = ["password", "firstName", "lastName"];
    assert_eq!(accept(&json!({ "token": token })).await.invalid_fields(), all);
    let body = json!({ "token": token, "password": "weak", "firstName": "", "lastName": "Hopper" });
    assert_eq!(accept(&body).await.invalid_fields(), ["password", "firstName"]);
    accept(&acceptance(&token)).await.created();
}

async fn a_list_filters_by_status_and_address(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.invite(&ada, &without_roles("expired@example.com")).await;
    app.pass(TimeDelta::days(7));
    let ada = app.login(&ada).await;
    let token = invited(&app, &ada, &without_roles("accepted@example.com")).await;
    accept(&app, &token).await.created();
    let revoked = app.invite(&ada, &without_roles("revoked@example.com")).await;
    app.delete(&format!("/invitations/{revoked}")).by(&ada).send().await.no_content();
    app.invite(&ada, &without_roles("pending@example.com")).await;
    let list = async |query: &[(&str, &str)]| {
        let request = query.iter().fold(app.get("/invitations"), |request, (name, value)| request.query(name, value));
        request.by(&ada).send().await
    };
    for status in ["EXPIRED", "ACCEPTED", "REVOKED", "PENDING"] {
        let found = list(&[("status", status)]).await.ok();
        assert_eq!(each_sorted(&found, "email"), [format!("{}@example.com", status.to_lowercase())]);
        assert_eq!(each_sorted(&found, "status"), [status]);
    }
    assert_eq!(each_sorted(&list(&[("email", "Pending@Example.com")]).await.ok(), "status"), ["PENDING"]);
    assert_eq!(list(&[("email", "pending@example.com"), ("status", "REVOKED")]).await.ok()["data"], json!([]));
    assert_eq!(list(&[]).await.ok()["pagination"]["total"], 4);
    let refused = list(&[("status", "pending"), ("email", "no address")]).await;
    assert_eq!(refused.invalid_fields(), ["email", "status"]);
}

async fn an_erasure_covers_the_invitation_that_the_person_accepted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let id = app.invite(&ada, &without_roles(GRACE)).await;
    let beside = app.invite(&ada, &without_roles("beside@example.com")).await;
    let mails = app.mails().await;
    let grace = Person::logged_in(&accept(&app, &tokens(&mails[0])[0]).await.created());
    app.delete(&format!("/users/{}", grace.user)).by(&ada).send().await.no_content();
    app.sequence().await;
    let erasure = json!({ "userId": grace.user });
    app.post("/audit-logs/erasures").by(&ada).json(&erasure).send().await.ok();
    let emails = async |id: &str| {
        let entries = app.history(&ada, id).await;
        entries.iter().map(|entry| entry["newValue"]["email"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(emails(&beside).await, ["beside@example.com"]);
    let of_grace = format!("{:?}", app.history(&ada, &id).await);
    assert!(!of_grace.contains(GRACE), "{of_grace}");
}
