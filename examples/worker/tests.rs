use std::future::ready;

use chrono::Days;
use iam_core::Caller;
use iam_core::audit::AuditFilter;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;

async fn worker() -> (TempDir, Worker, TenantId) {
    let directory = tempfile::tempdir().unwrap();
    let worker = Worker::open(directory.path()).await.unwrap();
    let tenant = create_invoices(&worker).await.unwrap();
    (directory, worker, tenant)
}

impl Worker {
    async fn entries(&self, tenant: TenantId, filter: AuditFilter) -> Vec<AuditEntry> {
        let log = self.iam.audit().list(&Caller::system(tenant, "test"), filter, None, 100).await;
        log.unwrap().entries
    }

    async fn closed(&self, tenant: TenantId) -> Vec<AuditEntry> {
        self.entries(tenant, AuditFilter { action: Some("CLOSED".into()), ..AuditFilter::default() }).await
    }
}

#[tokio::test]
async fn an_overdue_invoice_is_closed_and_recorded_once() {
    let (_directory, worker, tenant) = worker().await;
    let today = worker.today();
    assert_eq!(job::close_overdue(&worker.iam, &worker.billing, today).await.unwrap(), 1);
    assert_eq!(job::close_overdue(&worker.iam, &worker.billing, today).await.unwrap(), 0);

    let correlation_id = Some(format!("close-overdue-{today}").parse().unwrap());
    let entries = worker.entries(tenant, AuditFilter { correlation_id, ..AuditFilter::default() }).await;
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!((&*entry.action, entry.resource_id.as_deref()), ("CLOSED", Some("2026-1")));
    assert_eq!(entry.metadata["before"]["status"], "OPEN");
    assert_eq!(entry.metadata["after"]["status"], "CLOSED");
    assert_eq!(entry.metadata["system"], "close overdue invoices");
    assert_eq!(entry.user_id, None);
}

#[tokio::test]
async fn an_entry_is_forwarded_as_one_line_with_an_event_of_ocsf() {
    let (_directory, worker, tenant) = worker().await;
    job::close_overdue(&worker.iam, &worker.billing, worker.today()).await.unwrap();
    let closed = &worker.closed(tenant).await[0];
    let line = line(closed).unwrap();
    let event: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((line.lines().count(), &event["class_uid"]), (1, &serde_json::json!(6003)));
    assert_eq!(event["metadata"]["uid"], closed.id.to_string());
    assert_eq!(event["unmapped"]["metadata"]["after"]["status"], "CLOSED");
}

#[tokio::test]
async fn a_run_after_an_incomplete_run_adds_no_second_entry() {
    let (directory, worker, tenant) = worker().await;
    let invoices = worker.billing.overdue(worker.today(), 1).await.unwrap();
    // The event is recorded, but the invoice is not closed.
    job::record(&worker.iam, &invoices[0], &"night-1".parse().unwrap()).await.unwrap();
    worker.iam.close().await;

    let worker = Worker::open(directory.path()).await.unwrap();
    assert_eq!(job::close_overdue(&worker.iam, &worker.billing, worker.today()).await.unwrap(), 1);
    let entries = worker.closed(tenant).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].context.correlation_id, Some("night-1".parse().unwrap()));
    assert!(worker.billing.overdue(worker.today(), 1).await.unwrap().is_empty());
}

#[tokio::test]
async fn every_entry_is_forwarded_once_and_in_order_across_a_restart() {
    let (directory, worker, tenant) = worker().await;
    let mut forwarded = Vec::new();
    let mut keep = async |entry: &AuditEntry| -> Result<()> {
        forwarded.push(entry.id);
        Ok(())
    };
    worker.round(&mut keep).await.unwrap();
    worker.round(&mut keep).await.unwrap();
    worker.iam.close().await;

    let worker = Worker::open(directory.path()).await.unwrap();
    worker.billing.add(&Invoice::new("2026-3", tenant, worker.today() - Days::new(1))).await.unwrap();
    worker.round(&mut keep).await.unwrap();
    let log = worker.entries(tenant, AuditFilter::default()).await;
    assert_eq!(log[0].resource_id.as_deref(), Some("2026-3"));
    assert_eq!(forwarded, log.iter().rev().map(|entry| entry.id).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_failed_batch_is_delivered_again_from_its_start() {
    let (_directory, worker, tenant) = worker().await;
    let (mut forwarded, mut fails) = (Vec::new(), true);
    let mut deliver = async |entry: &AuditEntry| -> Result<()> {
        if entry.action == "CLOSED" && std::mem::take(&mut fails) {
            return Err("the other system is down".into());
        }
        forwarded.push(entry.id);
        Ok(())
    };
    worker.round(&mut deliver).await.unwrap_err();
    worker.round(&mut deliver).await.unwrap();
    // The entries before the failed one are delivered twice, and no entry is missing.
    let all: Vec<_> = worker.entries(tenant, AuditFilter::default()).await.iter().rev().map(|entry| entry.id).collect();
    let (first, second) = forwarded.split_at(all.len() - 1);
    assert_eq!((first, second), (&all[..all.len() - 1], &*all));
}

#[tokio::test]
async fn a_stop_waits_for_the_current_round_and_starts_no_other() {
    let (_directory, worker, tenant) = worker().await;
    let (stop, stopped) = oneshot::channel::<()>();
    let mut stop = Some(stop);
    let mut count = 0;
    let mut deliver = async |_: &AuditEntry| -> Result<()> {
        drop(stop.take());
        tokio::task::yield_now().await;
        count += 1;
        Ok(())
    };
    let stopped = async { drop(stopped.await) };
    worker.run(Duration::from_millis(1), stopped, &mut deliver).await;
    assert_eq!(count, worker.entries(tenant, AuditFilter::default()).await.len());

    worker.run(Duration::from_millis(1), ready(()), &mut async |_: &AuditEntry| panic!("it ran after the stop")).await;
}
