//! Brute force protection of logins and of bearer tokens: an address that sends wrong secrets has to wait, longer
//! with each (exponential backoff).
//!
//! Passwords that people choose can be guessed, so a guess at a **password** is counted before it is checked
//! ([`Lockout::guess`]). An address that guessed too often is refused, even with the right password; so is every address
//! while too many addresses guess.
//!
//! A **key or token** has 256 random bits, and no number of guesses finds one: it is looked up first, which is cheap, and only a
//! wrong one is counted ([`Lockout::wrong`]). **A right one is never locked out.** Thousands of phones share the few addresses of
//! a mobile operator: if the address alone decided, one phone could keep all others from paying. For the same reason too many
//! wrong guesses from all addresses only remove the free guesses.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::network::Network;

/// Wrong guesses of an address without a waiting time.
const FREE: u32 = 5;
/// The waiting time after the next wrong guess, doubled with each one that follows.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// The time without a guess after which an address starts again.
const FORGET: Duration = Duration::from_secs(30 * 60);
/// The usual number of wrong guesses in a window, over all addresses: at a password, and at keys and tokens.
const MOST_AT_PASSWORDS: u32 = 200;
const MOST_AT_TOKENS: u32 = 1000;
const WINDOW: Duration = Duration::from_secs(10 * 60);
/// The most addresses that are remembered. Beyond that, new ones have no free guesses at a token.
const MOST_ADDRESSES: usize = 10_000;
/// The interval at which idle addresses are removed.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// The wrong guesses so far, at one secret or at one kind of them. It lives in memory, and is bounded.
///
/// ```
/// # use std::{net::IpAddr, time::{Duration, Instant}};
/// use kassa_pages::Lockout;
///
/// let lockout = Lockout::default();
/// let address: IpAddr = "192.0.2.1".parse().unwrap();
/// let refused = (0..10).filter_map(|_| lockout.wrong(address, Instant::now()).err()).next();
/// assert_eq!(refused, Some(Duration::from_secs(30))); // 429 and Retry-After instead of 401
/// ```
#[derive(Debug, Default)]
pub struct Lockout(Mutex<Guesses>);

#[derive(Debug, Default)]
struct Guesses {
    addresses: HashMap<Network, Guesser>,
    window: Option<Instant>,
    in_window: u32,
    swept: Option<Instant>,
}

#[derive(Debug)]
struct Guesser {
    wrong: u32,
    last: Instant,
}

/// The waiting time after this many wrong guesses.
fn pause_after(wrong: u32) -> Duration {
    match wrong.checked_sub(FREE) {
        None => Duration::ZERO,
        Some(more) => FIRST_PAUSE.saturating_mul(1 << more.min(10)).min(LONGEST_PAUSE),
    }
}

impl Lockout {
    /// Lets an address guess a password. The guess counts as a wrong one until [`guessed_right`](Self::guessed_right) takes that
    /// back, so that concurrent guesses count like successive ones.
    ///
    /// # Errors
    /// The time for which the address has to wait. The password must not be checked.
    pub fn guess(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut guesses = self.locked();
        match guesses.wait(address, now) {
            Some(wait) => Err(wait),
            None => {
                guesses.count(address, now);
                Ok(())
            }
        }
    }

