//! What people do with the links in their messages: they accept invitations, verify addresses and choose new passwords.

mod email_login;
mod limit;
mod recovery;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::credential::HashingCost;
use iam_core::factor::SecondFactorPolicy;
use iam_core::invitation::{Acceptance, InvitationFilter, InvitationStatus, InvitedRole, NewInvitation};
use iam_core::mail::{LinkPages, Mail, MailError, MailKind, Mailer, RefusedForGood};
use iam_core::organization::NewOrganization;
use iam_core::page::PageRequest;
use iam_core::role::NewRole;
use iam_core::secret::LinkToken;
use iam_core::session::Login;
use iam_core::tenant::{NewTenantDeletion, PasswordPolicy, Registered, Registration, TenantPatch};
use iam_core::user::{NewUser, UserPatch, UserStatus};
use iam_core::{
    Caller, Conflict, Error, FactorId, Forbidden, Iam, InvitationId, OrganizationId, RequestContext, Result, RoleId,
    Settings, Store,
};
use iam_model::clock::Clock;
use iam_model::clock::testing::FixedClock;
use iam_store_memory::MemoryStore;
use tokio::time::timeout;

const PASSWORD: &str = "Passw0rd!";
const NEW_PASSWORD: &str = "N3w&Password";
const ADA: &str = "ada@example.com";
const GRACE: &str = "grace@example.com";

/// A mailer that keeps the messages.
#[derive(Clone, Default)]
struct TestMailer(Arc<Mutex<(Answer, Vec<Mail>)>>);

/// What the mailer does with a message.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Answer {
    #[default]
    Accepted,
    Refused,
    RefusedForGood,
    /// The message is sent, but the answer does not arrive.
    Lost,
}

#[async_trait]
impl Mailer for TestMailer {
    async fn send(&self, mail: &Mail) -> std::result::Result<(), MailError> {
        // Another delivery can begin meanwhile.
        tokio::task::yield_now().await;
        let mut state = self.0.lock().unwrap();
        if !matches!(state.0, Answer::Refused | Answer::RefusedForGood) {
            state.1.push(mail.clone());
        }
        match state.0 {
            Answer::Accepted => Ok(()),
            Answer::RefusedForGood => Err(RefusedForGood("550 no such mailbox".to_owned()).into()),
            Answer::Refused | Answer::Lost => Err("451 try again later".into()),
        }
    }
}

/// A service that sends mail, with the administrator of a tenant.
struct Fixture {
    iam: Iam,
    store: Arc<MemoryStore>,
    clock: FixedClock,
    mailer: TestMailer,
    ada: Caller,
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };
    settings
}

async fn open(store: &Arc<MemoryStore>, settings: Settings, clock: &FixedClock, mailer: &TestMailer) -> Iam {
    let page = |name: &str| format!("https://example.com/{name}#{{token}}").parse().unwrap();
    let pages = LinkPages {
        verify: page("verify"),
        reset: page("reset"),
        invitation: page("invitation"),
        login: page("login"),
    };
    let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(store);
    let builder = Iam::builder(store).settings(settings).clock(clock.clone());
    builder.mail(Arc::new(mailer.clone()), pages).build().await.unwrap()
}

impl Fixture {
    async fn new() -> Self {
        let (store, clock) = (Arc::new(MemoryStore::new()), FixedClock::at("2026-01-31T09:15:00.123Z"));
        let mailer = TestMailer::default();
        let iam = open(&store, settings(), &clock, &mailer).await;
        let ada = caller(&iam, register(&iam, "ada@example.com").await).await;
        let fixture = Self { iam, store, clock, mailer, ada };
        fixture.mails().await;
        fixture
    }

    /// The same service with other settings.
    async fn restarted(self, settings: Settings) -> Self {
        let iam = open(&self.store, settings, &self.clock, &self.mailer).await;
        Self { iam, ..self }
    }

    /// What the mailer does from now on.
    fn answer(&self, answer: Answer) {
        self.mailer.0.lock().unwrap().0 = answer;
    }

    async fn mails(&self) -> Vec<Mail> {
        while self.iam.deliver_mail().await.unwrap().more {}
        std::mem::take(&mut self.mailer.0.lock().unwrap().1)
    }

    async fn kinds(&self) -> Vec<MailKind> {
        self.mails().await.iter().map(|mail| mail.kind).collect()
    }

    /// The token in the only message.
    async fn token(&self, kind: MailKind, to: &str) -> LinkToken {
        let mails = self.mails().await;
        assert_eq!(mails.iter().map(|mail| (mail.kind, mail.to.as_str())).collect::<Vec<_>>(), [(kind, to)]);
        let url = mails[0].accounts[0].link.as_ref().unwrap().url.expose().to_owned();
        let (page, token) = url.split_once('#').unwrap();
        let expected = match kind {
            MailKind::Verify => "https://example.com/verify",
            MailKind::Reset => "https://example.com/reset",
            MailKind::Login => "https://example.com/login",
            _ => "https://example.com/invitation",
        };
        assert_eq!(page, expected);
        token.into()
    }

    async fn invite(&self, by: &Caller, email: &str, roles: &[InvitedRole]) -> Result<InvitationId> {
        let new = NewInvitation { email: email.to_owned(), roles: roles.to_vec(), ..NewInvitation::default() };
        Ok(self.iam.invitations().create(by, new).await?.id)
    }

    async fn invited(&self, by: &Caller, roles: &[InvitedRole]) -> (InvitationId, LinkToken) {
        let id = self.invite(by, GRACE, roles).await.unwrap();
        (id, self.token(MailKind::Invitation, GRACE).await)
    }

    async fn accept(&self, token: &LinkToken) -> Result<Registered> {
        self.iam.invitations().accept(&RequestContext::default(), acceptance(token, PASSWORD)).await
    }

    async fn status(&self, id: InvitationId) -> InvitationStatus {
        self.iam.invitations().get(&self.ada, id).await.unwrap().status
    }

    async fn role(&self, name: &str, permissions: &[&str]) -> RoleId {
        let permissions = permissions.iter().map(ToString::to_string).collect();
        let new = NewRole { name: name.to_owned(), permissions, ..NewRole::default() };
        self.iam.roles().create(&self.ada, new).await.unwrap().id
    }

