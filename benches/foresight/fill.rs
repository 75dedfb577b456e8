//! A tenant with many users, a large division in its tree, and a long past.

use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use iam_benches::database::{Bare, Database};
use iam_benches::{CHEAP, Outcome, email, register, settings, write, write_all};
use iam_core::assignment::{Assignment, AssignmentChange, Grant};
use iam_core::clock::Timestamp;
use iam_core::organization::{NewOrganization, Organization, OrganizationChange};
use iam_core::permission::NewPermission;
use iam_core::role::{NewRole, Role, RoleScope};
use iam_core::user::{User, UserChange};
use iam_core::{Caller, Iam, Store, UserId};
use iam_model::attribute::Attributes;
use iam_model::clock::testing::FixedClock;
use sqlx::query;
use uuid::Uuid;

/// How much a tenant has.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) users: usize,
    /// The organizations of the division, with itself.
    pub(crate) organizations: usize,
    /// The assignments in the division.
    pub(crate) assignments: usize,
    /// The past versions of each assignment.
    pub(crate) versions: i64,
    /// The users with a role in the branch above the division, and the same number in another branch.
    pub(crate) above: usize,
    /// The users with the role that is reviewed.
    pub(crate) reviewed: usize,
    /// The permissions of the role that one user has in each organization of the division.
    pub(crate) permissions: usize,
}

/// A tenant, a year old.
pub(crate) struct World {
    pub(crate) caller: Caller,
    pub(crate) began: Timestamp,
    /// The branch above the division, and another one.
    pub(crate) branches: [Organization; 2],
    pub(crate) division: Organization,
    /// An organization of the division.
    pub(crate) team: Organization,
    /// The role of the members of the teams, which gives `orders:refund`.
    pub(crate) member: Role,
    /// The role that is reviewed.
    pub(crate) reviewed: Role,
    pub(crate) users: Vec<UserId>,
    /// The user who has a role of many permissions in each organization of the division.
    pub(crate) busy: UserId,
}

impl World {
    pub(crate) async fn create(database: &Database, store: &Arc<dyn Store>, sizes: Sizes) -> Outcome<Self> {
        let began = Utc::now() - TimeDelta::days(366);
        let builder = Iam::builder(Arc::clone(store)).settings(settings(CHEAP)?);
        let iam = builder.clock(FixedClock::from(began)).build().await?;
        let registered = register(&iam).await?;
        let caller = Caller::system(registered.tenant.id, "benchmark");
        let member = role(&iam, &caller, "TEAM_MEMBER", "orders:refund").await?;
        let reviewed = role(&iam, &caller, "REVIEWED", "orders:read").await?;
        let west = organization(&iam, &caller, "West", None).await?;
        let east = organization(&iam, &caller, "East", None).await?;
        let division = organization(&iam, &caller, "Division", Some(&west)).await?;

        let store = store.as_ref();
        let teams = create_teams(store, &division, sizes.organizations.saturating_sub(1)).await?;
        let users = create_users(store, &registered.login.user, sizes.users).await?;
        let busy = *users.last().ok_or("there are no users")?;
        let wide = wide_role(&iam, &caller, sizes.permissions).await?;
        let places = teams.iter().cycle().zip(users.iter().cycle());
        // A second apart, all before the first change of an expiry.
        let moment = |number: usize| began + TimeDelta::seconds(number as i64);
        let in_teams = places.take(sizes.assignments).enumerate();
        let in_teams = in_teams.map(|(number, (team, user))| grant(*user, &member, Some(team), moment(number)));
        let mut grants: Vec<Grant> = in_teams.collect();
        let (in_west, rest) = users.split_at(sizes.above.min(users.len()));
        grants.extend(in_west.iter().map(|user| grant(*user, &member, Some(&west), began)));
        grants.extend(rest.iter().take(sizes.above).map(|user| grant(*user, &member, Some(&east), began)));
        grants.extend(users.iter().take(sizes.reviewed).map(|user| grant(*user, &reviewed, None, began)));
        grants.extend(teams.iter().map(|team| grant(busy, &wide, Some(team), began)));
        for grants in grants.chunks(1_000) {
            write(store, caller.tenant(), AssignmentChange::Create(grants.to_vec())).await?;
        }
        fill_past(&database.bare().await?, &caller, sizes.versions).await?;
        database.vacuum().await?;
        let team = teams.into_iter().next_back().ok_or("the division has no team")?;
        Ok(Self { caller, began, branches: [west, east], division, team, member, reviewed, users, busy })
    }
}

/// Creates a role with a permission that it registers.
async fn role(iam: &Iam, caller: &Caller, name: &str, permission: &str) -> Outcome<Role> {
    let new = NewPermission { name: permission.to_owned(), description: None };
    iam.permissions().create(caller, new).await?;
    let permissions = vec![permission.to_owned()];
    let new = NewRole { name: name.to_owned(), description: None, scope: RoleScope::Any, permissions };
    Ok(iam.roles().create(caller, new).await?)
}

