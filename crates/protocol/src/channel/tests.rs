use cubewire_link::{Conditions, Jitter, Link, Loss};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const TICK: Duration = Duration::from_millis(16);

/// Two ends, each over a link of its own.
struct Pair {
    ends: [MessageChannel; 2],
    links: [Link<Vec<u8>>; 2],
    now: Duration,
}

impl Pair {
    fn over(conditions: &Conditions, seed: u64) -> Self {
        Self {
            ends: Default::default(),
            links: [0, 1].map(|way| Link::new(conditions.clone(), seed * 2 + way)),
            now: Duration::ZERO,
        }
    }

    fn new(loss: f64, seed: u64) -> Self {
        let conditions = Conditions {
            latency: Duration::from_millis(40),
            jitter: Jitter::Uniform {
                spread: Duration::from_millis(30),
            },
            loss: Loss::bursts(loss, 1.0),
            duplicate_probability: loss / 2.0,
            ..Conditions::PERFECT
        };
        Self::over(&conditions, seed)
    }

    /// The largest bytes of a flush of the first end.
    fn step(&mut self, allowance: usize) -> usize {
        let mut most = 0;
        for from in [0, 1] {
            let datagrams = self.ends[from].flush(self.now, allowance, 28);
            let wire = |datagram: &Vec<u8>| datagram.len() + 28;
            if from == 0 {
                most = datagrams.iter().map(wire).sum();
            }
            for datagram in datagrams {
                assert!(datagram.len() <= MAX_DATAGRAM_BYTES);
                self.links[from].send(self.now, wire(&datagram), datagram);
            }
        }
        self.now += TICK;
        for from in [0, 1] {
            while let Some(datagram) = self.links[from].receive(self.now) {
                self.ends[1 - from]
                    .on_datagram(self.now, &datagram)
                    .unwrap();
            }
        }
        most
    }
}

fn messages(count: usize) -> impl Iterator<Item = Vec<u8>> {
    (0..count).map(|number| vec![number as u8; number * number * 7 % 5_000])
}

#[test]
fn reliable_messages_arrive_once_and_in_order_whatever_is_lost() {
    let all = usize::MAX;
    for (loss, seed, count, allowance) in [
        (0.0, 1, 40, all),
        (0.05, 2, 40, all),
        (0.3, 3, 40, all),
        (0.6, 4, 40, all),
        (0.1, 6, 10, 120),
    ] {
        let mut pair = Pair::new(loss, seed);
        for message in messages(count) {
            pair.ends[0].send_reliable(&message).unwrap();
        }
        let mut received = Vec::new();
        for _ in 0..6_000 {
            assert!(pair.step(allowance) <= allowance);
            received.extend(std::iter::from_fn(|| pair.ends[1].poll_reliable()));
        }
        assert!(received.into_iter().eq(messages(count)), "loss {loss}");
        assert!(pair.ends[0].is_idle() && pair.ends[1].is_idle());
        assert_eq!(pair.ends[0].backlog_bytes(), 0);
    }
}

/// Where nothing else is sent, a burst of loss lasts until enough has been sent into it.
#[test]
fn a_single_message_gets_through_bursts_of_loss_in_seconds() {
    let conditions = Conditions {
        latency: Duration::from_millis(75),
        loss: Loss::bursts(0.2, 4.0),
        ..Conditions::PERFECT
    };
    let waits = (0..2_000).map(|seed| {
        let mut pair = Pair::over(&conditions, seed);
        pair.ends[0].send_reliable(&[7; 60]).unwrap();
        while pair.ends[1].poll_reliable().is_none() {
            pair.step(usize::MAX);
        }
        pair.now
    });
    assert!(waits.max().unwrap() < Duration::from_secs(10));
}

#[test]
fn a_round_trip_that_is_longer_than_the_first_wait_is_measured() {
    let conditions = Conditions {
        latency: Duration::from_millis(300),
        ..Conditions::PERFECT
    };
    let mut pair = Pair::over(&conditions, 1);
    for _ in 0..20 {
        pair.ends[0].send_reliable(&[7; 60]).unwrap();
        for _ in 0..60 {
            pair.step(usize::MAX);
        }
    }
    let measured = pair.ends[0].round_trip().unwrap().as_millis();
    assert!((600..660).contains(&measured), "{measured} ms");
}

#[test]
fn long_unreliable_messages_arrive_whole_or_not_at_all() {
    let mut pair = Pair::new(0.05, 5);
    let (mut received, mut sent) = (Vec::new(), 0);
    for message in messages(60).map(|message| message.repeat(3)) {
        sent += 1;
        pair.ends[0].send_unreliable(message).unwrap();
        // What is acked meanwhile.
        pair.ends[1].send_reliable(&[7; 2_000]).unwrap();
        for _ in 0..10 {
            pair.step(usize::MAX);
            received.extend(std::iter::from_fn(|| pair.ends[1].poll_unreliable()));
        }
    }
    assert!(received.len() > sent / 2, "{} of {sent}", received.len());
    let all: Vec<_> = messages(60).map(|message| message.repeat(3)).collect();
    assert!(received.iter().all(|message| all.contains(message)));
}

