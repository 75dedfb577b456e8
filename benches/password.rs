//! The cost of a password: a login verifies one, and a new user needs the hash of one. Measured on the store in
//! memory, at the default cost, and compared with bare Argon2id.

use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use argon2::{PasswordHasher as _, PasswordVerifier as _};
use criterion::Criterion;
use iam_benches::{Outcome, PASSWORD, argon2id, email, iam, new_user, register, sure};
use iam_core::credential::HashingCost;
use iam_core::session::Login;
use iam_core::{Caller, Iam, RequestContext, TenantId};
use test_support::TestStore;
use tokio::runtime::Runtime;

fn main() -> Outcome {
    let criterion = Criterion::default().without_plots().sample_size(20);
    let criterion = criterion.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    let mut criterion = criterion.configure_from_args();
    let runtime = Runtime::new()?;
    let iam = runtime.block_on(iam(TestStore::memory().store(), HashingCost::default()))?;
    let tenant = runtime.block_on(register(&iam))?.tenant.id;

    measure_login(&mut criterion, &runtime, &iam);
    measure_verification(&mut criterion)?;
    measure_new_user(&mut criterion, &runtime, &iam, tenant);
    measure_hash(&mut criterion)?;
    criterion.final_summary();
    Ok(())
}

fn measure_login(criterion: &mut Criterion, runtime: &Runtime, iam: &Iam) {
    let login = || Login { email: email(0), password: PASSWORD.into(), tenant: None };
    criterion.bench_function("password/login", |bencher| {
        bencher
            .to_async(runtime)
            .iter(|| async { sure(iam.sessions().login(&RequestContext::default(), login()).await) });
    });
}

fn measure_verification(criterion: &mut Criterion) -> Outcome {
    let argon2 = argon2id(HashingCost::default())?;
    let hash = argon2.hash_password_with_salt(PASSWORD.as_bytes(), &[7; 16])?;
    criterion.bench_function("password/floor: Argon2id verifies", |bencher| {
        bencher.iter(|| sure(argon2.verify_password(black_box(PASSWORD).as_bytes(), &hash)));
    });
    Ok(())
}

fn measure_new_user(criterion: &mut Criterion, runtime: &Runtime, iam: &Iam, tenant: TenantId) {
    let caller = Caller::system(tenant, "benchmark");
    let number = Cell::new(0);
    let next_user = || {
        number.set(number.get() + 1);
        new_user(number.get())
    };
    criterion.bench_function("password/new user", |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(iam.users().create(&caller, next_user()).await) });
    });
}

fn measure_hash(criterion: &mut Criterion) -> Outcome {
    let argon2 = argon2id(HashingCost::default())?;
    criterion.bench_function("password/floor: Argon2id hashes", |bencher| {
        bencher.iter(|| sure(argon2.hash_password_with_salt(black_box(PASSWORD).as_bytes(), &[7; 16])));
    });
    Ok(())
}
