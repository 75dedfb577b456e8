//! The line in which messages wait to be sent: tenants take turns (`docs/operating.md#mail`).
//!
//! A message enters the line when it is due, with a turn. Messages are sent in the order of their turns, those of the
//! urgent lane first. The messages of a tenant have successive turns, and a tenant that has none in the line begins
//! after the turn that is next. So however many messages of one tenant wait, the message of another tenant is sent
//! after one round, and a tenant can neither save up turns nor lose its place.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Timestamp;
use crate::id::TenantId;
use crate::mail::{MailKind, Message};
use crate::validate::EmailKey;

/// The part of the line in which a message waits. All of the first part goes before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// For persons who wait for a message, or must learn of a change.
    Urgent,
    /// For invitations and messages that ask for access, of which a tenant can send many at once.
    Invitations,
}

impl Lane {
    /// Returns the lane for messages of a kind.
    #[must_use]
    pub fn of(kind: MailKind) -> Self {
        match kind {
            MailKind::Verify
            | MailKind::Reset
            | MailKind::Login
            | MailKind::PasswordChanged
            | MailKind::EmailChanged
            | MailKind::NewLoginBlocked
            | MailKind::FactorAdded
            | MailKind::FactorRemoved
            | MailKind::RecoveryCodesReplaced
            | MailKind::RecoveryCodeUsed
            | MailKind::ApiKeyCreated
            | MailKind::IdentityLinked
            | MailKind::ImpersonationStarted
            | MailKind::AccessApproved
            | MailKind::AccessDenied
            | MailKind::AccessEnded
            | MailKind::AccessActivated
            | MailKind::TenantDeletionScheduled
            | MailKind::TenantDeletionCancelled => Self::Urgent,
            // Users who ask again and again must not keep the others from a new password.
            MailKind::Invitation | MailKind::AccessRequested => Self::Invitations,
        }
    }

    /// Returns the number of the lane, for databases. The line is in the order of the numbers.
    #[must_use]
    pub fn number(self) -> i64 {
        match self {
            Self::Urgent => 0,
            Self::Invitations => 1,
        }
    }
}

/// How many successive turns are claimed at once: of one tenant, at most this many messages are sent at the same time.
pub const TURNS_AT_ONCE: i64 = 4;

/// The maximum number of messages that enter the line at once, so that a transaction stays short.
pub const ENTERING_AT_ONCE: u32 = 2_000;

/// The facts that decide where messages enter the line. A store fills it with the messages in the line, and then gives
/// turns.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The next turn of each lane. Missing if the lane is empty.
    pub next: BTreeMap<Lane, i64>,
    /// The last turn of each tenant in each lane. Missing if it has no message there.
    pub last: BTreeMap<(TenantId, Lane), i64>,
    /// The addresses, each with the kind of its message, for which a message is in the line or is being sent.
    pub busy: BTreeSet<(MailKind, EmailKey)>,
}

impl Line {
    /// Returns the turn of a message that enters the line. `None` if another message of its kind to the same address is
    /// in the line or is being sent: then it enters later. Otherwise, two links of one purpose could arrive in any
    /// order, and the one that arrives last would be the one that does not work any more.
    ///
    /// To be called for the messages of a tenant in the order in which they are due.
    pub fn enter(&mut self, tenant: TenantId, kind: MailKind, to: EmailKey) -> Option<i64> {
        if !self.busy.insert((kind, to)) {
            return None;
        }
        let lane = Lane::of(kind);
        // After the next turn: at that turn, tenants that come back after each message would hold up all others.
        let first = self.next.get(&lane).map_or(0, |next| next + 1);
        self.next.entry(lane).or_insert(first);
        let last = self.last.entry((tenant, lane)).or_insert(first - 1);
        *last = first.max(*last + 1);
        Some(*last)
    }
}

