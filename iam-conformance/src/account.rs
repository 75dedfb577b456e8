//! Races about the accounts of people, whose links they get by mail.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use iam_core::Iam;
use iam_core::assignment::NewAssignment;
use iam_core::email_login::EmailProof;
use iam_core::invitation::{Acceptance, InvitedRole, NewInvitation};
use iam_core::mail::{LinkPages, Mail, MailError, MailLink, Mailer};
use iam_core::secret::LinkToken;
use iam_core::session::LoggedIn;
use iam_core::tenant::{EmailLogin, Registered, TenantPatch};
use iam_core::user::UserPatch;
use iam_model::context::RequestContext;
use iam_model::error::{Conflict, Error, Result};
use iam_model::mail::MailKind;
use iam_model::role::{Role, TENANT_ADMIN};
use iam_model::store::Store;

use crate::race::{Fixture, PASSWORD, both, login, new_user, race, settings};

/// A mailer that keeps the messages.
#[derive(Clone, Default)]
struct TestMailer(Arc<Mutex<Vec<Mail>>>);

#[async_trait]
impl Mailer for TestMailer {
    async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        self.0.lock().unwrap().push(mail.clone());
        Ok(())
    }
}

/// A fixture whose service sends mail.
struct MailFixture {
    fixture: Fixture,
    mailer: TestMailer,
}

impl MailFixture {
    async fn new(store: Arc<dyn Store>) -> Self {
        let mailer = TestMailer::default();
        let page = || "https://example.com/#{token}".parse().unwrap();
        let pages = LinkPages { verify: page(), reset: page(), invitation: page(), login: page() };
        let builder = Iam::builder(Arc::clone(&store)).settings(settings()).mail(Arc::new(mailer.clone()), pages);
        let iam = builder.build().await.unwrap();
        Self { fixture: Fixture::with(iam, store, "ada@example.com").await, mailer }
    }

    /// Sends the due messages. Returns the link in the last message of a kind to an address.
    async fn link(&self, kind: MailKind, to: &str) -> MailLink {
        while self.fixture.iam.deliver_mail().await.unwrap().more {}
        let mails = self.mailer.0.lock().unwrap();
        let mail = mails.iter().rfind(|mail| mail.kind == kind && mail.to.as_str() == to).unwrap();
        mail.accounts[0].link.clone().unwrap()
    }

    /// Sends the due messages. Returns the token in the last message of a kind to an address.
    async fn token(&self, kind: MailKind, to: &str) -> LinkToken {
        token_of(&self.link(kind, to).await)
    }

    /// Requests a login by e-mail, which the tenant wants. Returns its two proofs.
    async fn email_login(&self, email: &str) -> [EmailProof; 2] {
        let (iam, system) = (&self.fixture.iam, &self.fixture.system);
        let patch = TenantPatch { email_login: Some(EmailLogin::On), ..TenantPatch::default() };
        iam.tenants().update(system, system.tenant(), patch).await.unwrap();
        iam.users().verify_email(system, email).await.unwrap();
        let flow = iam.email_logins().request(&RequestContext::default(), email, None).await.unwrap();
        let link = self.link(MailKind::Login, email).await;
        [EmailProof::Link(token_of(&link)), EmailProof::Code { flow, code: link.code.unwrap() }]
    }

    async fn invite(&self, caller: &iam_core::Caller, email: &str, role: &Role) -> LinkToken {
        let roles = vec![InvitedRole { role_id: role.id, organization_id: None, expires_at: None }];
        let new = NewInvitation { email: email.to_owned(), roles, ..NewInvitation::default() };
        self.fixture.iam.invitations().create(caller, new).await.unwrap();
        self.token(MailKind::Invitation, email).await
    }
}

fn accept(iam: &Iam, token: &LinkToken) -> impl Future<Output = Result<Registered>> + Send + use<> {
    let (iam, token) = (iam.clone(), token.clone());
    async move {
        let (first_name, last_name) = ("Grace".to_owned(), "Hopper".to_owned());
        let acceptance = Acceptance { token, password: PASSWORD.into(), first_name, last_name };
        iam.invitations().accept(&RequestContext::default(), acceptance).await
    }
}