    async fn organization(&self, name: &str, parent: Option<OrganizationId>) -> OrganizationId {
        let new = NewOrganization { name: name.to_owned(), slug: None, parent };
        self.iam.organizations().create(&self.ada, new).await.unwrap().organization.id
    }

    /// A user with these permissions, in an organization or tenant-wide.
    async fn member(&self, email: &str, permissions: &[&str], organization: Option<OrganizationId>) -> Caller {
        let role = self.role(&format!("R_{}", email.len()), permissions).await;
        let user = self.iam.users().create(&self.ada, new_user(email)).await.unwrap().id;
        let new = NewAssignment { user, role, organization, expires_at: None };
        self.iam.assignments().create(&self.ada, new).await.unwrap();
        self.mails().await;
        self.log_in(email, PASSWORD).await.unwrap()
    }

    /// Sets up an authenticator app.
    async fn enrol(&self, by: &Caller) -> FactorId {
        let setup = self.iam.factors().add_totp(by, None).await.unwrap();
        let app = totp_rs::Totp::from_url(setup.uri.expose()).unwrap();
        let code = app.generate(self.clock.now().timestamp().try_into().unwrap()).to_string();
        self.iam.factors().confirm_totp(by, setup.id, &code.into()).await.unwrap();
        setup.id
    }

    async fn log_in(&self, email: &str, password: &str) -> Result<Caller> {
        let login = Login { email: email.to_owned(), password: password.into(), tenant: None };
        let login = self.iam.sessions().login(&RequestContext::default(), login).await?;
        self.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await
    }

    /// The entries of the tenant with an action.
    async fn entries_of(&self, action: &str) -> Vec<AuditEntry> {
        let system = Caller::system(self.ada.tenant(), "test");
        let filter = AuditFilter { action: Some(action.to_owned()), ..AuditFilter::default() };
        self.iam.audit().list(&system, filter, None, 100).await.unwrap().entries
    }

    /// How many entries the audit log has.
    async fn entries(&self) -> usize {
        let system = Caller::system(self.ada.tenant(), "test");
        self.iam.audit().list(&system, AuditFilter::default(), None, 100).await.unwrap().entries.len()
    }
}

/// The token of the first link in a message.
fn token_in(mail: &Mail) -> LinkToken {
    let url = mail.accounts[0].link.as_ref().unwrap().url.expose().to_owned();
    url.split_once('#').unwrap().1.into()
}

fn new_user(email: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

async fn register(iam: &Iam, email: &str) -> Registered {
    let registration = Registration { user: new_user(email), tenant_name: None };
    iam.tenants().register(&RequestContext::default(), registration).await.unwrap()
}

async fn caller(iam: &Iam, registered: Registered) -> Caller {
    let access = registered.login.tokens.access;
    iam.authenticate(access.expose(), RequestContext::default()).await.unwrap()
}

fn acceptance(token: &LinkToken, password: &str) -> Acceptance {
    let (first_name, last_name) = ("Grace".to_owned(), "Hopper".to_owned());
    Acceptance { token: token.clone(), password: password.into(), first_name, last_name }
}

fn tenant_wide(role_id: RoleId) -> InvitedRole {
    InvitedRole { role_id, organization_id: None, expires_at: None }
}

fn within(role_id: RoleId, organization: OrganizationId) -> InvitedRole {
    InvitedRole { organization_id: Some(organization), ..tenant_wide(role_id) }
}

/// The fields that an error names.
fn fields<T: std::fmt::Debug>(result: Result<T>) -> Vec<String> {
    match result.unwrap_err() {
        Error::Validation(errors) => errors.into_iter().map(|error| error.field).collect(),
        Error::About { field, .. } => vec![field],
        other => panic!("{other:?}"),
    }
}

fn is_outdated<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Conflict(Conflict::InvitationOutdated)))
}

#[tokio::test]
async fn an_accepted_invitation_gives_its_roles_until_they_expire() {
    let fixture = Fixture::new().await;
    let branch = fixture.organization("Branch", None).await;
    let [first, second] = [fixture.role("FIRST", &["users:read"]).await, fixture.role("SECOND", &[]).await];
    let third = fixture.role("THIRD", &[]).await;
    let within_hours = |role, hours| {
        let expires_at = Some(fixture.clock.now() + TimeDelta::hours(hours));
        InvitedRole { expires_at, ..tenant_wide(role) }
    };
    let roles = [within(first, branch), within_hours(second, 1), within_hours(third, 2)];
    let (id, token) = fixture.invited(&fixture.ada, &roles).await;
    assert_eq!(fixture.status(id).await, InvitationStatus::Pending);
    let details = fixture.iam.invitations().look_up(&token).await.unwrap();
    assert_eq!((details.email.as_str(), details.tenant.as_str()), (GRACE, "Ada Lovelace"));
    fixture.clock.advance(TimeDelta::hours(1));
    let before = fixture.entries().await;
    let grace = fixture.accept(&token).await.unwrap();
    // The user, two role assignments, the invitation and the session.
    assert_eq!(fixture.entries().await - before, 5);
    let user = grace.login.user;
    assert_eq!((user.email.as_str(), user.email_verified_at), (GRACE, Some(fixture.clock.now())));
    let grants = fixture.iam.assignments().of_user(&Caller::system(user.tenant_id, "test"), user.id).await.unwrap();
    let held: Vec<_> = grants.iter().map(|grant| &grant.assignment).collect();
    let mut shown: Vec<_> = held.iter().map(|held| (held.role_id, held.organization_id, held.created_by)).collect();
    shown.sort_unstable();
    let mut expected = [(first, Some(branch), fixture.ada.user()), (third, None, fixture.ada.user())];
    expected.sort_unstable();
    assert_eq!(shown, expected);
    assert_eq!(fixture.status(id).await, InvitationStatus::Accepted);
    assert_eq!(fields(fixture.accept(&token).await), ["token"]);
    assert_eq!(fields(fixture.iam.invitations().look_up(&token).await), ["token"]);
}

