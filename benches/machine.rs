//! The cost of API keys and webhooks, on every store, each operation beside the statements of the store that it cannot
//! do without.

mod on_stores;

use std::cell::Cell;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use criterion::Criterion;
use iam_benches::{CHEAP, Outcome, register, settings, sure, write};
use iam_core::api_key::{ApiKey, ApiKeyChange, ApiKeyPatch, NewApiKey};
use iam_core::audit::NewEvent;
use iam_core::webhook::{
    AddressPolicy, Delivery, NewWebhook, SendError, Webhook, WebhookChange, WebhookPatch, WebhookRequest, WebhookSender,
};
use iam_core::{ApiKeyId, Caller, Change, Iam, Store, UserId, WebhookId};
use test_support::TestStore;
use tokio::runtime::Runtime;
use uuid::Uuid;

use on_stores::on_stores;

/// The entries of the log, which the webhook has sent.
const ENTRIES: u64 = 200;

fn main() -> Outcome {
    on_stores(measure_store, |_| Ok(()))
}

fn measure_store(criterion: &mut Criterion, runtime: &Runtime, test: &TestStore) -> Outcome {
    let bench = runtime.block_on(Bench::new(test))?;
    let (iam, store, caller) = (&bench.iam, &*bench.store, &bench.caller);
    let (tenant, user, key, webhook) = (caller.tenant(), bench.user, bench.key, bench.webhook);
    let mut measure = Rows { criterion, runtime, store: test.name() };

    measure.row("api key/list", async || Ok(iam.api_keys().list(caller, user).await?));
    measure.row("api key/floor: list", async || Ok(store.api_keys_of(tenant, user).await?));
    measure.row("api key/introspect", async || Ok(iam.introspect(caller, &bench.text).await?));
    measure.row("api key/floor: introspect", async || Ok(store.api_key_snapshot(tenant, key).await?));
    measure.row("api key/change", async || {
        let patch = ApiKeyPatch { name: Some(bench.next_name()), ..ApiKeyPatch::default() };
        Ok(iam.api_keys().update(caller, key, patch).await?)
    });
    measure.row("api key/floor: change", async || bench.write_key().await);
    measure.row("api key/rotate", async || Ok(iam.api_keys().rotate(caller, key, TimeDelta::zero()).await?));
    measure.row("api key/make and revoke", async || {
        let made = iam.api_keys().create(caller, user, bench.new_key()).await?;
        iam.api_keys().delete(caller, made.key.id).await?;
        Ok(())
    });
    measure.row("api key/floor: make and revoke", async || bench.write_and_remove_key().await);

    measure.row("webhook/list", async || Ok(iam.webhooks().list(caller).await?));
    measure.row("webhook/floor: list", async || Ok(store.webhooks(tenant).await?));
    measure.row("webhook/deliveries", async || Ok(iam.webhooks().deliveries(caller, webhook).await?));
    measure.row("webhook/floor: deliveries", async || Ok(store.deliveries(tenant, webhook, Delivery::SHOWN).await?));
    measure.row("webhook/test", async || Ok(iam.webhooks().test(caller, webhook).await?));
    measure.row("webhook/floor: test", async || Ok(store.webhook(tenant, webhook).await?));
    measure.row("webhook/change", async || {
        let patch = WebhookPatch { description: Some(bench.next_name()), ..WebhookPatch::default() };
        Ok(iam.webhooks().update(caller, webhook, patch).await?)
    });
    measure.row("webhook/floor: change", async || bench.write_webhook().await);
    measure.row("webhook/rotate the secret", async || Ok(iam.webhooks().rotate_secret(caller, webhook).await?));
    measure.row("webhook/replay", async || {
        iam.webhooks().replay(caller, webhook, 1).await?;
        Ok(())
    });
    measure.row("webhook/make and remove", async || {
        let made = iam.webhooks().create(caller, new_webhook()).await?;
        iam.webhooks().delete(caller, made.webhook.id).await?;
        Ok(())
    });
    measure.row("webhook/floor: make and remove", async || bench.write_and_remove_webhook().await);
    runtime.block_on(iam.close());
    Ok(())
}

/// The rows of a store.
struct Rows<'a> {
    criterion: &'a mut Criterion,
    runtime: &'a Runtime,
    store: &'a str,
}

