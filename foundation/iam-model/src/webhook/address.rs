use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses that webhooks may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressPolicy {
    /// Only public addresses, and only by `https`.
    #[default]
    Public,
    /// Every address, also by `http`. For development only: who can make a webhook can send requests into the network
    /// of the service.
    Anywhere,
}

impl AddressPolicy {
    /// Whether a connection may go to an address.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        self == Self::Anywhere || is_public(address)
    }
}

/// Whether an address is one of the public internet: globally reachable by the registries of special-purpose addresses
/// of IANA ([IPv4], [IPv6]), not multicast, and not the translation of an IPv4 address (NAT64, 6to4, Teredo), which
/// could lead to a private one.
///
/// ```
/// use iam_model::webhook::is_public;
///
/// assert!(is_public("93.184.215.14".parse()?));
/// assert!(!is_public("169.254.169.254".parse()?));
/// assert!(!is_public("::ffff:10.0.0.1".parse()?));
/// assert!(!is_public("64:ff9b::a00:1".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
///
/// [IPv4]: https://www.iana.org/assignments/iana-ipv4-special-registry/
/// [IPv6]: https://www.iana.org/assignments/iana-ipv6-special-registry/
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => SPECIAL_V4.iter().all(|(network, length)| !is_in_v4(address, *network, *length)),
        // Global unicast addresses only, so mapped and compatible IPv4 addresses are refused, too.
        IpAddr::V6(address) => {
            is_in_v6(address, [0x2000, 0], 3)
                && SPECIAL_V6.iter().all(|(network, length)| !is_in_v6(address, *network, *length))
        }
    }
}

const SPECIAL_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),       // this network
    ([10, 0, 0, 0], 8),      // private
    ([100, 64, 0, 0], 10),   // shared by carriers
    ([127, 0, 0, 0], 8),     // loopback
    ([169, 254, 0, 0], 16),  // link-local, and the metadata of cloud machines
    ([172, 16, 0, 0], 12),   // private
    ([192, 0, 0, 0], 24),    // protocol assignments
    ([192, 0, 2, 0], 24),    // documentation
    ([192, 31, 196, 0], 24), // AS112
    ([192, 52, 193, 0], 24), // AMT
    ([192, 88, 99, 0], 24),  // 6to4 relays
    ([192, 168, 0, 0], 16),  // private
    ([198, 18, 0, 0], 15),   // benchmarks
    ([198, 51, 100, 0], 24), // documentation
    ([203, 0, 113, 0], 24),  // documentation
    ([224, 0, 0, 0], 3),     // multicast, reserved and broadcast
];

/// The first 32 bits of networks within 2000::/3.
const SPECIAL_V6: [([u16; 2], u32); 4] = [
    ([0x2001, 0x0000], 23), // protocol assignments, with Teredo
    ([0x2001, 0x0db8], 32), // documentation
    ([0x2002, 0x0000], 16), // 6to4
    ([0x3fff, 0x0000], 20), // documentation
];

fn is_in_v4(address: Ipv4Addr, network: [u8; 4], length: u32) -> bool {
    (address.to_bits() ^ u32::from_be_bytes(network)) >> (32 - length) == 0
}

fn is_in_v6(address: Ipv6Addr, [first, second]: [u16; 2], length: u32) -> bool {
    let network = Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0);
    (address.to_bits() ^ network.to_bits()) >> (128 - length) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_addresses_are_not_public_and_their_neighbours_are() {
        let is_public = |text: &str| is_public(text.parse().unwrap());
        for special in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.0.0",
            "169.254.169.254",
            "169.254.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.255",
            "192.0.2.0",
            "192.0.2.255",
            "192.31.196.1",
            "192.52.193.1",
            "192.88.99.0",
            "192.88.99.255",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.0",
            "198.51.100.255",
            "203.0.113.0",
            "203.0.113.255",
            "224.0.0.0",
            "239.255.255.255",
            "240.0.0.0",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:10.0.0.1",
            "::ffff:93.184.215.14",
            "64:ff9b::a00:1",
            "64:ff9b::5db8:d70e",
            "64:ff9b:1::1",
            "100::1",
            "1fff::1",
            "2001::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2001:db8:ffff::1",
            "2002::1",
            "2002:a00:1::1",
            "2002:ffff::1",
            "3fff::1",
            "3fff:fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(special), "{special}");
        }
        for public in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.31.195.1",
            "192.52.194.1",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "2000::1",
            "2001:200::1",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "2a00:1450::1",
            "3ffe::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(public), "{public}");
        }
    }

    #[test]
    fn everything_can_be_reached_only_if_the_operator_says_so() {
        let (private, public) = ("10.0.0.1".parse().unwrap(), "1.1.1.1".parse().unwrap());
        assert!(AddressPolicy::Anywhere.allows(private) && AddressPolicy::Anywhere.allows(public));
        assert!(!AddressPolicy::Public.allows(private) && AddressPolicy::Public.allows(public));
        assert_eq!(AddressPolicy::default(), AddressPolicy::Public);
    }
}
