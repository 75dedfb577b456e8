//! Access requests: who may ask for what, who decides, what an elevation counts for, and when it ends.

mod approver_role;
mod decision;
mod elevation;
mod eligibility;
mod end;
mod held_role;
mod list;
mod request;

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::TimeDelta;
use iam_core::access::Question;
use iam_core::access_request::{AccessRequest, AccessRequestStatus, ListedAccessRequest, NewAccessRequest};
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::credential::HashingCost;
use iam_core::eligibility::NewEligibility;
use iam_core::mail::{LinkPages, Mail, MailError, MailKind, Mailer};
use iam_core::organization::NewOrganization;
use iam_core::role::{NewRole, RoleScope};
use iam_core::session::Login;
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::version::Precondition;
use iam_core::{
    AccessRequestId, Caller, EligibilityId, Error, Forbidden, Iam, OrganizationId, RequestContext, Result, RoleId,
    Settings, UserId,
};
use iam_model::assignment::Grant;
use iam_model::clock::Timestamp;
use iam_model::clock::testing::FixedClock;
use iam_store_memory::MemoryStore;

const PASSWORD: &str = "Passw0rd!";

/// A mailer that keeps the messages.
#[derive(Clone, Default)]
struct Mails(Arc<Mutex<Vec<Mail>>>);

#[async_trait]
impl Mailer for Mails {
    async fn send(&self, mail: &Mail) -> std::result::Result<(), MailError> {
        self.0.lock().unwrap().push(mail.clone());
        Ok(())
    }
}

/// A tenant with its administrator, Ada.
struct World {
    iam: Iam,
    clock: FixedClock,
    mails: Mails,
    ada: Caller,
}

fn person(email: &str) -> NewUser {
    let (first_name, last_name) = ("Some".to_owned(), "Body".to_owned());
    NewUser { email: email.to_owned(), password: PASSWORD.into(), first_name, last_name }
}

impl World {
    async fn new() -> Self {
        Self::with(|_| ()).await
    }

