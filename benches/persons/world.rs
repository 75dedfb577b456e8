//! A tenant with many users who have attributes, and one of whom the log says much; and a tenant without attributes.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use iam_benches::client::Client;
use iam_benches::database::Database;
use iam_benches::{CHEAP, Outcome, PASSWORD, email, id, register, settings, write_all};
use iam_core::attribute::{AttributeDefinition, AttributeType};
use iam_core::session::Login;
use iam_core::tenant::TenantPatch;
use iam_core::user::{User, UserChange, UserKind, UserPatch, UserStatus};
use iam_core::version::Version;
use iam_core::{Caller, Change, Iam, RequestContext, Store, StoreError, TenantId, UserId};
use serde_json::{Map, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// How many users have one value: as many as a page shows.
pub(crate) const PAGE: u64 = 20;

/// How many users one transaction writes.
const WRITTEN_AT_ONCE: usize = 1_000;

/// How much a tenant has.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) users: u64,
    /// The entries of the audit log about the person.
    pub(crate) entries: u64,
}

pub(crate) struct World {
    pub(crate) sizes: Sizes,
    pub(crate) client: Client,
    pub(crate) tenant: TenantId,
    /// The person that is exported, an administrator with attributes.
    pub(crate) person: UserId,
    /// The access token of the person.
    pub(crate) token: String,
    /// The access token of a person without attributes, in a tenant that has defined none.
    pub(crate) plain_token: String,
    iam: Iam,
    feed: JoinHandle<Result<(), StoreError>>,
}

impl World {
    pub(crate) async fn create(database: &Database, sizes: Sizes) -> Outcome<Self> {
        let store = database.store().await?;
        let iam = Iam::builder(Arc::clone(&store)).settings(settings(CHEAP)?).build().await?;
        let registered = register(&iam).await?;
        let (tenant, person) = (registered.tenant.id, registered.login.user.id);
        let plain = register(&iam).await?.tenant.id;
        let system = Caller::system(tenant, "benchmark");
        let defined = |key: &str| {
            let key = key.parse()?;
            Outcome::Ok(AttributeDefinition {
                key,
                kind: AttributeType::String,
                searchable: true,
                person_reads: true,
                person_writes: false,
                in_token: false,
            })
        };
        let definitions = vec![defined("costCentre")?, defined("desk")?];
        let patch = TenantPatch { user_attributes: Some(definitions), ..TenantPatch::default() };
        iam.tenants().update(&system, tenant, patch).await?;
        fill(&*store, tenant, sizes.users).await?;
        let attributes = Map::from_iter([("costCentre".to_owned(), json!("4711")), ("desk".to_owned(), json!("A 12"))]);
        let patch = UserPatch { attributes: Some(attributes), ..UserPatch::default() };
        iam.users().update(&system, person, patch).await?;
        for number in 0..sizes.entries {
            let patch = UserPatch { last_name: Some(format!("Lovelace {number}")), ..UserPatch::default() };
            iam.users().update(&system, person, patch).await?;
        }
        while iam.sequence_audit_logs().await?.more {}
        database.vacuum().await?;
        let feed = tokio::spawn({
            let iam = iam.clone();
            async move { iam.follow_changes().await }
        });
        // As in a server. Otherwise, each request would read the session from the store.
        while !iam.receives_changes() && !feed.is_finished() {
            sleep(Duration::from_millis(1)).await;
        }
        // An export needs a session that has authenticated a moment ago.
        let (token, plain_token) = (log_in(&iam, tenant).await?, log_in(&iam, plain).await?);
        let client = Client::of(&iam);
        Ok(Self { sizes, client, tenant, person, token, plain_token, iam, feed })
    }

    pub(crate) async fn close(&self) {
        self.feed.abort();
        self.iam.close().await;
    }
}

/// Logs in the administrator of a tenant.
async fn log_in(iam: &Iam, tenant: TenantId) -> Outcome<String> {
    let login = Login { email: email(0), password: PASSWORD.into(), tenant: Some(tenant.to_string()) };
    let login = iam.sessions().login(&RequestContext::default(), login).await?;
    Ok(login.tokens.access.expose().to_owned())
}

/// The value with this number.
pub(crate) fn cost_centre(number: u64) -> String {
    format!("cc-{number:06}")
}

/// Writes this number of users, numbered from 1.
async fn fill(store: &dyn Store, tenant: TenantId, users: u64) -> Outcome {
    let mut left: Vec<Change> = Vec::with_capacity(WRITTEN_AT_ONCE);
    for number in 1..=users {
        left.push(new_user(tenant, number, users)?);
        if left.len() == WRITTEN_AT_ONCE || number == users {
            write_all(store, tenant, left.drain(..)).await?;
        }
    }
    Ok(())
}

fn new_user(tenant: TenantId, number: u64, users: u64) -> Outcome<Change> {
    let (now, attributes) = (Utc::now(), json!({ "costCentre": cost_centre(number % (users / PAGE)) }));
    let user = User {
        id: id(number).into(),
        tenant_id: tenant,
        kind: UserKind::Human,
        email: email(number).parse()?,
        email_verified_at: None,
        first_name: "Ada".parse()?,
        last_name: "Lovelace".parse()?,
        external_id: None,
        home_organization_id: None,
        status: UserStatus::Active,
        last_login_at: None,
        created_at: now,
        updated_at: now,
        version: Version::FIRST,
    };
    let attributes = serde_json::from_value(attributes)?;
    Ok(UserChange::Create { user, password: None, invitation: None, attributes }.into())
}
