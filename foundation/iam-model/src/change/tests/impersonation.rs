//! What a user can change while it acts as another one, and what is recorded of it.

use serde_json::{Value, json};

use super::*;
use crate::access_request::tests::request;
use crate::attribute::Attributes;
use crate::audit::AuditEntry;
use crate::context::Impersonator;
use crate::error::Forbidden;
use crate::id::UserId;
use crate::session::Impersonation;

/// A user in its session, or another user who acts in it.
fn author_in_session(impersonator: Option<Impersonator>) -> Author {
    let actor = Actor::User { user: id("user"), session: id("session") };
    Author { actor, impersonator, ..author(TenantId::NONE) }
}

fn acting(is_read_only: bool) -> Impersonator {
    Impersonator { user: id("actor"), session: id("own"), is_read_only }
}

fn impersonation() -> Session {
    let reason = "ticket 7".parse().unwrap();
    Session { impersonation: Some(Impersonation { by: acting(true), reason }), ..session() }
}

#[test]
fn a_user_who_acts_as_another_changes_nothing_of_who_that_one_is_and_gives_no_rights() {
    use UserStatus::{Active, Suspended};
    let named = |email, external_id: Option<&str>| User {
        external_id: external_id.map(|id| id.parse().unwrap()),
        ..user(Active, email)
    };
    let update = |after: User, grants: Vec<Grant>, status| {
        let before = user(status, "ada@example.com");
        UserChange::Update { before, after, grants: Some(grants), attributes: None }.into()
    };
    let create = |password| {
        UserChange::Create {
            user: user(Active, "ada@example.com"),
            password,
            invitation: None,
            attributes: Attributes::default(),
        }
        .into()
    };
    let issue = |purpose| LinkChange::Issue { link: link(purpose), grants: Some(Vec::new()) }.into();
    let role = |held_until| {
        let before = Role::clone(&TestTree::new().grant("users:read", None, None).role);
        let permissions = ["users:*".parse().unwrap()].into_iter().collect();
        RoleChange::Update { after: Role { permissions, ..before.clone() }, before, held_until }.into()
    };
    let of_request =
        |event| AccessRequestChange::Update { before: request().into(), after: request().into(), event }.into();
    let event = NewEvent { action: "SENT".into(), resource_type: "INVOICE".into(), ..NewEvent::default() };
    let (can, never) = ((true, false), (false, false));
    let cases: Vec<(&str, Change, (bool, bool))> = vec![
        ("a name", update(named("ada@example.com", None), Vec::new(), Active), can),
        ("an e-mail", update(named("eve@example.com", None), Vec::new(), Active), never),
        ("an external id", update(named("ada@example.com", Some("7")), Vec::new(), Active), never),
        ("a reactivation", update(named("ada@example.com", None), Vec::new(), Suspended), can),
        ("regained roles", update(named("ada@example.com", None), grants(), Suspended), never),
        ("more of a role that no user holds", role(Until::Moment(at(NOW))), can),
        ("more of a role that a user holds", role(Until::Forever), never),
        ("a role assignment", AssignmentChange::Create(Vec::new()).into(), never),
        ("an eligibility", EligibilityChange::Delete { eligibilities: Vec::new(), reason: None }.into(), never),
        ("an access request", AccessRequestChange::Create(Box::new(request())).into(), never),
        ("an approval", of_request(AccessRequestEvent::Approved), never),
        ("a denial", of_request(AccessRequestEvent::Denied), never),
        ("the end of a request with its user", of_request(AccessRequestEvent::Cancelled(None)), can),
        ("a password", CredentialChange::Rehash { user: id("user"), password: "hash".into() }.into(), never),
        ("a factor", FactorChange::Confirm(factor()).into(), never),
        ("a proof", ChallengeChange::Issue(challenge()).into(), never),
        ("the end of proofs", ChallengeChange::EndAll(id("user")).into(), can),
        ("a key", ApiKeyChange::Delete(Vec::new()).into(), never),
        ("a link to a proven address", issue(LinkPurpose::Verify), can),
        ("a link to a password", issue(LinkPurpose::Reset), never),
        ("a link to an account", issue(LinkPurpose::Invitation), never),
        ("a link that logs in", issue(LinkPurpose::Login), never),
        ("a user with a password", create(Some("hash".into())), never),
        ("a user without a password", create(None), can),
        ("a login", SessionChange::Start(session()).into(), never),
        ("a step-up", SessionChange::StepUp { session: session(), method: AuthenticationMethod::Totp }.into(), never),
        (
            "to act as a third",
            SessionChange::Impersonate { session: impersonation(), grants: Vec::new() }.into(),
            never,
        ),
        ("an event", AuditChange::Log(event.validate().unwrap()).into(), can),
        // What also a user can do who can change nothing.
        (
            "the end of a session",
            SessionChange::End { sessions: vec![session()], reason: EndReason::Logout }.into(),
            (true, true),
        ),
        (
            "an export",
            AuditChange::Export(TenantId::NONE, Export::new(AuditFilter::default(), "text/csv".into(), false)).into(),
            (true, true),
        ),
    ];
    for (what, change, (can_write, can_read_only)) in cases {
        let check = |impersonator| change.check_impersonator(&author_in_session(impersonator), at(NOW));
        assert_eq!(check(None), Ok(()), "{what}");
        assert_eq!(check(Some(acting(false))).is_ok(), can_write, "{what}");
        let read_only = check(Some(acting(true)));
        assert_eq!(read_only.is_ok(), can_read_only, "{what}");
        if can_write && !can_read_only {
            assert_eq!(read_only, Err(Forbidden::ReadOnly), "{what}");
        }
    }
}

