//! The command `serve`.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;
use futures_util::future::join;
use iam_axum::{Metrics, with_conventions};
use iam_core::Iam;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use url::Url;

use crate::background::{keep_running, until_stopped};
use crate::failure::Failure;
use crate::follow::{self, follow};
use crate::mail::{MailMetrics, deliver};
use crate::net::Answers;
use crate::net::connection_limit::Clients;
use crate::sequence::sequence;
use crate::services::build_at;
use crate::settings::{Database, LONGEST_REQUEST, MailRoute, Settings};
use crate::sweep::{SweepMetrics, sweep};
use crate::trace::Traces;
use crate::{access_request, deletion, dns, federation, net, store, webhook};

/// How long a server that stops waits for requests in flight: the longest time of a request, and two seconds to write
/// its answer.
const STOP_TIMEOUT: Duration = LONGEST_REQUEST.saturating_add(Duration::from_secs(2));

/// Allows as many open files as the system permits: each client and each receiver of a webhook has a connection.
fn raise_open_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
}

/// Migrates the database and serves until a SIGTERM or SIGINT. Then finishes the requests in flight.
///
/// The server answers from the start: a migration may take long or wait for another replica, and probes must see that
/// the process is alive.
pub(crate) async fn serve(settings: Settings) -> Result<(), Failure> {
    let tls = match &settings.tls {
        Some((certificates, key)) => Some(net::tls(certificates, key)?),
        None => None,
    };
    if let Some(file) = &settings.deletions_file {
        deletion::check(file)?;
    }
    raise_open_files();
    let listener = listen(settings.listen).await?;
    let metrics_listener = match settings.metrics_listen {
        Some(address) => Some(listen(address).await?),
        None => None,
    };
    let address = listener.local_addr().map_err(|error| Failure::new("listening", &error))?;
    let stop = stop_signal()?;
    let clients = Clients::new(settings.client_connections, settings.http.trusted_proxies.clone());
    let answers = |has_tls| Answers::starting(iam_axum::starting(settings.http.clone()), &settings.http, has_tls);
    let (answers, metrics_answers) = (answers(tls.is_some()), answers(false));
    let stopped = until_stopped(stop.clone(), pending());
    let serving = tokio::spawn(net::serve(listener, answers.clone(), tls, clients.clone(), stopped));
    let has_metrics_listener = metrics_listener.is_some();
    if let Some(listener) = metrics_listener {
        let stopped = until_stopped(stop.clone(), pending());
        tokio::spawn(net::serve(listener, metrics_answers.clone(), None, clients, stopped));
    }
    tracing::debug!("starting at {}", base_of(&settings, address));
    let metrics = Metrics::new().map_err(|error| Failure::new("metrics", &error))?;
    let sweeps = SweepMetrics::new(metrics.registry()).map_err(|error| Failure::new("metrics", &error))?;
    let deliveries = MailMetrics::new(metrics.registry()).map_err(|error| Failure::new("metrics", &error))?;
    let changes_heard = follow::gauge(metrics.registry()).map_err(|error| Failure::new("metrics", &error))?;
    let (iam, traces) = tokio::select! {
        started = start(&settings, address, metrics.clone()) => started?,
        // No request has reached the services yet.
        () = until_stopped(stop.clone(), pending()) => return Ok(()),
    };
    let (followed, stopped) = (iam.clone(), stop.clone());
    keep_running("follow", move || follow(followed.clone(), changes_heard.clone(), stopped.clone()));
    let (sequencer, stopped) = (iam.clone(), stop.clone());
    keep_running("sequence", move || sequence(sequencer.clone(), stopped.clone()));
    let (swept, stopped, sweeps) = (iam.clone(), stop.clone(), Arc::new(sweeps));
    let advances = Arc::clone(&sweeps);
    keep_running("sweep", move || sweep(swept.clone(), Arc::clone(&sweeps), stopped.clone()));
    let (advanced, stopped) = (iam.clone(), stop.clone());
    keep_running("access requests", move || {
        access_request::advance(advanced.clone(), Arc::clone(&advances), stopped.clone())
    });
    let (mailed, stopped, deliveries) = (iam.clone(), stop.clone(), Arc::new(deliveries));
    let mailing = keep_running("mail", move || deliver(mailed.clone(), Arc::clone(&deliveries), stopped.clone()));
    let (sending, stopped) = (iam.clone(), stop.clone());
    let sending = keep_running("webhooks", move || webhook::deliver(sending.clone(), stopped.clone()));
    let (checked, stopped) = (iam.clone(), stop.clone());
    keep_running("domains", move || dns::check_domains(checked.clone(), stopped.clone()));
    let (deleting, stopped, deletions) = (iam.clone(), stop.clone(), settings.deletions_file.clone());
    keep_running("tenant deletions", move || {
        deletion::delete_tenants(deleting.clone(), deletions.clone(), stopped.clone())
    });
    let mut api = settings.http.clone();
    if has_metrics_listener {
        metrics_answers.ready(metrics.router(iam.clone()));
        api.shows_metrics = false;
    }
    api.metrics = Some(metrics);
    // Without TLS, it is the host that a request names: the server may not know its name.
    let own_url = settings.tls.is_some().then(|| base_of(&settings, address));
    api.public_url = settings.public_url.clone().or(own_url);
    if settings.shows_console {
        api.login_page = Some("/console".to_owned());
        api.login_by_link = Some("/console/sign-in/link".to_owned());
    }
    let console = settings.shows_console.then(|| console(iam.clone(), api.clone(), settings.public_url.as_deref()));
    let router = iam_axum::service(iam.clone(), api).merge(console.unwrap_or_default());
    answers.ready(traces.layer(router));
    announce(&settings, address, &iam).await;
    let finished = async {
        let _ended = serving.await;
        // What is being sent would otherwise be sent twice.
        let _ended = join(mailing, sending).await;
    };
    run(finished, iam, stop).await;
    traces.finish().await;
    tracing::info!("stopped");
    Ok(())
}

