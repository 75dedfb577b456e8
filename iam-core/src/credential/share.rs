use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::caller::{Actor, Caller, RequestContext};
use crate::id::TenantId;

/// On whose account a password is hashed. While others wait, none of them has more than half of all hashes
/// (`decisions.md` §2).
///
/// Turns are taken on three levels: strangers beside users, then network beside network, then tenant beside tenant. So a
/// client that makes many tenants has no more turns than another, and however many users are busy, logins go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    who: Who,
    /// Where the address is known.
    network: Option<IpAddr>,
    /// Of users.
    tenant: Option<TenantId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// Trusted code.
    Trusted,
    /// Whoever is authenticated.
    Users,
    /// Those who log in and register.
    Strangers,
}

/// One of those who take turns on a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn(Option<Party>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Party {
    Who(Who),
    Network(IpAddr),
    Tenant(TenantId),
}

/// The addresses of one customer of an IPv4 provider often share these bits, and one attacker rarely has more than one such
/// network.
const IPV4_PREFIX: u32 = 24;
/// What a provider gives to one site (RFC 6177).
const IPV6_PREFIX: u32 = 48;

impl Share {
    /// The share of trusted code.
    pub(crate) const SYSTEM: Self = Self { who: Who::Trusted, network: None, tenant: None };

    /// The share of a caller.
    pub(crate) fn of(caller: &Caller) -> Self {
        match caller.actor() {
            Actor::User { .. } => {
                let tenant = Some(caller.tenant());
                Self { who: Who::Users, tenant, ..Self::of_client(caller.context()) }
            }
            Actor::System { .. } => Self::SYSTEM,
            Actor::Anonymous => Self::of_client(caller.context()),
        }
    }

    /// The share of an unauthenticated client.
    pub(crate) fn of_client(context: &RequestContext) -> Self {
        Self { who: Who::Strangers, network: context.ip_address.map(network_of), tenant: None }
    }

    /// Whose turn it is to be, level by level.
    pub(super) fn turns(self) -> [Turn; 3] {
        [Some(Party::Who(self.who)), self.network.map(Party::Network), self.tenant.map(Party::Tenant)].map(Turn)
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
    fn users_share_by_network_and_tenant_and_beside_strangers() {
        let context = RequestContext { ip_address: Some([192, 0, 2, 7].into()), ..RequestContext::default() };
        let (tenant, user, session) = (TenantId::from(Uuid::from_u128(1)), Uuid::from_u128(2), Uuid::from_u128(3));
        let caller = Caller::founder(tenant, user.into(), session.into(), context.clone());
        let network = Some([192, 0, 2, 0].into());
        assert_eq!(Share::of(&caller), Share { who: Who::Users, network, tenant: Some(tenant) });
        let stranger = Share { who: Who::Strangers, network, tenant: None };
        assert_eq!(Share::of(&Caller::anonymous(tenant, context.clone())), stranger);
        assert_eq!(Share::of_client(&context), stranger);
        assert_eq!(Share::of(&Caller::system(tenant, "test")), Share::SYSTEM);
    }
}
