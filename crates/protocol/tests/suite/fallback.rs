//! Ends whose fingerprints differ.

use std::time::Duration;

use cubewire_codec::ladder::{ARITHMETIC, PREDICTED_POSITION};
use cubewire_codec::{BodyState, Fingerprint, Limits, Plan, Snapshot};
use cubewire_protocol::{FallbackReason, SnapshotReceiver, Welcome};

#[test]
fn a_receiver_does_without_arithmetic_coding_where_the_welcome_has_another_fingerprint() {
    let own = Fingerprint::shipped();
    let other_model = Fingerprint {
        model: !own.model,
        ..own
    };
    let other_arithmetic = Fingerprint {
        arithmetic: !own.arithmetic,
        ..own
    };
    for (fingerprint, reason) in [
        (own, None),
        (other_model, Some(FallbackReason::Model)),
        (other_arithmetic, Some(FallbackReason::Arithmetic)),
    ] {
        let welcome = Welcome {
            plan: Plan::cubes(),
            tick: 0,
            fingerprint,
            initial: Snapshot {
                bodies: vec![BodyState::default(); 8],
            },
        };
        let limits = Limits::default();
        let receiver = SnapshotReceiver::new(welcome, limits, Duration::ZERO, Duration::ZERO);
        assert_eq!(receiver.unwrap().fallback(), reason);
    }
    let instead = FallbackReason::instead_of(ARITHMETIC.stages);
    assert_eq!(instead, Some(PREDICTED_POSITION.stages));
    assert_eq!(FallbackReason::instead_of(PREDICTED_POSITION.stages), None);
}
