//! Brute force protection of keys and tokens: an address that brings wrong ones is told to wait, longer with each (exponential
//! backoff).
//!
//! **A right key is never locked out.** It is looked up first, which is cheap: one hash, and one row found by it. Only wrong ones
//! are counted, and only they are refused. That weakens nothing: a key or token has 256 random bits, and no number of
//! guesses finds one. And it must be so, because thousands of phones share the few addresses of a mobile operator: if an address
//! alone decided, one of them could keep all the others from paying. For the same reason all addresses together only take
//! the free guesses from each other. How many lookups an address may cause at all, a [`RateLimit`](crate::RateLimit) says.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::network::Network;

/// Wrong guesses of an address without a waiting time.
const FREE: u32 = 5;
/// The waiting time after the next one, doubled with each that follows.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Without a guess for so long, an address begins anew.
const FORGET: Duration = Duration::from_secs(30 * 60);
/// Over all addresses: so many wrong guesses in a window, after which no address has free ones until it is over.
const MOST: u32 = 1000;
const WINDOW: Duration = Duration::from_secs(10 * 60);
/// Addresses that are remembered. Where there are more, new ones have no free guesses.
const MOST_ADDRESSES: usize = 10_000;
/// How often those are looked for that can be forgotten.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// The wrong guesses so far.
///
/// ```
/// # use std::{net::IpAddr, time::{Duration, Instant}};
/// use kassa_server::Lockout;
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

/// How long an address has to wait after so many wrong guesses.
fn pause_after(wrong: u32) -> Duration {
    match wrong.checked_sub(FREE + 1) {
        None => Duration::ZERO,
        Some(more) => FIRST_PAUSE.saturating_mul(1 << more.min(10)).min(LONGEST_PAUSE),
    }
}

impl Lockout {
    /// Counts a key or token that was looked up and is wrong.
    ///
    /// # Errors
    /// The address guessed too often: it is to wait for so long.
    pub fn wrong(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut guesses = self.locked();
        let pause = guesses.wrong(address, now);
        if pause.is_zero() { Ok(()) } else { Err(pause) }
    }

    /// Forgets an address whose key or token was right.
    pub fn right(&self, address: IpAddr) {
        self.locked().addresses.remove(&address.into());
    }

    fn locked(&self) -> MutexGuard<'_, Guesses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guesses {
    /// Counts a wrong guess, and says how long to wait until the next.
    fn wrong(&mut self, address: IpAddr, now: Instant) -> Duration {
        let has_free_ones = self.count_in_window(now) <= MOST;
        self.forget_some(now);
        let address = address.into();
        if self.addresses.len() >= MOST_ADDRESSES && !self.addresses.contains_key(&address) {
            return FIRST_PAUSE;
        }
        let guesser = self.addresses.entry(address).or_insert(Guesser { wrong: 0, last: now });
        if now.saturating_duration_since(guesser.last) >= FORGET {
            guesser.wrong = 0;
        }
        guesser.wrong = guesser.wrong.saturating_add(1);
        guesser.last = now;
        pause_after(if has_free_ones { guesser.wrong } else { guesser.wrong.saturating_add(FREE) })
    }

    fn count_in_window(&mut self, now: Instant) -> u32 {
        if self.window.is_none_or(|began| now.saturating_duration_since(began) >= WINDOW) {
            self.window = Some(now);
            self.in_window = 0;
        }
        self.in_window = self.in_window.saturating_add(1);
        if self.in_window == MOST + 1 {
            tracing::warn!(target: "kassa_server", "many addresses bring wrong keys or tokens");
        }
        self.in_window
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
    fn an_address_waits_longer_and_longer_and_others_do_not() {
        let (lockout, now) = (Lockout::default(), Instant::now());
        let waits: Vec<_> = (0..20).map(|_| lockout.wrong(address(1), now).err()).collect();
        assert!(waits[..FREE as usize].iter().all(Option::is_none));
        assert_eq!(waits[FREE as usize..][..3], [30, 60, 120].map(|seconds| Some(Duration::from_secs(seconds))));
        assert_eq!(waits[19], Some(LONGEST_PAUSE));
        assert_eq!(lockout.wrong(address(2), now), Ok(()));
    }

    #[test]
    fn a_right_one_and_time_begin_anew() {
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
        for number in 0..MOST {
            assert_eq!(lockout.wrong(address(number), now), Ok(()));
        }
        assert_eq!(lockout.wrong(address(MOST), now), Err(FIRST_PAUSE));
        assert_eq!(lockout.wrong(address(MOST + 1), now + WINDOW), Ok(()));
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
}
