//! What people do with the links in their messages: they accept invitations, verify addresses and choose new passwords.

mod recovery;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use iam_core::assignment::NewAssignment;
use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::credential::HashingCost;
use iam_core::factor::SecondFactorPolicy;
use iam_core::invitation::{Acceptance, InvitationFilter, InvitationStatus, InvitedRole, NewInvitation};
use iam_core::mail::{LinkPages, Mail, MailError, MailKind, Mailer};
use iam_core::organization::NewOrganization;
use iam_core::page::PageRequest;
use iam_core::role::NewRole;
use iam_core::secret::LinkToken;
use iam_core::session::Login;
use iam_core::tenant::{PasswordPolicy, Registered, Registration, TenantPatch};
use iam_core::user::{NewUser, UserPatch};
use iam_core::{
    Caller, Conflict, Error, Forbidden, Iam, InvitationId, OrganizationId, RequestContext, Result, RoleId, Settings,
    Store,
};
use iam_model::clock::Clock;
use iam_model::clock::testing::FixedClock;
use iam_store_memory::MemoryStore;
use tokio::time::timeout;

const PASSWORD: &str = "Passw0rd!";
const NEW_PASSWORD: &str = "N3w&Password";
const GRACE: &str = "grace@example.com";

/// A mailer that keeps the messages.
#[derive(Clone, Default)]
struct Letters(Arc<Mutex<(Answer, Vec<Mail>)>>);

/// What the mailer does with a message.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Answer {
    #[default]
    Accepted,
    Refused,
    /// The message is sent, but the answer does not arrive.
    Lost,
}

#[async_trait]
impl Mailer for Letters {
    async fn send(&self, mail: &Mail) -> std::result::Result<(), MailError> {
        // Another delivery can begin meanwhile.
        tokio::task::yield_now().await;
        let mut letters = self.0.lock().unwrap();
        if letters.0 != Answer::Refused {
            letters.1.push(mail.clone());
        }
        if letters.0 == Answer::Accepted { Ok(()) } else { Err("451 try again later".into()) }
    }
}

/// A service that sends mail, with the administrator of a tenant.
struct Post {
    iam: Iam,
    store: Arc<MemoryStore>,
    clock: FixedClock,
    letters: Letters,
    ada: Caller,
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };
    settings
}

async fn open(store: &Arc<MemoryStore>, settings: Settings, clock: &FixedClock, letters: &Letters) -> Iam {
    let page = |name: &str| format!("https://example.com/{name}#{{token}}").parse().unwrap();
    let pages = LinkPages { verify: page("verify"), reset: page("reset"), invitation: page("invitation") };
    let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(store);
    let builder = Iam::builder(store).settings(settings).clock(clock.clone());
    builder.mail(Arc::new(letters.clone()), pages).build().await.unwrap()
}

impl Post {
    async fn new() -> Self {
        let (store, clock) = (Arc::new(MemoryStore::new()), FixedClock::at("2026-01-31T09:15:00.123Z"));
        let letters = Letters::default();
        let iam = open(&store, settings(), &clock, &letters).await;
        let ada = caller(&iam, register(&iam, "ada@example.com").await).await;
        let post = Self { iam, store, clock, letters, ada };
        post.mails().await;
        post
    }

    /// The same service with other settings.
    async fn restarted(self, settings: Settings) -> Self {
        let iam = open(&self.store, settings, &self.clock, &self.letters).await;
        Self { iam, ..self }
    }

    /// What the mailer does from now on.
    fn answer(&self, answer: Answer) {
        self.letters.0.lock().unwrap().0 = answer;
    }

