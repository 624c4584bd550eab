//! Large type at the top of a half: its bandwidth, and the ratio to another lane or to no compression.

use bevy_egui::egui::{Align, Align2, FontId, Rect, Vec2, pos2, vec2};
use cubewire_codec::ladder;
use cubewire_inspector::words::{factor, grouped, rounded};
use cubewire_palette::{Colors, Rgb};

use super::text::{Part, Pen};
use crate::replication::{Accounting, LaneMeter, LaneSettings, Totals, millimetres, rung_name};
use crate::theme::egui_color;
use crate::view::ViewMode;
use crate::view::side::Side;

/// Cost of a lane, mean of one second.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cost {
    kbps: f64,
    wire_kbps: f64,
    /// Distance of the replica from the simulation, metres. `None` if it is not measured.
    error_m: Option<f64>,
    motion: Motion,
}

/// Cause of the present cost. A ratio is only shown while the cause is the compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Motion {
    /// The cubes that move, and the compression.
    Moving,
    /// No cube moves. Few bytes are no achievement of the compression then.
    AtRest,
    /// [The budget](Totals::held_to_kbps), kilobits per second.
    HeldTo(u32),
}

/// Two lanes within this factor cost the same.
const SAME: f64 = 1.05;

/// Smallest ratio of errors that is shown between two lanes of the same cost. Smaller ratios fluctuate with the motion.
const CLOSER: f64 = 1.5;

/// Smallest visible error, metres. Smaller errors count as this one.
const LEAST_ERROR_M: f64 = 0.0001;

/// Height of a half below which the line under the figure is left out, in multiples of the headline's size.
const LOW: f32 = 8.0;

/// Padding of a headline inside its background, in multiples of its size.
const PADDING: Vec2 = vec2(0.4, 0.17);

/// Distance from the top of the picture, points.
const TOP: f32 = 12.0;

impl Cost {
    pub(super) fn of(second: &Totals) -> Self {
        Self {
            kbps: second.kbps(second.accounting()),
            wire_kbps: second.kbps(Accounting::OnTheWire),
            error_m: second.mean_error_m(),
            motion: match second.held_to_kbps() {
                _ if second.is_at_rest() => Motion::AtRest,
                Some(budget) => Motion::HeldTo(budget),
                None => Motion::Moving,
            },
        }
    }

    pub(super) fn error(&self) -> Option<String> {
        self.error_m.map(millimetres)
    }

    /// Text of the bandwidth without its unit, with what decides it unless that is the compression.
    fn figure(&self) -> String {
        match self.motion {
            Motion::Moving => grouped(self.kbps),
            Motion::AtRest => format!("at rest: {}", grouped(self.kbps)),
            Motion::HeldTo(budget) => format!("held to {budget}"),
        }
    }

    /// Text of the ratio to `uncompressed_kbps`, or `None` if the cost is not lower or the compression does not decide it.
    fn less(&self, uncompressed_kbps: f64) -> Option<String> {
        let less = uncompressed_kbps / self.kbps;
        let is_less = self.motion == Motion::Moving && self.kbps >= 0.5 && less >= SAME;
        is_less.then(|| format!("{} less", factor(less)))
    }

    /// Line below a ratio or a budget: the two bandwidths, and the error under a budget.
    fn instead_of(&self, uncompressed_kbps: f64, has_budget: bool) -> String {
        let [now, before] = [self.kbps, uncompressed_kbps].map(grouped);
        let error = self.error().filter(|_| has_budget);
        let error = error.map_or(String::new(), |error| format!(", error {error}"));
        format!("{now} kbps instead of {before}{error}")
    }

    pub(super) fn accounting(&self) -> String {
        format!(
            "Snapshots with IP and UDP headers, as in the article. With the headers of the transport, as in a \
             budget: {} kbps.",
            rounded(self.wire_kbps)
        )
    }
}

/// A lane in a half, for captions, figures and graphs.
#[derive(Clone, Debug)]
pub(super) struct OverlayLane<'a> {
    pub(super) side: Side,
    /// Index of the half, or of the column of a film.
    pub(super) part: usize,
    pub(super) settings: LaneSettings,
    /// Measured cost, once a whole second was measured.
    pub(super) cost: Option<Cost>,
    /// Estimate of [`RungCosts::estimate`](crate::replication::RungCosts::estimate) until the cost is measured.
    pub(super) estimate: Option<f64>,
    pub(super) meter: &'a LaneMeter,
    pub(super) is_remote: bool,
    pub(super) is_selected: bool,
}