/// Creates a role with many permissions that it registers.
async fn wide_role(iam: &Iam, caller: &Caller, permissions: usize) -> Outcome<Role> {
    let names: Vec<String> = (0..permissions).map(|number| format!("parts:do-{number}")).collect();
    for name in &names {
        iam.permissions().create(caller, NewPermission { name: name.clone(), description: None }).await?;
    }
    let new = NewRole { name: "WIDE".to_owned(), description: None, scope: RoleScope::Any, permissions: names };
    Ok(iam.roles().create(caller, new).await?)
}

async fn organization(iam: &Iam, caller: &Caller, name: &str, parent: Option<&Organization>) -> Outcome<Organization> {
    let new = NewOrganization { name: name.to_owned(), slug: None, parent: parent.map(|parent| parent.id) };
    Ok(iam.organizations().create(caller, new).await?.organization)
}

/// Creates the organizations below the division, each with up to nine below it.
async fn create_teams(store: &dyn Store, division: &Organization, count: usize) -> Outcome<Vec<Organization>> {
    let mut all = vec![division.clone()];
    for number in 0..count {
        let parent = all.get(number / 9).map(|parent| parent.id);
        let (name, slug) = (format!("Team {number}").parse()?, format!("team-{number}").parse()?);
        all.push(Organization { id: Uuid::now_v7().into(), name, slug, parent_id: parent, ..division.clone() });
    }
    let teams = all.split_off(1);
    for teams in teams.chunks(1_000) {
        let created = teams.iter().cloned().map(|team| OrganizationChange::create(team).into());
        write_all(store, division.tenant_id, created).await?;
    }
    Ok(teams)
}

async fn create_users(store: &dyn Store, like: &User, count: usize) -> Outcome<Vec<UserId>> {
    let mut ids = Vec::with_capacity(count);
    while ids.len() < count {
        let mut created = Vec::new();
        for number in ids.len()..count.min(ids.len() + 1_000) {
            let email = email(number as u64 + 1).parse()?;
            let user = User { id: Uuid::now_v7().into(), email, last_login_at: None, ..like.clone() };
            ids.push(user.id);
            created.push(
                UserChange::Create { user, password: None, invitation: None, attributes: Attributes::default() }.into(),
            );
        }
        write_all(store, like.tenant_id, created).await?;
    }
    Ok(ids)
}

fn grant(user: UserId, role: &Role, place: Option<&Organization>, created_at: Timestamp) -> Grant {
    let assignment = Assignment {
        id: Uuid::now_v7().into(),
        tenant_id: role.tenant_id,
        user_id: user,
        role_id: role.id,
        organization_id: place.map(|place| place.id),
        expires_at: None,
        created_at,
        created_by: None,
        directory_group_id: None,
        access_request_id: None,
    };
    // Only the assignment is written.
    Grant { assignment, role: Arc::new(role.clone()), organization: None }
}

/// Gives every assignment in an organization past versions: its expiry was changed this often, a day apart.
async fn fill_past(bare: &Bare, caller: &Caller, versions: i64) -> Outcome {
    match bare {
        Bare::Postgres(pool) => {
            let insert = query(
                "INSERT INTO iam.past_assignments (
                    tenant_id, id, until, user_id, role_id, organization_id, expires_at, created_at, created_by, since
                )
                SELECT
                    tenant_id, id, created_at + n * interval '1 day', user_id, role_id, organization_id,
                    '2100-01-01'::timestamptz + n * interval '1 s', created_at, created_by,
                    created_at + (n - 1) * interval '1 day'
                FROM iam.role_assignments
                CROSS JOIN generate_series(1, $2) n
                WHERE tenant_id = $1 AND organization_id IS NOT NULL",
            );
            insert.bind(caller.tenant().as_uuid()).bind(versions).execute(pool).await?;
            let update = "UPDATE iam.role_assignments SET since = created_at + $2 * interval '1 day'
                WHERE tenant_id = $1 AND organization_id IS NOT NULL";
            query(update).bind(caller.tenant().as_uuid()).bind(versions).execute(pool).await?;
        }
        Bare::Sqlite(pool) => {
            let insert = query(
                "WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
                INSERT INTO past_assignments (
                    tenant_id, id, until, user_id, role_id, organization_id, expires_at, created_at, created_by, since
                )
                SELECT
                    tenant_id, id, created_at + n * 86400000, user_id, role_id, organization_id,
                    4102444800000 + n * 1000, created_at, created_by, created_at + (n - 1) * 86400000
                FROM role_assignments
                CROSS JOIN numbers
                WHERE tenant_id = ?1 AND organization_id IS NOT NULL",
            );
            insert.bind(caller.tenant().as_uuid()).bind(versions).execute(pool).await?;
            let update = "UPDATE role_assignments SET since = created_at + ?2 * 86400000
                WHERE tenant_id = ?1 AND organization_id IS NOT NULL";
            query(update).bind(caller.tenant().as_uuid()).bind(versions).execute(pool).await?;
        }
    }
    Ok(())
}
