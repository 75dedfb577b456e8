//! The access table of the API, walked through the console: on its pages, a caller can do and see what the API allows,
//! and nothing else.

#![cfg(test)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use axum::http::StatusCode;
use chrono::TimeDelta;
use iam_core::access_request::{AccessRequest, NewAccessRequest};
use iam_core::access_review::{AccessReviewFilter, AccessReviewStatus, NewAccessReview, NewDecision, ReviewDecision};
use iam_core::api_key::NewApiKey;
use iam_core::assignment::{Assignment, NewAssignment};
use iam_core::audit::AuditFilter;
use iam_core::directory::{DeletedUsers, Directory, NewDirectory};
use iam_core::domain::Domain;
use iam_core::eligibility::{Eligibility, NewEligibility};
use iam_core::identity_provider::{IdentityProvider, NewIdentityProvider};
use iam_core::invitation::{Invitation, InvitedRole, NewInvitation};
use iam_core::organization::{NewOrganization, Organization};
use iam_core::page::PageRequest;
use iam_core::permission::{NewPermission, RegisteredPermission};
use iam_core::role::{NewRole, Role};
use iam_core::user::{NewServiceAccount, User, UserPatch, UserStatus};
use iam_core::webhook::{NewWebhook, Webhook};
use iam_core::{AccessReviewId, ApiKeyId, AssignmentId, Caller, OrganizationId, SessionId, UserId};

use crate::app::{Answer, App, EMAIL, PASSWORD, person};

const WEBHOOK_URL: &str = "https://example.com/";
const ISSUER: &str = "https://login.example.com";
const TABLE: &str = include_str!("../../../iam-axum/tests/http/access-table.txt");
/// The targets of the table. A name that ends with another one comes first.
const TARGETS: [&str; 6] = ["own branch", "other branch", "other tenant", "tenant", "oneself", "-"];

/// The operations of the API that the console offers.
const OFFERED: &[&str] = &[
    "PATCH /auth/me",
    "GET /users",
    "POST /users",
    "GET /users/{id}",
    "GET /users/{id}/export",
    "PATCH /users/{id} (name)",
    "PATCH /users/{id} (e-mail)",
    "PATCH /users/{id} (external id)",
    "PATCH /users/{id} (restore)",
    "DELETE /users/{id}",
    "POST /users/{id}/suspend",
    "POST /users/{id}/reactivate",
    "POST /users/{id}/logout-all",
    "DELETE /sessions/{id}",
    "POST /users/{id}/impersonations",
    "GET /roles",
    "POST /roles",
    "GET /roles/{id}",
    "PATCH /roles/{id}",
    "DELETE /roles/{id}",
    "GET /permissions",
    "POST /permissions",
    "DELETE /permissions/{id}",
    "GET /role-assignments",
    "POST /role-assignments",
    "PATCH /role-assignments/{id} (shorten)",
    "PATCH /role-assignments/{id} (extend)",
    "DELETE /role-assignments/{id}",
    "GET /access-reviews",
    "POST /access-reviews",
    "GET /access-reviews/{id}",
    "GET /access-reviews/{id}/items",
    "PATCH /access-reviews/{id}/items/{itemId}",
    "POST /access-reviews/{id}/complete",
    "POST /access-reviews/{id}/cancel",
    "GET /eligibilities",
    "POST /eligibilities",
    "POST /eligibilities (of the holders of a role)",
    "GET /eligibilities/{id}",
    "PATCH /eligibilities/{id} (narrow)",
    "PATCH /eligibilities/{id} (widen)",
    "DELETE /eligibilities/{id}",
    "GET /auth/eligibilities",
    "GET /access-requests",
    "POST /access-requests",
    "GET /access-requests/{id}",
    "POST /access-requests/{id}/approve",
    "POST /access-requests/{id}/deny",
    "POST /access-requests/{id}/cancel",
    "POST /access-requests/{id}/end",
    "GET /organizations",
    "POST /organizations",
    "GET /organizations/{id}",
    "GET /organizations/{id}/tree",
    "PATCH /organizations/{id} (name)",
    "PATCH /organizations/{id} (move)",
    "PATCH /organizations/{id} (make a root)",
    "DELETE /organizations/{id}",
    "POST /authz/check (of another)",
    "GET /authz/who",
    "GET /audit-logs",
    "GET /audit-logs/{id}",
    "GET /audit-logs/checkpoint",
    "GET /audit-logs/consistency-proof",
    "GET /audit-logs/{id}/proof",
    "GET /audit-logs/retention",
    "PUT /audit-logs/retention",
    "POST /audit-logs/retention/apply",
    "DELETE /users/{id}/factors",
    "POST /users/{id}/password-reset",
    "GET /users/{id}/api-keys",
    "POST /users/{id}/api-keys",
    "DELETE /api-keys/{id}",
    "GET /invitations",
    "POST /invitations",
    "GET /invitations/{id}",
    "POST /invitations/{id}/resend",
    "DELETE /invitations/{id}",
    "GET /webhooks",
    "POST /webhooks",
    "GET /webhooks/{id}",
    "PATCH /webhooks/{id}",
    "PATCH /webhooks/{id} (address)",
    "POST /webhooks/{id}/rotate-secret",
    "POST /webhooks/{id}/test",
    "GET /webhooks/{id}/deliveries",
    "POST /webhooks/{id}/replay",
    "DELETE /webhooks/{id}",
    "GET /domains",
    "POST /domains",
    "GET /domains/{id}",
    "POST /domains/{id}/verify",
    "DELETE /domains/{id}",
    "GET /identity-providers",
    "POST /identity-providers",
    "GET /identity-providers/{id}",
    "PATCH /identity-providers/{id} (name)",
    "PATCH /identity-providers/{id} (anything else)",
    "DELETE /identity-providers/{id}",
    "GET /directories",
    "POST /directories",
    "POST /directories (that adopts)",
    "GET /directories/{id}",
    "PATCH /directories/{id} (name)",
    "PATCH /directories/{id} (adopt)",
    "DELETE /directories/{id} (keep)",
    "DELETE /directories/{id} (suspend)",
];

/// A line of the table: an operation, a target, and the outcome for each person.
struct Row {
    operation: &'static str,
    target: &'static str,
    outcomes: Vec<&'static str>,
}