#[tokio::test]
async fn an_invitation_names_what_is_wrong_with_it() {
    let fixture = Fixture::new().await;
    let role = fixture.role("FIRST", &[]).await;
    let before = fixture.entries().await;
    for taken in ["ada@example.com", "ADA@example.com"] {
        assert_eq!(fields(fixture.invite(&fixture.ada, taken, &[]).await), ["email"]);
    }
    assert_eq!(fields(fixture.invite(&fixture.ada, "no address", &[]).await), ["email"]);
    assert_eq!(fields(fixture.invite(&fixture.ada, GRACE, &[tenant_wide(role); 2]).await), ["roles[1].roleId"]);
    let past = InvitedRole { expires_at: Some(fixture.clock.now()), ..tenant_wide(role) };
    assert_eq!(fields(fixture.invite(&fixture.ada, GRACE, &[past]).await), ["roles[0].expiresAt"]);
    let many = |count: u128| -> Vec<InvitedRole> {
        (0..count).map(|n| tenant_wide(uuid::Uuid::from_u128(n).into())).collect()
    };
    assert_eq!(fields(fixture.invite(&fixture.ada, GRACE, &many(51)).await), ["roles"]);
    // As many as are allowed, and the first does not exist.
    assert_eq!(fields(fixture.invite(&fixture.ada, GRACE, &many(50)).await), ["roles[0].roleId"]);
    assert_eq!(fixture.entries().await, before);
    fixture.invite(&fixture.ada, GRACE, &[tenant_wide(role)]).await.unwrap();
    assert_eq!(fields(fixture.invite(&fixture.ada, "Grace@example.com", &[]).await), ["email"]);
}

#[tokio::test]
async fn an_inviter_gives_only_what_it_holds_then_and_now() {
    let fixture = Fixture::new().await;
    let [empty, reader] = [fixture.role("EMPTY", &[]).await, fixture.role("READER", &["users:read"]).await];
    let bob = fixture.member("bob@example.com", &["invitations:create"], None).await;
    let refused = fixture.invite(&bob, GRACE, &[tenant_wide(reader)]).await;
    assert_eq!(fields(refused), ["roles[0]"]);
    let (_, token) = fixture.invited(&bob, &[tenant_wide(empty)]).await;
    let system = Caller::system(fixture.ada.tenant(), "test");
    fixture.iam.users().suspend(&system, bob.user().unwrap()).await.unwrap();
    assert!(is_outdated(&fixture.accept(&token).await));
    fixture.iam.users().reactivate(&system, bob.user().unwrap()).await.unwrap();
    let grow = iam_core::role::RolePatch { permissions: Some(vec!["users:read".to_owned()]), ..Default::default() };
    fixture.iam.roles().update(&fixture.ada, empty, grow).await.unwrap();
    assert!(is_outdated(&fixture.accept(&token).await));
    let shrink = iam_core::role::RolePatch { permissions: Some(Vec::new()), ..Default::default() };
    fixture.iam.roles().update(&fixture.ada, empty, shrink).await.unwrap();
    fixture.accept(&token).await.unwrap();
}

#[tokio::test]
async fn an_invitation_by_trusted_code_is_accepted_without_an_inviter() {
    let fixture = Fixture::new().await;
    let admin = fixture.iam.roles().by_name(&fixture.ada, "TENANT_ADMIN").await.unwrap().unwrap().id;
    let system = Caller::system(fixture.ada.tenant(), "test");
    let (_, token) = fixture.invited(&system, &[tenant_wide(admin)]).await;
    fixture.accept(&token).await.unwrap();
}

#[tokio::test]
async fn in_an_organization_only_its_invitations_are_visible() {
    let fixture = Fixture::new().await;
    let root = fixture.organization("Root", None).await;
    let [branch, beside] =
        [fixture.organization("Branch", Some(root)).await, fixture.organization("Beside", Some(root)).await];
    let role = fixture.role("EMPTY", &[]).await;
    let bob = fixture.member("bob@example.com", &["invitations:*"], Some(branch)).await;
    assert!(matches!(fixture.invite(&bob, GRACE, &[]).await, Err(Error::Forbidden(Forbidden::Permission(_)))));
    let inside = fixture.invite(&bob, "inside@example.com", &[within(role, branch)]).await.unwrap();
    let outside = [
        fixture.invite(&fixture.ada, "a@example.com", &[]).await.unwrap(),
        fixture.invite(&fixture.ada, "b@example.com", &[within(role, beside)]).await.unwrap(),
        fixture.invite(&fixture.ada, "c@example.com", &[within(role, branch), within(role, root)]).await.unwrap(),
    ];
    let invitations = fixture.iam.invitations();
    for id in outside {
        assert!(matches!(invitations.get(&bob, id).await, Err(Error::NotFound(_))));
        assert!(matches!(invitations.resend(&bob, id).await, Err(Error::NotFound(_))));
        assert!(matches!(invitations.delete(&bob, id).await, Err(Error::NotFound(_))));
    }
    let all = invitations.list(&bob, &InvitationFilter::default(), PageRequest::default()).await.unwrap();
    assert_eq!((all.total, all.items[0].id), (1, inside));
    invitations.get(&bob, inside).await.unwrap();
    // A caller that can see the invitation learns which permission it lacks.
    let reader = fixture.member("reader.long@example.com", &["invitations:read"], Some(branch)).await;
    assert!(matches!(invitations.delete(&reader, inside).await, Err(Error::Forbidden(Forbidden::Permission(_)))));
    let other = fixture.member("other.longer@example.com", &["invitations:*"], Some(beside)).await;
    assert!(matches!(invitations.delete(&other, inside).await, Err(Error::NotFound(_))));
    invitations.resend(&bob, inside).await.unwrap();
    invitations.delete(&bob, inside).await.unwrap();
    assert_eq!(fixture.status(inside).await, InvitationStatus::Revoked);
    assert!(matches!(invitations.delete(&bob, inside).await, Err(Error::Conflict(Conflict::InvitationNotPending))));
}

#[tokio::test]
async fn a_caller_that_sees_an_invitation_but_may_not_change_it_is_forbidden_to() {
    let fixture = Fixture::new().await;
    let [branch, beside] = [fixture.organization("Branch", None).await, fixture.organization("Beside", None).await];
    let role = fixture.role("EMPTY", &[]).await;
    let inside = fixture.invite(&fixture.ada, GRACE, &[within(role, branch)]).await.unwrap();
    let bob = fixture.member("bob@example.com", &["invitations:read"], Some(branch)).await;
    let delete = fixture.role("DELETER", &["invitations:delete"]).await;
    let new = NewAssignment { user: bob.user().unwrap(), role: delete, organization: Some(beside), expires_at: None };
    fixture.iam.assignments().create(&fixture.ada, new).await.unwrap();
    let bob = fixture.log_in("bob@example.com", PASSWORD).await.unwrap();
    let refused = fixture.iam.invitations().delete(&bob, inside).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
}

