use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::caller::{Actor, Caller, RequestContext};
use crate::id::TenantId;

/// On whose account a password is hashed. While others wait, none of them has more than half of all hashes
/// (`decisions.md` §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Share {
    /// The authenticated users of a tenant.
    Tenant(TenantId),
    /// Unauthenticated clients of one network: logins and registrations.
    Network(IpAddr),
    /// Unauthenticated clients whose address is unknown.
    Unknown,
    /// Trusted code.
    System,
}

/// The addresses of one customer of an IPv4 provider often share these bits, and one attacker rarely has more than one such
/// network.
const IPV4_PREFIX: u32 = 24;
/// What a provider gives to one site (RFC 6177).
const IPV6_PREFIX: u32 = 48;

impl Share {
    /// The share of a caller.
    pub(crate) fn of(caller: &Caller) -> Self {
        match caller.actor() {
            Actor::User { .. } => Self::Tenant(caller.tenant()),
            Actor::System { .. } => Self::System,
            Actor::Anonymous => Self::of_client(caller.context()),
        }
    }

    /// The share of an unauthenticated client.
    pub(crate) fn of_client(context: &RequestContext) -> Self {
        context.ip_address.map_or(Self::Unknown, |address| Self::Network(network_of(address)))
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
            assert_eq!(share(address), Share::Network(network.parse().unwrap()), "{address}");
        }
        assert_eq!(Share::of_client(&RequestContext::default()), Share::Unknown);
    }

    #[test]
    fn users_share_with_their_tenant_wherever_they_are() {
        let context = RequestContext { ip_address: Some([192, 0, 2, 7].into()), ..RequestContext::default() };
        let (tenant, user, session) =
            (TenantId::from(uuid::Uuid::now_v7()), uuid::Uuid::now_v7(), uuid::Uuid::now_v7());
        let caller = Caller::founder(tenant, user.into(), session.into(), context.clone());
        assert_eq!(Share::of(&caller), Share::Tenant(tenant));
        assert_eq!(Share::of(&Caller::anonymous(tenant, context.clone())), Share::of_client(&context));
        assert_eq!(Share::of(&Caller::system(tenant, "test")), Share::System);
    }
}
