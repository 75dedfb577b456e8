//! Users who have forgotten their password choose a new one.

use super::*;

const ADA: &str = "ada@example.com";

#[tokio::test]
async fn a_forgotten_password_is_replaced_by_a_link() {
    let post = Post::new().await;
    let recovery = post.iam.recovery();
    recovery.forgot(&RequestContext::default(), "ada@example.com", None).await.unwrap();
    let token = post.token(MailKind::Reset, "ada@example.com").await;
    let context = RequestContext::default();
    let reset = |password: &str| recovery.reset(&context, &token, password.into());
    assert_eq!(fields(reset("weak").await), ["newPassword"]);
    recovery.look_up(&token).await.unwrap();
    reset(NEW_PASSWORD).await.unwrap();
    assert_eq!(fields(reset(NEW_PASSWORD).await), ["token"]);
    assert!(post.log_in("ada@example.com", PASSWORD).await.is_err());
    post.log_in("ada@example.com", NEW_PASSWORD).await.unwrap();
    let mails = post.mails().await;
    assert_eq!((mails[0].kind, mails[0].accounts[0].link.is_none()), (MailKind::PasswordChanged, true));
    recovery.forgot(&RequestContext::default(), "unknown@example.com", None).await.unwrap();
    assert!(post.mails().await.is_empty());
}

#[tokio::test]
async fn a_link_ends_with_the_address_and_with_the_password() {
    let post = Post::new().await;
    let recovery = post.iam.recovery();
    let forgotten = async || {
        post.clock.advance(TimeDelta::hours(1));
        recovery.forgot(&RequestContext::default(), "ada@example.com", None).await.unwrap();
        post.token(MailKind::Reset, "ada@example.com").await
    };
    let token = forgotten().await;
    let ada = post.log_in("ada@example.com", PASSWORD).await.unwrap();
    post.iam.credentials().change_password(&ada, PASSWORD.into(), NEW_PASSWORD.into()).await.unwrap();
    assert_eq!(fields(recovery.look_up(&token).await), ["token"]);
    post.mails().await;
    let token = forgotten().await;
    let system = Caller::system(post.ada.tenant(), "test");
    let patch = UserPatch { email: Some("other@example.com".to_owned()), ..UserPatch::default() };
    post.iam.users().update(&system, post.ada.user().unwrap(), patch).await.unwrap();
    assert_eq!(fields(recovery.look_up(&token).await), ["token"]);
}

#[tokio::test]
async fn a_reset_for_another_user_needs_what_that_user_may_do() {
    let post = Post::new().await;
    let bob = post.member("bob@example.com", &["users:update"], None).await;
    let refused = post.iam.recovery().start(&bob, post.ada.user().unwrap()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    let eve = post.iam.users().create(&post.ada, new_user("eve@example.com")).await.unwrap().id;
    post.mails().await;
    post.iam.recovery().start(&bob, eve).await.unwrap();
    post.token(MailKind::Reset, "eve@example.com").await;
    post.iam.users().suspend(&post.ada, eve).await.unwrap();
    let refused = post.iam.recovery().start(&post.ada, eve).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::UserNotActive))), "{refused:?}");
}

async fn forgot(post: &Post, email: &str, tenant: Option<&str>) {
    let context = RequestContext { ip_address: Some([192, 0, 2, 77].into()), ..RequestContext::default() };
    post.iam.recovery().forgot(&context, email, tenant).await.unwrap();
}

/// The requests of the first tenant's users that are recorded, and whether the log says where they came from.
async fn requests(post: &Post) -> Vec<bool> {
    let entries = post.entries_of("PASSWORD_RESET_REQUESTED").await;
    entries.iter().map(|entry| entry.context.ip_address.is_some()).collect()
}

async fn reset(post: &Post, token: &LinkToken, password: &str) -> Result<()> {
    post.iam.recovery().reset(&RequestContext::default(), token, password.into()).await
}

#[tokio::test]
async fn a_reset_verifies_the_address_once() {
    let post = Post::new().await;
    let mut moments = Vec::new();
    for password in [NEW_PASSWORD, "N3wer&Password"] {
        post.clock.advance(TimeDelta::minutes(5));
        moments.push(post.clock.now());
        forgot(&post, ADA, None).await;
        let token = post.token(MailKind::Reset, ADA).await;
        reset(&post, &token, password).await.unwrap();
        post.mails().await;
        // The sessions have ended, so the administrator is a new caller.
        let ada = post.log_in(ADA, password).await.unwrap();
        let user = post.iam.users().get(&ada, ada.user().unwrap()).await.unwrap();
        assert_eq!(user.email_verified_at, moments.first().copied());
    }
    assert_eq!(post.entries_of("EMAIL_VERIFIED").await.len(), 1);
}

#[tokio::test]
async fn only_active_users_of_active_tenants_get_a_link() {
    let post = Post::new().await;
    let grace = post.iam.users().create(&post.ada, new_user(GRACE)).await.unwrap().id;
    post.mails().await;
    let tenant = post.ada.tenant().to_string();
    post.iam.users().suspend(&post.ada, grace).await.unwrap();
    for tenant in [None, Some(tenant.as_str())] {
        forgot(&post, GRACE, tenant).await;
        assert!(post.mails().await.is_empty());
    }
    forgot(&post, ADA, Some(&tenant)).await;
    post.token(MailKind::Reset, ADA).await;
    post.iam.tenants().suspend(&Caller::system(post.ada.tenant(), "test")).await.unwrap();
    for tenant in [None, Some(tenant.as_str())] {
        forgot(&post, ADA, tenant).await;
        assert!(post.mails().await.is_empty());
    }
}

