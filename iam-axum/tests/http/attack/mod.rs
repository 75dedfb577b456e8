//! Published attacks that aim at more rights than were granted: OWASP API Security (BOLA, BFLA, mass assignment),
//! Kubernetes RBAC (escalate, bind), AWS IAM (chains of roles and policies). Each must be refused and change nothing.

mod assignment;
mod attribute;
mod impersonation;
mod insider;
mod organization;
pub(crate) mod race;
mod request;
mod role;
mod stranger;
mod user;

use chrono::TimeDelta;
use iam_core::OrganizationId;
use iam_core::clock::Timestamp;
use serde_json::{Value, json};

use crate::access_table::{fresh, fresh_email};
use crate::app::{TestApp, shown};
use crate::people::Person;
use crate::request::{Request, Response};

/// A company with two branches, and its administrator.
struct Company<'a> {
    app: &'a TestApp,
    ada: Person,
    root: OrganizationId,
    north: OrganizationId,
    south: OrganizationId,
}

impl<'a> Company<'a> {
    async fn on(app: &'a TestApp) -> Self {
        let ada = app.register("ada@example.com").await;
        let root = app.organization(&ada, "company").await;
        let north = app.below(&ada, root, "north").await;
        let south = app.below(&ada, root, "south").await;
        Self { app, ada, root, north, south }
    }

    /// A user with these permissions tenant-wide.
    async fn employee(&self, permissions: &[&str]) -> Person {
        self.app.colleague_who_may(&self.ada, &fresh_email(), permissions).await
    }

    /// A user with these permissions in an organization.
    async fn member(&self, organization: OrganizationId, permissions: &[&str]) -> Person {
        self.app.colleague_in(&self.ada, organization, &fresh_email(), permissions).await
    }

    /// A user without roles.
    async fn user_without_roles(&self) -> Person {
        self.app.colleague(&self.ada, &fresh_email()).await
    }

    async fn tenant_admin(&self) -> Person {
        let person = self.user_without_roles().await;
        self.app.assign(&self.ada, &person.user, "TENANT_ADMIN", None, None).await;
        person
    }

    async fn branch_admin(&self, organization: OrganizationId) -> Person {
        let person = self.user_without_roles().await;
        self.app.assign(&self.ada, &person.user, "ORGANIZATION_ADMIN", Some(organization), None).await;
        person
    }

    /// Creates a role, assigns it to the user tenant-wide, and returns the id of the role.
    async fn held_role(&self, user: &str, permissions: &[&str]) -> String {
        let name = fresh("HELD_ROLE_");
        let id = self.app.role(&self.ada, &name, permissions).await;
        self.app.assign(&self.ada, user, &name, None, None).await;
        id
    }

    async fn role(&self, permissions: &[&str]) -> String {
        self.app.role(&self.ada, &fresh("SOME_ROLE_"), permissions).await
    }

    fn edit_role(&self, by: &Person, role: &str, permissions: &[&str]) -> Request<'a> {
        self.app.patch(&format!("/roles/{role}")).by(by).json(&json!({ "permissions": permissions }))
    }

    fn assign(&self, by: &Person, user: &str, role: &str, organization: Option<OrganizationId>) -> Request<'a> {
        let body = json!({ "userId": user, "roleId": role, "organizationId": organization });
        self.app.post("/role-assignments").by(by).json(&body)
    }

    fn assign_until(&self, by: &Person, user: &str, role: &str, expiry: Timestamp) -> Request<'a> {
        let body = json!({ "userId": user, "roleId": role, "expiresAt": shown(expiry) });
        self.app.post("/role-assignments").by(by).json(&body)
    }

    fn extend(&self, by: &Person, assignment: &str, expiry: Option<Timestamp>) -> Request<'a> {
        let path = format!("/role-assignments/{assignment}");
        self.app.patch(&path).by(by).json(&json!({ "expiresAt": expiry.map(shown) }))
    }

    fn change(&self, by: &Person, organization: OrganizationId, body: &Value) -> Request<'a> {
        self.app.patch(&format!("/organizations/{organization}")).by(by).json(body)
    }

    fn relocate(&self, by: &Person, organization: OrganizationId, parent: Option<OrganizationId>) -> Request<'a> {
        self.change(by, organization, &json!({ "parentId": parent }))
    }

    async fn suspend(&self, organization: OrganizationId) {
        self.change(&self.ada, organization, &json!({ "status": "SUSPENDED" })).send().await.ok();
    }

    fn within(&self, time: TimeDelta) -> Timestamp {
        self.app.iam.now() + time
    }

    /// Everything that an attack could change, and the audit log.
    async fn state(&self) -> Vec<Value> {
        let tenant = format!("/tenants/{}", self.ada.tenant);
        let mut state = self.app.audit(&self.ada, &[]).await;
        for path in [
            "/users?limit=100",
            "/roles?limit=100",
            "/permissions?limit=100",
            "/role-assignments?limit=100&includeExpired=true",
            "/organizations?limit=100",
            "/organizations?limit=100&status=INACTIVE",
            &tenant,
        ] {
            state.push(self.app.get(path).by(&self.ada).send().await.ok());
        }
        state
    }

    /// Sends an attack and checks that it changes nothing.
    async fn attacked_by(&self, attack: Request<'_>) -> Response {
        let before = self.state().await;
        let answer = attack.send().await;
        assert_eq!(self.state().await, before);
        answer
    }
}
