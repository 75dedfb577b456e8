//! The cost to assign 500 roles at once, compared with one bare transaction that inserts the same rows and their audit
//! entries.

use std::hint::black_box;
use std::time::{Duration, Instant};

use chrono::Utc;
use criterion::{Criterion, Throughput};
use iam_benches::database::{Bare, Database};
use iam_benches::{CHEAP, Outcome, fill, iam, register, sure};
use iam_core::assignment::{MAX_BULK, NewAssignment};
use iam_core::organization::NewOrganization;
use iam_core::page::PageRequest;
use iam_core::{Caller, Iam, OrganizationId, RequestContext, RoleId, UserId};
use iam_store_memory::MemoryStore;
use serde::Serialize;
use serde_json::{Value, json};
use sqlx::{PgPool, SqlitePool};
use tokio::runtime::Runtime;
use uuid::Uuid;

/// How many times 500 roles are assigned in one tenant. The store in memory copies the tenant for every unit of work,
/// so its cost depends on the tenant's size. That size must not depend on the length of the measurement.
const BATCHES: u64 = 20;

const ORGANIZATIONS: usize = 100;

fn main() -> Outcome {
    let criterion = Criterion::default().without_plots().sample_size(20);
    let criterion = criterion.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    let mut criterion = criterion.configure_from_args();
    let runtime = Runtime::new()?;
    let memory = runtime.block_on(iam(std::sync::Arc::new(MemoryStore::new()), CHEAP))?;
    measure_service(&mut criterion, &runtime, &memory, "memory");
    for database in [Database::sqlite(), runtime.block_on(Database::postgres())?] {
        let store = runtime.block_on(database.store())?;
        let name = store.kind();
        let iam = runtime.block_on(iam(store, CHEAP))?;
        measure_service(&mut criterion, &runtime, &iam, name);
        runtime.block_on(database.vacuum())?;
        let bare = runtime.block_on(database.bare())?;
        measure_floor(&mut criterion, &runtime, (&iam, &bare), name);
        runtime.block_on(iam.close());
    }
    criterion.final_summary();
    Ok(())
}

fn measure_service(criterion: &mut Criterion, runtime: &Runtime, iam: &Iam, store: &str) {
    let mut group = criterion.benchmark_group("assignment");
    group.throughput(Throughput::Elements(MAX_BULK as u64));
    group.bench_function(format!("create_all/{store}"), |bencher| {
        bencher.to_async(runtime).iter_custom(|count| async move { sure(time_service(iam, count).await) });
    });
}

fn measure_floor(criterion: &mut Criterion, runtime: &Runtime, (iam, bare): (&Iam, &Bare), store: &str) {
    let mut group = criterion.benchmark_group("assignment");
    group.throughput(Throughput::Elements(MAX_BULK as u64));
    group.bench_function(format!("floor: bare inserts/{store}"), |bencher| {
        bencher.to_async(runtime).iter_custom(|count| async move { sure(time_floor(iam, bare, count).await) });
    });
}

async fn time_service(iam: &Iam, count: u64) -> Outcome<Duration> {
    let mut elapsed = Duration::ZERO;
    let mut left = count;
    while left > 0 {
        let tenant = Tenant::make(iam).await?;
        for number in 0..left.min(BATCHES) {
            let batch = tenant.batch(number)?;
            let began = Instant::now();
            black_box(iam.assignments().create_all(&tenant.administrator, &batch).await?);
            elapsed += began.elapsed();
        }
        left -= left.min(BATCHES);
    }
    Ok(elapsed)
}

async fn time_floor(iam: &Iam, bare: &Bare, count: u64) -> Outcome<Duration> {
    let mut elapsed = Duration::ZERO;
    let mut left = count;
    while left > 0 {
        let tenant = Tenant::make(iam).await?;
        for number in 0..left.min(BATCHES) {
            let batch = tenant.batch(number)?;
            let began = Instant::now();
            match bare {
                Bare::Sqlite(pool) => insert_into_sqlite(pool, &tenant.administrator, &batch).await?,
                Bare::Postgres(pool) => insert_into_postgres(pool, &tenant.administrator, &batch).await?,
            }
            elapsed += began.elapsed();
        }
        left -= left.min(BATCHES);
    }
    Ok(elapsed)
}

/// A tenant in which only the administrator holds a role.
struct Tenant {
    /// A user and not trusted code, so that the escalation check runs.
    administrator: Caller,
    users: Vec<UserId>,
    organizations: Vec<OrganizationId>,
    role: RoleId,
}

impl Tenant {
    async fn make(iam: &Iam) -> Outcome<Self> {
        let registered = register(iam).await?;
        let token = registered.login.tokens.access.expose();
        let administrator = iam.authenticate(token, RequestContext::default()).await?;
        let users = fill(iam, registered.tenant.id, 1, MAX_BULK as u64).await?;
        let mut organizations = Vec::new();
        let mut parent = None;
        for number in 0..ORGANIZATIONS {
            let new = NewOrganization { name: format!("Organization {number}"), slug: None, parent };
            organizations.push(iam.organizations().create(&administrator, new).await?.organization.id);
            // The parent of each organization except the first has a tenth of its number, so there are up to two levels
            // below the first.
            parent = organizations.get((number + 1) / 10).copied();
        }
        let roles = iam.roles().list(&administrator, PageRequest::default()).await?.items;
        let role = roles.iter().find(|role| role.name.as_str() == "MEMBER").ok_or("there is no such role")?.id;
        Ok(Self { administrator, users, organizations, role })
    }

