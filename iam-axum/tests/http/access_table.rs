//! The access table (`access-table.txt`): the answer of the router to each kind of caller, for each operation and
//! target.
//!
//! Every call succeeds for a caller with enough rights. So a refusal comes from access control and not from the input.
//! `IAM_UPDATE_ACCESS_TABLE=1` rewrites the table.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::TimeDelta;
use iam_core::access_review::{AccessReviewFilter, AccessReviewStatus};
use iam_core::directory::{DeletedUsers, NewDirectory};
use iam_core::eligibility::NewEligibility;
use iam_core::federation::code_challenge;
use iam_core::identity_provider::NewIdentityProvider;
use iam_core::mail::MailKind;
use iam_core::page::PageRequest;
use iam_core::user::NewServiceAccount;
use iam_core::{Caller, OrganizationId};
use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use crate::app::{PREFIX, REDIRECT, TestApp, shown};
use crate::authenticator::Authenticator;
use crate::federation::VERIFIER;
use crate::openapi::{Operation, document, operations};
use crate::people::{PASSWORD, Person, profile, with};
use crate::request::{Request, Response};
use Target::{Nothing, Oneself, OtherBranch, OtherTenant, OwnBranch, Tenant};

in_memory_with_mail![the_committed_table_matches_the_answers_of_the_service];

/// The target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Nothing,
    Oneself,
    OwnBranch,
    OtherBranch,
    Tenant,
    OtherTenant,
}

const EVERYWHERE: &[Target] = &[OwnBranch, OtherBranch, Tenant, OtherTenant];
const BRANCHES: &[Target] = &[OwnBranch, OtherBranch, OtherTenant];
const PERSONS: &[Target] = &[Oneself, OwnBranch, OtherBranch, Tenant, OtherTenant];
const TENANTS: &[Target] = &[Tenant, OtherTenant];
const NONE: &[Target] = &[Nothing];

