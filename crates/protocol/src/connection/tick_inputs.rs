//! The client's tick inputs: recent ones, and the server's reports on them.

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_codec::Sequence;

use super::input_clock::InputClock;
use super::report::{InputReport, Report};
use crate::clock::SenderClock;

/// Limit of the kept inputs, and of the kept reports: four seconds at 60 Hz.
const KEPT: usize = 256;

/// No inputs are due if no datagram has arrived for this time: they would fill the queue of a paused server.
const PATIENCE: Duration = Duration::from_secs(1);

/// Datagrams have no reports if no input was pushed for this number of ticks. After a longer pause of the server, the client's clock
/// is too inaccurate to tell reports from packets.
const EXPECTING_TICKS: f64 = 14_000.0;

#[derive(Debug, Default)]
pub(super) struct TickInputs {
    clock: InputClock,
    advanced: Option<Duration>,
    /// When the last datagram arrived.
    heard: Option<Duration>,
    /// Number of the last input.
    newest: u64,
    /// The last inputs, oldest first.
    pushed: VecDeque<Pushed>,
    /// By tick, ascending.
    reports: VecDeque<InputReport>,
}

#[derive(Debug)]
struct Pushed {
    input: Vec<u8>,
    at: Duration,
    phase: f64,
}

impl TickInputs {
    pub(super) fn due(&mut self, now: Duration, server: &SenderClock) -> usize {
        let elapsed = now.saturating_sub(self.advanced.unwrap_or(now));
        self.advanced = Some(now);
        if self.heard.is_none_or(|heard| now > heard + PATIENCE) {
            return 0;
        }
        let ticks = elapsed.as_secs_f64() * server.rate / server.tick_seconds;
        self.clock.advance(ticks, self.newest)
    }

    pub(super) fn push(&mut self, now: Duration, input: Vec<u8>) -> u64 {
        if self.pushed.len() == KEPT {
            self.pushed.pop_front();
        }
        self.newest += 1;
        self.pushed.push_back(Pushed { input, at: now, phase: self.clock.phase });
        self.newest
    }

    fn get(&self, number: u64) -> Option<&Pushed> {
        let from_end = self.newest.checked_sub(number)?;
        let index = self.pushed.len().checked_sub(usize::try_from(from_end).ok()? + 1)?;
        self.pushed.get(index)
    }

    /// Splits off the report of a datagram that arrived at `now`, if it has one. Returns the packet.
    pub(super) fn split(
        &mut self,
        now: Duration,
        server: &SenderClock,
        datagram: &[u8],
    ) -> Option<Vec<u8>> {
        self.heard = Some(now);
        let &[first, second, ..] = datagram else { return None };
        let expecting = Duration::from_secs_f64(EXPECTING_TICKS * server.tick_seconds);
        let is_expecting = self.pushed.back().is_some_and(|last| now <= last.at + expecting);
        let sequence = u16::from_be_bytes([first, second]);
        let off = sequence.wrapping_sub(server.expected(now).round() as u64 as u16) as i16;
        if !is_expecting || off.unsigned_abs() < FAR {
            return None;
        }
        let (report, packet) = Report::split(datagram)?;
        self.reported(server.tick_of(now, Sequence(sequence ^ (1 << 15))), report);
        Some(packet)
    }

    fn reported(&mut self, tick: u64, report: Report<'_>) {
        let before_newest = (self.newest as u16).wrapping_sub(report.used);
        let used = self.newest.saturating_sub(before_newest.into());
        let Report { queued, own, .. } = report;
        let last = (used + u64::from(queued).saturating_sub(1)).min(self.newest);
        if let Some(phase) = self.get(last).map(|last| last.phase) {
            self.clock.reported(f64::from(queued) - 1.0, phase);
        }
        let index = self.reports.partition_point(|report| report.tick < tick);
        self.reports.insert(index, InputReport { tick, used, queued, own: own.to_vec() });
        if self.reports.len() > KEPT {
            self.reports.pop_front();
        }
    }

    pub(super) fn report(&self, tick: u64) -> Option<&InputReport> {
        let after = self.reports.partition_point(|report| report.tick <= tick);
        self.reports.get(after.checked_sub(1)?)
    }

    pub(super) fn after(&self, number: u64) -> impl Iterator<Item = &[u8]> {
        let count = usize::try_from(self.newest.saturating_sub(number)).unwrap_or(usize::MAX);
        let first = self.pushed.len().saturating_sub(count);
        self.pushed.range(first..).map(|pushed| &*pushed.input)
    }

    pub(super) fn newest_age(&self, now: Duration) -> Option<Duration> {
        self.pushed.back().map(|newest| now.saturating_sub(newest.at))
    }

    pub(super) fn age(&self, now: Duration, tick: u64) -> Option<Duration> {
        let pushed = self.get(self.report(tick)?.used)?;
        Some(now.saturating_sub(pushed.at))
    }
}

/// Smallest distance of a report's first number from the expected sequence number. It is usually near 2¹⁵.
const FAR: u16 = 1 << 14;
