//! Log lines about clients and unauthenticated peers: a limited number per period, then a count of the others.

use std::collections::HashSet;
use std::net::IpAddr;
use std::time::Duration;

use log::{info, warn};

#[derive(Debug, Default)]
pub(super) struct Reports {
    since: Duration,
    /// Lines about clients in this period, [logged](is_logged) or not.
    clients: usize,
    /// Lines about unauthenticated datagrams in this period, logged or not.
    unauthenticated: usize,
    /// Machines reported in this period.
    reported: HashSet<IpAddr>,
    /// Abandoned handshakes before this period.
    abandoned: u64,
}

/// Counts a line, and returns whether to log it.
const fn is_logged(lines: &mut usize) -> bool {
    *lines += 1;
    *lines <= MAX_LINES
}

impl Reports {
    pub(super) fn client(&mut self, line: &str) {
        if is_logged(&mut self.clients) {
            info!("{line}");
        }
    }

    /// Logs that a datagram was ignored, once per period and machine.
    pub(super) fn unauthenticated(&mut self, from: std::net::SocketAddr) {
        if self.reported.contains(&from.ip()) {
            return;
        }
        if is_logged(&mut self.unauthenticated) {
            self.reported.insert(from.ip());
            warn!(
                "ignored a datagram from {from}: it comes from another program, or from a client that has another \
                 key, connects to another address, or was disconnected; further ones are not logged"
            );
        }
    }

    /// Advances the time. At the end of a period, logs the number of suppressed lines. `abandoned` is the number of
    /// handshakes abandoned since the start.
    pub(super) fn update(&mut self, delta: Duration, abandoned: u64) {
        self.since += delta;
        if self.since < PERIOD {
            return;
        }
        if let Some(line) = self.summary(abandoned) {
            warn!("{line}");
        }
        *self = Self { abandoned, ..Self::default() };
    }

    fn summary(&self, abandoned: u64) -> Option<String> {
        let seconds = PERIOD.as_secs();
        let held_back = |lines: usize| lines.saturating_sub(MAX_LINES) as u64;
        let [clients, peers] = [self.clients, self.unauthenticated].map(held_back);
        let mut counts = vec![
            (clients, "lines about clients that connected or disconnected"),
            (peers, "datagrams of other unauthenticated peers"),
            (abandoned - self.abandoned, "incomplete handshakes"),
        ];
        counts.retain(|(count, _)| *count > 0);
        let counts: Vec<_> = counts.iter().map(|(count, what)| format!("{count} {what}")).collect();
        (!counts.is_empty())
            .then(|| format!("not logged in the last {seconds} s: {}", counts.join(", ")))
    }
}

/// Limit of the lines of each kind in a [`PERIOD`].
const MAX_LINES: usize = 16;

/// Long enough that a flood adds few lines to the log.
const PERIOD: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn a_flood_is_counted_and_later_peers_are_reported_again() {
        let mut reports = Reports::default();
        let peer = |host: u8| SocketAddr::from(([10, 0, 0, host], 1));
        for _ in 0..2_000 {
            reports.client("client 10.0.0.1:1 has connected");
        }
        for host in 0..200 {
            reports.unauthenticated(peer(host));
            reports.unauthenticated(peer(host));
        }
        assert_eq!(reports.reported.len(), MAX_LINES);
        assert_eq!(
            reports.summary(7).unwrap(),
            "not logged in the last 10 s: 1984 lines about clients that connected or disconnected, 368 datagrams \
             of other unauthenticated peers, 7 incomplete handshakes"
        );
        reports.update(PERIOD, 7);
        assert_eq!(reports.summary(7), None);
        reports.unauthenticated(peer(200));
        assert!(reports.reported.contains(&peer(200).ip()));
    }
}