/// Every operation, in one or several variants, with its possible targets.
pub(crate) const ROWS: &[(&str, &[Target])] = &[
    ("POST /auth/register", NONE),
    ("POST /auth/login", NONE),
    ("POST /auth/refresh", NONE),
    ("POST /auth/logout", NONE),
    ("POST /auth/logout-all", NONE),
    ("POST /auth/password", NONE),
    ("GET /auth/me", NONE),
    ("PATCH /auth/me", NONE),
    ("POST /auth/email/verification", NONE),
    ("POST /auth/email/verify", NONE),
    ("POST /auth/email", NONE),
    ("POST /auth/password/forgot", NONE),
    ("POST /auth/password/reset", NONE),
    ("POST /auth/email-login", NONE),
    ("POST /auth/email-login/finish", NONE),
    ("POST /auth/login/second-factor", NONE),
    ("POST /auth/login/second-factor/options", NONE),
    ("POST /auth/passkeys/options", NONE),
    ("POST /auth/passkeys/login", NONE),
    ("POST /auth/step-up", NONE),
    ("POST /auth/step-up/options", NONE),
    ("GET /auth/factors", NONE),
    ("POST /auth/factors/totp", NONE),
    ("POST /auth/factors/totp/{id}/confirm", NONE),
    ("POST /auth/factors/passkeys/options", NONE),
    ("POST /auth/factors/passkeys", NONE),
    ("POST /auth/factors/recovery-codes", NONE),
    ("PATCH /auth/factors/{id}", NONE),
    ("DELETE /auth/factors/{id}", NONE),
    ("DELETE /users/{id}/factors", EVERYWHERE),
    ("GET /users", EVERYWHERE),
    ("GET /users (at home)", EVERYWHERE),
    ("POST /users", NONE),
    ("POST /users (with a home)", BRANCHES),
    ("GET /users/{id}", PERSONS),
    ("GET /users/{id} (at home)", EVERYWHERE),
    ("GET /users/{id}/export", PERSONS),
    ("PATCH /users/{id} (name)", PERSONS),
    ("PATCH /users/{id} (e-mail)", EVERYWHERE),
    ("PATCH /users/{id} (external id)", EVERYWHERE),
    ("PATCH /users/{id} (home)", BRANCHES),
    ("PATCH /users/{id} (suspend)", EVERYWHERE),
    ("PATCH /users/{id} (delete)", EVERYWHERE),
    ("PATCH /users/{id} (restore)", TENANTS),
    ("DELETE /users/{id}", EVERYWHERE),
    ("POST /users/{id}/suspend", EVERYWHERE),
    ("POST /users/{id}/reactivate", EVERYWHERE),
    ("POST /users/{id}/password-reset", PERSONS),
    ("GET /users/{id}/roles", PERSONS),
    ("GET /invitations", EVERYWHERE),
    ("POST /invitations", EVERYWHERE),
    ("POST /invitations/lookup", NONE),
    ("POST /invitations/accept", NONE),
    ("GET /invitations/{id}", EVERYWHERE),
    ("DELETE /invitations/{id}", EVERYWHERE),
    ("POST /invitations/{id}/resend", EVERYWHERE),
    ("POST /service-accounts", NONE),
    ("POST /service-accounts (with a home)", BRANCHES),
    ("PATCH /users/{id} (service account)", EVERYWHERE),
    ("GET /users/{id}/api-keys", PERSONS),
    ("POST /users/{id}/api-keys", PERSONS),
    ("POST /users/{id}/api-keys (without permissions)", PERSONS),
    ("GET /api-keys/{id}", PERSONS),
    ("PATCH /api-keys/{id}", PERSONS),
    ("DELETE /api-keys/{id}", PERSONS),
    ("POST /api-keys/{id}/rotate", PERSONS),
    ("POST /auth/introspect", TENANTS),
    ("GET /users/{id}/sessions", PERSONS),
    ("POST /users/{id}/logout-all", PERSONS),
    ("DELETE /sessions/{id}", PERSONS),
    ("POST /users/{id}/impersonations", EVERYWHERE),
    ("GET /permissions", TENANTS),
    ("POST /permissions", NONE),
    ("DELETE /permissions/{id}", TENANTS),
    ("GET /roles", TENANTS),
    ("POST /roles", NONE),
    ("GET /roles/{id}", TENANTS),
    ("PATCH /roles/{id}", TENANTS),
    ("DELETE /roles/{id}", TENANTS),
    ("GET /role-assignments", EVERYWHERE),
    ("POST /role-assignments", EVERYWHERE),
    ("POST /role-assignments/bulk", EVERYWHERE),
    ("PATCH /role-assignments/{id} (shorten)", EVERYWHERE),
    ("PATCH /role-assignments/{id} (extend)", EVERYWHERE),
    ("DELETE /role-assignments/{id}", EVERYWHERE),
    ("GET /access-reviews", EVERYWHERE),
    ("POST /access-reviews", EVERYWHERE),
    ("GET /access-reviews/{id}", EVERYWHERE),
    ("GET /access-reviews/{id}/items", EVERYWHERE),
    ("PATCH /access-reviews/{id}/items/{itemId}", EVERYWHERE),
    ("POST /access-reviews/{id}/complete", EVERYWHERE),
    ("POST /access-reviews/{id}/cancel", EVERYWHERE),
    ("GET /eligibilities", EVERYWHERE),
    ("POST /eligibilities", EVERYWHERE),
    ("POST /eligibilities (of the holders of a role)", EVERYWHERE),
    ("GET /eligibilities/{id}", EVERYWHERE),
    ("PATCH /eligibilities/{id} (narrow)", EVERYWHERE),
    ("PATCH /eligibilities/{id} (widen)", EVERYWHERE),
    ("DELETE /eligibilities/{id}", EVERYWHERE),
    ("GET /auth/eligibilities", NONE),
    ("GET /access-requests", EVERYWHERE),
    ("POST /access-requests", EVERYWHERE),
    ("GET /access-requests/{id}", PERSONS),
    ("POST /access-requests/{id}/approve", EVERYWHERE),
    ("POST /access-requests/{id}/deny", EVERYWHERE),
    ("POST /access-requests/{id}/cancel", PERSONS),
    ("POST /access-requests/{id}/end", PERSONS),
    ("GET /organizations", EVERYWHERE),
    ("POST /organizations", EVERYWHERE),
    ("GET /organizations/{id}", EVERYWHERE),
    ("PATCH /organizations/{id} (name)", EVERYWHERE),
    ("PATCH /organizations/{id} (move)", EVERYWHERE),
    ("PATCH /organizations/{id} (make a root)", BRANCHES),
    ("PATCH /organizations/{id} (delete)", EVERYWHERE),
    ("PATCH /organizations/{id} (restore)", EVERYWHERE),
    ("DELETE /organizations/{id}", EVERYWHERE),
    ("GET /organizations/{id}/tree", EVERYWHERE),
    ("GET /organizations/{id}/children", EVERYWHERE),
    ("GET /organizations/{id}/ancestors", EVERYWHERE),
    ("POST /authz/check", EVERYWHERE),
    ("POST /authz/check (of another)", EVERYWHERE),
    ("POST /authz/check/bulk", EVERYWHERE),
    ("POST /authz/check/bulk (of another)", EVERYWHERE),
    ("POST /authz/check (of the past)", EVERYWHERE),
    ("GET /authz/who", EVERYWHERE),
    ("POST /access/v1/evaluation", PERSONS),
    ("POST /access/v1/evaluations", PERSONS),
    ("POST /access/v1/search/subject", NONE),
    ("POST /access/v1/search/resource", PERSONS),
    ("POST /access/v1/search/action", PERSONS),
    ("GET /authz/who (of the past)", EVERYWHERE),
    ("GET /role-assignments (of the past)", NONE),
    ("GET /users/{id}/roles (of the past)", PERSONS),
    ("GET /tenants/{id}", TENANTS),
    ("PATCH /tenants/{id}", TENANTS),
    ("POST /tenants/{id}/apply", TENANTS),
    ("GET /tenants/{id}/manifest", TENANTS),
    ("GET /tenants/{id}/deletion", TENANTS),
    ("GET /audit-logs", TENANTS),
    ("POST /audit-logs", NONE),
    ("GET /audit-logs/{id}", TENANTS),
    ("GET /audit-logs/{id}/proof", TENANTS),
    ("GET /audit-logs/resource-types", NONE),
    ("GET /audit-logs/actions", NONE),
    ("GET /audit-logs/catalogue", NONE),
    ("GET /audit-logs/export", TENANTS),
    ("GET /audit-logs/checkpoint", NONE),
    ("GET /audit-logs/consistency-proof", NONE),
    ("GET /events", NONE),
    ("GET /domains", NONE),
    ("POST /domains", NONE),
    ("GET /domains/{id}", TENANTS),
    ("POST /domains/{id}/verify", TENANTS),
    ("DELETE /domains/{id}", TENANTS),
    ("GET /auth/federation/providers", NONE),
    ("POST /auth/federation/discover", NONE),
    ("POST /auth/federation/start", NONE),
    ("GET /auth/federation/callback/{id}", NONE),
    ("POST /auth/federation/finish", NONE),
    ("POST /auth/federation/backchannel-logout/{id}", NONE),
    ("POST /auth/identities/start", NONE),
    ("GET /users/{id}/identities", PERSONS),
    ("DELETE /identities/{id}", PERSONS),
    ("GET /identity-providers", NONE),
    ("POST /identity-providers", NONE),
    ("GET /identity-providers/{id}", TENANTS),
    ("PATCH /identity-providers/{id} (name)", TENANTS),
    ("PATCH /identity-providers/{id} (anything else)", TENANTS),
    ("DELETE /identity-providers/{id}", TENANTS),
    ("GET /directories", NONE),
    ("POST /directories", NONE),
    ("POST /directories (that adopts)", NONE),
    ("GET /directories/{id}", TENANTS),
    ("PATCH /directories/{id} (name)", TENANTS),
    ("PATCH /directories/{id} (adopt)", TENANTS),
    ("DELETE /directories/{id} (keep)", TENANTS),
    ("DELETE /directories/{id} (suspend)", TENANTS),
    ("GET /directories/{id}/groups", TENANTS),
    ("GET /directories/{id}/groups/{groupId}", TENANTS),
    ("PUT /directories/{id}/groups/{groupId}/grants", TENANTS),
    ("GET /webhooks", NONE),
    ("POST /webhooks", NONE),
    ("GET /webhooks/{id}", TENANTS),
    ("PATCH /webhooks/{id}", TENANTS),
    ("PATCH /webhooks/{id} (address)", TENANTS),
    ("PATCH /webhooks/{id} (switch on)", TENANTS),
    ("DELETE /webhooks/{id}", TENANTS),
    ("POST /webhooks/{id}/rotate-secret", TENANTS),
    ("POST /webhooks/{id}/test", TENANTS),
    ("GET /webhooks/{id}/deliveries", TENANTS),
    ("POST /webhooks/{id}/replay", TENANTS),
    ("GET /audit-logs/retention", NONE),
    ("PUT /audit-logs/retention", NONE),
    ("POST /audit-logs/retention/apply", NONE),
    ("POST /audit-logs/erasures", EVERYWHERE),
    ("GET /legal-holds", NONE),
    ("POST /legal-holds", NONE),
    ("GET /legal-holds/{id}", TENANTS),
    ("POST /legal-holds/{id}/release", TENANTS),
    ("GET /health", NONE),
    ("GET /health/ready", NONE),
    ("GET /health/live", NONE),
    ("GET /.well-known/jwks.json", NONE),
];