#[test]
fn messages_may_interleave_and_numbers_come_again() {
    let [mut from, mut to] = <[MessageChannel; 2]>::default();
    let mut send = |message: u32| {
        let bytes = message.to_be_bytes().repeat(800);
        from.send_unreliable(bytes).unwrap();
        from.flush(Duration::ZERO, 0, 0)
    };
    let mut deliver = |datagram: &[u8]| {
        to.on_datagram(Duration::ZERO, datagram).unwrap();
        to.poll_unreliable().map(|message| message[..4].to_vec())
    };
    let twenty: Vec<_> = (0..20).map(&mut send).collect();
    for piece in 0..3 {
        for (message, datagrams) in (0_u32..).zip(&twenty) {
            let arrived = deliver(&datagrams[piece]);
            let complete = (piece == 2).then(|| message.to_be_bytes().to_vec());
            assert_eq!(arrived, complete);
        }
    }
    // Of the first that has its number again, one piece has arrived.
    for message in 20..1 << 16 {
        let datagrams = send(message);
        if message % 64 == 20 {
            deliver(&datagrams[0]);
        }
    }
    for message in 1 << 16..(1 << 16) + 90 {
        let arrived = send(message)
            .iter()
            .filter_map(|piece| deliver(piece))
            .last();
        assert_eq!(arrived, Some(message.to_be_bytes().to_vec()));
    }
}

#[test]
fn other_bytes_are_refused_and_take_bounded_memory() {
    let mut end = MessageChannel::default();
    let now = Duration::ZERO;
    for (bytes, error) in [
        (&[][..], ChannelError::Truncated(0)),
        (&[16], ChannelError::Flags(16)),
        (&[12], ChannelError::Flags(12)),
        (&[1, 0, 0], ChannelError::Truncated(3)),
        (
            &[1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            ChannelError::NeverSent(1),
        ),
        (&[2, 0, 0, 0, 0, 1, 0], ChannelError::EmptyChunk(0)),
        (&[2, 0, 0, 0, 0, 1, 2, 9], ChannelError::Truncated(8)),
        (
            &[8, 0, 7, 3, 2],
            ChannelError::Fragment {
                message: 7,
                index: 3,
                last: 2,
            },
        ),
    ] {
        assert_eq!(end.on_datagram(now, bytes), Err(error));
    }
    let long = [0; MAX_DATAGRAM_BYTES + 1];
    assert!(matches!(
        end.on_datagram(now, &long),
        Err(ChannelError::TooLong(_))
    ));
    // Every byte string is an error or is taken.
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..20_000 {
        let bytes = [(); 40].map(|()| random.random_range(0..16));
        let _ = end.on_datagram(now, &bytes);
        while end
            .poll_reliable()
            .or_else(|| end.poll_unreliable())
            .is_some()
        {}
    }
    assert!(end.incoming.memory_bytes() < 512 * 1024);
}

#[test]
fn messages_that_are_too_long_are_refused() {
    let mut end = MessageChannel::default();
    assert!(end.send_reliable(&vec![0; MAX_RELIABLE_BYTES + 1]).is_err());
    assert!(
        end.send_unreliable(vec![0; MAX_UNRELIABLE_BYTES + 1])
            .is_err()
    );
    assert!(end.send_unreliable(vec![0; MAX_UNRELIABLE_BYTES]).is_ok());
    assert_eq!(end.flush(Duration::ZERO, 0, 0).len(), 256);
}

#[test]
fn messages_arrive_in_order_while_the_allowance_changes() {
    for seed in 0..10 {
        let mut pair = Pair::new(0.3, seed + 100);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut below = |end: u64| random.random_range(0..end);
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for tick in 0..3_000 {
            for _ in 0..below(4) {
                if tick < 1_500 {
                    let message = vec![tick as u8; below(300) as usize];
                    pair.ends[0].send_reliable(&message).unwrap();
                    sent.push(message);
                }
            }
            if below(3) == 0 {
                let message = vec![1; below(3_000) as usize];
                pair.ends[0].send_unreliable(message).unwrap();
            }
            if below(5) == 0 {
                pair.ends[1].send_reliable(&[3; 20]).unwrap();
            }
            let allowance = match below(4) {
                0 => 0,
                1 => below(300) as usize,
                2 => below(3_000) as usize,
                _ => usize::MAX,
            };
            pair.step(allowance);
            received.extend(std::iter::from_fn(|| pair.ends[1].poll_reliable()));
            while pair.ends[1].poll_unreliable().is_some() {}
        }
        assert_eq!(received.len(), sent.len(), "seed {seed}");
        assert!(received == sent);
    }
}
