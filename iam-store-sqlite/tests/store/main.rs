//! Tests of the store with a real file.

#![cfg(test)]

mod audit_log;
mod changes;
mod counts;
mod file;
mod host;
mod migration;
mod plans;
mod queue;
mod schema;

use std::sync::Arc;

use iam_core::Store;
use test_support::{TestStore, cases};

async fn fixture() -> (Arc<dyn Store>, TestStore) {
    let test = TestStore::sqlite().await;
    (test.store(), test)
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
