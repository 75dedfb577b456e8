//! The connection limit of each client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iam_axum::rate_limit::Client;
use ipnet::IpNet;

/// Counts the connections of clients by their addresses. Remembers only clients that have a connection.
#[derive(Clone, Debug)]
pub(crate) struct Clients(Arc<Counted>);

#[derive(Debug)]
struct Counted {
    most: usize,
    proxies: Vec<IpNet>,
    connections: Mutex<HashMap<Client, usize>>,
}

impl Clients {
    /// Limits every client to `most` connections. These proxies have no limit, because their connections carry many
    /// clients.
    pub(crate) fn new(most: usize, proxies: Vec<IpNet>) -> Self {
        Self(Arc::new(Counted { most, proxies, connections: Mutex::default() }))
    }

    /// Counts a connection until the returned value is dropped. Returns `None` if the client has too many connections.
    pub(crate) fn admit(&self, address: IpAddr) -> Option<AdmittedConnection> {
        let address = address.to_canonical();
        if self.0.proxies.iter().any(|proxies| proxies.contains(&address)) {
            return Some(AdmittedConnection(None));
        }
        let client = Client::from(address);
        let mut connections = self.0.lock();
        let count = connections.entry(client).or_default();
        if *count >= self.0.most {
            return None;
        }
        *count += 1;
        Some(AdmittedConnection(Some((Arc::clone(&self.0), client))))
    }
}

impl Counted {
    fn lock(&self) -> MutexGuard<'_, HashMap<Client, usize>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An admitted connection. It is counted, unless it comes from a trusted proxy.
#[derive(Debug)]
pub(crate) struct AdmittedConnection(Option<(Arc<Counted>, Client)>);

impl Drop for AdmittedConnection {
    fn drop(&mut self) {
        let Some((counted, client)) = &self.0 else { return };
        let mut connections = counted.lock();
        if let Some(count) = connections.get_mut(client) {
            *count -= 1;
            if *count == 0 {
                connections.remove(client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(clients: &Clients, address: &str) -> Option<AdmittedConnection> {
        clients.admit(address.parse().unwrap())
    }

    #[test]
    fn a_client_has_at_most_its_limit_of_connections() {
        let clients = Clients::new(2, Vec::new());
        let first = admit(&clients, "192.0.2.7").unwrap();
        let second = admit(&clients, "::ffff:192.0.2.7").unwrap();
        assert!(admit(&clients, "192.0.2.7").is_none());
        assert!(admit(&clients, "192.0.2.8").is_some());
        drop(first);
        let third = admit(&clients, "192.0.2.7").unwrap();
        assert!(admit(&clients, "192.0.2.7").is_none());
        drop((second, third));
    }

    #[test]
    fn the_addresses_of_an_ipv6_network_of_64_bits_are_one_client() {
        let clients = Clients::new(1, Vec::new());
        let _first = admit(&clients, "2001:db8:1:2::1").unwrap();
        assert!(admit(&clients, "2001:db8:1:2:3:4:5:6").is_none());
        assert!(admit(&clients, "2001:db8:1:3::1").is_some());
    }

    #[test]
    fn a_trusted_proxy_has_no_connection_limit() {
        let clients = Clients::new(1, vec!["10.0.0.0/8".parse().unwrap()]);
        let many: Vec<_> = (0..3).map(|_| admit(&clients, "10.1.2.3")).collect();
        assert!(many.iter().all(Option::is_some));
    }

    #[test]
    fn a_client_without_connections_is_forgotten() {
        let clients = Clients::new(1, Vec::new());
        let admitted = admit(&clients, "192.0.2.7").unwrap();
        assert!(admit(&clients, "192.0.2.7").is_none());
        drop(admitted);
        assert!(clients.0.lock().is_empty());
    }
}
