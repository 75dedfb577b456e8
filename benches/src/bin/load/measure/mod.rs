//! All measurements, in order.

pub(crate) mod comparison;
mod hash;
pub(crate) mod load;
pub(crate) mod memory;
mod paced;
mod requests;
pub(crate) mod revocation;
pub(crate) mod series;
pub(crate) mod siege;
pub(crate) mod startup;
pub(crate) mod storm;

use std::sync::Arc;

use iam_benches::database::Database;
use iam_benches::{CHEAP, Outcome};
use iam_core::credential::HashingCost;

use self::comparison::Comparison;
use self::load::Rounds;
use self::memory::Memory;
use self::requests::Requests;
use self::revocation::{Ended, Revocations};
use self::startup::Startup;
use self::storm::Logins;
use crate::data;
use crate::installation::{Installation, Tenant};
use crate::text::progress;

/// The number of the administrator of the large tenant. The administrators of the other tenants have 0.
pub(crate) const LARGE: u64 = 100_000_000;

/// The kind of database for all measurements.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub(crate) async fn database(self) -> Outcome<Database> {
        match self {
            Self::Sqlite => Ok(Database::sqlite()),
            Self::Postgres => Database::postgres().await,
        }
    }
}

/// The amount of data, and the number and length of the measurements.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    /// The users of a small tenant, and of the large one.
    pub(crate) users: [u64; 2],
    pub(crate) organizations: u64,
    /// The audit entries of a small tenant, and of the large one.
    pub(crate) entries: [u64; 2],
    pub(crate) sessions: u64,
    pub(crate) revocations: u64,
    pub(crate) starts: u32,
    pub(crate) rounds: Rounds,
}

/// The results of a run.
pub(crate) struct Results {
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) logins: Arc<Logins>,
    pub(crate) memory: Memory,
    /// Only on PostgreSQL, because it needs two processes on one database.
    pub(crate) revocations: Vec<Revocations>,
    /// Only on SQLite, where no other process takes part in a start.
    pub(crate) startup: Option<Startup>,
}

/// Two installations: one with only a small tenant, and one with a small and a large tenant.
struct Installations {
    alone: Installation,
    small: Tenant,
    crowded: Installation,
    beside_large: Tenant,
    large: Tenant,
}

impl Installations {
    async fn set(kind: Kind, scale: &Scale) -> Outcome<Self> {
        let [few, many] = scale.users;
        progress("filling the databases")?;
        let alone = Installation::create(kind.database().await?).await?;
        let small = alone.tenant(0, few, scale.organizations, HashingCost::default()).await?;
        let (role, numbers) = (alone.role(&small).await?, small.numbers());
        let half = numbers.start + small.users / 2;
        data::assign(&alone.database, small.id, role, None, numbers.start..half).await?;
        data::assign(&alone.database, small.id, role, Some(data::id(1)), half..numbers.end).await?;
        alone.database.vacuum().await?;
        let crowded = Installation::create(kind.database().await?).await?;
        let beside_large = crowded.tenant(0, few, 0, HashingCost::default()).await?;
        let large = crowded.tenant(LARGE, many, scale.organizations, CHEAP).await?;
        progress("filling the audit logs")?;
        let [few, many] = scale.entries;
        alone.audit_log(&small, few).await?;
        crowded.audit_log(&large, many).await?;
        Ok(Self { alone, small, crowded, beside_large, large })
    }
}

/// Measures only the work that contains this text.
pub(crate) async fn only(kind: Kind, scale: &Scale, text: &str) -> Outcome<(Vec<Comparison>, Vec<Revocations>)> {
    let installations = Installations::set(kind, scale).await?;
    let comparisons = Requests::new(&installations, kind, scale).await?.only(text).measure().await?.0;
    let is_wanted = revocation::WORK.contains(text) && matches!(installations.alone.database, Database::Postgres(_));
    let revocations =
        if is_wanted { revoke(&installations.alone, &installations.small, scale).await? } else { Vec::new() };
    Ok((comparisons, revocations))
}

pub(crate) async fn all(kind: Kind, scale: &Scale) -> Outcome<Results> {
    let installations = Installations::set(kind, scale).await?;
    let (comparisons, logins) = Requests::new(&installations, kind, scale).await?.measure().await?;
    let Installations { alone, small, crowded, large, .. } = installations;
    progress("memory")?;
    let memory = memory::measure(crowded, &large, scale.sessions).await?;
    let (mut revocations, mut startup) = (Vec::new(), None);
    match &alone.database {
        Database::Postgres(_) => revocations = revoke(&alone, &small, scale).await?,
        Database::Sqlite(file) => {
            progress("starts")?;
            alone.server.stop().await?;
            startup = Some(startup::measure(file, scale.starts).await?);
        }
    }
    Ok(Results { comparisons, logins, memory, revocations, startup })
}

async fn revoke(alone: &Installation, small: &Tenant, scale: &Scale) -> Outcome<Vec<Revocations>> {
    progress("revocations")?;
    let mut revocations = Vec::new();
    for ended in [Ended::Session, Ended::Key] {
        revocations.push(revocation::measure(ended, alone, small, scale.revocations, scale.rounds.count).await?);
    }
    Ok(revocations)
}
