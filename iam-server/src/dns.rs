//! Looks up the records of domains in the DNS, and checks them again in the background.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::RData;
use iam_core::Iam;
use iam_core::domain::{LookupError, TxtResolver};
use tokio::sync::watch;

use crate::background::{every, until_stopped};

/// The time between two looks for domains that are to be checked again.
const PERIOD: Duration = Duration::from_secs(600);

/// How long a name server may take to answer, and how often it is asked: together less than the limit of a check.
const TIMEOUT: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 2;

/// Asks name servers. Nothing is cached: a record that was just published must be found.
struct Dns(TokioResolver);

/// Returns a resolver that asks these name servers, or without any those of the system. `None` if the system has none.
pub(crate) fn resolver(servers: &[SocketAddr]) -> Option<Arc<dyn TxtResolver>> {
    match open(servers) {
        Ok(resolver) => Some(Arc::new(Dns(resolver))),
        Err(error) => {
            tracing::warn!("domains cannot be verified by the DNS: {error}");
            None
        }
    }
}

fn open(servers: &[SocketAddr]) -> Result<TokioResolver, NetError> {
    let mut builder = if servers.is_empty() {
        TokioResolver::builder_tokio()?
    } else {
        let servers = servers.iter().map(name_server).collect();
        let config = ResolverConfig::from_name_servers(servers);
        TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
    };
    let options = builder.options_mut();
    options.timeout = TIMEOUT;
    options.attempts = ATTEMPTS;
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.edns0 = true;
    builder.build()
}

fn name_server(address: &SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

#[async_trait]
impl TxtResolver for Dns {
    async fn txt(&self, name: &str) -> Result<Vec<String>, LookupError> {
        // With the dot at its end, no search domain of the system is added.
        match self.0.txt_lookup(format!("{name}.")).await {
            Ok(found) => Ok(found.answers().iter().filter_map(|record| text(&record.data)).collect()),
            Err(NetError::Dns(DnsError::NoRecordsFound(none)))
                if matches!(none.response_code, ResponseCode::NoError | ResponseCode::NXDomain) =>
            {
                Ok(Vec::new())
            }
            Err(error) => {
                tracing::debug!(name, %error, "a record could not be looked up");
                Err(LookupError(reason(&error)))
            }
        }
    }
}

fn text(data: &RData) -> Option<String> {
    let RData::TXT(record) = data else { return None };
    Some(String::from_utf8_lossy(&record.txt_data.concat()).into_owned())
}

/// Returns the reason for the people of a tenant, which says nothing about the network of this server.
fn reason(error: &NetError) -> String {
    match error {
        NetError::Dns(DnsError::ResponseCode(code)) => format!("the name servers answered {code}"),
        NetError::Dns(DnsError::NoRecordsFound(none)) => format!("the name servers answered {}", none.response_code),
        NetError::Timeout => "the name servers did not answer in time".to_owned(),
        _ => "the name servers gave no valid answer".to_owned(),
    }
}

/// Checks the domains of all tenants again, each of them once a day, until the server stops. One replica at a time does
/// so.
pub(crate) async fn check_domains(iam: Iam, stop: watch::Receiver<bool>) {
    let checking = async {
        let mut ticks = every(PERIOD);
        loop {
            ticks.tick().await;
            if let Err(error) = round(&iam).await {
                tracing::warn!(%error, "the domains could not be checked; the next round checks them");
            }
        }
    };
    until_stopped(stop, checking).await;
}

async fn round(iam: &Iam) -> iam_core::Result<()> {
    // Without a turn, another replica is checking.
    let Some(turn) = iam.take_turn("domains").await? else { return Ok(()) };
    let checked = iam.check_domains().await;
    turn.end().await;
    checked.map(|_| ())
}
