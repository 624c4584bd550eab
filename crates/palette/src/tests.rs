//! Contrast by WCAG 2.2 and colour distance by CIEDE2000, with normal vision and with colour blindness.

use palette::color_difference::{Ciede2000, Wcag21RelativeContrast};
use palette::convert::IntoColorUnclamped;
use palette::{Lab, LinSrgb, Srgb};

use super::*;

const THEMES: [(&str, Colors); 2] = [("light", LIGHT), ("dark", DARK)];

/// WCAG 2.2, success criterion 1.4.3: text.
const TEXT_CONTRAST: f32 = 4.5;

/// WCAG 2.2, success criterion 1.4.6: body text.
const BODY_CONTRAST: f32 = 7.0;

/// Minimum CIEDE2000 distance of filled areas that are easy to tell apart. A distance of 1 is just noticeable.
const DISTINCT: f32 = 10.0;

/// Simulations of complete colour blindness on linear RGB, by row (Machado, Oliveira and Fernandes, *A
/// Physiologically-based Model for Simulation of Color Vision Deficiency*, 2009, severity 1).
const EYES: [(&str, [[f32; 3]; 3]); 4] = [
    ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

fn srgb(Rgb(red, green, blue): Rgb) -> Srgb<f32> {
    Srgb::new(red, green, blue).into_format()
}

fn contrast(a: Rgb, b: Rgb) -> f32 {
    srgb(a).relative_contrast(srgb(b))
}

fn seen(color: Rgb, eye: [[f32; 3]; 3]) -> Lab {
    let linear: LinSrgb = srgb(color).into_linear();
    let row = |[red, green, blue]: [f32; 3]| {
        (red * linear.red + green * linear.green + blue * linear.blue).clamp(0.0, 1.0)
    };
    LinSrgb::new(row(eye[0]), row(eye[1]), row(eye[2])).into_color_unclamped()
}

/// Fails if two of the colours are closer than `least` for any kind of vision.
fn assert_distinct(least: f32, colors: &[(&str, Rgb)]) {
    for (eyes, matrix) in EYES {
        for (index, &(name, color)) in colors.iter().enumerate() {
            for &(other, second) in &colors[..index] {
                let distance = seen(color, matrix).difference(seen(second, matrix));
                assert!(
                    distance >= least,
                    "{name} and {other} are {distance:.1} apart with {eyes}"
                );
            }
        }
    }
}

fn halves(colors: &Colors) -> [(&'static str, Rgb); 2] {
    [("left", colors.left), ("right", colors.right)]
}

fn columns(colors: &Colors) -> [(&'static str, Rgb); 4] {
    let names = [("first", 0), ("second", 1), ("third", 2), ("fourth", 3)];
    names.map(|(name, index)| (name, colors.column(index)))
}

fn kinds(colors: &Colors) -> Vec<(&'static str, Rgb)> {
    BitKind::DEMO.iter().map(|kind| (kind.name(), colors.bit_kind(*kind))).collect()
}

/// WCAG 2.2, success criterion 1.4.11: graphic marks.
const MARK_CONTRAST: f32 = 3.0;

fn assert_contrast(theme: &str, least: f32, (name, mark): (&str, Rgb), behind: &[(&str, Rgb)]) {
    for &(ground, color) in behind {
        let contrast = contrast(mark, color);
        assert!(contrast >= least, "{theme}: {name} on {ground} has a contrast of {contrast:.2}");
    }
}

#[test]
fn text_and_marks_have_their_contrast() {
    for (theme, colors) in THEMES {
        let ground = ("ground", colors.ground);
        let [ink, muted] = [("ink", colors.ink), ("muted", colors.muted)];
        let [left, right] = halves(&colors);
        let [left_tint, right_tint] =
            [("left tint", colors.left_tint), ("right tint", colors.right_tint)];
        let flat = [ground, ("raised", colors.raised), ("sunken", colors.sunken)];
        let [horizon, sky] = colors.sky;
        let scene = [("horizon", horizon), ("sky", sky), ("haze", colors.haze)];
        let assert_text = |text, behind: &[_]| assert_contrast(theme, TEXT_CONTRAST, text, behind);
        for text in [ink, muted, ("error", colors.error), ("warning", colors.warning), left, right]
        {
            assert_text(text, &flat);
            assert_text(text, &scene);
        }
        for text in [ink, muted] {
            assert_contrast(theme, BODY_CONTRAST, text, &flat);
            assert_text(text, &[left_tint, right_tint]);
        }
        assert_text(left, &[left_tint]);
        assert_text(right, &[right_tint]);
        assert_text(ground, &[left, right, ink]);
        for column in columns(&colors) {
            assert_text(column, &flat);
        }
        for mark in [("bar", colors.above_target), ("quiet", colors.quiet)] {
            assert_contrast(theme, MARK_CONTRAST, mark, &[ground]);
        }
        let impossible = ("an option that is not possible", colors.impossible);
        let its_ground = [("its ground", colors.impossible_ground)];
        assert_contrast(theme, MARK_CONTRAST, impossible, &its_ground);
        for kind in BitKind::DEMO {
            let area = (kind.name(), colors.bit_kind(kind));
            if theme == "dark" {
                assert_contrast(theme, MARK_CONTRAST, area, &[ground]);
            }
            assert_text(("a label", colors.bit_kind_label(kind)), &[area]);
        }
    }
}

#[test]
fn areas_with_different_meanings_are_distinct_with_any_eyes() {
    let cubes = [("grey", CUBE), ("red", INTERACTING_CUBE)];
    assert_distinct(2.0 * DISTINCT, &[&cubes[..], &players(PLAYER_CUBES)[..1]].concat());
    assert_distinct(1.5 * DISTINCT, &[&cubes[..], &players(PLAYER_CUBES)].concat());
    for (_, colors) in THEMES {
        assert_distinct(1.5 * DISTINCT, &players(colors.players));
        assert_distinct(DISTINCT, &kinds(&colors));
        let not_sent = [("not sent", colors.not_sent)].into_iter();
        assert_distinct(DISTINCT, &not_sent.chain(forms()).collect::<Vec<_>>());
        let [left, right] = halves(&colors);
        assert_distinct(4.0 * DISTINCT, &[left, right]);
        let target = ("target", colors.ink);
        assert_distinct(2.0 * DISTINCT, &[left, right, target]);
        assert_distinct(DISTINCT, &[&columns(&colors)[..], &[target]].concat());
        for (half, kind) in [left, right]
            .into_iter()
            .flat_map(|half| kinds(&colors).into_iter().map(move |kind| (half, kind)))
        {
            assert_distinct(0.5 * DISTINCT, &[half, kind]);
        }
    }
}

fn players(colors: [Rgb; 4]) -> [(&'static str, Rgb); 4] {
    [0, 1, 2, 3].map(|player| (PLAYER_NAMES[player], colors[player]))
}

fn forms() -> impl Iterator<Item = (&'static str, Rgb)> {
    Form::ALL.iter().map(|each| (each.name(), form(*each)))
}

#[test]
fn a_cube_that_is_not_sent_stands_out_least() {
    let amounts = (0..=16).map(|step| ("an amount", amount(step as f32 / 16.0)));
    let sent: Vec<_> = forms().chain(amounts).collect();
    for (theme, colors) in THEMES {
        let from_floor = |color| seen(color, EYES[0].1).difference(seen(colors.haze, EYES[0].1));
        for (name, color) in &sent {
            let [sent, not_sent] = [*color, colors.not_sent].map(from_floor);
            assert!(sent > not_sent, "{theme}: {name}: {sent:.1}, {not_sent:.1}");
        }
    }
}

#[test]
fn amounts_get_lighter_with_any_eyes() {
    for (eyes, matrix) in EYES {
        let steps: Vec<f32> =
            (0..=16).map(|step| seen(amount(step as f32 / 16.0), matrix).l).collect();
        assert!(steps.is_sorted(), "{eyes}: {steps:?}");
        assert!(steps[16] - steps[0] > 40.0, "{eyes}: {steps:?}");
    }
}
