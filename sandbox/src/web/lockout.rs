//! Brute force protection of logins: a rate limit by address, whose waiting time doubles with each wrong password
//! (exponential backoff), and one over all addresses together.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Wrong guesses of an address without a waiting time.
const FREE: u32 = 5;
/// Exponential backoff: the waiting time before the next guess, doubled with each that follows.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Without a guess for so long, an address begins anew.
const FORGET: Duration = Duration::from_secs(30 * 60);
/// Rate limit over all addresses: wrong guesses within `WINDOW`, after which every login waits until it is over.
const MOST: u32 = 200;
const WINDOW: Duration = Duration::from_secs(10 * 60);
/// Addresses that are remembered.
const MOST_ADDRESSES: usize = 10_000;

/// The rate limit of one login: the guesses so far.
#[derive(Default)]
pub(crate) struct Lockout(Mutex<Guesses>);

#[derive(Default)]
struct Guesses {
    addresses: HashMap<IpAddr, Guesser>,
    window: Option<Instant>,
    in_window: u32,
}

struct Guesser {
    wrong: u32,
    last: Instant,
}

impl Guesser {
    /// How long after the last guess the next one may come.
    fn pause(&self) -> Duration {
        match self.wrong.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(more) => FIRST_PAUSE.saturating_mul(1 << more.min(10)).min(LONGEST_PAUSE),
        }
    }
}

impl Lockout {
    /// Lets an address guess, or says how long it has to wait. A guess counts as a wrong one until `right` takes that
    /// back: so that guesses at the same moment are no more than one after another.
    pub(crate) fn guess(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut guesses = self.locked();
        match guesses.wait(address, now) {
            Some(wait) => Err(wait),
            None => {
                guesses.wrong(address, now);
                Ok(())
            }
        }
    }

    /// How long an address has to wait before it may guess again; `None` where it may now.
    pub(crate) fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        self.locked().wait(address, now)
    }

    /// Forgets an address that knew the password.
    pub(crate) fn right(&self, address: IpAddr) {
        let mut guesses = self.locked();
        guesses.addresses.remove(&network(address));
        guesses.in_window = guesses.in_window.saturating_sub(1);
    }

    fn locked(&self) -> MutexGuard<'_, Guesses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guesses {
    fn wait(&self, address: IpAddr, now: Instant) -> Option<Duration> {
        let own = self.addresses.get(&network(address)).map(|guesser| guesser.last + guesser.pause());
        let common = self.window.filter(|_| self.in_window >= MOST).map(|began| began + WINDOW);
        let until = own.max(common)?;
        until.checked_duration_since(now).filter(|wait| !wait.is_zero())
    }

    fn wrong(&mut self, address: IpAddr, now: Instant) {
        if self.window.is_none_or(|began| now.duration_since(began) >= WINDOW) {
            self.window = Some(now);
            self.in_window = 0;
        }
        self.in_window = self.in_window.saturating_add(1);
        self.addresses.retain(|_, guesser| now.duration_since(guesser.last) < FORGET);
        let address = network(address);
        if self.addresses.len() >= MOST_ADDRESSES && !self.addresses.contains_key(&address) {
            // The table is full: from here on the rate limit over all addresses protects.
            return;
        }
        let guesser = self.addresses.entry(address).or_insert(Guesser { wrong: 0, last: now });
        guesser.wrong = guesser.wrong.saturating_add(1);
        guesser.last = now;
    }
}

/// Addresses of IPv6 count by their /64 network, as one client has all of it.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn an_address_waits_longer_and_longer_and_others_do_not() {
        let lockout = Lockout::default();
        let mut now = Instant::now();
        let guesser = address("192.0.2.1");
        for _ in 0..FREE {
            assert_eq!(lockout.guess(guesser, now), Ok(()));
        }
        assert_eq!(lockout.wait(guesser, now), Some(FIRST_PAUSE));
        assert_eq!(lockout.wait(address("192.0.2.2"), now), None);
        now += FIRST_PAUSE;
        assert_eq!(lockout.guess(guesser, now), Ok(()));
        assert_eq!(lockout.guess(guesser, now), Err(2 * FIRST_PAUSE));
        for _ in 0..40 {
            lockout.locked().wrong(guesser, now);
        }
        assert_eq!(lockout.wait(guesser, now), Some(LONGEST_PAUSE));
        lockout.right(guesser);
        assert_eq!(lockout.wait(guesser, now), None);
    }

    #[test]
    fn a_network_of_ipv6_is_one_guesser() {
        let lockout = Lockout::default();
        let now = Instant::now();
        for host in 1..=FREE {
            assert_eq!(lockout.guess(address(&format!("2001:db8::{host}")), now), Ok(()));
        }
        assert!(lockout.wait(address("2001:db8::ffff"), now).is_some());
        assert!(lockout.wait(address("2001:db8:0:1::1"), now).is_none());
    }

    #[test]
    fn many_guessers_are_kept_out_together_until_the_window_is_over() {
        let lockout = Lockout::default();
        let now = Instant::now();
        for host in 0..MOST {
            lockout.locked().wrong(IpAddr::from([10, 0, 0, 0].map(|_: u8| (host % 250) as u8)), now);
        }
        let stranger = address("198.51.100.1");
        assert_eq!(lockout.wait(stranger, now), Some(WINDOW));
        assert_eq!(lockout.wait(stranger, now + WINDOW), None);
        assert_eq!(lockout.guess(stranger, now + WINDOW), Ok(()));
        assert_eq!(lockout.wait(stranger, now + WINDOW), None);
    }

    #[test]
    fn guesses_at_the_same_moment_are_counted_before_any_is_answered() {
        let lockout = Lockout::default();
        let (guesser, now) = (address("192.0.2.1"), Instant::now());
        let let_through = (0..100).filter(|_| lockout.guess(guesser, now).is_ok()).count();
        assert_eq!(let_through, FREE as usize);
    }

    #[test]
    fn who_knows_the_password_uses_nothing_up() {
        let lockout = Lockout::default();
        let (visitor, now) = (address("192.0.2.1"), Instant::now());
        for _ in 0..2 * MOST {
            assert_eq!(lockout.guess(visitor, now), Ok(()));
            lockout.right(visitor);
        }
    }
}
