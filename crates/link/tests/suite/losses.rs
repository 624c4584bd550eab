//! Loss fractions and burst lengths.

use cubewire_link::{Conditions, Jitter, Loss};

use crate::{arrivals, assert_near, ms};

const PACKETS: usize = 200_000;

/// Whether each packet was lost.
fn lost(conditions: &Conditions, seed: u64) -> Vec<bool> {
    let mut lost = vec![true; PACKETS];
    for arrival in arrivals(conditions, seed, PACKETS, ms(16)) {
        lost[arrival.number] = false;
    }
    lost
}

fn losing(loss: Loss) -> Conditions {
    Conditions { loss, ..Conditions::PERFECT }
}

fn fraction(lost: &[bool]) -> f64 {
    lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
}

/// Lengths of the runs of lost packets.
fn bursts(lost: &[bool]) -> Vec<usize> {
    lost.chunk_by(|a, b| a == b).filter(|run| run[0]).map(<[bool]>::len).collect()
}

fn mean_burst(lost: &[bool]) -> f64 {
    let bursts = bursts(lost);
    bursts.iter().sum::<usize>() as f64 / bursts.len() as f64
}

#[test]
fn independent_loss_has_the_given_fraction_and_no_bursts() {
    let lost = lost(&losing(Loss::Independent { probability: 0.05 }), 1);
    assert_near(fraction(&lost), 0.05, 0.03);
    assert_near(mean_burst(&lost), 1.0 / 0.95, 0.01);
}

#[test]
fn bursts_have_the_given_loss_fraction_and_mean_length() {
    for (seed, loss_fraction, burst_packets) in [(2, 0.05, 3.0), (3, 0.2, 4.0), (4, 0.01, 10.0)] {
        let lost = lost(&losing(Loss::bursts(loss_fraction, burst_packets)), seed);
        assert_near(fraction(&lost), loss_fraction, 0.1);
        assert_near(mean_burst(&lost), burst_packets, 0.08);
    }
}

#[test]
fn burst_lengths_are_geometrically_distributed() {
    let lost = lost(&losing(Loss::bursts(0.2, 4.0)), 5);
    let bursts = bursts(&lost);
    for (packets, expected) in [(1, 0.25), (2, 0.75 * 0.25), (3, 0.75 * 0.75 * 0.25)] {
        let count = bursts.iter().filter(|burst| **burst == packets).count();
        assert_near(count as f64 / bursts.len() as f64, expected, 0.05);
    }
    let long = bursts.iter().filter(|burst| **burst > 8).count();
    assert_near(long as f64 / bursts.len() as f64, 0.75_f64.powi(8), 0.08);
}

#[test]
fn each_state_has_its_loss_fraction() {
    let loss =
        Loss::GilbertElliott { to_bad: 0.02, to_good: 0.08, loss_in_good: 0.01, loss_in_bad: 0.5 };
    let lost = lost(&losing(loss), 6);
    assert_near(fraction(&lost), 0.8 * 0.01 + 0.2 * 0.5, 0.05);
    assert_near(fraction(&lost), loss.mean_fraction(), 0.05);
    // After a lost packet the state is bad with probability 0.1 / 0.108, and stays bad with 0.92.
    let pairs: Vec<bool> = lost.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
    let bad = 0.1 / 0.108;
    let stays_bad = bad * 0.92 + (1.0 - bad) * 0.02;
    let expected = stays_bad * 0.5 + (1.0 - stays_bad) * 0.01;
    assert_near(fraction(&pairs), expected, 0.05);
}

#[test]
fn other_conditions_do_not_change_which_packets_are_lost() {
    for loss in [Loss::Independent { probability: 0.1 }, Loss::bursts(0.1, 4.0)] {
        let alone = lost(&losing(loss), 8);
        let combined = lost(
            &Conditions {
                latency: ms(50),
                jitter: Jitter::LogNormal { median: ms(10), sigma: 1.0 },
                duplicate_probability: 0.3,
                ..losing(loss)
            },
            8,
        );
        assert_eq!(alone, combined);
    }
}

#[test]
fn packets_lost_at_a_small_loss_are_lost_at_a_larger_one() {
    let losing = |probability| lost(&losing(Loss::Independent { probability }), 9);
    let (small, large) = (losing(0.05), losing(0.1));
    assert!(small.contains(&true));
    assert!(small.iter().zip(&large).all(|(small, large)| large >= small));
}
