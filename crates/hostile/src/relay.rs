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

use crate::socket::{STEP, Socket, Tally, random_address};

/// Datagrams that passed the relay in either direction, and how many there were: the first [`MAX_FIRST`], which include
/// the handshake, and the last [`MAX_LAST`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured(Arc<Mutex<(usize, Vec<Vec<u8>>)>>);

impl Captured {
    pub(crate) fn add(&self, datagram: &[u8]) {
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

/// Changes a datagram at random. `other` may become its end.
pub(crate) fn damage(datagram: &mut Vec<u8>, other: &[u8], random: &mut impl Rng) {
    if datagram.is_empty() {
        return;
    }
    let offset = random.random_range(0..datagram.len());
    match random.random_range(0..6) {
        0 | 1 => datagram[offset] ^= 1 << random.random_range(0..8),
        2 => datagram.truncate(offset),
        3 => datagram[0] = random.random(),
        4 => {
            datagram.truncate(offset);
            datagram.extend(&other[offset.min(other.len())..]);
        }
        _ => {
            let more = datagram.len() + random.random_range(0..200);
            datagram.resize(more.min(1400), random.random());
        }
    }
}

/// Returns what passes instead of a datagram: it may be damaged, be sent from another address, or be followed by a
/// captured datagram.
fn spoil(datagram: &[u8], captured: &Captured, random: &mut impl Rng) -> Vec<Passing> {
    let mut datagrams = vec![datagram.to_vec()];
    let other = captured.any(random).unwrap_or_default();
    if random.random_ratio(2, 100) {
        datagrams.push(other.clone());
    }
    let spoil = |mut datagram: Vec<u8>| {
        if random.random_ratio(3, 100) {
            damage(&mut datagram, &other, random);
        }
        (datagram, random.random_ratio(1, 100))
    };
    datagrams.into_iter().map(spoil).collect()
}

/// A relay for one viewer. Direction 0 is from the viewer to the server, direction 1 is back.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The socket that receives in each direction, and sends in the other.
    sockets: [Socket; 2],
    /// Another address that sends in each direction.
    others: [Socket; 2],
    links: [Link<Passing>; 2],
    pub(crate) captured: Captured,
}

impl Relay {
    /// Creates a relay. `tally` counts the datagrams exchanged with the server.
    pub(crate) fn new(tally: &Tally, random: &mut ChaCha8Rng) -> io::Result<Self> {
        let others = Tally::default();
        let mut other = || Socket::bind(random_address(random), &others);
        Ok(Self {
            sockets: [
                Socket::bind(Ipv4Addr::LOCALHOST, &others)?,
                Socket::bind(Ipv4Addr::LOCALHOST, tally)?,
            ],
            others: [other()?, other()?],
            links: [(); 2].map(|()| Link::new(CONDITIONS, random.random())),
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

    /// Forwards datagrams to and from a server until told to stop. The first sender is taken for the viewer.
    pub(crate) fn run(
        mut self,
        server: SocketAddr,
        should_stop: &AtomicBool,
        mut random: ChaCha8Rng,
    ) {
        let start = Instant::now();
        let mut tokens = HashSet::new();
        let mut peers = [None, Some(server)];
        while !should_stop.load(Ordering::Relaxed) {
            let now = start.elapsed();
            for (direction, peer) in peers.iter_mut().enumerate() {
                while let Some((datagram, from)) = self.sockets[direction].receive() {
                    if from != *peer.get_or_insert(from) {
                        continue;
                    }
                    if direction == 0 && datagram.first() == Some(&REQUEST) {
                        tokens.insert(datagram.clone());
                    }
                    self.captured.add(&datagram);
                    for passing in spoil(&datagram, &self.captured, &mut random) {
                        self.links[direction].send(now, passing.0.len(), passing);
                    }
                }
            }
            self.sockets[1].keys = tokens.len();
            for (direction, to) in [peers[1], peers[0]].into_iter().enumerate() {
                while let Some((datagram, is_from_another)) = self.links[direction].receive(now) {
                    let socket = match is_from_another {
                        true => &self.others[direction],
                        false => &self.sockets[1 - direction],
                    };
                    if let Some(to) = to {
                        socket.send(&datagram, to);
                    }
                }
            }
            thread::sleep(STEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn each_fault_befalls_some_by_the_seed() {
        const COUNT: u32 = 10_000;
        let captured = Captured::default();
        captured.add(b"captured");
        let spoilt = |seed| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let numbers = (0..COUNT).map(u32::to_be_bytes);
            numbers.map(|number| spoil(&number, &captured, &mut random)).collect::<Vec<_>>()
        };
        let passing = spoilt(1);
        assert_eq!(passing, spoilt(1));
        assert_ne!(passing, spoilt(2));
        let count = |is: &dyn Fn(&[Passing], [u8; 4]) -> bool| {
            passing.iter().zip(0..COUNT).filter(|(all, n)| is(all, n.to_be_bytes())).count()
        };
        let replayed = count(&|all, _| all.len() == 2);
        let damaged = count(&|all, number| all[0].0 != number);
        let elsewhere = count(&|all, _| all[0].1);
        for count in [replayed, damaged, elsewhere] {
            assert!((50..400).contains(&count), "{count} of {COUNT}");
        }
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
