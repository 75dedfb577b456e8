//! The time for a page of a tenant's users: of a thousand, of a million, and of a thousand beside a million in another
//! tenant. The pages are in every order, filtered, searched and far from the first one.
//!
//! `cargo bench -p iam-benches --bench lists` under `scripts/with-postgres`. `-- SQLite` leaves the other database
//! out. It needs about 4 GB of disk while it runs.

mod fill;

use std::env;
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use iam_benches::database::{Database, selected};
use iam_core::page::{PageRequest, SortOrder};
use iam_core::user::{UserFilter, UserSort, UserSortKey, UserStatus};
use iam_core::{Caller, Iam, TenantId};

/// The number of users in the small and in the large tenant.
const FULL: [u64; 2] = [1_000, 1_000_000];
const SMALL: [u64; 2] = [100, 1_000];
/// How often a page is read, and the time limit for that. The result is the median.
const READS: usize = 101;
const PATIENCE: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let is_bench = env::args().any(|argument| argument == "--bench");
    let sizes = if is_bench { FULL } else { SMALL };
    for kind in selected() {
        compare(kind, sizes).await?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn compare(kind: &str, [small, large]: [u64; 2]) -> Outcome {
    let alone = FilledDatabase::new(kind, &[small]).await?;
    let beside = FilledDatabase::new(kind, &[small, large]).await?;
    println!("## {kind}\n");
    println!("| Page | {small} | {small} beside {large} | ratio | {large} | ratio |\n|---|--:|--:|--:|--:|--:|");
    for (name, list) in LISTS {
        let few = alone.time(0, list).await?;
        let (others, many) = (beside.time(0, list).await?, beside.time(1, list).await?);
        let ratio = |time: Duration| time.as_secs_f64() / few.as_secs_f64();
        println!(
            "| {name} | {:.2} ms | {:.2} ms | {:.2} | {:.2} ms | {:.2} |",
            millis(few),
            millis(others),
            ratio(others),
            millis(many),
            ratio(many)
        );
    }
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The filter, the order and the page of a list, for a tenant with this number of users.
type List = fn(u64) -> (UserFilter, UserSort, u64);

const LISTS: [(&str, List); 20] = [
    ("the first", |_| (all(), UserSort::default(), 1)),
    ("oldest first", |_| (all(), by(UserSortKey::CreatedAt, SortOrder::Ascending), 1)),
    ("by last change", |_| (all(), by(UserSortKey::UpdatedAt, SortOrder::Descending), 1)),
    ("by e-mail", |_| (all(), by(UserSortKey::Email, SortOrder::Ascending), 1)),
    ("by first name", |_| (all(), by(UserSortKey::FirstName, SortOrder::Ascending), 1)),
    ("by last name", |_| (all(), by(UserSortKey::LastName, SortOrder::Ascending), 1)),
    ("by last name, backwards", |_| (all(), by(UserSortKey::LastName, SortOrder::Descending), 1)),
    ("by last login", |_| (all(), by(UserSortKey::LastLoginAt, SortOrder::Descending), 1)),
    ("by state", |_| (all(), by(UserSortKey::Status, SortOrder::Ascending), 1)),
    ("suspended, 1 in 100", |_| (state(UserStatus::Suspended), UserSort::default(), 1)),
    ("active", |_| (state(UserStatus::Active), UserSort::default(), 1)),
    ("in the middle", |users| (all(), UserSort::default(), users / 40)),
    ("the last", |users| (all(), UserSort::default(), users / 20)),
    ("search: no user has it", |_| (search("xyzzy"), UserSort::default(), 1)),
    ("search: one has it", |_| (search("quetzal"), UserSort::default(), 1)),
    ("search: an address", |users| (search(&format!("{}@example.com", users / 2)), UserSort::default(), 1)),
    ("search: 1 in 100 have it", |_| (search("77@"), UserSort::default(), 1)),
    ("search: two characters", |_| (search("qu"), UserSort::default(), 1)),
    ("search: all have it", |_| (search("example"), UserSort::default(), 1)),
    ("search: wildcards of LIKE", |_| (search("%_"), UserSort::default(), 1)),
];

fn all() -> UserFilter {
    UserFilter::default()
}

fn state(status: UserStatus) -> UserFilter {
    UserFilter { status: Some(status), ..UserFilter::default() }
}

fn search(text: &str) -> UserFilter {
    UserFilter { search: Some(text.to_owned()), ..UserFilter::default() }
}

fn by(by: UserSortKey, order: SortOrder) -> UserSort {
    UserSort { by, order }
}

/// A database with tenants of these sizes.
struct FilledDatabase {
    iam: Iam,
    sizes: Vec<u64>,
    _database: Database,
}

impl FilledDatabase {
    async fn new(kind: &str, sizes: &[u64]) -> Outcome<Self> {
        let database = Database::of(kind).await?;
        let iam = Iam::builder(database.store().await?).build().await?;
        fill::fill(&database, sizes).await?;
        Ok(Self { iam, sizes: sizes.to_vec(), _database: database })
    }

    /// The median time of a page.
    async fn time(&self, tenant: usize, list: List) -> Outcome<Duration> {
        let caller = Caller::system(TenantId::from_uuid(fill::tenant(tenant)), "bench");
        let (filter, sort, page) = list(self.sizes.get(tenant).copied().unwrap_or_default());
        let page = PageRequest::new(page.max(1), 20)?;
        let mut times = Vec::with_capacity(READS);
        let begun = Instant::now();
        while times.len() < READS && (begun.elapsed() < PATIENCE || times.is_empty()) {
            let begun = Instant::now();
            self.iam.users().list(&caller, &filter, sort, page).await?;
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        Ok(times.get(times.len() / 2).copied().unwrap_or_default())
    }
}
