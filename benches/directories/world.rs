//! A tenant with a directory of many users and one group.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, StatusCode};
use iam_benches::client::Client;
use iam_benches::database::Database;
use iam_benches::{CHEAP, Outcome, id, register, settings};
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::directory::NewDirectory;
use iam_core::permission::NewPermission;
use iam_core::role::{NewRole, RoleScope};
use iam_core::secret::ApiKeyToken;
use iam_core::user::NewServiceAccount;
use iam_core::{Caller, DirectoryId, Iam, RoleId, StoreError, UserId};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use uuid::Uuid;

use crate::fill::fill;
use crate::floor::Ids;

/// The permission that the mapped role gives.
const PERMISSION: &str = "orders:read";

/// How much a tenant has.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) users: u64,
    /// The members of the group, with the one who comes and goes.
    pub(crate) members: u64,
}

pub(crate) struct World {
    pub(crate) sizes: Sizes,
    pub(crate) iam: Iam,
    pub(crate) client: Client,
    /// Trusted code.
    pub(crate) caller: Caller,
    pub(crate) directory: DirectoryId,
    /// The role to which the group is mapped.
    pub(crate) role: RoleId,
    pub(crate) group: Uuid,
    /// The user who comes and goes.
    pub(crate) member: Uuid,
    account: UserId,
    /// The key of the directory.
    key: ApiKeyToken,
    feed: JoinHandle<Result<(), StoreError>>,
}

impl World {
    pub(crate) async fn create(database: &Database, sizes: Sizes) -> Outcome<Self> {
        let mut settings = settings(CHEAP)?;
        settings.quota.users = 2 * sizes.users + 1_000;
        let iam = Iam::builder(database.store().await?).settings(settings).build().await?;
        let caller = Caller::system(register(&iam).await?.tenant.id, "benchmark");
        iam.permissions().create(&caller, NewPermission { name: PERMISSION.to_owned(), description: None }).await?;
        let role = make_role(&iam, &caller, "MAPPED", &[PERMISSION]).await?;
        let account =
            iam.users().create_service_account(&caller, NewServiceAccount { name: "Staff".to_owned() }).await?.id;
        let own = make_role(&iam, &caller, "DIRECTORY", &["users:*", "role-assignments:*", PERMISSION]).await?;
        let assignment = NewAssignment { user: account, role: own, organization: None, expires_at: None };
        iam.assignments().create(&caller, assignment).await?;
        let key = NewApiKey { name: "staff".to_owned(), ..NewApiKey::default() };
        let key = iam.api_keys().create(&caller, account, key).await?.token;
        let new =
            NewDirectory { name: "Staff".to_owned(), service_account: account, identity_provider: None, adopt: false };
        let directory = iam.directories().create(&caller, new).await?.id;
        fill(database, caller.tenant().as_uuid(), directory.as_uuid(), sizes.users).await?;
        database.vacuum().await?;
        let feed = tokio::spawn({
            let iam = iam.clone();
            async move { iam.follow_changes().await }
        });
        // As in a server. Otherwise, each request would read the key from the store.
        while !iam.receives_changes() && !feed.is_finished() {
            sleep(Duration::from_millis(1)).await;
        }
        let (client, member) = (Client::of(&iam), id(sizes.members));
        let mut world =
            Self { sizes, iam, client, caller, directory, role, group: Uuid::nil(), member, account, key, feed };
        world.make_group().await?;
        Ok(world)
    }

    /// Makes the group, without the member who comes and goes.
    async fn make_group(&mut self) -> Outcome {
        /// The changes of members in a request.
        const PART: usize = 1_000;
        let group = json!({ "displayName": "Staff", "externalId": "staff" });
        let made = self.as_directory(Method::POST, "/scim/v2/Groups", Some(&group), StatusCode::CREATED).await?;
        let made: Value = serde_json::from_slice(&made)?;
        let group = made.get("id").and_then(Value::as_str).ok_or("the group has no identifier")?;
        self.group = group.parse()?;
        let path = format!("/scim/v2/Groups/{}?excludedAttributes=members", self.group);
        let members: Vec<Uuid> = (1..self.sizes.members).map(id).collect();
        for part in members.chunks(PART) {
            let values: Vec<Value> = part.iter().map(|id| json!({ "value": id })).collect();
            let message = json!({ "Operations": [{ "op": "add", "path": "members", "value": values }] });
            self.as_directory(Method::PATCH, &path, Some(&message), StatusCode::OK).await?;
        }
        Ok(())
    }

    /// Sends a request by the key of the directory.
    pub(crate) async fn as_directory(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        status: StatusCode,
    ) -> Outcome<Bytes> {
        self.client.ask(self.key.expose(), method, path, body, status).await
    }

    pub(crate) fn ids(&self) -> Ids {
        Ids {
            tenant: self.caller.tenant().as_uuid(),
            directory: self.directory.as_uuid(),
            account: self.account.as_uuid(),
            group: self.group,
            member: self.member,
        }
    }

    pub(crate) async fn close(&self) {
        self.feed.abort();
        self.iam.close().await;
    }
}

async fn make_role(iam: &Iam, caller: &Caller, name: &str, permissions: &[&str]) -> Outcome<RoleId> {
    let permissions = permissions.iter().copied().map(str::to_owned).collect();
    let new = NewRole { name: name.to_owned(), description: None, scope: RoleScope::Any, permissions };
    Ok(iam.roles().create(caller, new).await?.id)
}