#[tokio::test]
async fn an_invitation_expires_and_is_renewed_by_sending_it_again() {
    let fixture = Fixture::new().await;
    let (id, first) = fixture.invited(&fixture.ada, &[]).await;
    fixture.clock.advance(TimeDelta::days(7) - TimeDelta::milliseconds(1));
    let system = Caller::system(fixture.ada.tenant(), "test");
    let invitations = fixture.iam.invitations();
    invitations.resend(&system, id).await.unwrap();
    let second = fixture.token(MailKind::Invitation, GRACE).await;
    assert_eq!(fields(fixture.accept(&first).await), ["token"]);
    assert_eq!(invitations.get(&system, id).await.unwrap().expires_at, fixture.clock.now() + TimeDelta::days(7));
    fixture.clock.advance(TimeDelta::days(7));
    assert_eq!(fields(fixture.accept(&second).await), ["token"]);
    assert_eq!(invitations.get(&system, id).await.unwrap().status, InvitationStatus::Expired);
    let filter = InvitationFilter { status: Some(InvitationStatus::Expired), ..InvitationFilter::default() };
    let listed = invitations.list(&system, &filter, PageRequest::default()).await.unwrap();
    assert_eq!((listed.total, listed.items[0].status), (1, InvitationStatus::Expired));
    assert!(matches!(invitations.resend(&system, id).await, Err(Error::Conflict(Conflict::InvitationNotPending))));
}

#[tokio::test]
async fn beyond_three_messages_an_invitation_is_not_renewed() {
    let fixture = Fixture::new().await;
    let id = fixture.invite(&fixture.ada, GRACE, &[]).await.unwrap();
    for _ in 0..2 {
        fixture.mails().await;
        fixture.iam.invitations().resend(&fixture.ada, id).await.unwrap();
    }
    let token = fixture.token(MailKind::Invitation, GRACE).await;
    let before = fixture.entries().await;
    fixture.iam.invitations().resend(&fixture.ada, id).await.unwrap();
    assert!(fixture.mails().await.is_empty());
    assert_eq!(fixture.entries().await, before);
    fixture.accept(&token).await.unwrap();
}

#[tokio::test]
async fn without_mail_nobody_is_invited() {
    let iam = Iam::builder(Arc::new(MemoryStore::new())).settings(settings()).build().await.unwrap();
    let ada = caller(&iam, register(&iam, "ada@example.com").await).await;
    let new = NewInvitation { email: GRACE.to_owned(), ..NewInvitation::default() };
    assert!(matches!(iam.invitations().create(&ada, new).await, Err(Error::MailOff)));
    assert!(matches!(iam.verification().request(&ada).await, Err(Error::MailOff)));
    let forgot = iam.recovery().forgot(&RequestContext::default(), GRACE, None).await;
    assert!(matches!(forgot, Err(Error::MailOff)));
    assert_eq!(iam.deliver_mail().await.unwrap(), iam_core::mail::Delivery::default());
}

#[tokio::test]
async fn a_refused_message_is_sent_later() {
    let fixture = Fixture::new().await;
    fixture.answer(Answer::Refused);
    fixture.invite(&fixture.ada, GRACE, &[]).await.unwrap();
    let delivery = fixture.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.sent, delivery.postponed, delivery.given_up, delivery.dropped), (0, 1, 0, 0));
    fixture.answer(Answer::Accepted);
    assert!(fixture.mails().await.is_empty(), "it is due in a minute");
    fixture.clock.advance(TimeDelta::minutes(1));
    let delivery = fixture.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.sent, delivery.postponed, delivery.more), (1, 0, false));
}

#[tokio::test]
async fn a_delivery_says_whether_more_messages_are_due() {
    let fixture = Fixture::new().await;
    let mut outcomes = Vec::new();
    for count in [16, 15] {
        for number in 0..count {
            fixture.invite(&fixture.ada, &format!("b{count}-{number}@example.com"), &[]).await.unwrap();
        }
        let delivery = fixture.iam.deliver_mail().await.unwrap();
        outcomes.push((delivery.sent, delivery.more));
    }
    assert_eq!(outcomes, [(16, true), (15, false)]);
}

#[tokio::test]
async fn a_message_that_is_being_sent_is_not_sent_by_another_process() {
    let fixture = Fixture::new().await;
    fixture.invite(&fixture.ada, GRACE, &[]).await.unwrap();
    let (one, other) = tokio::join!(fixture.iam.deliver_mail(), fixture.iam.deliver_mail());
    assert_eq!(one.unwrap().sent + other.unwrap().sent, 1);
    assert_eq!(fixture.kinds().await, [MailKind::Invitation]);
}

#[tokio::test]
async fn a_queued_message_wakes_the_delivery() {
    let fixture = Fixture::new().await;
    // The registration has queued one.
    fixture.iam.mail_queued().await;
    let mut queued = Box::pin(fixture.iam.mail_queued());
    assert!(timeout(Duration::ZERO, &mut queued).await.is_err());
    fixture.invite(&fixture.ada, GRACE, &[]).await.unwrap();
    timeout(Duration::from_secs(30), queued).await.unwrap();
}

