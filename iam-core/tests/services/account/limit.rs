//! The limit of messages to an address, where strangers have tenants with the same address.

use super::*;

/// Strangers who have registered tenants of their own.
async fn strangers(fixture: &Fixture, number: usize) -> Vec<Caller> {
    let mut strangers = Vec::new();
    for number in 0..number {
        strangers.push(caller(&fixture.iam, register(&fixture.iam, &format!("eve-{number}@example.com")).await).await);
    }
    fixture.mails().await;
    strangers
}

#[tokio::test]
async fn an_invitation_waits_if_tenants_of_strangers_have_used_up_the_limit() {
    let fixture = Fixture::new().await;
    for stranger in strangers(&fixture, 3).await {
        fixture.invite(&stranger, GRACE, &[]).await.unwrap();
        assert_eq!(fixture.kinds().await, [MailKind::Invitation]);
    }
    fixture.clock.advance(TimeDelta::minutes(1));
    let id = fixture.invite(&fixture.ada, GRACE, &[]).await.unwrap();
    assert_eq!(fixture.kinds().await, []);
    // It goes out once, with the newest link.
    fixture.iam.invitations().resend(&fixture.ada, id).await.unwrap();
    fixture.clock.advance(TimeDelta::minutes(59) - TimeDelta::milliseconds(1));
    assert_eq!(fixture.kinds().await, []);
    fixture.clock.advance(TimeDelta::milliseconds(1));
    let token = fixture.token(MailKind::Invitation, GRACE).await;
    fixture.accept(&token).await.unwrap();
    assert_eq!(fixture.status(id).await, InvitationStatus::Accepted);
}

#[tokio::test]
async fn a_link_to_verify_an_address_waits_if_tenants_of_strangers_have_used_up_the_limit() {
    let fixture = Fixture::new().await;
    for _ in 0..3 {
        register(&fixture.iam, GRACE).await;
    }
    assert_eq!(fixture.kinds().await, [MailKind::Verify; 3]);
    fixture.iam.users().create(&fixture.ada, new_user(GRACE)).await.unwrap();
    assert_eq!(fixture.kinds().await, []);
    fixture.clock.advance(TimeDelta::hours(1));
    let token = fixture.token(MailKind::Verify, GRACE).await;
    fixture.iam.verification().verify(&RequestContext::default(), &token).await.unwrap();
    assert_eq!(fixture.entries_of("EMAIL_VERIFIED").await.len(), 1);
}

#[tokio::test]
async fn a_reset_by_an_administrator_is_sent_although_strangers_have_asked_for_some() {
    let fixture = Fixture::new().await;
    for _ in 0..4 {
        fixture.iam.recovery().forgot(&RequestContext::default(), ADA, None).await.unwrap();
        fixture.mails().await;
    }
    let (system, ada) = (Caller::system(fixture.ada.tenant(), "test"), fixture.ada.user().unwrap());
    fixture.iam.users().verify_email(&system, ADA).await.unwrap();
    fixture.iam.recovery().start(&system, ada).await.unwrap();
    fixture.token(MailKind::Reset, ADA).await;
}

#[tokio::test]
async fn a_reset_that_names_its_tenant_waits_if_tenants_of_strangers_have_used_up_the_limit() {
    let fixture = Fixture::new().await;
    let forgot = async |tenant: iam_core::TenantId| {
        let tenant = tenant.to_string();
        fixture.iam.recovery().forgot(&RequestContext::default(), ADA, Some(&tenant)).await.unwrap();
        fixture.mails().await.len()
    };
    let stranger = caller(&fixture.iam, register(&fixture.iam, ADA).await).await.tenant();
    fixture.mails().await;
    for sent in [1, 1, 1, 0, 0] {
        assert_eq!(forgot(stranger).await, sent);
    }
    let own = fixture.ada.tenant();
    assert_eq!((forgot(own).await, forgot(own).await), (0, 0));
    fixture.clock.advance(TimeDelta::hours(1));
    fixture.token(MailKind::Reset, ADA).await;
    // The link works, so a further request sends nothing.
    for _ in 0..3 {
        forgot(stranger).await;
    }
    assert_eq!(forgot(own).await, 0);
}

/// A stranger can register the address of a victim in any number of tenants, and cause notices there.
#[tokio::test]
async fn accounts_that_have_not_proven_an_address_share_its_notices() {
    let fixture = Fixture::new().await;
    let mut accounts = vec![fixture.ada.clone()];
    for _ in 0..9 {
        accounts.push(caller(&fixture.iam, register(&fixture.iam, ADA).await).await);
    }
    fixture.mails().await;
    let new_key = async |account: &Caller| {
        let new = NewApiKey { name: "key".to_owned(), ..NewApiKey::default() };
        fixture.iam.api_keys().create(account, account.user().unwrap(), new).await.unwrap();
    };
    let notices = async || fixture.kinds().await.into_iter().filter(|kind| *kind == MailKind::ApiKeyCreated).count();
    for account in &accounts {
        new_key(account).await;
    }
    assert_eq!(notices().await, 3);
    // Whose address is verified is told at once.
    let system = Caller::system(fixture.ada.tenant(), "test");
    fixture.iam.users().verify_email(&system, ADA).await.unwrap();
    new_key(&fixture.ada).await;
    assert_eq!(notices().await, 1);
    for _ in 0..2 {
        fixture.clock.advance(TimeDelta::hours(1));
        assert_eq!(notices().await, 3);
    }
}
