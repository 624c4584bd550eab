//! UDP sockets with counters, on loopback addresses only.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::ops::AddAssign;
use std::thread;
use std::time::{Duration, Instant};

use rand::{Rng, RngExt};
use serde::Serialize;

/// Number of datagrams, and their bytes without headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) received: u64,
    pub(crate) received_bytes: u64,
    /// Number of keys that received datagrams were encrypted under.
    pub(crate) keys: u64,
    /// Number of distinct nonces received, summed over the keys.
    pub(crate) numbers: u64,
    /// Number of further datagrams that reuse a nonce.
    pub(crate) repeated: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.received += other.received;
        self.received_bytes += other.received_bytes;
        self.keys += other.keys;
        self.numbers += other.numbers;
        self.repeated += other.repeated;
    }
}

/// A non-blocking socket. The operating system never sends from a loopback address to another machine.
#[derive(Debug)]
pub(crate) struct Wire {
    socket: UdpSocket,
    pub(crate) tally: Tally,
    /// Number of tokens sent from this socket. Each token has a key for the answers.
    pub(crate) keys: usize,
    /// For each nonce, hashes of the datagrams that had it.
    numbers: HashMap<u64, Vec<u64>>,
}

impl Wire {
    /// Binds a port that the operating system chooses.
    ///
    /// # Errors
    /// If it cannot be bound, or if the address is not a loopback address.
    pub(crate) fn bind(ip: Ipv4Addr) -> io::Result<Self> {
        if !ip.is_loopback() {
            let kind = io::ErrorKind::InvalidInput;
            return Err(io::Error::new(
                kind,
                format!("{ip} is not a loopback address"),
            ));
        }
        let socket = UdpSocket::bind((ip, 0))?;
        socket.set_nonblocking(true)?;
        Ok(Self::of(socket))
    }

    /// Returns another handle of the socket, with counters at zero.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self::of(self.socket.try_clone()?))
    }

    fn of(socket: UdpSocket) -> Self {
        Self {
            socket,
            tally: Tally::default(),
            keys: 0,
            numbers: HashMap::new(),
        }
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Sends a datagram. If the operating system refuses it, it is dropped.
    pub(crate) fn send(&mut self, datagram: &[u8], to: SocketAddr) {
        if self.socket.send_to(datagram, to).is_ok() {
            self.tally.sent += 1;
            self.tally.sent_bytes += datagram.len() as u64;
        }
    }

    /// Returns the next received datagram.
    pub(crate) fn receive<'a>(
        &mut self,
        buffer: &'a mut [u8],
    ) -> Option<(&'a mut [u8], SocketAddr)> {
        loop {
            match self.socket.recv_from(buffer) {
                Ok((length, from)) => {
                    self.tally.received += 1;
                    self.tally.received_bytes += length as u64;
                    self.count_number(&buffer[..length]);
                    return Some((&mut buffer[..length], from));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                // ICMP errors for datagrams sent earlier; the socket still works.
                Err(_) => {}
            }
        }
    }

    /// Counts the nonce of an answer. The key of an answer is unknown, so a nonce counts as reused only if more
    /// different answers have it than there are keys. A duplicate of an answer does not count.
    fn count_number(&mut self, datagram: &[u8]) {
        let digits = datagram.split_first();
        let digits = digits.and_then(|(prefix, rest)| rest.get(..usize::from(prefix >> 4)));
        let Some(digits) = digits.filter(|_| self.keys > 0) else {
            return;
        };
        let number = digits.iter().rev();
        let number = number.fold(0, |number, &digit| number << 8 | u64::from(digit));
        let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(datagram);
        let hashes = self.numbers.entry(number).or_default();
        if hashes.contains(&hash) {
            return;
        }
        hashes.push(hash);
        self.tally.keys = self.keys as u64;
        match hashes.len() <= self.keys {
            true => self.tally.numbers += 1,
            false => self.tally.repeated += 1,
        }
    }

    /// Receives and counts all waiting datagrams.
    pub(crate) fn drain(&mut self) {
        let mut buffer = [0; MAX_DATAGRAM_BYTES];
        while self.receive(&mut buffer).is_some() {}
    }
}

