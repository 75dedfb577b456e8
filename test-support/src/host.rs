//! What must hold where a host program changes its own tables and those of IAM in one transaction, on both databases.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use iam_core::access::permission;
use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::credential::HashingCost;
use iam_core::page::PageRequest;
use iam_core::secret::Password;
use iam_core::session::Login;
use iam_core::tenant::{NewTenant, Registration};
use iam_core::user::{NewUser, UserFilter, UserSort};
use tokio::time::timeout;

use iam_core::{Caller, Conflict, Error, HostTransaction, Iam, Joined, RequestContext, Settings, Store};

/// A program with a table `notes` of its own beside the tables of IAM.
pub trait Host: Send + Sync + 'static {
    /// Its transaction, in which IAM takes part.
    type Transaction: HostTransaction;

    /// The store of IAM.
    fn store(&self) -> Arc<dyn Store>;

    /// Begins a transaction.
    fn begin(&self) -> impl Future<Output = Self::Transaction> + Send;

    /// Writes a note.
    fn note(transaction: &Self::Transaction) -> impl Future<Output = ()> + Send;

    /// How many notes everybody sees.
    fn notes(&self) -> impl Future<Output = i64> + Send;
}

/// A host over an empty store, in which there is an administrator.
struct Scene<H> {
    host: H,
    iam: Iam,
    admin: Caller,
    /// What the hook was told.
    told: Arc<Mutex<Vec<AuditEntry>>>,
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

impl<H: Host> Scene<H> {
    async fn new(host: H) -> Self {
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&told);
        let hook = move |entries: &[AuditEntry]| locked(&hears).extend_from_slice(entries);
        let mut settings = Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let iam = Iam::builder(host.store()).settings(settings).after_commit(hook).build().await.expect("it builds");
        let registration = Registration { user: person("ada@example.com"), tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.expect("it registers");
        let admin = registered.login.tokens.access.expose();
        let admin = iam.authenticate(admin, RequestContext::default()).await.expect("it is logged in");
        locked(&told).clear();
        Self { host, iam, admin, told }
    }

    async fn begin(&self) -> Joined<H::Transaction> {
        self.iam.within(self.host.begin().await)
    }

    /// How many users, audit entries of users that were made, and notes everybody sees, and of how many entries the hook was
    /// told.
    async fn seen(&self) -> [i64; 4] {
        let filter =
            AuditFilter { action: Some("CREATE".into()), resource_type: Some("USER".into()), ..Default::default() };
        let entries = self.iam.audit().list(&self.admin, filter, None, 100).await.expect("it lists").entries;
        let users = users(&self.iam.users(), &self.admin).await;
        [users, entries.len() as i64, self.host.notes().await, locked(&self.told).len() as i64]
    }
}

fn locked(told: &Mutex<Vec<AuditEntry>>) -> std::sync::MutexGuard<'_, Vec<AuditEntry>> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn users(users: &iam_core::user::Users<'_>, admin: &Caller) -> i64 {
    let everybody = UserFilter::default();
    let page = users.list(admin, &everybody, UserSort::default(), PageRequest::default());
    page.await.expect("it lists").total as i64
}

/// With the user its audit entry, and the host's own row.
pub async fn all_is_committed_together<H: Host>(host: H) {
    let scene = Scene::new(host).await;
    let transaction = scene.begin().await;
    let grace = transaction.users().create(&scene.admin, person("grace@example.com")).await.expect("it creates");
    H::note(&transaction).await;
    assert_eq!(users(&transaction.users(), &scene.admin).await, 2, "inside it is there");
    assert_eq!(scene.seen().await, [1, 1, 0, 0], "outside it is not");
    transaction.commit().await.expect("it commits");
    assert_eq!(scene.seen().await, [2, 2, 1, 1]);
    let told = locked(&scene.told).first().and_then(|entry| entry.resource_id.clone());
    assert_eq!(told, Some(grace.id.to_string()));
}