const LEGEND: &str = "\
Who may do what, where: what the service answers to whom.

  in, out       a list (200), with the target in it or without
  number        the status: 401 who are you, 403 you may not, 404 there is no such thing
  recent        the session must have authenticated within the last ten minutes

Targets
  oneself       the user of the request
  own branch    in the branch of the member and of the branch admin
  other branch  in a branch beside it
  tenant        in the tenant of all of these, but in no branch; a root, when it is an organization
  other tenant  in the tenant of the foreign admin
  -             nothing in particular; what is made is made in one's own tenant

People
  anonymous     without a token
  no role       a user without any role
  member        MEMBER in a branch
  branch admin  ORGANIZATION_ADMIN in the same branch
  auditor       AUDITOR of the tenant
  tenant admin  TENANT_ADMIN of the tenant
  foreign admin TENANT_ADMIN of another tenant
";

const PEOPLE: [&str; 7] =
    ["anonymous", "no role", "member", "branch admin", "auditor", "tenant admin", "foreign admin"];

impl Target {
    fn as_str(self) -> &'static str {
        match self {
            Nothing => "-",
            Oneself => "oneself",
            OwnBranch => "own branch",
            OtherBranch => "other branch",
            Tenant => "tenant",
            OtherTenant => "other tenant",
        }
    }
}

/// The operation of a row, without the variant.
pub(crate) fn operation_of(row: &str) -> &str {
    row.split_once(" (").map_or(row, |(operation, _)| operation)
}

/// Two tenants, their branches and their administrators.
pub(crate) struct World<'a> {
    app: &'a TestApp,
    /// The administrator that creates the resources for the calls.
    pub(crate) owner: Person,
    /// The same in the other tenant.
    pub(crate) foreign_owner: Person,
    own_branch: OrganizationId,
    other_branch: OrganizationId,
    foreign_branch: OrganizationId,
    /// The authenticator app of the last call that needs one.
    authenticator: Mutex<Option<Authenticator>>,
}

/// A request that is not sent yet.
pub(crate) struct Call {
    method: axum::http::Method,
    path: String,
    pub(crate) body: Option<Value>,
    /// The id that the test looks for in a list.
    sought: Option<String>,
}

impl Call {
    pub(crate) fn request<'a>(&self, app: &'a TestApp) -> Request<'a> {
        match &self.body {
            Some(body) => self.with_body(app, body),
            None => app.request(self.method.clone(), &self.path),
        }
    }

    /// The same with another body.
    pub(crate) fn with_body<'a>(&self, app: &'a TestApp, body: &Value) -> Request<'a> {
        let request = app.request(self.method.clone(), &self.path);
        if self.path.contains("/backchannel-logout/") { request.form(body) } else { request.json(body) }
    }

    fn outcome(&self, answer: &Response) -> String {
        match &self.sought {
            Some(id) if answer.status() == 200 => if answer.text().contains(id) { "in" } else { "out" }.to_owned(),
            _ => answer.status().to_string(),
        }
    }
}

impl<'a> World<'a> {
    pub(crate) async fn of(app: &'a TestApp) -> Self {
        let owner = app.register("owner@example.com").await;
        let foreign_owner = app.register("owner@example.org").await;
        let company = app.organization(&owner, "company").await;
        let own_branch = app.below(&owner, company, "own-branch").await;
        let other_branch = app.below(&owner, company, "other-branch").await;
        let foreign_branch = app.organization(&foreign_owner, "foreign-branch").await;
        let authenticator = Mutex::default();
        Self { app, owner, foreign_owner, own_branch, other_branch, foreign_branch, authenticator }
    }

    /// The callers of [`PEOPLE`] that have a token.
    async fn callers(&self) -> [Person; 6] {
        let branch = Some(self.own_branch);
        [
            self.user_with_role(&self.owner, "no-role@example.com", None).await,
            self.user_with_role(&self.owner, "member@example.com", Some(("MEMBER", branch))).await,
            self.user_with_role(&self.owner, "branch@example.com", Some(("ORGANIZATION_ADMIN", branch))).await,
            self.user_with_role(&self.owner, "auditor@example.com", Some(("AUDITOR", None))).await,
            self.user_with_role(&self.owner, "admin@example.com", Some(("TENANT_ADMIN", None))).await,
            self.user_with_role(&self.foreign_owner, "admin@example.org", Some(("TENANT_ADMIN", None))).await,
        ]
    }

    async fn user_with_role(
        &self,
        owner: &Person,
        email: &str,
        role: Option<(&str, Option<OrganizationId>)>,
    ) -> Person {
        let person = self.app.colleague(owner, email).await;
        if let Some((role, organization)) = role {
            self.app.assign(owner, &person.user, role, organization, None).await;
        }
        person
    }

    /// The administrator of the tenant of a target.
    fn owner_of(&self, target: Target) -> &Person {
        if target == OtherTenant { &self.foreign_owner } else { &self.owner }
    }

    fn organization_of(&self, target: Target) -> Option<OrganizationId> {
        match target {
            OwnBranch => Some(self.own_branch),
            OtherBranch => Some(self.other_branch),
            OtherTenant => Some(self.foreign_branch),
            Nothing | Oneself | Tenant => None,
        }
    }

    /// A call of a row. Creates everything that the call needs for this call only.
    pub(crate) async fn call(&self, row: &str, target: Target, by: &Person) -> Call {
        // Lists show the newest first.
        self.app.pass(TimeDelta::milliseconds(1));
        let (method, template) = operation_of(row).split_once(' ').unwrap();
        let id = if template.contains("{id}") { self.subject(row, target, by).await } else { String::new() };
        let item = if template.contains("{itemId}") { self.first_item(target, &id).await } else { String::new() };
        let group = if template.contains("{groupId}") { self.group(target, &id).await } else { String::new() };
        let sought = self.sought(row, target).await;
        let prefix = if template.starts_with("/.well-known") { "" } else { PREFIX };
        let mut query = match template {
            "/audit-logs/export" => String::new(),
            "/auth/federation/providers" => format!("?tenant={}", self.owner.tenant),
            "/audit-logs/consistency-proof" => "?from=0".to_owned(),
            "/directories/{id}" if row.ends_with("(keep)") => "?users=keep".to_owned(),
            "/directories/{id}" if row.ends_with("(suspend)") => "?users=suspend".to_owned(),
            "/authz/who" => match self.organization_of(target) {
                None => "?permission=users:read".to_owned(),
                Some(id) => format!("?permission=users:read&organizationId={id}"),
            },
            _ if sought.is_some() => "?limit=100".to_owned(),
            _ => String::new(),
        };
        if method == "GET" && row.ends_with("(of the past)") {
            let parameter = if template == "/authz/who" { "at" } else { "asOf" };
            let separator = if query.is_empty() { '?' } else { '&' };
            query.push_str(&format!(
                "{separator}{parameter}={}",
                shown(self.app.iam.now() - TimeDelta::milliseconds(1))
            ));
        }
        Call {
            method: method.parse().unwrap(),
            path: format!(
                "{prefix}{}{query}",
                template.replace("{id}", &id).replace("{itemId}", &item).replace("{groupId}", &group)
            ),
            body: self.body(row, target, by).await,
            sought,
        }
    }

