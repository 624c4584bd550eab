//! Connects and then stops answering, but sends junk that looks like a connection request.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use cubewire_protocol::Ack;
use cubewire_protocol::Feedback;
use rand::{Rng, RngExt};

use super::garbage::HEAD;
use super::{Field, Outcome, is_over};
use crate::caller::{Caller, since_1970};
use crate::viewer::request;
use crate::wire::{MAX_DATAGRAM_BYTES, STEP};

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut longest = Duration::ZERO;
    let mut died = 0;
    // A round that cannot finish gives no result.
    while Instant::now() + ROUND <= until {
        let mut callers = Vec::new();
        for _ in 0..AT_ONCE {
            let mut caller = field.caller(TIMEOUT_SECONDS)?;
            if caller.connect(PATIENCE).is_some() {
                live(field, &mut caller);
                callers.push(caller);
            }
        }
        let round_end = Instant::now() + Duration::from_secs(TIMEOUT_SECONDS) + 2 * SLACK;
        for lasted in die(field, &mut callers, round_end.min(until)) {
            longest = longest.max(lasted);
            died += 1;
        }
        for caller in callers {
            outcome.tally += caller.leave().tally;
        }
    }
    outcome.note = format!(
        "{died} viewers died; the last datagram to one of them came {:.1} s later (timeout: {TIMEOUT_SECONDS} s)",
        longest.as_secs_f64()
    );
    if longest > Duration::from_secs(TIMEOUT_SECONDS) + SLACK {
        outcome.failures.push(format!(
            "a viewer that sent only invalid datagrams was served for {:.1} s (timeout: {TIMEOUT_SECONDS} s)",
            longest.as_secs_f64()
        ));
    }
    // Next to half-open connections it may be impossible to connect.
    if field.is_alone && died == 0 {
        outcome
            .failures
            .push("no viewer of this attack could connect".to_owned());
    }
    Ok(outcome)
}

const TIMEOUT_SECONDS: u64 = 2;
const SLACK: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_millis(500);
const AT_ONCE: usize = 3;
const LIFE: Duration = Duration::from_millis(200);
const JUNK_INTERVAL: Duration = Duration::from_millis(1000);
pub(super) const ROUND: Duration = Duration::from_secs(6);

/// Requests snapshots and acks some.
fn live(field: &Field, caller: &mut Caller) {
    let start = Instant::now();
    while start.elapsed() < LIFE {
        caller.step(usize::MAX);
        caller.request(&request());
        let (newest, earlier) = (field.newest(), 0);
        caller.feedback(&Feedback::Ack(Ack { newest, earlier }));
        thread::sleep(16 * STEP);
    }
}

/// Sends junk. Returns for each connection when its last datagram arrived.
fn die(field: &mut Field, callers: &mut [Caller], until: Instant) -> Vec<Duration> {
    let start = Instant::now();
    let mut last = vec![Duration::ZERO; callers.len()];
    let mut junk_due = start;
    let mut buffer = [0; MAX_DATAGRAM_BYTES];
    while !is_over(until) {
        for (caller, last) in callers.iter_mut().zip(&mut last) {
            while caller.wire.receive(&mut buffer).is_some() {
                *last = start.elapsed();
            }
            if Instant::now() >= junk_due {
                let junk = junk(&mut field.random);
                caller.wire.send(&junk, field.target.server);
            }
        }
        if Instant::now() >= junk_due {
            junk_due += JUNK_INTERVAL;
        }
        thread::sleep(STEP);
    }
    last
}

/// Returns a datagram that looks like a request until it is decrypted.
fn junk(random: &mut impl Rng) -> Vec<u8> {
    let mut bytes = vec![0; 1078];
    random.fill_bytes(&mut bytes);
    bytes[..HEAD.len()].copy_from_slice(&HEAD);
    let expiry = since_1970().as_secs() + random.random_range(10..60);
    bytes[22..30].copy_from_slice(&expiry.to_le_bytes());
    bytes
}
