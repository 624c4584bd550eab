//! Has the key, and says what no viewer says; connects again whenever it is sent away.

use std::io;
use std::time::{Duration, Instant};

use cubewire_codec::{Sequence, ladder};
use cubewire_protocol::Request;
use rand::{Rng, RngExt};

use super::{Field, Outcome, is_over, uncompressed};
use crate::caller::Caller;
use crate::packets::{self, REQUESTS, SNAPSHOTS, WELCOME};
use crate::viewer::request;

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let (mut connections, mut ended) = (0_u64, 0_u64);
    let mut pace = field.pace();
    while !is_over(until) {
        let mut caller = field.caller(TIMEOUT_SECONDS)?;
        if caller.connect(PATIENCE).is_some() {
            connections += 1;
            caller.message(REQUESTS, &request().encode());
        }
        // Half of them behave for a while, as requests change.
        let is_patient = field.random.random_bool(0.5);
        while !is_over(until) && caller.is_connected() {
            for _ in 0..pace.wait().min(MAX_BURST) {
                match is_patient && field.random.random_ratio(999, 1000) {
                    true => change(&mut caller, &mut field.random),
                    false => offend(&mut caller, &mut field.random),
                }
            }
            caller.step(usize::MAX);
        }
        ended += u64::from(caller.is_over());
        outcome.tally += caller.leave().tally;
    }
    outcome.note = format!("{connections} connections, {ended} ended by the server");
    Ok(outcome)
}

const TIMEOUT_SECONDS: i32 = 5;
const PATIENCE: Duration = Duration::from_millis(500);

/// Beyond that, what it says after its offence is lost on the server.
const MAX_BURST: u32 = 20;

/// A valid request, unlike the last.
fn change(caller: &mut Caller, random: &mut impl Rng) {
    let rungs: Vec<_> = ladder::all().collect();
    let request = Request {
        number: Sequence(random.random()),
        stages: rungs[random.random_range(0..rungs.len())].stages,
        send_interval_ticks: [1, 2, 3, 6][random.random_range(0..4)],
        budget_kbps: [None, Some(16), Some(1024)][random.random_range(0..3)],
        ..uncompressed()
    };
    caller.message(REQUESTS, &request.encode());
}

fn offend(caller: &mut Caller, random: &mut impl Rng) {
    let sequence = caller.next_sequence();
    let mut any = || random.random::<u64>() >> random.random_range(2..64);
    let numbers = [any(), any(), any(), any()];
    let mut bytes = vec![0; random.random_range(0..1300)];
    random.fill_bytes(&mut bytes);
    let payload = match random.random_range(0..9) {
        // Thousands of messages, all empty.
        0 => {
            let mut packet = packets::message(sequence, REQUESTS, u16::MAX, &[]);
            packet.resize(1200, 0);
            packet
        }
        1 => packets::packet(random.random_range(0..6), numbers[0], WELCOME, &numbers),
        2 => packets::packet(
            3,
            sequence,
            SNAPSHOTS,
            &[numbers[0], numbers[1], numbers[2], 5],
        ),
        3 => packets::packet(2, sequence, WELCOME, &[0, 70_000, 3, 5]),
        // More ranges than there are bytes.
        4 => packets::packet(4, sequence, 9, &[0, 1 << 40, 1, 1]),
        5 => packets::message(sequence, REQUESTS, 1, &bytes[..bytes.len().min(64)]),
        6 => packets::message(sequence, SNAPSHOTS, 1, &bytes[..bytes.len().min(16)]),
        7 => Vec::new(),
        _ => bytes,
    };
    caller.say(&payload);
}