    /// The id in the path.
    async fn subject(&self, row: &str, target: Target, by: &Person) -> String {
        let owner = self.owner_of(target);
        if row.starts_with("GET /auth/federation/callback/") {
            let provider = self.social_provider(&by.tenant).await;
            let claims = json!({ "sub": fresh("subject-"), "email": fresh_email() });
            return format!("{provider}?{}", self.app.federated_query(&provider, &claims).await);
        }
        if row.starts_with("POST /auth/federation/backchannel-logout/") {
            return self.social_provider(&by.tenant).await;
        }
        match row.split('/').nth(1).unwrap() {
            "auth" => {
                let is_unconfirmed = row.ends_with("/confirm");
                let authenticator = if is_unconfirmed { self.app.set_up(by).await } else { self.app.enrol(by).await };
                let id = authenticator.id.clone();
                *self.authenticator.lock().unwrap() = Some(authenticator);
                id
            }
            "users" if target == Oneself => by.user.clone(),
            "users" if row.ends_with("(service account)") => self.service_account(target).await,
            "users" if row.ends_with("(at home)") => self.user_at_home(target).await,
            "api-keys" => self.api_key(target, by).await,
            "users" => {
                let user = self.user(target).await;
                match row {
                    "PATCH /users/{id} (restore)" => self.app.set_status(owner, &user, "INACTIVE").await,
                    "POST /users/{id}/reactivate" => self.app.set_status(owner, &user, "SUSPENDED").await,
                    _ => {}
                }
                user
            }
            "sessions" if target == Oneself => by.session.clone(),
            "sessions" => {
                let organization = self.organization_of(target);
                self.user_with_role(owner, &fresh_email(), Some(("MEMBER", organization))).await.session
            }
            "tenants" => owner.tenant.clone(),
            "roles" => self.app.role(owner, &fresh("ROLE_OF_TABLE_"), &["users:read"]).await,
            "permissions" => self.permission(owner).await,
            "role-assignments" => self.assignment(target, row.ends_with("(extend)")).await,
            "audit-logs" => self.sequenced_entry(owner).await,
            "invitations" => self.invitation(target).await,
            "access-reviews" => self.access_review(target, row.ends_with("/complete")).await,
            "eligibilities" => self.eligibility(target).await,
            "access-requests" => self.access_request(target, by, row.ends_with("/end")).await,
            "legal-holds" => self.legal_hold(owner).await,
            "domains" => self.domain(owner).await,
            "identity-providers" => self.provider(owner).await,
            "directories" => self.directory(owner).await,
            "identities" => {
                let linked = match target {
                    Oneself => by.clone(),
                    _ => {
                        let role = Some(("MEMBER", self.organization_of(target)));
                        self.user_with_role(owner, &fresh_email(), role).await
                    }
                };
                self.app.linked(&self.social_provider(&linked.tenant).await, &linked).await
            }
            "webhooks" => self.webhook(owner).await,
            "organizations" => {
                let organization = self.organization(target).await;
                if row.ends_with("(restore)") {
                    self.app.delete(&format!("/organizations/{organization}")).by(owner).send().await.no_content();
                }
                organization.to_string()
            }
            _ => panic!("the test does not know what {{id}} is in {row}"),
        }
    }

    /// The id of a resource that the list of the row may contain.
    async fn sought(&self, row: &str, target: Target) -> Option<String> {
        let owner = self.owner_of(target);
        Some(match row {
            "GET /users" => self.user(target).await,
            "GET /users (at home)" => self.user_at_home(target).await,
            "GET /permissions" => self.permission(owner).await,
            "GET /roles" | "GET /audit-logs" | "GET /audit-logs/export" => {
                self.app.role(owner, &fresh("ROLE_OF_TABLE_"), &[]).await
            }
            "GET /invitations" => self.invitation(target).await,
            "GET /access-reviews" => self.access_review(target, false).await,
            "GET /eligibilities" => self.eligibility(target).await,
            "GET /access-requests" => self.access_request(target, owner, false).await,
            "GET /role-assignments" => self.assignment(target, false).await,
            "GET /organizations" => self.organization(target).await.to_string(),
            _ => return None,
        })
    }

