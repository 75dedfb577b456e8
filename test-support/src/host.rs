//! Tests for host transactions, in which a host program changes its own tables and IAM's tables, on both databases.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::credential::HashingCost;
use iam_core::page::PageRequest;
use iam_core::permission;
use iam_core::secret::Password;
use iam_core::session::Login;
use iam_core::tenant::{NewTenant, Registration};
use iam_core::user::{NewUser, UserFilter, UserSort};
use tokio::time::timeout;

use iam_core::{Caller, Conflict, Error, HostTransaction, Iam, Joined, RequestContext, Settings, Store};

/// A host program with its own table `notes` in the database of IAM.
pub trait Host: Send + Sync + 'static {
    /// Its transaction, which it shares with IAM.
    type Transaction: HostTransaction;

    /// The store of IAM.
    fn store(&self) -> Arc<dyn Store>;

    /// Begins a transaction.
    fn begin(&self) -> impl Future<Output = Self::Transaction> + Send;

    /// Writes a note.
    fn note(transaction: &Self::Transaction) -> impl Future<Output = ()> + Send;

    /// The number of committed notes.
    fn notes(&self) -> impl Future<Output = i64> + Send;
}

/// A host with a store that contains only one tenant and its administrator.
struct Fixture<H> {
    host: H,
    iam: Iam,
    admin: Caller,
    /// The entries that the hook received.
    received: Arc<Mutex<Vec<AuditEntry>>>,
}

const PASSWORD: &str = "Passw0rd!";

fn person(email: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        password: PASSWORD.into(),
        first_name: "Some".to_owned(),
        last_name: "Body".to_owned(),
    }
}

impl<H: Host> Fixture<H> {
    async fn new(host: H) -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&received);
        let hook = move |entries: &[AuditEntry]| locked(&sink).extend_from_slice(entries);
        let mut settings = Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let iam = Iam::builder(host.store()).settings(settings).after_commit(hook).build().await.expect("it builds");
        let registration = Registration { user: person("ada@example.com"), tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.expect("it registers");
        let admin = registered.login.tokens.access.expose();
        let admin = iam.authenticate(admin, RequestContext::default()).await.expect("it is logged in");
        locked(&received).clear();
        Self { host, iam, admin, received }
    }

    async fn begin(&self) -> Joined<H::Transaction> {
        self.iam.within(self.host.begin().await)
    }

    /// The numbers of committed users, committed audit entries of created users, committed notes, and entries that the
    /// hook received.
    async fn counts(&self) -> [i64; 4] {
        let filter =
            AuditFilter { action: Some("CREATE".into()), resource_type: Some("USER".into()), ..Default::default() };
        let entries = self.iam.audit().list(&self.admin, filter, None, 100).await.expect("it lists").entries;
        let users = users(&self.iam.users(), &self.admin).await;
        [users, entries.len() as i64, self.host.notes().await, locked(&self.received).len() as i64]
    }
}

fn locked(entries: &Mutex<Vec<AuditEntry>>) -> std::sync::MutexGuard<'_, Vec<AuditEntry>> {
    entries.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn users(users: &iam_core::user::Users<'_>, admin: &Caller) -> i64 {
    let filter = UserFilter::default();
    let page = users.list(admin, &filter, UserSort::default(), PageRequest::default());
    page.await.expect("it lists").total as i64
}

/// One commit makes the user, its audit entry and the host's own row visible.
pub async fn the_rows_of_host_and_iam_commit_together<H: Host>(host: H) {
    let fixture = Fixture::new(host).await;
    let transaction = fixture.begin().await;
    let grace = transaction.users().create(&fixture.admin, person("grace@example.com")).await.expect("it creates");
    H::note(&transaction).await;
    assert_eq!(users(&transaction.users(), &fixture.admin).await, 2, "the transaction sees the new user");
    assert_eq!(fixture.counts().await, [1, 1, 0, 0], "other transactions do not");
    transaction.commit().await.expect("it commits");
    assert_eq!(fixture.counts().await, [2, 2, 1, 1]);
    let resource_id = locked(&fixture.received).first().and_then(|entry| entry.resource_id.clone());
    assert_eq!(resource_id, Some(grace.id.to_string()));
}

