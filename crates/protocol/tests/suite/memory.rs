//! Memory of both ends while a recording is played through them, as the game does.

use allocation_counter::measure;
use cubewire_codec::ladder::{CHANGED_FLAGS, PREDICTED};
use cubewire_protocol::{BaselineChoice, MAX_BASELINE_AGE_TICKS, RECEIVER_RING};

use crate::play::Play;
use crate::recording;

const SENDER_RING: usize = MAX_BASELINE_AGE_TICKS as usize + 1;

#[test]
fn a_baseline_takes_at_most_31_kilobytes_with_all_that_an_end_has() {
    let frames = recording::frames("dev-mix");
    let mut figures = Vec::new();
    let total = measure(|| {
        let mut play = Play::new(&frames[0], PREDICTED.stages);
        for frame in &frames[..RECEIVER_RING + 20] {
            play.send(frame, BaselineChoice::Newest);
            play.deliver(true);
        }
        figures = vec![play.sender.memory_bytes(), play.receiver.memory_bytes()];
        // Not dropped inside, so that what is left at the end is what it has taken.
        std::mem::forget(play);
    });
    let [sender, receiver] = figures[..] else {
        panic!("both ends have been asked");
    };
    println!(
        "sender {sender}, receiver {receiver}, both with all else {}",
        total.bytes_current
    );
    assert!(sender < 31_000 * SENDER_RING, "{sender}");
    assert!(receiver < 31_000 * RECEIVER_RING, "{receiver}");
    // Besides the baselines: headers of shared memory, a copy or two of a snapshot for work, and the snapshots
    // that wait to be played, in floats.
    let all = (SENDER_RING + RECEIVER_RING) as i64 * 32_000 + 2_000_000;
    assert!(total.bytes_current < all, "{}", total.bytes_current);
}

#[test]
fn nothing_is_allocated_once_warm() {
    let frames = &recording::frames("dev-mix")[300..400];
    for (stages, choice) in [
        (CHANGED_FLAGS.stages, BaselineChoice::Newest),
        (PREDICTED.stages, BaselineChoice::Newest),
        (PREDICTED.stages, BaselineChoice::Smallest),
    ] {
        let mut play = Play::new(&frames[0], stages);
        let mut run = |times| {
            for frame in frames.iter().cycle().take(times * frames.len()) {
                play.send(frame, choice);
                play.deliver(true);
            }
        };
        // The first times begin with empty rings, and adaptive states are not yet those of this recording.
        let settled = (0..8).any(|_| measure(|| run(1)).count_total == 0);
        assert!(settled, "{:?}, {choice:?}", stages.delta);
    }
}
