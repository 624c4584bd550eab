//! UDP sockets with counters, on loopback addresses only.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rand::{Rng, RngExt};

/// Counts by name. A missing count is 0.
pub(crate) type Counts = BTreeMap<&'static str, f64>;

/// Returns a count.
pub(crate) fn get(counts: &Counts, count: &str) -> f64 {
    counts.get(count).copied().unwrap_or_default()
}

/// Counts of an attack and of its sockets, shared between threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally(Arc<Mutex<Counts>>);

/// Counts of sockets. Bytes are without headers.
pub(crate) const SENT: &str = "datagrams sent";
pub(crate) const SENT_BYTES: &str = "bytes sent";
pub(crate) const RECEIVED: &str = "datagrams received";
pub(crate) const RECEIVED_BYTES: &str = "bytes received";
/// Distinct nonces received, summed over the keys.
pub(crate) const NONCES: &str = "nonces";
/// Further datagrams that reuse a nonce.
pub(crate) const REPEATED: &str = "nonces used again";

impl Tally {
    fn change(&self, count: &'static str, change: impl FnOnce(f64) -> f64) {
        let mut counts = self.0.lock().expect("no thread panics");
        let count = counts.entry(count).or_default();
        *count = change(*count);
    }

    pub(crate) fn add(&self, count: &'static str, more: f64) {
        self.change(count, |before| before + more);
    }

    /// Sets a count to `to` if it is lower.
    pub(crate) fn raise(&self, count: &'static str, to: f64) {
        self.change(count, |before| before.max(to));
    }

    /// Sends and counts a datagram. If the operating system refuses it, it is dropped.
    pub(crate) fn send(&self, socket: &UdpSocket, datagram: &[u8], to: SocketAddr) {
        if socket.send_to(datagram, to).is_ok() {
            self.add(SENT, 1.0);
            self.add(SENT_BYTES, datagram.len() as f64);
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.0.lock().expect("no thread panics").clone()
    }

    pub(crate) fn get(&self, count: &str) -> f64 {
        get(&self.counts(), count)
    }
}

/// A non-blocking socket. The operating system never sends from a loopback address to another machine. All waiting
/// datagrams are counted on drop.
#[derive(Debug)]
pub(crate) struct Socket {
    socket: Arc<UdpSocket>,
    tally: Tally,
    /// Number of tokens sent from this socket. Each token has a key for the answers.
    pub(crate) keys: usize,
    /// For each nonce, hashes of the datagrams that had it.
    nonces: HashMap<u64, Vec<u64>>,
}

impl Socket {
    /// Binds a port that the operating system chooses.
    ///
    /// # Errors
    /// If it cannot be bound, or if the address is not a loopback address.
    pub(crate) fn bind(ip: Ipv4Addr, tally: &Tally) -> io::Result<Self> {
        if !ip.is_loopback() {
            let reason = format!("{ip} is not a loopback address");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let socket = UdpSocket::bind((ip, 0))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket: Arc::new(socket), tally: tally.clone(), keys: 0, nonces: HashMap::new() })
    }

    /// Returns another handle of the socket, without counters.
    pub(crate) fn handle(&self) -> Arc<UdpSocket> {
        Arc::clone(&self.socket)
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(crate) fn send(&self, datagram: &[u8], to: SocketAddr) {
        self.tally.send(&self.socket, datagram, to);
    }

    /// Returns the next received datagram.
    pub(crate) fn receive(&mut self) -> Option<(Vec<u8>, SocketAddr)> {
        let mut buffer = [0; MAX_DATAGRAM_BYTES];
        loop {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) => {
                    self.tally.add(RECEIVED, 1.0);
                    self.tally.add(RECEIVED_BYTES, length as f64);
                    self.count_nonce(&buffer[..length]);
                    return Some((buffer[..length].to_vec(), from));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                // ICMP errors for datagrams sent earlier; the socket still works.
                Err(_) => {}
            }
        }
    }

    /// Counts the nonce of an answer. The key of an answer is unknown, so a nonce counts as reused only if more
    /// different answers have it than there are keys. A duplicate of an answer does not count.
    fn count_nonce(&mut self, datagram: &[u8]) {
        let digits = datagram.split_first();
        let digits = digits.and_then(|(prefix, rest)| rest.get(..usize::from(prefix >> 4)));
        let Some(digits) = digits.filter(|_| self.keys > 0) else {
            return;
        };
        let digits = digits.iter().rev();
        let nonce = digits.fold(0, |nonce, &digit| nonce << 8 | u64::from(digit));
        let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(datagram);
        let hashes = self.nonces.entry(nonce).or_default();
        if !hashes.contains(&hash) {
            hashes.push(hash);
            let is_new = hashes.len() <= self.keys;
            self.tally.add(if is_new { NONCES } else { REPEATED }, 1.0);
        }
    }

    /// Receives and counts all waiting datagrams. Returns whether there were any.
    pub(crate) fn drain(&mut self) -> bool {
        std::iter::from_fn(|| self.receive()).count() > 0
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.drain();
    }
}

/// Longer than any netcode datagram.
const MAX_DATAGRAM_BYTES: usize = 2048;

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
        Self { per_second: per_second.into(), last: Instant::now(), due: 0.0 }
    }

    /// Returns the number of events that have become due by `now`. A pause counts as at most 50 ms.
    pub(crate) fn due(&mut self, now: Instant) -> usize {
        let passed = (now - self.last).min(50 * STEP);
        self.last = now;
        self.due += passed.as_secs_f64() * self.per_second;
        let whole = self.due.floor();
        self.due -= whole;
        whole as usize
    }
}

/// Sleep time of loops.
pub(crate) const STEP: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_datagrams_are_counted_at_both_ends() {
        let tally = Tally::default();
        let error = Socket::bind(Ipv4Addr::UNSPECIFIED, &tally).unwrap_err();
        assert_eq!(error.to_string(), "0.0.0.0 is not a loopback address");
        let [one, mut other] = [(); 2].map(|()| Socket::bind(Ipv4Addr::LOCALHOST, &tally).unwrap());
        for length in [3, 0, 1400] {
            one.send(&vec![7; length], other.address().unwrap());
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
        let mut socket = Socket::bind(Ipv4Addr::LOCALHOST, &tally).unwrap();
        let mut counted = |keys: usize, datagrams: &[&[u8]]| {
            socket.keys = keys;
            datagrams.iter().for_each(|bytes| socket.count_nonce(bytes));
            [NONCES, REPEATED].map(|count| tally.get(count))
        };
        assert_eq!(counted(0, &[&[0x05, 9]]), [0.0; 2]);
        let different: [&[u8]; 4] = [&[0x05, 9], &[0x15, 1, 9], &[0x25, 1, 1, 9], &[0x15, 1, 9]];
        assert_eq!(counted(1, &different), [3.0, 0.0]);
        // Too short for their nonces.
        assert_eq!(counted(1, &[&[0x35, 1], &[]]), [3.0, 0.0]);
        assert_eq!(counted(1, &[&[0x13, 1, 9], &[0x03]]), [3.0, 2.0]);
        // Like answers to a second token, which start with the same nonces.
        assert_eq!(counted(3, &[&[0x15, 1, 8], &[0x15, 1, 7]]), [4.0, 3.0]);
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
