//! The cost to read a tree of 10,000 organizations and to write it as JSON, compared with the bare recursive query and
//! its rows as JSON.

use std::hint::black_box;
use std::time::Duration;

use chrono::Utc;
use criterion::{Criterion, Throughput};
use iam_benches::database::{Bare, Database};
use iam_benches::{CHEAP, Outcome, iam, register, sure};
use iam_core::organization::OrganizationTree;
use iam_core::{Caller, Iam, OrganizationId, RequestContext, TenantId};
use serde::Serialize;
use sqlx::FromRow;
use tokio::runtime::Runtime;
use uuid::Uuid;

/// The number of organizations on each level: one root, and as many levels as the default settings allow.
const LEVELS: [usize; 6] = [1, 9, 90, 900, 3_000, 6_000];

fn main() -> Outcome {
    let criterion = Criterion::default().without_plots().sample_size(20);
    let criterion = criterion.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    let mut criterion = criterion.configure_from_args();
    let runtime = Runtime::new()?;
    for database in [Database::sqlite(), runtime.block_on(Database::postgres())?] {
        measure(&mut criterion, &runtime, &database)?;
    }
    criterion.final_summary();
    Ok(())
}

fn measure(criterion: &mut Criterion, runtime: &Runtime, database: &Database) -> Outcome {
    let store = runtime.block_on(database.store())?;
    let name = store.kind();
    let iam = runtime.block_on(iam(store, CHEAP))?;
    let bare = runtime.block_on(database.bare())?;
    let (administrator, root) = runtime.block_on(create_tree(&iam, &bare))?;
    runtime.block_on(database.vacuum())?;
    let total = LEVELS.iter().sum::<usize>();

    let mut group = criterion.benchmark_group("organization");
    group.throughput(Throughput::Elements(total as u64));
    group.bench_function(format!("tree as JSON/{name}"), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(tree(&iam, &administrator, root).await) });
    });
    let tenant = administrator.tenant();
    group.bench_function(format!("floor: recursive query as JSON/{name}"), |bencher| {
        bencher.to_async(runtime).iter(|| async { black_box(sure(rows_as_json(&bare, tenant, root).await)) });
    });
    group.finish();

    let (tree, count) = runtime.block_on(async {
        let tree = iam.organizations().tree(&administrator, root).await?;
        Outcome::Ok((tree, rows(&bare, tenant, root).await?.len()))
    })?;
    if (size(&tree), count) != (total, total) {
        return Err("not everything was read".into());
    }
    runtime.block_on(iam.close());
    Ok(())
}

fn size(tree: &OrganizationTree) -> usize {
    1 + tree.children.iter().map(size).sum::<usize>()
}

/// A tree in the form of the HTTP interface.
#[derive(Serialize)]
struct TreeNode {
    id: Uuid,
    name: String,
    slug: String,
    status: &'static str,
    depth: u32,
    children: Vec<TreeNode>,
}

impl From<OrganizationTree> for TreeNode {
    fn from(OrganizationTree { organization, depth, children, .. }: OrganizationTree) -> Self {
        Self {
            id: organization.id.into(),
            name: organization.name.into(),
            slug: organization.slug.into(),
            status: organization.status.as_str(),
            depth,
            children: children.into_iter().map(Self::from).collect(),
        }
    }
}

async fn tree(iam: &Iam, caller: &Caller, root: OrganizationId) -> Outcome<Vec<u8>> {
    let tree = iam.organizations().tree(caller, root).await?;
    Ok(serde_json::to_vec(&TreeNode::from(tree))?)
}

async fn rows_as_json(bare: &Bare, tenant: TenantId, root: OrganizationId) -> Outcome<Vec<u8>> {
    Ok(serde_json::to_vec(&rows(bare, tenant, root).await?)?)
}

/// An organization of the tree.
#[derive(FromRow, Serialize)]
struct Row {
    id: Uuid,
    name: String,
    slug: String,
    status: String,
    parent_id: Option<Uuid>,
}

