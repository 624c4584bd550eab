//! Good figures meet each expectation, and bad ones fail it.

use super::*;
use crate::socket::Counts;

/// Figures of a good phase of 10 s.
const GOOD: [(&str, f64); 12] = [
    ("s", 10.0),
    ("snapshots", 600.0),
    ("gap ms", 50.0),
    ("stall ms", 0.0),
    ("ticks", 540.0),
    ("seconds of these ticks", 9.0),
    ("near", 5.0),
    ("near connected", 5.0),
    ("near at once", 5.0),
    ("far", 5.0),
    ("far connected", 5.0),
    ("log lines", 10.0),
];

fn good() -> Figures {
    let phase = |name: &'static str| {
        let mut phase = Phase::default();
        (phase.name, phase.is_fair, phase.figures) = (name, name == "demanding", GOOD.into());
        add_rates(&mut phase.figures);
        phase
    };
    Figures {
        phases: ["no attack", "dead", "all at once", "demanding"].map(phase).into(),
        run: RUN.iter().map(|&(count, bound)| (count, within(bound, 0.0))).collect(),
        ..Figures::default()
    }
}

fn unmet(figures: &Figures) -> Vec<String> {
    let all = judge(figures, 1.0).into_iter();
    let unmet = all.filter(|expectation| !expectation.is_met);
    unmet.map(|expectation| expectation.sentence).collect()
}

/// Returns the value that is `margin` within a bound.
fn within(bound: Bound, margin: f64) -> f64 {
    match bound {
        AtMost(most) => most - margin,
        AtLeast(least) => least + margin,
    }
}

#[test]
fn each_limit_of_the_run_can_be_missed() {
    assert_eq!(unmet(&good()), [""; 0]);
    for &(count, bound) in RUN {
        let mut figures = good();
        figures.run.insert(count, within(bound, -1.0));
        let unmet = unmet(&figures);
        assert!(unmet.len() == 1 && unmet[0].starts_with(count), "{unmet:?}");
    }
    // Without a server there is no count.
    assert_eq!(unmet(&Figures { run: Counts::new(), ..good() }).len(), 4);
}

/// The phases with a new value of a figure, the figure, the value, and a part of the sentence that fails.
const SPOILT: &str = "\
1 2 | snapshots | 570 | all attacks, the worst being dead: snapshots/s, % of those without an attack: 95 (
1 | snapshots | 300 | dead: snapshots/s, % of those without an attack: 50 (expected: at least 90)
2 | gap ms | 1999 | all at once: gap ms less stall ms: 1\u{2009}999 (expected: at most 1\u{2009}000)
1 2 | ticks | 513 | all attacks, the worst being dead: ticks/s, % of those without an attack: 95 (
1 | near connected | 4 | the worst being dead: near connected, % of near: 90 (expected: at least 99)
2 | far connected | 3 | the worst being all at once: far connected, % of far: 80 (expected: at least 90)
1 | near at once | 3 | the worst being dead: near at once, % of near: 80 (expected: at least 90)
3 | seconds of these ticks | 10 | demanding: ticks/s, % of those without an attack: 90 (expected: at least 97)
3 | snapshots | 160 | demanding: snapshots/s, % of those without an attack: 26.7 (expected: at least 30)
3 | near connected | 4 | demanding: near connected, % of near: 80 (expected: at least 100)";

#[test]
fn each_limit_of_phases_can_be_missed() {
    for row in SPOILT.lines() {
        let columns: Vec<_> = row.split(" | ").collect();
        let [phases, figure, value, part] = columns[..] else { panic!("{row}") };
        let mut figures = good();
        for phase in phases.split(' ') {
            let counts = &mut figures.phases[phase.parse::<usize>().unwrap()].figures;
            *counts.get_mut(figure).unwrap() = value.parse().unwrap();
            add_rates(counts);
        }
        let unmet = unmet(&figures);
        assert!(unmet.iter().any(|sentence| sentence.contains(part)), "{part}: {unmet:?}");
        // A single slow phase also lowers the mean.
        assert_eq!(unmet.len(), if part.starts_with("dead: snap") { 2 } else { 1 }, "{unmet:?}");
        // On a busy machine, half is enough.
        assert!(judge(&figures, 0.5).iter().all(|expectation| expectation.is_met));
    }
    let mut fair_alone = good();
    fair_alone.phases.drain(1..3);
    assert_eq!(unmet(&fair_alone), [""; 0]);
}

#[test]
fn each_limit_of_an_attack_can_be_missed() {
    for attack in ATTACKS {
        let counts = attack.limits.iter().map(|limit| (limit.count, within(limit.bound, 0.0)));
        let counts: Counts = counts.collect();
        let unmet_with = |missed: Counts, another: Option<&'static str>| {
            let mut figures = good();
            let attackers = &mut figures.phases[2].attackers;
            attackers.insert(attack.name, counts.clone().into_iter().chain(missed).collect());
            attackers.extend(another.map(|name| (name, Counts::new())));
            unmet(&figures)
        };
        assert_eq!(unmet_with(Counts::new(), None), [""; 0]);
        for limit in attack.limits {
            let missed = Counts::from([(limit.count, within(limit.bound, -1.0))]);
            let unmet = unmet_with(missed.clone(), None);
            let expected = format!("all at once: {}: {}: ", attack.name, limit.count);
            assert!(unmet.len() == 1 && unmet[0].starts_with(&expected), "{unmet:?}");
            assert_eq!(unmet_with(missed, Some("another")).is_empty(), limit.only_alone);
        }
    }
}
