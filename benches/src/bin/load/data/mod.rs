//! Many users and organizations, inserted in batches of ten thousand. The tables stay as the migrations have made them:
//! all triggers fire, and all indexes and constraints are in force.

mod postgres;
mod sqlite;

use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};
use iam_benches::database::Database;
pub(crate) use iam_benches::id;
use iam_benches::{Outcome, email};
use iam_core::TenantId;
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use uuid::Uuid;

/// The number of rows in one statement.
const CHUNK: u64 = 10_000;
/// The number of children of an organization.
const CHILDREN: u64 = 10;

const YEAR: TimeDelta = TimeDelta::days(365);

/// A part of the name of exactly one user in each tenant.
pub(crate) const RARE: &str = "ollstonecr";

/// The users of one tenant. No user of another tenant in the database has one of their numbers.
pub(crate) struct Crowd {
    pub(crate) tenant: TenantId,
    pub(crate) numbers: Range<u64>,
    /// The hash of the password that all of them have.
    pub(crate) password_hash: String,
}

struct User {
    id: Uuid,
    email: String,
    first_name: String,
    last_name: String,
    created_at: DateTime<Utc>,
}

struct Organization {
    id: Uuid,
    parent: Option<Uuid>,
    name: String,
    slug: String,
}

/// Inserts users, and a tree of organizations with the numbers below `organizations`.
pub(crate) async fn fill(database: &Database, crowd: &Crowd, organizations: u64) -> Outcome {
    match database {
        Database::Postgres(database) => {
            let mut connection = PgConnection::connect(database.url()).await?;
            for organizations in chunks(0..organizations) {
                postgres::organizations(&mut connection, crowd.tenant, organizations).await?;
            }
            for numbers in chunks(crowd.numbers.clone()) {
                postgres::users(&mut connection, crowd, numbers).await?;
            }
            connection.close().await?;
        }
        Database::Sqlite(file) => {
            let mut connection = sqlite::connect(file.url()).await?;
            for organizations in chunks(0..organizations) {
                sqlite::organizations(&mut connection, crowd.tenant, organizations).await?;
            }
            for numbers in chunks(crowd.numbers.clone()) {
                sqlite::users(&mut connection, crowd, numbers).await?;
            }
            sqlite::checkpoint(connection).await?;
        }
    }
    database.vacuum().await
}

/// Assigns a role to the users with these numbers, in an organization or tenant-wide.
pub(crate) async fn assign(
    database: &Database,
    tenant: TenantId,
    role: Uuid,
    organization: Option<Uuid>,
    users: Range<u64>,
) -> Outcome {
    match database {
        Database::Postgres(database) => {
            let mut connection = PgConnection::connect(database.url()).await?;
            postgres::assign(&mut connection, tenant, role, organization, users).await
        }
        Database::Sqlite(file) => {
            sqlite::assign(sqlite::connect(file.url()).await?, tenant, role, organization, users).await
        }
    }
}

fn chunks(numbers: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = numbers.end;
    numbers.step_by(CHUNK as usize).map(move |from| from..end.min(from + CHUNK))
}

impl Crowd {
    /// The user with a number. The creation times are spread over the last year, and all of them are different.
    fn user(&self, number: u64, now: DateTime<Utc>) -> Outcome<User> {
        let (index, count) = (number - self.numbers.start, self.numbers.end - self.numbers.start);
        let is_rare = index == count / 2;
        let age = YEAR / i32::try_from(count)? * i32::try_from(count - index)?;
        Ok(User {
            id: id(number),
            email: email(number),
            first_name: name(number),
            last_name: if is_rare { "Wollstonecraft".to_owned() } else { name(number / 7 + 1) },
            created_at: now - age,
        })
    }
}

/// One of 4,096 names.
fn name(number: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "den", "fi", "gor", "ha", "jun", "ka", "lis", "mo", "nar", "pe", "rin", "sa", "tor", "vi", "zel"];
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let syllable = |shift: u32| SYLLABLES.get((mixed >> shift & 15) as usize).copied().unwrap_or_default();
    let mut name = [syllable(60), syllable(56), syllable(52)].concat();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

fn organization(number: u64) -> Organization {
    Organization {
        id: id(number),
        parent: (number > 0).then(|| id((number - 1) / CHILDREN)),
        name: format!("Branch {number}"),
        slug: format!("branch-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn crowd(numbers: Range<u64>) -> Crowd {
        Crowd { tenant: TenantId::from_uuid(id(1)), numbers, password_hash: String::new() }
    }

    #[test]
    fn chunks_contain_every_number_once() {
        assert_eq!(chunks(5..25_005).collect::<Vec<_>>(), [5..10_005, 10_005..20_005, 20_005..25_005]);
        assert_eq!(chunks(3..3).count(), 0);
    }

    #[test]
    fn one_user_has_the_rare_name_and_all_creation_times_differ() {
        let (crowd, now) = (crowd(7..20_007), Utc::now());
        let users: Vec<User> = crowd.numbers.clone().map(|number| crowd.user(number, now).unwrap()).collect();
        assert_eq!(users.iter().filter(|user| user.last_name.contains(RARE)).count(), 1);
        assert!(!users.iter().any(|user| user.first_name.contains(RARE) || user.email.contains(RARE)));
        assert_eq!(users.iter().map(|user| user.created_at).collect::<HashSet<_>>().len(), users.len());
        assert!(users.iter().all(|user| user.created_at < now));
        assert!(users.iter().map(|user| &user.last_name).collect::<HashSet<_>>().len() > 2_000);
    }

    #[test]
    fn an_organization_comes_after_its_parent() {
        assert!(organization(0).parent.is_none());
        for number in 1..1_000 {
            assert!(organization(number).parent.unwrap() < organization(number).id);
        }
    }
}