/// A stranger may have created an account with the address, in a tenant of its own, to see who asks.
#[tokio::test]
async fn a_request_is_recorded_without_its_origin_if_a_stranger_may_read_it() {
    // One tenant: nobody else can read its log.
    let post = Post::new().await;
    forgot(&post, ADA, None).await;
    post.mails().await;
    assert_eq!(requests(&post).await, [true]);

    // Anybody can have registered this tenant.
    register(&post.iam, "eve@example.com").await;
    forgot(&post, ADA, None).await;
    post.mails().await;
    assert_eq!(requests(&post).await, [false, true]);

    // The request names the tenant, so it is meant for it.
    forgot(&post, ADA, Some(&post.ada.tenant().to_string())).await;
    let token = post.token(MailKind::Reset, ADA).await;
    assert_eq!(requests(&post).await, [true, false, true]);

    // The address is verified, so the account belongs to its owner.
    reset(&post, &token, NEW_PASSWORD).await.unwrap();
    post.mails().await;
    post.clock.advance(TimeDelta::hours(1));
    forgot(&post, ADA, None).await;
    post.mails().await;
    assert_eq!(requests(&post).await, [true, true, false, true]);
}

/// Only the operator creates tenants, so none of them is a stranger's.
#[tokio::test]
async fn a_request_is_recorded_with_its_origin_where_registration_is_closed() {
    let post = Post::new().await;
    register(&post.iam, "eve@example.com").await;
    let mut closed = settings();
    closed.registration = false;
    let post = post.restarted(closed).await;
    forgot(&post, ADA, None).await;
    post.mails().await;
    assert_eq!(requests(&post).await, [true]);
}

#[tokio::test]
async fn a_message_that_is_sent_again_has_the_same_link_until_it_expires() {
    let post = Post::new().await;
    post.answer(Answer::Lost);
    forgot(&post, ADA, None).await;
    let first = post.token(MailKind::Reset, ADA).await;
    post.clock.advance(TimeDelta::minutes(1));
    assert_eq!(post.token(MailKind::Reset, ADA).await.expose(), first.expose());
    post.clock.advance(TimeDelta::minutes(5));
    assert_eq!(post.token(MailKind::Reset, ADA).await.expose(), first.expose());
    assert_eq!(requests(&post).await.len(), 1);
    post.clock.advance(TimeDelta::minutes(30));
    let second = post.token(MailKind::Reset, ADA).await;
    assert_ne!(second.expose(), first.expose());
    assert_eq!(fields(reset(&post, &first, NEW_PASSWORD).await), ["token"]);
    reset(&post, &second, NEW_PASSWORD).await.unwrap();
}

#[tokio::test]
async fn a_message_that_is_sent_again_does_not_revive_a_link_that_was_used() {
    let post = Post::new().await;
    post.answer(Answer::Lost);
    forgot(&post, ADA, None).await;
    let used = post.token(MailKind::Reset, ADA).await;
    post.answer(Answer::Accepted);
    reset(&post, &used, NEW_PASSWORD).await.unwrap();
    post.mails().await;
    post.clock.advance(TimeDelta::minutes(1));
    let fresh = post.token(MailKind::Reset, ADA).await;
    assert_ne!(fresh.expose(), used.expose());
    assert_eq!(fields(reset(&post, &used, PASSWORD).await), ["token"]);
    reset(&post, &fresh, "N3wer&Password").await.unwrap();
}

/// The message of an earlier request arrives late. It must not replace the link of the later one.
#[tokio::test]
async fn a_late_message_does_not_replace_the_link_of_a_later_request() {
    let post = Post::new().await;
    post.answer(Answer::Refused);
    forgot(&post, ADA, None).await;
    assert!(post.mails().await.is_empty());
    post.answer(Answer::Accepted);
    post.clock.advance(TimeDelta::seconds(30));
    forgot(&post, ADA, None).await;
    let later = post.token(MailKind::Reset, ADA).await;
    post.clock.advance(TimeDelta::seconds(30));
    let delivery = post.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.sent, delivery.dropped), (0, 1));
    reset(&post, &later, NEW_PASSWORD).await.unwrap();
}

/// Between the request and the delivery, the user or the tenant can be suspended, or the user deleted.
#[tokio::test]
async fn no_link_is_sent_to_an_account_that_cannot_log_in_any_more() {
    let post = Post::new().await;
    let system = Caller::system(post.ada.tenant(), "test");
    let grace = post.iam.users().create(&system, new_user(GRACE)).await.unwrap().id;
    post.mails().await;
    let forgotten = async || {
        post.clock.advance(TimeDelta::hours(1));
        post.iam.recovery().forgot(&RequestContext::default(), GRACE, None).await.unwrap();
    };
    let outcome = async || {
        let delivery = post.iam.deliver_mail().await.unwrap();
        (delivery.sent, delivery.dropped)
    };
    forgotten().await;
    post.iam.users().suspend(&system, grace).await.unwrap();
    assert_eq!(outcome().await, (0, 1), "the user is suspended");
    post.iam.users().reactivate(&system, grace).await.unwrap();
    forgotten().await;
    post.iam.tenants().suspend(&system).await.unwrap();
    assert_eq!(outcome().await, (0, 1), "the tenant is suspended");
    post.iam.tenants().reactivate(&system).await.unwrap();
    forgotten().await;
    assert_eq!(outcome().await, (1, 0));
    forgotten().await;
    post.iam.users().delete(&system, grace).await.unwrap();
    assert_eq!(outcome().await, (0, 1), "the user is deleted");
}
