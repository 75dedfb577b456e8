//! The cost of a forgotten password and of a login by e-mail that begins, for an address with an account and without
//! one, and of the delivery of a message. The floor is the same statements without the service.

mod on_stores;

use std::io::{Write as _, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use criterion::Criterion;
use iam_benches::turns::in_turn;
use iam_benches::{CHEAP, Outcome, email, register, settings, sure};
use iam_core::clock::{Clock, Timestamp};
use iam_core::factor::{Ceremony, Challenge, ChallengeChange, ChallengePurpose};
use iam_core::mail::{Addressee, LinkPages, Mail, MailChange, MailError, MailKind, Mailer, Message};
use iam_core::tenant::{EmailLogin, TenantPatch};
use iam_core::{AuditBatch, Caller, Change, Email, Iam, MessageId, RequestContext, Store, TenantId};
use test_support::TestStore;
use tokio::runtime::Runtime;
use uuid::Uuid;

use on_stores::on_stores;

/// The number of requests of each kind that are compared.
const REQUESTS: usize = 500;

/// How many messages wait at most when a floor queues the next one.
const LEFT: u64 = 100;

fn main() -> Outcome {
    on_stores(measure_store, |_| Ok(()))
}

fn measure_store(criterion: &mut Criterion, runtime: &Runtime, test: &TestStore) -> Outcome {
    let clock = Hours::default();
    let store = test.store();
    let iam = runtime.block_on(iam(test.store(), clock.clone()))?;
    let tenant = runtime.block_on(register(&iam))?.tenant.id;
    runtime.block_on(allow_email_login(&iam, tenant))?;
    let forgot = async |address: String| {
        clock.pass();
        Ok(iam.recovery().forgot(&RequestContext::default(), &address, None).await?)
    };
    let requests =
        runtime.block_on(in_turn(REQUESTS, async || forgot(email(0)).await, async || forgot(email(1)).await))?;
    writeln!(stdout(), "mail/forgot, with an account and without one/{}: {requests}", test.name())?;
    // Otherwise the outbox would grow from one measurement to the next.
    runtime.block_on(empty(&*store, clock.now()))?;
    criterion.bench_function(&format!("mail/floor: queues a message/{}", test.name()), |bencher| {
        bencher.to_async(runtime).iter_custom(|count| {
            let (store, clock) = (&*store, &clock);
            let queue = async |now: Timestamp| queue(store, now).await;
            async move { sure(time_with_few_left(store, clock, count, queue).await) }
        });
    });
    runtime.block_on(empty(&*store, clock.now()))?;
    let start = async |address: String| {
        clock.pass();
        iam.email_logins().request(&RequestContext::default(), &address, None).await?;
        Ok(())
    };
    let requests =
        runtime.block_on(in_turn(REQUESTS, async || start(email(0)).await, async || start(email(1)).await))?;
    writeln!(stdout(), "mail/login begins, with an account and without one/{}: {requests}", test.name())?;
    runtime.block_on(empty(&*store, clock.now()))?;
    criterion.bench_function(
        &format!("mail/floor: issues a challenge and queues a message/{}", test.name()),
        |bencher| {
            bencher.to_async(runtime).iter_custom(|count| {
                let (store, clock) = (&*store, &clock);
                let begin = async |now: Timestamp| begin_login(store, now).await;
                async move { sure(time_with_few_left(store, clock, count, begin).await) }
            });
        },
    );
    runtime.block_on(empty(&*store, clock.now()))?;
    criterion.bench_function(&format!("mail/deliver/{}, with a link", test.name()), |bencher| {
        bencher.to_async(runtime).iter_custom(|count| {
            let (iam, clock) = (&iam, &clock);
            async move { sure(time_delivery(iam, clock, count).await) }
        });
    });
    runtime.block_on(iam.close());
    Ok(())
}

async fn iam(store: Arc<dyn Store>, clock: Hours) -> Outcome<Iam> {
    let pages = LinkPages {
        verify: "https://example.com/v#{token}".parse()?,
        reset: "https://example.com/r#{token}".parse()?,
        invitation: "https://example.com/i#{token}".parse()?,
        login: "https://example.com/l#{token}".parse()?,
    };
    let builder = Iam::builder(store).settings(settings(CHEAP)?).clock(clock).mail(Arc::new(Discarding), pages);
    Ok(builder.build().await?)
}

/// Lets the user of a tenant log in by e-mail.
async fn allow_email_login(iam: &Iam, tenant: TenantId) -> Outcome {
    let system = Caller::system(tenant, "benchmark");
    let patch = TenantPatch { email_login: Some(EmailLogin::On), ..TenantPatch::default() };
    iam.tenants().update(&system, tenant, patch).await?;
    iam.users().verify_email(&system, &email(0)).await?;
    Ok(())
}

/// Begins a login by e-mail as the service does.
async fn begin_login(store: &dyn Store, now: Timestamp) -> Outcome {
    let mut token_hash = [0; 32];
    token_hash.iter_mut().zip(Uuid::now_v7().as_bytes()).for_each(|(to, from)| *to = *from);
    let challenge = Challenge::begin(ChallengePurpose::EmailLoginStart, TenantId::NONE, None, token_hash, now);
    let challenge = Challenge { ceremony: Some(Ceremony(vec![b'x'; 130])), ..challenge };
    write(store, ChallengeChange::Issue(challenge)).await?;
    queue(store, now).await
}

/// The time to do something this often. The messages and the challenges that it leaves are removed meanwhile: the next one
/// would cost more with them.
async fn time_with_few_left(
    store: &dyn Store,
    clock: &Hours,
    count: u64,
    work: impl AsyncFn(Timestamp) -> Outcome,
) -> Outcome<Duration> {
    let mut elapsed = Duration::ZERO;
    for number in 0..count {
        if number % LEFT == 0 {
            empty(store, clock.now()).await?;
        }
        let now = clock.pass();
        let began = Instant::now();
        work(now).await?;
        elapsed += began.elapsed();
    }
    Ok(elapsed)
}

/// Commits one change of the challenges without a tenant.
async fn write(store: &dyn Store, change: ChallengeChange) -> Outcome {
    let mut transaction = store.begin(TenantId::NONE).await?;
    transaction.write(&Change::from(change), AuditBatch::of_entries(Vec::new())).await?;
    Ok(transaction.commit().await?)
}

/// Queues a message as the service does, each for another address.
async fn queue(store: &dyn Store, now: Timestamp) -> Outcome {
    let to: Email = email(now.timestamp().unsigned_abs()).parse()?;
    let mut transaction = store.begin(TenantId::from(Uuid::now_v7())).await?;
    let kind = MailKind::Reset;
    transaction.lock_queued_messages(TenantId::NONE, kind, &to.key()).await?;
    let message = Message {
        id: MessageId::from(Uuid::now_v7()),
        tenant_id: TenantId::NONE,
        kind,
        to: Addressee::Accounts(to.key()),
        link_id: None,
        context: RequestContext::default(),
        attempts: 0,
        next_attempt_at: now,
        turn: None,
        claimed_until: None,
        created_at: now,
    };
    let change = Change::from(MailChange::Queue { message, counted_in: TenantId::NONE, queued_at: vec![now] });
    transaction.write(&change, AuditBatch::of_entries(Vec::new())).await?;
    Ok(transaction.commit().await?)
}

/// Removes all messages, and the challenges of logins.
async fn empty(store: &dyn Store, now: Timestamp) -> Outcome {
    write(store, ChallengeChange::EndAllOfTenant).await?;
    loop {
        let claimed = store.claim_messages(now, now, u32::MAX).await?;
        if claimed.is_empty() {
            return Ok(());
        }
        for message in claimed {
            store.remove_message(&message).await?;
        }
    }
}

/// The time to deliver this number of messages, each with a link.
async fn time_delivery(iam: &Iam, clock: &Hours, count: u64) -> Outcome<Duration> {
    let mut elapsed = Duration::ZERO;
    for _ in 0..count {
        clock.pass();
        iam.recovery().forgot(&RequestContext::default(), &email(0), None).await?;
        let began = Instant::now();
        iam.deliver_mail().await?;
        elapsed += began.elapsed();
    }
    Ok(elapsed)
}

/// A mailer that sends nothing.
struct Discarding;

#[async_trait]
impl Mailer for Discarding {
    async fn send(&self, _mail: &Mail) -> Result<(), MailError> {
        Ok(())
    }
}

/// A clock that moves on by an hour on request: an address gets a few messages in an hour.
#[derive(Clone, Default)]
struct Hours(Arc<AtomicI64>);

impl Hours {
    fn pass(&self) -> Timestamp {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.now()
    }
}

impl Clock for Hours {
    fn now(&self) -> Timestamp {
        // After 2020.
        Timestamp::from_timestamp_millis(1_577_836_800_000 + self.0.load(Ordering::Relaxed) * 3_600_000)
            .unwrap_or_default()
    }
}