async fn rows(bare: &Bare, tenant: TenantId, root: OrganizationId) -> Outcome<Vec<Row>> {
    let (tenant, root) = (tenant.as_uuid(), root.as_uuid());
    Ok(match bare {
        Bare::Sqlite(pool) => {
            let query = sqlx::query_as(
                "WITH RECURSIVE subtree AS (
                    SELECT id, name, slug, status, parent_id, created_at
                    FROM organizations WHERE tenant_id = ?1 AND id = ?2
                    UNION ALL
                    SELECT o.id, o.name, o.slug, o.status, o.parent_id, o.created_at
                    FROM subtree s
                    CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = s.id
                    WHERE o.status <> 'INACTIVE'
                )
                SELECT id, name, slug, status, parent_id FROM subtree ORDER BY created_at DESC, id",
            );
            query.bind(tenant).bind(root).fetch_all(pool).await?
        }
        Bare::Postgres(pool) => {
            let query = sqlx::query_as(
                "WITH RECURSIVE subtree AS (
                    SELECT id, name, slug, status, parent_id, created_at
                    FROM iam.organizations WHERE tenant_id = $1 AND id = $2
                    UNION ALL
                    SELECT o.id, o.name, o.slug, o.status, o.parent_id, o.created_at
                    FROM subtree s
                    JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = s.id
                    WHERE o.status <> 'INACTIVE'
                )
                SELECT id, name, slug, status, parent_id FROM subtree ORDER BY created_at DESC, id",
            );
            query.bind(tenant).bind(root).fetch_all(pool).await?
        }
    })
}

/// Creates a tenant with the tree. Returns its administrator and the root. The organizations are inserted without the
/// service, because ten thousand units of work would take longer than the whole measurement.
async fn create_tree(iam: &Iam, bare: &Bare) -> Outcome<(Caller, OrganizationId)> {
    let registered = register(iam).await?;
    let token = registered.login.tokens.access.expose();
    let administrator = iam.authenticate(token, RequestContext::default()).await?;
    let (mut all, mut above) = (Vec::new(), Vec::new());
    for count in LEVELS {
        let level: Vec<Uuid> = (0..count).map(|_| Uuid::now_v7()).collect();
        all.extend(level.iter().map(|id| (*id, fastrand::choice(&above).copied())));
        above = level;
    }
    let root = all.first().map(|(root, _)| OrganizationId::from(*root)).ok_or("there is no level")?;
    insert(bare, administrator.tenant(), &all).await?;
    Ok((administrator, root))
}

async fn insert(bare: &Bare, tenant: TenantId, organizations: &[(Uuid, Option<Uuid>)]) -> Outcome {
    let (tenant, now) = (tenant.as_uuid(), Utc::now());
    let named = organizations
        .iter()
        .enumerate()
        .map(|(number, (id, parent))| (id, parent, format!("Organization {number}"), format!("organization-{number}")));
    match bare {
        Bare::Sqlite(pool) => {
            let mut transaction = pool.begin().await?;
            for (id, parent, name, slug) in named {
                let insert = sqlx::query(
                    "INSERT INTO organizations (tenant_id, id, name, name_key, slug, status, parent_id, created_at,
                        updated_at)
                    VALUES (?1, ?2, ?3, lower(?3), ?4, 'ACTIVE', ?5, ?6, ?6)",
                );
                let insert = insert.bind(tenant).bind(id).bind(name).bind(slug).bind(parent);
                insert.bind(now.timestamp_millis()).execute(&mut *transaction).await?;
            }
            transaction.commit().await?;
        }
        Bare::Postgres(pool) => {
            let mut transaction = pool.begin().await?;
            for (id, parent, name, slug) in named {
                let insert = sqlx::query(
                    "INSERT INTO iam.organizations (tenant_id, id, name, name_key, slug, status, parent_id, created_at,
                        updated_at)
                    VALUES ($1, $2, $3, lower($3), $4, 'ACTIVE', $5, $6, $6)",
                );
                let insert = insert.bind(tenant).bind(id).bind(name).bind(slug).bind(parent).bind(now);
                insert.execute(&mut *transaction).await?;
            }
            transaction.commit().await?;
        }
    }
    Ok(())
}
