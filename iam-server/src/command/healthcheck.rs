//! The command that asks the server of this machine whether it is well: for images, which have no HTTP client.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::failure::Failure;
use crate::settings::Settings;

/// How long the server may take. It waits up to four seconds for its database.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Fails unless the server at the address of the settings answers 200. If it does TLS, only the connection is tried,
/// because its certificate is for another name.
pub(crate) fn healthcheck(path: &str, settings: &Settings) -> Result<(), Failure> {
    let address = on_this_machine(settings.listen);
    let failed = |error: std::io::Error| Failure::new(format!("asking {address} for {path}"), &error);
    let mut connection = TcpStream::connect_timeout(&address, TIMEOUT).map_err(failed)?;
    if settings.tls.is_some() {
        return Ok(());
    }
    connection.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).map_err(failed)?;
    let mut line = String::new();
    BufReader::new(connection).read_line(&mut line).map_err(failed)?;
    match line.split(' ').nth(1) {
        Some("200") => Ok(()),
        status => Err(Failure(format!("{path} answers {}", status.unwrap_or("nothing")))),
    }
}

/// Returns where a server that listens on all addresses answers on this machine.
fn on_this_machine(listen: SocketAddr) -> SocketAddr {
    let ip: IpAddr = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