/// In one transaction, every call sees the rows of the earlier calls.
pub async fn a_call_sees_the_rows_of_earlier_calls<H: Host>(host: H) {
    let fixture = Fixture::new(host).await;
    let transaction = fixture.begin().await;
    let new = NewTenant { name: "Acme".to_owned(), slug: None, administrator: person("alan@example.com") };
    let created = transaction.tenants().create("signed up", new).await.expect("it creates");
    H::note(&transaction).await;
    let system = Caller::system(created.tenant.id, "signed up");
    let grace = transaction.users().create(&system, person("grace@example.com")).await.expect("it creates");
    assert_eq!(transaction.users().get(&system, grace.id).await.expect("the user exists").id, grace.id);
    transaction.users().suspend(&system, created.user.id).await.expect_err("the last administrator stays");
    assert!(fixture.iam.tenants().find(&created.tenant.slug.to_string()).await.expect("it looks").is_none());
    transaction.commit().await.expect("it commits");
    let login = Login { email: "alan@example.com".to_owned(), password: Password::from(PASSWORD), tenant: None };
    fixture.iam.sessions().login(&RequestContext::default(), login).await.expect("it logs in");
}

/// A dropped transaction leaves no row in IAM's tables, no row in the host's table, and calls no hook.
pub async fn a_dropped_host_transaction_leaves_nothing<H: Host>(host: H) {
    let fixture = Fixture::new(host).await;
    let transaction = fixture.begin().await;
    transaction.users().create(&fixture.admin, person("grace@example.com")).await.expect("it creates");
    H::note(&transaction).await;
    drop(transaction);
    assert_eq!(fixture.counts().await, [1, 1, 0, 0]);
}

/// A failed call rolls back only its own changes. This includes a failure of the database, after which the database
/// accepts no statement until a rollback.
pub async fn a_failed_call_rolls_back_only_itself<H: Host>(host: H) {
    let fixture = Fixture::new(host).await;
    let transaction = fixture.begin().await;
    transaction.users().create(&fixture.admin, person("grace@example.com")).await.expect("it creates");
    H::note(&transaction).await;
    let again = transaction.users().create(&fixture.admin, person("GRACE@example.com")).await;
    assert!(matches!(again, Err(Error::Conflict(Conflict::EmailTaken))), "{again:?}");
    H::note(&transaction).await;
    transaction.commit().await.expect("it commits");
    assert_eq!(fixture.counts().await, [2, 2, 2, 1]);
}

/// A call that is cancelled at any point applies all of its changes or none.
pub async fn a_cancelled_call_applies_all_of_its_changes_or_none<H: Host>(host: H) {
    let fixture = Fixture::new(host).await;
    for patience in 0..20 {
        let transaction = fixture.begin().await;
        H::note(&transaction).await;
        let email = format!("user{patience}@example.com");
        let users = transaction.users();
        let create = users.create(&fixture.admin, person(&email));
        // A timeout is a valid outcome.
        let _ = timeout(Duration::from_micros(200 * patience), create).await;
        H::note(&transaction).await;
        transaction.commit().await.expect("it commits");
        let [users, entries, notes, received] = fixture.counts().await;
        assert_eq!((users, notes), (entries, 2 * (patience as i64 + 1)), "cancelled after {patience} times 200 us");
        // If a call is cancelled after its changes are written, the hook may not receive its entry.
        assert!(received < users);
    }
}

/// A suspension invalidates the cached session at the commit, and not before.
pub async fn a_suspension_takes_effect_with_the_commit<H: Host>(host: H) {
    let fixture = Fixture::new(host).await;
    let following = tokio::spawn({
        let iam = fixture.iam.clone();
        async move { iam.follow_changes().await }
    });
    while !fixture.iam.receives_changes() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let grace = fixture.iam.users().create(&fixture.admin, person("grace@example.com")).await.expect("it creates");
    let login = Login { email: grace.email.to_string(), password: Password::from(PASSWORD), tenant: None };
    let login = fixture.iam.sessions().login(&RequestContext::default(), login).await.expect("it logs in");
    let token = login.tokens.access.expose();
    let authenticate = || fixture.iam.authenticate(token, RequestContext::default());
    authenticate().await.expect("she is logged in");

    let transaction = fixture.begin().await;
    transaction.users().suspend(&fixture.admin, grace.id).await.expect("it suspends");
    authenticate().await.expect("the suspension is not committed yet");
    transaction.commit().await.expect("it commits");
    authenticate().await.expect_err("she is suspended");
    following.abort();
}

/// Calls in a host transaction check the caller's permissions.
pub async fn permissions_are_checked_in_a_host_transaction<H: Host>(host: H) {
    let fixture = Fixture::new(host).await;
    let grace = fixture.iam.users().create(&fixture.admin, person("grace@example.com")).await.expect("it creates");
    let login = Login { email: grace.email.to_string(), password: Password::from(PASSWORD), tenant: None };
    let login = fixture.iam.sessions().login(&RequestContext::default(), login).await.expect("it logs in");
    let grace =
        fixture.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.expect("she logs in");
    let transaction = fixture.begin().await;
    let refused = transaction.users().create(&grace, person("alan@example.com")).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let refused = transaction.access().require(&grace, permission::USERS_READ, None).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
}