#[tokio::test]
async fn a_message_is_given_up_after_the_last_attempt() {
    let fixture = Fixture::new().await;
    fixture.answer(Answer::Refused);
    fixture.invite(&fixture.ada, GRACE, &[]).await.unwrap();
    let mut outcomes = Vec::new();
    for minutes in [0, 1, 5, 30, 120, 360] {
        fixture.clock.advance(TimeDelta::minutes(minutes));
        let delivery = fixture.iam.deliver_mail().await.unwrap();
        outcomes.push((delivery.postponed, delivery.given_up));
    }
    assert_eq!(outcomes, [(1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (0, 1)]);
    fixture.clock.advance(TimeDelta::days(1));
    assert_eq!(fixture.iam.deliver_mail().await.unwrap(), iam_core::mail::Delivery::default());
}

#[tokio::test]
async fn a_waiting_message_goes_out_with_the_newest_link_and_counts_once() {
    let fixture = Fixture::new().await;
    let id = fixture.invite(&fixture.ada, GRACE, &[]).await.unwrap();
    for _ in 0..5 {
        fixture.iam.invitations().resend(&fixture.ada, id).await.unwrap();
    }
    let delivery = fixture.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.sent, delivery.dropped), (1, 0));
    let first = fixture.token(MailKind::Invitation, GRACE).await;
    // Two more messages can be sent to the address in this hour.
    for _ in 0..3 {
        fixture.iam.invitations().resend(&fixture.ada, id).await.unwrap();
        fixture.iam.deliver_mail().await.unwrap();
    }
    let sent = fixture.mails().await;
    assert_eq!(sent.len(), 2);
    assert_eq!(fields(fixture.accept(&first).await), ["token"]);
    fixture.accept(&token_in(&sent[1])).await.unwrap();
}

#[tokio::test]
async fn a_message_whose_link_was_replaced_is_dropped() {
    let fixture = Fixture::new().await;
    let other = fixture.invite(&fixture.ada, "eve@example.com", &[]).await.unwrap();
    fixture.iam.invitations().delete(&fixture.ada, other).await.unwrap();
    assert_eq!(fixture.iam.deliver_mail().await.unwrap().dropped, 1);
}

#[tokio::test]
async fn a_link_begins_to_age_when_its_message_is_sent() {
    let fixture = Fixture::new().await;
    let id = fixture.invite(&fixture.ada, GRACE, &[]).await.unwrap();
    fixture.iam.verification().request(&fixture.ada).await.unwrap();
    let before = fixture.entries().await;
    fixture.clock.advance(TimeDelta::days(6));
    let mails = fixture.mails().await;
    assert_eq!(mails.iter().map(|mail| mail.kind).collect::<Vec<_>>(), [MailKind::Verify, MailKind::Invitation]);
    let invitation = fixture.iam.invitations().get(&Caller::system(fixture.ada.tenant(), "test"), id).await.unwrap();
    assert_eq!(invitation.expires_at, fixture.clock.now() + TimeDelta::days(7));
    assert_eq!(fixture.entries().await, before);
    let verification = fixture.iam.verification();
    let details = verification.look_up(&token_in(&mails[0])).await.unwrap();
    assert_eq!(details.expires_at, fixture.clock.now() + TimeDelta::days(1));
    fixture.clock.advance(TimeDelta::days(1) - TimeDelta::milliseconds(1));
    verification.look_up(&token_in(&mails[0])).await.unwrap();
    fixture.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(fields(verification.look_up(&token_in(&mails[0])).await), ["token"]);
    fixture.clock.advance(TimeDelta::days(6) - TimeDelta::milliseconds(1));
    fixture.accept(&token_in(&mails[1])).await.unwrap();
}

#[tokio::test]
async fn a_tenant_sends_a_limited_number_of_messages_in_an_hour() {
    let mut limited = settings();
    limited.quota.hourly_messages = 3;
    let fixture = Fixture::new().await.restarted(limited).await;
    fixture.clock.advance(TimeDelta::hours(1));
    for number in 0..5 {
        fixture.invite(&fixture.ada, &format!("guest-{number}@example.com"), &[]).await.unwrap();
    }
    assert_eq!(fixture.mails().await.len(), 3);
    // Those who invite many do not keep the users of the tenant from a new password, and no other tenant waits.
    // Messages that say nothing do not count.
    for number in 0..9 {
        let tenant = fixture.ada.tenant().to_string();
        let email = format!("unknown-{number}@example.com");
        fixture.iam.recovery().forgot(&RequestContext::default(), &email, Some(&tenant)).await.unwrap();
    }
    fixture.iam.recovery().forgot(&RequestContext::default(), "ada@example.com", None).await.unwrap();
    assert_eq!(fixture.kinds().await, [MailKind::Reset]);
    register(&fixture.iam, "eve@example.com").await;
    assert_eq!(fixture.kinds().await, [MailKind::Verify]);
    fixture.clock.advance(TimeDelta::hours(1) - TimeDelta::milliseconds(1));
    assert!(fixture.mails().await.is_empty());
    fixture.clock.advance(TimeDelta::milliseconds(1));
    let late = fixture.mails().await;
    assert_eq!(late.len(), 2);
    // Their links work as long as others.
    let expires_at = late[0].accounts[0].link.as_ref().unwrap().expires_at;
    assert_eq!(expires_at, fixture.clock.now() + TimeDelta::days(7));
}

#[tokio::test]
async fn links_to_new_addresses_do_not_keep_notices_from_the_users_of_a_tenant() {
    let mut limited = settings();
    limited.quota.hourly_messages = 3;
    let fixture = Fixture::new().await.restarted(limited).await;
    let ada = &fixture.ada;
    for number in 0..5 {
        let new = format!("ada-{number}@example.com");
        fixture.iam.verification().change_email(ada, &new, PASSWORD.into()).await.unwrap();
        fixture.mails().await;
    }
    fixture.iam.credentials().change_password(ada, PASSWORD.into(), NEW_PASSWORD.into()).await.unwrap();
    assert_eq!(fixture.kinds().await, [MailKind::PasswordChanged]);
    fixture.iam.recovery().start(&Caller::system(ada.tenant(), "test"), ada.user().unwrap()).await.unwrap();
    assert_eq!(fixture.kinds().await, [MailKind::Reset]);
}

#[tokio::test]
async fn the_administrators_are_told_that_their_tenant_will_be_deleted_and_that_it_will_not() {
    let fixture = Fixture::new().await;
    let other = caller(&fixture.iam, register(&fixture.iam, GRACE).await).await;
    fixture.mails().await;
    let operator = Caller::system(other.tenant(), "test");
    let new = || NewTenantDeletion { after: TimeDelta::days(30), keeps_log: true, reason: "Contract".to_owned() };
    fixture.iam.tenants().schedule_deletion(&operator, new()).await.unwrap();
    let mails = fixture.mails().await;
    let sent: Vec<_> = mails.iter().map(|mail| (mail.kind, mail.to.as_str())).collect();
    assert_eq!(sent, [(MailKind::TenantDeletionScheduled, GRACE)]);
    // A refused call tells nobody.
    fixture.iam.tenants().schedule_deletion(&operator, new()).await.unwrap_err();
    assert_eq!(fixture.kinds().await, []);
    fixture.iam.tenants().cancel_deletion(&operator, "It goes on").await.unwrap();
    let mails = fixture.mails().await;
    let sent: Vec<_> = mails.iter().map(|mail| (mail.kind, mail.to.as_str())).collect();
    assert_eq!(sent, [(MailKind::TenantDeletionCancelled, GRACE)]);
    fixture.iam.tenants().cancel_deletion(&operator, "It goes on").await.unwrap_err();
    assert_eq!(fixture.kinds().await, []);
}

