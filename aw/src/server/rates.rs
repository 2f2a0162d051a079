//! How often somebody may ask, where the server wants tokens.
//!
//! Each token and each address has a bucket, from which every request takes and which fills up again
//! with time. All that is kept of one is when it will be full, so there is no timer, and a full one
//! need not be kept. There is room for a fixed number of them: a flood from ever new addresses pushes
//! out the fullest, which forgives their owners a little, and grows nothing.

use std::array;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use aw_core::Time;

use super::access::Record;
use super::caller::{Caller, Whose};
use super::error::Problem;
use super::serve::Peer;
use crate::settings::{Pace, Rates};

/// How many buckets share a lock, and push each other out.
const SET: usize = 8;

/// How many such sets there are of each kind.
const SETS: usize = 1024;

/// Counts who asks how often.
#[derive(Debug)]
pub(crate) struct Meters {
    record: Record,
    tokens: Option<Meter<Whose>>,
    addresses: Option<Meter<Network>>,
    wrong_tokens: Option<Meter<Network>>,
}

impl Meters {
    pub(super) fn new(rates: Rates, record: Record) -> Self {
        Meters {
            record,
            tokens: Meter::new(rates.token),
            addresses: Meter::new(rates.address),
            wrong_tokens: Meter::new(rates.wrong_token),
        }
    }

    /// Whether another request may come from there.
    pub(super) fn address(&self, peer: Option<Peer>) -> Result<(), Problem> {
        // Who stands there is a program of this machine, or a proxy with everybody behind it.
        let peer = peer.filter(|peer| !peer.0.is_loopback());
        let Some((meter, network)) = self.addresses.as_ref().zip(peer.map(Network::of)) else {
            return Ok(());
        };
        meter.take(network, self.record.now()).map_err(|wait| {
            let pace = meter.pace.per_second;
            let message =
                format!("the address {network} may send {pace} requests a second, and sent more");
            Problem::too_often(message, wait, "AW_ADDRESS_RATE, AW_ADDRESS_BURST")
        })
    }

    /// Whether another request may come with this token.
    pub(super) fn token(&self, caller: &Caller) -> Result<(), Problem> {
        let Some((meter, whose)) = self.tokens.as_ref().zip(caller.whose()) else {
            return Ok(());
        };
        meter.take(whose, self.record.now()).map_err(|wait| {
            let pace = meter.pace.per_second;
            let message = format!("{caller} may send {pace} requests a second, and sent more");
            Problem::too_often(message, wait, "AW_TOKEN_RATE, AW_TOKEN_BURST")
        })
    }

    /// Whether another wrong token from there is told that it is wrong.
    pub(crate) fn wrong_token(&self, peer: Option<Peer>) -> Result<(), Problem> {
        let Some((meter, network)) = self.wrong_tokens.as_ref().zip(peer.map(Network::of)) else {
            return Ok(());
        };
        meter.take(network, self.record.now()).map_err(|wait| {
            let pace = meter.pace.per_second;
            let message = format!(
                "the address {network} may try {pace} wrong tokens a second, and tried more; this one is wrong too"
            );
            Problem::too_often(message, wait, "AW_WRONG_TOKEN_RATE, AW_WRONG_TOKEN_BURST")
        })
    }
}

/// Whoever calls from there counts as one: an address, or the 64 bits of one that a household or a
/// server is given at least, and among which it may choose as it likes.
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

/// The buckets of one kind. Times are in microseconds.
#[derive(Debug)]
struct Meter<K> {
    pace: Pace,
    /// How long it takes to fill up what one request takes.
    each: i64,
    /// How long it takes to fill an empty one.
    whole: i64,
    /// Nobody outside can choose who shares a set with whom.
    dice: RandomState,
    sets: Box<[Mutex<[Bucket<K>; SET]>]>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket<K> {
    owner: Option<K>,
    full_at: i64,
}

impl<K: Copy + Eq + Hash> Meter<K> {
    /// One that counts, where there is anything to count.
    fn new(pace: Pace) -> Option<Self> {
        if pace.per_second <= 0.0 {
            return None;
        }
        let each = (1e6 / pace.per_second).ceil() as i64;
        let set = |_| Mutex::new(array::from_fn(|_| Bucket { owner: None, full_at: i64::MIN }));
        Some(Meter {
            pace,
            each,
            whole: each.saturating_mul(pace.burst.max(1).into()),
            dice: RandomState::new(),
            sets: (0..SETS).map(set).collect(),
        })
    }

