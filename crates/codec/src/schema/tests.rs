use super::*;
use crate::quantize::bounded;

#[test]
fn the_demo_is_legal_and_has_the_codecs_positions() {
    assert_eq!(CUBES.check(), Ok(()));
    for (range, bounded) in CUBES.position.iter().zip(bounded::POSITION) {
        assert_eq!(
            range.integers(),
            i64::from(bounded.min)..=bounded.max.into()
        );
        assert_eq!(range.steps_per_unit, bounded.steps_per_unit);
    }
}

#[test]
fn whole_steps_of_a_range_are_those_inside() {
    assert_eq!(Range::new(-1.0, 1.0, 2.0).integers(), -2..=1);
    assert_eq!(Range::new(-0.9, 0.9, 2.0).integers(), -1..=1);
    assert_eq!(Range::new(0.0, 1.0, 0.5).integers(), 0..=0);
    assert!(Range::new(0.25, 0.75, 1.0).integers().is_empty());
    for end in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let _ = Range::new(end, end, 1e300).integers();
    }
}

#[test]
fn a_field_has_as_many_bits_as_its_largest_value() {
    let int = |min, max| FieldForm::Int { min, max }.bits();
    assert_eq!([int(0, 1), int(0, 100), int(-1, 2)], [1, 7, 2]);
    assert_eq!(int(i32::MIN, i32::MAX), 32);
    let float = |min, max, step| FieldForm::Float { min, max, step }.bits();
    assert_eq!(float(0.0, 100.0, 0.25), 9);
    assert_eq!(float(0.0, 102.3, 0.1), 10);
    assert_eq!(float(0.0, 102.4, 0.1), 11);
    assert_eq!(FieldForm::Flag.bits(), 1);
    assert_eq!(FieldForm::Angle { bits: 12 }.bits(), 12);
    assert_eq!(FieldForm::Body.bits(), 17);
}

#[test]
fn hashes_tell_scenes_apart() {
    let mut faster = CUBES;
    faster.ticks_per_second = 61;
    let mut other = CUBES;
    other.name = "cubed".into();
    assert_eq!(CUBES.hash(), CUBES.clone().hash());
    assert_ne!(CUBES.hash(), faster.hash());
    assert_ne!(CUBES.hash(), other.hash());
}