/// Claims the next messages of the line, after the due messages have entered it; for stores that keep all messages in
/// memory. See [`claim_messages`](crate::store::MailStore::claim_messages).
pub fn claim_in_turn<'m>(
    messages: impl IntoIterator<Item = &'m mut Message>,
    (now, until): (Timestamp, Timestamp),
    limit: u32,
) -> Vec<Message> {
    let (mut in_line, mut due, mut line) = (Vec::new(), Vec::new(), Line::default());
    for message in messages {
        let (lane, is_claimed) = (Lane::of(message.kind), message.claimed_until.is_some_and(|until| until > now));
        if is_claimed || message.turn.is_some() {
            line.busy.insert((message.kind, message.to.key()));
        }
        if let Some(turn) = message.turn {
            line.next.entry(lane).and_modify(|next| *next = turn.min(*next)).or_insert(turn);
            line.last.entry((message.tenant_id, lane)).and_modify(|last| *last = turn.max(*last)).or_insert(turn);
            in_line.push(message);
        } else if message.next_attempt_at <= now {
            due.push(message);
        }
    }
    due.sort_by_key(|message| (message.next_attempt_at, message.id));
    for message in due {
        message.turn = line.enter(message.tenant_id, message.kind, message.to.key());
        if message.turn.is_some() {
            in_line.push(message);
        }
    }
    in_line.sort_by_key(|message| (Lane::of(message.kind), message.turn, message.id));
    let place = |message: &Message| (Lane::of(message.kind), message.turn.unwrap_or_default());
    let Some(first) = in_line.first().map(|message| place(message)) else { return Vec::new() };
    let is_next = |message: &&mut Message| {
        let (lane, turn) = place(message);
        lane == first.0 && turn < first.1 + TURNS_AT_ONCE
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    in_line.into_iter().filter(is_next).take(limit).map(|message| message.claim(until)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use uuid::Uuid;

    use super::*;

    fn tenant(number: u128) -> TenantId {
        Uuid::from_u128(number).into()
    }

    fn key(number: usize) -> EmailKey {
        format!("user-{number}@example.com").parse::<crate::validate::Email>().unwrap().key()
    }

    #[test]
    fn a_tenant_without_waiting_messages_begins_after_the_next_turn() {
        let mut line = Line::default();
        let turns: Vec<_> = (0..4).map(|number| line.enter(tenant(1), MailKind::Invitation, key(number))).collect();
        assert_eq!(turns, [0, 1, 2, 3].map(Some));
        // The first three are sent.
        line.next = BTreeMap::from([(Lane::Invitations, 3)]);
        assert_eq!(line.enter(tenant(2), MailKind::Invitation, key(10)), Some(4));
        assert_eq!(line.enter(tenant(2), MailKind::Invitation, key(11)), Some(5));
        assert_eq!(line.enter(tenant(1), MailKind::Invitation, key(12)), Some(4));
        // Each lane has turns of its own.
        assert_eq!(line.enter(tenant(1), MailKind::Reset, key(13)), Some(0));
    }

    /// Whatever waits, and however often a tenant comes back, between two messages of a tenant that always has messages
    /// in the line every other tenant sends at most two.
    #[test]
    fn no_tenant_is_delayed_by_more_than_a_round() {
        let (mut waiting, mut numbers) = (BTreeMap::<(i64, usize), TenantId>::new(), 0..);
        let mut enter = |waiting: &mut BTreeMap<(i64, usize), TenantId>, of: TenantId| {
            let mut line = Line::default();
            for (turn, tenant) in waiting.iter().map(|((turn, _), tenant)| (*turn, *tenant)) {
                line.next.entry(Lane::Urgent).or_insert(turn);
                line.last.insert((tenant, Lane::Urgent), turn);
            }
            let number = numbers.next().unwrap();
            waiting.insert((line.enter(of, MailKind::Reset, key(number)).unwrap(), number), of);
        };
        (0..200).for_each(|_| enter(&mut waiting, tenant(1)));
        let mut sent = Vec::new();
        for round in 0..300 {
            // Two tenants send one message after the other, a third one sends three now and then.
            for sequential in [tenant(2), tenant(3)] {
                if !waiting.values().any(|waiting| *waiting == sequential) {
                    enter(&mut waiting, sequential);
                }
            }
            (0..3).filter(|_| round % 50 == 0).for_each(|_| enter(&mut waiting, tenant(4)));
            sent.extend(waiting.pop_first().map(|(_, tenant)| tenant));
        }
        let of_first: Vec<usize> = (0..sent.len()).filter(|index| sent[*index] == tenant(1)).collect();
        for pair in of_first.windows(2) {
            for other in [2, 3, 4].map(tenant) {
                assert!(sent[pair[0]..pair[1]].iter().filter(|tenant| **tenant == other).count() <= 2, "{pair:?}");
            }
        }
        assert!(of_first.len() > 70, "{}", of_first.len());
    }

    #[test]
    fn one_message_of_a_kind_to_an_address_is_in_the_line() {
        let mut line = Line::default();
        line.busy.insert((MailKind::Verify, key(1)));
        assert_eq!(line.enter(tenant(1), MailKind::Verify, key(1)), None);
        assert_eq!(line.enter(tenant(1), MailKind::Reset, key(1)), Some(0));
        assert_eq!(line.enter(tenant(2), MailKind::Reset, key(1)), None);
    }
}
