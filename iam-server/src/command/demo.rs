//! The command `demo`: a small tenant to look around in.
//!
//! Its identifiers are always the same, so that the examples in the OpenAPI document name them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use iam_core::assignment::NewAssignment;
use iam_core::clock::{Clock, Timestamp};
use iam_core::organization::{NewOrganization, Organization, OrganizationPatch, OrganizationStatus};
use iam_core::permission::NewPermission;
use iam_core::random::Random;
use iam_core::role::{NewRole, Role, RoleScope};
use iam_core::tenant::NewTenant;
use iam_core::user::{NewUser, User};
use iam_core::{Caller, Error, Iam, OrganizationId};

use crate::command::output::{print, refused};
use crate::failure::Failure;
use crate::services::{build, open};
use crate::settings::Settings;
use crate::store;

const PASSWORD: &str = "Passw0rd!";

/// 2026-01-12T09:00:00Z, when the tenant is created. Everything else follows minute by minute.
const START: i64 = 1_768_208_400_000;

pub(crate) async fn demo(settings: &Settings) -> Result<(), Failure> {
    // First the ordinary services, which create the signing keys if there are none: keys must be random.
    let iam = open(settings).await?;
    let is_empty = iam.is_empty().await;
    iam.close().await;
    if !is_empty.map_err(|error| Failure::new("looking for tenants", &error))? {
        return Err(Failure(
            "the database is not empty: use a new one, such as --database-url sqlite://demo.db".to_owned(),
        ));
    }
    let clock = DemoClock::default();
    let builder = Iam::builder(store::open(&settings.database).await?).clock(clock.clone()).random(DemoRandom);
    let iam = build(builder, settings).await?;
    let created = create(&iam, &clock).await;
    iam.close().await;
    created.map_err(|error| refused("creating the tenant".to_owned(), &error))?;
    print("Tenant analytical-engines is created. Start the server, open /docs and log in:")?;
    print(&format!("ada@example.com, the administrator, or grace@example.com, a clerk; password {PASSWORD}"))?;
    print("Everybody knows this password: do not let others reach this server.")
}

async fn create(iam: &Iam, clock: &DemoClock) -> Result<(), Error> {
    let demo = Demo { iam, clock, caller: found(iam).await? };
    demo.create().await
}

async fn found(iam: &Iam) -> Result<Caller, Error> {
    let administrator = person("ada@example.com", "Ada", "Lovelace");
    let new =
        NewTenant { name: "Analytical Engines".to_owned(), slug: Some("analytical-engines".to_owned()), administrator };
    let founded = iam.tenants().create(REASON, new).await?;
    Ok(Caller::system(founded.tenant.id, REASON))
}

const REASON: &str = "demo command";

struct Demo<'a> {
    iam: &'a Iam,
    clock: &'a DemoClock,
    caller: Caller,
}

impl Demo<'_> {
    async fn create(&self) -> Result<(), Error> {
        let headquarters = self.organization("Headquarters", None).await?;
        let south = self.organization("Southern branch", Some(headquarters.id)).await?;
        let port = self.organization("Portsmouth", Some(south.id)).await?;
        let east = self.organization("Eastern branch", Some(headquarters.id)).await?;
        let status = Some(OrganizationStatus::Suspended);
        let closed = OrganizationPatch { status, ..OrganizationPatch::default() };
        self.iam.organizations().update(&self.caller, east.id, closed).await?;

        for (name, description) in [
            ("orders:read", "See orders"),
            ("orders:create", "Place orders"),
            ("orders:cancel", "Cancel orders that were not delivered"),
        ] {
            self.permission(name, description).await?;
        }
        let clerk = self.role("ORDER_CLERK", "Takes orders", &["orders:read", "orders:create"]).await?;
        let auditor = self.role("LOG_READER", "Reads everything that happened", &["audit-logs:read"]).await?;
        self.role("TRAINEE", "Looks at orders", &["orders:read"]).await?;

        let grace = self.user("grace@example.com", "Grace", "Hopper").await?;
        let katherine = self.user("katherine@example.com", "Katherine", "Johnson").await?;
        let alan = self.user("alan@example.com", "Alan", "Turing").await?;
        let margaret = self.user("margaret@example.com", "Margaret", "Hamilton").await?;
        let dorothy = self.user("dorothy@example.com", "Dorothy", "Vaughan").await?;

        self.assignment(&grace, &clerk, Some(south.id)).await?;
        self.assignment(&katherine, &auditor, None).await?;
        self.assignment(&alan, &clerk, Some(port.id)).await?;
        self.assignment(&margaret, &clerk, Some(headquarters.id)).await?;

        self.clock.advance();
        self.iam.users().suspend(&self.caller, alan.id).await?;
        self.clock.advance();
        self.iam.users().delete(&self.caller, dorothy.id).await
    }

    async fn organization(&self, name: &str, parent: Option<OrganizationId>) -> Result<Organization, Error> {
        self.clock.advance();
        let new = NewOrganization { name: name.to_owned(), slug: None, parent };
        Ok(self.iam.organizations().create(&self.caller, new).await?.organization)
    }

    async fn permission(&self, name: &str, description: &str) -> Result<(), Error> {
        self.clock.advance();
        let new = NewPermission { name: name.to_owned(), description: Some(description.to_owned()) };
        self.iam.permissions().create(&self.caller, new).await.map(drop)
    }

    async fn role(&self, name: &str, description: &str, permissions: &[&str]) -> Result<Role, Error> {
        self.clock.advance();
        let new = NewRole {
            name: name.to_owned(),
            description: Some(description.to_owned()),
            scope: RoleScope::Any,
            permissions: permissions.iter().map(|&permission| permission.to_owned()).collect(),
        };
        self.iam.roles().create(&self.caller, new).await
    }

    async fn user(&self, email: &str, first_name: &str, last_name: &str) -> Result<User, Error> {
        self.clock.advance();
        self.iam.users().create(&self.caller, person(email, first_name, last_name)).await
    }

    async fn assignment(&self, user: &User, role: &Role, organization: Option<OrganizationId>) -> Result<(), Error> {
        self.clock.advance();
        let new = NewAssignment { user: user.id, role: role.id, organization, expires_at: None };
        self.iam.assignments().create(&self.caller, new).await.map(drop)
    }
}

fn person(email: &str, first_name: &str, last_name: &str) -> NewUser {
    let (first_name, last_name) = (first_name.to_owned(), last_name.to_owned());
    NewUser { email: email.to_owned(), password: PASSWORD.into(), first_name, last_name }
}

/// A clock that only [`advance`](Self::advance) changes. An identifier contains the time of its creation.
#[derive(Clone, Default)]
struct DemoClock(Arc<AtomicI64>);

impl DemoClock {
    fn advance(&self) {
        self.0.fetch_add(60_000, Ordering::Relaxed);
    }
}

impl Clock for DemoClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_timestamp_millis(START + self.0.load(Ordering::Relaxed)).unwrap_or_default()
    }
}

/// Bytes that are not random, for identifiers. The tenant has no session and no token, and its password is public, so
/// it has no secret that these bytes could reveal.
struct DemoRandom;

impl Random for DemoRandom {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(0xda);
    }
}
