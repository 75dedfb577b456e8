use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use iam_model::context::{Actor, RequestContext};
use iam_model::id::TenantId;

use crate::caller::Caller;

/// The queue share to which a password hash belongs. While other shares wait, no share gets more than half of the time
/// of hashing (`docs/design.md#the-queue`).
///
/// The queue shares out time on three levels: groups of clients (trusted code, users, strangers), then the networks of
/// a group, then the tenants of a network. So a client that makes many tenants gets no more hashes than another client,
/// and logins go on even when many users hash passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    group: Group,
    /// The client's network. `None` where the address is not known, and for trusted code.
    network: Option<IpAddr>,
    /// The tenant of a user, or the tenant that a stranger names. `None` for trusted code.
    tenant: Option<TenantId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Trusted code.
    Trusted,
    /// Authenticated users.
    Users,
    /// Clients that log in or register.
    Strangers,
}

/// The key of a queue on one level. Queues of one level share out time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueKey(Option<Party>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Party {
    Group(Group),
    Network(IpAddr),
    Tenant(TenantId),
}

/// The length of an IPv4 network in bits. The addresses of one customer of a provider are often in one such network,
/// and an attacker rarely has more than one.
const IPV4_PREFIX: u32 = 24;

/// The length of an IPv6 network in bits: what a provider gives to one site (RFC 6177).
const IPV6_PREFIX: u32 = 48;

impl Share {
    /// The share of trusted code.
    pub(crate) const SYSTEM: Self = Self { group: Group::Trusted, network: None, tenant: None };

    /// The share of a caller.
    pub(crate) fn of(caller: &Caller) -> Self {
        match caller.actor() {
            Actor::User { .. } | Actor::ApiKey { .. } => {
                let tenant = Some(caller.tenant());
                Self { group: Group::Users, tenant, ..Self::of_client(caller.context()) }
            }
            Actor::System { .. } => Self::SYSTEM,
            Actor::Anonymous => Self::of_client(caller.context()),
        }
    }

    /// The share of an unauthenticated client.
    pub(crate) fn of_client(context: &RequestContext) -> Self {
        Self { group: Group::Strangers, network: context.ip_address.map(network_of), tenant: None }
    }

    /// Returns the share of the same client in a tenant, which must exist: a client must not get more by inventing
    /// names.
    pub(crate) fn in_tenant(self, tenant: TenantId) -> Self {
        Self { tenant: Some(tenant), ..self }
    }

    /// Returns the keys of the queues that the share waits in, level by level.
    pub(super) fn queue_keys(self) -> [QueueKey; 3] {
        [Some(Party::Group(self.group)), self.network.map(Party::Network), self.tenant.map(Party::Tenant)].map(QueueKey)
    }
}

fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => Ipv4Addr::from_bits(address.to_bits() & (u32::MAX << (32 - IPV4_PREFIX))).into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << (128 - IPV6_PREFIX))).into(),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn share(address: &str) -> Share {
        Share::of_client(&RequestContext { ip_address: Some(address.parse().unwrap()), ..RequestContext::default() })
    }

    #[test]
    fn clients_of_one_network_have_one_share() {
        for (address, network) in [
            ("192.0.2.7", "192.0.2.0"),
            ("192.0.2.255", "192.0.2.0"),
            ("192.0.3.7", "192.0.3.0"),
            ("::ffff:192.0.2.9", "192.0.2.0"),
            ("2001:db8:1:2::3", "2001:db8:1::"),
            ("2001:db8:1:ffff::", "2001:db8:1::"),
            ("2001:db8:2::", "2001:db8:2::"),
        ] {
            assert_eq!(share(address).network, Some(network.parse().unwrap()), "{address}");
        }
        assert_eq!(Share::of_client(&RequestContext::default()).network, None);
    }

    #[test]
    fn users_share_by_network_and_tenant_and_apart_from_strangers() {
        let context = RequestContext { ip_address: Some([192, 0, 2, 7].into()), ..RequestContext::default() };
        let (tenant, user, session) = (TenantId::from(Uuid::from_u128(1)), Uuid::from_u128(2), Uuid::from_u128(3));
        let caller = Caller::founder(tenant, user.into(), session.into(), context.clone());
        let network = Some([192, 0, 2, 0].into());
        assert_eq!(Share::of(&caller), Share { group: Group::Users, network, tenant: Some(tenant) });
        let stranger = Share { group: Group::Strangers, network, tenant: None };
        assert_eq!(Share::of(&Caller::anonymous(tenant, context.clone())), stranger);
        assert_eq!(Share::of_client(&context), stranger);
        assert_eq!(stranger.in_tenant(tenant), Share { tenant: Some(tenant), ..stranger });
        assert_eq!(Share::of(&Caller::system(tenant, "test")), Share::SYSTEM);
    }
}