fn token_of(link: &MailLink) -> LinkToken {
    link.url.expose().split_once('#').unwrap().1.into()
}

fn finish(iam: &Iam, proof: &EmailProof) -> impl Future<Output = Result<LoggedIn>> + Send + use<> {
    let (iam, proof) = (iam.clone(), proof.clone());
    async move { iam.email_logins().finish(&RequestContext::default(), &proof).await }
}

/// Whether a login by e-mail is refused.
fn is_about_proof<T>(result: &Result<T>) -> bool {
    let is_proof = |field: &str| ["token", "code"].contains(&field);
    matches!(result, Err(Error::Validation(errors)) if errors.len() == 1 && is_proof(&errors[0].field))
}

fn is_about_token<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Validation(errors)) if errors.len() == 1 && errors[0].field == "token")
}

fn is_email_taken<T>(result: &Result<T>) -> bool {
    match result {
        Err(Error::Conflict(Conflict::EmailTaken)) => true,
        Err(Error::About { error, .. }) => matches!(**error, Error::Conflict(Conflict::EmailTaken)),
        _ => false,
    }
}

/// Of many concurrent resets with one token, one succeeds. Its password is the user's.
pub async fn one_of_concurrent_resets_succeeds(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let iam = &mail.fixture.iam;
    iam.recovery().forgot(&RequestContext::default(), "ada@example.com", None).await.unwrap();
    let token = mail.token(MailKind::Reset, "ada@example.com").await;
    let results = race(8, |number| {
        let (iam, token) = (iam.clone(), token.clone());
        let password = format!("Passw0rd!{number}").as_str().into();
        async move { iam.recovery().reset(&RequestContext::default(), &token, password).await.map(|()| number) }
    })
    .await;
    let won: Vec<usize> = results.iter().filter_map(|result| result.as_ref().ok()).copied().collect();
    assert_eq!((won.len(), results.iter().filter(|result| is_about_token(result)).count()), (1, 7), "{results:?}");
    login(iam, "ada@example.com", &format!("Passw0rd!{}", won[0])).await.unwrap();
}

/// However requests for links and deliveries race, the message that arrives last has a link that works.
pub async fn of_several_links_the_one_that_arrives_last_works(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let iam = &mail.fixture.iam;
    for round in 0..8 {
        let email = format!("forgetful-{round}@example.com");
        iam.users().create(&mail.fixture.system, new_user(&email)).await.unwrap();
        while iam.deliver_mail().await.unwrap().more {}
        race(6, |number| {
            let (iam, email) = (iam.clone(), email.clone());
            async move {
                if number < 3 {
                    iam.recovery().forgot(&RequestContext::default(), &email, None).await
                } else {
                    iam.deliver_mail().await.map(drop)
                }
            }
        })
        .await
        .into_iter()
        .for_each(Result::unwrap);
        let token = mail.token(MailKind::Reset, &email).await;
        iam.recovery().look_up(&token).await.unwrap();
    }
}

/// Of many concurrent acceptances of one invitation, one succeeds.
pub async fn one_of_concurrent_acceptances_succeeds(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let token = mail.invite(&mail.fixture.system, "grace@example.com", mail.fixture.built_in("AUDITOR")).await;
    let results = race(8, |_| accept(&mail.fixture.iam, &token)).await;
    let (won, lost) = (
        results.iter().filter(|result| result.is_ok()).count(),
        results.iter().filter(|result| is_about_token(result)).count(),
    );
    assert_eq!((won, lost), (1, 7), "{results:?}");
}

