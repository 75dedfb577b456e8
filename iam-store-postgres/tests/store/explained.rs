//! The plans of a store's statements, as PostgreSQL logs them for the actual statements and values.

use std::fmt::Debug;
use std::sync::{Mutex, Once, PoisonError};

use iam_store_postgres::PostgresStore;
use serde_json::Value;
use sqlx::postgres::{PgConnection, PgPoolOptions};
use sqlx::{AssertSqlSafe, Executor as _, Row as _};
use test_support::postgres::TestDatabase;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Sends every plan to the client as a notice, with the actual row counts and without timings.
const EXPLAIN: &str = "
    LOAD 'auto_explain';
    SET auto_explain.log_min_duration = 0;
    SET auto_explain.log_level = notice;
    SET auto_explain.log_format = json;
    SET auto_explain.log_analyze = on;
    SET auto_explain.log_timing = off;
    SET auto_explain.log_nested_statements = on;
";

const EXPLAIN_TASKS: &str = "
    LOAD 'auto_explain';
    SET auto_explain.log_min_duration = 0;
    SET auto_explain.log_level = notice;
    SET auto_explain.log_format = json;
";

static PLANS: Mutex<Vec<Explained>> = Mutex::new(Vec::new());

/// A test holds this lock while it explains statements, because all tests of a process share the list of plans.
pub(crate) static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A statement, and how it was executed.
#[derive(Clone, Debug)]
pub(crate) struct Explained {
    /// The statement in one line.
    pub(crate) statement: String,
    pub(crate) scans: Vec<Scan>,
    /// Whether Citus sent it to at most one shard, as it is.
    pub(crate) is_routed: bool,
}

/// How a table was read.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    pub(crate) relation: String,
    /// The condition by which an index found the rows, if there was one.
    pub(crate) condition: Option<String>,
    /// How many rows were read, including rows that a filter removed.
    pub(crate) rows: u64,
}

/// Returns a store whose statements are explained.
pub(crate) async fn store(database: &TestDatabase) -> PostgresStore {
    explaining(database, EXPLAIN).await
}

/// The same on Citus, without actual row counts, and without the statements of functions, which Citus cannot explain.
pub(crate) async fn distributed_store(database: &TestDatabase) -> PostgresStore {
    explaining(database, EXPLAIN_TASKS).await
}

async fn explaining(database: &TestDatabase, settings: &'static str) -> PostgresStore {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| tracing::subscriber::set_global_default(Notices).unwrap());
    let options = PgPoolOptions::new()
        .max_connections(16)
        .after_connect(move |connection, _| Box::pin(async move { connection.execute(settings).await.map(drop) }));
    PostgresStore::from_pool(options.connect(database.url()).await.unwrap())
}

/// Takes the statements that were explained since the last call.
pub(crate) fn take() -> Vec<Explained> {
    std::mem::take(&mut *PLANS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the statement with single spaces and without line breaks.
pub(crate) fn one_line(statement: &str) -> String {
    statement.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Explained {
    /// Parses a notice. `None` if it is not a plan.
    fn parse(notice: &str) -> Option<Self> {
        let (_, plan) = notice.split_once("plan:\n")?;
        let plan: Value = serde_json::from_str(plan).unwrap();
        Some(Self::new(plan["Query Text"].as_str()?, &plan))
    }

    fn new(statement: &str, plan: &Value) -> Self {
        let mut scans = Vec::new();
        collect(&plan["Plan"], &mut scans);
        Self { statement: one_line(statement), scans, is_routed: is_routed(&plan["Plan"]) }
    }

    /// Explains a statement without executing it, with a plan for any parameters.
    pub(crate) async fn without_execution(connection: &mut PgConnection, statement: &str) -> Self {
        let parameters = (1..).take_while(|number| statement.contains(&format!("${number}"))).count();
        let values = if parameters == 0 { String::new() } else { format!("({})", vec!["NULL"; parameters].join(", ")) };
        let ask = format!(
            "DEALLOCATE ALL; SET plan_cache_mode = force_generic_plan; PREPARE explained AS {statement};
            EXPLAIN (FORMAT JSON) EXECUTE explained {values}"
        );
        let row = sqlx::raw_sql(AssertSqlSafe(ask)).fetch_one(connection).await.unwrap();
        let plans: Value = row.get(0);
        Self::new(statement, &plans[0])
    }

    /// How many rows the statement read.
    pub(crate) fn rows(&self) -> u64 {
        self.scans.iter().map(|scan| scan.rows).sum()
    }
}

/// Whether no part of a plan has several tasks, and no part is executed before the others.
fn is_routed(node: &Value) -> bool {
    match node {
        Value::Object(members) => members.iter().all(|(name, value)| match name.as_str() {
            "Task Count" => value.as_u64().is_some_and(|tasks| tasks <= 1),
            "Subplans" => false,
            "Custom Plan Provider" => value.as_str() != Some("Citus INSERT ... SELECT"),
            _ => is_routed(value),
        }),
        Value::Array(values) => values.iter().all(is_routed),
        _ => true,
    }
}

fn collect(node: &Value, scans: &mut Vec<Scan>) {
    let text = |name: &str| node[name].as_str().map(str::to_owned);
    let number = |name: &str| node[name].as_f64().unwrap_or_default();
    let kind = node["Node Type"].as_str().unwrap_or_default();
    if matches!(kind, "Seq Scan" | "Index Scan" | "Index Only Scan" | "Bitmap Index Scan") {
        let per_loop =
            number("Actual Rows") + number("Rows Removed by Filter") + number("Rows Removed by Index Recheck");
        scans.push(Scan {
            // A bitmap index scan names only its index, and not its table.
            relation: text("Relation Name").or_else(|| text("Index Name")).unwrap_or_default(),
            condition: text("Index Cond"),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a number of rows")]
            rows: (per_loop * number("Actual Loops")) as u64,
        });
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        collect(child, scans);
    }
}

/// Receives the notices of the server, which the driver logs.
struct Notices;

impl Subscriber for Notices {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::postgres::notice"
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Message);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Message;

impl Visit for Message {
    fn record_str(&mut self, _: &Field, notice: &str) {
        PLANS.lock().unwrap_or_else(PoisonError::into_inner).extend(Explained::parse(notice));
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
