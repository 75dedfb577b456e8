//! The tables of the log in a database. The superuser reads and writes them without the service.

#![cfg(test)]

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat};
use iam_core::Store;
use iam_store_sqlite::SqliteStore;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _, SqliteConnection, query, query_scalar, raw_sql};
use test_support::postgres::TestDatabase;
use test_support::sqlite::TestFile;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Id,
    Text,
    Json,
    Bytes,
    Number,
    Moment,
}

pub(crate) struct Table {
    name: &'static str,
    /// The number of columns in the primary key. They come first.
    key: usize,
    pub(crate) columns: &'static [(&'static str, Kind)],
}

/// A value as text, the same on every database: identifiers and bytes in hexadecimal digits, times in microseconds
/// since 1970.
pub(crate) type Cell = Option<String>;
pub(crate) type Row = Vec<Cell>;

pub(crate) const TENANT: usize = 0;

pub(crate) mod entry {
    pub(crate) const CREATED_AT: usize = 1;
    pub(crate) const ID: usize = 2;
    pub(crate) const ACTION: usize = 3;
    pub(crate) const RESOURCE_TYPE: usize = 4;
    pub(crate) const RESOURCE_ID: usize = 5;
    pub(crate) const ORGANIZATION_ID: usize = 6;
    pub(crate) const USER_ID: usize = 7;
    pub(crate) const OLD_VALUE: usize = 8;
    pub(crate) const NEW_VALUE: usize = 9;
    pub(crate) const METADATA: usize = 10;
    pub(crate) const CORRELATION_ID: usize = 11;
    pub(crate) const IP_ADDRESS: usize = 12;
    pub(crate) const USER_AGENT: usize = 13;
    pub(crate) const DETAILS_SALT: usize = 14;
    pub(crate) const ORIGIN_SALT: usize = 15;
}

pub(crate) mod leaf {
    pub(crate) const SEQUENCE: usize = 1;
    pub(crate) const CREATED_AT: usize = 2;
    pub(crate) const ENTRY_ID: usize = 3;
    pub(crate) const HASH: usize = 4;
}

pub(crate) mod pending {
    pub(crate) const CREATED_AT: usize = 1;
    pub(crate) const ID: usize = 2;
    pub(crate) const DIGEST: usize = 3;
}

pub(crate) mod node {
    pub(crate) const POSITION: usize = 2;
    pub(crate) const HASH: usize = 3;
}

pub(crate) mod head {
    pub(crate) const SIZE: usize = 1;
    pub(crate) const PEAKS: usize = 2;
    pub(crate) const NOTE: usize = 3;
    pub(crate) const REMOVED: usize = 4;
}

pub(crate) const ENTRIES: Table = Table {
    name: "audit_entries",
    key: 3,
    columns: &[
        ("tenant_id", Kind::Id),
        ("created_at", Kind::Moment),
        ("id", Kind::Id),
        ("action", Kind::Text),
        ("resource_type", Kind::Text),
        ("resource_id", Kind::Text),
        ("organization_id", Kind::Id),
        ("user_id", Kind::Id),
        ("old_value", Kind::Json),
        ("new_value", Kind::Json),
        ("metadata", Kind::Json),
        ("correlation_id", Kind::Text),
        ("ip_address", Kind::Text),
        ("user_agent", Kind::Text),
        ("details_salt", Kind::Bytes),
        ("origin_salt", Kind::Bytes),
    ],
};

const PENDING: Table = Table {
    name: "audit_unsealed",
    key: 3,
    columns: &[("tenant_id", Kind::Id), ("created_at", Kind::Moment), ("id", Kind::Id), ("digest", Kind::Bytes)],
};

/// In PostgreSQL, the queue row of a pending entry contains the entry itself.
const QUEUE: Table = Table { name: "audit_unsealed", key: 3, columns: &QUEUE_COLUMNS };

const QUEUE_COLUMNS: [(&str, Kind); ENTRIES.columns.len() + 1] = {
    let mut columns = [("digest", Kind::Bytes); ENTRIES.columns.len() + 1];
    let (entry, _) = columns.split_at_mut(ENTRIES.columns.len());
    entry.copy_from_slice(ENTRIES.columns);
    columns
};

const LEAVES: Table = Table {
    name: "audit_leaves",
    key: 2,
    columns: &[
        ("tenant_id", Kind::Id),
        ("sequence", Kind::Number),
        ("created_at", Kind::Moment),
        ("entry_id", Kind::Id),
        ("hash", Kind::Bytes),
    ],
};

