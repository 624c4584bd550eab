//! UDP sockets with counters, on loopback addresses only.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io;
use std::iter;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cubewire_protocol::netcode::sequence;
use rand::{Rng, RngExt};

/// Counts by name. A missing count is 0.
pub type Counts = BTreeMap<&'static str, f64>;

pub fn get(counts: &Counts, count: &str) -> f64 {
    counts.get(count).copied().unwrap_or_default()
}

/// Counts of an attack and of its sockets, shared between threads.
#[derive(Clone, Debug, Default)]
pub struct Tally(Arc<Mutex<Counts>>);

/// Counts of sockets. Bytes are without headers.
pub const SENT: &str = "datagrams sent";
pub const SENT_BYTES: &str = "bytes sent";
pub const RECEIVED: &str = "datagrams received";
pub const RECEIVED_BYTES: &str = "bytes received";
/// Distinct nonces received, summed over the keys.
pub const NONCES: &str = "nonces";
/// Further datagrams that reuse a nonce.
pub const REPEATED: &str = "nonces used again";

impl Tally {
    fn change(&self, count: &'static str, change: impl FnOnce(f64) -> f64) {
        let mut counts = self.0.lock().expect("no thread panics");
        let count = counts.entry(count).or_default();
        *count = change(*count);
    }

    pub fn add(&self, count: &'static str, more: f64) {
        self.change(count, |before| before + more);
    }

    /// Sets a count to `to` if it is lower.
    pub fn raise(&self, count: &'static str, to: f64) {
        self.change(count, |before| before.max(to));
    }

    /// Sends and counts a datagram. If the operating system refuses it, it is dropped.
    pub fn send(&self, socket: &UdpSocket, datagram: &[u8], to: SocketAddr) {
        if socket.send_to(datagram, to).is_ok() {
            self.add(SENT, 1.0);
            self.add(SENT_BYTES, datagram.len() as f64);
        }
    }

    pub fn counts(&self) -> Counts {
        self.0.lock().expect("no thread panics").clone()
    }

    pub fn get(&self, count: &str) -> f64 {
        get(&self.counts(), count)
    }
}

/// Datagrams that an honest viewer has sent or received, and how many there were: the first 32, which include
/// the handshake, and the last 1024.
#[derive(Clone, Debug, Default)]
pub struct Captured(Arc<Mutex<(usize, Vec<Vec<u8>>)>>);

const MAX_FIRST: usize = 32;
const MAX_LAST: usize = 1024;

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
    pub fn any(&self, random: &mut impl Rng) -> Option<Vec<u8>> {
        let (_, kept) = &*self.0.lock().expect("no thread panics");
        let index = random.random_range(0..kept.len().max(1));
        kept.get(index).cloned()
    }
}

/// A non-blocking socket. The operating system never sends from a loopback address to another machine. All waiting
/// datagrams are counted on drop.
#[derive(Debug)]
pub struct Socket {
    socket: Arc<UdpSocket>,
    tally: Tally,
    /// Gets all datagrams, if there is one.
    pub captured: Option<Captured>,
    /// Number of tokens sent from this socket. Each token has a key for the answers.
    pub keys: usize,
    /// For each nonce, hashes of the datagrams that had it.
    nonces: HashMap<u64, HashSet<u64>>,
}

impl Socket {
    /// Binds a port that the operating system chooses, at the address 127.a.b.c. Addresses that start with 127 are
    /// loopback addresses.
    ///
    /// # Panics
    /// If it cannot be bound.
    pub fn bind([a, b, c]: [u8; 3], tally: &Tally) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::new(127, a, b, c), 0)).expect("a free port");
        socket.set_nonblocking(true).expect("a socket that need not block");
        let (socket, tally) = (Arc::new(socket), tally.clone());
        Self { socket, tally, captured: None, keys: 0, nonces: HashMap::new() }
    }

    /// Returns another handle of the socket, without counters.
    pub fn handle(&self) -> Arc<UdpSocket> {
        Arc::clone(&self.socket)
    }

    pub fn send(&self, datagram: &[u8], to: SocketAddr) {
        self.capture(datagram);
        self.tally.send(&self.socket, datagram, to);
    }

    fn capture(&self, datagram: &[u8]) {
        if let Some(captured) = &self.captured {
            captured.add(datagram);
        }
    }

    /// Returns the next received datagram.
    pub fn receive(&mut self) -> Option<(Vec<u8>, SocketAddr)> {
        let mut buffer = [0; MAX_DATAGRAM_BYTES];
        loop {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) => {
                    self.tally.add(RECEIVED, 1.0);
                    self.tally.add(RECEIVED_BYTES, length as f64);
                    self.count_nonce(&buffer[..length]);
                    self.capture(&buffer[..length]);
                    return Some((buffer[..length].to_vec(), from));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                // ICMP errors for datagrams sent earlier; the socket still works.
                Err(_) => {}
            }
        }
    }

    /// Counts the nonce of an answer, which is its sequence number. The key of an answer is unknown, so a nonce counts as
    /// reused only if more different answers have it than there are keys. A duplicate of an answer does not count.
    fn count_nonce(&mut self, datagram: &[u8]) {
        let Some(nonce) = sequence(datagram).filter(|_| self.keys > 0) else {
            return;
        };
        let hashes = self.nonces.entry(nonce).or_default();
        if hashes.insert(BuildHasherDefault::<DefaultHasher>::new().hash_one(datagram)) {
            let is_new = hashes.len() <= self.keys;
            self.tally.add(if is_new { NONCES } else { REPEATED }, 1.0);
        }
    }

    /// Receives and counts all waiting datagrams. Returns whether there were any.
    pub fn drain(&mut self) -> bool {
        iter::from_fn(|| self.receive()).count() > 0
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.drain();
    }
}

