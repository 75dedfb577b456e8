use std::borrow::Cow;

use iam_model::audit::{AuditEntry, ResourceType, Salt, Salts};
use iam_model::change::WebhookChange;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::WebhookId;
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::secret::WebhookSecret;
use iam_model::version::Precondition;
use iam_model::webhook::{AddressPolicy, Delivery, FormerSalt, Webhook, WebhookSalt, WebhookSender};
use serde_json::Map;

use crate::caller::Caller;
use crate::engine::{Engine, LockedRights, UnitOfWork, require_version};
use crate::idempotency::Idempotency;
use crate::webhook::input::{ValidPatch, ValidWebhook};
use crate::webhook::{NewWebhook, WebhookAnswer, WebhookPatch};

/// What a caller that makes a webhook needs.
const TO_CREATE: [&Permission; 2] = [&permission::WEBHOOKS_CREATE, &permission::AUDIT_LOGS_READ];

/// Makes, reads, changes, tests and removes webhooks; see [`Iam::webhooks`](crate::iam::Iam::webhooks).
///
/// A webhook belongs to the tenant, and sends its events until it is removed or switched off, also after its maker has
/// lost its rights. Every permission is needed tenant-wide, and to change something by standing rights. A webhook shows
/// its receiver entries of the audit log, so a caller that makes one, changes where it sends which events, switches it
/// on, or lets it send events again needs `audit-logs:read` too.
///
/// ```
/// use std::sync::Arc;
///
/// use async_trait::async_trait;
/// use iam_core::webhook::{NewWebhook, AddressPolicy, SendError, WebhookRequest, WebhookSender};
/// use iam_core::{Caller, Iam};
/// use iam_store_memory::MemoryStore;
/// # use iam_core::{tenant::NewTenant, user::NewUser};
///
/// struct Console;
///
/// #[async_trait]
/// impl WebhookSender for Console {
///     fn address_policy(&self) -> AddressPolicy {
///         AddressPolicy::Public
///     }
///
///     async fn send(&self, request: WebhookRequest) -> Result<u16, SendError> {
///         println!("{} gets {}", request.url, String::from_utf8_lossy(&request.body));
///         Ok(204)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> iam_core::Result<()> {
/// let iam = Iam::builder(Arc::new(MemoryStore::new())).webhooks(Arc::new(Console)).build().await?;
/// # let (email, password) = ("ada@example.com".into(), "Passw0rd!".into());
/// # let administrator = NewUser { email, password, first_name: "Ada".into(), last_name: "Lovelace".into() };
/// # let new = NewTenant { name: "Acme".into(), slug: None, administrator };
/// # let tenant = iam.tenants().create("example", new).await?.tenant.id;
/// let caller = Caller::system(tenant, "example");
/// let (url, types) = ("https://example.com/hook".into(), vec!["USER.*".into()]);
/// let issued = iam.webhooks().create(&caller, NewWebhook { url, types, ..NewWebhook::default() }).await?;
/// // The receiver verifies requests with this secret.
/// assert!(issued.secret.expose().starts_with("whsec_"));
///
/// let answer = iam.webhooks().test(&caller, issued.webhook.id).await?;
/// assert_eq!(answer.http_status, Some(204));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Webhooks<'a>(pub(crate) &'a Engine);

/// A webhook with its secret, which cannot be read again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IssuedWebhook {
    /// The webhook.
    pub webhook: Webhook,
    /// The secret with which its requests are signed.
    pub secret: WebhookSecret,
}