const NODES: Table = Table {
    name: "audit_nodes",
    key: 3,
    columns: &[("tenant_id", Kind::Id), ("level", Kind::Number), ("position", Kind::Number), ("hash", Kind::Bytes)],
};

const HEADS: Table = Table {
    name: "audit_logs",
    key: 1,
    columns: &[
        ("tenant_id", Kind::Id),
        ("size", Kind::Number),
        ("peaks", Kind::Bytes),
        ("note", Kind::Text),
        ("removed", Kind::Number),
        ("purged", Kind::Number),
        ("retention_days", Kind::Number),
    ],
};

/// All rows of the log's tables, in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) entries: Vec<Row>,
    pub(crate) pending: Vec<Row>,
    pub(crate) leaves: Vec<Row>,
    pub(crate) nodes: Vec<Row>,
    pub(crate) heads: Vec<Row>,
}

impl Rows {
    /// The rows as the database stores them. If the queue itself contains the pending entries, a queue row without its
    /// entry cannot exist, and is left out.
    fn tables(&self, queue_holds_entries: bool) -> [(&'static Table, Vec<Row>); 5] {
        let queued = |row: &&Row| self.pending.iter().find(|queued| queued[..PENDING.key] == row[..PENDING.key]);
        let (entries, queue) = if queue_holds_entries {
            let has_leaf = |row: &Row| {
                let key = [&row[TENANT], &row[entry::CREATED_AT], &row[entry::ID]];
                self.leaves.iter().any(|row| [&row[TENANT], &row[leaf::CREATED_AT], &row[leaf::ENTRY_ID]] == key)
            };
            let pending: Vec<&Row> = self.entries.iter().filter(|row| queued(row).is_some()).collect();
            // A sequenced entry that is queued again is in both tables.
            let sequenced: Vec<&Row> =
                self.entries.iter().filter(|row| queued(row).is_none() || has_leaf(row)).collect();
            let digest = |row: &&Row| queued(row).and_then(|queued| queued[pending::DIGEST].clone());
            let pending = pending.iter().map(|row| row.iter().cloned().chain([digest(row)]).collect());
            (sequenced.into_iter().cloned().collect(), (&QUEUE, pending.collect()))
        } else {
            (self.entries.clone(), (&PENDING, self.pending.clone()))
        };
        let (leaves, nodes, heads) = (self.leaves.clone(), self.nodes.clone(), self.heads.clone());
        [(&ENTRIES, entries), queue, (&LEAVES, leaves), (&NODES, nodes), (&HEADS, heads)]
    }
}

/// The signing key of the checkpoints. Without a master key, the private key is unencrypted in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRow {
    pub(crate) id: String,
    pub(crate) public: String,
    pub(crate) private: String,
}

/// A database, a store on it, and a connection of its superuser.
pub(crate) struct Database {
    pub(crate) store: Arc<dyn Store>,
    superuser: Superuser,
    _resource: Box<dyn Send + Sync>,
}

enum Superuser {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Database {
    pub(crate) async fn sqlite() -> Self {
        let file = TestFile::create();
        let store = SqliteStore::open(file.url()).await.unwrap();
        store.migrate().await.unwrap();
        let superuser = Superuser::Sqlite(SqliteConnection::connect(file.url()).await.unwrap());
        Self { store: Arc::new(store), superuser, _resource: Box::new(file) }
    }

    pub(crate) async fn postgres() -> Self {
        let database = TestDatabase::create().await;
        let store = database.store().await;
        store.migrate().await.unwrap();
        let superuser = Superuser::Postgres(PgConnection::connect(database.url()).await.unwrap());
        Self { store: Arc::new(store), superuser, _resource: Box::new(database) }
    }