/// The entries of a change of an author.
fn entries(author: &Author, change: impl Into<Change>) -> Vec<AuditEntry> {
    let ids = IdGenerator::default();
    let author = Author { tenant: ids.next(at(0), &SystemRandom), ..author.clone() };
    AuditBatch::of(&change.into(), &author, at(NOW), &ids, &SystemRandom).into_entries()
}

#[test]
fn every_entry_of_a_user_who_acts_as_another_names_both() {
    let event = || NewEvent { action: "SENT".into(), resource_type: "INVOICE".into(), ..NewEvent::default() };
    let log = || AuditChange::Log(event().validate().unwrap());
    let entry = entries(&author_in_session(Some(acting(false))), log()).remove(0);
    assert_eq!(entry.user_id, Some(id("user")));
    assert_eq!(entry.metadata["actorId"], json!(id::<UserId>("actor")));
    let entry = entries(&author_in_session(None), log()).remove(0);
    assert_eq!((entry.user_id, entry.metadata.get("actorId")), (Some(id("user")), None));
    let metadata = json!({ "actorId": "x" }).as_object().cloned().unwrap();
    let refused = NewEvent { metadata, ..event() }.validate().unwrap_err();
    assert_eq!(refused.0[0].field, "metadata.actorId");
}

#[test]
fn the_beginning_and_the_end_name_both_users_the_reason_and_who_ended_it() {
    let own = Author { actor: Actor::User { user: id("actor"), session: id("own") }, ..author_in_session(None) };
    let start = SessionChange::Impersonate { session: impersonation(), grants: grants() };
    let end = || SessionChange::End { sessions: vec![impersonation()], reason: EndReason::Terminated };
    let about = json!({ "actorId": id::<UserId>("actor"), "reason": "ticket 7", "readOnly": true });
    let with = |more: Value| {
        let mut metadata = about.as_object().cloned().unwrap();
        metadata.extend(more.as_object().cloned().unwrap());
        metadata
    };
    let started = entries(&own, start).remove(0);
    assert_eq!((&*started.action, started.user_id), ("IMPERSONATION_STARTED", Some(id("user"))));
    assert_eq!(started.metadata, with(json!({ "expiresAt": "1970-01-01T00:01:39.000Z" })));
    let administrator = Actor::User { user: id("other"), session: id("session") };
    for (author, ended_by) in [
        (own.clone(), Some("actor")),
        // In the session itself, it is the one who acts.
        (author_in_session(Some(acting(true))), Some("actor")),
        (author_in_session(None), Some("user")),
        (Author { actor: administrator.clone(), ..own.clone() }, Some("other")),
        // Another user who acts as the administrator.
        (
            Author {
                actor: administrator,
                impersonator: Some(Impersonator { user: id("third"), ..acting(false) }),
                ..own.clone()
            },
            Some("third"),
        ),
        (Author { actor: Actor::Anonymous, ..own.clone() }, None),
    ] {
        let ended = entries(&author, end()).remove(0);
        assert_eq!((&*ended.action, ended.user_id), ("IMPERSONATION_ENDED", Some(id("user"))));
        let mut expected = with(json!({ "cause": "TERMINATED" }));
        expected.extend(ended_by.map(|user| ("endedBy".to_owned(), json!(id::<UserId>(user)))));
        assert_eq!(ended.metadata, expected, "{author:?}");
    }
    let of_login = SessionChange::End { sessions: vec![session()], reason: EndReason::Logout };
    assert_eq!(entries(&own, of_login).remove(0).action, "LOGOUT");
}

#[test]
fn acting_as_a_user_gives_the_rights_that_count_now_for_no_longer() {
    let start = SessionChange::Impersonate { session: impersonation(), grants: grants() };
    assert_eq!(granted(start), ["users:read tenant 10"]);
}
