//! The nightly job: closes overdue invoices, and has each on record.

use chrono::NaiveDate;
use iam_core::audit::NewEvent;
use iam_core::idempotency::Idempotency;
use iam_core::{Caller, CorrelationId, Iam, RequestContext};
use serde_json::{Map, Value, json};

use crate::Result;
use crate::billing::{Billing, Invoice};

/// Part of who acts, and so of what an idempotency key stands for: another reason would make every key a new one.
const REASON: &str = "close overdue invoices";

/// So many at once, because whoever stops the worker waits for those that were begun.
const BATCH: u32 = 100;

/// Closes what is overdue, and tells how many that were.
pub(crate) async fn close_overdue(iam: &Iam, billing: &Billing, today: NaiveDate) -> Result<usize> {
    // Finds all that one run has done, in the audit log and in the lines that are logged.
    let correlation_id: CorrelationId = format!("close-overdue-{today}").parse()?;
    let overdue = billing.overdue(today, BATCH).await?;
    for invoice in &overdue {
        // In this order: what is closed is on record for certain. A run that ends in between is repeated by the next one,
        // for which the invoice is still open.
        record(iam, invoice, &correlation_id).await?;
        billing.close(invoice).await?;
    }
    Ok(overdue.len())
}

/// Has it on record once, however often it is repeated within a day. In one database with IAM, one transaction would do
/// both; `examples/mount` has that.
pub(crate) async fn record(iam: &Iam, invoice: &Invoice, correlation_id: &CorrelationId) -> Result<()> {
    let once = Idempotency::new(format!("close/{}", invoice.number).parse()?, &invoice.number);
    let context = RequestContext { correlation_id: Some(correlation_id.clone()), ..RequestContext::default() };
    let caller = Caller::system(invoice.tenant(), REASON).in_context(context).with_idempotency(once.clone());
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
    let entry = iam.audit().log(&caller, event).await?;
    tracing::info!(%correlation_id, invoice = invoice.number, entry = %entry.id, replayed = once.was_replayed(), "closed");
    Ok(())
}