    async fn mails(&self) -> Vec<Mail> {
        while self.iam.deliver_mail().await.unwrap().more {}
        std::mem::take(&mut self.letters.0.lock().unwrap().1)
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
    let post = Post::new().await;
    let branch = post.organization("Branch", None).await;
    let [first, second] = [post.role("FIRST", &["users:read"]).await, post.role("SECOND", &[]).await];
    let third = post.role("THIRD", &[]).await;
    let within_hours = |role, hours| {
        let expires_at = Some(post.clock.now() + TimeDelta::hours(hours));
        InvitedRole { expires_at, ..tenant_wide(role) }
    };
    let roles = [within(first, branch), within_hours(second, 1), within_hours(third, 2)];
    let (id, token) = post.invited(&post.ada, &roles).await;
    assert_eq!(post.status(id).await, InvitationStatus::Pending);
    let details = post.iam.invitations().look_up(&token).await.unwrap();
    assert_eq!((details.email.as_str(), details.tenant.as_str()), (GRACE, "Ada Lovelace"));
    post.clock.advance(TimeDelta::hours(1));
    let before = post.entries().await;
    let grace = post.accept(&token).await.unwrap();
    // The user, two role assignments, the invitation and the session.
    assert_eq!(post.entries().await - before, 5);
    let user = grace.login.user;
    assert_eq!((user.email.as_str(), user.email_verified_at), (GRACE, Some(post.clock.now())));
    let grants = post.iam.assignments().of_user(&Caller::system(user.tenant_id, "test"), user.id).await.unwrap();
    let held: Vec<_> = grants.iter().map(|grant| &grant.assignment).collect();
    let mut shown: Vec<_> = held.iter().map(|held| (held.role_id, held.organization_id, held.created_by)).collect();
    shown.sort_unstable();
    let mut expected = [(first, Some(branch), post.ada.user()), (third, None, post.ada.user())];
    expected.sort_unstable();
    assert_eq!(shown, expected);
    assert_eq!(post.status(id).await, InvitationStatus::Accepted);
    assert_eq!(fields(post.accept(&token).await), ["token"]);
    assert_eq!(fields(post.iam.invitations().look_up(&token).await), ["token"]);
}

#[tokio::test]
async fn an_invitation_names_what_is_wrong_with_it() {
    let post = Post::new().await;
    let role = post.role("FIRST", &[]).await;
    let before = post.entries().await;
    for taken in ["ada@example.com", "ADA@example.com"] {
        assert_eq!(fields(post.invite(&post.ada, taken, &[]).await), ["email"]);
    }
    assert_eq!(fields(post.invite(&post.ada, "no address", &[]).await), ["email"]);
    assert_eq!(fields(post.invite(&post.ada, GRACE, &[tenant_wide(role); 2]).await), ["roles[1].roleId"]);
    let past = InvitedRole { expires_at: Some(post.clock.now()), ..tenant_wide(role) };
    assert_eq!(fields(post.invite(&post.ada, GRACE, &[past]).await), ["roles[0].expiresAt"]);
    let many = |count: u128| -> Vec<InvitedRole> {
        (0..count).map(|n| tenant_wide(uuid::Uuid::from_u128(n).into())).collect()
    };
    assert_eq!(fields(post.invite(&post.ada, GRACE, &many(51)).await), ["roles"]);
    // As many as are allowed, and the first does not exist.
    assert_eq!(fields(post.invite(&post.ada, GRACE, &many(50)).await), ["roles[0].roleId"]);
    assert_eq!(post.entries().await, before);
    post.invite(&post.ada, GRACE, &[tenant_wide(role)]).await.unwrap();
    assert_eq!(fields(post.invite(&post.ada, "Grace@example.com", &[]).await), ["email"]);
}

#[tokio::test]
async fn an_inviter_gives_only_what_it_holds_then_and_now() {
    let post = Post::new().await;
    let [empty, reader] = [post.role("EMPTY", &[]).await, post.role("READER", &["users:read"]).await];
    let bob = post.member("bob@example.com", &["invitations:create"], None).await;
    let refused = post.invite(&bob, GRACE, &[tenant_wide(reader)]).await;
    assert_eq!(fields(refused), ["roles[0]"]);
    let (_, token) = post.invited(&bob, &[tenant_wide(empty)]).await;
    let system = Caller::system(post.ada.tenant(), "test");
    post.iam.users().suspend(&system, bob.user().unwrap()).await.unwrap();
    assert!(is_outdated(&post.accept(&token).await));
    post.iam.users().reactivate(&system, bob.user().unwrap()).await.unwrap();
    let grow = iam_core::role::RolePatch { permissions: Some(vec!["users:read".to_owned()]), ..Default::default() };
    post.iam.roles().update(&post.ada, empty, grow).await.unwrap();
    assert!(is_outdated(&post.accept(&token).await));
    let shrink = iam_core::role::RolePatch { permissions: Some(Vec::new()), ..Default::default() };
    post.iam.roles().update(&post.ada, empty, shrink).await.unwrap();
    post.accept(&token).await.unwrap();
}

#[tokio::test]
async fn an_invitation_by_trusted_code_is_accepted_without_an_inviter() {
    let post = Post::new().await;
    let admin = post.iam.roles().by_name(&post.ada, "TENANT_ADMIN").await.unwrap().unwrap().id;
    let system = Caller::system(post.ada.tenant(), "test");
    let (_, token) = post.invited(&system, &[tenant_wide(admin)]).await;
    post.accept(&token).await.unwrap();
}

#[tokio::test]
async fn in_an_organization_only_its_invitations_are_visible() {
    let post = Post::new().await;
    let root = post.organization("Root", None).await;
    let [branch, beside] =
        [post.organization("Branch", Some(root)).await, post.organization("Beside", Some(root)).await];
    let role = post.role("EMPTY", &[]).await;
    let bob = post.member("bob@example.com", &["invitations:*"], Some(branch)).await;
    assert!(matches!(post.invite(&bob, GRACE, &[]).await, Err(Error::Forbidden(Forbidden::Permission(_)))));
    let inside = post.invite(&bob, "inside@example.com", &[within(role, branch)]).await.unwrap();
    let outside = [
        post.invite(&post.ada, "a@example.com", &[]).await.unwrap(),
        post.invite(&post.ada, "b@example.com", &[within(role, beside)]).await.unwrap(),
        post.invite(&post.ada, "c@example.com", &[within(role, branch), within(role, root)]).await.unwrap(),
    ];
    let invitations = post.iam.invitations();
    for id in outside {
        assert!(matches!(invitations.get(&bob, id).await, Err(Error::NotFound(_))));
        assert!(matches!(invitations.resend(&bob, id).await, Err(Error::NotFound(_))));
        assert!(matches!(invitations.delete(&bob, id).await, Err(Error::NotFound(_))));
    }
    let all = invitations.list(&bob, &InvitationFilter::default(), PageRequest::default()).await.unwrap();
    assert_eq!((all.total, all.items[0].id), (1, inside));
    invitations.get(&bob, inside).await.unwrap();
    // A caller that can see the invitation learns which permission it lacks.
    let reader = post.member("reader.long@example.com", &["invitations:read"], Some(branch)).await;
    assert!(matches!(invitations.delete(&reader, inside).await, Err(Error::Forbidden(Forbidden::Permission(_)))));
    let other = post.member("other.longer@example.com", &["invitations:*"], Some(beside)).await;
    assert!(matches!(invitations.delete(&other, inside).await, Err(Error::NotFound(_))));
    invitations.resend(&bob, inside).await.unwrap();
    invitations.delete(&bob, inside).await.unwrap();
    assert_eq!(post.status(inside).await, InvitationStatus::Revoked);
    assert!(matches!(invitations.delete(&bob, inside).await, Err(Error::Conflict(Conflict::InvitationNotPending))));
}

#[tokio::test]
async fn a_caller_that_sees_an_invitation_but_may_not_change_it_is_forbidden_to() {
    let post = Post::new().await;
    let [branch, beside] = [post.organization("Branch", None).await, post.organization("Beside", None).await];
    let role = post.role("EMPTY", &[]).await;
    let inside = post.invite(&post.ada, GRACE, &[within(role, branch)]).await.unwrap();
    let bob = post.member("bob@example.com", &["invitations:read"], Some(branch)).await;
    let delete = post.role("DELETER", &["invitations:delete"]).await;
    let new = NewAssignment { user: bob.user().unwrap(), role: delete, organization: Some(beside), expires_at: None };
    post.iam.assignments().create(&post.ada, new).await.unwrap();
    let bob = post.log_in("bob@example.com", PASSWORD).await.unwrap();
    let refused = post.iam.invitations().delete(&bob, inside).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
}

#[tokio::test]
async fn an_invitation_expires_and_is_renewed_by_sending_it_again() {
    let post = Post::new().await;
    let (id, first) = post.invited(&post.ada, &[]).await;
    post.clock.advance(TimeDelta::days(7) - TimeDelta::milliseconds(1));
    let system = Caller::system(post.ada.tenant(), "test");
    let invitations = post.iam.invitations();
    invitations.resend(&system, id).await.unwrap();
    let second = post.token(MailKind::Invitation, GRACE).await;
    assert_eq!(fields(post.accept(&first).await), ["token"]);
    assert_eq!(invitations.get(&system, id).await.unwrap().expires_at, post.clock.now() + TimeDelta::days(7));
    post.clock.advance(TimeDelta::days(7));
    assert_eq!(fields(post.accept(&second).await), ["token"]);
    assert_eq!(invitations.get(&system, id).await.unwrap().status, InvitationStatus::Expired);
    let filter = InvitationFilter { status: Some(InvitationStatus::Expired), ..InvitationFilter::default() };
    let listed = invitations.list(&system, &filter, PageRequest::default()).await.unwrap();
    assert_eq!((listed.total, listed.items[0].status), (1, InvitationStatus::Expired));
    assert!(matches!(invitations.resend(&system, id).await, Err(Error::Conflict(Conflict::InvitationNotPending))));
}

#[tokio::test]
async fn beyond_three_messages_an_invitation_is_not_renewed() {
    let post = Post::new().await;
    let id = post.invite(&post.ada, GRACE, &[]).await.unwrap();
    for _ in 0..2 {
        post.mails().await;
        post.iam.invitations().resend(&post.ada, id).await.unwrap();
    }
    let token = post.token(MailKind::Invitation, GRACE).await;
    let before = post.entries().await;
    post.iam.invitations().resend(&post.ada, id).await.unwrap();
    assert!(post.mails().await.is_empty());
    assert_eq!(post.entries().await, before);
    post.accept(&token).await.unwrap();
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
    let post = Post::new().await;
    post.answer(Answer::Refused);
    post.invite(&post.ada, GRACE, &[]).await.unwrap();
    let delivery = post.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.sent, delivery.postponed, delivery.given_up, delivery.dropped), (0, 1, 0, 0));
    post.answer(Answer::Accepted);
    assert!(post.mails().await.is_empty(), "it is due in a minute");
    post.clock.advance(TimeDelta::minutes(1));
    let delivery = post.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.sent, delivery.postponed, delivery.more), (1, 0, false));
}