    /// Takes one from the owner's bucket, or says how long it will be until there is one.
    fn take(&self, owner: K, now: Time) -> Result<(), Duration> {
        let now = now.0.saturating_mul(1000);
        let if_empty = now.saturating_add(self.whole);
        let set = self.dice.hash_one(owner) as usize % SETS;
        // Whoever holds the lock cannot panic half way through a change.
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
        // None is emptier than empty: such a one was filled before the clock was turned back.
        let is_theirs = bucket.owner == Some(owner) && bucket.full_at <= if_empty;
        let full_at = if is_theirs { bucket.full_at.max(now) } else { now };
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
    use std::time::Instant;

    use super::*;

    const START: Time = Time(1_767_225_600_000);

    fn meter(per_second: f64, burst: u32) -> Meter<Network> {
        Meter::new(Pace { per_second, burst }).unwrap()
    }

    fn network(address: &str) -> Network {
        Network::of(Peer(address.parse().unwrap()))
    }

    /// The number of requests that are let through now.
    fn room(meter: &Meter<Network>, owner: Network, now: Time) -> usize {
        (0..).take_while(|_| meter.take(owner, now).is_ok()).count()
    }

    #[test]
    fn after_a_burst_one_goes_on_at_the_pace() {
        let meter = meter(100.0, 500);
        let owner = network("192.0.2.1");
        assert_eq!(room(&meter, owner, START), 500);
        assert_eq!(room(&meter, owner, Time(START.0 + 9)), 0);
        assert_eq!(room(&meter, owner, Time(START.0 + 10)), 1);
        assert_eq!(room(&meter, owner, Time(START.0 + 1_010)), 100);
        assert_eq!(room(&meter, owner, Time(START.0 + 1_000_000)), 500);
        assert_eq!(room(&meter, network("192.0.2.2"), START), 500);
    }

    #[test]
    fn how_long_one_is_told_to_wait_is_true() {
        for (per_second, burst) in [(100.0, 500), (5.0, 50), (0.3, 2), (0.001, 1), (7.0, 1)] {
            let meter = meter(per_second, burst);
            let owner = network("192.0.2.1");
            assert_eq!(room(&meter, owner, START), burst as usize);
            let wait = meter.take(owner, START).unwrap_err();
            let millis = i64::try_from(wait.as_micros().div_ceil(1000)).unwrap();
            assert_eq!(room(&meter, owner, Time(START.0 + millis - 1)), 0, "{per_second}");
            assert_eq!(room(&meter, owner, Time(START.0 + millis)), 1, "{per_second}");
        }
    }

    #[test]
    fn a_burst_of_none_is_still_one_at_a_time() {
        assert_eq!(room(&meter(1.0, 0), network("192.0.2.1"), START), 1);
    }

    #[test]
    fn no_rate_is_no_limit() {
        assert!(Meter::<Network>::new(Pace { per_second: 0.0, burst: 5 }).is_none());
    }

    #[test]
    fn a_clock_that_is_turned_back_shuts_nobody_out() {
        let meter = meter(1.0, 5);
        let owner = network("192.0.2.1");
        assert_eq!(room(&meter, owner, START), 5);
        let before = Time(START.0 - 3_600_000);
        assert_eq!(room(&meter, owner, before), 5);
        assert_eq!(room(&meter, owner, Time(before.0 + 1_000)), 1);
    }

    #[test]
    fn a_network_of_64_bits_counts_as_one_caller() {
        assert_eq!(network("2001:db8:1:2::7"), network("2001:db8:1:2:ffff::1"));
        assert_ne!(network("2001:db8:1:2::7"), network("2001:db8:1:3::7"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(network("2001:db8:1:2::7").to_string(), "2001:db8:1:2::/64");
        assert_eq!(network("192.0.2.1").to_string(), "192.0.2.1");
    }

    #[test]
    fn a_million_addresses_take_no_more_room_and_push_out_nobody_who_has_used_theirs_up() {
        let meter = meter(5.0, 50);
        let spent = network("192.0.2.1");
        assert_eq!(room(&meter, spent, START), 50);
        for number in 0..1_000_000_u128 {
            let address = Ipv6Addr::from_bits((0x2001_0db8 << 96) + (number << 64));
            meter.take(Network::of(Peer(address.into())), START).unwrap();
        }
        let kept = meter.sets.iter().flat_map(|set| set.lock().unwrap().map(|it| it.owner));
        assert_eq!(kept.flatten().count(), SETS * SET);
        assert!(size_of::<Mutex<[Bucket<Network>; SET]>>() * SETS < 300 * 1024);
        meter.take(spent, START).unwrap_err();
    }

    #[test]
    #[expect(clippy::print_stdout, reason = "who wants to know what it costs is told")]
    fn counting_costs_next_to_nothing() {
        let meter = meter(1e6, u32::MAX);
        let rounds = 1_000_000_u32;
        let cost = |owner: fn(u32) -> [u8; 4]| {
            let began = Instant::now();
            for number in 0..rounds {
                meter.take(Network::of(Peer(owner(number).into())), START).unwrap();
            }
            began.elapsed().as_nanos() / u128::from(rounds)
        };
        let (same, new) = (cost(|_| [192, 0, 2, 1]), cost(u32::to_be_bytes));
        println!("a request costs {same} ns, one of a new address {new} ns");
        assert!(same < 10_000 && new < 10_000, "{same} ns, {new} ns");
    }
}
