//! A bad network between a viewer and the server, with faults drawn from a seed. It also captures datagrams for the
//! attackers.

use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cubewire_link::{Conditions, Link, Loss, Reordering};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use crate::socket::{Counts, MAX_DATAGRAM_BYTES, STEP, Socket, Tally, random_address};

/// Datagrams that passed the relay in either direction, and how many there were: the first [`MAX_FIRST`], which include
/// the handshake, and the last [`MAX_LAST`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured(Arc<Mutex<(usize, Vec<Vec<u8>>)>>);

impl Captured {
    fn add(&self, datagram: &[u8]) {
        let (count, kept) = &mut *self.0.lock().expect("no thread panics");
        match kept.len() < MAX_FIRST + MAX_LAST {
            true => kept.push(datagram.to_vec()),
            false => kept[MAX_FIRST + (*count - MAX_FIRST) % MAX_LAST] = datagram.to_vec(),
        }
        *count += 1;
    }

    /// Returns a random captured datagram, or `None` if there is no datagram yet.
    pub(crate) fn any(&self, random: &mut impl Rng) -> Option<Vec<u8>> {
        let (_, kept) = &*self.0.lock().expect("no thread panics");
        let index = random.random_range(0..kept.len().max(1));
        kept.get(index).cloned()
    }
}

/// First byte of a connection request, which contains the token.
const REQUEST: u8 = 0;

const MAX_FIRST: usize = 32;
const MAX_LAST: usize = 1024;

/// Faults of the link in each direction.
const CONDITIONS: Conditions = Conditions {
    loss: Loss::Independent { probability: 0.05 },
    duplicate_probability: 0.02,
    reordering: Some(Reordering {
        probability: 0.05,
        min_delay: Duration::from_millis(5),
        max_delay: Duration::from_millis(60),
    }),
    ..Conditions::PERFECT
};

/// A datagram, and whether it is sent from another address.
type Passing = (Vec<u8>, bool);

/// Damages a datagram at random. May add a captured datagram.
fn damage(
    datagram: &[u8],
    captured: &Captured,
    random: &mut impl Rng,
    faults: &mut Counts,
) -> Vec<Passing> {
    let mut datagrams = vec![datagram.to_vec()];
    if random.random_ratio(2, 100)
        && let Some(old) = captured.any(random)
    {
        count(faults, "replayed");
        datagrams.push(old);
    }
    let damage = |mut datagram: Vec<u8>| {
        if random.random_ratio(2, 100) && !datagram.is_empty() {
            count(faults, "flipped");
            let offset = random.random_range(0..datagram.len());
            datagram[offset] ^= 1 << random.random_range(0..8);
        }
        if random.random_ratio(1, 100) {
            count(faults, "truncated");
            datagram.truncate(random.random_range(0..=datagram.len()));
        }
        let is_resourced = random.random_ratio(1, 100);
        if is_resourced {
            count(faults, "sent from another address");
        }
        (datagram, is_resourced)
    };
    datagrams.into_iter().map(damage).collect()
}

fn count(faults: &mut Counts, fault: &'static str) {
    *faults.entry(fault).or_default() += 1.0;
}

/// A relay for one viewer. Direction 0 is from the viewer to the server, direction 1 is back.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The socket that receives in each direction, and sends in the other.
    sockets: [Socket; 2],
    /// Another address that sends in each direction.
    others: [Socket; 2],
    links: [Link<Passing>; 2],
    server: SocketAddr,
    pub(crate) captured: Captured,
}

impl Relay {
    /// Creates a relay to a server. `tally` counts the datagrams exchanged with the server.
    pub(crate) fn new(
        server: SocketAddr,
        tally: &Tally,
        random: &mut ChaCha8Rng,
    ) -> io::Result<Self> {
        let others = Tally::default();
        let mut other = || Socket::bind(random_address(random), &others);
        Ok(Self {
            sockets: [
                Socket::bind(Ipv4Addr::LOCALHOST, &others)?,
                Socket::bind(Ipv4Addr::LOCALHOST, tally)?,
            ],
            others: [other()?, other()?],
            links: [(); 2].map(|()| Link::new(CONDITIONS, random.random())),
            server,
            captured: Captured::default(),
        })
    }