    async fn body(&self, row: &str, target: Target, by: &Person) -> Option<Value> {
        let owner = self.owner_of(target);
        let organization = self.organization_of(target);
        Some(match row {
            "POST /auth/register" | "POST /users" => profile(&fresh_email()),
            "POST /auth/login" => json!({ "email": by.email, "password": PASSWORD, "tenant": by.tenant }),
            "POST /auth/login/second-factor" => {
                let code = self.app.enrol(by).await.code(self.app, 0);
                json!({ "challenge": self.app.challenge(by).await, "code": code })
            }
            "POST /auth/login/second-factor/options" => {
                self.app.passkey(by).await;
                json!({ "challenge": self.app.challenge(by).await })
            }
            "POST /auth/passkeys/options" => json!({ "tenant": by.tenant }),
            "POST /auth/passkeys/login" => {
                let mut laptop = self.app.passkey(by).await;
                json!({ "credential": laptop.answer(&self.app.passkey_options(&json!({})).await) })
            }
            "POST /auth/factors/passkeys" => json!({ "credential": self.app.new_passkey(by).await }),
            "POST /auth/step-up" => json!({ "password": PASSWORD }),
            "POST /auth/factors/totp" => json!({ "name": "Phone" }),
            "POST /auth/factors/totp/{id}/confirm" => {
                json!({ "code": self.authenticator.lock().unwrap().as_ref().unwrap().code(self.app, 0) })
            }
            "POST /auth/factors/recovery-codes" => {
                self.app.enrol(by).await;
                return None;
            }
            "PATCH /auth/factors/{id}" => json!({ "name": fresh("Phone ") }),
            "PATCH /auth/me" => json!({ "attributes": {} }),
            "POST /auth/refresh" => json!({ "refreshToken": by.refresh }),
            "POST /auth/password" => json!({ "currentPassword": PASSWORD, "newPassword": PASSWORD }),
            "POST /auth/email/verify" => {
                let email = fresh_email();
                self.app.register(&email).await;
                json!({ "token": self.app.token(MailKind::Verify, &email).await })
            }
            "POST /auth/password/forgot" => json!({ "email": fresh_email() }),
            "POST /auth/password/reset" => {
                let email = fresh_email();
                self.app.register(&email).await;
                self.app.post("/auth/password/forgot").json(&json!({ "email": email })).send().await.accepted();
                json!({ "token": self.app.token(MailKind::Reset, &email).await, "newPassword": PASSWORD })
            }
            "POST /auth/email-login" => json!({ "email": fresh_email() }),
            "POST /auth/email-login/finish" => {
                let person = self.app.register(&fresh_email()).await;
                self.app.allow_email_login(&person).await;
                json!({ "token": self.app.email_login(&person).await.token })
            }
            "POST /invitations" => self.new_invitation(target).await,
            "POST /access-reviews" => {
                self.cancel_reviews(by).await;
                let due_at = shown(self.app.iam.now() + TimeDelta::days(1));
                json!({ "name": "Spring", "organizationId": organization, "dueAt": due_at })
            }
            "PATCH /access-reviews/{id}/items/{itemId}" => json!({ "decision": "KEEP" }),
            "POST /eligibilities" => {
                let (user, role) = (self.app.add_user(owner, &fresh_email()).await, "MEMBER");
                let role = self.app.role_id(owner, role).await;
                json!({ "roleId": role, "organizationId": organization, "userId": user })
            }
            "PATCH /eligibilities/{id} (narrow)" => json!({ "maxSeconds": 300 }),
            "POST /eligibilities (of the holders of a role)" => {
                let role = self.app.role_id(owner, "MEMBER").await;
                let [held, approver] = [fresh("ROLE_OF_TABLE_"), fresh("ROLE_OF_TABLE_")];
                let held = self.app.role(owner, &held, &[]).await;
                let approver = self.app.role(owner, &approver, &[]).await;
                json!({
                    "roleId": role, "organizationId": organization, "heldRoleId": held, "approverRoleId": approver,
                })
            }
            "PATCH /eligibilities/{id} (widen)" => {
                json!({ "approverRoleId": self.app.role(owner, &fresh("ROLE_OF_TABLE_"), &[]).await })
            }
            "POST /access-requests" => {
                let asking = if by.tenant == owner.tenant { by } else { owner };
                let eligibility = self.eligibility_of(target, &asking.user, 1).await;
                json!({ "eligibilityId": eligibility, "reason": "A question about an order" })
            }
            "POST /access-requests/{id}/approve" | "POST /access-requests/{id}/deny" => json!({}),
            "POST /invitations/lookup" => json!({ "token": self.invited().await }),
            "POST /invitations/accept" => {
                json!({
                    "token": self.invited().await,
                    "password": PASSWORD,
                    "firstName": "Grace",
                    "lastName": "Hopper",
                })
            }
            "POST /auth/email" => json!({ "newEmail": fresh_email(), "currentPassword": PASSWORD }),
            "PATCH /users/{id} (e-mail)" => json!({ "email": fresh_email() }),
            "PATCH /users/{id} (external id)" => json!({ "externalId": fresh("external-") }),
            "POST /service-accounts" => json!({ "name": fresh("Robot ") }),
            "POST /service-accounts (with a home)" => {
                json!({ "name": fresh("Robot "), "homeOrganizationId": organization })
            }
            "PATCH /users/{id} (service account)" => json!({ "name": fresh("Robot ") }),
            "POST /users/{id}/api-keys" => {
                json!({ "name": "key", "permissions": ["users:read"], "organizationId": organization })
            }
            "POST /users/{id}/api-keys (without permissions)" => json!({ "name": "key", "permissions": [] }),
            "PATCH /api-keys/{id}" => json!({ "permissions": [] }),
            "POST /api-keys/{id}/rotate" => json!({}),
            "POST /users/{id}/impersonations" => json!({ "reason": "A question about an order", "seconds": 600 }),
            "POST /auth/introspect" => json!({ "token": owner.access }),
            // No other row deletes this user.
            "POST /legal-holds" => {
                let owner = if by.tenant == self.owner.tenant { &self.owner } else { &self.foreign_owner };
                json!({ "userId": self.app.add_user(owner, &fresh_email()).await, "reason": "Case 2026-17" })
            }
            "POST /legal-holds/{id}/release" => json!({ "reason": "The case is closed." }),
            "POST /domains" => {
                self.remove_domains(by).await;
                json!({ "domain": fresh_domain() })
            }
            "POST /auth/federation/discover" => json!({ "email": by.email }),
            "POST /auth/federation/start" | "POST /auth/identities/start" => json!({
                "providerId": self.social_provider(&by.tenant).await,
                "redirectUri": REDIRECT,
                "codeChallenge": code_challenge(VERIFIER),
            }),
            "POST /auth/federation/finish" => {
                let provider = self.social_provider(&by.tenant).await;
                let claims = json!({ "sub": fresh("subject-"), "email": fresh_email() });
                json!({ "code": self.app.federated_code(&provider, &claims).await, "codeVerifier": VERIFIER })
            }
            "POST /auth/federation/backchannel-logout/{id}" => json!({ "logout_token": self.app.logout_token() }),
            "POST /identity-providers" => {
                self.remove_providers(by).await;
                json!({ "name": "Acme", "issuer": ISSUER, "clientId": "iam" })
            }
            "PATCH /identity-providers/{id} (name)" => json!({ "name": fresh("Acme ") }),
            "PATCH /identity-providers/{id} (anything else)" => json!({ "slug": fresh("acme-") }),
            "POST /directories" | "POST /directories (that adopts)" => {
                self.remove_directories(by).await;
                let adopt = row.ends_with("(that adopts)");
                json!({ "name": "Staff", "serviceAccountId": self.robot(by).await, "adopt": adopt })
            }
            "PATCH /directories/{id} (name)" => json!({ "name": fresh("Staff ") }),
            "PATCH /directories/{id} (adopt)" => json!({ "adopt": true }),
            "PUT /directories/{id}/groups/{groupId}/grants" => {
                let role = self.app.role(owner, &fresh("ROLE_OF_TABLE_"), &[]).await;
                json!({ "grants": [{ "roleId": role, "organizationId": null }] })
            }
            "POST /webhooks" => {
                self.remove_webhooks(by).await;
                json!({ "url": "https://example.com", "types": ["USER.*"] })
            }
            "PATCH /webhooks/{id}" => json!({ "enabled": false }),
            "PATCH /webhooks/{id} (address)" => json!({ "url": "https://example.org" }),
            "PATCH /webhooks/{id} (switch on)" => json!({ "enabled": true }),
            "POST /webhooks/{id}/replay" => json!({ "fromSequence": 1 }),
            "PATCH /users/{id} (name)" => json!({ "firstName": fresh("Grace ") }),
            "POST /users (with a home)" => {
                with(profile(&fresh_email()), &json!({ "homeOrganizationId": organization }))
            }
            "PATCH /users/{id} (home)" => json!({ "homeOrganizationId": organization }),
            "PATCH /users/{id} (suspend)" => json!({ "status": "SUSPENDED" }),
            "PATCH /users/{id} (delete)" => json!({ "status": "INACTIVE" }),
            "PATCH /users/{id} (restore)" => json!({ "status": "ACTIVE" }),
            "POST /permissions" => json!({ "name": fresh("things:do-") }),
            "POST /roles" => json!({ "name": fresh("ROLE_OF_TABLE_"), "permissions": ["users:read"] }),
            "PATCH /roles/{id}" => json!({ "permissions": ["users:read", "organizations:read"] }),
            "POST /role-assignments" => self.new_assignment(target).await,
            "POST /role-assignments/bulk" => json!({ "assignments": [self.new_assignment(target).await] }),
            "PATCH /role-assignments/{id} (shorten)" => json!({ "expiresAt": self.in_days(1) }),
            "PATCH /role-assignments/{id} (extend)" => json!({ "expiresAt": null }),
            "POST /organizations" => json!({ "name": fresh("Branch "), "parentId": organization }),
            "PATCH /organizations/{id} (name)" => json!({ "name": fresh("Branch ") }),
            "PATCH /organizations/{id} (move)" => json!({ "parentId": self.organization(target).await }),
            "PATCH /organizations/{id} (make a root)" => json!({ "parentId": null }),
            "PATCH /organizations/{id} (delete)" => json!({ "status": "INACTIVE" }),
            "PATCH /organizations/{id} (restore)" => json!({ "status": "ACTIVE" }),
            "POST /authz/check" => question(organization, None),
            "POST /authz/check (of another)" => question(organization, Some(self.user(target).await)),
            "POST /authz/check (of the past)" => {
                let mut question = question(organization, Some(self.user(target).await));
                question["at"] = json!(shown(self.app.iam.now() - TimeDelta::milliseconds(1)));
                question
            }
            "POST /authz/check/bulk" => json!({ "checks": [question(organization, None)] }),
            "POST /authz/check/bulk (of another)" => {
                json!({ "checks": [question(organization, Some(self.user(target).await))] })
            }
            _ if row.starts_with("POST /access/v1/") => {
                let user = if target == Oneself { by.user.clone() } else { self.user(target).await };
                json!({
                    "subject": { "type": "user", "id": user },
                    "action": { "name": "read" },
                    "resource": { "type": "users", "id": "any" },
                })
            }
            "POST /audit-logs" => json!({ "action": "INVOICE_SENT", "resourceType": "INVOICE" }),
            "PUT /audit-logs/retention" => json!({ "retentionDays": 365 }),
            "POST /audit-logs/erasures" => json!({ "userId": self.deleted_user(target).await }),
            "PATCH /tenants/{id}" => json!({ "name": format!("{} of {}", fresh("Name "), owner.email) }),
            "POST /tenants/{id}/apply" => {
                json!({ "settings": { "name": format!("{} of {}", fresh("Name "), owner.email) } })
            }
            _ => return None,
        })
    }

