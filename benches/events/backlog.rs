//! The feed of a long backlog, beside a bare select of the same rows.

use std::time::{Duration, Instant};

use iam_benches::database::{Bare, Database};
use iam_benches::{CHEAP, Outcome, audit_log, iam, register};
use iam_core::{Caller, TenantId};
use sqlx::{AssertSqlSafe, query};

/// The entries of a page.
const PAGE: u64 = 500;

/// The entries that are read by one side before the other side reads.
const TURN: u64 = 20_000;

#[expect(clippy::print_stdout, reason = "the bench prints its results")]
pub(crate) async fn measure(database: &Database, entries: u64) -> Outcome {
    let iam = iam(database.store().await?, CHEAP).await?;
    let tenant = register(&iam).await?.tenant.id;
    let log = TenantId::from_uuid(iam_benches::id(1));
    copy_tenant(database, tenant, log).await?;
    audit_log::fill(database, &[(log, entries)]).await?;
    let bare = database.bare().await?;
    sequence(&bare, log, entries).await?;
    database.vacuum().await?;
    let caller = Caller::system(log, "benchmark");
    let mut feed = iam.audit().follow(&caller, Some(0), PAGE as u32);
    let (mut by_feed, mut by_select, mut read) = (Duration::ZERO, Duration::ZERO, 0);
    while read < entries {
        let end = entries.min(read + TURN);
        let began = Instant::now();
        let mut next = read;
        while next < end {
            next = feed.next().await?.next;
        }
        by_feed += began.elapsed();
        let began = Instant::now();
        let mut from = read;
        while from < end {
            from += select(&bare, log, from).await?;
        }
        by_select += began.elapsed();
        read = end;
    }
    let rate = |time: Duration| entries as f64 / time.as_secs_f64();
    println!(
        "| entries of a backlog of {entries} to one reader | {:.0}/s | {:.0}/s | {:.2} |",
        rate(by_feed),
        rate(by_select),
        by_select.as_secs_f64() / by_feed.as_secs_f64()
    );
    Ok(())
}

/// Copies the row of a tenant, because the entries belong to tenants with known identifiers.
async fn copy_tenant(database: &Database, from: TenantId, to: TenantId) -> Outcome {
    const COLUMNS: &str = "name, status, created_at, updated_at";
    let (from, to) = (from.as_uuid(), to.as_uuid());
    match database.bare().await? {
        Bare::Sqlite(pool) => {
            let sql = format!(
                "INSERT INTO tenants (id, slug, {COLUMNS}) SELECT ?2, 'bench', {COLUMNS} FROM tenants WHERE id = ?1"
            );
            query(AssertSqlSafe(sql)).bind(from).bind(to).execute(&pool).await?;
        }
        Bare::Postgres(pool) => {
            let sql = format!(
                "INSERT INTO iam.tenants (id, slug, {COLUMNS}) SELECT $2, 'bench', {COLUMNS} FROM iam.tenants WHERE id = $1"
            );
            query(AssertSqlSafe(sql)).bind(from).bind(to).execute(&pool).await?;
        }
    }
    Ok(())
}

/// Gives the entries numbers. Their hashes are no hashes: the feed does not read them.
async fn sequence(bare: &Bare, log: TenantId, entries: u64) -> Outcome {
    let (log, size) = (log.as_uuid(), i64::try_from(entries)?);
    let peaks = vec![0_u8; 32 * entries.count_ones() as usize];
    match bare {
        Bare::Sqlite(pool) => {
            let leaves = "INSERT INTO audit_leaves (tenant_id, sequence, created_at, entry_id, hash)
                SELECT tenant_id, row_number() OVER (ORDER BY created_at, id) - 1, created_at, id, zeroblob(32)
                FROM audit_entries WHERE tenant_id = ?1";
            query(leaves).bind(log).execute(pool).await?;
            let head = "INSERT INTO audit_logs (tenant_id, size, peaks) VALUES (?1, ?2, ?3)";
            query(head).bind(log).bind(size).bind(peaks).execute(pool).await?;
        }
        Bare::Postgres(pool) => {
            let leaves = "INSERT INTO iam.audit_leaves (tenant_id, sequence, created_at, entry_id, hash)
                SELECT tenant_id, row_number() OVER (ORDER BY created_at, id) - 1, created_at, id,
                    decode(repeat('00', 32), 'hex')
                FROM iam.audit_entries WHERE tenant_id = $1";
            query(leaves).bind(log).execute(pool).await?;
            let head = "INSERT INTO iam.audit_logs (tenant_id, size, peaks) VALUES ($1, $2, $3)";
            query(head).bind(log).bind(size).bind(peaks).execute(pool).await?;
        }
    }
    Ok(())
}

/// Reads the rows of a page, and nothing else. Returns how many there are.
async fn select(bare: &Bare, log: TenantId, from: u64) -> Outcome<u64> {
    let (log, from, limit) = (log.as_uuid(), i64::try_from(from)?, i64::try_from(PAGE)?);
    let count = match bare {
        Bare::Sqlite(pool) => {
            let sql = "SELECT l.*, e.* FROM audit_leaves l
                JOIN audit_entries e
                    ON e.tenant_id = l.tenant_id AND e.created_at = l.created_at AND e.id = l.entry_id
                WHERE l.tenant_id = ?1 AND l.sequence >= ?2 ORDER BY l.sequence LIMIT ?3";
            query(sql).bind(log).bind(from).bind(limit).fetch_all(pool).await?.len()
        }
        Bare::Postgres(pool) => {
            // As a plain join, it would hash all entries of the tenant for each page.
            let sql = "SELECT * FROM (
                    SELECT * FROM iam.audit_leaves WHERE tenant_id = $1 AND sequence >= $2 ORDER BY sequence LIMIT $3
                ) l
                JOIN LATERAL (
                    SELECT * FROM iam.audit_entries
                    WHERE tenant_id = $1 AND created_at = l.created_at AND id = l.entry_id LIMIT 1
                ) e ON true
                ORDER BY l.sequence";
            query(sql).bind(log).bind(from).bind(limit).fetch_all(pool).await?.len()
        }
    };
    Ok(count as u64)
}
