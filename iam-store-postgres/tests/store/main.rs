//! Tests of the store with a real PostgreSQL.

#![cfg(test)]

mod changes;
mod counts;
mod distribution;
mod explained;
mod filter;
mod host;
mod immutable;
mod migration;
mod month;
mod neighbour;
mod planner;
mod plans;
mod pool;
mod pooler;
mod queue;
mod replica;
mod schema;
mod server;
mod turn;

use std::sync::Arc;

use iam_core::Store;
use test_support::reused::ReusedStore;
use test_support::{cases, reused};

/// A store whose role has only the privileges of `grants.sql`. It must pass all tests of a store.
async fn fixture() -> (Arc<dyn Store>, ReusedStore) {
    let reused = ReusedStore::take(server::store).await;
    (reused.store(), reused)
}

iam_conformance::conformance_suite!(fixture, test_support::reused::run);

macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        $(#[test]
        fn $case() {
            reused::run(async {
                let (store, _guard) = fixture().await;
                cases::$case(store).await;
            });
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