/// Longer than any netcode datagram.
const MAX_DATAGRAM_BYTES: usize = 2048;

/// The usual loopback address, 127.0.0.1, for [`Socket::bind`].
pub const LOCALHOST: [u8; 3] = [0, 0, 1];

/// Spreads a number of events per second evenly.
#[derive(Debug)]
pub struct Pace {
    per_second: f64,
    last: Instant,
    due: f64,
}

impl Pace {
    pub fn new(per_second: u32) -> Self {
        Self { per_second: per_second.into(), last: Instant::now(), due: 0.0 }
    }

    /// Returns the number of events that have become due by `now`. A pause counts as at most 50 ms.
    pub fn due(&mut self, now: Instant) -> usize {
        let passed = (now - self.last).min(50 * STEP);
        self.last = now;
        self.due += passed.as_secs_f64() * self.per_second;
        let whole = self.due.floor();
        self.due -= whole;
        whole as usize
    }
}

/// Sleep time of loops.
pub const STEP: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn loopback_datagrams_are_counted_at_both_ends() {
        let tally = Tally::default();
        let [one, mut other] = [(); 2].map(|()| Socket::bind(LOCALHOST, &tally));
        for length in [3, 0, 1400] {
            one.send(&vec![7; length], other.socket.local_addr().unwrap());
        }
        while tally.get(RECEIVED) < 3.0 {
            other.drain();
        }
        let counts = [SENT, SENT_BYTES, RECEIVED, RECEIVED_BYTES].map(|count| tally.get(count));
        assert_eq!(counts, [3.0, 1403.0, 3.0, 1403.0]);
    }

    #[test]
    fn a_nonce_is_repeated_with_other_bytes_and_no_other_key() {
        let tally = Tally::default();
        let mut socket = Socket::bind(LOCALHOST, &tally);
        let mut counted = |keys: usize, datagrams: &[&[u8]]| {
            socket.keys = keys;
            let signed = datagrams.iter().map(|bytes| [*bytes, &[0; 16]].concat());
            signed.for_each(|datagram| socket.count_nonce(&datagram));
            [NONCES, REPEATED].map(|count| tally.get(count))
        };
        assert_eq!(counted(0, &[&[0x05, 9]]), [0.0; 2]);
        let different: [&[u8]; 4] = [&[0x05, 9], &[0x15, 1, 9], &[0x25, 1, 1, 9], &[0x15, 1, 9]];
        assert_eq!(counted(1, &different), [3.0, 0.0]);
        // Too short for its nonce.
        assert_eq!(counted(1, &[&[0x35, 1]]), [3.0, 0.0]);
        assert_eq!(counted(1, &[&[0x13, 1, 9], &[0x03]]), [3.0, 2.0]);
        // Like answers to a second token, which start with the same nonces.
        assert_eq!(counted(3, &[&[0x15, 1, 8], &[0x15, 1, 7]]), [4.0, 3.0]);
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

    #[test]
    fn pauses_are_not_made_up_for() {
        let mut pace = Pace::new(2000);
        let start = pace.last;
        assert_eq!(pace.due(start + 300 * STEP), 100);
        let due: usize = (301..=500).map(|ms| pace.due(start + ms * STEP)).sum();
        assert!((399..=400).contains(&due), "{due}");
    }
}