    async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let mut settings = Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };
        settings.access_token_lifetime = TimeDelta::days(1);
        change(&mut settings);
        let page = |name: &str| format!("https://example.com/{name}#{{token}}").parse().unwrap();
        let pages = LinkPages {
            verify: page("verify"),
            reset: page("reset"),
            invitation: page("invitation"),
            login: page("login"),
        };
        let mails = Mails::default();
        let builder = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).clock(clock.clone());
        let iam = builder.mail(Arc::new(mails.clone()), pages).build().await.unwrap();
        let registration = Registration { user: person("ada@example.com"), tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
        let access = registered.login.tokens.access;
        let ada = iam.authenticate(access.expose(), RequestContext::default()).await.unwrap();
        Self { iam, clock, mails, ada }
    }

    /// Moves the time, after which Ada logs in again.
    async fn pass(&mut self, by: TimeDelta) {
        self.clock.advance(by);
        self.ada = self.login("ada").await;
    }

    fn now(&self) -> Timestamp {
        self.iam.now()
    }

    /// A fresh session of a person.
    async fn login(&self, name: &str) -> Caller {
        let login = Login { email: format!("{name}@example.com"), password: PASSWORD.into(), tenant: None };
        let login = self.iam.sessions().login(&RequestContext::default(), login).await.unwrap();
        self.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap()
    }

    /// The same session with the rights that it has now.
    async fn again(&self, caller: &Caller) -> Caller {
        let name = self.iam.users().get(&self.ada, caller.user().unwrap()).await.unwrap().email.to_string();
        self.login(name.split('@').next().unwrap()).await
    }

    /// A person who holds a new role with these permissions, tenant-wide, if there are any.
    async fn user(&self, name: &str, permissions: &[&str]) -> (UserId, Caller) {
        let user = self.iam.users().create(&self.ada, person(&format!("{name}@example.com"))).await.unwrap().id;
        if !permissions.is_empty() {
            let role = self.role(&format!("OF_{}", name.to_uppercase()), permissions).await;
            self.give(user, role, None).await;
        }
        (user, self.login(name).await)
    }

    /// Verifies the addresses of users, whose limits then depend on no other tenant.
    async fn verify(&self, names: &[&str]) {
        let system = Caller::system(self.ada.tenant(), "test");
        for name in names {
            self.iam.users().verify_email(&system, &format!("{name}@example.com")).await.unwrap();
        }
    }

    async fn role(&self, name: &str, permissions: &[&str]) -> RoleId {
        let permissions = permissions.iter().map(|text| (*text).to_owned()).collect();
        let new = NewRole { name: name.to_owned(), description: None, scope: RoleScope::Any, permissions };
        self.iam.roles().create(&self.ada, new).await.unwrap().id
    }

    async fn give(&self, user: UserId, role: RoleId, organization: Option<OrganizationId>) {
        let new = NewAssignment { user, role, organization, expires_at: None };
        self.iam.assignments().create(&self.ada, new).await.unwrap();
    }

    async fn organization(&self, name: &str, parent: Option<OrganizationId>) -> OrganizationId {
        let new = NewOrganization { name: name.to_owned(), slug: None, parent };
        self.iam.organizations().create(&self.ada, new).await.unwrap().organization.id
    }

    /// An eligibility of Ada's making: for an hour, with one approval.
    async fn eligible(&self, user: UserId, role: RoleId) -> EligibilityId {
        self.eligibility(NewEligibility::of_user(role, user)).await
    }

    async fn eligibility(&self, new: NewEligibility) -> EligibilityId {
        let new = NewEligibility { max_seconds: new.max_seconds.or(Some(3_600)), ..new };
        self.iam.eligibilities().create(&self.ada, new).await.unwrap().id
    }

    async fn try_ask(&self, caller: &Caller, eligibility: EligibilityId) -> Result<AccessRequest> {
        self.iam.access_requests().create(caller, asking(eligibility)).await
    }

    async fn ask(&self, caller: &Caller, eligibility: EligibilityId) -> AccessRequest {
        self.try_ask(caller, eligibility).await.unwrap()
    }

    async fn approve(&self, caller: &Caller, id: AccessRequestId) -> Result<ListedAccessRequest> {
        self.iam.access_requests().approve(caller, id, None, &Precondition::Exists).await
    }

    /// Grace with the rights of a role for an hour, for which Ada agrees.
    async fn elevated(&self, permissions: &[&str]) -> (UserId, Caller, AccessRequest) {
        let (grace, session) = self.user("grace", &[]).await;
        let role = self.role("ELEVATED", permissions).await;
        let request = self.ask(&session, self.eligible(grace, role).await).await;
        let request = self.approve(&self.ada, request.id).await.unwrap().request;
        assert_eq!(request.status, AccessRequestStatus::Active);
        (grace, self.login("grace").await, request)
    }

    async fn status(&self, id: AccessRequestId) -> AccessRequestStatus {
        self.iam.access_requests().get(&self.ada, id).await.unwrap().request.status
    }

    async fn held(&self, user: UserId) -> Vec<Grant> {
        self.iam.assignments().of_user(&self.ada, user).await.unwrap()
    }

    /// Whether a caller may do something tenant-wide now.
    async fn allows(&self, caller: &Caller, permission: &str) -> bool {
        let question = Question { permission: permission.parse().unwrap(), organization: None, user: None, at: None };
        self.iam.access().check(caller, question).await.unwrap().is_allowed()
    }

    async fn key(&self, caller: &Caller) -> Caller {
        let new = NewApiKey { name: "key".to_owned(), ..NewApiKey::default() };
        let issued = self.iam.api_keys().create(caller, caller.user().unwrap(), new).await.unwrap();
        self.iam.authenticate(issued.token.expose(), RequestContext::default()).await.unwrap()
    }

    /// The entries about a resource, oldest first.
    async fn entries(&self, resource: impl ToString) -> Vec<AuditEntry> {
        let filter = AuditFilter { resource_id: Some(resource.to_string()), ..AuditFilter::default() };
        let mut entries = self.iam.audit().list(&self.ada, filter, None, 100).await.unwrap().entries;
        entries.reverse();
        entries
    }

    async fn actions(&self, resource: impl ToString) -> Vec<String> {
        self.entries(resource).await.into_iter().map(|entry| entry.action.to_string()).collect()
    }

    /// The kinds and the addresses of the messages about access since the last call, sorted.
    async fn mailed(&self) -> Vec<(MailKind, String)> {
        while self.iam.deliver_mail().await.unwrap().more {}
        let mails = std::mem::take(&mut *self.mails.0.lock().unwrap());
        let mut mailed: Vec<(MailKind, String)> =
            mails.into_iter().map(|mail| (mail.kind, mail.to.to_string())).collect();
        mailed.retain(|(kind, _)| kind.as_str().starts_with("ACCESS_"));
        mailed.sort();
        mailed
    }
}

fn asking(eligibility: EligibilityId) -> NewAccessRequest {
    NewAccessRequest {
        eligibility,
        seconds: None,
        reason: "The disk is full.".to_owned(),
        ticket: Some("OPS-7".to_owned()),
        starts_at: None,
    }
}

/// The permission that a giver lacks, and until when it holds it.
fn lacking<T: Debug>(refused: Result<T>) -> (String, Option<Timestamp>) {
    match refused {
        Err(Error::Forbidden(Forbidden::Escalation(lacking))) => (lacking.permission.to_string(), lacking.held_until),
        other => panic!("{other:?}"),
    }
}

fn reading() -> (String, Option<Timestamp>) {
    ("audit-logs:read".to_owned(), None)
}

fn is_missing<T>(refused: &Result<T>, permission: &str) -> bool {
    matches!(refused, Err(Error::Forbidden(Forbidden::Permission(missing))) if missing.as_str() == permission)
}
