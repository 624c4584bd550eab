//! Sends invalid messages with the key. Reconnects after each disconnect.

use std::io;
use std::time::{Duration, Instant};

use cubewire_codec::Stages;
use rand::{Rng, RngExt};

use super::requests::{any_request, is_sendable, readable};
use super::{Field, Outcome, is_over};
use crate::caller::Caller;
use crate::viewer::request;

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut sendable = readable(&mut field.random);
    sendable.retain(|&stages| is_sendable(stages));
    let (mut connections, mut ended) = (0_u64, 0_u64);
    let mut pace = field.pace();
    while !is_over(until) {
        let mut caller = field.caller(TIMEOUT_SECONDS)?;
        if caller.connect(PATIENCE).is_some() {
            connections += 1;
            caller.request(&request());
        }
        // Half of the callers first send valid requests that change all the time.
        let is_patient = field.random.random_bool(0.5);
        while !is_over(until) && caller.is_connected() {
            for _ in 0..pace.wait().min(MAX_BURST) {
                match is_patient && field.random.random_ratio(999, 1000) {
                    true => change(&mut caller, &sendable, &mut field.random),
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

const TIMEOUT_SECONDS: u64 = 5;
const PATIENCE: Duration = Duration::from_millis(500);

/// The server ignores messages after an invalid one, so a larger burst has no effect.
const MAX_BURST: u32 = 20;

/// Sends a valid random request.
fn change(caller: &mut Caller, sendable: &[Stages], random: &mut impl Rng) {
    caller.request(&any_request(sendable, random));
}

fn offend(caller: &mut Caller, random: &mut impl Rng) {
    let mut bytes = vec![0; random.random_range(0..1200)];
    random.fill_bytes(&mut bytes);
    match random.random_range(0..10) {
        // A hundred empty reliable messages.
        0 => caller.say(&[&[0, 0, 1, 0, 100][..], &[0; 200]].concat()),
        // A slice or an ack with random numbers.
        1 | 2 => {
            let kind = random.random_range(2..=4);
            caller.say(&[&[kind, 0][..], &bytes].concat());
        }
        // A slice past the end.
        3 => caller.say(&[3, 0, 0, 7, 3, 2, 1, 9]),
        // The first of 256 slices; the messages are never completed.
        4 => {
            let number = random.random::<u8>();
            bytes.resize(1200, 0);
            let slice = [3, 0, 0, 0x40, number, 0, 0x41, 0, 0x44, 0xb0];
            caller.say(&[&slice[..], &bytes].concat());
        }
        5 => caller.reliable(&bytes[..bytes.len().min(64)]),
        6 => caller.unreliable(bytes[..bytes.len().min(16)].to_vec()),
        7 => caller.say(&[]),
        8 => caller.unreliable(bytes.repeat(100)),
        _ => caller.say(&bytes),
    }
}