impl OverlayLane<'_> {
    fn figure(&self) -> Option<String> {
        let estimate = || Some(format!("about {}", grouped(self.estimate?)));
        self.cost.as_ref().map(Cost::figure).or_else(estimate)
    }

    /// Whether the headline of a single lane has the error: with a budget, while cubes move.
    pub(super) fn heads_error(&self) -> bool {
        let is_moving = self.cost.as_ref().is_some_and(|cost| cost.motion != Motion::AtRest);
        is_moving && self.settings.sender.kept_budget().is_some()
    }

    const fn color(&self, colors: &Colors) -> Rgb {
        match self.cost {
            Some(_) => colors.column(self.part),
            None => colors.muted,
        }
    }
}

/// Ratio of the costs of two lanes or, if the costs are the same, of their errors. Returns the words for the better and the
/// worse lane, and the better side. `None` if the lanes do not differ enough, if a lane is at rest, or if different budgets
/// decide their costs.
fn compare([left, right]: [&Cost; 2]) -> Option<(f64, [&'static str; 2], Side)> {
    let compared = |left: f64, right: f64, least: f64| {
        let side = if left < right { Side::Left } else { Side::Right };
        let times = left.max(right) / left.min(right).max(least);
        (times, side)
    };
    match [left.motion, right.motion] {
        [Motion::Moving, Motion::Moving] => {
            let (less, side) = compared(left.kbps, right.kbps, 0.5);
            if less >= SAME {
                let is_known = left.kbps.min(right.kbps) >= 0.5;
                return is_known.then_some((less, ["less", "more"], side));
            }
        }
        [Motion::HeldTo(left), Motion::HeldTo(right)] if left == right => {}
        _ => return None,
    }
    let (closer, side) = compared(left.error_m?, right.error_m?, LEAST_ERROR_M);
    (closer >= CLOSER).then_some((closer, ["closer", "further off"], side))
}

/// Text of the ratio of two lanes, and the better side. `None` if they do not differ enough.
pub(super) fn ratio(lanes: [&Cost; 2]) -> Option<(String, Side)> {
    let (times, [better, _], side) = compare(lanes)?;
    Some((format!("{} {better}", factor(times)), side))
}

/// Text that compares a column with the `first` one. `None` if they do not differ enough.
pub(super) fn to_first(first: &Cost, own: &Cost) -> Option<String> {
    let (times, [better, worse], side) = compare([first, own])?;
    let word = if side == Side::Right { better } else { worse };
    Some(format!("{} {word}", factor(times)))
}

impl Pen<'_> {
    /// Paints the cost of a single lane, centred at the top of its half. Returns the rectangle of the background.
    pub(super) fn headline(&self, half: Rect, lane: &OverlayLane<'_>) -> Rect {
        let (anchor, width) = (Align2::CENTER_TOP, half.width());
        let sender = &lane.settings.sender;
        let about = || about([&lane.settings; 2]);
        let uncompressed = sender.uncompressed_kbps();
        let is_cut = lane.settings.link.conditions.cut;
        // With a cut link, the cost does not describe the shown replica.
        let cost = lane.cost.as_ref().filter(|_| !is_cut);
        let less = cost.and_then(|cost| Some((cost, cost.less(uncompressed)?)));
        let compared = |cost: &Cost| {
            let with_error = lane.heads_error().then(|| cost.instead_of(uncompressed, true));
            with_error.into_iter().chain([cost.instead_of(uncompressed, false)]).collect::<Vec<_>>()
        };
        let held = cost.filter(|cost| matches!(cost.motion, Motion::HeldTo(_)));
        let (large, lines) = match (less, lane.figure()) {
            (Some((cost, less)), _) => (less, compared(cost)),
            (None, Some(figure)) if let Some(cost) = held => (figure + " kbps", compared(cost)),
            _ if is_cut && lane.cost.is_none() => ("link cut".to_owned(), about()),
            (None, Some(figure)) => (figure + " kbps", about()),
            (None, None) => return self.announced(half, anchor, width, &about()),
        };
        let large = [(large.as_str(), self.sizes.headline, lane.color(self.colors()))];
        self.figures(half, anchor, width, &large, (&lines, self.sizes.line))
    }

    /// Paints the cost and the error of one of several lanes of a film, centred in its half or column. Returns the
    /// rectangle of the background.
    pub(super) fn column(&self, half: Rect, lane: &OverlayLane<'_>) -> Rect {
        let error = lane.cost.as_ref().and_then(Cost::error);
        let error = error.unwrap_or_else(|| "…".to_owned());
        let lines = ["mean error ", "error ", ""].map(|what| format!("{what}{error}"));
        let place = (half, Align2::CENTER_TOP, half.width());
        self.bandwidth(place, lane, &about([&lane.settings; 2]), (&lines, self.sizes.line))
    }

    /// Paints the cost of one of two lanes at the outer edge of its half, which keeps the middle free for the ratio.
    /// Below it is a summary of the rung or, if both lanes have the same stages, the settings that differ. Uses the
    /// longest text that fits in both halves. Returns the rectangle of the background.
    pub(super) fn compared(
        &self,
        half: Rect,
        lane: &OverlayLane<'_>,
        other: &OverlayLane<'_>,
    ) -> Rect {
        let anchor = match lane.side {
            Side::Left => Align2::LEFT_TOP,
            Side::Right => Align2::RIGHT_TOP,
        };
        let beside = half.width() - 3.0 * self.sizes.ratio;
        let [own, others] = [&lane.settings, &other.settings];
        let lines = self.alike([about([own, others]), about([others, own])], beside);
        self.bandwidth((half, anchor, beside), lane, &lines, (&lines, self.sizes.small))
    }

    /// Paints the bandwidth of one of several lanes above the first line that fits, or while it is unknown, `about`.
    fn bandwidth(
        &self,
        (half, anchor, width): (Rect, Align2, f32),
        lane: &OverlayLane<'_>,
        about: &[String],
        lines: (&[String], f32),
    ) -> Rect {
        let Some(kbps) = lane.figure() else { return self.announced(half, anchor, width, about) };
        let color = lane.color(self.colors());
        let large =
            [(kbps.as_str(), self.sizes.headline, color), (" kbps", self.sizes.unit, color)];
        self.figures(half, anchor, width, &large, lines)
    }

    /// Leaves out the first texts of a lane until both this lane and the other have room. Keeps at least the last,
    /// shortest one.
    fn alike(&self, [own, others]: [Vec<String>; 2], width: f32) -> Vec<String> {
        let fits = |text: &String| self.width(text, self.sizes.small) <= self.inside(width);
        let fitting = own.iter().zip(&others).position(|(own, other)| fits(own) && fits(other));
        own[fitting.unwrap_or(own.len() - 1)..].to_vec()
    }

    /// Paints the name of a rung while its cost is unknown, in the larger type if it fits, above the other texts of
    /// `about`. The last text of `about` is the name.
    fn announced(&self, half: Rect, anchor: Align2, width: f32, about: &[String]) -> Rect {
        let (name, lines) = about.split_last().expect("the last text is the name");
        // Unnamed combinations of stages have no summary.
        let has_sentence = lines.first().is_some_and(|sentence| sentence != name);
        let lines = if has_sentence { lines } else { &[] };
        let inside = self.inside(width);
        let fits = |&size: &f32| self.width(name, size) <= inside;
        let size = Some(self.sizes.headline).filter(fits);
        let large = [(name.as_str(), size.unwrap_or(self.sizes.unit), self.colors().muted)];
        self.figures(half, anchor, width, &large, (lines, self.sizes.line))
    }

    /// Text width that a background of `width` allows.
    fn inside(&self, width: f32) -> f32 {
        width - 2.0 * (self.sizes.margin + PADDING.x * self.sizes.headline)
    }

    /// Paints large type, without the unit or smaller if there is no room, above the first line that fits. `anchor`
    /// places the background in the half, `width` limits it.
    fn figures(
        &self,
        half: Rect,
        anchor: Align2,
        width: f32,
        large: &[Part<'_>],
        (lines, size): (&[String], f32),
    ) -> Rect {
        let x = match anchor.x() {
            Align::Min => half.min.x + self.sizes.margin,
            Align::Center => half.center().x,
            Align::Max => half.max.x - self.sizes.margin,
        };
        let width = self.inside(width);
        // Lines below a low half's figure would cover the ball.
        let has_room = half.height() >= LOW * self.sizes.headline;
        let mut large_line = self.line(large, width);
        if large_line.elided {
            large_line = self.line(&large[..1], width);
        }
        if large_line.elided {
            let (text, _, color) = large[0];
            large_line = self.line(&[(text, self.sizes.unit, color)], width);
        }
        let fitting = lines.iter().find(|line| has_room && self.width(line, size) <= width);
        let line = fitting.map(|line| self.line(&[(line, size, self.colors().ink)], width));
        let lines: Vec<_> = [large_line].into_iter().chain(line).collect();
        let at = pos2(x, half.min.y + TOP);
        self.plate(at, anchor, PADDING * self.sizes.headline, &lines)
    }

    /// Paints the ratio between two lanes on the line between the halves, with the better side below it.
    pub(super) fn ratio(&self, picture: Rect, mode: ViewMode, (ratio, side): (String, Side)) {
        let side = match (mode, side) {
            (ViewMode::Difference, Side::Left) => "solid",
            (ViewMode::Difference, Side::Right) => "outlined",
            (_, Side::Left) => "on the left",
            (_, Side::Right) => "on the right",
        };
        let colors = self.colors();
        let line = |text: &str, size| self.line(&[(text, size, colors.ground)], f32::INFINITY);
        let lines = [line(&ratio, self.sizes.ratio), line(side, self.sizes.small)];
        let padding = vec2(0.75, 0.2) * self.sizes.ratio;
        let at = pos2(picture.center().x, picture.min.y + TOP);
        let fill = egui_color(colors.ink);
        self.ground(at, Align2::CENTER_TOP, padding, &lines, fill);
    }

    /// Paints a tooltip below the area that the pointer is over.
    pub(super) fn tip(&self, over: Rect, picture: Rect, text: &str) {
        let small = self.sizes.small;
        let width = (TIP * small).min(picture.width() - 4.0 * self.sizes.margin);
        let ink = egui_color(self.colors().ink);
        let font = FontId::proportional(small);
        let words = self.painter.layout(text.to_owned(), font, ink, width);
        let padding = Vec2::splat(0.66 * small);
        let half = words.size().x / 2.0 + padding.x + self.sizes.margin;
        let x = over.center().x.min(picture.max.x - half).max(picture.min.x + half);
        self.plate(pos2(x, over.max.y + 4.0), Align2::CENTER_TOP, padding, &[words]);
    }
}

/// Maximum width of a tooltip, in multiples of its type size.
const TIP: f32 = 26.0;

/// Texts that tell `settings` apart from `other`, longest first. The last one is the name of the rung.
fn about([settings, other]: [&LaneSettings; 2]) -> Vec<String> {
    let is_alike = settings.sender.stages == other.sender.stages;
    let differs = other.describe_change(settings).filter(|_| is_alike);
    let stages = settings.sender.stages;
    let name = rung_name(stages);
    let summary = || ladder::rung_of(stages).map_or(name, |rung| rung.summary).to_owned();
    let about = differs.unwrap_or_else(summary);
    let phrase = about.split([':', ';', ',']).next().unwrap_or_default();
    let phrase = phrase.trim_end_matches('.').to_owned();
    vec![about, phrase, name.to_owned()]
}

#[cfg(test)]
mod tests {
    use bevy_egui::egui::Pos2;

    use super::super::text::tests::with_pen;
    use super::*;
    use crate::replication::{HEADER_BYTES, itemized, sample};

    fn cost(kbps: f64) -> Cost {
        Cost { kbps, wire_kbps: kbps, error_m: None, motion: Motion::Moving }
    }

    fn lane(cost: Option<Cost>, estimate: Option<f64>, meter: &LaneMeter) -> OverlayLane<'_> {
        let (side, settings) = (Side::Right, LaneSettings::default());
        let [is_remote, is_selected] = [false; 2];
        let part = side as usize;
        OverlayLane { side, part, settings, cost, estimate, meter, is_remote, is_selected }
    }

    #[test]
    fn an_uncompressed_snapshot_has_as_many_bytes_as_it_is_compared_with() {
        let world = crate::simulation::CubeWorld::default();
        let packet = itemized(ladder::UNCOMPRESSED.stages, world.current(), world.current());
        let bytes = packet.bytes.len() + HEADER_BYTES;
        let sender = crate::replication::SenderSettings::default();
        let rate = sender.snapshots_per_second() as usize;
        assert_eq!(crate::replication::kbps(bytes * rate, 60), sender.uncompressed_kbps());
    }

    #[test]
    fn a_headline_needs_a_second_and_changes_four_times_in_one() {
        let meter =
            |ticks| LaneMeter::from_samples((0..ticks).map(|tick| sample(tick, tick as usize)));
        let kbps = |ticks, moment| Some(Cost::of(&meter(ticks).second(moment)?).kbps);
        assert_eq!(kbps(59, None), None);
        let shown: Vec<_> = (600..660).map(|ticks| kbps(ticks, None)).collect();
        let changes = shown.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(changes, 4);
        // The past is shown tick by tick.
        assert!(kbps(600, Some(301)) > kbps(600, Some(300)));
    }

    #[test]
    fn a_ratio_is_from_the_dearer_to_the_cheaper_half() {
        let [dear, cheap] = [cost(4_341.0), cost(216.0)];
        let less = |side| Some(("20× less".to_owned(), side));
        assert_eq!(ratio([&dear, &cheap]), less(Side::Right));
        assert_eq!(ratio([&cheap, &dear]), less(Side::Left));
        assert_eq!(ratio([&cost(100.0), &cost(104.0)]), None);
        assert_eq!(ratio([&cost(100.0), &cost(0.0)]), None);
        let erring = |error_m| Cost { error_m: Some(error_m), ..cost(100.0) };
        let closer = |left, right| ratio([&erring(left), &erring(right)]);
        let on_the_right = ("16× closer".to_owned(), Side::Right);
        assert_eq!(closer(0.032, 0.002), Some(on_the_right));
        assert_eq!(closer(0.002, 0.002_5), None);
        assert_eq!(closer(0.0, 0.000_1), None);
        assert_eq!(cheap.less(17_368.8).as_deref(), Some("80× less"));
        assert_eq!(cost(17_300.0).less(17_368.8), None);
    }

    #[test]
    fn a_column_is_compared_with_the_first_in_both_directions() {
        let erring = |kbps, error_m| Cost { error_m: Some(error_m), ..cost(kbps) };
        let [first, less, more] = [(100.0, 0.002), (25.0, 0.1), (400.0, 0.1)]
            .map(|(kbps, error_m)| erring(kbps, error_m));
        assert_eq!(to_first(&first, &less).unwrap(), "4.0× less");
        assert_eq!(to_first(&first, &more).unwrap(), "4.0× more");
        assert_eq!(to_first(&first, &first), None);
        let off = erring(100.0, 0.032);
        assert_eq!(to_first(&first, &off).unwrap(), "16× further off");
        assert_eq!(to_first(&off, &first).unwrap(), "16× closer");
    }

    #[test]
    fn a_ratio_is_shown_only_while_the_compression_decides_the_cost() {
        let dear = Cost { error_m: Some(0.2), ..cost(4_341.0) };
        let cost = |motion| Cost { error_m: Some(0.002), motion, ..cost(63.8) };
        let moving = cost(Motion::Moving);
        let said = "64 kbps instead of 17\u{2009}369";
        assert_eq!(moving.instead_of(17_368.8, false), said);
        assert_eq!(moving.instead_of(17_368.8, true), format!("{said}, error 2.0 mm"));
        for (motion, figure) in [
            (Motion::Moving, "64"),
            (Motion::AtRest, "at rest: 64"),
            (Motion::HeldTo(64), "held to 64"),
        ] {
            let (cost, is_compared) = (cost(motion), motion == Motion::Moving);
            assert_eq!(cost.figure(), figure);
            assert_eq!(cost.less(17_368.8).is_some(), is_compared);
            assert_eq!(ratio([&dear, &cost]).is_some(), is_compared);
            assert_eq!(to_first(&cost, &dear).is_some(), is_compared);
        }
        // Within the same budget the errors differ.
        let off = Cost { error_m: Some(0.032), ..cost(Motion::HeldTo(64)) };
        let closer = |motion| ratio([&off, &cost(motion)]).map(|(text, _)| text);
        assert_eq!(closer(Motion::HeldTo(64)).as_deref(), Some("16× closer"));
        assert_eq!(closer(Motion::HeldTo(32)), None);
    }

    #[test]
    fn a_second_without_changed_cubes_is_at_rest_also_within_a_budget() {
        let motion = |changed_bodies, budget_kbps| {
            let mut sample = sample(0, 100);
            sample.snapshots[0].changed_bodies = changed_bodies;
            sample.traffic.wire_bytes = 140;
            let samples = [crate::replication::Sample { budget_kbps, ..sample }];
            Cost::of(&Totals::of(&samples)).motion
        };
        assert_eq!(motion(5, None), Motion::Moving);
        assert_eq!(motion(5, Some(64)), Motion::HeldTo(64));
        assert_eq!(motion(5, Some(128)), Motion::Moving);
        assert_eq!(motion(0, Some(64)), Motion::AtRest);
    }

    #[test]
    fn a_figure_that_has_no_room_is_smaller() {
        with_pen(|pen| {
            let meter = LaneMeter::default();
            let held = Cost { motion: Motion::HeldTo(1024), ..cost(1_020.0) };
            let lane = lane(Some(held), None, &meter);
            // With its unit, without it, and smaller.
            let heights = [600.0, 330.0, 220.0].map(|width| {
                let half = Rect::from_min_size(Pos2::ZERO, vec2(width, 720.0));
                let plate = pen.column(half, &lane);
                assert!(
                    half.x_range().shrink(pen.sizes.margin - 1.0).contains(plate.min.x),
                    "{plate}"
                );
                plate.height()
            });
            assert!(heights[0] == heights[1] && heights[1] > heights[2] + 10.0, "{heights:?}");
            let text = lane.figure().unwrap();
            assert!(pen.width(&text, pen.sizes.unit) < pen.inside(220.0));
        });
    }

    #[test]
    fn lanes_with_the_same_stages_are_told_apart_by_what_differs() {
        let lane = |text: &str| text.parse::<LaneSettings>().unwrap();
        let about = |lane: &LaneSettings, other| about([lane, other]).remove(0);
        let [none, hermite] = ["none", "hermite"]
            .map(|kind| lane(&format!("rung:at-rest,rate:10,interpolation:{kind}")));
        assert_eq!(about(&none, &hermite), "no interpolation");
        assert_eq!(about(&hermite, &none), "hermite");
        let other = lane("rung:uncompressed,rate:10,interpolation:none");
        assert_eq!(about(&none, &other), ladder::AT_REST.summary);
        assert_eq!(about(&none, &none), ladder::AT_REST.summary);
    }

    #[test]
    fn until_there_is_a_second_of_figures_a_headline_estimates() {
        let colors = crate::theme::Theme::default().colors();
        let measured = cost(30.2);
        for (cost, estimate, said, color) in [
            (Some(measured), Some(31.0), Some("30"), colors.right),
            (None, Some(31.2), Some("about 31"), colors.muted),
            (None, None, None, colors.muted),
        ] {
            let meter = LaneMeter::default();
            let lane = lane(cost, estimate, &meter);
            assert_eq!(lane.figure().as_deref(), said);
            assert_eq!(lane.color(colors), color);
        }
    }

    #[test]
    fn two_headlines_say_what_their_rungs_do_and_leave_the_divider_to_the_ratio() {
        with_pen(|pen| {
            let picture = Rect::from_min_size(Pos2::ZERO, vec2(872.0, 720.0));
            let (left, right) = picture.split_left_right_at_fraction(0.5);
            let beside = right.width() - 3.0 * pen.sizes.ratio;
            for rung in ladder::all() {
                let settings = LaneSettings::with_stages(rung.stages);
                let lines = pen.alike([about([&settings; 2]), about([&settings; 2])], beside);
                assert_eq!(lines[0], rung.summary);
                let meter = LaneMeter::default();
                let right_lane =
                    OverlayLane { settings, ..lane(Some(cost(17_368.8)), None, &meter) };
                let left_lane = OverlayLane { side: Side::Left, part: 0, ..right_lane.clone() };
                let plates = [
                    pen.compared(left, &left_lane, &right_lane),
                    pen.compared(right, &right_lane, &left_lane),
                ];
                let free = (plates[0].max.x, plates[1].min.x);
                assert!(free.0 < 436.0 - 67.0 && free.1 > 436.0 + 67.0, "{free:?}");
            }
        });
    }
}