/// Opens and migrates the store, and builds the services.
async fn start(settings: &Settings, address: SocketAddr, metrics: Metrics) -> Result<(Iam, Traces), Failure> {
    let store = store::open(&settings.database).await?;
    let traces = Traces::new(settings)?;
    let observer = traces.observer(metrics, store.kind());
    let mut builder = Iam::builder(store).observer(observer);
    if let Some(sender) = webhook::sender(settings.webhooks_allow_private) {
        builder = builder.webhooks(sender);
    }
    if let Some(resolver) = dns::resolver(&settings.dns_servers) {
        builder = builder.resolver(resolver);
    }
    if let Some(client) = federation::client(settings.federation_allow_private) {
        builder = builder.federation(client, federation::callbacks(settings, address)?);
    }
    Ok((build_at(builder, settings, address).await?, traces))
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| Failure::new(format!("listening on {address}"), &error))
}

/// Returns the console, to which the root leads.
fn console(iam: Iam, api: iam_axum::Settings, public_url: Option<&str>) -> Router {
    let mut settings = iam_console::Settings::default();
    settings.origin = public_url.and_then(|url| Some(Url::parse(url).ok()?.origin().ascii_serialization()));
    let root = Redirect::to(&settings.path);
    let root = with_conventions(Router::new().route("/", get(async move || root)), api.clone());
    settings.api = api;
    root.merge(iam_console::router(iam, settings))
}

fn base_of(settings: &Settings, address: SocketAddr) -> String {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{address}")
}

async fn announce(settings: &Settings, address: SocketAddr, iam: &Iam) {
    let (base, prefix) = (base_of(settings, address), &settings.http.prefix);
    tracing::info!(store = iam.store_kind(), "listening on {base}{prefix}");
    if settings.http.shows_docs {
        tracing::info!("Swagger UI is at {base}/docs");
    }
    if settings.shows_console {
        tracing::info!("the console is at {base}/console");
    }
    if matches!(settings.database, Database::Memory) {
        tracing::warn!("all data is only in memory and is lost when the server stops");
    }
    match settings.mail.as_ref().map(|mail| &mail.route) {
        None => tracing::info!("mail is off: neither smtp_url nor mail_dir is set"),
        Some(MailRoute::Directory(directory)) => {
            tracing::info!("messages are written into {} and not sent", directory.display());
        }
        Some(MailRoute::Smtp(_)) => {}
    }
    if settings.federation_allow_private {
        tracing::warn!("federation_allow_private is on: identity providers can be in the network of this server");
    }
    if settings.webhooks_allow_private {
        tracing::warn!("webhooks_allow_private is on: webhooks can reach the network of this server");
    }
    if !matches!(iam.is_empty().await, Ok(true)) {
        return;
    }
    if settings.iam.registration {
        tracing::info!(
            "there is no tenant yet; register the first: curl -X POST {base}{prefix}/auth/register \
             -H 'Content-Type: application/json' -d '{{\"email\":\"ada@example.com\",\"password\":\"Passw0rd!\",\
             \"firstName\":\"Ada\",\"lastName\":\"Lovelace\"}}'"
        );
    } else {
        tracing::info!("there is no tenant yet; create the first with `iam-server tenant create`");
    }
}

async fn run(serving: impl Future<Output = ()>, iam: Iam, mut stop: watch::Receiver<bool>) {
    let finished = async {
        serving.await;
        iam.close().await;
    };
    let too_late = async {
        let _ = stop.wait_for(|stop| *stop).await;
        tracing::info!("stopping: waiting for requests in flight");
        // Those that wait for events are answered, and streams of events end.
        iam.end_feeds();
        tokio::time::sleep(STOP_TIMEOUT).await;
    };
    tokio::select! {
        () = finished => {}
        () = too_late => tracing::warn!("requests that took over {} seconds were cancelled", STOP_TIMEOUT.as_secs()),
    }
}

/// Returns a receiver whose value becomes true at the first SIGTERM or SIGINT.
fn stop_signal() -> Result<watch::Receiver<bool>, Failure> {
    let failed = |error| Failure::new("waiting for signals", &error);
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        sender.send_replace(true);
        // A task that still waits would take a dropped sender for a signal.
        sender.closed().await;
    });
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use iam_core::{Caller, TenantId};
    use iam_store_memory::MemoryStore;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn stopping_waits_for_the_longest_request_and_not_for_ever() {
        let (stop, stopped) = watch::channel(false);
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        stop.send_replace(true);
        let mut running = Box::pin(run(pending(), iam, stopped));
        assert!(timeout(LONGEST_REQUEST, running.as_mut()).await.is_err());
        timeout(10 * LONGEST_REQUEST, running).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn stopping_does_not_wait_for_events() {
        let (stop, stopped) = watch::channel(false);
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        let waiting = iam.clone();
        let serving = async move {
            let caller = Caller::system(TenantId::NONE, "test");
            waiting.audit().follow(&caller, None, 1).next().await.unwrap();
        };
        stop.send_replace(true);
        timeout(Duration::from_secs(1), run(serving, iam, stopped)).await.unwrap();
    }
}