    /// An invitation with the role MEMBER at the target.
    async fn new_invitation(&self, target: Target) -> Value {
        let role = self.app.role_id(self.owner_of(target), "MEMBER").await;
        let organization = self.organization_of(target);
        json!({ "email": fresh_email(), "roles": [{ "roleId": role, "organizationId": organization }] })
    }

    async fn invitation(&self, target: Target) -> String {
        let new = self.new_invitation(target).await;
        self.app.invite(self.owner_of(target), &new).await
    }

    /// A review with one item, which is about a user with the role MEMBER at the target.
    /// Ends the open reviews of a tenant, which may have a limited number of them.
    async fn cancel_reviews(&self, person: &Person) {
        let system = Caller::system(person.tenant.parse().unwrap(), "test");
        let reviews = self
            .app
            .iam
            .access_reviews()
            .list(&system, &AccessReviewFilter::default(), PageRequest::default())
            .await
            .unwrap();
        for listed in reviews.items.into_iter().filter(|listed| listed.review.status == AccessReviewStatus::Open) {
            self.app.iam.access_reviews().cancel(&system, listed.review.id).await.unwrap();
        }
    }

    async fn access_review(&self, target: Target, is_decided: bool) -> String {
        self.cancel_reviews(self.owner_of(target)).await;
        let (owner, user) = (self.owner_of(target), self.user(target).await);
        let members = json!({ "organizationId": self.organization_of(target), "userIds": [user] });
        let review = self.app.review(owner, &members).await;
        if is_decided {
            let item = self.first_item(target, &review).await;
            self.app.decide(owner, &review, &item, "REVOKE").await.ok();
        }
        review
    }

    async fn first_item(&self, target: Target, review: &str) -> String {
        self.app.review_items(self.owner_of(target), review).await.remove(0)
    }

    /// The token of an invitation.
    async fn invited(&self) -> String {
        let email = fresh_email();
        self.app.invite(&self.owner, &json!({ "email": email, "roles": [] })).await;
        self.app.token(MailKind::Invitation, &email).await
    }

    /// A deleted user who had the role MEMBER at the target.
    async fn deleted_user(&self, target: Target) -> String {
        let user = self.user(target).await;
        self.app.delete(&format!("/users/{user}")).by(self.owner_of(target)).send().await.no_content();
        user
    }

    /// A user who has only the role MEMBER at the target.
    async fn user(&self, target: Target) -> String {
        let owner = self.owner_of(target);
        let user = self.app.add_user(owner, &fresh_email()).await;
        self.app.assign(owner, &user, "MEMBER", self.organization_of(target), None).await;
        user
    }

    /// A user without roles whose home is the target.
    async fn user_at_home(&self, target: Target) -> String {
        let owner = self.owner_of(target);
        let user = self.app.add_user(owner, &fresh_email()).await;
        self.app.set_home(owner, &user, self.organization_of(target)).await;
        user
    }

