use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use iam_model::clock::Timestamp;
use iam_model::id::SessionId;

/// The maximum number of remembered sessions. If more end within the lifetime of a token, the store is queried for the
/// others.
const REMEMBERED: usize = 1 << 16;

/// Ended sessions whose access token was presented. They are cached to avoid further queries. A session that has ended
/// never becomes live again.
#[derive(Default)]
pub(crate) struct EndedSessions(Mutex<HashMap<SessionId, i64>>);

impl EndedSessions {
    /// Remembers a session until its token expires. `expiry` is in seconds since 1970.
    pub(crate) fn remember(&self, session: SessionId, expiry: i64, now: Timestamp) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= REMEMBERED {
            sessions.retain(|_, expiry| *expiry > now.timestamp());
        }
        if sessions.len() < REMEMBERED {
            sessions.insert(session, expiry);
        }
    }

    pub(crate) fn contains(&self, session: SessionId, now: Timestamp) -> bool {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&session).is_some_and(|expiry| *expiry > now.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use uuid::Uuid;

    use super::*;
    use iam_model::clock::Clock as _;
    use iam_model::clock::testing::FixedClock;

    #[test]
    fn remembered_sessions_are_bounded_and_expired_ones_are_removed() {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let sessions = EndedSessions::default();
        let session = |number: usize| SessionId::from_uuid(Uuid::from_u128(number as u128));
        for number in 0..=REMEMBERED {
            sessions.remember(session(number), now.timestamp() + 60, now);
        }
        assert!(sessions.contains(session(REMEMBERED - 1), now) && !sessions.contains(session(REMEMBERED), now));
        let later = now + TimeDelta::seconds(60);
        assert!(!sessions.contains(session(0), later));
        sessions.remember(session(REMEMBERED), now.timestamp() + 120, later);
        assert!(sessions.contains(session(REMEMBERED), later) && !sessions.contains(session(0), now));
    }
}
