//! Tests of the store with a real PostgreSQL.

#![cfg(test)]

mod changes;
mod counts;
mod explained;
mod filter;
mod host;
mod immutable;
mod migration;
mod month;
mod neighbour;
mod plans;
mod pool;
mod queue;
mod schema;
mod server;
mod turn;

use std::sync::Arc;

use iam_core::Store;
use test_support::cases;
use test_support::postgres::TestDatabase;

/// A store whose role has only the privileges of `grants.sql`. It must pass all tests of a store.
async fn fixture() -> (Arc<dyn Store>, TestDatabase) {
    let database = TestDatabase::migrated().await;
    let store = server::store(&database).await;
    (Arc::new(store), database)
}

iam_conformance::conformance_suite!(fixture);

macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $case() {
            let (store, _guard) = fixture().await;
            cases::$case(store).await;
        })+
    };
}

cases! {
    every_constraint_is_recognized,
    the_tenant_inside_a_change_is_ignored,
    nothing_is_committed_after_a_failure,
    an_aborted_task_leaves_no_row_and_no_lock,
    odd_filters_find_nothing,
    time_filters_of_the_audit_log_are_exact_within_a_millisecond,
}