    /// Removes the triggers and checks that would prevent the superuser's writes.
    pub(crate) async fn disarm(&mut self) {
        let statements: Vec<String> = match &mut self.superuser {
            Superuser::Sqlite(connection) => {
                let triggers = query_scalar("SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'");
                let mut statements: Vec<String> = triggers.fetch_all(connection).await.unwrap();
                statements.push("PRAGMA ignore_check_constraints = ON".to_owned());
                // A trial need not survive a power cut.
                statements.push("PRAGMA synchronous = OFF".to_owned());
                statements
            }
            Superuser::Postgres(connection) => {
                let checks = query_scalar(
                    "SELECT format('ALTER TABLE iam.%I DROP CONSTRAINT %I', r.relname, c.conname)
                    FROM pg_constraint c
                    JOIN pg_class r ON r.oid = c.conrelid
                    WHERE c.contype = 'c' AND c.conislocal AND NOT r.relispartition AND r.relname LIKE 'audit_%'",
                );
                let mut statements: Vec<String> = checks.fetch_all(connection).await.unwrap();
                statements.push("SET session_replication_role = replica".to_owned());
                statements.push("SET synchronous_commit = off".to_owned());
                statements
            }
        };
        assert!(statements.len() > 5, "there are triggers or checks to remove");
        self.execute(statements.join(";")).await;
    }

    /// Whether the queue row of a pending entry contains the entry itself.
    pub(crate) fn queue_holds_entries(&self) -> bool {
        matches!(self.superuser, Superuser::Postgres(_))
    }

    pub(crate) async fn read(&mut self) -> Rows {
        let mut entries = self.read_table(&ENTRIES).await;
        if self.queue_holds_entries() {
            entries.extend(self.read_table(&QUEUE).await.into_iter().map(|mut row| {
                row.truncate(ENTRIES.columns.len());
                row
            }));
            entries.sort();
            entries.dedup();
        }
        Rows {
            entries,
            pending: self.read_table(&PENDING).await,
            leaves: self.read_table(&LEAVES).await,
            nodes: self.read_table(&NODES).await,
            heads: self.read_table(&HEADS).await,
        }
    }

    async fn read_table(&mut self, table: &Table) -> Vec<Row> {
        let columns: Vec<String> = table.columns.iter().map(|(name, kind)| self.readable(name, *kind)).collect();
        let key: Vec<&str> = table.columns[..table.key].iter().map(|(name, _)| *name).collect();
        let (columns, table, key) = (columns.join(", "), self.qualified(table.name), key.join(", "));
        self.select(format!("SELECT {columns} FROM {table} ORDER BY {key}")).await
    }

    async fn select(&mut self, sql: String) -> Vec<Row> {
        macro_rules! select {
            ($connection:expr) => {{
                let rows = query(AssertSqlSafe(sql)).fetch_all($connection).await.unwrap();
                rows.iter().map(|row| (0..row.len()).map(|column| row.get(column)).collect()).collect()
            }};
        }
        match &mut self.superuser {
            Superuser::Sqlite(connection) => select!(connection),
            Superuser::Postgres(connection) => select!(connection),
        }
    }

    /// Replaces the rows in the database by other rows.
    pub(crate) async fn write(&mut self, from: &Rows, to: &Rows) {
        let mut script = String::from("BEGIN;\n");
        let queue_holds_entries = self.queue_holds_entries();
        let (from, to) = (from.tables(queue_holds_entries), to.tables(queue_holds_entries));
        for ((table, from), (_, to)) in from.iter().zip(&to) {
            script += &self.deletion(table, &missing(table, from, to));
        }
        for ((table, from), (_, to)) in from.iter().zip(&to) {
            script += &self.insertion(table, &missing(table, to, from));
        }
        self.execute(script + "COMMIT").await;
    }

    fn deletion(&self, table: &Table, rows: &[&Row]) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let columns = &table.columns[..table.key];
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let rows: Vec<String> = rows.iter().map(|row| self.values(columns, row)).collect();
        let (name, names, rows) = (self.qualified(table.name), names.join(", "), rows.join(", "));
        format!("DELETE FROM {name} WHERE ({names}) IN (VALUES {rows});\n")
    }