#[tokio::test]
async fn a_message_goes_to_the_address_on_record() {
    // The sign for Kelvin and the full-width letter are a letter K for comparisons, and other mailboxes for a mail
    // server.
    const TYPED: &str = "\u{212A}elvin@example.com";
    const OTHER: &str = "\u{FF4B}elvin@example.com";
    let fixture = Fixture::new().await;
    let kelvin = register(&fixture.iam, "kelvin@example.com").await;
    fixture.mails().await;
    let to =
        async || fixture.mails().await.into_iter().map(|mail| (mail.kind, mail.to.to_string())).collect::<Vec<_>>();
    let expected = |kind, to: &str| vec![(kind, to.to_owned())];
    let tenant = kelvin.tenant.id.to_string();
    for tenant in [None, Some(tenant.as_str())] {
        fixture.iam.recovery().forgot(&RequestContext::default(), TYPED, tenant).await.unwrap();
        assert_eq!(to().await, expected(MailKind::Reset, "kelvin@example.com"));
    }
    for _ in 0..5 {
        let login = Login { email: TYPED.into(), password: "wrong".into(), tenant: Some(tenant.clone()) };
        fixture.iam.sessions().login(&RequestContext::default(), login).await.unwrap_err();
    }
    assert_eq!(to().await, expected(MailKind::NewLoginBlocked, "kelvin@example.com"));
    // An account with the other spelling in another tenant gets a message of its own: each with its own link.
    register(&fixture.iam, OTHER).await;
    assert_eq!(to().await, expected(MailKind::Verify, OTHER));
    fixture.clock.advance(TimeDelta::hours(1));
    fixture.iam.recovery().forgot(&RequestContext::default(), "Kelvin@example.com", None).await.unwrap();
    let mails = fixture.mails().await;
    let mut sent: Vec<_> = mails.iter().map(|mail| (mail.to.as_str(), mail.accounts.len())).collect();
    sent.sort_unstable();
    assert_eq!(sent, [("kelvin@example.com", 1), (OTHER, 1)]);
    assert_ne!(mails[0].id, mails[1].id);
    for mail in &mails {
        let details = fixture.iam.recovery().look_up(&token_in(mail)).await.unwrap();
        assert_eq!(details.email.as_str(), mail.to.as_str());
    }
}

#[tokio::test]
async fn of_several_links_the_one_that_arrives_last_works() {
    let fixture = Fixture::new().await;
    let forgot = async || {
        fixture.iam.recovery().forgot(&RequestContext::default(), "ada@example.com", None).await.unwrap();
    };
    forgot().await;
    // Requests come while the first message is on its way.
    tokio::join!(
        async { fixture.iam.deliver_mail().await.unwrap() },
        async { fixture.iam.deliver_mail().await.unwrap() },
        async {
            forgot().await;
            forgot().await;
        }
    );
    let mails = fixture.mails().await;
    assert!((1..=2).contains(&mails.len()), "{}", mails.len());
    let last = token_in(mails.last().unwrap());
    fixture.iam.recovery().reset(&RequestContext::default(), &last, NEW_PASSWORD.into()).await.unwrap();
}

#[tokio::test]
async fn a_link_verifies_the_address_once() {
    let fixture = Fixture::new().await;
    fixture.iam.verification().request(&fixture.ada).await.unwrap();
    let token = fixture.token(MailKind::Verify, "ada@example.com").await;
    let verification = fixture.iam.verification();
    let details = verification.look_up(&token).await.unwrap();
    assert_eq!(
        (details.email.as_str(), details.expires_at),
        ("ada@example.com", fixture.clock.now() + TimeDelta::days(1))
    );
    assert_eq!(fields(fixture.iam.recovery().look_up(&token).await), ["token"]);
    verification.verify(&RequestContext::default(), &token).await.unwrap();
    assert_eq!(fields(verification.verify(&RequestContext::default(), &token).await), ["token"]);
    let user = fixture.iam.users().get(&fixture.ada, fixture.ada.user().unwrap()).await.unwrap();
    assert_eq!(user.email_verified_at, Some(fixture.clock.now()));
    // Nothing is left to do.
    verification.request(&fixture.ada).await.unwrap();
    assert!(fixture.mails().await.is_empty());
}

/// A verified user needs no link for its own address.
#[tokio::test]
async fn a_link_is_sent_to_an_address_that_is_new_or_not_verified() {
    let fixture = Fixture::new().await;
    let verification = fixture.iam.verification();
    let (own, new) = ("ada@example.com", "new@example.com");
    verification.change_email(&fixture.ada, own, PASSWORD.into()).await.unwrap();
    let token = fixture.token(MailKind::Verify, own).await;
    verification.verify(&RequestContext::default(), &token).await.unwrap();
    assert!(fixture.mails().await.is_empty());
    verification.change_email(&fixture.ada, own, PASSWORD.into()).await.unwrap();
    assert!(fixture.mails().await.is_empty());
    verification.change_email(&fixture.ada, new, PASSWORD.into()).await.unwrap();
    let token = fixture.token(MailKind::Verify, new).await;
    verification.verify(&RequestContext::default(), &token).await.unwrap();
    assert_eq!(fixture.kinds().await, [MailKind::EmailChanged]);
    let user = fixture.iam.users().get(&fixture.ada, fixture.ada.user().unwrap()).await.unwrap();
    assert_eq!(user.email.as_str(), new);
}