fn rows() -> Vec<Row> {
    let (_, body) = TABLE.split_once("of another tenant\n\n").unwrap();
    let lines = body.lines().skip(1);
    lines
        .map(|line| {
            let (mut cells, mut rest) = (Vec::new(), line.trim_end());
            for _ in 0..8 {
                let (before, cell) = rest.rsplit_once(' ').unwrap();
                cells.push(cell);
                rest = before.trim_end();
            }
            cells.reverse();
            let target = TARGETS.into_iter().find(|target| rest.ends_with(target)).unwrap();
            let operation = rest.strip_suffix(target).unwrap().trim_end();
            Row { operation, target, outcomes: cells.split_off(1) }
        })
        .collect()
}

struct Person {
    /// Empty for a person without a session.
    cookie: String,
    token: String,
    user: Option<UserId>,
}

pub(crate) struct World {
    pub(crate) app: App,
    owner: Caller,
    foreign_owner: Caller,
    own_branch: OrganizationId,
    other_branch: OrganizationId,
    foreign_branch: OrganizationId,
}

/// A unique text that begins with `start`.
fn fresh(start: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{start}{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

impl World {
    pub(crate) async fn new() -> Self {
        // Each person opens more pages in a minute than a person does.
        let app = App::with_federation().await.unlimited();
        let owner = app.register(EMAIL).await;
        let foreign_owner = app.register("owner@example.org").await;
        let company = organization(&app, &owner, "Company", None).await.id;
        let own_branch = organization(&app, &owner, "Own branch", Some(company)).await.id;
        let other_branch = organization(&app, &owner, "Other branch", Some(company)).await.id;
        let foreign_branch = organization(&app, &foreign_owner, "Foreign branch", None).await.id;
        Self { app, owner, foreign_owner, own_branch, other_branch, foreign_branch }
    }

    /// Adds something of each kind to the tenant.
    pub(crate) async fn fill(&self) {
        let target = "own branch";
        self.set_status(target, &self.stranger(target).await, UserStatus::Suspended).await;
        self.review(target, true).await;
        self.review(target, false).await;
        self.eligibility(target).await;
        let visitor = Person { cookie: String::new(), token: String::new(), user: None };
        for approvals in [0, 1] {
            self.access_request(target, &visitor, approvals).await;
        }
        self.invitation(target).await;
        let owner = self.owner.user().unwrap();
        self.key(target, owner).await;
        self.key(target, self.user(target).await.id).await;
        self.permission(target).await;
        self.role(target).await;
        self.webhook(target).await;
        self.domain(target).await;
        self.provider(target).await;
        self.directory(target).await;
    }

    /// The people of the table, in the order of its columns.
    async fn people(&self) -> Vec<Person> {
        let branch = Some(self.own_branch);
        let mut people = vec![Person { cookie: String::new(), token: String::new(), user: None }];
        for (owner, email, role) in [
            (&self.owner, "no-role@example.com", None),
            (&self.owner, "member@example.com", Some(("MEMBER", branch))),
            (&self.owner, "branch@example.com", Some(("ORGANIZATION_ADMIN", branch))),
            (&self.owner, "auditor@example.com", Some(("AUDITOR", None))),
            (&self.owner, "admin@example.com", Some(("TENANT_ADMIN", None))),
            (&self.foreign_owner, "admin@example.org", Some(("TENANT_ADMIN", None))),
        ] {
            let user = self.app.iam.users().create(owner, person(email, "Grace")).await.unwrap();
            if let Some((role, place)) = role {
                self.assign(owner, user.id, role, place, None).await;
            }
            let cookie = self.app.sign_in(email).await;
            let token = self.app.form_token(&cookie).await;
            people.push(Person { cookie, token, user: Some(user.id) });
        }
        people
    }

    fn owner_of(&self, target: &str) -> &Caller {
        if target == "other tenant" { &self.foreign_owner } else { &self.owner }
    }

    fn place_of(&self, target: &str) -> Option<OrganizationId> {
        match target {
            "own branch" => Some(self.own_branch),
            "other branch" => Some(self.other_branch),
            "other tenant" => Some(self.foreign_branch),
            _ => None,
        }
    }

    async fn assign(
        &self,
        owner: &Caller,
        user: UserId,
        role: &str,
        organization: Option<OrganizationId>,
        days: Option<i64>,
    ) -> Assignment {
        let role = self.app.iam.roles().by_name(owner, role).await.unwrap().unwrap().id;
        let expires_at = days.map(|days| self.app.iam.now() + TimeDelta::days(days));
        self.app.iam.assignments().create(owner, NewAssignment { user, role, organization, expires_at }).await.unwrap()
    }

    /// A user without a role.
    async fn stranger(&self, target: &str) -> User {
        let email = format!("{}@example.net", fresh("user."));
        self.app.iam.users().create(self.owner_of(target), person(&email, "Alan")).await.unwrap()
    }

    /// A user who has only the role MEMBER at the target.
    async fn user(&self, target: &str) -> User {
        self.assignment(target, None).await.0
    }

    async fn assignment(&self, target: &str, days: Option<i64>) -> (User, AssignmentId) {
        let user = self.stranger(target).await;
        let held = self.assign(self.owner_of(target), user.id, "MEMBER", self.place_of(target), days).await;
        (user, held.id)
    }

    async fn set_status(&self, target: &str, user: &User, status: UserStatus) -> User {
        let patch = UserPatch { status: Some(status), ..UserPatch::default() };
        self.app.iam.users().update(self.owner_of(target), user.id, patch).await.unwrap()
    }

    async fn session(&self, target: &str, user: &User) -> SessionId {
        self.app.sign_in(user.email.as_str()).await;
        self.app.iam.sessions().list(self.owner_of(target), user.id).await.unwrap().remove(0).id
    }

    async fn role(&self, target: &str) -> Role {
        let permissions = vec!["users:read".to_owned()];
        let new = NewRole { name: fresh("ROLE_OF_TABLE_"), description: None, scope: Default::default(), permissions };
        self.app.iam.roles().create(self.owner_of(target), new).await.unwrap()
    }

    async fn permission(&self, target: &str) -> RegisteredPermission {
        let new = NewPermission { name: fresh("orders:do-"), description: None };
        self.app.iam.permissions().create(self.owner_of(target), new).await.unwrap()
    }

    async fn organization(&self, target: &str) -> Organization {
        organization(&self.app, self.owner_of(target), &fresh("Organization "), self.place_of(target)).await
    }

    /// A review with one item: a user with the role MEMBER at the target.
    async fn review(&self, target: &str, is_decided: bool) -> (AccessReviewId, AssignmentId) {
        let (owner, reviews) = (self.owner_of(target), self.app.iam.access_reviews());
        // A tenant may have a limited number of open reviews.
        let all = reviews.list(owner, &AccessReviewFilter::default(), PageRequest::default()).await.unwrap();
        for listed in all.items.into_iter().filter(|listed| listed.review.status == AccessReviewStatus::Open) {
            reviews.cancel(&Caller::system(owner.tenant(), "test"), listed.review.id).await.unwrap();
        }
        let (user, item) = self.assignment(target, None).await;
        let due_at = self.app.iam.now() + TimeDelta::days(1);
        let (organization, users) = (self.place_of(target), vec![user.id]);
        let new = NewAccessReview { name: fresh("Review "), organization, roles: Vec::new(), users, due_at };
        let review = reviews.create(owner, new).await.unwrap().review.id;
        if is_decided {
            let decision = NewDecision { decision: ReviewDecision::Revoke, reason: None };
            reviews.decide(owner, review, item, decision).await.unwrap();
        }
        (review, item)
    }

    /// An eligibility of a user for the role MEMBER at the target.
    async fn eligibility(&self, target: &str) -> Eligibility {
        let owner = self.owner_of(target);
        let role = self.app.iam.roles().by_name(owner, "MEMBER").await.unwrap().unwrap().id;
        let user = self.stranger(target).await.id;
        let new = NewEligibility { organization: self.place_of(target), ..NewEligibility::of_user(role, user) };
        self.app.iam.eligibilities().create(&Caller::system(owner.tenant(), "test"), new).await.unwrap()
    }

    /// An eligibility of a user for a role without permissions at the target, with so many approvals.
    async fn eligibility_of(&self, target: &str, user: UserId, approvals: i64) -> Eligibility {
        let owner = self.owner_of(target);
        let new = NewRole { name: fresh("ROLE_OF_TABLE_"), ..NewRole::default() };
        let role = self.app.iam.roles().create(owner, new).await.unwrap().id;
        let (organization, approvals) = (self.place_of(target), Some(approvals));
        let new = NewEligibility { organization, approvals, ..NewEligibility::of_user(role, user) };
        self.app.iam.eligibilities().create(&Caller::system(owner.tenant(), "test"), new).await.unwrap()
    }

    /// A request of the person, or of a user at the target: PENDING, or ACTIVE without approvals.
    async fn access_request(&self, target: &str, by: &Person, approvals: i64) -> AccessRequest {
        let asking = if target == "oneself" { self.subject(target, by).await } else { self.stranger(target).await };
        // Oneself may be of the other tenant.
        let is_foreign = self.app.iam.users().get(&self.owner, asking.id).await.is_err();
        let place = if target == "oneself" && is_foreign { "other tenant" } else { target };
        let eligibility = self.eligibility_of(place, asking.id, approvals).await.id;
        let (seconds, reason, ticket, starts_at) = (None, "A question about an order".to_owned(), None, None);
        let new = NewAccessRequest { eligibility, seconds, reason, ticket, starts_at };
        let caller = self.app.caller(asking.email.as_str()).await;
        self.app.iam.access_requests().create(&caller, new).await.unwrap()
    }

    /// An invitation with the role MEMBER at the target.
    async fn invitation(&self, target: &str) -> Invitation {
        let owner = self.owner_of(target);
        let role = self.app.iam.roles().by_name(owner, "MEMBER").await.unwrap().unwrap().id;
        let role = InvitedRole { role_id: role, organization_id: self.place_of(target), expires_at: None };
        let email = format!("{}@example.net", fresh("invited."));
        let new = NewInvitation { email, roles: vec![role], ..NewInvitation::default() };
        self.app.iam.invitations().create(owner, new).await.unwrap()
    }

    /// A key of a user.
    async fn key(&self, target: &str, user: UserId) -> ApiKeyId {
        let is_foreign = self.app.iam.users().get(self.owner_of(target), user).await.is_err();
        let owner = if is_foreign { &self.foreign_owner } else { self.owner_of(target) };
        let permissions = Some(vec!["users:read".to_owned()]);
        let new = NewApiKey { name: fresh("key "), permissions, organization: None, expires_at: None };
        self.app.iam.api_keys().create(owner, user, new).await.unwrap().key.id
    }

    /// A webhook. A tenant has a limited number of them, so those of before are removed.
    async fn webhook(&self, target: &str) -> Webhook {
        let (owner, webhooks) = (self.owner_of(target), self.app.iam.webhooks());
        self.remove_webhooks().await;
        let new = NewWebhook { types: vec!["USER.*".into()], url: WEBHOOK_URL.into(), ..NewWebhook::default() };
        webhooks.create(owner, new).await.unwrap().webhook
    }

    async fn remove_webhooks(&self) {
        let webhooks = self.app.iam.webhooks();
        for owner in [&self.owner, &self.foreign_owner] {
            for webhook in webhooks.list(owner).await.unwrap() {
                webhooks.delete(owner, webhook.id).await.unwrap();
            }
        }
    }

    /// The only domain of a tenant, which may have no more than 50. Its record is published.
    async fn domain(&self, target: &str) -> Domain {
        self.remove_domains().await;
        let owner = self.owner_of(target);
        let domain = self.app.iam.domains().create(owner, &fresh_domain()).await.unwrap();
        self.app.zone.publish(&domain);
        domain
    }

    async fn remove_domains(&self) {
        let domains = self.app.iam.domains();
        for owner in [&self.owner, &self.foreign_owner] {
            for domain in domains.list(owner).await.unwrap() {
                domains.delete(owner, domain.id).await.unwrap();
            }
        }
    }

    /// The only provider of a tenant, which may have no more than 20.
    async fn provider(&self, target: &str) -> IdentityProvider {
        self.remove_providers().await;
        let system = Caller::system(self.owner_of(target).tenant(), "test");
        let (name, issuer, client_id) = (fresh("Acme "), ISSUER.to_owned(), "iam".to_owned());
        let new = NewIdentityProvider { name, issuer, client_id, ..NewIdentityProvider::default() };
        self.app.iam.identity_providers().create(&system, new).await.unwrap()
    }

    async fn remove_providers(&self) {
        let providers = self.app.iam.identity_providers();
        for owner in [&self.owner, &self.foreign_owner] {
            let system = Caller::system(owner.tenant(), "test");
            for provider in providers.list(&system).await.unwrap() {
                providers.delete(&system, provider.id).await.unwrap();
            }
        }
    }

    /// A service account of a tenant.
    async fn account(&self, owner: &Caller) -> UserId {
        let new = NewServiceAccount { name: fresh("Robot ") };
        self.app.iam.users().create_service_account(owner, new).await.unwrap().id
    }

    /// The only directory of a tenant, which may have no more than 10.
    async fn directory(&self, target: &str) -> Directory {
        self.remove_directories().await;
        let owner = self.owner_of(target);
        let (name, service_account) = (fresh("Staff "), self.account(owner).await);
        let new = NewDirectory { name, service_account, identity_provider: None, adopt: false };
        self.app.iam.directories().create(owner, new).await.unwrap()
    }

    async fn remove_directories(&self) {
        let directories = self.app.iam.directories();
        for owner in [&self.owner, &self.foreign_owner] {
            for (directory, _) in directories.list(owner).await.unwrap() {
                directories.delete(owner, directory.id, DeletedUsers::Keep).await.unwrap();
            }
        }
    }

    /// Tries an operation on the pages. Returns whether it succeeds. A list succeeds if it shows the target.
    async fn succeeds(&self, operation: &str, target: &str, by: &Person) -> bool {
        // Lists show the newest first.
        self.app.clock.advance(TimeDelta::milliseconds(1));
        let place = self.place_of(target).map(|id| id.to_string()).unwrap_or_default();
        match operation {
            "PATCH /auth/me" => {
                let version = self.subject("oneself", by).await.version.to_string();
                self.does(by, "/account/attributes", &[("version", &version)]).await
            }
            "GET /users" => {
                let user = self.user(target).await;
                let link = format!("/users/{}", user.id);
                let is_listed = self.shows(by, &format!("/users?search={}", user.email), &link).await;
                assert_eq!(self.shows(by, &format!("/find?q={}", user.email), &link).await, is_listed, "{target}");
                is_listed
            }
            "POST /users" => {
                let email = format!("{}@example.net", fresh("user."));
                let fields = [("email", &*email), ("password", PASSWORD), ("firstName", "Ada"), ("lastName", "King")];
                self.does(by, "/users/new", &fields).await
            }
            "GET /users/{id}" => self.opens(by, &format!("/users/{}", self.subject(target, by).await.id)).await,
            "PATCH /users/{id} (name)" | "PATCH /users/{id} (e-mail)" | "PATCH /users/{id} (external id)" => {
                let user = self.subject(target, by).await;
                let (mut name, mut email, mut id) =
                    (user.first_name.to_string(), user.email.to_string(), String::new());
                match operation {
                    "PATCH /users/{id} (name)" => name = fresh("Grace "),
                    "PATCH /users/{id} (e-mail)" => email = format!("{}@example.net", fresh("user.")),
                    _ => id = fresh("external-"),
                }
                let (version, last) = (user.version.to_string(), user.last_name.to_string());
                let names = [("firstName", &*name), ("lastName", &*last), ("email", &*email)];
                let fields = [names.as_slice(), &[("externalId", &*id), ("version", &*version)]].concat();
                self.does(by, &format!("/users/{}", user.id), &fields).await
            }
            "PATCH /users/{id} (restore)" => {
                let user = self.stranger(target).await;
                self.set_status(target, &user, UserStatus::Inactive).await;
                self.does(by, &format!("/users/{}/restore", user.id), &[("confirmed", "yes")]).await
            }
            "DELETE /users/{id}" => {
                self.does(by, &format!("/users/{}/delete", self.user(target).await.id), &[("confirmed", "yes")]).await
            }
            "POST /users/{id}/suspend" => {
                self.does(by, &format!("/users/{}/suspend", self.user(target).await.id), &[("confirmed", "yes")]).await
            }
            "POST /users/{id}/reactivate" => {
                let user = self.user(target).await;
                self.set_status(target, &user, UserStatus::Suspended).await;
                self.does(by, &format!("/users/{}/reactivate", user.id), &[("confirmed", "yes")]).await
            }
            "POST /users/{id}/logout-all" => {
                self.does(by, &format!("/users/{}/sign-out", self.user(target).await.id), &[("confirmed", "yes")]).await
            }
            "DELETE /sessions/{id}" => {
                let user = self.user(target).await;
                let session = self.session(target, &user).await.to_string();
                self.does(by, &format!("/users/{}/end-session", user.id), &[("session", &session)]).await
            }
            "POST /users/{id}/impersonations" => {
                let path = format!("/users/{}/act", self.user(target).await.id);
                self.does(by, &path, &[("reason", "A question about an order"), ("seconds", "300")]).await
            }
            "GET /permissions" => {
                let permission = self.permission(target).await;
                let path = format!("/permissions?search={}", permission.name.as_str());
                self.shows(by, &path, &format!("/permissions/{}", permission.id)).await
            }
            "POST /permissions" => self.does(by, "/permissions/new", &[("name", &fresh("orders:do-"))]).await,
            "DELETE /permissions/{id}" => {
                let permission = self.permission(target).await.id;
                self.does(by, &format!("/permissions/{permission}/delete"), &[("confirmed", "yes")]).await
            }
            "GET /roles" => {
                let role = self.role(target).await;
                let link = format!("/roles/{}", role.id);
                let is_listed = self.shows(by, &format!("/roles?search={}", role.name), &link).await;
                assert_eq!(self.shows(by, &format!("/find?q={}", role.name), &link).await, is_listed, "{target}");
                is_listed
            }
            "POST /roles" => {
                let name = fresh("ROLE_OF_TABLE_");
                let fields = [("name", &*name), ("scope", "ANY"), ("permission", "users:read")];
                self.does(by, "/roles/new", &fields).await
            }
            "GET /roles/{id}" => self.opens(by, &format!("/roles/{}", self.role(target).await.id)).await,
            "PATCH /roles/{id}" => {
                let role = self.role(target).await;
                let (name, version) = (role.name.to_string(), role.version.to_string());
                let fields = [
                    ("name", &*name),
                    ("scope", role.scope.as_str()),
                    ("permission", "users:read"),
                    ("permission", "organizations:read"),
                    ("version", &*version),
                    ("confirmed", "yes"),
                ];
                self.does(by, &format!("/roles/{}/edit", role.id), &fields).await
            }
            "DELETE /roles/{id}" => {
                let role = self.role(target).await;
                let version = role.version.to_string();
                let fields = [("version", &*version), ("confirmed", "yes")];
                self.does(by, &format!("/roles/{}/delete", role.id), &fields).await
            }
            "GET /role-assignments" => {
                let (user, held) = self.assignment(target, None).await;
                self.shows(by, &format!("/assignments?user={}", user.id), &format!("/assignments/{held}")).await
            }
            "POST /role-assignments" => {
                let user = self.stranger(target).await.id.to_string();
                let role = self.app.iam.roles().by_name(self.owner_of(target), "MEMBER").await.unwrap().unwrap();
                let role = role.id.to_string();
                let fields = [("user", &*user), ("role", &*role), ("organization", &*place), ("confirmed", "yes")];
                self.does(by, "/assignments/new", &fields).await
            }
            "PATCH /role-assignments/{id} (shorten)" => {
                let (user, held) = self.assignment(target, None).await;
                let path = format!("/assignments/{held}/end?user={}", user.id);
                self.does(by, &path, &[("until", "2026-12-31T00:00"), ("confirmed", "yes")]).await
            }
            "PATCH /role-assignments/{id} (extend)" => {
                let (user, held) = self.assignment(target, Some(1)).await;
                let fields = [("until", ""), ("confirmed", "yes")];
                self.does(by, &format!("/assignments/{held}/end?user={}", user.id), &fields).await
            }
            "DELETE /role-assignments/{id}" => {
                let (user, held) = self.assignment(target, None).await;
                let path = format!("/assignments/{held}/revoke?user={}", user.id);
                self.does(by, &path, &[("confirmed", "yes")]).await
            }
            "GET /access-reviews" => {
                let (review, _) = self.review(target, false).await;
                self.shows(by, "/access-reviews", &format!("/access-reviews/{review}")).await
            }
            "POST /access-reviews" => {
                let fields = [("name", "Spring"), ("dueAt", "2026-12-31"), ("organizationId", &*place)];
                self.does(by, "/access-reviews/new", &fields).await
            }
            "GET /access-reviews/{id}" => {
                self.opens(by, &format!("/access-reviews/{}", self.review(target, false).await.0)).await
            }
            "GET /access-reviews/{id}/items" => {
                self.opens(by, &format!("/access-reviews/{}/items.csv", self.review(target, false).await.0)).await
            }
            "PATCH /access-reviews/{id}/items/{itemId}" => {
                let (review, item) = self.review(target, false).await;
                let fields = [("decision", "KEEP"), ("reason", "")];
                self.does(by, &format!("/access-reviews/{review}/items/{item}"), &fields).await
            }
            "POST /access-reviews/{id}/complete" => {
                let (review, _) = self.review(target, true).await;
                self.does(by, &format!("/access-reviews/{review}/complete"), &[]).await
            }
            "POST /access-reviews/{id}/cancel" => {
                let (review, _) = self.review(target, false).await;
                self.does(by, &format!("/access-reviews/{review}/cancel"), &[]).await
            }
            "GET /organizations" => {
                let found = self.organization(target).await;
                let (name, link) = (found.name.to_string().replace(' ', "+"), format!("/organizations/{}", found.id));
                let is_listed = self.shows(by, &format!("/organizations?search={name}"), &link).await;
                assert_eq!(self.shows(by, &format!("/find?q={name}"), &link).await, is_listed, "{target}");
                is_listed
            }
            "POST /organizations" => {
                let name = fresh("Branch ");
                self.does(by, "/organizations/new", &[("name", &name), ("slug", ""), ("parent", &place)]).await
            }
            "GET /organizations/{id}" => {
                self.opens(by, &format!("/organizations/{}", self.organization(target).await.id)).await
            }
            "GET /organizations/{id}/tree" => {
                self.opens(by, &format!("/organizations/map?root={}", self.organization(target).await.id)).await
            }
            "PATCH /organizations/{id} (name)" => {
                let found = self.organization(target).await;
                let (name, slug, version) =
                    (fresh("Branch "), found.slug.as_str().to_owned(), found.version.to_string());
                let fields = [("name", &*name), ("slug", &*slug), ("version", &*version)];
                self.does(by, &format!("/organizations/{}", found.id), &fields).await
            }
            "PATCH /organizations/{id} (move)" | "PATCH /organizations/{id} (make a root)" => {
                let found = self.organization(target).await;
                let (version, parent) = (found.version.to_string(), self.organization(target).await.id.to_string());
                let place = if operation.ends_with("(move)") { ("parent", &*parent) } else { ("place", "top") };
                let fields = [place, ("version", &*version), ("confirmed", "yes")];
                self.does(by, &format!("/organizations/{}/move", found.id), &fields).await
            }
            "DELETE /organizations/{id}" => {
                let found = self.organization(target).await;
                let version = found.version.to_string();
                let fields = [("version", &*version), ("confirmed", "yes")];
                self.does(by, &format!("/organizations/{}/delete", found.id), &fields).await
            }
            "GET /audit-logs" => {
                let role = self.role(target).await;
                self.shows(by, "/audit?resource=ROLE", role.name.as_str()).await
            }
            "GET /audit-logs/{id}" => {
                let owner = self.owner_of(target);
                let page = self.app.iam.audit().list(owner, AuditFilter::default(), None, 1).await;
                let entry = page.unwrap().entries.remove(0).id;
                self.opens(by, &format!("/audit/{entry}")).await
            }
            "GET /audit-logs/checkpoint" => self.opens(by, "/audit/checkpoint").await,
            "GET /audit-logs/consistency-proof" => self.opens(by, "/audit/consistency?from=0&to=0").await,
            "GET /audit-logs/{id}/proof" => {
                let owner = self.owner_of(target);
                self.role(target).await;
                self.app.iam.sequence_audit_logs().await.unwrap();
                let page = self.app.iam.audit().list(owner, AuditFilter::default(), None, 1).await;
                let entry = page.unwrap().entries.remove(0).id;
                self.opens(by, &format!("/audit/{entry}/proof")).await
            }
            "GET /audit-logs/retention" => self.shows(by, "/tenant", r#"name="retentionDays""#).await,
            "PUT /audit-logs/retention" => self.does(by, "/tenant/retention", &[("retentionDays", "365")]).await,
            "POST /audit-logs/retention/apply" => self.does(by, "/tenant/retention/apply", &[]).await,
            "DELETE /users/{id}/factors" => {
                self.does(by, &format!("/users/{}/reset-factors", self.user(target).await.id), &[("confirmed", "yes")])
                    .await
            }
            "POST /users/{id}/password-reset" => {
                self.does(
                    by,
                    &format!("/users/{}/password-reset", self.subject(target, by).await.id),
                    &[("confirmed", "yes")],
                )
                .await
            }
            "GET /users/{id}/export" => {
                self.downloads(by, &format!("/users/{}/export", self.subject(target, by).await.id)).await
            }
            "GET /users/{id}/api-keys" => {
                self.opens(by, &format!("/users/{}/api-keys/new", self.subject(target, by).await.id)).await
            }
            "POST /users/{id}/api-keys" => {
                let path = format!("/users/{}/api-keys/new", self.subject(target, by).await.id);
                let fields = [("name", "key"), ("permission", "users:read"), ("organizationId", &*place)];
                self.does(by, &path, &fields).await
            }
            "DELETE /api-keys/{id}" => {
                let user = self.subject(target, by).await.id;
                let key = self.key(target, user).await.to_string();
                let own = by.user == Some(user);
                let path = if own { "/account/revoke-key".into() } else { format!("/users/{user}/revoke-key") };
                self.does(by, &path, &[("key", &key), ("confirmed", "yes")]).await
            }
            "GET /invitations" => {
                let invitation = self.invitation(target).await;
                self.shows(by, "/invitations", &format!("/invitations/{}", invitation.id)).await
            }
            "POST /invitations" => {
                let role = self.app.iam.roles().by_name(self.owner_of(target), "MEMBER").await.unwrap().unwrap();
                let (email, role) = (format!("{}@example.net", fresh("invited.")), role.id.to_string());
                let fields = [("email", &*email), ("role-0", &*role), ("organization-0", &*place)];
                self.does(by, "/invitations/new", &fields).await
            }
            "GET /invitations/{id}" => {
                self.opens(by, &format!("/invitations/{}", self.invitation(target).await.id)).await
            }
            "POST /invitations/{id}/resend" => {
                self.does(by, &format!("/invitations/{}/resend", self.invitation(target).await.id), &[]).await
            }
            "DELETE /invitations/{id}" => {
                self.does(by, &format!("/invitations/{}/revoke", self.invitation(target).await.id), &[]).await
            }
            "GET /webhooks" => self.opens(by, "/webhooks").await,
            "POST /webhooks" => {
                self.remove_webhooks().await;
                self.does(by, "/webhooks/new", &[("url", WEBHOOK_URL), ("types", "USER.*"), ("enabled", "1")]).await
            }
            "GET /webhooks/{id}" | "GET /webhooks/{id}/deliveries" => {
                self.opens(by, &format!("/webhooks/{}", self.webhook(target).await.id)).await
            }
            "PATCH /webhooks/{id}" | "PATCH /webhooks/{id} (address)" => {
                let webhook = self.webhook(target).await;
                let url = if operation.ends_with("(address)") { "https://example.org/" } else { webhook.url.as_str() };
                let version = webhook.version.to_string();
                let fields = [("url", url), ("types", "USER.*"), ("description", "CRM"), ("version", &*version)];
                self.does(by, &format!("/webhooks/{}", webhook.id), &fields).await
            }
            "POST /webhooks/{id}/rotate-secret" => {
                self.does(by, &format!("/webhooks/{}/rotate-secret", self.webhook(target).await.id), &[]).await
            }
            "POST /webhooks/{id}/test" => {
                let path = format!("/console/webhooks/{}/test", self.webhook(target).await.id);
                self.app.post(&path, &by.cookie, &[("form-token", &by.token)]).await.status == StatusCode::OK
            }
            "POST /webhooks/{id}/replay" => {
                let path = format!("/webhooks/{}/replay", self.webhook(target).await.id);
                self.does(by, &path, &[("fromSequence", "1")]).await
            }
            "DELETE /webhooks/{id}" => {
                let webhook = self.webhook(target).await;
                let version = webhook.version.to_string();
                self.does(by, &format!("/webhooks/{}/delete", webhook.id), &[("version", &version)]).await
            }
            "GET /domains" => self.opens(by, "/domains").await,
            "POST /domains" => {
                self.remove_domains().await;
                self.does(by, "/domains/new", &[("domain", &fresh_domain())]).await
            }
            "GET /domains/{id}" => self.opens(by, &format!("/domains/{}", self.domain(target).await.id)).await,
            "POST /domains/{id}/verify" => {
                self.does(by, &format!("/domains/{}/verify", self.domain(target).await.id), &[]).await
            }
            "DELETE /domains/{id}" => {
                self.does(by, &format!("/domains/{}/delete", self.domain(target).await.id), &[]).await
            }
            "GET /identity-providers" => self.opens(by, "/identity-providers").await,
            "POST /identity-providers" => {
                self.remove_providers().await;
                let name = fresh("Acme ");
                let fields = [
                    ("name", &*name),
                    ("issuer", ISSUER),
                    ("clientId", "iam"),
                    ("scopes", "openid"),
                    ("subjectClaim", "sub"),
                    ("provisioning", "LINK"),
                ];
                self.does(by, "/identity-providers/new", &fields).await
            }
            "GET /identity-providers/{id}" => {
                self.opens(by, &format!("/identity-providers/{}", self.provider(target).await.id)).await
            }
            "PATCH /identity-providers/{id} (name)" | "PATCH /identity-providers/{id} (anything else)" => {
                let provider = self.provider(target).await;
                let (mut name, mut slug) = (provider.name.to_string(), provider.slug.to_string());
                if operation.ends_with("(name)") {
                    name = fresh("Acme ");
                } else {
                    slug = fresh("acme-");
                }
                let version = provider.version.to_string();
                let fields = [
                    ("name", &*name),
                    ("slug", &*slug),
                    ("issuer", ISSUER),
                    ("clientId", "iam"),
                    ("scopes", "openid email profile"),
                    ("subjectClaim", "sub"),
                    ("provisioning", "LINK"),
                    ("enabled", "1"),
                    ("version", &*version),
                ];
                self.does(by, &format!("/identity-providers/{}", provider.id), &fields).await
            }
            "DELETE /identity-providers/{id}" => {
                let provider = self.provider(target).await;
                let version = provider.version.to_string();
                self.does(by, &format!("/identity-providers/{}/delete", provider.id), &[("version", &version)]).await
            }
            "GET /directories" => self.opens(by, "/directories").await,
            "POST /directories" | "POST /directories (that adopts)" => {
                self.remove_directories().await;
                let (name, account) = (fresh("Staff "), self.account(self.owner_near(by).await).await.to_string());
                let mut fields = vec![("name", &*name), ("account", "known-key"), ("serviceAccountId", &*account)];
                if operation.ends_with("(that adopts)") {
                    fields.push(("adopt", "1"));
                }
                self.does(by, "/directories/new", &fields).await
            }
            "GET /directories/{id}" => {
                self.opens(by, &format!("/directories/{}", self.directory(target).await.id)).await
            }
            "PATCH /directories/{id} (name)" | "PATCH /directories/{id} (adopt)" => {
                let directory = self.directory(target).await;
                let (mut name, version) = (directory.name.to_string(), directory.version.to_string());
                let mut fields = vec![("version", &*version)];
                if operation.ends_with("(name)") {
                    name = fresh("Staff ");
                } else {
                    fields.push(("adopt", "1"));
                }
                fields.push(("name", &name));
                self.does(by, &format!("/directories/{}", directory.id), &fields).await
            }
            "DELETE /directories/{id} (keep)" | "DELETE /directories/{id} (suspend)" => {
                let directory = self.directory(target).await;
                let version = directory.version.to_string();
                let users = if operation.ends_with("(keep)") { "keep" } else { "suspend" };
                let fields = [("users", users), ("version", &*version), ("confirmed", "yes")];
                self.does(by, &format!("/directories/{}/delete", directory.id), &fields).await
            }
            "POST /authz/check (of another)" => {
                let user = self.user(target).await.id;
                self.opens(by, &format!("/access?user={user}&permission=users:read&organization={place}")).await
            }
            "GET /authz/who" => {
                let may = self.opens(by, &format!("/access/who?permission=users:read&organization={place}")).await;
                // The same right shows who holds which roles.
                let holders = self.opens(by, &format!("/access/holders?organization={place}")).await;
                assert_eq!(holders, may, "{target}");
                may
            }
            // The stack of a test is too small for one function of all operations.
            _ => Box::pin(self.succeeds_about_requests(operation, target, by)).await,
        }
    }

    async fn succeeds_about_requests(&self, operation: &str, target: &str, by: &Person) -> bool {
        let place = self.place_of(target).map(|id| id.to_string()).unwrap_or_default();
        match operation {
            "GET /eligibilities" => {
                let eligibility = self.eligibility(target).await.id;
                self.shows(by, "/eligibilities", &format!("/eligibilities/{eligibility}")).await
            }
            "POST /eligibilities" | "POST /eligibilities (of the holders of a role)" => {
                let role = self.app.iam.roles().by_name(self.owner_of(target), "MEMBER").await.unwrap().unwrap();
                let (role, user) = (role.id.to_string(), self.stranger(target).await.id.to_string());
                let [held, approver] =
                    [self.role(target).await, self.role(target).await].map(|role| role.id.to_string());
                let who = match operation {
                    "POST /eligibilities" => [("user", &*user), ("approverRole", "")],
                    _ => [("heldRole", &*held), ("approverRole", &*approver)],
                };
                let fields = [&[("role", &*role), ("organization", &*place)][..], &who].concat();
                self.does(by, "/eligibilities/new", &fields).await
            }
            "GET /eligibilities/{id}" => {
                self.opens(by, &format!("/eligibilities/{}", self.eligibility(target).await.id)).await
            }
            "PATCH /eligibilities/{id} (narrow)" | "PATCH /eligibilities/{id} (widen)" => {
                let eligibility = self.eligibility(target).await;
                let (version, role) = (eligibility.version.to_string(), self.role(target).await.id.to_string());
                let changed = if operation.ends_with("(narrow)") {
                    [("maxSeconds", "300"), ("approverRole", "")]
                } else {
                    [("maxSeconds", "28800"), ("approverRole", &*role)]
                };
                let fields = [&[("version", &*version), ("approvals", "1")][..], &changed].concat();
                self.does(by, &format!("/eligibilities/{}", eligibility.id), &fields).await
            }
            "DELETE /eligibilities/{id}" => {
                let eligibility = self.eligibility(target).await;
                let version = eligibility.version.to_string();
                self.does(by, &format!("/eligibilities/{}/delete", eligibility.id), &[("version", &version)]).await
            }
            "GET /auth/eligibilities" => self.opens(by, "/access-requests/new").await,
            "GET /access-requests" => {
                let request = self.access_request(target, by, 1).await.id;
                self.shows(by, "/access-requests?show=all", &format!("/access-requests/{request}")).await
            }
            "POST /access-requests" => {
                let users = self.app.iam.users();
                let asking = match by.user {
                    Some(user) if users.get(self.owner_of(target), user).await.is_ok() => user,
                    _ => self.stranger(target).await.id,
                };
                let eligibility = self.eligibility_of(target, asking, 1).await.id.to_string();
                let fields = [("eligibility", &*eligibility), ("reason", "A question"), ("confirmed", "yes")];
                self.does(by, "/access-requests/new", &fields).await
            }
            "GET /access-requests/{id}" => {
                self.opens(by, &format!("/access-requests/{}", self.access_request(target, by, 1).await.id)).await
            }
            "POST /access-requests/{id}/approve" | "POST /access-requests/{id}/deny" => {
                let request = self.access_request(target, by, 1).await.id;
                let found = self.app.iam.access_requests().get(self.owner_of(target), request).await.unwrap();
                let (version, action) = (found.version.to_string(), operation.rsplit('/').next().unwrap());
                let fields = [("version", &*version), ("reason", "A reason")];
                self.does(by, &format!("/access-requests/{request}/{action}"), &fields).await
            }
            "POST /access-requests/{id}/cancel" => {
                let request = self.access_request(target, by, 1).await.id;
                self.does(by, &format!("/access-requests/{request}/cancel"), &[]).await
            }
            "POST /access-requests/{id}/end" => {
                let request = self.access_request(target, by, 0).await.id;
                self.does(by, &format!("/access-requests/{request}/end"), &[]).await
            }
            _ => panic!("the test does not know how the console offers {operation}"),
        }
    }

    /// Whether the preview of an action on many offers an operation; `None` if there is no such action.
    async fn previews(&self, operation: &str, target: &str, by: &Person) -> Option<bool> {
        let place = self.place_of(target).map_or_else(|| "-".to_owned(), |id| id.to_string());
        let of_held = |(user, held): (User, AssignmentId)| format!("{held}/{}", user.id);
        let (action, selected) = match operation {
            "POST /users/{id}/suspend" => ("suspend", self.user(target).await.id.to_string()),
            "POST /users/{id}/reactivate" => {
                let user = self.user(target).await;
                ("reactivate", self.set_status(target, &user, UserStatus::Suspended).await.id.to_string())
            }
            "POST /users/{id}/logout-all" => ("end-sessions", self.user(target).await.id.to_string()),
            "POST /role-assignments" => {
                let user = self.stranger(target).await.id;
                let role = self.app.iam.roles().by_name(self.owner_of(target), "MEMBER").await.unwrap().unwrap().id;
                ("assign", format!("{user}/{role}/{place}/-"))
            }
            "PATCH /role-assignments/{id} (shorten)" => {
                ("change-end", format!("{}/2026-12-31T00:00:00Z", of_held(self.assignment(target, None).await)))
            }
            "PATCH /role-assignments/{id} (extend)" => {
                ("change-end", format!("{}/-", of_held(self.assignment(target, Some(1)).await)))
            }
            "DELETE /role-assignments/{id}" => ("revoke", of_held(self.assignment(target, None).await)),
            _ => return None,
        };
        let fields = [("action", action), ("selected", &*selected), ("form-token", &*by.token)];
        let answer = self.app.post("/console/runs", &by.cookie, &fields).await;
        assert!(!answer.status.is_server_error(), "{operation}: {}", answer.body);
        Some(answer.body.contains(r#"name="confirmed""#))
    }

    /// The user that a row is about.
    async fn subject(&self, target: &str, by: &Person) -> User {
        match (target, by.user) {
            ("oneself", Some(user)) => self.app.iam.users().get(self.owner_near(by).await, user).await.unwrap(),
            _ => self.user(target).await,
        }
    }

    /// The owner of the tenant of a person.
    async fn owner_near(&self, by: &Person) -> &Caller {
        match by.user {
            Some(user) if self.app.iam.users().get(&self.owner, user).await.is_err() => &self.foreign_owner,
            _ => &self.owner,
        }
    }

    async fn get(&self, by: &Person, path: &str) -> Answer {
        self.app.get(&format!("/console{path}"), &by.cookie).await
    }

    async fn opens(&self, by: &Person, path: &str) -> bool {
        self.get(by, path).await.status == StatusCode::OK
    }

    async fn shows(&self, by: &Person, path: &str, sought: &str) -> bool {
        let answer = self.get(by, path).await;
        assert!(!answer.status.is_server_error(), "{path}: {}", answer.body);
        answer.body.contains(sought)
    }

    async fn downloads(&self, by: &Person, path: &str) -> bool {
        let fields = [("form-token", &*by.token)];
        self.app.post(&format!("/console{path}"), &by.cookie, &fields).await.status == StatusCode::OK
    }

    async fn does(&self, by: &Person, path: &str, fields: &[(&str, &str)]) -> bool {
        let mut fields = fields.to_vec();
        fields.push(("form-token", &by.token));
        let answer = self.app.post(&format!("/console{path}"), &by.cookie, &fields).await;
        let is_known = matches!(answer.status.as_u16(), 303 | 400 | 401 | 403 | 404);
        assert!(is_known, "{path}: {} {}", answer.status, answer.body);
        answer.status == StatusCode::SEE_OTHER && !answer.is_to_sign_in()
    }
}

fn fresh_domain() -> String {
    format!("{}.example", fresh("domain-"))
}

async fn organization(app: &App, owner: &Caller, name: &str, parent: Option<OrganizationId>) -> Organization {
    let new = NewOrganization { name: name.to_owned(), slug: None, parent };
    app.iam.organizations().create(owner, new).await.unwrap().organization
}

#[test]
fn the_pages_allow_what_the_access_table_of_the_api_allows() {
    let test = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(compare_with_the_access_table());
    };
    // Without optimisation, the frame of the function with all operations is larger than a megabyte.
    thread::Builder::new().stack_size(8 * 1024 * 1024).spawn(test).unwrap().join().unwrap();
}

async fn compare_with_the_access_table() {
    let world = World::new().await;
    let people = world.people().await;
    let rows = rows();
    for operation in OFFERED {
        assert!(rows.iter().any(|row| row.operation == *operation), "the table has no {operation}");
    }
    let mut differences = Vec::new();
    for Row { operation, target, outcomes } in rows {
        // Who ends the own sessions leaves the test.
        let ends_own =
            target == "oneself" && matches!(operation, "POST /users/{id}/logout-all" | "DELETE /sessions/{id}");
        if !OFFERED.contains(&operation) || ends_own {
            continue;
        }
        for (person, outcome) in people.iter().zip(&outcomes) {
            if target == "oneself" && person.user.is_none() {
                continue;
            }
            let is_allowed = outcome.starts_with('2') || *outcome == "in";
            let succeeds = world.succeeds(operation, target, person).await;
            if is_allowed != succeeds {
                differences.push(format!("{operation} ({target}): the API answers {outcome}, the console {succeeds}"));
            }
            let previews = Box::pin(world.previews(operation, target, person)).await;
            if previews.is_some_and(|previews| is_allowed != previews) {
                differences
                    .push(format!("{operation} ({target}): the API answers {outcome}, a preview of many does not"));
            }
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}