/// Longer than any netcode datagram.
pub(crate) const MAX_DATAGRAM_BYTES: usize = 2048;

/// Returns a random address in 127.0.0.0/8.
pub(crate) fn random_address(random: &mut impl Rng) -> Ipv4Addr {
    let [a, b, c] = [(); 3].map(|()| random.random_range(1..255));
    Ipv4Addr::new(127, a, b, c)
}

/// Spreads a number of events per second evenly.
#[derive(Debug)]
pub(crate) struct Pace {
    per_second: f64,
    last: Instant,
    due: f64,
}

impl Pace {
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            per_second: per_second.into(),
            last: Instant::now(),
            due: 0.0,
        }
    }

    /// Sleeps for [`STEP`] and returns the number of events that are due.
    pub(crate) fn wait(&mut self) -> u32 {
        thread::sleep(STEP);
        self.due_at(Instant::now())
    }

    /// Returns the number of events that are due. A pause counts as at most [`MOST_AT_ONCE`].
    fn due_at(&mut self, now: Instant) -> u32 {
        let passed = (now - self.last).min(MOST_AT_ONCE);
        self.last = now;
        self.due += passed.as_secs_f64() * self.per_second;
        let whole = self.due.floor();
        self.due -= whole;
        whole as u32
    }
}

/// Sleep time of loops.
pub(crate) const STEP: Duration = Duration::from_millis(1);

const MOST_AT_ONCE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn only_loopback_addresses_are_bound() {
        let error = Wire::bind(Ipv4Addr::UNSPECIFIED).unwrap_err();
        assert_eq!(error.to_string(), "0.0.0.0 is not a loopback address");
        assert!(Wire::bind(Ipv4Addr::new(192, 168, 0, 1)).is_err());
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..1000 {
            assert!(random_address(&mut random).is_loopback());
        }
    }

    #[test]
    fn both_ends_count_the_same() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let [mut one, mut other] =
            [(); 2].map(|()| Wire::bind(random_address(&mut random)).unwrap());
        for length in [3, 0, 1400] {
            one.send(&vec![7; length], other.address().unwrap());
        }
        for _ in 0..18_000 {
            other.drain();
            if other.tally.received == 3 {
                break;
            }
            thread::sleep(10 * STEP);
        }
        assert_eq!((one.tally.sent, one.tally.sent_bytes), (3, 1403));
        assert_eq!(
            (other.tally.received, other.tally.received_bytes),
            (3, 1403)
        );
    }

    #[test]
    fn a_number_counts_as_repeated_with_other_bytes_and_without_another_key() {
        let mut wire = Wire::bind(Ipv4Addr::LOCALHOST).unwrap();
        let mut counted = |keys: usize, datagrams: &[&[u8]]| {
            wire.keys = keys;
            for datagram in datagrams {
                wire.count_number(datagram);
            }
            [wire.tally.keys, wire.tally.numbers, wire.tally.repeated]
        };
        assert_eq!(counted(0, &[&[0x05, 9]]), [0; 3]);
        let different: [&[u8]; 4] = [&[0x05, 9], &[0x15, 1, 9], &[0x25, 1, 1, 9], &[0x15, 1, 9]];
        assert_eq!(counted(1, &different), [1, 3, 0]);
        // Too short for their nonces.
        assert_eq!(counted(1, &[&[0x35, 1], &[]]), [1, 3, 0]);
        assert_eq!(counted(1, &[&[0x13, 1, 9], &[0x03]]), [1, 3, 2]);
        // Like answers to a second token, which start with the same nonces.
        assert_eq!(counted(3, &[&[0x15, 1, 8], &[0x15, 1, 7]]), [3, 4, 3]);
    }

    #[test]
    fn the_pace_is_kept_and_pauses_are_not_made_up_for() {
        let mut pace = Pace::new(2000);
        let start = pace.last;
        assert_eq!(pace.due_at(start + 300 * STEP), 100);
        let due: u32 = (301..=500).map(|ms| pace.due_at(start + ms * STEP)).sum();
        assert!((399..=400).contains(&due), "{due}");
    }
}