impl Webhooks<'_> {
    /// Makes a webhook. It sends the events from now on, and those of the last moment that are not sequenced yet. Needs
    /// `webhooks:create` and `audit-logs:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::WebhooksOff`], [`Error::Validation`] which names every invalid field,
    /// [`Conflict::TooManyWebhooks`].
    pub async fn create(&self, caller: &Caller, new: NewWebhook) -> Result<IssuedWebhook> {
        self.create_once(caller, new, None).await.and_then(issued)
    }

    /// Makes a webhook as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency).
    /// `None` is for clients that may leave out the key. The secret is `None` in the answer to a repeated request: only
    /// the first answer has it.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewWebhook,
        idempotency: Option<&Idempotency>,
    ) -> Result<(Webhook, Option<WebhookSecret>)> {
        let iam = self.0;
        for permission in TO_CREATE {
            iam.standing(caller).rights().require(permission)?;
        }
        let new = new.validate(iam.require_webhooks()?.address_policy())?;
        let once = iam.once(caller, idempotency, &ResourceType::WEBHOOK);
        let after = iam.log_head(caller.tenant()).await?.frontier.size();
        let mut work = iam.begin(caller).await?;
        if let Some(webhook) = once.find(&mut work).await? {
            return Ok((webhook, None));
        }
        let webhook = self.create_valid(&mut work, new, after).await?;
        once.keep(&mut work, &webhook).await?;
        work.commit().await?;
        let secret = iam.keys.webhooks.secret(&webhook);
        Ok((webhook, Some(secret)))
    }

    /// Makes a webhook in a unit of work. It sends the events from after this number on. Its secret is not shown.
    pub(crate) async fn create_in(&self, work: &mut UnitOfWork<'_>, new: NewWebhook, after: u64) -> Result<Webhook> {
        let new = new.validate(self.0.require_webhooks()?.address_policy())?;
        self.create_valid(work, new, after).await
    }

    async fn create_valid(&self, work: &mut UnitOfWork<'_>, new: ValidWebhook, after: u64) -> Result<Webhook> {
        let grantor = work.lock_rights().await?.standing();
        for permission in TO_CREATE {
            grantor.rights().require(permission)?;
        }
        if work.reads().count_webhooks().await? >= Webhook::MAX as u64 {
            return Err(Conflict::TooManyWebhooks.into());
        }
        let caller = work.caller();
        let made = (work.now(), caller.user());
        let webhook = new.webhook(self.0.next_id(), caller.tenant(), self.0.random.bytes(), made);
        work.apply(WebhookChange::Create { webhook: webhook.clone(), after }).await?;
        Ok(webhook)
    }

    /// Returns the webhooks of the tenant, newest first. Needs `webhooks:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(&self, caller: &Caller) -> Result<Vec<Webhook>> {
        self.0.rights(caller).require(&permission::WEBHOOKS_READ)?;
        Ok(self.0.store.webhooks(caller.tenant()).await?)
    }

    /// Returns the webhooks of which the last attempt has failed, newest first, also those that were switched off for
    /// it. Needs `webhooks:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn failing(&self, caller: &Caller) -> Result<Vec<Webhook>> {
        self.0.rights(caller).require(&permission::WEBHOOKS_READ)?;
        Ok(self.0.store.failing_webhooks(caller.tenant()).await?)
    }

    /// Returns a webhook. Needs `webhooks:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: WebhookId) -> Result<Webhook> {
        self.0.rights(caller).require(&permission::WEBHOOKS_READ)?;
        self.find(caller, id).await
    }

    /// Changes a webhook. Needs `webhooks:update`; a change of the address or the types, and a switch to `enabled`, need
    /// `audit-logs:read` too.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names every invalid field, [`Error::NotFound`],
    /// [`Error::WebhooksOff`] for a change of the address.
    pub async fn update(&self, caller: &Caller, id: WebhookId, patch: WebhookPatch) -> Result<Webhook> {
        self.update_if(caller, id, patch, &Precondition::Exists).await
    }

    /// Changes a webhook as [`update`](Self::update) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`update`](Self::update), [`Error::PreconditionFailed`].
    pub async fn update_if(
        &self,
        caller: &Caller,
        id: WebhookId,
        patch: WebhookPatch,
        precondition: &Precondition,
    ) -> Result<Webhook> {
        self.0.standing(caller).rights().require(&permission::WEBHOOKS_UPDATE)?;
        let patch = self.validated(patch)?;
        let mut work = self.0.begin(caller).await?;
        let webhook = self.update_valid(&mut work, id, patch, precondition).await?;
        work.commit().await?;
        Ok(webhook)
    }

    /// Changes a webhook in a unit of work.
    pub(crate) async fn update_in(
        &self,
        work: &mut UnitOfWork<'_>,
        id: WebhookId,
        patch: WebhookPatch,
    ) -> Result<Webhook> {
        self.update_valid(work, id, self.validated(patch)?, &Precondition::Exists).await
    }

    fn validated(&self, patch: WebhookPatch) -> Result<ValidPatch> {
        let policy = match patch.url {
            Some(_) => self.0.require_webhooks()?.address_policy(),
            None => AddressPolicy::Public,
        };
        patch.validate(policy)
    }

    async fn update_valid(
        &self,
        work: &mut UnitOfWork<'_>,
        id: WebhookId,
        patch: ValidPatch,
        precondition: &Precondition,
    ) -> Result<Webhook> {
        let (grantor, before) = self.lock(work, id, &permission::WEBHOOKS_UPDATE).await?;
        require_version(precondition, before.version)?;
        let after = patch.apply(&before);
        if after == before {
            return Ok(before);
        }
        let is_switched_on = after.enabled && !before.enabled;
        if is_switched_on || (&after.url, &after.types) != (&before.url, &before.types) {
            grantor.rights().require(&permission::AUDIT_LOGS_READ)?;
        }
        let before = Box::new(before);
        work.apply(WebhookChange::Update { before, after: after.clone(), reason: None }).await?;
        Ok(after)
    }

    /// Removes a webhook and its deliveries. Needs `webhooks:delete`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn delete(&self, caller: &Caller, id: WebhookId) -> Result<()> {
        self.delete_if(caller, id, &Precondition::Exists).await
    }

    /// Removes a webhook as [`delete`](Self::delete) does, if a precondition holds. It is checked under the lock of the
    /// change.
    ///
    /// # Errors
    ///
    /// Those of [`delete`](Self::delete), [`Error::PreconditionFailed`].
    pub async fn delete_if(&self, caller: &Caller, id: WebhookId, precondition: &Precondition) -> Result<()> {
        self.0.standing(caller).rights().require(&permission::WEBHOOKS_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        self.delete_in(&mut work, id, precondition).await?;
        work.commit().await
    }

    /// Removes a webhook in a unit of work.
    pub(crate) async fn delete_in(
        &self,
        work: &mut UnitOfWork<'_>,
        id: WebhookId,
        precondition: &Precondition,
    ) -> Result<()> {
        let (_, webhook) = self.lock(work, id, &permission::WEBHOOKS_DELETE).await?;
        require_version(precondition, webhook.version)?;
        work.apply(WebhookChange::Delete(webhook)).await
    }

    /// Gives a webhook a new secret, and returns it. For one day, requests are signed with the former secret too, but
    /// with no secret from before that. Needs `webhooks:update`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn rotate_secret(&self, caller: &Caller, id: WebhookId) -> Result<IssuedWebhook> {
        self.rotate_secret_once(caller, id, None).await.and_then(issued)
    }

    /// Gives a webhook a new secret as [`rotate_secret`](Self::rotate_secret) does, at most once for an
    /// [idempotency key](crate::idempotency). The secret is `None` in the answer to a repeated request.
    ///
    /// # Errors
    ///
    /// Those of [`rotate_secret`](Self::rotate_secret), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn rotate_secret_once(
        &self,
        caller: &Caller,
        id: WebhookId,
        idempotency: Option<&Idempotency>,
    ) -> Result<(Webhook, Option<WebhookSecret>)> {
        self.0.standing(caller).rights().require(&permission::WEBHOOKS_UPDATE)?;
        let once = self.0.once(caller, idempotency, &ResourceType::WEBHOOK);
        let mut work = self.0.begin(caller).await?;
        if let Some(webhook) = once.find(&mut work).await? {
            return Ok((webhook, None));
        }
        let (_, before) = self.lock(&mut work, id, &permission::WEBHOOKS_UPDATE).await?;
        let former = FormerSalt { salt: before.salt.current, until: work.now() + Webhook::OVERLAP };
        let salt = WebhookSalt { current: self.0.random.bytes(), former: Some(former) };
        let webhook = Webhook { salt, ..before }.changed();
        work.apply(WebhookChange::Rotate { after: webhook.clone() }).await?;
        once.keep(&mut work, &webhook).await?;
        work.commit().await?;
        let secret = self.0.keys.webhooks.secret(&webhook);
        Ok((webhook, Some(secret)))
    }

    /// Sends an event of the type `WEBHOOK.TEST`, which is not in the log, and returns the answer of the receiver. It
    /// works for a webhook that is switched off, too. A tenant makes four tests at the same time at most. Needs
    /// `webhooks:update`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::WebhooksOff`], [`Error::NotFound`], [`Error::Overloaded`].
    pub async fn test(&self, caller: &Caller, id: WebhookId) -> Result<WebhookAnswer> {
        self.0.standing(caller).rights().require(&permission::WEBHOOKS_UPDATE)?;
        caller.refuse_impersonator()?;
        let sender = self.0.require_webhooks()?;
        let webhook = self.find(caller, id).await?;
        let _permit = self.0.webhook_tests.acquire(caller.tenant()).await?;
        self.0.attempt(sender, &webhook, &self.test_entry(caller, &webhook)).await
    }

    /// Returns the newest 200 events that a webhook has sent, or could not send, by the last attempt, newest first.
    /// Those that have ended are removed after seven days. Needs `webhooks:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn deliveries(&self, caller: &Caller, id: WebhookId) -> Result<Vec<Delivery>> {
        let webhook = self.get(caller, id).await?;
        Ok(self.0.store.deliveries(webhook.tenant_id, webhook.id, Delivery::SHOWN).await?)
    }

    /// Lets a webhook send the events again from a sequence number on. Those that it has not sent yet follow in their
    /// turn. Needs `webhooks:update` and `audit-logs:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Error::EventsRemoved`] when retention has removed the first of these
    /// events, [`Error::Validation`] which names `fromSequence` for a number that the log does not have.
    pub async fn replay(&self, caller: &Caller, id: WebhookId, from_sequence: u64) -> Result<()> {
        self.0.standing(caller).rights().require(&permission::WEBHOOKS_UPDATE)?;
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let head = self.0.log_head(caller.tenant()).await?;
        let size = head.frontier.size();
        let after = from_sequence.checked_sub(1).filter(|after| *after < size);
        let mut work = self.0.begin(caller).await?;
        let (grantor, webhook) = self.lock(&mut work, id, &permission::WEBHOOKS_UPDATE).await?;
        grantor.rights().require(&permission::AUDIT_LOGS_READ)?;
        let Some(after) = after else {
            let message = match size {
                0 => "cannot be replayed: the log has no events yet".to_owned(),
                size => format!("must be 1 to {size}"),
            };
            return Err(Error::field("fromSequence", message));
        };
        if after < head.removed {
            return Err(Error::EventsRemoved { first: head.removed + 1 });
        }
        work.apply(WebhookChange::Replay { webhook: webhook.changed(), after }).await?;
        work.commit().await
    }

    async fn find(&self, caller: &Caller, id: WebhookId) -> Result<Webhook> {
        self.0.store.webhook(caller.tenant(), id).await?.ok_or_else(not_found)
    }

    /// Reads the caller's standing rights under the tenant's lock, requires the permission, and locks a webhook.
    async fn lock(
        &self,
        work: &mut UnitOfWork<'_>,
        id: WebhookId,
        permission: &Permission,
    ) -> Result<(LockedRights, Webhook)> {
        let grantor = work.lock_rights().await?.standing();
        grantor.rights().require(permission)?;
        let webhook = work.reads().lock_webhook(id).await?.ok_or_else(not_found)?;
        Ok((grantor, webhook))
    }

    /// Returns an entry that a test sends, and that no log has.
    fn test_entry(&self, caller: &Caller, webhook: &Webhook) -> AuditEntry {
        let random = &*self.0.random;
        AuditEntry {
            id: self.0.next_id(),
            tenant_id: webhook.tenant_id,
            action: Cow::Borrowed("TEST"),
            resource_type: ResourceType::WEBHOOK,
            resource_id: Some(webhook.id.to_string()),
            organization_id: None,
            user_id: caller.user(),
            old_value: None,
            new_value: None,
            metadata: Map::new(),
            context: caller.context().clone(),
            created_at: self.0.now(),
            salts: Salts { details: Salt::draw(random), origin: Salt::draw(random) },
        }
    }
}

impl Engine {
    /// Returns the sender of the events of webhooks.
    ///
    /// # Errors
    ///
    /// [`Error::WebhooksOff`].
    fn require_webhooks(&self) -> Result<&dyn WebhookSender> {
        self.webhooks.as_deref().ok_or(Error::WebhooksOff)
    }
}

/// Returns the result of a request without an idempotency key.
fn issued((webhook, secret): (Webhook, Option<WebhookSecret>)) -> Result<IssuedWebhook> {
    let secret = secret.ok_or_else(|| Error::internal("webhook", "a request that is not repeated has no secret"))?;
    Ok(IssuedWebhook { webhook, secret })
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::WEBHOOK)
}