    /// Returns the address for the viewer to connect to.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.sockets[0].address()
    }

    /// Returns a handle of the socket that the server knows as the viewer.
    pub(crate) fn as_viewer(&self) -> Arc<UdpSocket> {
        self.sockets[1].handle()
    }

    /// Forwards datagrams until told to stop. The first sender is taken for the viewer. Returns the number of
    /// datagrams by fault.
    pub(crate) fn run(mut self, should_stop: &AtomicBool, mut random: ChaCha8Rng) -> Counts {
        let (start, mut faults) = (Instant::now(), Counts::new());
        let mut tokens = HashSet::new();
        let mut peers = [None, Some(self.server)];
        let mut buffer = [0; MAX_DATAGRAM_BYTES];
        while !should_stop.load(Ordering::Relaxed) {
            let now = start.elapsed();
            for (direction, peer) in peers.iter_mut().enumerate() {
                while let Some((datagram, from)) = self.sockets[direction].receive(&mut buffer) {
                    if from != *peer.get_or_insert(from) {
                        continue;
                    }
                    if direction == 0 && datagram.first() == Some(&REQUEST) {
                        tokens.insert(datagram.to_vec());
                    }
                    self.captured.add(datagram);
                    for passing in damage(datagram, &self.captured, &mut random, &mut faults) {
                        self.links[direction].send(now, passing.0.len(), passing);
                    }
                }
            }
            self.sockets[1].keys = tokens.len();
            for (direction, to) in [peers[1], peers[0]].into_iter().enumerate() {
                while let Some((datagram, is_resourced)) = self.links[direction].receive(now) {
                    let socket = match is_resourced {
                        true => &mut self.others[direction],
                        false => &mut self.sockets[1 - direction],
                    };
                    if let Some(to) = to {
                        socket.send(&datagram, to);
                    }
                }
            }
            thread::sleep(STEP);
        }
        for stats in self.links.iter().map(Link::stats) {
            for (fault, count) in [
                ("sent", stats.sent),
                ("lost", stats.lost),
                ("duplicated", stats.duplicated),
                ("reordered", stats.reordered),
            ] {
                *faults.entry(fault).or_default() += count as f64;
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Damages 10 000 datagrams.
    fn damaged(seed: u64) -> (Vec<Passing>, Counts) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let captured = Captured::default();
        captured.add(b"captured");
        let mut faults = Counts::new();
        let damaged = (0..10_000_u32)
            .flat_map(|number| damage(&number.to_be_bytes(), &captured, &mut random, &mut faults));
        (damaged.collect(), faults)
    }

    #[test]
    fn each_fault_befalls_some_by_the_seed() {
        let (passing, faults) = damaged(1);
        assert_eq!(passing, damaged(1).0);
        assert_ne!(passing, damaged(2).0);
        assert_eq!(passing.len() as f64, 10_000.0 + faults["replayed"]);
        assert_eq!(faults.len(), 4);
        assert!(faults.values().all(|count| (50.0..400.0).contains(count)), "{faults:?}");
        assert!(passing.iter().any(|(datagram, _)| datagram == b"captured"));
    }

    #[test]
    fn the_first_and_the_last_datagrams_are_kept() {
        let captured = Captured::default();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(captured.any(&mut random), None);
        for number in 0..10_000_u32 {
            captured.add(&number.to_be_bytes());
        }
        for _ in 0..10_000 {
            let any = captured.any(&mut random).unwrap();
            let number = u32::from_be_bytes(any.try_into().unwrap()) as usize;
            assert!(!(MAX_FIRST..10_000 - MAX_LAST).contains(&number));
        }
    }
}
