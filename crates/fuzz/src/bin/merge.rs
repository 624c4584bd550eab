//! With any loss, delay, duplication and budget, a receiver decodes each packet to the snapshot that the sender
//! expects it to have, including the state that later packets depend on.

#![no_main]

use cubewire_codec::ladder;
use cubewire_fuzz::{PAIR_CUBES, TICK, pair, quantized};
use cubewire_protocol::{MAX_BASELINE_AGE_TICKS, PacketBudget, PacketOutcome};
use libfuzzer_sys::fuzz_target;

/// Maximum number of packets in flight.
const UNDER_WAY: usize = 8;

fuzz_target!(|bytes: &[u8]| {
    let (mut sender, mut receiver) = pair();
    let (mut packets, mut tick) = (Vec::<(u64, Vec<u8>)>::new(), 0);
    // Each chunk has the ticks until the next packet, its budget in bytes, and an event: which packet arrives,
    // whether it arrives twice, and whether its ack arrives.
    for &[ticks, bytes, event] in bytes.as_chunks().0 {
        tick += u64::from(ticks % 16) + 1;
        let stages = match ticks & 16 {
            0 => ladder::CHANGED_FLAGS.stages,
            _ => ladder::PREDICTED.stages,
        };
        let wanted = quantized(PAIR_CUBES, tick as u16, stages);
        let groups = [u32::from(ticks >> 5); PAIR_CUBES / 2];
        let packet_budget =
            PacketBudget { bytes: bytes.into(), groups: &groups, ..PacketBudget::default() };
        let sent = sender.send_within(tick, stages, &wanted, packet_budget);
        if sent.expect("ticks go on").is_some() {
            assert!(sender.packet().bytes.len() <= bytes.into());
            packets.push((tick, sender.packet().bytes.clone()));
        }
        let arriving = usize::from(event >> 2) % UNDER_WAY;
        if let Some((sent_at, packet)) = packets.get(arriving).cloned() {
            if event & 1 == 0 {
                packets.remove(arriving);
            }
            let is_old = tick - sent_at > MAX_BASELINE_AGE_TICKS.into();
            match receiver.on_packet(TICK * tick as u32, &packet) {
                Ok(PacketOutcome::Decoded { tick: decoded, .. }) => {
                    let (sent, received) = (sender.get(decoded), receiver.get(decoded));
                    let is_right = sent.is_none_or(|sent| received == Some(sent));
                    assert!(decoded == sent_at && is_right);
                }
                Ok(_) => {}
                // The receiver no longer stores the baseline.
                Err(error) => assert!(is_old, "{error}"),
            }
        }
        while let Some(feedback) = receiver.poll_feedback() {
            if event & 2 == 0 {
                sender.on_message(&feedback.encode()).expect("it was encoded");
            }
        }
        packets.truncate(UNDER_WAY);
        receiver.advance_playout(TICK * tick as u32, Some(6 * TICK));
    }
});
