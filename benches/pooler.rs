//! What a call of the service costs behind PgBouncer, compared with direct connections to the same database, in turn.

use std::io::{Write as _, stdout};
use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_benches::turns::in_turn;
use iam_benches::{CHEAP, Outcome, PASSWORD, email, fill, iam, register};
use iam_core::page::{PageRequest, SortOrder};
use iam_core::session::Login;
use iam_core::user::{UserFilter, UserPatch, UserSort, UserSortKey};
use iam_core::{Caller, Iam, RequestContext, UserId};
use iam_store_postgres::PostgresStore;
use test_support::postgres::TestDatabase;
use tokio::task::JoinSet;

/// How often each call is made.
const ROUNDS: usize = 500;
/// How many users the tenant has.
const USERS: u64 = 1_000;
/// How many tasks read at the same time.
const READERS: usize = 32;
/// How long they read.
const READING: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> Outcome {
    let database = TestDatabase::create().await;
    let store = PostgresStore::connect(database.url()).await?;
    store.migrate().await?;
    let direct = iam(Arc::new(store), CHEAP).await?;
    let store = PostgresStore::connect_through_pooler(&database.pooler_url(), database.url()).await?;
    let pooled = iam(Arc::new(store), CHEAP).await?;

    let registered = register(&direct).await?;
    let caller = Caller::system(registered.tenant.id, "benchmark");
    let users = fill(&direct, registered.tenant.id, 1, USERS).await?;
    let token = registered.login.tokens.access.expose();
    let any = || fastrand::choice(&users).copied().ok_or("there is no user");

    let read = async |iam: &Iam| Ok(iam.users().get(&caller, any()?).await?);
    report("a user is read", in_turn(ROUNDS, async || read(&direct).await, async || read(&pooled).await).await?)?;
    let (sort, page) =
        (UserSort { by: UserSortKey::CreatedAt, order: SortOrder::Descending }, PageRequest::new(1, 20)?);
    let list = async |iam: &Iam| Ok(iam.users().list(&caller, &UserFilter::default(), sort, page).await?);
    report("20 users are listed", in_turn(ROUNDS, async || list(&direct).await, async || list(&pooled).await).await?)?;
    let authenticate = async |iam: &Iam| Ok(iam.authenticate(token, RequestContext::default()).await?);
    let turns = in_turn(ROUNDS, async || authenticate(&direct).await, async || authenticate(&pooled).await).await?;
    report("a session is read", turns)?;
    let change = async |iam: &Iam| {
        let patch = UserPatch { first_name: Some(fastrand::alphabetic().to_string()), ..UserPatch::default() };
        Ok(iam.users().update(&caller, any()?, patch).await?)
    };
    report(
        "a user is changed",
        in_turn(ROUNDS, async || change(&direct).await, async || change(&pooled).await).await?,
    )?;
    let log_in = async |iam: &Iam| {
        let login = Login { email: email(0), password: PASSWORD.into(), tenant: None };
        Ok(iam.sessions().login(&RequestContext::default(), login).await?)
    };
    let turns = in_turn(ROUNDS, async || log_in(&direct).await, async || log_in(&pooled).await).await?;
    report("a login, with almost no hashing", turns)?;

    for _ in 0..2 {
        let [direct, pooled] =
            [throughput(&direct, &caller, &users).await?, throughput(&pooled, &caller, &users).await?];
        writeln!(stdout(), "{READERS} readers: {direct:.0}/s and {pooled:.0}/s, ratio {:.2}", pooled / direct)?;
    }
    direct.close().await;
    pooled.close().await;
    Ok(())
}

fn report(what: &str, turns: impl std::fmt::Display) -> Outcome {
    Ok(writeln!(stdout(), "{what}, direct and behind PgBouncer: {turns}")?)
}

/// How many users a second all readers read together.
async fn throughput(iam: &Iam, caller: &Caller, users: &[UserId]) -> Outcome<f64> {
    let users: Arc<[UserId]> = users.into();
    let began = Instant::now();
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let (iam, caller, users) = (iam.clone(), caller.clone(), Arc::clone(&users));
        readers.spawn(async move {
            let mut count = 0_u32;
            while began.elapsed() < READING {
                let user = fastrand::choice(&*users).copied().ok_or("there is no user")?;
                iam.users().get(&caller, user).await?;
                count += 1;
            }
            Outcome::Ok(count)
        });
    }
    let counts: Vec<u32> = readers.join_all().await.into_iter().collect::<Outcome<_>>()?;
    Ok(f64::from(counts.iter().sum::<u32>()) / began.elapsed().as_secs_f64())
}
