use async_trait::async_trait;
use iam_model::change::MailChange;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::mail::{Lane, MailKind, Message, SentMessages, claim_in_turn};
use iam_model::store::{MailStore, MailTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;

use crate::state::{MemoryStore, MemoryTransaction, State};

#[async_trait]
impl MailStore for MemoryStore {
    async fn claim_messages(&self, now: Timestamp, until: Timestamp, limit: u32) -> Result<Vec<Message>, StoreError> {
        // A unit of work may have locked a message.
        let _writer = self.writer.lock().await;
        Ok(self.change(|state| claim_in_turn(state.outbox.values_mut(), (now, until), limit)))
    }

    async fn count_sent_message(
        &self,
        tenant: TenantId,
        lane: Lane,
        now: Timestamp,
        limit: u64,
    ) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.change(|state| {
            let counted = state.sent_mail.get(&tenant).copied();
            match SentMessages::with_another(counted, lane, now, limit) {
                Some(more) => {
                    state.sent_mail.insert(tenant, more);
                    None
                }
                None => counted.map(|counted| counted.ends_at()),
            }
        }))
    }

    async fn return_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError> {
        self.change_claimed(message, |stored| {
            stored.attempts -= 1;
            (stored.next_attempt_at, stored.claimed_until) = (next_attempt_at, None);
        });
        Ok(())
    }

    async fn postpone_message(&self, message: &Message, next_attempt_at: Timestamp) -> Result<(), StoreError> {
        self.change_claimed(message, |stored| {
            (stored.next_attempt_at, stored.claimed_until) = (next_attempt_at, None);
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

impl MemoryStore {
    /// Changes a message, unless another call has claimed it since.
    fn change_claimed(&self, message: &Message, change: impl FnOnce(&mut Message)) {
        self.change(|state| {
            let stored = state.outbox.get_mut(&message.id).filter(|stored| stored.attempts == message.attempts);
            stored.map(change);
        });
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
            MailChange::Renew { .. } => None,
        });
        Ok(own.unwrap_or_else(|| self.store.read(|state| state.queued_mail.get(&key).cloned().unwrap_or_default())))
    }

    async fn lock_waiting_message(&mut self, like: &Message, now: Timestamp) -> Result<Option<Message>, StoreError> {
        let waiting = |state: &State| state.outbox.values().find(|stored| stored.is_waiting_like(like, now)).cloned();
        Ok(self.store.read(waiting))
    }
}

impl State {
    pub(super) fn write_mail(&mut self, change: MailChange) {
        match change {
            MailChange::Queue { message, counted_in, queued_at } => {
                self.queued_mail.insert((counted_in, message.to.key(), message.kind), queued_at);
                self.outbox.insert(message.id, message);
            }
            MailChange::Renew { message } => {
                self.outbox.insert(message.id, message);
            }
        }
    }
}