/// An invitation is accepted while the user who invited loses its role. The acceptance comes before that, or it is
/// refused and the invitation stays.
pub async fn an_acceptance_comes_before_the_inviters_loss_of_the_role_or_fails(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let fixture = &mail.fixture;
    for round in 0..12 {
        let (inviter, caller) =
            fixture.member(&format!("admin{round}@example.com"), fixture.built_in(TENANT_ADMIN), None).await;
        let own =
            fixture.world.store.grants_of(fixture.tenant.id, &[inviter.id]).await.unwrap().remove(0).assignment.id;
        let token = mail.invite(&caller, &format!("grace{round}@example.com"), fixture.built_in("AUDITOR")).await;
        let (iam, system) = (fixture.iam.clone(), fixture.system.clone());
        let revoke = async move { iam.assignments().delete(&system, own).await.unwrap() };
        let ((), accepted) = both(round, revoke, accept(&fixture.iam, &token)).await;
        match accepted {
            Ok(accepted) => {
                fixture.assert_order("CREATE", accepted.login.user.id, "ROLE_REVOKED", own).await;
            }
            Err(error) => {
                assert!(matches!(error, Error::Conflict(Conflict::InvitationOutdated)), "{error:?}");
                fixture.iam.invitations().look_up(&token).await.unwrap();
                let again = NewAssignment {
                    user: inviter.id,
                    role: fixture.built_in(TENANT_ADMIN).id,
                    organization: None,
                    expires_at: None,
                };
                fixture.iam.assignments().create(&fixture.system, again).await.unwrap();
                accept(&fixture.iam, &token).await.unwrap();
            }
        }
    }
}

/// An invitation is accepted while a user is created with its address. One of them gets the address.
pub async fn an_address_is_accepted_or_created(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let fixture = &mail.fixture;
    for round in 0..8 {
        let email = format!("grace{round}@example.com");
        let token = mail.invite(&fixture.system, &email, fixture.built_in("AUDITOR")).await;
        let (iam, system) = (fixture.iam.clone(), fixture.system.clone());
        let create = async move { iam.users().create(&system, new_user(&email)).await };
        let (created, accepted) = both(round, create, accept(&fixture.iam, &token)).await;
        assert!(created.is_ok() != accepted.is_ok(), "{created:?} {accepted:?}");
        assert!(created.is_ok() || is_email_taken(&created), "{created:?}");
        assert!(accepted.is_ok() || is_email_taken(&accepted), "{accepted:?}");
    }
}

/// A user confirms a new address while another user is created with it. One of them gets the address.
pub async fn an_address_is_confirmed_or_created(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let fixture = &mail.fixture;
    for round in 0..8 {
        let (user, caller) =
            fixture.member(&format!("user{round}@example.com"), fixture.built_in("MEMBER"), None).await;
        let new = format!("new{round}@example.com");
        fixture.iam.verification().change_email(&caller, &new, PASSWORD.into()).await.unwrap();
        let token = mail.token(MailKind::Verify, &new).await;
        let (iam, system) = (fixture.iam.clone(), fixture.system.clone());
        let taken = new.clone();
        let create = async move { iam.users().create(&system, new_user(&taken)).await };
        let iam = fixture.iam.clone();
        let verify = async move { iam.verification().verify(&RequestContext::default(), &token).await };
        let (created, verified) = both(round, create, verify).await;
        assert!(created.is_ok() != verified.is_ok(), "{created:?} {verified:?}");
        assert!(created.is_ok() || is_email_taken(&created), "{created:?}");
        assert!(verified.is_ok() || is_email_taken(&verified), "{verified:?}");
        let user = fixture.iam.users().get(&fixture.system, user.id).await.unwrap();
        assert_eq!(user.email.as_str() == new, verified.is_ok());
    }
}