#[tokio::test]
async fn an_accepted_invitation_says_until_when_a_factor_is_needed() {
    let fixture = Fixture::new().await;
    let (second_factor, second_factor_grace_days) = (Some(SecondFactorPolicy::Required), Some(7));
    let patch = TenantPatch { second_factor, second_factor_grace_days, ..TenantPatch::default() };
    let system = Caller::system(fixture.ada.tenant(), "test");
    fixture.iam.tenants().update(&system, fixture.ada.tenant(), patch).await.unwrap();
    let (_, token) = fixture.invited(&system, &[]).await;
    let accepted = fixture.accept(&token).await.unwrap();
    assert_eq!(accepted.login.enrol_by, Some(fixture.clock.now() + TimeDelta::days(7)));
}

#[tokio::test]
async fn a_new_address_counts_when_its_link_is_used() {
    let fixture = Fixture::new().await;
    let verification = fixture.iam.verification();
    let new = "new@example.com";
    assert_eq!(fields(verification.change_email(&fixture.ada, "no address", PASSWORD.into()).await), ["newEmail"]);
    assert_eq!(fields(verification.change_email(&fixture.ada, new, NEW_PASSWORD.into()).await), ["currentPassword"]);
    verification.change_email(&fixture.ada, new, PASSWORD.into()).await.unwrap();
    let token = fixture.token(MailKind::Verify, new).await;
    let email =
        async || fixture.iam.users().get(&fixture.ada, fixture.ada.user().unwrap()).await.unwrap().email.to_string();
    assert_eq!(email().await, "ada@example.com");
    verification.verify(&RequestContext::default(), &token).await.unwrap();
    assert_eq!(email().await, new);
    let mails = fixture.mails().await;
    assert_eq!((mails[0].kind, mails[0].to.as_str()), (MailKind::EmailChanged, "ada@example.com"));
}

/// A thief of the session has asked for the link.
#[tokio::test]
async fn a_link_to_a_new_address_ends_with_the_sessions() {
    for way in [
        "logout",
        "suspend",
        "delete",
        "logout-all",
        "logout-user",
        "terminate",
        "password",
        "new factor",
        "own factor",
        "factors",
        "end-all",
        "end-all of user",
        "tenant",
        "reuse",
    ] {
        let fixture = Fixture::new().await;
        let (iam, ada, system) = (&fixture.iam, &fixture.ada, Caller::system(fixture.ada.tenant(), "test"));
        let thief = fixture.member(GRACE, &["users:read"], None).await;
        let (grace, session) = thief.require_user().unwrap();
        iam.verification().change_email(&thief, "thief@example.com", PASSWORD.into()).await.unwrap();
        let token = fixture.token(MailKind::Verify, "thief@example.com").await;
        match way {
            "logout" => iam.sessions().logout(&thief).await.unwrap(),
            "suspend" => {
                iam.users().suspend(ada, grace).await.unwrap();
                iam.users().reactivate(ada, grace).await.unwrap();
            }
            "delete" => {
                iam.users().delete(ada, grace).await.unwrap();
                let active = UserPatch { status: Some(UserStatus::Active), ..UserPatch::default() };
                iam.users().update(ada, grace, active).await.unwrap();
            }
            "logout-all" => {
                let owner = fixture.log_in(GRACE, PASSWORD).await.unwrap();
                iam.sessions().logout_all(&owner).await.unwrap();
            }
            "logout-user" => iam.sessions().logout_user(ada, grace).await.unwrap(),
            "password" => {
                let owner = fixture.log_in(GRACE, PASSWORD).await.unwrap();
                iam.credentials().change_password(&owner, PASSWORD.into(), NEW_PASSWORD.into()).await.unwrap();
            }
            "new factor" => {
                fixture.enrol(&fixture.log_in(GRACE, PASSWORD).await.unwrap()).await;
            }
            "own factor" => {
                let owner = fixture.log_in(GRACE, PASSWORD).await.unwrap();
                let factor = fixture.enrol(&owner).await;
                iam.factors().remove(&owner, factor).await.unwrap();
            }
            "factors" => {
                fixture.enrol(&fixture.log_in(GRACE, PASSWORD).await.unwrap()).await;
                iam.factors().reset(ada, grace).await.unwrap();
            }
            "end-all" => drop(iam.sessions().end_all(&system).await.unwrap()),
            "end-all of user" => drop(iam.sessions().end_all_with_email(&system, GRACE).await.unwrap()),
            "tenant" => {
                iam.tenants().suspend(&system).await.unwrap();
                iam.tenants().reactivate(&system).await.unwrap();
            }
            "reuse" => {
                let login = Login { email: GRACE.to_owned(), password: PASSWORD.into(), tenant: None };
                let context = RequestContext::default();
                let login = iam.sessions().login(&context, login).await.unwrap();
                iam.sessions().refresh(&context, &login.tokens.refresh).await.unwrap();
                fixture.clock.advance(TimeDelta::minutes(1));
                iam.sessions().refresh(&context, &login.tokens.refresh).await.unwrap_err();
            }
            _ => iam.sessions().terminate(ada, session).await.unwrap(),
        }
        let verified = iam.verification().verify(&RequestContext::default(), &token).await;
        assert_eq!(verified.is_ok(), way == "logout", "{way}: {verified:?}");
    }
}

#[tokio::test]
async fn a_link_to_the_own_address_outlives_the_sessions() {
    let fixture = Fixture::new().await;
    fixture.iam.verification().request(&fixture.ada).await.unwrap();
    let token = fixture.token(MailKind::Verify, "ada@example.com").await;
    fixture.iam.sessions().logout_all(&fixture.ada).await.unwrap();
    fixture.iam.verification().verify(&RequestContext::default(), &token).await.unwrap();
}

#[tokio::test]
async fn every_new_password_follows_the_policy_of_the_tenant() {
    let fixture = Fixture::new().await;
    let (name, password_policy) = (Some("Analytical Engines".to_owned()), Some(PasswordPolicy::Nist));
    let patch = TenantPatch { name, password_policy, ..TenantPatch::default() };
    fixture.iam.tenants().update(&fixture.ada, fixture.ada.tenant(), patch).await.unwrap();
    let (_, token) = fixture.invited(&fixture.ada, &[]).await;
    for bad in [PASSWORD, "grace.hopper123", "qwertyuiopasdfgh", "analytical-engines"] {
        let accepted = fixture.iam.invitations().accept(&RequestContext::default(), acceptance(&token, bad)).await;
        assert_eq!(fields(accepted), ["password"], "{bad}");
        let new = NewUser { password: bad.into(), email: GRACE.to_owned(), ..new_user(GRACE) };
        let new = NewUser { first_name: "Grace".to_owned(), last_name: "Hopper".to_owned(), ..new };
        assert_eq!(fields(fixture.iam.users().create(&fixture.ada, new).await), ["password"], "{bad}");
    }
    let good = "quartz lemur zigzag";
    fixture.iam.invitations().accept(&RequestContext::default(), acceptance(&token, good)).await.unwrap();
    assert_eq!(fixture.iam.settings().breached_passwords, None);
}

