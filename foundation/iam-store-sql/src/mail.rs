//! The outbox.

use iam_model::context::{RequestContext, UserAgent};
use iam_model::mail::Message;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse, parse_optional};

/// A message as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct MessageRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub kind: String,
    pub email: String,
    pub subject: Option<Uuid>,
    pub link_id: Option<Uuid>,
    pub correlation_id: Option<String>,
    pub ip_address: Option<String>,
    pub user_agent: Option<String>,
    pub attempts: i32,
    pub next_attempt_at: T,
    pub created_at: T,
}

impl<T: StoredMoment> TryFrom<MessageRow<T>> for Message {
    type Error = StoreError;

    fn try_from(row: MessageRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            kind: parse("messages.kind", &row.kind)?,
            to: parse("messages.email", &row.email)?,
            subject: row.subject,
            link_id: row.link_id.map(Into::into),
            context: RequestContext {
                correlation_id: parse_optional("messages.correlation_id", row.correlation_id.as_deref())?,
                ip_address: parse_optional("messages.ip_address", row.ip_address.as_deref())?,
                user_agent: row.user_agent.as_deref().map(UserAgent::new),
            },
            attempts: row.attempts.try_into().map_err(|cause| StoreError::corrupt("messages.attempts", cause))?,
            next_attempt_at: moment("messages.next_attempt_at", row.next_attempt_at)?,
            created_at: moment("messages.created_at", row.created_at)?,
        })
    }
}

/// Converts the rows that can be read. A newer program may have queued the others, and sends them.
pub fn readable<T: StoredMoment>(rows: Vec<MessageRow<T>>) -> Vec<Message> {
    let read = |row: MessageRow<T>| {
        let id = row.id;
        Message::try_from(row).inspect_err(|error| tracing::warn!(%id, %error, "a message cannot be read")).ok()
    };
    rows.into_iter().filter_map(read).collect()
}

/// Implements the ports of the outbox; see [`store`](crate::store). If the tables are distributed, `due` finds messages
/// without locking them, and `claim_one` claims each of them, unless another replica has claimed it meanwhile.
#[macro_export]
macro_rules! mail_ports {
    (
        $store:ident,
        $transaction:ident,
        claim: $claim:literal,
        $(distributed: { due: $due:literal, claim_one: $claim_one:literal $(,)? },)?
        postpone: $postpone:literal,
        remove: $remove:literal,
        lock_queued: $lock_queued:literal,
        insert: $insert:literal,
        put_queued: $put_queued:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::change::MailChange;
            use iam_model::clock::Timestamp;
            use iam_model::context::{CorrelationId, UserAgent};
            use iam_model::id::{LinkId, TenantId};
            use iam_model::mail::{MailKind, Message};
            use iam_model::store::{MailStore, MailTransaction};
            use iam_model::store_error::StoreError;
            use iam_model::validate::EmailKey;
            use $crate::column::StoredMoments as _;
            use $crate::store::SqlStore;

            type Row = $crate::mail::MessageRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl MailStore for $store {
                async fn claim_messages(
                    &self,
                    now: Timestamp,
                    until: Timestamp,
                    limit: u32,
                ) -> Result<Vec<Message>, StoreError> {
                    let (now, until) = ($store::stored(now), $store::stored(until));
                    $(
                        if self.is_distributed().await? {
                            let due = sqlx::query!($due, now, i64::from(limit));
                            let mut claimed = Vec::new();
                            for due in self.answer(due.fetch_all(&self.reads())).await? {
                                let claim = sqlx::query_as!(Row, $claim_one, due.tenant_id, due.id, now, until);
                                claimed.extend(self.answer(claim.fetch_optional(&self.writes())).await?);
                            }
                            return Ok($crate::mail::readable(claimed));
                        }
                    )?
                    let rows = sqlx::query_as!(Row, $claim, now, until, i64::from(limit));
                    let rows = self.answer(rows.fetch_all(&self.writes())).await?;
                    Ok($crate::mail::readable(rows))
                }

                async fn postpone_message(
                    &self,
                    message: &Message,
                    next_attempt_at: Timestamp,
                ) -> Result<(), StoreError> {
                    let update = sqlx::query!(
                        $postpone,
                        message.tenant_id.as_uuid(),
                        message.id.as_uuid(),
                        message.attempts.cast_signed(),
                        $store::stored(next_attempt_at)
                    );
                    self.answer(update.execute(&self.writes())).await.map(drop)
                }

                async fn remove_message(&self, message: &Message) -> Result<(), StoreError> {
                    let delete = sqlx::query!(
                        $remove,
                        message.tenant_id.as_uuid(),
                        message.id.as_uuid(),
                        message.attempts.cast_signed()
                    );
                    self.answer(delete.execute(&self.writes())).await.map(drop)
                }
            }

            #[async_trait::async_trait]
            impl MailTransaction for $transaction {
                async fn lock_queued_messages(
                    &mut self,
                    counted_in: TenantId,
                    kind: MailKind,
                    to: &EmailKey,
                ) -> Result<Vec<Timestamp>, StoreError> {
                    let row = sqlx::query!($lock_queued, counted_in.as_uuid(), to.as_str(), kind.as_str());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    let moments = row.map(|row| row.queued_at.moments("queued_messages.queued_at")).transpose()?;
                    Ok(moments.unwrap_or_default())
                }
            }

            impl $transaction {
                pub(crate) async fn write_mail(&mut self, change: &MailChange) -> Result<(), StoreError> {
                    match change {
                        MailChange::Queue { message, counted_in, queued_at } => {
                            self.queue_message(message, *counted_in, queued_at).await
                        }
                    }
                }

                // Unlike other statements, these two do not bind the tenant of the unit of work: a request for all
                // accounts with an address has no tenant, and messages to an address are counted for all tenants
                // together.
                async fn queue_message(
                    &mut self,
                    message: &Message,
                    counted_in: TenantId,
                    queued_at: &[Timestamp],
                ) -> Result<(), StoreError> {
                    let context = &message.context;
                    let insert = sqlx::query!(
                        $insert,
                        message.tenant_id.as_uuid(),
                        message.id.as_uuid(),
                        message.kind.as_str(),
                        message.to.as_str(),
                        message.subject,
                        message.link_id.map(LinkId::as_uuid),
                        context.correlation_id.as_ref().map(CorrelationId::as_str),
                        context.ip_address.map(|address| address.to_string()),
                        context.user_agent.as_ref().map(UserAgent::as_str),
                        message.attempts.cast_signed(),
                        $store::stored(message.next_attempt_at),
                        $store::stored(message.created_at)
                    );
                    insert.execute(self.connection()).await.map_err($store::store_error)?;
                    let queued_at = $store::stored_list(queued_at);
                    let email = message.to.key();
                    let put = sqlx::query!(
                        $put_queued,
                        counted_in.as_uuid(),
                        email.as_str(),
                        message.kind.as_str(),
                        &queued_at
                    );
                    put.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }
            }
        };
    };
}
