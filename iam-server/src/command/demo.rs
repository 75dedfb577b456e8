//! The command `demo`: a small tenant to look around in.
//!
//! Its identifiers are always the same, so that the examples in the OpenAPI document name them.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::clock::{Clock, Timestamp};
use iam_core::invitation::{InvitedRole, NewInvitation};
use iam_core::mail::{LinkPages, LinkTemplate, Mail, MailError, Mailer};
use iam_core::organization::{NewOrganization, Organization, OrganizationPatch, OrganizationStatus};
use iam_core::permission::NewPermission;
use iam_core::random::Random;
use iam_core::role::{NewRole, Role, RoleScope};
use iam_core::tenant::NewTenant;
use iam_core::user::{NewServiceAccount, NewUser, User};
use iam_core::{Builder, Caller, Error, Iam, Invalid, OrganizationId, UserId};

use crate::command::output::{print, refused};
use crate::failure::Failure;
use crate::mail::base_of;
use crate::services::open;
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
    let iam = build(settings, |builder| builder.clock(clock.clone()).random(DemoRandom)).await?;
    let created = create(&iam, &clock).await;
    iam.close().await;
    let created = created.map_err(|error| refused("creating the tenant".to_owned(), &error))?;
    let iam = build(settings, |builder| builder).await?;
    let invited = add_what_expires(&iam, created).await;
    iam.close().await;
    invited.map_err(|error| refused("inviting".to_owned(), &error))?;
    print(&format!("Start the server, open {} and log in to the tenant analytical-engines:", first_page(settings)))?;
    print(&format!("ada@example.com, the administrator, or grace@example.com, a clerk; password {PASSWORD}"))?;
    print("Everybody knows this password: do not let others reach this server.")
}

/// Returns the page on which a person of this machine begins.
fn first_page(settings: &Settings) -> String {
    let mut address = settings.listen;
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    let page = if settings.shows_console { "console" } else { "docs" };
    format!("{}/{page}", base_of(settings, address).trim_end_matches('/'))
}

/// Builds the services of the demo. Its people do not exist, so their messages go nowhere, also if the settings name a
/// mail server.
async fn build(settings: &Settings, set: impl FnOnce(Builder) -> Builder) -> Result<Iam, Failure> {
    let pages = pages().map_err(|error| Failure::new("the demo", &error))?;
    let builder = Iam::builder(store::open(&settings.database).await?).mail(Arc::new(NoMailer), pages);
    let iam = set(builder).settings(settings.iam.clone()).build().await;
    iam.map_err(|error| Failure::new("starting", &error))
}

/// The resources that the demo has created at its own time.
struct Created {
    caller: Caller,
    /// The role of the person to invite.
    role: InvitedRole,
    /// The service account.
    robot: UserId,
}

/// Invites a person, and makes an API key, now: those of the demo's own time would have expired. The key is random and
/// shown to nobody.
async fn add_what_expires(iam: &Iam, Created { caller, role, robot }: Created) -> Result<(), Error> {
    // The session of the administrator has authenticated at the demo's own time, so it is too old to make keys.
    let system = Caller::system(caller.tenant(), REASON);
    let key = NewApiKey { name: "cron".to_owned(), ..NewApiKey::default() };
    iam.api_keys().create(&system, robot, key).await?;
    let new = NewInvitation {
        email: "mary@example.com".to_owned(),
        first_name: Some("Mary".to_owned()),
        last_name: Some("Jackson".to_owned()),
        roles: vec![role],
    };
    iam.invitations().create(&caller, new).await?;
    while iam.deliver_mail().await?.more {}
    Ok(())
}

/// Creates everything that does not expire.
async fn create(iam: &Iam, clock: &DemoClock) -> Result<Created, Error> {
    let demo = Demo { iam, clock, caller: create_tenant(iam).await? };
    let (role, robot) = demo.create().await?;
    while iam.deliver_mail().await?.more {}
    Ok(Created { caller: demo.caller, role, robot })
}

async fn create_tenant(iam: &Iam) -> Result<Caller, Error> {
    let administrator = person("ada@example.com", "Ada", "Lovelace");
    let new =
        NewTenant { name: "Analytical Engines".to_owned(), slug: Some("analytical-engines".to_owned()), administrator };
    let created = iam.tenants().create(REASON, new).await?;
    Ok(Caller::system(created.tenant.id, REASON))
}

const REASON: &str = "demo command";

struct Demo<'a> {
    iam: &'a Iam,
    clock: &'a DemoClock,
    caller: Caller,
}

impl Demo<'_> {
    async fn create(&self) -> Result<(InvitedRole, UserId), Error> {
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
        self.iam.users().delete(&self.caller, dorothy.id).await?;
        self.clock.advance();
        let robot = NewServiceAccount { name: "Nightly import".to_owned() };
        let robot = self.iam.users().create_service_account(&self.caller, robot).await?;
        self.assignment(&robot, &clerk, Some(south.id)).await?;
        Ok((InvitedRole { role_id: clerk.id, organization_id: Some(south.id), expires_at: None }, robot.id))
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

/// A mailer that discards every message.
struct NoMailer;

#[async_trait]
impl Mailer for NoMailer {
    async fn send(&self, _mail: &Mail) -> Result<(), MailError> {
        Ok(())
    }
}

fn pages() -> Result<LinkPages, Invalid> {
    let page: LinkTemplate = "http://localhost/{token}".parse()?;
    Ok(LinkPages { verify: page.clone(), reset: page.clone(), invitation: page.clone(), login: page })
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
