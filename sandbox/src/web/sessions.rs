//! Sessions, in memory: a restart logs everybody out.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kassa_pages::token::csrf_of;
use uuid::Uuid;

/// Idle timeout: how long nothing may be done before the session ends.
const IDLE: Duration = Duration::from_secs(2 * 3600);
/// How long a session lasts at the most.
const LONGEST: Duration = Duration::from_secs(12 * 3600);
/// Sessions at a time; the one that was idle longest makes room.
const MOST: usize = 500;

/// The sessions, by the token in their cookie.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Session>>);

struct Session {
    began: Instant,
    last_seen: Instant,
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        now.duration_since(self.last_seen) > IDLE || now.duration_since(self.began) > LONGEST
    }
}

/// A random token of 244 bits.
pub(crate) fn random_token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

impl Sessions {
    /// Begins a session: the token for its cookie.
    pub(crate) fn begin(&self, now: Instant) -> String {
        let mut sessions = self.locked();
        sessions.retain(|_, session| !session.is_over(now));
        if sessions.len() >= MOST
            && let Some(idle) = sessions.iter().min_by_key(|(_, session)| session.last_seen).map(|(key, _)| key.clone())
        {
            sessions.remove(&idle);
        }
        let token = random_token();
        sessions.insert(token.clone(), Session { began: now, last_seen: now });
        token
    }

    /// The token for the forms of a session, if it goes on.
    pub(crate) fn csrf(&self, token: &str, now: Instant) -> Option<String> {
        let mut sessions = self.locked();
        let session = sessions.get_mut(token)?;
        if session.is_over(now) {
            sessions.remove(token);
            return None;
        }
        session.last_seen = now;
        Some(csrf_of(token))
    }

    /// Ends a session.
    pub(crate) fn end(&self, token: &str) {
        self.locked().remove(token);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_by_itself_when_idle_or_old() {
        let sessions = Sessions::default();
        let began = Instant::now();
        let token = sessions.begin(began);
        assert!(sessions.csrf(&token, began + IDLE).is_some());
        assert!(sessions.csrf(&token, began + 2 * IDLE + Duration::from_secs(1)).is_none());
        assert!(sessions.csrf(&token, began).is_none(), "over is over");

        let token = sessions.begin(began);
        let mut now = began;
        while now < began + LONGEST {
            assert!(sessions.csrf(&token, now).is_some());
            now += IDLE;
        }
        assert!(sessions.csrf(&token, began + LONGEST + Duration::from_secs(1)).is_none());
    }

    #[test]
    fn a_session_that_was_ended_is_over_and_there_is_room_for_a_new_one() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let first = sessions.begin(now);
        sessions.end(&first);
        assert!(sessions.csrf(&first, now).is_none());
        let oldest = sessions.begin(now);
        let others: Vec<_> = (0..MOST).map(|_| sessions.begin(now + Duration::from_secs(1))).collect();
        assert!(sessions.csrf(&oldest, now + Duration::from_secs(2)).is_none());
        assert!(others.iter().all(|token| sessions.csrf(token, now + Duration::from_secs(2)).is_some()));
    }
}
