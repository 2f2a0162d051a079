//! Rate limits of a server that requires tokens.
//!
//! Each token and each address has a bucket. A request takes from it, and time refills it. Only the time at
//! which a bucket will be full is stored, so no timer is needed and a full bucket can be dropped. The number
//! of buckets is fixed: a flood from many addresses evicts the fullest ones and cannot grow the memory.

use std::array;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use aw_core::Time;

use super::access::Record;
use super::caller::{Caller, TokenOwner};
use super::error::Problem;
use super::serve::Peer;
use crate::settings::{Pace, Rates};

/// The number of buckets that share a lock and evict each other.
const SET: usize = 8;

/// The number of such sets in each limiter.
const SETS: usize = 1024;

/// The rate limiters of a server. `None` sets no limit.
#[derive(Debug)]
pub(crate) struct RateLimiters {
    record: Record,
    tokens: Option<RateLimiter<TokenOwner>>,
    addresses: Option<RateLimiter<Network>>,
    wrong_tokens: Option<RateLimiter<Network>>,
}

impl RateLimiters {
    pub(super) fn new(rates: Rates, record: Record) -> Self {
        RateLimiters {
            record,
            tokens: RateLimiter::new(rates.token),
            addresses: RateLimiter::new(rates.address),
            wrong_tokens: RateLimiter::new(rates.wrong_token),
        }
    }

    /// Counts a request from this address.
    pub(super) fn check_address(&self, peer: Option<Peer>) -> Result<(), Problem> {
        // A loopback address is a local program, or a proxy for many clients.
        let peer = peer.filter(|peer| !peer.0.is_loopback());
        let Some((limiter, network)) = self.addresses.as_ref().zip(peer.map(Network::of)) else {
            return Ok(());
        };
        limiter.take(network, self.record.now()).map_err(|wait| {
            let pace = limiter.pace.per_second;
            let message = format!("the address {network} sent more than {pace} requests a second");
            Problem::too_often(message, wait, "AW_ADDRESS_RATE, AW_ADDRESS_BURST")
        })
    }

    /// Counts a request with this caller's token.
    pub(super) fn check_token(&self, caller: &Caller) -> Result<(), Problem> {
        let Some((limiter, owner)) = self.tokens.as_ref().zip(caller.token_owner()) else {
            return Ok(());
        };
        limiter.take(owner, self.record.now()).map_err(|wait| {
            let pace = limiter.pace.per_second;
            let message = format!("{caller} sent more than {pace} requests a second");
            Problem::too_often(message, wait, "AW_TOKEN_RATE, AW_TOKEN_BURST")
        })
    }

    /// Counts a wrong token from this address: limits failed logins.
    pub(crate) fn check_wrong_token(&self, peer: Option<Peer>) -> Result<(), Problem> {
        let Some((limiter, network)) = self.wrong_tokens.as_ref().zip(peer.map(Network::of)) else {
            return Ok(());
        };
        limiter.take(network, self.record.now()).map_err(|wait| {
            let pace = limiter.pace.per_second;
            let message = format!(
                "this token is wrong, and the address {network} sent more than {pace} wrong tokens a second"
            );
            Problem::too_often(message, wait, "AW_WRONG_TOKEN_RATE, AW_WRONG_TOKEN_BURST")
        })
    }
}

/// An address as it is counted: an IPv4 address, or the first 64 bits of an IPv6 address, because one
/// household or server has at least 2^64 IPv6 addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Network(IpAddr);

impl Network {
    fn of(Peer(address): Peer) -> Self {
        Network(match address {
            IpAddr::V4(_) => address,
            IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
        })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(v4) => v4.fmt(f),
            IpAddr::V6(v6) => write!(f, "{v6}/64"),
        }
    }
}

/// Limits requests per owner. Times are in microseconds.
#[derive(Debug)]
struct RateLimiter<K> {
    pace: Pace,
    /// The time to refill what one request takes.
    each: i64,
    /// The time to refill an empty bucket.
    whole: i64,
    /// Random, so that clients cannot choose which owners share a set.
    hasher: RandomState,
    sets: Box<[Mutex<[Bucket<K>; SET]>]>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket<K> {
    owner: Option<K>,
    full_at: i64,
}

impl<K: Copy + Eq + Hash> RateLimiter<K> {
    /// A limiter, unless the pace sets no limit.
    fn new(pace: Pace) -> Option<Self> {
        if pace.per_second <= 0.0 {
            return None;
        }
        let each = (1e6 / pace.per_second).ceil() as i64;
        let set = |_| Mutex::new(array::from_fn(|_| Bucket { owner: None, full_at: i64::MIN }));
        Some(RateLimiter {
            pace,
            each,
            whole: each.saturating_mul(pace.burst.max(1).into()),
            hasher: RandomState::new(),
            sets: (0..SETS).map(set).collect(),
        })
    }