    /// A service account that has only the role MEMBER at the target.
    async fn service_account(&self, target: Target) -> String {
        let owner = self.owner_of(target);
        let body = json!({ "name": fresh("Robot ") });
        let account = self.app.post("/service-accounts").by(owner).json(&body).send().await.created();
        let account = account["id"].as_str().unwrap().to_owned();
        self.app.assign(owner, &account, "MEMBER", self.organization_of(target), None).await;
        account
    }

    /// A key of the caller, or of a service account at the target.
    async fn api_key(&self, target: Target, by: &Person) -> String {
        let (maker, user) = match target {
            Oneself => (by, by.user.clone()),
            _ => (self.owner_of(target), self.service_account(target).await),
        };
        let key = self.app.key(maker, &user, &json!({ "permissions": ["users:read"] })).await;
        key["id"].as_str().unwrap().to_owned()
    }

    /// An eligibility of a user for the role MEMBER at the target.
    async fn eligibility(&self, target: Target) -> String {
        let owner = self.owner_of(target);
        let user = self.app.add_user(owner, &fresh_email()).await;
        let role = self.app.role_id(owner, "MEMBER").await;
        let new = NewEligibility {
            organization: self.organization_of(target),
            ..NewEligibility::of_user(role.parse().unwrap(), user.parse().unwrap())
        };
        let system = Caller::system(owner.tenant.parse().unwrap(), "test");
        self.app.iam.eligibilities().create(&system, new).await.unwrap().id.to_string()
    }

    /// An eligibility of a user for a role without permissions at the target, with so many approvals.
    async fn eligibility_of(&self, target: Target, user: &str, approvals: i64) -> String {
        let owner = self.owner_of(target);
        let role = self.app.role(owner, &fresh("ROLE_OF_TABLE_"), &[]).await;
        let new = NewEligibility {
            organization: self.organization_of(target),
            approvals: Some(approvals),
            ..NewEligibility::of_user(role.parse().unwrap(), user.parse().unwrap())
        };
        let system = Caller::system(owner.tenant.parse().unwrap(), "test");
        self.app.iam.eligibilities().create(&system, new).await.unwrap().id.to_string()
    }

    /// A request of the caller, or of a user at the target: PENDING or ACTIVE.
    async fn access_request(&self, target: Target, by: &Person, is_active: bool) -> String {
        let asking = match target {
            Oneself => by.clone(),
            _ => self.app.colleague(self.owner_of(target), &fresh_email()).await,
        };
        let (approvals, owner) = (if is_active { 0 } else { 1 }, self.owner_of(target));
        // Oneself may be of the other tenant.
        let place = if asking.tenant == owner.tenant { target } else { OtherTenant };
        let eligibility = self.eligibility_of(place, &asking.user, approvals).await;
        self.app.access_request(&asking, &eligibility).await
    }

    /// A hold on a user whom no other row deletes.
    async fn legal_hold(&self, owner: &Person) -> String {
        let user = self.app.add_user(owner, &fresh_email()).await;
        let body = json!({ "userId": user, "reason": "Case 2026-17" });
        let hold = self.app.post("/legal-holds").by(owner).json(&body).send().await.created();
        hold["id"].as_str().unwrap().to_owned()
    }

    /// The only domain of a tenant, which may have no more than 50. Its record is published.
    async fn domain(&self, owner: &Person) -> String {
        self.remove_domains(owner).await;
        let domain = self.app.domain(owner, &fresh_domain()).await;
        self.app.publish(&domain);
        domain["id"].as_str().unwrap().to_owned()
    }

    async fn remove_domains(&self, person: &Person) {
        let system = Caller::system(person.tenant.parse().unwrap(), "test");
        for domain in self.app.iam.domains().list(&system).await.unwrap() {
            self.app.iam.domains().delete(&system, domain.id).await.unwrap();
        }
    }

    /// The only provider of a tenant, which may have no more than 20.
    async fn provider(&self, owner: &Person) -> String {
        self.remove_providers(owner).await;
        let system = Caller::system(owner.tenant.parse().unwrap(), "test");
        let (name, issuer, client_id) = ("Acme".to_owned(), ISSUER.to_owned(), "iam".to_owned());
        let new = NewIdentityProvider { name, issuer, client_id, ..NewIdentityProvider::default() };
        self.app.iam.identity_providers().create(&system, new).await.unwrap().id.to_string()
    }

    /// The only provider of a tenant, which makes users.
    async fn social_provider(&self, tenant: &str) -> String {
        let owner = if tenant == self.owner.tenant { &self.owner } else { &self.foreign_owner };
        self.remove_providers(owner).await;
        self.app.social_provider(&owner.tenant).await
    }

    async fn remove_providers(&self, person: &Person) {
        let system = Caller::system(person.tenant.parse().unwrap(), "test");
        for provider in self.app.iam.identity_providers().list(&system).await.unwrap() {
            self.app.iam.identity_providers().delete(&system, provider.id).await.unwrap();
        }
    }

    /// The only directory of a tenant, which may have no more than 10. It has one user.
    async fn directory(&self, owner: &Person) -> String {
        self.remove_directories(owner).await;
        let system = Caller::system(owner.tenant.parse().unwrap(), "test");
        let account = self.app.robot(owner, &["users:create"]).await;
        let (name, service_account) = ("Staff".to_owned(), account.parse().unwrap());
        let new = NewDirectory { name, service_account, identity_provider: None, adopt: false };
        let directory = self.app.iam.directories().create(&system, new).await.unwrap();
        let key = self.app.key(owner, &account, &json!({})).await;
        self.app.provision(key["key"].as_str().unwrap(), &json!({ "userName": fresh_email() })).await;
        directory.id.to_string()
    }

    /// A group of a directory at the target.
    async fn group(&self, target: Target, directory: &str) -> String {
        self.app.directory_group(self.owner_of(target), directory).await
    }

    /// A new service account without roles in the tenant of a person.
    async fn robot(&self, person: &Person) -> String {
        let system = Caller::system(person.tenant.parse().unwrap(), "test");
        let new = NewServiceAccount { name: fresh("Robot ") };
        self.app.iam.users().create_service_account(&system, new).await.unwrap().id.to_string()
    }

    async fn remove_directories(&self, person: &Person) {
        let system = Caller::system(person.tenant.parse().unwrap(), "test");
        for (directory, _) in self.app.iam.directories().list(&system).await.unwrap() {
            self.app.iam.directories().delete(&system, directory.id, DeletedUsers::Keep).await.unwrap();
        }
    }