    /// One assignment for each user. No other batch has the same assignments.
    fn batch(&self, number: u64) -> Outcome<Vec<NewAssignment>> {
        let shift = usize::try_from(number)?;
        let organizations = self.organizations.iter().cycle().skip(shift);
        let of_user = |(user, organization): (&UserId, &OrganizationId)| NewAssignment {
            user: *user,
            role: self.role,
            organization: Some(*organization),
            expires_at: None,
        };
        Ok(self.users.iter().zip(organizations).map(of_user).collect())
    }
}

/// The metadata in the audit entry of an assignment.
fn metadata(new: &NewAssignment) -> Value {
    json!({
        "targetUserId": new.user,
        "roleId": new.role,
        "roleName": "MEMBER",
        "organizationId": new.organization,
    })
}

async fn insert_into_postgres(pool: &PgPool, by: &Caller, batch: &[NewAssignment]) -> Outcome {
    let (tenant, by, now) = (by.tenant().as_uuid(), by.user().map(UserId::as_uuid), Utc::now());
    let ids: Vec<Uuid> = batch.iter().map(|_| Uuid::now_v7()).collect();
    let users: Vec<Uuid> = batch.iter().map(|new| new.user.as_uuid()).collect();
    let roles: Vec<Uuid> = batch.iter().map(|new| new.role.as_uuid()).collect();
    let organizations: Vec<Option<Uuid>> = batch.iter().map(|new| new.organization.map(Uuid::from)).collect();
    let mut transaction = pool.begin().await?;
    let entries: Vec<Uuid> = batch.iter().map(|_| Uuid::now_v7()).collect();
    let metadata: Vec<String> = batch.iter().map(|new| metadata(new).to_string()).collect();
    let insert = sqlx::query(
        "WITH made AS (
            INSERT INTO iam.role_assignments (tenant_id, id, user_id, role_id, organization_id, created_at, created_by)
            SELECT $1, a.*, $6, $7 FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[]) a
        )
        INSERT INTO iam.audit_unsealed (tenant_id, id, action, resource_type, resource_id, user_id, metadata,
            created_at, details_salt, origin_salt, digest)
        SELECT $1, e.id, 'ROLE_ASSIGNED', 'ROLE_ASSIGNMENT', e.assignment::text, $7, e.metadata::json, $6,
            uuid_send(e.id), uuid_send(e.id), sha256(uuid_send(e.id))
        FROM unnest($8::uuid[], $2::uuid[], $9::text[]) e (id, assignment, metadata)",
    );
    let insert = insert.bind(tenant).bind(&ids).bind(&users).bind(&roles).bind(&organizations).bind(now).bind(by);
    insert.bind(&entries).bind(&metadata).execute(&mut *transaction).await?;
    Ok(transaction.commit().await?)
}

/// A row as JSON, because SQLite has no arrays.
#[derive(Serialize)]
struct Row {
    id: Uuid,
    user: Uuid,
    role: Uuid,
    organization: Option<Uuid>,
    entry: Uuid,
    metadata: Value,
}

async fn insert_into_sqlite(pool: &SqlitePool, by: &Caller, batch: &[NewAssignment]) -> Outcome {
    let (tenant, by, now) = (by.tenant().as_uuid(), by.user().map(UserId::as_uuid), Utc::now().timestamp_millis());
    let row = |new: &NewAssignment| Row {
        id: Uuid::now_v7(),
        user: new.user.into(),
        role: new.role.into(),
        organization: new.organization.map(Uuid::from),
        entry: Uuid::now_v7(),
        metadata: metadata(new),
    };
    let rows = serde_json::to_string(&batch.iter().map(row).collect::<Vec<_>>())?;
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let insert = sqlx::query(
        "INSERT INTO role_assignments (tenant_id, id, user_id, role_id, organization_id, created_at, created_by)
        SELECT ?1, unhex(value ->> 'id', '-'), unhex(value ->> 'user', '-'), unhex(value ->> 'role', '-'),
            unhex(value ->> 'organization', '-'), ?3, ?4
        FROM json_each(?2)",
    );
    insert.bind(tenant).bind(&rows).bind(now).bind(by).execute(&mut *transaction).await?;
    let insert = sqlx::query(
        "INSERT INTO audit_entries (tenant_id, id, action, resource_type, resource_id, user_id, metadata, created_at,
            details_salt, origin_salt)
        SELECT ?1, unhex(value ->> 'entry', '-'), 'ROLE_ASSIGNED', 'ROLE_ASSIGNMENT', value ->> 'id', ?4,
            value -> 'metadata', ?3, randomblob(16), randomblob(16)
        FROM json_each(?2)",
    );
    insert.bind(tenant).bind(&rows).bind(now).bind(by).execute(&mut *transaction).await?;
    let insert = sqlx::query(
        "INSERT INTO audit_unsealed (tenant_id, created_at, id, digest)
        SELECT ?1, ?3, unhex(value ->> 'entry', '-'), randomblob(32)
        FROM json_each(?2)",
    );
    insert.bind(tenant).bind(&rows).bind(now).execute(&mut *transaction).await?;
    Ok(transaction.commit().await?)
}
