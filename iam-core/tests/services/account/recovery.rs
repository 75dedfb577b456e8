//! Users who have forgotten their password choose a new one.

use super::*;

#[tokio::test]
async fn a_forgotten_password_is_replaced_by_a_link() {
    let fixture = Fixture::new().await;
    let recovery = fixture.iam.recovery();
    recovery.forgot(&RequestContext::default(), "ada@example.com", None).await.unwrap();
    let token = fixture.token(MailKind::Reset, "ada@example.com").await;
    let context = RequestContext::default();
    let reset = |password: &str| recovery.reset(&context, &token, password.into());
    assert_eq!(fields(reset("weak").await), ["newPassword"]);
    recovery.look_up(&token).await.unwrap();
    reset(NEW_PASSWORD).await.unwrap();
    assert_eq!(fields(reset(NEW_PASSWORD).await), ["token"]);
    assert!(fixture.log_in("ada@example.com", PASSWORD).await.is_err());
    fixture.log_in("ada@example.com", NEW_PASSWORD).await.unwrap();
    let mails = fixture.mails().await;
    assert_eq!((mails[0].kind, mails[0].accounts[0].link.is_none()), (MailKind::PasswordChanged, true));
    recovery.forgot(&RequestContext::default(), "unknown@example.com", None).await.unwrap();
    assert!(fixture.mails().await.is_empty());
}

#[tokio::test]
async fn a_link_ends_with_the_address_and_with_the_password() {
    let fixture = Fixture::new().await;
    let recovery = fixture.iam.recovery();
    let forgotten = async || {
        fixture.clock.advance(TimeDelta::hours(1));
        recovery.forgot(&RequestContext::default(), "ada@example.com", None).await.unwrap();
        fixture.token(MailKind::Reset, "ada@example.com").await
    };
    let token = forgotten().await;
    let ada = fixture.log_in("ada@example.com", PASSWORD).await.unwrap();
    fixture.iam.credentials().change_password(&ada, PASSWORD.into(), NEW_PASSWORD.into()).await.unwrap();
    assert_eq!(fields(recovery.look_up(&token).await), ["token"]);
    fixture.mails().await;
    let token = forgotten().await;
    let system = Caller::system(fixture.ada.tenant(), "test");
    let patch = UserPatch { email: Some("other@example.com".to_owned()), ..UserPatch::default() };
    fixture.iam.users().update(&system, fixture.ada.user().unwrap(), patch).await.unwrap();
    assert_eq!(fields(recovery.look_up(&token).await), ["token"]);
}

#[tokio::test]
async fn a_reset_for_another_user_needs_what_that_user_may_do() {
    let fixture = Fixture::new().await;
    let bob = fixture.member("bob@example.com", &["users:update"], None).await;
    let refused = fixture.iam.recovery().start(&bob, fixture.ada.user().unwrap()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    let eve = fixture.iam.users().create(&fixture.ada, new_user("eve@example.com")).await.unwrap().id;
    fixture.mails().await;
    fixture.iam.recovery().start(&bob, eve).await.unwrap();
    fixture.token(MailKind::Reset, "eve@example.com").await;
    fixture.iam.users().suspend(&fixture.ada, eve).await.unwrap();
    let refused = fixture.iam.recovery().start(&fixture.ada, eve).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::UserNotActive))), "{refused:?}");
}

async fn forgot(fixture: &Fixture, email: &str, tenant: Option<&str>) {
    let context = RequestContext { ip_address: Some([192, 0, 2, 77].into()), ..RequestContext::default() };
    fixture.iam.recovery().forgot(&context, email, tenant).await.unwrap();
}

/// The requests of the first tenant's users that are recorded, and whether the log says where they came from.
async fn requests(fixture: &Fixture) -> Vec<bool> {
    let entries = fixture.entries_of("PASSWORD_RESET_REQUESTED").await;
    entries.iter().map(|entry| entry.context.ip_address.is_some()).collect()
}

async fn reset(fixture: &Fixture, token: &LinkToken, password: &str) -> Result<()> {
    fixture.iam.recovery().reset(&RequestContext::default(), token, password.into()).await
}

#[tokio::test]
async fn a_reset_verifies_the_address_once() {
    let fixture = Fixture::new().await;
    let mut moments = Vec::new();
    for password in [NEW_PASSWORD, "N3wer&Password"] {
        fixture.clock.advance(TimeDelta::minutes(5));
        moments.push(fixture.clock.now());
        forgot(&fixture, ADA, None).await;
        let token = fixture.token(MailKind::Reset, ADA).await;
        reset(&fixture, &token, password).await.unwrap();
        fixture.mails().await;
        // The sessions have ended, so the administrator is a new caller.
        let ada = fixture.log_in(ADA, password).await.unwrap();
        let user = fixture.iam.users().get(&ada, ada.user().unwrap()).await.unwrap();
        assert_eq!(user.email_verified_at, moments.first().copied());
    }
    assert_eq!(fixture.entries_of("EMAIL_VERIFIED").await.len(), 1);
}