#[tokio::test]
async fn a_file_of_breached_passwords_must_be_usable() {
    let mut missing = settings();
    missing.breached_passwords = Some("/does/not/exist".into());
    let refused = Iam::builder(Arc::new(MemoryStore::new())).settings(missing).build().await;
    assert_eq!(fields(refused.map(drop)), ["breached_passwords"]);
}

#[tokio::test]
async fn the_removal_of_confirmed_factors_is_told_to_the_user() {
    let fixture = Fixture::new().await;
    let user = fixture.iam.users().create(&fixture.ada, new_user(GRACE)).await.unwrap().id;
    fixture.mails().await;
    let login = || Login { email: GRACE.to_owned(), password: PASSWORD.into(), tenant: None };
    let factors = fixture.iam.factors();
    let set_up = async |is_confirmed: bool| {
        let logged_in = fixture.iam.sessions().login(&RequestContext::default(), login()).await.unwrap();
        let access = logged_in.tokens.access.expose();
        let grace = fixture.iam.authenticate(access, RequestContext::default()).await.unwrap();
        let setup = factors.add_totp(&grace, None).await.unwrap();
        let app = totp_rs::Totp::from_url(setup.uri.expose()).unwrap();
        let code = app.generate(fixture.clock.now().timestamp().try_into().unwrap()).to_string();
        if is_confirmed {
            factors.confirm_totp(&grace, setup.id, &code.into()).await.unwrap();
            assert_eq!(fixture.kinds().await, [MailKind::FactorAdded]);
        }
    };
    set_up(false).await;
    factors.reset(&fixture.ada, user).await.unwrap();
    assert_eq!(fixture.kinds().await, []);
    set_up(true).await;
    factors.reset(&fixture.ada, user).await.unwrap();
    assert_eq!(fixture.kinds().await, [MailKind::FactorRemoved]);
}

/// Who takes an account over could delete it at once, so that its owner learns nothing.
#[tokio::test]
async fn a_changed_address_is_told_to_the_former_one_also_when_the_user_is_deleted() {
    for at_once in [true, false] {
        let fixture = Fixture::new().await;
        let user = fixture.iam.users().create(&fixture.ada, new_user(GRACE)).await.unwrap().id;
        fixture.mails().await;
        let (email, inactive) = (Some("thief@example.com".to_owned()), UserStatus::Inactive);
        let status = at_once.then_some(inactive);
        fixture
            .iam
            .users()
            .update(&fixture.ada, user, UserPatch { email, status, ..UserPatch::default() })
            .await
            .unwrap();
        if !at_once {
            fixture.iam.users().delete(&fixture.ada, user).await.unwrap();
        }
        let mails = fixture.mails().await;
        let told: Vec<_> = mails.iter().map(|mail| (mail.kind, mail.to.as_str())).collect();
        assert_eq!(told, [(MailKind::EmailChanged, GRACE)], "{at_once}");
    }
}

/// Who can cause three harmless notices must not hide the fourth.
#[tokio::test]
async fn notices_beyond_the_limit_are_sent_as_one_when_the_limit_allows_it() {
    let fixture = Fixture::new().await;
    fixture.enrol(&fixture.ada).await;
    fixture.mails().await;
    let replace = async || drop(fixture.iam.factors().issue_recovery_codes(&fixture.ada).await.unwrap());
    for _ in 0..3 {
        replace().await;
        assert_eq!(fixture.kinds().await, [MailKind::RecoveryCodesReplaced]);
        fixture.clock.advance(TimeDelta::minutes(2));
    }
    for _ in 0..3 {
        replace().await;
        assert_eq!(fixture.kinds().await, []);
    }
    fixture.clock.advance(TimeDelta::minutes(54) - TimeDelta::milliseconds(1));
    assert_eq!(fixture.kinds().await, []);
    fixture.clock.advance(TimeDelta::milliseconds(1));
    assert_eq!(fixture.kinds().await, [MailKind::RecoveryCodesReplaced]);
    fixture.clock.advance(TimeDelta::days(1));
    assert_eq!(fixture.kinds().await, []);
}

#[tokio::test]
async fn a_new_secret_of_a_key_is_told_to_the_person() {
    let fixture = Fixture::new().await;
    let grace = fixture.member(GRACE, &["users:read"], None).await;
    let user = grace.user().unwrap();
    let new = || NewApiKey { name: "key".to_owned(), permissions: Some(vec![]), ..NewApiKey::default() };
    let key = fixture.iam.api_keys().create(&grace, user, new()).await.unwrap().key.id;
    assert_eq!(fixture.kinds().await, [MailKind::ApiKeyCreated]);
    fixture.iam.api_keys().rotate(&grace, key, TimeDelta::zero()).await.unwrap();
    assert_eq!(fixture.kinds().await, [MailKind::ApiKeyCreated]);
    fixture.iam.api_keys().rotate(&fixture.ada, key, TimeDelta::zero()).await.unwrap();
    let mails = fixture.mails().await;
    assert_eq!((mails[0].kind, mails[0].to.as_str(), mails.len()), (MailKind::ApiKeyCreated, GRACE, 1));
}

#[tokio::test]
async fn a_message_that_is_refused_for_good_is_given_up_at_once() {
    let fixture = Fixture::new().await;
    fixture.answer(Answer::RefusedForGood);
    fixture.invite(&fixture.ada, GRACE, &[]).await.unwrap();
    let delivery = fixture.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.postponed, delivery.given_up), (0, 1));
    fixture.answer(Answer::Accepted);
    fixture.clock.advance(TimeDelta::days(1));
    assert_eq!(fixture.iam.deliver_mail().await.unwrap(), iam_core::mail::Delivery::default());
}