    /// The only webhook of a tenant, which may have no more than 20.
    async fn webhook(&self, owner: &Person) -> String {
        self.remove_webhooks(owner).await;
        let body = json!({ "url": "https://example.com", "types": ["USER.*"] });
        let made = self.app.post("/webhooks").by(owner).json(&body).send().await.created();
        self.app.sequence().await;
        made["id"].as_str().unwrap().to_owned()
    }

    async fn remove_webhooks(&self, person: &Person) {
        let system = Caller::system(person.tenant.parse().unwrap(), "test");
        for webhook in self.app.iam.webhooks().list(&system).await.unwrap() {
            self.app.iam.webhooks().delete(&system, webhook.id).await.unwrap();
        }
    }

    async fn assignment(&self, target: Target, expires: bool) -> String {
        let owner = self.owner_of(target);
        let user = self.app.add_user(owner, &fresh_email()).await;
        let expiry = expires.then(|| self.app.iam.now() + TimeDelta::days(1));
        self.app.assign(owner, &user, "MEMBER", self.organization_of(target), expiry).await
    }

    async fn new_assignment(&self, target: Target) -> Value {
        let owner = self.owner_of(target);
        let user = self.app.add_user(owner, &fresh_email()).await;
        let role = self.app.role_id(owner, "MEMBER").await;
        json!({ "userId": user, "roleId": role, "organizationId": self.organization_of(target) })
    }

    async fn organization(&self, target: Target) -> OrganizationId {
        let (owner, slug) = (self.owner_of(target), fresh("organization-"));
        match self.organization_of(target) {
            Some(parent) => self.app.below(owner, parent, &slug).await,
            None => self.app.organization(owner, &slug).await,
        }
    }

    async fn permission(&self, owner: &Person) -> String {
        let made = self.app.post("/permissions").by(owner).json(&json!({ "name": fresh("things:do-") })).send().await;
        made.created()["id"].as_str().unwrap().to_owned()
    }

    async fn sequenced_entry(&self, owner: &Person) -> String {
        let event = json!({ "action": "INVOICE_SENT", "resourceType": "INVOICE" });
        let entry = self.app.post("/audit-logs").by(owner).json(&event).send().await.created();
        self.app.sequence().await;
        entry["id"].as_str().unwrap().to_owned()
    }

    fn in_days(&self, days: i64) -> String {
        shown(self.app.iam.now() + TimeDelta::days(days))
    }
}

fn question(organization: Option<OrganizationId>, user: Option<String>) -> Value {
    json!({ "permission": "users:read", "organizationId": organization, "userId": user })
}

/// A unique text that begins with `start`.
pub(crate) fn fresh(start: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("{start}{}", NUMBER.fetch_add(1, Ordering::Relaxed))
}

fn fresh_domain() -> String {
    format!("{}.example", fresh("domain-"))
}

pub(crate) fn fresh_email() -> String {
    format!("{}@example.net", fresh("user."))
}

async fn the_committed_table_matches_the_answers_of_the_service(app: TestApp) {
    let world = World::of(&app).await;
    let mut callers = world.callers().await;
    let mut table = format!("{LEGEND}\n{}", line("", "", "recent", PEOPLE.map(str::to_owned)));
    for (row, targets) in ROWS {
        for target in *targets {
            let cells = cells(&world, &mut callers, row, *target).await;
            let succeeds = cells.iter().any(|cell| cell.starts_with(['2', '3']) || cell == "in");
            assert!(succeeds, "{row} ({target:?}) succeeds for no caller: {cells:?}");
            let recent = if needs_recent(&world, &callers, row, *target).await { "recent" } else { "-" };
            table.push_str(&line(row, target.as_str(), recent, cells));
        }
    }
    compare(&table);
}

/// The outcome for each of [`PEOPLE`]. Each gets its own call.
async fn cells(world: &World<'_>, callers: &mut [Person; 6], row: &str, target: Target) -> [String; 7] {
    let mut cells = PEOPLE.map(str::to_owned);
    for (number, cell) in cells.iter_mut().enumerate() {
        // The call of the anonymous caller is prepared for the first caller with a token.
        let person = &mut callers[number.saturating_sub(1)];
        let call = world.call(row, target, person).await;
        let request = call.request(world.app);
        let request = if number == 0 { request } else { request.by(person) };
        *cell = call.outcome(&request.send().await);
        if row.contains(" /auth/") || target == Oneself {
            // The call may have ended the session, spent its refresh token or set up a factor.
            world.app.remove_factors(person).await;
            *person = world.app.login(person).await;
        }
    }
    cells
}

/// Whether the call is refused in a session of an administrator that has authenticated too long ago.
async fn needs_recent(world: &World<'_>, callers: &[Person; 6], row: &str, target: Target) -> bool {
    let [.., administrator, foreign_administrator] = callers;
    let person = if target == OtherTenant { foreign_administrator } else { administrator };
    let old = world.app.login(person).await;
    let call = world.call(row, target, &old).await;
    world.app.age(&old).await;
    let answer = call.request(world.app).by(&old).send().await;
    if row.contains(" /auth/") {
        world.app.remove_factors(person).await;
    }
    answer.status() == 401 && answer.json()["type"].as_str().unwrap().ends_with("/insufficient-authentication")
}

fn line(row: &str, target: &str, recent: &str, cells: [String; 7]) -> String {
    let mut line = format!("{row:<41} {target:<13} {recent:<6}");
    for (person, cell) in PEOPLE.iter().zip(cells) {
        write!(line, " {cell:<width$}", width = person.len()).unwrap();
    }
    format!("{}\n", line.trim_end())
}

fn compare(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/access-table.txt");
    if std::env::var_os("IAM_UPDATE_ACCESS_TABLE").is_some_and(|value| value == "1") {
        return std::fs::write(&path, table).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let mut differences: Vec<String> = Vec::new();
    differences
        .extend(committed.lines().filter(|line| !table.lines().any(|it| it == *line)).map(|it| format!("- {it}")));
    differences
        .extend(table.lines().filter(|line| !committed.lines().any(|it| it == *line)).map(|it| format!("+ {it}")));
    assert!(
        committed == table,
        "access-table.txt does not match the answers of the service:\n{}\nIAM_UPDATE_ACCESS_TABLE=1 rewrites it",
        differences.join("\n")
    );
}

#[test]
fn every_operation_of_the_document_is_in_the_table() {
    let described: Vec<String> = operations(&document()).iter().map(Operation::to_string).collect();
    for operation in &described {
        assert!(ROWS.iter().any(|(row, _)| operation_of(row) == operation), "the table does not know {operation}");
    }
    for (row, _) in ROWS {
        assert!(described.iter().any(|operation| operation == operation_of(row)), "there is no {row}");
    }
}