#[tokio::test]
async fn a_delivery_says_whether_more_messages_are_due() {
    let post = Post::new().await;
    let mut outcomes = Vec::new();
    for count in [16, 15] {
        for number in 0..count {
            post.invite(&post.ada, &format!("b{count}-{number}@example.com"), &[]).await.unwrap();
        }
        let delivery = post.iam.deliver_mail().await.unwrap();
        outcomes.push((delivery.sent, delivery.more));
    }
    assert_eq!(outcomes, [(16, true), (15, false)]);
}

#[tokio::test]
async fn a_message_that_is_being_sent_is_not_sent_by_another_process() {
    let post = Post::new().await;
    post.invite(&post.ada, GRACE, &[]).await.unwrap();
    let (one, other) = tokio::join!(post.iam.deliver_mail(), post.iam.deliver_mail());
    assert_eq!(one.unwrap().sent + other.unwrap().sent, 1);
    assert_eq!(post.kinds().await, [MailKind::Invitation]);
}

#[tokio::test]
async fn a_queued_message_wakes_the_delivery() {
    let post = Post::new().await;
    // The registration has queued one.
    post.iam.mail_queued().await;
    let mut queued = Box::pin(post.iam.mail_queued());
    assert!(timeout(Duration::ZERO, &mut queued).await.is_err());
    post.invite(&post.ada, GRACE, &[]).await.unwrap();
    timeout(Duration::from_secs(30), queued).await.unwrap();
}

