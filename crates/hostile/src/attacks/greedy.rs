//! Requests the largest snapshots and acks snapshots that have not arrived, with the key.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use cubewire_codec::Sequence;
use cubewire_protocol::{Ack, Feedback};
use rand::RngExt;

use super::{Field, Outcome, is_over, uncompressed};
use crate::wire::STEP;

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let start = Instant::now();
    let (mut connections, mut ended) = (0, 0);
    while !is_over(until) {
        let mut caller = field.caller(TIMEOUT_SECONDS)?;
        if caller.connect(PATIENCE).is_some() {
            connections += 1;
            caller.request(&uncompressed());
        }
        // Half of the callers also ack snapshots that have not been sent.
        let is_bold = field.random.random_bool(0.5);
        let mut newest = 0;
        while !is_over(until) && caller.is_connected() {
            caller.step(usize::MAX);
            newest += field.random.random_range(0..64);
            let (ahead, earlier) = match is_bold {
                true => (field.random.random_range(0..8), u32::MAX),
                false => (0, 0),
            };
            let feedback = Feedback::Ack(Ack {
                newest: Sequence(field.newest().0.wrapping_add(ahead)),
                earlier,
            });
            caller.feedback(&feedback);
            if newest % 64 == 0 {
                caller.request(&uncompressed());
            }
            thread::sleep(8 * STEP);
        }
        ended += u32::from(caller.is_over());
        outcome.tally += caller.leave().tally;
    }
    let bits = 8.0 * outcome.tally.received_bytes as f64;
    let mbps = bits / 1e6 / start.elapsed().as_secs_f64();
    outcome.note =
        format!("{connections} connections, {ended} ended by the server; {mbps:.1} Mbps");
    Ok(outcome)
}

const TIMEOUT_SECONDS: u64 = 10;
const PATIENCE: Duration = Duration::from_secs(1);
