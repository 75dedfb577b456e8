//! The frame of benchmarks that measure something on every store.

use std::env;
use std::time::Duration;

use criterion::Criterion;
use iam_benches::Outcome;
use test_support::{TestStore, stores};
use tokio::runtime::Runtime;

/// Measures something on every store, and then something else.
pub(crate) fn on_stores(
    measure: impl Fn(&mut Criterion, &Runtime, &TestStore) -> Outcome,
    then: impl FnOnce(&mut Criterion) -> Outcome,
) -> Outcome {
    if env::var_os("IAM_TEST_POSTGRES_URL").is_none() {
        return Err("there is no PostgreSQL: run IAM_TEST_POSTGRES_FSYNC=on \
                    scripts/with-postgres cargo bench -p iam-benches"
            .into());
    }
    let criterion = Criterion::default().without_plots();
    let criterion = criterion.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    let mut criterion = criterion.configure_from_args();
    let runtime = Runtime::new()?;
    for test in runtime.block_on(stores()) {
        measure(&mut criterion, &runtime, &test)?;
    }
    then(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}