#[tokio::test]
async fn a_message_is_given_up_after_the_last_attempt() {
    let post = Post::new().await;
    post.answer(Answer::Refused);
    post.invite(&post.ada, GRACE, &[]).await.unwrap();
    let mut outcomes = Vec::new();
    for minutes in [0, 1, 5, 30, 120, 360] {
        post.clock.advance(TimeDelta::minutes(minutes));
        let delivery = post.iam.deliver_mail().await.unwrap();
        outcomes.push((delivery.postponed, delivery.given_up));
    }
    assert_eq!(outcomes, [(1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (0, 1)]);
    post.clock.advance(TimeDelta::days(1));
    assert_eq!(post.iam.deliver_mail().await.unwrap(), iam_core::mail::Delivery::default());
}

#[tokio::test]
async fn a_message_whose_link_was_replaced_is_dropped() {
    let post = Post::new().await;
    let id = post.invite(&post.ada, GRACE, &[]).await.unwrap();
    post.iam.invitations().resend(&post.ada, id).await.unwrap();
    let delivery = post.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.sent, delivery.dropped), (1, 1));
    let other = post.invite(&post.ada, "eve@example.com", &[]).await.unwrap();
    post.iam.invitations().delete(&post.ada, other).await.unwrap();
    assert_eq!(post.iam.deliver_mail().await.unwrap().dropped, 1);
}

