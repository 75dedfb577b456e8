//! Identifiers: one type for each noun. All are UUIDs of version 7 (RFC 9562 §5.7), made by the service.
//!
//! A version 7 UUID starts with its creation time in milliseconds. So identifiers sort by age, and new rows are added
//! at one end of an index.

use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid};

use crate::clock::Timestamp;
use crate::random::Random;

/// The error for a text that is not a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a UUID")]
pub struct InvalidId;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID, for instance one that a store has read.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID inside.
            #[must_use]
            pub const fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                // Only the hyphenated form of RFC 9562 is accepted.
                if text.len() != 36 {
                    return Err(InvalidId);
                }
                Uuid::try_parse(text).map(Self).map_err(|_| InvalidId)
            }
        }
    )+};
}

ids! {
    /// Identifies a tenant: a customer whose data no other tenant may see.
    TenantId;
    /// Identifies a user of a tenant.
    UserId;
    /// Identifies a login session; the `sid` claim of an access token.
    SessionId;
    /// Identifies a role of a tenant.
    RoleId;
    /// Identifies a permission of a tenant's catalogue.
    PermissionId;
    /// Identifies a role assignment.
    AssignmentId;
    /// Identifies an organization of a tenant.
    OrganizationId;
    /// Identifies an entry of the audit log.
    AuditEntryId;
    /// Identifies a signing key; the `kid` of a token's header.
    KeyId;
    /// Identifies an access token; its `jti` claim.
    TokenId;
    /// Identifies a link that was sent to an address.
    LinkId;
    /// Identifies a message of the outbox.
    MessageId;
    /// Identifies an invitation.
    InvitationId;
    /// Identifies a second factor.
    FactorId;
    /// Identifies an API key.
    ApiKeyId;
    /// Identifies a webhook.
    WebhookId;
    /// Identifies an access review.
    AccessReviewId;
    /// Identifies a domain of a tenant.
    DomainId;
    /// Identifies a legal hold.
    LegalHoldId;
    /// Identifies an identity provider.
    IdentityProviderId;
    /// Identifies the link of a user to an account at an identity provider.
    IdentityId;
    /// Identifies a directory, which writes users of a tenant.
    DirectoryId;
    /// Identifies a group of a directory.
    DirectoryGroupId;
    /// Identifies an eligibility.
    EligibilityId;
    /// Identifies an access request.
    AccessRequestId;
    /// Identifies an item of an access review: the identifier of the assignment or of the eligibility that it is about.
    AccessReviewItemId;
}

impl From<AssignmentId> for AccessReviewItemId {
    fn from(id: AssignmentId) -> Self {
        Self(id.0)
    }
}

impl From<EligibilityId> for AccessReviewItemId {
    fn from(id: EligibilityId) -> Self {
        Self(id.0)
    }
}

impl TenantId {
    /// The identifier for data that belongs to no tenant: for instance, failed logins that name no tenant are counted
    /// under it, by their e-mail.
    ///
    /// No tenant can have this identifier, because it is not of version 7. So no data of a tenant is ever found under
    /// it.
    pub const NONE: Self = Self(Uuid::nil());

    /// Whether no tenant can have this identifier.
    #[must_use]
    pub fn can_be_no_tenant(self) -> bool {
        self.0.get_version_num() != 7
    }
}

/// Makes identifiers that sort in the order in which this process made them, even within one millisecond, and even if
/// the clock goes back.
pub struct IdGenerator {
    last: Mutex<Last>,
}

#[derive(Clone, Copy, Default)]
struct Last {
    millis: u64,
    count: u32,
}

/// The counter in an identifier has 26 bits: 4 + 8 next to the version, 6 + 8 next to the variant.
const COUNTER_LIMIT: u32 = 1 << 26;

impl Default for IdGenerator {
    fn default() -> Self {
        Self::new()
    }
}

impl IdGenerator {
    /// Returns a new generator. A process needs only one.
    #[must_use]
    pub fn new() -> Self {
        Self { last: Mutex::new(Last::default()) }
    }

    /// Makes the identifier of something that is created at this moment.
    pub fn next<T: From<Uuid>>(&self, at: Timestamp, random: &dyn Random) -> T {
        let Last { millis, count } = self.advance(u64::try_from(at.timestamp_millis()).unwrap_or(0));
        let [.., low_14_high, low_14_low] = (count & 0x3fff).to_be_bytes();
        let [.., high_12_high, high_12_low] = (count >> 14).to_be_bytes();
        let [r0, r1, r2, r3, r4, r5]: [u8; 6] = random.bytes();
        let tail = [high_12_high, high_12_low, low_14_high, low_14_low, r0, r1, r2, r3, r4, r5];
        Builder::from_unix_timestamp_millis(millis, &tail).into_uuid().into()
    }

    fn advance(&self, now: u64) -> Last {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *last = if now > last.millis {
            Last { millis: now, count: 0 }
        } else if last.count + 1 < COUNTER_LIMIT {
            Last { millis: last.millis, count: last.count + 1 }
        } else {
            Last { millis: last.millis + 1, count: 0 }
        };
        *last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::clock::testing::FixedClock;
    use crate::random::SystemRandom;

    #[test]
    fn ids_are_version_7_and_sort_in_the_order_of_creation() {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let ids = IdGenerator::new();
        let mut made: Vec<UserId> = (0..20_000).map(|_| ids.next(clock.now(), &SystemRandom)).collect();
        clock.advance(chrono::TimeDelta::seconds(-5));
        made.push(ids.next(clock.now(), &SystemRandom));
        let mut sorted = made.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(made, sorted);
        assert!(made.iter().all(|id| id.as_uuid().get_version_num() == 7));
        assert!(made.iter().all(|id| id.as_uuid().get_variant() == uuid::Variant::RFC4122));
    }

    #[test]
    fn only_a_uuid_of_version_7_can_be_a_tenant() {
        let tenant: TenantId = IdGenerator::new().next(FixedClock::at("2026-01-31T09:15:00Z").now(), &SystemRandom);
        assert!(!tenant.can_be_no_tenant() && TenantId::NONE.can_be_no_tenant());
    }

    #[test]
    fn text_that_is_no_uuid_is_refused() {
        let id = "019bb3f0-7b2e-7a44-9d41-5d1a5a4c1c11";
        assert!(id.parse::<UserId>().is_ok());
        for bad in ["17", "", &id.replace('-', ""), &format!("urn:uuid:{id}"), &format!("{{{id}}}")] {
            assert_eq!(bad.parse::<UserId>(), Err(InvalidId), "{bad}");
        }
    }
}
