//! The measured processes.

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use iam_benches::{MASTER_KEY, Outcome};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::client::{Connection, request};

const START: Duration = Duration::from_secs(30);
const STOP: Duration = Duration::from_secs(10);

/// A process that serves HTTP. It is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    /// Starts the server on a database.
    pub(crate) async fn server(database_url: &str) -> Outcome<Self> {
        Self::server_with(database_url, &[], Stdio::inherit()).await
    }

    /// Starts the server with additional settings, and with its log at this destination.
    pub(crate) async fn server_with(database_url: &str, settings: &[(&str, &str)], log: Stdio) -> Outcome<Self> {
        let address = free_address().await?;
        let mut command = Command::new(sibling_program("iam-server")?);
        // The environment contains only these variables, so other settings have no effect.
        command.env_clear().env("IAM_LOG", "warn").env("IAM_MASTER_KEY", MASTER_KEY).env("IAM_RATE_LIMITS", "off");
        command.env("IAM_DATABASE_URL", database_url).env("IAM_LISTEN", address.to_string());
        command.envs(settings.iter().copied()).stderr(log);
        Self::start(&mut command, address).await
    }

    /// Starts the router with the least hashing cost, on a database that the server has filled.
    pub(crate) async fn router(database_url: &str) -> Outcome<Self> {
        let address = free_address().await?;
        Self::start(&mut Self::hidden("router", database_url, address)?, address).await
    }

    /// Starts the floor on a database that the server has filled.
    pub(crate) async fn floor(database_url: &str, tenant: Uuid) -> Outcome<Self> {
        let address = free_address().await?;
        let mut command = Self::hidden("floor", database_url, address)?;
        Self::start(command.args(["--tenant", &tenant.to_string()]), address).await
    }

    /// This program again, as the floor or the router.
    fn hidden(what: &str, database_url: &str, listen: SocketAddr) -> Outcome<Command> {
        let mut command = Command::new(env::current_exe()?);
        command.env_clear().arg(what).args(["--database-url", database_url, "--listen", &listen.to_string()]);
        Ok(command)
    }

    async fn start(command: &mut Command, address: SocketAddr) -> Outcome<Self> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let child = child.map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let mut process = Self { child, address };
        timeout(START, process.ready()).await??;
        Ok(process)
    }

    /// Waits until the process answers that it is ready.
    async fn ready(&mut self) -> Outcome {
        while !is_ready(self.address).await {
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("a process ended before it was ready: {status}").into());
            }
            sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }

    /// The resident memory of the process, in MiB.
    pub(crate) fn resident_memory(&self) -> Outcome<f64> {
        self.memory("VmRSS:")
    }

    /// The peak of the resident memory, in MiB.
    pub(crate) fn peak_memory(&self) -> Outcome<f64> {
        self.memory("VmHWM:")
    }

    fn memory(&self, key: &str) -> Outcome<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let size = status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let kib = size.and_then(|size| size.strip_suffix(" kB")).ok_or_else(|| format!("there is no {key}"))?;
        Ok(kib.parse::<f64>()? / 1024.0)
    }

    /// Asks the process to stop, and waits until it has ended.
    pub(crate) async fn stop(mut self) -> Outcome {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let began = Instant::now();
        while self.child.try_wait()?.is_none() {
            if began.elapsed() > STOP {
                return Err("a process does not stop".into());
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // This fails if the process has already ended, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn is_ready(address: SocketAddr) -> bool {
    let Ok(mut connection) = Connection::open(address).await else {
        return false;
    };
    let answer = connection.ask(&request("GET", "/health/ready", "", None)).await;
    answer.is_ok_and(|answer| answer.status == 200)
}

/// A program that was built together with this one.
fn sibling_program(name: &str) -> Outcome<PathBuf> {
    Ok(env::current_exe()?.with_file_name(name))
}

/// A loopback address with a free port.
async fn free_address() -> Outcome<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0").await?.local_addr()?)
}