impl Rows<'_> {
    fn row<T>(&mut self, what: &str, work: impl AsyncFn() -> Outcome<T>) {
        self.criterion.bench_function(&format!("{what}/{}", self.store), |bencher| {
            bencher.to_async(self.runtime).iter(|| async { sure(work().await) });
        });
    }
}

/// A tenant with an API key, and with a webhook that has sent the whole log.
struct Bench {
    iam: Iam,
    store: Arc<dyn Store>,
    caller: Caller,
    user: UserId,
    key: ApiKeyId,
    text: String,
    webhook: WebhookId,
    number: Cell<u64>,
}

impl Bench {
    async fn new(test: &TestStore) -> Outcome<Self> {
        let store = test.store();
        let iam = Iam::builder(test.store()).settings(settings(CHEAP)?).webhooks(Arc::new(Accepts)).build().await?;
        let registered = register(&iam).await?;
        let (caller, user) = (Caller::system(registered.tenant.id, "benchmark"), registered.login.user.id);
        let new = NewApiKey { name: "benchmark".to_owned(), ..NewApiKey::default() };
        let issued = iam.api_keys().create(&caller, user, new).await?;
        let webhook = iam.webhooks().create(&caller, new_webhook()).await?.webhook.id;
        for number in 0..ENTRIES {
            let event = NewEvent {
                action: "SENT".to_owned(),
                resource_type: "LETTER".to_owned(),
                resource_id: Some(number.to_string()),
                ..NewEvent::default()
            };
            iam.audit().log(&caller, event).await?;
        }
        while iam.sequence_audit_logs().await?.more {}
        let sent = async {
            while store.due_webhooks(iam.now()).await.is_ok_and(|due| !due.is_empty()) {
                tokio::task::yield_now().await;
            }
        };
        iam.deliver_webhooks(sent).await?;
        let (key, text) = (issued.key.id, issued.token.expose().to_owned());
        Ok(Self { iam, store, caller, user, key, text, webhook, number: Cell::new(0) })
    }

    fn next_name(&self) -> String {
        self.number.set(self.number.get() + 1);
        format!("number {}", self.number.get())
    }

    fn new_key(&self) -> NewApiKey {
        NewApiKey { name: self.next_name(), ..NewApiKey::default() }
    }

    async fn write(&self, change: impl Into<Change>) -> Outcome {
        write(&*self.store, self.caller.tenant(), change).await
    }

    async fn write_key(&self) -> Outcome {
        let before = self.store.api_key(self.caller.tenant(), self.key).await?.ok_or("the key is gone")?;
        let after = ApiKey { name: self.next_name().parse()?, ..before.clone() }.changed();
        self.write(ApiKeyChange::Update { before: Box::new(before), after, organization: None }).await
    }

    async fn write_and_remove_key(&self) -> Outcome {
        let key = self.store.api_key(self.caller.tenant(), self.key).await?.ok_or("the key is gone")?;
        let key = ApiKey { id: Uuid::now_v7().into(), ..key };
        self.write(ApiKeyChange::Create { key: key.clone(), organization: None }).await?;
        self.write(ApiKeyChange::Delete(vec![key])).await
    }

    async fn write_webhook(&self) -> Outcome {
        let before = self.store.webhook(self.caller.tenant(), self.webhook).await?.ok_or("the webhook is gone")?;
        let description = self.next_name().parse()?;
        let after = Webhook { description, ..before.clone() }.changed();
        self.write(WebhookChange::Update { before: Box::new(before), after, reason: None }).await
    }

    async fn write_and_remove_webhook(&self) -> Outcome {
        let webhook = self.store.webhook(self.caller.tenant(), self.webhook).await?.ok_or("the webhook is gone")?;
        let webhook = Webhook { id: Uuid::now_v7().into(), ..webhook };
        self.write(WebhookChange::Create { webhook: webhook.clone(), after: ENTRIES }).await?;
        self.write(WebhookChange::Delete(webhook)).await
    }
}

fn new_webhook() -> NewWebhook {
    let (url, types) = ("https://example.com/hook".to_owned(), vec!["LETTER.*".to_owned()]);
    NewWebhook { url, types, ..NewWebhook::default() }
}

/// A receiver that accepts everything.
struct Accepts;

#[async_trait]
impl WebhookSender for Accepts {
    fn address_policy(&self) -> AddressPolicy {
        AddressPolicy::Public
    }

    async fn send(&self, _: WebhookRequest) -> Result<u16, SendError> {
        Ok(204)
    }
}
