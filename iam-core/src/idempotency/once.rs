use aws_lc_rs::hmac;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Idempotency, IdempotencyChange, IdempotencyRecord, KEPT};
use crate::caller::{Actor, Caller};
use crate::error::{Error, Result};
use crate::id::TenantId;
use crate::work::UnitOfWork;

/// Turns keys and requests into what is kept of them. Requests have passwords in them: without this, whoever reads the
/// store could try passwords against a digest that takes no time.
pub(crate) struct IdempotencySecret(hmac::Key);

impl IdempotencySecret {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &secret))
    }

    /// What stands for these parts in this order.
    fn stand_in(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.0);
        for part in parts {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.sign().as_ref());
        bytes
    }
}

/// Does what a caller asks for once, if it asks for that.
pub(crate) struct Once<'a>(Option<Request<'a>>);

struct Request<'a> {
    idempotency: &'a Idempotency,
    tenant: TenantId,
    id: [u8; 32],
    fingerprint: [u8; 32],
}

impl<'a> Once<'a> {
    /// For a caller that may have a key, and makes this.
    pub(crate) fn new(secret: &IdempotencySecret, caller: &'a Caller, what: &str) -> Self {
        Self(caller.idempotency().map(|idempotency| {
            let tenant = caller.tenant();
            let actor = match caller.actor() {
                Actor::User { user, .. } => format!("user {user}"),
                Actor::System { reason } => format!("system {reason}"),
                Actor::Anonymous => "anonymous".to_owned(),
            };
            let key = idempotency.key.0.as_bytes();
            Request {
                idempotency,
                tenant,
                id: secret.stand_in(&[b"caller", tenant.as_uuid().as_bytes(), actor.as_bytes(), key]),
                fingerprint: secret.stand_in(&[b"request", what.as_bytes(), &idempotency.request]),
            }
        }))
    }

    /// For somebody who has no tenant yet: nobody else knows the key and the whole request.
    pub(crate) fn for_nobody(secret: &IdempotencySecret, idempotency: Option<&'a Idempotency>, what: &str) -> Self {
        Self(idempotency.map(|idempotency| {
            let fingerprint = secret.stand_in(&[b"request", what.as_bytes(), &idempotency.request]);
            let id = secret.stand_in(&[b"nobody", idempotency.key.0.as_bytes(), &fingerprint]);
            Request { idempotency, tenant: TenantId::NONE, id, fingerprint }
        }))
    }

    /// Whether there is a key, so that something may have been made before.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.is_some()
    }

    /// What was made before. Nobody else makes it until the unit of work ends.
    pub(crate) async fn find<T: DeserializeOwned>(&self, work: &mut UnitOfWork<'_>) -> Result<Option<T>> {
        let Some(Request { idempotency, tenant, id, fingerprint }) = &self.0 else { return Ok(None) };
        let record = work.locks().lock_idempotency_record(*tenant, id).await?;
        let forgotten = work.clock_now() - KEPT;
        let Some(record) = record.filter(|record| record.created_at >= forgotten) else { return Ok(None) };
        if record.request != *fingerprint {
            return Err(Error::IdempotencyKeyReused);
        }
        let answer = serde_json::from_str(&record.answer).map_err(|cause| Error::internal("kept answer", cause))?;
        idempotency.replay();
        Ok(Some(answer))
    }

    /// Keeps what was made.
    pub(crate) async fn keep<T: Serialize + ?Sized>(&self, work: &mut UnitOfWork<'_>, made: &T) -> Result<()> {
        let Some(Request { tenant, id, fingerprint, .. }) = self.0 else { return Ok(()) };
        let answer = serde_json::to_string(made).map_err(|cause| Error::internal("answer to be kept", cause))?;
        let record = IdempotencyRecord { tenant_id: tenant, id, request: fingerprint, answer, created_at: work.now() };
        work.apply(IdempotencyChange::Keep(record)).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::assignment::Assignment;
    use crate::id::AuditEntryId;
    use crate::organization::PlacedOrganization;
    use crate::permission::RegisteredPermission;
    use crate::role::Role;
    use crate::tenant::Founded;
    use crate::user::User;

    /// What is kept outlives the release that kept it: a field that comes later needs a default.
    fn is_read_and_kept_as<T: Serialize + DeserializeOwned>(answer: Value) {
        let read: T = serde_json::from_value(answer.clone()).unwrap_or_else(|error| panic!("{answer}: {error}"));
        assert_eq!(serde_json::to_value(&read).unwrap(), answer);
    }

    #[test]
    fn kept_answers_have_the_form_that_other_releases_know() {
        let (id, other) = ("01a2029f-9b32-7000-8000-45f2b9876ce2", "01a2029f-9b75-7000-8000-2b54b05e2175");
        let moment = "2026-11-22T09:39:04.121Z";
        let tenant = json!({
            "id": id, "name": "Acme", "slug": "acme", "status": "ACTIVE", "createdAt": moment, "updatedAt": moment,
        });
        for last_login_at in [json!(null), json!(moment)] {
            let user = json!({
                "id": other, "tenantId": id, "email": "ada@example.com", "firstName": "Ada", "lastName": "Lovelace",
                "status": "ACTIVE", "lastLoginAt": last_login_at, "createdAt": moment, "updatedAt": moment,
            });
            is_read_and_kept_as::<User>(user.clone());
            is_read_and_kept_as::<Founded>(json!({ "tenant": tenant, "user": user }));
        }
        is_read_and_kept_as::<RegisteredPermission>(json!({
            "id": other, "tenantId": id, "name": "orders:refund", "description": "Refund", "system": false,
            "createdAt": moment,
        }));
        is_read_and_kept_as::<Role>(json!({
            "id": other, "tenantId": id, "name": "CLERK", "description": "Sells", "scope": "ANY",
            "permissions": ["orders:*"], "system": false, "createdAt": moment, "updatedAt": moment,
        }));
        for parent in [json!(null), json!(id)] {
            is_read_and_kept_as::<PlacedOrganization>(json!({
                "organization": {
                    "id": other, "tenantId": id, "name": "North", "slug": "north", "status": "ACTIVE",
                    "parentId": parent, "createdAt": moment, "updatedAt": moment,
                },
                "depth": 1,
            }));
        }
        for (organization, expires_at) in [(json!(null), json!(null)), (json!(id), json!("2030-01-01T00:00:00Z"))] {
            is_read_and_kept_as::<Vec<Assignment>>(json!([{
                "id": other, "tenantId": id, "userId": other, "roleId": id, "organizationId": organization,
                "expiresAt": expires_at, "createdAt": moment, "createdBy": other,
            }]));
        }
        is_read_and_kept_as::<AuditEntryId>(json!(id));
    }

    #[test]
    fn what_stands_for_parts_depends_on_each_of_them_and_on_where_they_end() {
        let stand_in = |parts: &[&[u8]]| IdempotencySecret::new([7; 32]).stand_in(parts);
        assert_eq!(stand_in(&[b"a", b"b"]), stand_in(&[b"a", b"b"]));
        let all = [stand_in(&[b"a", b"b"]), stand_in(&[b"ab", b""]), stand_in(&[b"ab"]), stand_in(&[b"b", b"a"])];
        for (number, one) in all.iter().enumerate() {
            assert!(all.iter().skip(number + 1).all(|other| other != one), "{number}");
        }
        assert_ne!(IdempotencySecret::new([8; 32]).stand_in(&[b"a", b"b"]), stand_in(&[b"a", b"b"]));
    }
}