#[tokio::test]
async fn only_active_users_of_active_tenants_get_a_link() {
    let fixture = Fixture::new().await;
    let grace = fixture.iam.users().create(&fixture.ada, new_user(GRACE)).await.unwrap().id;
    fixture.mails().await;
    let tenant = fixture.ada.tenant().to_string();
    fixture.iam.users().suspend(&fixture.ada, grace).await.unwrap();
    for tenant in [None, Some(tenant.as_str())] {
        forgot(&fixture, GRACE, tenant).await;
        assert!(fixture.mails().await.is_empty());
    }
    forgot(&fixture, ADA, Some(&tenant)).await;
    fixture.token(MailKind::Reset, ADA).await;
    fixture.iam.tenants().suspend(&Caller::system(fixture.ada.tenant(), "test")).await.unwrap();
    for tenant in [None, Some(tenant.as_str())] {
        forgot(&fixture, ADA, tenant).await;
        assert!(fixture.mails().await.is_empty());
    }
}

/// A stranger may have created an account with the address, in a tenant of its own, to see who asks.
#[tokio::test]
async fn a_request_is_recorded_without_its_origin_if_a_stranger_may_read_it() {
    // One tenant: nobody else can read its log.
    let fixture = Fixture::new().await;
    forgot(&fixture, ADA, None).await;
    fixture.mails().await;
    assert_eq!(requests(&fixture).await, [true]);

    // Anybody can have registered this tenant.
    register(&fixture.iam, "eve@example.com").await;
    forgot(&fixture, ADA, None).await;
    fixture.mails().await;
    assert_eq!(requests(&fixture).await, [false, true]);

    // The request names the tenant, so it is meant for it.
    forgot(&fixture, ADA, Some(&fixture.ada.tenant().to_string())).await;
    let token = fixture.token(MailKind::Reset, ADA).await;
    assert_eq!(requests(&fixture).await, [true, false, true]);

    // The address is verified, so the account belongs to its owner.
    reset(&fixture, &token, NEW_PASSWORD).await.unwrap();
    fixture.mails().await;
    fixture.clock.advance(TimeDelta::hours(1));
    forgot(&fixture, ADA, None).await;
    fixture.mails().await;
    assert_eq!(requests(&fixture).await, [true, true, false, true]);
}

/// Only the operator creates tenants, so none of them is a stranger's.
#[tokio::test]
async fn a_request_is_recorded_with_its_origin_where_registration_is_closed() {
    let fixture = Fixture::new().await;
    register(&fixture.iam, "eve@example.com").await;
    let mut closed = settings();
    closed.registration = false;
    let fixture = fixture.restarted(closed).await;
    forgot(&fixture, ADA, None).await;
    fixture.mails().await;
    assert_eq!(requests(&fixture).await, [true]);
}

#[tokio::test]
async fn a_message_that_is_sent_again_has_the_same_link_until_it_expires() {
    let fixture = Fixture::new().await;
    fixture.answer(Answer::Lost);
    forgot(&fixture, ADA, None).await;
    let first = fixture.token(MailKind::Reset, ADA).await;
    fixture.clock.advance(TimeDelta::minutes(1));
    assert_eq!(fixture.token(MailKind::Reset, ADA).await.expose(), first.expose());
    fixture.clock.advance(TimeDelta::minutes(5));
    assert_eq!(fixture.token(MailKind::Reset, ADA).await.expose(), first.expose());
    assert_eq!(requests(&fixture).await.len(), 1);
    fixture.clock.advance(TimeDelta::minutes(30));
    let second = fixture.token(MailKind::Reset, ADA).await;
    assert_ne!(second.expose(), first.expose());
    assert_eq!(fields(reset(&fixture, &first, NEW_PASSWORD).await), ["token"]);
    reset(&fixture, &second, NEW_PASSWORD).await.unwrap();
}

#[tokio::test]
async fn a_message_that_is_sent_again_does_not_revive_a_link_that_was_used() {
    let fixture = Fixture::new().await;
    fixture.answer(Answer::Lost);
    forgot(&fixture, ADA, None).await;
    let used = fixture.token(MailKind::Reset, ADA).await;
    fixture.answer(Answer::Accepted);
    reset(&fixture, &used, NEW_PASSWORD).await.unwrap();
    fixture.mails().await;
    fixture.clock.advance(TimeDelta::minutes(1));
    let fresh = fixture.token(MailKind::Reset, ADA).await;
    assert_ne!(fresh.expose(), used.expose());
    assert_eq!(fields(reset(&fixture, &used, PASSWORD).await), ["token"]);
    reset(&fixture, &fresh, "N3wer&Password").await.unwrap();
}

