use aws_lc_rs::hmac;
use iam_model::change::IdempotencyChange;
use iam_model::context::Actor;
use iam_model::error::{Error, Result};
use iam_model::id::TenantId;
use iam_model::idempotency::IdempotencyRecord;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::caller::Caller;
use crate::engine::work::UnitOfWork;
use crate::idempotency::{Idempotency, KEPT};

/// The secret of the HMACs that are stored for keys and requests. Requests contain passwords: with a plain digest
/// instead, which takes almost no time, a database reader could test passwords.
pub(crate) struct IdempotencySecret(hmac::Key);

impl IdempotencySecret {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &secret))
    }

    /// Returns the HMAC over these parts, in this order.
    fn hmac(&self, parts: &[&[u8]]) -> [u8; 32] {
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

/// Executes a request at most once, if it has an idempotency key.
pub(crate) struct Once<'a>(Option<Request<'a>>);

struct Request<'a> {
    idempotency: &'a Idempotency,
    tenant: TenantId,
    id: [u8; 32],
    fingerprint: [u8; 32],
}

impl<'a> Once<'a> {
    /// For a caller that creates a resource of the type `what`, and may have a key.
    pub(crate) fn new(
        secret: &IdempotencySecret,
        caller: &Caller,
        idempotency: Option<&'a Idempotency>,
        what: &str,
    ) -> Self {
        Self(idempotency.map(|idempotency| {
            let tenant = caller.tenant();
            let actor = match (caller.actor(), caller.impersonator()) {
                (Actor::User { user, .. }, None) => format!("user {user}"),
                // Neither of both may get the answers of the other one, nor of another such session.
                (Actor::User { user, session }, Some(_)) => format!("user {user} in {session}"),
                (Actor::ApiKey { key, .. }, _) => format!("API key {key}"),
                (Actor::System { reason }, _) => format!("system {reason}"),
                (Actor::Anonymous, _) => "anonymous".to_owned(),
            };
            let key = idempotency.key.as_str().as_bytes();
            Request {
                idempotency,
                tenant,
                id: secret.hmac(&[b"caller", tenant.as_uuid().as_bytes(), actor.as_bytes(), key]),
                fingerprint: secret.hmac(&[b"request", what.as_bytes(), &idempotency.request]),
            }
        }))
    }

    /// For a client that has no tenant yet. Its record is found by the key together with the whole request, which no
    /// other client knows.
    pub(crate) fn for_registration(
        secret: &IdempotencySecret,
        idempotency: Option<&'a Idempotency>,
        what: &str,
    ) -> Self {
        Self(idempotency.map(|idempotency| {
            let fingerprint = secret.hmac(&[b"request", what.as_bytes(), &idempotency.request]);
            let id = secret.hmac(&[b"nobody", idempotency.key.as_str().as_bytes(), &fingerprint]);
            Request { idempotency, tenant: TenantId::NONE, id, fingerprint }
        }))
    }

