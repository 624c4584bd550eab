//! Conditions as text: round trips, and random text.

use cubewire_link::Conditions;
use proptest::prelude::*;

use crate::strategies::legal_conditions;

proptest! {
    #[test]
    fn conditions_round_trip(conditions in legal_conditions()) {
        let text = conditions.to_text().unwrap();
        prop_assert!(!text.contains([',', ':', ' ']), "{}", text);
        prop_assert_eq!(text.parse(), Ok(conditions));
    }

    #[test]
    fn any_pieces_are_conditions_in_range_or_an_error(pieces in prop::collection::vec(piece(), 1..9)) {
        if let Ok(conditions) = pieces.concat().parse::<Conditions>() {
            prop_assert_eq!(conditions.check(), Ok(()));
            prop_assert_eq!(conditions.to_text().unwrap().parse(), Ok(conditions));
        }
    }
}

/// Pieces of texts, each of them legal or almost legal in some place.
fn piece() -> impl Strategy<Value = String> {
    let known = "+ + + = / / cut 4g latency=20ms jitter=uniform/1ms loss=bursts/0.1/2 reordering=none \
                 latency= jitter= loss= duplicate= reordering= bandwidth= none uniform/ log-normal/ \
                 bursts/ ms 0 1 0.5 20ms - . nan inf e9 é";
    prop_oneof![
        9 => prop::sample::select(known.split(' ').collect::<Vec<_>>()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| number.to_string()),
    ]
}
