//! Any bytes are a request, which is written as the same bytes, or an error. What a request asks for is sent, if the scene has it,
//! and otherwise an error after which the sender goes on.

#![no_main]

use cubewire_codec::Plan;
use cubewire_fuzz::{PAIR_CUBES, pair, quantized, send};
use cubewire_protocol::{Request, Within};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(request) = Request::decode(bytes) else {
        return;
    };
    assert_eq!(request.encode(), bytes);
    let stages = request.stages;
    let is_sendable = Plan::cubes().check_complete(stages).is_ok();
    let (mut sender, _) = pair();
    for tick in 1..=2 {
        let current = quantized(PAIR_CUBES, tick as u16, stages);
        let sent = sender.send(2 * tick, stages, &current, request.baseline);
        assert_eq!(sent.is_ok(), is_sendable, "{stages:?}");
        let within = Within {
            bytes: 30,
            ..Within::default()
        };
        let sent = sender.send_within(2 * tick + 1, stages, &current, within);
        assert!(sent.is_ok() || !is_sendable, "{stages:?}");
    }
    send(&mut sender, 9);
});