    /// Whether there is a key, so that an earlier request may have created the resource.
    pub(crate) fn has_key(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the answer of an earlier request. Locks the key, so that no other request creates the resource until
    /// the unit of work ends.
    pub(crate) async fn find<T: DeserializeOwned>(&self, work: &mut UnitOfWork<'_>) -> Result<Option<T>> {
        let Some(Request { idempotency, tenant, id, fingerprint }) = &self.0 else { return Ok(None) };
        let record = work.reads().lock_idempotency_record(*tenant, id).await?;
        let oldest = work.clock_now() - KEPT;
        let Some(record) = record.filter(|record| record.created_at >= oldest) else { return Ok(None) };
        if record.request != *fingerprint {
            return Err(Error::IdempotencyKeyReused);
        }
        let answer = serde_json::from_str(&record.answer).map_err(|cause| Error::internal("stored answer", cause))?;
        idempotency.replay();
        Ok(Some(answer))
    }

    /// Stores the created resource as the answer.
    pub(crate) async fn keep<T: Serialize + ?Sized>(&self, work: &mut UnitOfWork<'_>, made: &T) -> Result<()> {
        let Some(Request { tenant, id, fingerprint, .. }) = self.0 else { return Ok(()) };
        let answer = serde_json::to_string(made).map_err(|cause| Error::internal("answer to store", cause))?;
        let record = IdempotencyRecord { tenant_id: tenant, id, request: fingerprint, answer, created_at: work.now() };
        work.apply(IdempotencyChange::Keep(record)).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::tenant::TenantWithUser;
    use iam_model::api_key::ApiKey;
    use iam_model::assignment::Assignment;
    use iam_model::id::AuditEntryId;
    use iam_model::organization::OrganizationWithDepth;
    use iam_model::permission::RegisteredPermission;
    use iam_model::role::Role;
    use iam_model::user::User;

    /// Checks that a stored answer is read and written in the same form. Stored answers outlive the release that
    /// stored them: a field that is added later needs a default.
    fn assert_round_trip<T: Serialize + DeserializeOwned>(answer: Value) {
        let read: T = serde_json::from_value(answer.clone()).unwrap_or_else(|error| panic!("{answer}: {error}"));
        assert_eq!(serde_json::to_value(&read).unwrap(), answer);
        let added = [
            ",\"version\":1",
            "\"passwordPolicy\":\"seed\",",
            "\"secondFactor\":\"OPTIONAL\",",
            "\"secondFactorGraceDays\":7,",
            "\"passwordLogin\":\"ALLOWED\",",
            "\"emailLogin\":\"OFF\",",
            "\"authzenIdentifiers\":\"ID\",",
        ];
        let text = added.iter().fold(answer.to_string(), |text, field| text.replace(field, ""));
        let stored_before_versions: T = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_value(&stored_before_versions).unwrap(), answer);
    }

    #[test]
    fn stored_answers_have_a_form_that_other_releases_read() {
        let (id, other) = ("01a2029f-9b32-7000-8000-45f2b9876ce2", "01a2029f-9b75-7000-8000-2b54b05e2175");
        let moment = "2026-11-22T09:39:04.121Z";
        let tenant = json!({
            "id": id, "name": "Acme", "slug": "acme", "status": "ACTIVE", "passwordPolicy": "seed", "secondFactor": "OPTIONAL", "secondFactorGraceDays": 7, "passwordLogin": "ALLOWED",
            "emailLogin": "OFF", "authzenIdentifiers": "ID", "createdAt": moment, "updatedAt": moment, "version": 1,
        });
        for last_login_at in [json!(null), json!(moment)] {
            let user = json!({
                "id": other, "tenantId": id, "email": "ada@example.com", "firstName": "Ada", "lastName": "Lovelace",
                "status": "ACTIVE", "lastLoginAt": last_login_at, "createdAt": moment, "updatedAt": moment,
                "version": 1,
            });
            assert_round_trip::<User>(user.clone());
            assert_round_trip::<TenantWithUser>(json!({ "tenant": tenant, "user": user }));
        }
        assert_round_trip::<RegisteredPermission>(json!({
            "id": other, "tenantId": id, "name": "orders:refund", "description": "Refund", "system": false,
            "createdAt": moment,
        }));
        assert_round_trip::<Role>(json!({
            "id": other, "tenantId": id, "name": "CLERK", "description": "Sells", "scope": "ANY",
            "permissions": ["orders:*"], "system": false, "createdAt": moment, "updatedAt": moment, "version": 1,
        }));
        for parent in [json!(null), json!(id)] {
            assert_round_trip::<OrganizationWithDepth>(json!({
                "organization": {
                    "id": other, "tenantId": id, "name": "North", "slug": "north", "status": "ACTIVE",
                    "parentId": parent, "createdAt": moment, "updatedAt": moment, "version": 1,
                },
                "depth": 1,
            }));
        }
        for (organization, expires_at) in [(json!(null), json!(null)), (json!(id), json!("2030-01-01T00:00:00Z"))] {
            assert_round_trip::<Vec<Assignment>>(json!([{
                "id": other, "tenantId": id, "userId": other, "roleId": id, "organizationId": organization,
                "expiresAt": expires_at, "createdAt": moment, "createdBy": other,
            }]));
        }
        assert_round_trip::<AuditEntryId>(json!(id));
    }

    #[test]
    fn a_stored_key_has_no_secret() {
        let (id, other) = ("01a2029f-9b32-7000-8000-45f2b9876ce2", "01a2029f-9b75-7000-8000-2b54b05e2175");
        let stored = json!({
            "id": id, "tenantId": other, "userId": other, "name": "nightly", "permissions": ["users:read"],
            "organizationId": null, "expiresAt": "2030-01-01T00:00:00Z", "createdAt": "2026-11-22T09:39:04.121Z",
            "createdBy": other, "lastUsedAt": null, "version": 1,
        });
        let mut key: ApiKey = serde_json::from_value(stored.clone()).unwrap();
        key.secret.hash = [7; 32];
        assert_eq!(serde_json::to_value(&key).unwrap(), stored);
    }

    #[test]
    fn an_hmac_depends_on_every_part_and_on_the_boundaries_between_parts() {
        let hmac_of = |parts: &[&[u8]]| IdempotencySecret::new([7; 32]).hmac(parts);
        assert_eq!(hmac_of(&[b"a", b"b"]), hmac_of(&[b"a", b"b"]));
        let all = [hmac_of(&[b"a", b"b"]), hmac_of(&[b"ab", b""]), hmac_of(&[b"ab"]), hmac_of(&[b"b", b"a"])];
        for (number, one) in all.iter().enumerate() {
            assert!(all.iter().skip(number + 1).all(|other| other != one), "{number}");
        }
        assert_ne!(IdempotencySecret::new([8; 32]).hmac(&[b"a", b"b"]), hmac_of(&[b"a", b"b"]));
    }
}
