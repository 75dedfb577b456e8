//! The cost of invitations, on every store, each beside the statements of the store that it cannot do without.

mod on_stores;

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use criterion::Criterion;
use iam_benches::{CHEAP, Outcome, PASSWORD, email, register, settings, sure, write};
use iam_core::access::VisibleScope;
use iam_core::clock::{Clock as _, SystemClock};
use iam_core::invitation::{
    Acceptance, Invitation, InvitationChange, InvitationFilter, InvitationStatus, NewInvitation,
};
use iam_core::mail::{LinkPages, Mail, MailError, Mailer};
use iam_core::page::PageRequest;
use iam_core::secret::LinkToken;
use iam_core::{Caller, Iam, InvitationId, RequestContext, Store, TenantId};
use test_support::TestStore;
use tokio::runtime::Runtime;
use uuid::Uuid;

use on_stores::on_stores;

/// The number of invitations for the reads.
const INVITATIONS: u64 = 1_000;

fn main() -> Outcome {
    on_stores(measure_store, |_| Ok(()))
}

fn measure_store(criterion: &mut Criterion, runtime: &Runtime, test: &TestStore) -> Outcome {
    let mailer = TestMailer::default();
    let store = test.store();
    let iam = runtime.block_on(iam(test.store(), mailer.clone()))?;
    let caller = Caller::system(runtime.block_on(register(&iam))?.tenant.id, "benchmark");
    let number = Cell::new(1);
    let next = || {
        number.set(number.get() + 1);
        email(number.get())
    };
    runtime.block_on(async {
        for _ in 0..INVITATIONS {
            invite(&iam, &caller, next()).await?;
        }
        Outcome::Ok(())
    })?;
    let token = runtime.block_on(mailer.token(&iam))?;
    criterion.bench_function(&format!("invitation/look up/{}", test.name()), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(iam.invitations().look_up(&token).await) });
    });
    let (filter, page) = (InvitationFilter::default(), PageRequest::default());
    criterion.bench_function(&format!("invitation/list/{}", test.name()), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(iam.invitations().list(&caller, &filter, page).await) });
    });
    criterion.bench_function(&format!("invitation/floor: list/{}", test.name()), |bencher| {
        let (tenant, scope) = (caller.tenant(), VisibleScope::Tenant);
        bencher
            .to_async(runtime)
            .iter(|| async { sure(store.invitations(tenant, &filter, &scope, page, SystemClock.now()).await) });
    });
    criterion.bench_function(&format!("invitation/create/{}", test.name()), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(invite(&iam, &caller, next()).await) });
    });
    criterion.bench_function(&format!("invitation/floor: create/{}", test.name()), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(write_invitation(&*store, caller.tenant(), next()).await) });
    });
    runtime.block_on(mailer.token(&iam))?;
    criterion.bench_function(&format!("invitation/accept/{}", test.name()), |bencher| {
        bencher.to_async(runtime).iter_custom(|count| {
            let (iam, caller, mailer, next) = (&iam, &caller, &mailer, &next);
            async move { sure(time_acceptances(iam, caller, mailer, next, count).await) }
        });
    });
    runtime.block_on(iam.close());
    Ok(())
}

async fn iam(store: Arc<dyn Store>, mailer: TestMailer) -> Outcome<Iam> {
    let pages = LinkPages {
        verify: "https://example.com/#{token}".parse()?,
        reset: "https://example.com/#{token}".parse()?,
        invitation: "https://example.com/#{token}".parse()?,
        login: "https://example.com/#{token}".parse()?,
    };
    let mut settings = settings(CHEAP)?;
    settings.quota.users = u64::MAX;
    Ok(Iam::builder(store).settings(settings).mail(Arc::new(mailer), pages).build().await?)
}

async fn invite(iam: &Iam, caller: &Caller, email: String) -> Outcome {
    let new = NewInvitation { email, ..NewInvitation::default() };
    iam.invitations().create(caller, new).await?;
    Ok(())
}

/// Writes an invitation without its audit entry, its link and its message.
async fn write_invitation(store: &dyn Store, tenant: TenantId, email: String) -> Outcome {
    let now = SystemClock.now();
    let invitation = Invitation {
        id: InvitationId::from(Uuid::now_v7()),
        tenant_id: tenant,
        email: email.parse()?,
        first_name: None,
        last_name: None,
        roles: Vec::new(),
        status: InvitationStatus::Pending,
        invited_by: None,
        expires_at: now + iam_core::invitation::LIFETIME,
        created_at: now,
    };
    write(store, tenant, InvitationChange::Create { invitation, offered: Vec::new() }).await
}

/// The time to accept this number of invitations, with the least cost of a password hash.
async fn time_acceptances(
    iam: &Iam,
    caller: &Caller,
    mailer: &TestMailer,
    next: &impl Fn() -> String,
    count: u64,
) -> Outcome<Duration> {
    let mut elapsed = Duration::ZERO;
    for _ in 0..count {
        invite(iam, caller, next()).await?;
        let token = mailer.token(iam).await?;
        let (first_name, last_name) = ("Ada".to_owned(), "Lovelace".to_owned());
        let acceptance = Acceptance { token, password: PASSWORD.into(), first_name, last_name };
        let began = Instant::now();
        iam.invitations().accept(&RequestContext::default(), acceptance).await?;
        elapsed += began.elapsed();
    }
    Ok(elapsed)
}

/// A mailer that keeps the last link.
#[derive(Clone, Default)]
struct TestMailer(Arc<Mutex<Option<String>>>);

#[async_trait]
impl Mailer for TestMailer {
    async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let link = mail.accounts.first().and_then(|account| account.link.as_ref());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = link.map(|link| link.url.expose().to_owned());
        Ok(())
    }
}

impl TestMailer {
    /// Sends what is due. Returns the token in the last message.
    async fn token(&self, iam: &Iam) -> Outcome<LinkToken> {
        while iam.deliver_mail().await?.more {}
        let link = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let link = link.ok_or("there is no message")?;
        Ok(link.split_once('#').ok_or("there is no token")?.1.into())
    }
}
