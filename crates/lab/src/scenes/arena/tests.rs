use super::*;

#[test]
fn about_a_third_of_the_bodies_is_awake_while_they_roll_and_a_tenth_while_they_are_damped() {
    const FRAMES: usize = 120;
    for (play, awake) in [(Play::Rolling, 450..850), (Play::Damped, 120..320)] {
        let mut arena = Arena::new(play, 4);
        let each = |_| {
            arena.step();
            arena.awake
        };
        let mean = (0..FRAMES).map(each).sum::<usize>() / FRAMES;
        assert!(awake.contains(&mean), "{play:?}: {mean}");
    }
}

#[test]
fn walkers_and_blasts_touch_burn_and_hurt() {
    let mut arena = Arena::new(Play::Rolling, 5);
    let walkers: Vec<_> = arena.walkers.iter().map(|walker| walker.slot).collect();
    assert_eq!(walkers.len(), WALKERS);
    let first = arena.step();
    let last = (0..120).map(|_| arena.step()).last().unwrap();
    let bodies = || last.iter().flatten();
    for field in [0, 1] {
        let with = bodies().filter(|body| body.values[field] == 1.0).count();
        assert!((1..400).contains(&with), "{}: {with}", FIELDS[field].name);
    }
    let hurt = bodies().filter(|body| body.values[2] != 100.0);
    assert!((100..1900).contains(&hurt.count()));
    let walked = |slot: &usize| {
        let position = |frame: &Frame| frame[*slot].as_ref().map(|body| body.position);
        let ways = position(&first).zip(position(&last));
        ways.is_some_and(|(from, to)| from.distance(to) > 1.0)
    };
    let walked = walkers.iter().filter(|slot| walked(slot)).count();
    assert!(walked > WALKERS / 2, "{walked}");
}