    /// Takes one request from the owner's bucket, or returns the time until that is possible.
    fn take(&self, owner: K, now: Time) -> Result<(), Duration> {
        let now = now.0.saturating_mul(1000);
        let if_empty = now.saturating_add(self.whole);
        let set = self.hasher.hash_one(owner) as usize % SETS;
        // No code panics half way through a change while it holds the lock.
        let mut set = self.sets[set].lock().unwrap_or_else(PoisonError::into_inner);
        let mut chosen = 0;
        for place in 0..SET {
            if set[place].owner == Some(owner) {
                chosen = place;
                break;
            }
            if set[place].full_at < set[chosen].full_at {
                chosen = place;
            }
        }
        let bucket = &mut set[chosen];
        // A bucket that seems emptier than empty was filled before the clock was set back.
        let is_valid = bucket.owner == Some(owner) && bucket.full_at <= if_empty;
        let full_at = if is_valid { bucket.full_at.max(now) } else { now };
        let taken = full_at.saturating_add(self.each);
        if taken > if_empty {
            return Err(Duration::from_micros(taken.abs_diff(if_empty)));
        }
        *bucket = Bucket { owner: Some(owner), full_at: taken };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time(1_767_225_600_000);

    fn limiter(per_second: f64, burst: u32) -> RateLimiter<Network> {
        RateLimiter::new(Pace { per_second, burst }).unwrap()
    }

    fn network(address: &str) -> Network {
        Network::of(Peer(address.parse().unwrap()))
    }

    /// The number of requests that pass now.
    fn passing(limiter: &RateLimiter<Network>, owner: Network, now: Time) -> usize {
        (0..).take_while(|_| limiter.take(owner, now).is_ok()).count()
    }

    #[test]
    fn after_a_burst_requests_pass_at_the_pace() {
        let limiter = limiter(100.0, 500);
        let owner = network("192.0.2.1");
        assert_eq!(passing(&limiter, owner, START), 500);
        assert_eq!(passing(&limiter, owner, Time(START.0 + 9)), 0);
        assert_eq!(passing(&limiter, owner, Time(START.0 + 10)), 1);
        assert_eq!(passing(&limiter, owner, Time(START.0 + 1_010)), 100);
        assert_eq!(passing(&limiter, owner, Time(START.0 + 1_000_000)), 500);
        assert_eq!(passing(&limiter, network("192.0.2.2"), START), 500);
    }

    #[test]
    fn a_request_passes_after_exactly_the_returned_time() {
        for (per_second, burst) in [(100.0, 500), (5.0, 50), (0.3, 2), (0.001, 1), (7.0, 1)] {
            let limiter = limiter(per_second, burst);
            let owner = network("192.0.2.1");
            assert_eq!(passing(&limiter, owner, START), burst as usize);
            let wait = limiter.take(owner, START).unwrap_err();
            let millis = i64::try_from(wait.as_micros().div_ceil(1000)).unwrap();
            assert_eq!(passing(&limiter, owner, Time(START.0 + millis - 1)), 0, "{per_second}");
            assert_eq!(passing(&limiter, owner, Time(START.0 + millis)), 1, "{per_second}");
        }
    }

    #[test]
    fn a_burst_of_zero_lets_one_request_pass() {
        assert_eq!(passing(&limiter(1.0, 0), network("192.0.2.1"), START), 1);
    }

    #[test]
    fn a_rate_of_zero_sets_no_limit() {
        assert!(RateLimiter::<Network>::new(Pace { per_second: 0.0, burst: 5 }).is_none());
    }

    #[test]
    fn a_clock_that_is_set_back_locks_no_owner_out() {
        let limiter = limiter(1.0, 5);
        let owner = network("192.0.2.1");
        assert_eq!(passing(&limiter, owner, START), 5);
        let before = Time(START.0 - 3_600_000);
        assert_eq!(passing(&limiter, owner, before), 5);
        assert_eq!(passing(&limiter, owner, Time(before.0 + 1_000)), 1);
    }

    #[test]
    fn ipv6_addresses_with_the_same_first_64_bits_count_as_one() {
        assert_eq!(network("2001:db8:1:2::7"), network("2001:db8:1:2:ffff::1"));
        assert_ne!(network("2001:db8:1:2::7"), network("2001:db8:1:3::7"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(network("2001:db8:1:2::7").to_string(), "2001:db8:1:2::/64");
        assert_eq!(network("192.0.2.1").to_string(), "192.0.2.1");
    }

    #[test]
    fn a_flood_of_addresses_grows_nothing_and_evicts_no_empty_bucket() {
        let limiter = limiter(5.0, 50);
        let spent = network("192.0.2.1");
        assert_eq!(passing(&limiter, spent, START), 50);
        for number in 0..1_000_000_u128 {
            let address = Ipv6Addr::from_bits((0x2001_0db8 << 96) + (number << 64));
            limiter.take(Network::of(Peer(address.into())), START).unwrap();
        }
        let kept = limiter.sets.iter().flat_map(|set| set.lock().unwrap().map(|it| it.owner));
        assert_eq!(kept.flatten().count(), SETS * SET);
        assert!(size_of::<Mutex<[Bucket<Network>; SET]>>() * SETS < 300 * 1024);
        limiter.take(spent, START).unwrap_err();
    }
}