    /// How long an address has to wait before it may guess a password again; `None` if it may now.
    pub fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        self.locked().wait(address, now)
    }

    /// Forgets an address that gave the right password.
    pub fn guessed_right(&self, address: IpAddr) {
        let mut guesses = self.locked();
        guesses.addresses.remove(&address.into());
        guesses.in_window = guesses.in_window.saturating_sub(1);
    }

    /// Counts a key or token that was looked up and is wrong.
    ///
    /// # Errors
    /// The address guessed too often: the time for which it has to wait.
    pub fn wrong(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut guesses = self.locked();
        let before = guesses.count(address, now);
        let has_free_ones = guesses.in_window <= MOST_AT_TOKENS;
        if guesses.in_window == MOST_AT_TOKENS + 1 {
            tracing::warn!("many addresses send wrong keys or tokens");
        }
        let pause = match before {
            Some(before) => pause_after(if has_free_ones { before } else { before.saturating_add(FREE) }),
            None => FIRST_PAUSE,
        };
        if pause.is_zero() { Ok(()) } else { Err(pause) }
    }

    /// Forgets an address whose key or token was right.
    pub fn right(&self, address: IpAddr) {
        self.locked().addresses.remove(&address.into());
    }

    /// The locked value is whole after every step, even after a panic.
    fn locked(&self) -> MutexGuard<'_, Guesses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guesses {
    /// The time for which an address is refused: for its own guesses, or because all addresses together guess too much.
    fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let own = self.addresses.get(&address.into()).map(|guesser| guesser.last + pause_after(guesser.wrong));
        let common = self.window.filter(|_| self.in_window >= MOST_AT_PASSWORDS).map(|began| began + WINDOW);
        let until = own.max(common)?;
        until.checked_duration_since(now).filter(|wait| !wait.is_zero())
    }

    /// Counts a guess: how many wrong ones the address had before. `None` if no more addresses are remembered.
    fn count(&mut self, address: IpAddr, now: Instant) -> Option<u32> {
        self.count_in_window(now);
        self.forget_some(now);
        let address = address.into();
        if self.addresses.len() >= MOST_ADDRESSES && !self.addresses.contains_key(&address) {
            return None;
        }
        let guesser = self.addresses.entry(address).or_insert(Guesser { wrong: 0, last: now });
        if now.saturating_duration_since(guesser.last) >= FORGET {
            guesser.wrong = 0;
        }
        let before = guesser.wrong;
        guesser.wrong = before.saturating_add(1);
        guesser.last = now;
        Some(before)
    }

    fn count_in_window(&mut self, now: Instant) {
        if self.window.is_none_or(|began| now.saturating_duration_since(began) >= WINDOW) {
            self.window = Some(now);
            self.in_window = 0;
        }
        self.in_window = self.in_window.saturating_add(1);
    }

    fn forget_some(&mut self, now: Instant) {
        if self.swept.is_none_or(|swept| now.saturating_duration_since(swept) >= SWEEP_EVERY) {
            self.swept = Some(now);
            self.addresses.retain(|_, guesser| now.saturating_duration_since(guesser.last) < FORGET);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[test]
    fn address_waits_longer_and_longer_and_others_do_not() {
        let (lockout, now) = (Lockout::default(), Instant::now());
        let waits: Vec<_> = (0..20).map(|_| lockout.wrong(address(1), now).err()).collect();
        assert!(waits[..FREE as usize].iter().all(Option::is_none));
        assert_eq!(waits[FREE as usize..][..3], [30, 60, 120].map(|seconds| Some(Duration::from_secs(seconds))));
        assert_eq!(waits[19], Some(LONGEST_PAUSE));
        assert_eq!(lockout.wrong(address(2), now), Ok(()));
    }

    #[test]
    fn right_one_and_time_begin_anew() {
        let (lockout, now) = (Lockout::default(), Instant::now());
        for _ in 0..=FREE {
            let _ = lockout.wrong(address(1), now);
            let _ = lockout.wrong(address(2), now);
        }
        lockout.right(address(1));
        assert_eq!(lockout.wrong(address(1), now), Ok(()));
        assert!(lockout.wrong(address(2), now).is_err());
        assert_eq!(lockout.wrong(address(2), now + FORGET), Ok(()));
    }

    #[test]
    fn guesses_at_the_same_moment_are_no_more_than_one_after_another() {
        let (lockout, now) = (Lockout::default(), Instant::now());
        let free = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    if lockout.wrong(address(1), now).is_ok() {
                        free.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(free.into_inner(), FREE);
    }

    #[test]
    fn all_addresses_together_lose_their_free_guesses_until_the_window_is_over() {
        let (lockout, now) = (Lockout::default(), Instant::now());
        for number in 0..MOST_AT_TOKENS {
            assert_eq!(lockout.wrong(address(number), now), Ok(()));
        }
        assert_eq!(lockout.wrong(address(MOST_AT_TOKENS), now), Err(FIRST_PAUSE));
        assert_eq!(lockout.wrong(address(MOST_AT_TOKENS + 1), now + WINDOW), Ok(()));
    }

    #[test]
    fn nobody_fills_the_memory() {
        let (lockout, mut now) = (Lockout::default(), Instant::now());
        for number in 0..2 * MOST_ADDRESSES as u32 {
            let _ = lockout.wrong(address(number), now);
        }
        assert_eq!(lockout.locked().addresses.len(), MOST_ADDRESSES);
        now += FORGET;
        assert_eq!(lockout.wrong(address(u32::MAX), now), Ok(()));
        assert_eq!(lockout.locked().addresses.len(), 1);
    }

    #[test]
    fn who_guesses_a_password_waits_longer_and_longer_and_is_not_heard_meanwhile() {
        let (lockout, mut now) = (Lockout::default(), Instant::now());
        let let_through = (0..100).filter(|_| lockout.guess(address(1), now).is_ok()).count();
        assert_eq!(let_through, FREE as usize, "counted before any is answered");
        assert_eq!((lockout.wait(address(1), now), lockout.wait(address(2), now)), (Some(FIRST_PAUSE), None));
        now += FIRST_PAUSE;
        assert_eq!(lockout.guess(address(1), now), Ok(()));
        assert_eq!(lockout.guess(address(1), now), Err(2 * FIRST_PAUSE));
        lockout.guessed_right(address(1));
        assert_eq!(lockout.wait(address(1), now), None);
    }

    #[test]
    fn nobody_guesses_a_password_while_many_do() {
        let (lockout, now) = (Lockout::default(), Instant::now());
        for number in 0..MOST_AT_PASSWORDS {
            assert_eq!(lockout.guess(address(number), now), Ok(()));
        }
        let stranger = address(u32::MAX);
        assert_eq!(lockout.guess(stranger, now), Err(WINDOW));
        assert_eq!(lockout.guess(stranger, now + WINDOW), Ok(()));
        assert_eq!(lockout.wait(stranger, now + WINDOW), None);
    }

    #[test]
    fn who_knows_the_password_uses_nothing_up() {
        let (lockout, now) = (Lockout::default(), Instant::now());
        for _ in 0..2 * MOST_AT_PASSWORDS {
            assert_eq!(lockout.guess(address(1), now), Ok(()));
            lockout.guessed_right(address(1));
        }
    }
}