    fn insertion(&self, table: &Table, rows: &[&Row]) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        let rows: Vec<String> = rows.iter().map(|row| self.values(table.columns, row)).collect();
        let (name, names, rows) = (self.qualified(table.name), names.join(", "), rows.join(", "));
        format!("INSERT INTO {name} ({names}) VALUES {rows};\n")
    }

    fn values(&self, columns: &[(&str, Kind)], row: &Row) -> String {
        let cells = columns.iter().zip(row);
        let literals: Vec<String> = cells.map(|((_, kind), cell)| self.literal(*kind, cell.as_deref())).collect();
        format!("({})", literals.join(", "))
    }

    pub(crate) async fn key(&mut self) -> KeyRow {
        let columns = [("id", Kind::Id), ("public_key", Kind::Bytes), ("private_key", Kind::Bytes)];
        let columns: Vec<String> = columns.iter().map(|(name, kind)| self.readable(name, *kind)).collect();
        let (columns, table) = (columns.join(", "), self.qualified("signing_keys"));
        let sql = format!("SELECT {columns} FROM {table} WHERE purpose = 'CHECKPOINTS' AND NOT encrypted");
        let [row] = self.select(sql).await.try_into().unwrap();
        let [id, public, private] = row.try_into().unwrap();
        KeyRow { id: id.unwrap(), public: public.unwrap(), private: private.unwrap() }
    }

    pub(crate) async fn write_key(&mut self, key: &KeyRow) {
        let [id, public, private] = [(Kind::Id, &key.id), (Kind::Bytes, &key.public), (Kind::Bytes, &key.private)]
            .map(|(kind, text)| self.literal(kind, Some(text)));
        let table = self.qualified("signing_keys");
        let set = format!("SET id = {id}, public_key = {public}, private_key = {private}");
        self.execute(format!("UPDATE {table} {set} WHERE purpose = 'CHECKPOINTS'")).await;
    }

    async fn execute(&mut self, script: String) {
        let script = raw_sql(AssertSqlSafe(script));
        match &mut self.superuser {
            Superuser::Sqlite(connection) => drop(script.execute(connection).await.unwrap()),
            Superuser::Postgres(connection) => drop(script.execute(connection).await.unwrap()),
        }
    }

    fn qualified(&self, table: &str) -> String {
        match &self.superuser {
            Superuser::Sqlite(_) => table.to_owned(),
            Superuser::Postgres(_) => format!("iam.{table}"),
        }
    }

    /// A column as a [`Cell`].
    fn readable(&self, name: &str, kind: Kind) -> String {
        match (&self.superuser, kind) {
            // In SQLite, `hex(NULL)` is an empty text.
            (Superuser::Sqlite(_), Kind::Id | Kind::Bytes) => {
                format!("CASE WHEN {name} IS NOT NULL THEN lower(hex({name})) END")
            }
            (Superuser::Sqlite(_), Kind::Moment) => format!("CAST({name} * 1000 AS TEXT)"),
            (Superuser::Sqlite(_), Kind::Number) => format!("CAST({name} AS TEXT)"),
            (Superuser::Sqlite(_), Kind::Text | Kind::Json) => name.to_owned(),
            (Superuser::Postgres(_), Kind::Id) => format!("replace({name}::text, '-', '')"),
            (Superuser::Postgres(_), Kind::Bytes) => format!("encode({name}, 'hex')"),
            (Superuser::Postgres(_), Kind::Moment) => format!("(extract(epoch FROM {name}) * 1000000)::bigint::text"),
            (Superuser::Postgres(_), Kind::Number | Kind::Text | Kind::Json) => format!("{name}::text"),
        }
    }

    fn literal(&self, kind: Kind, cell: Option<&str>) -> String {
        let Some(text) = cell else { return "NULL".to_owned() };
        let micros = || text.parse::<i64>().unwrap();
        let quoted = || format!("'{}'", text.replace('\'', "''"));
        match (&self.superuser, kind) {
            (_, Kind::Number) => text.to_owned(),
            (Superuser::Sqlite(_), Kind::Id | Kind::Bytes) => format!("x'{text}'"),
            (Superuser::Sqlite(_), Kind::Moment) => (micros() / 1000).to_string(),
            (Superuser::Sqlite(_), Kind::Text | Kind::Json) => quoted(),
            (Superuser::Postgres(_), Kind::Id) => format!("'{text}'::uuid"),
            (Superuser::Postgres(_), Kind::Bytes) => format!("'\\x{text}'::bytea"),
            (Superuser::Postgres(_), Kind::Moment) => {
                let moment = DateTime::from_timestamp_micros(micros()).unwrap();
                format!("'{}'::timestamptz", moment.to_rfc3339_opts(SecondsFormat::Micros, true))
            }
            (Superuser::Postgres(_), Kind::Text) => quoted(),
            (Superuser::Postgres(_), Kind::Json) => format!("{}::json", quoted()),
        }
    }
}

/// The rows of `of` that are missing in `other` or differ there.
fn missing<'a>(table: &Table, of: &'a [Row], other: &[Row]) -> Vec<&'a Row> {
    let other: BTreeMap<&[Cell], &Row> = other.iter().map(|row| (&row[..table.key], row)).collect();
    of.iter().filter(|row| other.get(&row[..table.key]) != Some(row)).collect()
}
