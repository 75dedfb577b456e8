//! The nightly job: closes overdue invoices, and records each in the audit log.

use chrono::NaiveDate;
use iam_core::audit::NewEvent;
use iam_core::idempotency::Idempotency;
use iam_core::{Caller, CorrelationId, Iam, RequestContext};
use serde_json::{Map, Value, json};

use crate::Result;
use crate::billing::{Billing, Invoice};

/// The reason is part of the caller's identity, and an idempotency key is valid for one caller. With another reason,
/// every key would count as new.
const REASON: &str = "close overdue invoices";

/// The most invoices in one round. It is bounded because a stop of the worker waits for the end of the round.
const BATCH: u32 = 100;

/// Closes overdue invoices. Returns their number.
pub(crate) async fn close_overdue(iam: &Iam, billing: &Billing, today: NaiveDate) -> Result<usize> {
    // One correlation id for the whole run. It finds the run's work in the audit log and in the program's log.
    let correlation_id: CorrelationId = format!("close-overdue-{today}").parse()?;
    let overdue = billing.overdue(today, BATCH).await?;
    for invoice in &overdue {
        // The order matters: every closed invoice is recorded. If a run ends between the two steps, the invoice is
        // still open, so the next run repeats both steps.
        record(iam, invoice, &correlation_id).await?;
        billing.close(invoice).await?;
    }
    Ok(overdue.len())
}

/// Records the event once, even if it is repeated within a day. If the invoices were in IAM's database, one transaction
/// could record the event and close the invoice. `examples/mount` shows that.
pub(crate) async fn record(iam: &Iam, invoice: &Invoice, correlation_id: &CorrelationId) -> Result<()> {
    let once = Idempotency::new(format!("close/{}", invoice.number).parse()?, &invoice.number);
    let context = RequestContext { correlation_id: Some(correlation_id.clone()), ..RequestContext::default() };
    let caller = Caller::system(invoice.tenant(), REASON).in_context(context);
    let event = NewEvent {
        action: "CLOSED".to_owned(),
        resource_type: "INVOICE".to_owned(),
        resource_id: Some(invoice.number.clone()),
        metadata: Map::from_iter([
            ("before".to_owned(), json!({ "status": "OPEN" })),
            ("after".to_owned(), json!({ "status": "CLOSED" })),
            ("dueOn".to_owned(), Value::from(invoice.due_on.to_string())),
        ]),
    };
    let entry = iam.audit().log_once(&caller, event, Some(&once)).await?;
    tracing::info!(%correlation_id, invoice = invoice.number, entry = %entry.id, replayed = once.was_replayed(), "closed");
    Ok(())
}