#[tokio::test]
async fn a_link_verifies_the_address_once() {
    let post = Post::new().await;
    post.iam.verification().request(&post.ada).await.unwrap();
    let token = post.token(MailKind::Verify, "ada@example.com").await;
    let verification = post.iam.verification();
    let details = verification.look_up(&token).await.unwrap();
    assert_eq!(
        (details.email.as_str(), details.expires_at),
        ("ada@example.com", post.clock.now() + TimeDelta::days(1))
    );
    assert_eq!(fields(post.iam.recovery().look_up(&token).await), ["token"]);
    verification.verify(&RequestContext::default(), &token).await.unwrap();
    assert_eq!(fields(verification.verify(&RequestContext::default(), &token).await), ["token"]);
    let user = post.iam.users().get(&post.ada, post.ada.user().unwrap()).await.unwrap();
    assert_eq!(user.email_verified_at, Some(post.clock.now()));
    // Nothing is left to do.
    verification.request(&post.ada).await.unwrap();
    assert!(post.mails().await.is_empty());
}

/// A verified user needs no link for its own address.
#[tokio::test]
async fn a_link_is_sent_to_an_address_that_is_new_or_not_verified() {
    let post = Post::new().await;
    let verification = post.iam.verification();
    let (own, new) = ("ada@example.com", "new@example.com");
    verification.change_email(&post.ada, own, PASSWORD.into()).await.unwrap();
    let token = post.token(MailKind::Verify, own).await;
    verification.verify(&RequestContext::default(), &token).await.unwrap();
    assert!(post.mails().await.is_empty());
    verification.change_email(&post.ada, own, PASSWORD.into()).await.unwrap();
    assert!(post.mails().await.is_empty());
    verification.change_email(&post.ada, new, PASSWORD.into()).await.unwrap();
    let token = post.token(MailKind::Verify, new).await;
    verification.verify(&RequestContext::default(), &token).await.unwrap();
    assert_eq!(post.kinds().await, [MailKind::EmailChanged]);
    let user = post.iam.users().get(&post.ada, post.ada.user().unwrap()).await.unwrap();
    assert_eq!(user.email.as_str(), new);
}

#[tokio::test]
async fn an_accepted_invitation_says_until_when_a_factor_is_needed() {
    let post = Post::new().await;
    let (second_factor, second_factor_grace_days) = (Some(SecondFactorPolicy::Required), Some(7));
    let patch = TenantPatch { second_factor, second_factor_grace_days, ..TenantPatch::default() };
    let system = Caller::system(post.ada.tenant(), "test");
    post.iam.tenants().update(&system, post.ada.tenant(), patch).await.unwrap();
    let (_, token) = post.invited(&system, &[]).await;
    let accepted = post.accept(&token).await.unwrap();
    assert_eq!(accepted.login.enrol_by, Some(post.clock.now() + TimeDelta::days(7)));
}