/// The message of an earlier request arrives late. It must not replace the link of the later one.
#[tokio::test]
async fn a_late_message_does_not_replace_the_link_of_a_later_request() {
    let fixture = Fixture::new().await;
    fixture.answer(Answer::Refused);
    forgot(&fixture, ADA, None).await;
    assert!(fixture.mails().await.is_empty());
    fixture.answer(Answer::Accepted);
    fixture.clock.advance(TimeDelta::seconds(30));
    // A request for one tenant is another message than one for all.
    forgot(&fixture, ADA, Some(&fixture.ada.tenant().to_string())).await;
    let later = fixture.token(MailKind::Reset, ADA).await;
    fixture.clock.advance(TimeDelta::seconds(30));
    let delivery = fixture.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.sent, delivery.dropped), (0, 1));
    reset(&fixture, &later, NEW_PASSWORD).await.unwrap();
}

#[tokio::test]
async fn a_request_makes_a_message_that_was_refused_due_within_a_minute() {
    let fixture = Fixture::new().await;
    fixture.answer(Answer::Refused);
    forgot(&fixture, ADA, None).await;
    for minutes in [0, 1, 5] {
        fixture.clock.advance(TimeDelta::minutes(minutes));
        assert!(fixture.mails().await.is_empty());
    }
    fixture.answer(Answer::Accepted);
    // The next attempt would be due in half an hour.
    forgot(&fixture, ADA, None).await;
    assert!(fixture.mails().await.is_empty());
    fixture.clock.advance(TimeDelta::minutes(1));
    let token = fixture.token(MailKind::Reset, ADA).await;
    reset(&fixture, &token, NEW_PASSWORD).await.unwrap();
}

/// Between the request and the delivery, the user or the tenant can be suspended, or the user deleted.
#[tokio::test]
async fn no_link_is_sent_to_an_account_that_cannot_log_in_any_more() {
    let fixture = Fixture::new().await;
    let system = Caller::system(fixture.ada.tenant(), "test");
    let grace = fixture.iam.users().create(&system, new_user(GRACE)).await.unwrap().id;
    fixture.mails().await;
    let forgotten = async || {
        fixture.clock.advance(TimeDelta::hours(1));
        fixture.iam.recovery().forgot(&RequestContext::default(), GRACE, None).await.unwrap();
    };
    let outcome = async || {
        let delivery = fixture.iam.deliver_mail().await.unwrap();
        (delivery.sent, delivery.dropped)
    };
    forgotten().await;
    fixture.iam.users().suspend(&system, grace).await.unwrap();
    assert_eq!(outcome().await, (0, 1), "the user is suspended");
    fixture.iam.users().reactivate(&system, grace).await.unwrap();
    forgotten().await;
    fixture.iam.tenants().suspend(&system).await.unwrap();
    assert_eq!(outcome().await, (0, 1), "the tenant is suspended");
    fixture.iam.tenants().reactivate(&system).await.unwrap();
    forgotten().await;
    assert_eq!(outcome().await, (1, 0));
    forgotten().await;
    fixture.iam.users().delete(&system, grace).await.unwrap();
    assert_eq!(outcome().await, (0, 1), "the user is deleted");
}

#[tokio::test]
async fn strangers_cannot_use_up_the_links_of_the_owner_of_an_address() {
    let fixture = Fixture::new().await;
    let recovery = fixture.iam.recovery();
    let context = RequestContext::default();
    recovery.forgot(&context, ADA, None).await.unwrap();
    recovery.reset(&context, &fixture.token(MailKind::Reset, ADA).await, NEW_PASSWORD.into()).await.unwrap();
    fixture.mails().await;
    // A stranger registers the address, and names its own tenant and one that does not exist.
    let foreign = register(&fixture.iam, ADA).await.tenant.id.to_string();
    fixture.mails().await;
    for named in [foreign.as_str(), "unknown", foreign.as_str(), "other", foreign.as_str(), "third"] {
        recovery.forgot(&context, ADA, Some(named)).await.unwrap();
        fixture.mails().await;
    }
    let own = fixture.ada.tenant().to_string();
    for tenant in [None, Some(own.as_str())] {
        recovery.forgot(&context, ADA, tenant).await.unwrap();
        fixture.token(MailKind::Reset, ADA).await;
    }
    recovery.forgot(&context, ADA, None).await.unwrap();
    assert!(fixture.mails().await.is_empty(), "three in an hour, with the one by which the address was verified");
}