/// One call after the other, each of which needs what the one before has made.
pub async fn a_call_sees_what_the_one_before_has_made<H: Host>(host: H) {
    let scene = Scene::new(host).await;
    let transaction = scene.begin().await;
    let new = NewTenant { name: "Acme".to_owned(), slug: None, administrator: person("alan@example.com") };
    let founded = transaction.tenants().create("signed up", new).await.expect("it creates");
    H::note(&transaction).await;
    let system = Caller::system(founded.tenant.id, "signed up");
    let grace = transaction.users().create(&system, person("grace@example.com")).await.expect("it creates");
    assert_eq!(transaction.users().get(&system, grace.id).await.expect("it is there").id, grace.id);
    transaction.users().suspend(&system, founded.user.id).await.expect_err("the last administrator stays");
    assert!(scene.iam.tenants().find(&founded.tenant.slug.to_string()).await.expect("it looks").is_none());
    transaction.commit().await.expect("it commits");
    let login = Login { email: "alan@example.com".to_owned(), password: Password::from(PASSWORD), tenant: None };
    scene.iam.sessions().login(&RequestContext::default(), login).await.expect("it logs in");
}

/// Neither in IAM nor in the host's table, and no hook hears of it.
pub async fn what_is_dropped_leaves_nothing<H: Host>(host: H) {
    let scene = Scene::new(host).await;
    let transaction = scene.begin().await;
    transaction.users().create(&scene.admin, person("grace@example.com")).await.expect("it creates");
    H::note(&transaction).await;
    drop(transaction);
    assert_eq!(scene.seen().await, [1, 1, 0, 0]);
}

/// Also where the failure is the database's, which then takes nothing more before something is undone.
pub async fn a_call_that_fails_undoes_itself_alone<H: Host>(host: H) {
    let scene = Scene::new(host).await;
    let transaction = scene.begin().await;
    transaction.users().create(&scene.admin, person("grace@example.com")).await.expect("it creates");
    H::note(&transaction).await;
    let again = transaction.users().create(&scene.admin, person("GRACE@example.com")).await;
    assert!(matches!(again, Err(Error::Conflict(Conflict::EmailTaken))), "{again:?}");
    H::note(&transaction).await;
    transaction.commit().await.expect("it commits");
    assert_eq!(scene.seen().await, [2, 2, 2, 1]);
}

/// However far it came.
pub async fn a_call_that_is_given_up_leaves_no_half<H: Host>(host: H) {
    let scene = Scene::new(host).await;
    for patience in 0..20 {
        let transaction = scene.begin().await;
        H::note(&transaction).await;
        let email = format!("user{patience}@example.com");
        let users = transaction.users();
        let create = users.create(&scene.admin, person(&email));
        // Not in time is as good.
        let _ = timeout(Duration::from_micros(200 * patience), create).await;
        H::note(&transaction).await;
        transaction.commit().await.expect("it commits");
        let [users, entries, notes, told] = scene.seen().await;
        assert_eq!((users, notes), (entries, 2 * (patience as i64 + 1)), "given up after {patience} times 200 us");
        // Whoever gives up while it is kept may hear nothing of it.
        assert!(told < users);
    }
}

/// What is kept of a session counts anew with the commit, and not before.
pub async fn what_is_revoked_counts_with_the_commit<H: Host>(host: H) {
    let scene = Scene::new(host).await;
    let following = tokio::spawn({
        let iam = scene.iam.clone();
        async move { iam.follow_changes().await }
    });
    while !scene.iam.hears_changes() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let grace = scene.iam.users().create(&scene.admin, person("grace@example.com")).await.expect("it creates");
    let login = Login { email: grace.email.to_string(), password: Password::from(PASSWORD), tenant: None };
    let login = scene.iam.sessions().login(&RequestContext::default(), login).await.expect("it logs in");
    let token = login.tokens.access.expose();
    let authenticate = || scene.iam.authenticate(token, RequestContext::default());
    authenticate().await.expect("she is there");

    let transaction = scene.begin().await;
    transaction.users().suspend(&scene.admin, grace.id).await.expect("it suspends");
    authenticate().await.expect("nobody else sees it yet");
    transaction.commit().await.expect("it commits");
    authenticate().await.expect_err("she is suspended");
    following.abort();
}

/// What a caller may do is asked inside too.
pub async fn permissions_are_asked_for<H: Host>(host: H) {
    let scene = Scene::new(host).await;
    let grace = scene.iam.users().create(&scene.admin, person("grace@example.com")).await.expect("it creates");
    let login = Login { email: grace.email.to_string(), password: Password::from(PASSWORD), tenant: None };
    let login = scene.iam.sessions().login(&RequestContext::default(), login).await.expect("it logs in");
    let grace =
        scene.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.expect("she is there");
    let transaction = scene.begin().await;
    let refused = transaction.users().create(&grace, person("alan@example.com")).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let refused = transaction.access().require(&grace, permission::USERS_READ, None).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
}
