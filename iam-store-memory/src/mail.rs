use async_trait::async_trait;
use iam_model::change::MailChange;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::mail::{MailKind, Message};
use iam_model::store::{MailStore, MailTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;

use crate::state::{MemoryStore, MemoryTransaction, State};

#[async_trait]
impl MailStore for MemoryStore {
    async fn claim_messages(&self, now: Timestamp, until: Timestamp, limit: u32) -> Result<Vec<Message>, StoreError> {
        Ok(self.change(|state| {
            let mut due: Vec<&mut Message> =
                state.outbox.values_mut().filter(|message| message.next_attempt_at <= now).collect();
            due.sort_by_key(|message| (message.next_attempt_at, message.id));
            due.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            let claim = |message: &mut Message| {
                message.attempts += 1;
                message.next_attempt_at = until;
                message.clone()
            };
            due.into_iter().map(claim).collect()
        }))
    }

    async fn postpone_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError> {
        self.change(|state| {
            let stored = state.outbox.get_mut(&message.id).filter(|stored| stored.attempts == message.attempts);
            if let Some(stored) = stored {
                stored.next_attempt_at = next_attempt_at;
            }
        });
        Ok(())
    }

    async fn remove_message(&self, message: &Message) -> Result<(), StoreError> {
        self.change(|state| {
            if state.outbox.get(&message.id).is_some_and(|stored| stored.attempts == message.attempts) {
                state.outbox.remove(&message.id);
            }
        });
        Ok(())
    }
}

#[async_trait]
impl MailTransaction for MemoryTransaction {
    async fn lock_queued_messages(
        &mut self,
        counted_in: TenantId,
        kind: MailKind,
        to: &EmailKey,
    ) -> Result<Vec<Timestamp>, StoreError> {
        let key = (counted_in, to.clone(), kind);
        let own = self.mail.iter().rev().find_map(|change| match change {
            MailChange::Queue { message, counted_in, queued_at } => {
                ((*counted_in, message.to.key(), message.kind) == key).then(|| queued_at.clone())
            }
        });
        Ok(own.unwrap_or_else(|| self.store.read(|state| state.queued_mail.get(&key).cloned().unwrap_or_default())))
    }
}

impl State {
    pub(super) fn write_mail(&mut self, change: MailChange) {
        match change {
            MailChange::Queue { message, counted_in, queued_at } => {
                self.queued_mail.insert((counted_in, message.to.key(), message.kind), queued_at);
                self.outbox.insert(message.id, message);
            }
        }
    }
}