/// A user confirms an address while an administrator changes the user's address. The confirmation comes first, or it is
/// refused: then the address is the administrator's.
pub async fn a_confirmation_does_not_undo_a_change_by_an_administrator(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let fixture = &mail.fixture;
    for round in 0..8 {
        let (user, caller) =
            fixture.member(&format!("user{round}@example.com"), fixture.built_in("MEMBER"), None).await;
        let (own, given) = (format!("own{round}@example.com"), format!("given{round}@example.com"));
        fixture.iam.verification().change_email(&caller, &own, PASSWORD.into()).await.unwrap();
        let token = mail.token(MailKind::Verify, &own).await;
        let (iam, system, id) = (fixture.iam.clone(), fixture.system.clone(), user.id);
        let patch = UserPatch { email: Some(given.clone()), ..UserPatch::default() };
        let change = async move { iam.users().update(&system, id, patch).await.unwrap() };
        let iam = fixture.iam.clone();
        let verify = async move { iam.verification().verify(&RequestContext::default(), &token).await };
        let (_, verified) = both(round, change, verify).await;
        assert!(verified.is_ok() || is_about_token(&verified), "{verified:?}");
        assert_eq!(fixture.iam.users().get(&fixture.system, user.id).await.unwrap().email.as_str(), given);
    }
}

/// Of many concurrent logins by the link and the code of one message, one succeeds.
pub async fn one_of_concurrent_logins_by_email_succeeds(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let fixture = &mail.fixture;
    for round in 0..4 {
        let email = format!("user{round}@example.com");
        let (user, _) = fixture.member(&email, fixture.built_in("MEMBER"), None).await;
        let proofs = mail.email_login(&email).await;
        let results = race(8, |number| finish(&fixture.iam, &proofs[number % 2])).await;
        let won = results.iter().filter(|result| result.is_ok()).count();
        let lost = results.iter().filter(|result| is_about_proof(result)).count();
        assert_eq!((won, lost), (1, 7), "{results:?}");
        let sessions = fixture.iam.sessions().list(&fixture.system, user.id).await.unwrap();
        assert_eq!(sessions.len(), 2, "that of the password, and that of the message");
    }
}

/// A user logs in by e-mail while it is suspended. No session stays.
pub async fn a_login_by_email_comes_before_a_suspension_or_fails(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let fixture = &mail.fixture;
    for round in 0..8 {
        let email = format!("user{round}@example.com");
        let (user, _) = fixture.member(&email, fixture.built_in("MEMBER"), None).await;
        let [by_link, by_code] = mail.email_login(&email).await;
        let (iam, system, id) = (fixture.iam.clone(), fixture.system.clone(), user.id);
        let suspend = async move { iam.users().suspend(&system, id).await.unwrap() };
        let (_, entered) = both(round, suspend, finish(&fixture.iam, &by_code)).await;
        assert!(entered.is_ok() || is_about_proof(&entered), "{entered:?}");
        assert!(fixture.iam.sessions().list(&fixture.system, user.id).await.unwrap().is_empty());
        let again = finish(&fixture.iam, &by_link).await;
        assert!(is_about_proof(&again), "{again:?}");
    }
}

/// A user logs in by e-mail while a newer message is requested and sent. The older one works before that or not at all,
/// and the newer one works.
pub async fn a_login_by_email_leaves_a_newer_message_as_it_is(store: Arc<dyn Store>) {
    let mail = MailFixture::new(store).await;
    let fixture = &mail.fixture;
    for round in 0..8 {
        let email = format!("user{round}@example.com");
        fixture.member(&email, fixture.built_in("MEMBER"), None).await;
        let [by_link, by_code] = mail.email_login(&email).await;
        let (iam, address) = (fixture.iam.clone(), email.clone());
        let request = async move {
            iam.email_logins().request(&RequestContext::default(), &address, None).await.unwrap();
            while iam.deliver_mail().await.unwrap().more {}
        };
        let ((), entered) = both(round, request, finish(&fixture.iam, &by_code)).await;
        assert!(entered.is_ok() || is_about_proof(&entered), "{entered:?}");
        let again = finish(&fixture.iam, &by_link).await;
        assert!(is_about_proof(&again), "{again:?}");
        let newer = EmailProof::Link(mail.token(MailKind::Login, &email).await);
        finish(&fixture.iam, &newer).await.unwrap();
    }
}