#[tokio::test]
async fn a_new_address_counts_when_its_link_is_used() {
    let post = Post::new().await;
    let verification = post.iam.verification();
    let new = "new@example.com";
    assert_eq!(fields(verification.change_email(&post.ada, "no address", PASSWORD.into()).await), ["newEmail"]);
    assert_eq!(fields(verification.change_email(&post.ada, new, NEW_PASSWORD.into()).await), ["currentPassword"]);
    verification.change_email(&post.ada, new, PASSWORD.into()).await.unwrap();
    let token = post.token(MailKind::Verify, new).await;
    let email = async || post.iam.users().get(&post.ada, post.ada.user().unwrap()).await.unwrap().email.to_string();
    assert_eq!(email().await, "ada@example.com");
    verification.verify(&RequestContext::default(), &token).await.unwrap();
    assert_eq!(email().await, new);
    let mails = post.mails().await;
    assert_eq!((mails[0].kind, mails[0].to.as_str()), (MailKind::EmailChanged, "ada@example.com"));
}

#[tokio::test]
async fn every_new_password_follows_the_policy_of_the_tenant() {
    let post = Post::new().await;
    let (name, password_policy) = (Some("Analytical Engines".to_owned()), Some(PasswordPolicy::Nist));
    let patch = TenantPatch { name, password_policy, ..TenantPatch::default() };
    post.iam.tenants().update(&post.ada, post.ada.tenant(), patch).await.unwrap();
    let (_, token) = post.invited(&post.ada, &[]).await;
    for bad in [PASSWORD, "grace.hopper123", "qwertyuiopasdfgh", "analytical-engines"] {
        let accepted = post.iam.invitations().accept(&RequestContext::default(), acceptance(&token, bad)).await;
        assert_eq!(fields(accepted), ["password"], "{bad}");
        let new = NewUser { password: bad.into(), email: GRACE.to_owned(), ..new_user(GRACE) };
        let new = NewUser { first_name: "Grace".to_owned(), last_name: "Hopper".to_owned(), ..new };
        assert_eq!(fields(post.iam.users().create(&post.ada, new).await), ["password"], "{bad}");
    }
    let good = "quartz lemur zigzag";
    post.iam.invitations().accept(&RequestContext::default(), acceptance(&token, good)).await.unwrap();
    assert_eq!(post.iam.settings().breached_passwords, None);
}

#[tokio::test]
async fn a_file_of_breached_passwords_must_be_usable() {
    let mut missing = settings();
    missing.breached_passwords = Some("/does/not/exist".into());
    let refused = Iam::builder(Arc::new(MemoryStore::new())).settings(missing).build().await;
    assert_eq!(fields(refused.map(drop)), ["breached_passwords"]);
}

#[tokio::test]
async fn the_removal_of_confirmed_factors_is_told_to_a_user_that_is_not_deleted() {
    let post = Post::new().await;
    let user = post.iam.users().create(&post.ada, new_user(GRACE)).await.unwrap().id;
    post.mails().await;
    let login = || Login { email: GRACE.to_owned(), password: PASSWORD.into(), tenant: None };
    let factors = post.iam.factors();
    let set_up = async |is_confirmed: bool| {
        let logged_in = post.iam.sessions().login(&RequestContext::default(), login()).await.unwrap();
        let access = logged_in.tokens.access.expose();
        let grace = post.iam.authenticate(access, RequestContext::default()).await.unwrap();
        let setup = factors.add_totp(&grace, None).await.unwrap();
        let app = totp_rs::Totp::from_url(setup.uri.expose()).unwrap();
        let code = app.generate(post.clock.now().timestamp().try_into().unwrap()).to_string();
        if is_confirmed {
            factors.confirm_totp(&grace, setup.id, &code.into()).await.unwrap();
            assert_eq!(post.kinds().await, [MailKind::FactorAdded]);
        }
    };
    set_up(false).await;
    factors.reset(&post.ada, user).await.unwrap();
    assert_eq!(post.kinds().await, []);
    set_up(true).await;
    factors.reset(&post.ada, user).await.unwrap();
    assert_eq!(post.kinds().await, [MailKind::FactorRemoved]);
    set_up(true).await;
    post.iam.users().delete(&post.ada, user).await.unwrap();
    factors.reset(&post.ada, user).await.unwrap();
    assert_eq!(post.kinds().await, []);
}
