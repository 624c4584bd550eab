//! What a half costs, and how many times less that is: in large type at the top.

use bevy_egui::egui::{Align2, Pos2, Rect, Vec2, pos2, vec2};
use cubewire_codec::ladder;
use cubewire_scene::TICKS_PER_SECOND;

use super::text::{Part, Pen};
use crate::replication::{Accounting, LaneMeter, LaneSettings, Totals, millimetres, rung_name};
use crate::theme::egui_color;
use crate::view::side::Side;
use crate::words::{factor, grouped, rounded};

/// What a lane costs, mean of a second.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) kbps: f64,
    wire_kbps: f64,
    /// How far the replica is from the simulation, where that is measured.
    pub(super) error: Option<String>,
}

/// Within this factor, two lanes cost the same.
const SAME: f64 = 1.05;

/// Between a headline and the edges of its ground, in multiples of its size.
const PADDING: Vec2 = vec2(0.4, 0.17);

/// From the top of the picture, points.
const TOP: f32 = 12.0;

impl Cost {
    /// None until a second is measured: the first packets of a lane have no baseline.
    pub(super) fn of(meter: &LaneMeter, moment: Option<u64>) -> Option<Self> {
        let tick = meter.steady_tick(moment);
        let totals = Totals::of(meter.second_until(tick));
        (totals.ticks >= TICKS_PER_SECOND as usize).then(|| Self {
            kbps: totals.kbps(Accounting::PayloadAndUdp),
            wire_kbps: totals.kbps(Accounting::OnTheWire),
            error: totals.mean_error_m().map(millimetres),
        })
    }

    /// The bandwidth, as in large type.
    fn figure(&self) -> String {
        grouped(self.kbps)
    }

    /// How many times less than that is; none if it is not.
    fn less(&self, uncompressed_kbps: f64) -> Option<String> {
        let less = uncompressed_kbps / self.kbps;
        (self.kbps >= 0.5 && less >= SAME).then(|| format!("{} less", factor(less)))
    }

    /// How bytes are counted.
    pub(super) fn accounting(&self) -> String {
        format!(
            "Snapshots with their IP and UDP headers, as the article counts; with the transport’s own {} kbps.",
            rounded(self.wire_kbps)
        )
    }
}

/// How many times less the cheaper of two lanes costs, and where it is.
pub(super) fn ratio([left, right]: [&Cost; 2]) -> Option<(String, &'static str)> {
    let (least, most) = (left.kbps.min(right.kbps), left.kbps.max(right.kbps));
    let side = if left.kbps < right.kbps {
        "on the left"
    } else {
        "on the right"
    };
    (least >= 0.5).then(|| match most / least {
        ..SAME => ("the same".to_owned(), "left and right"),
        less => (format!("{} less", factor(less)), side),
    })
}

impl Pen<'_> {
    /// Paints what the one lane that is shown costs, centred over its half. Returns the ground's rectangle.
    pub(super) fn headline(
        &self,
        half: Rect,
        side: Side,
        settings: &LaneSettings,
        cost: Option<&Cost>,
    ) -> Rect {
        let about = about_rung(settings).0;
        let uncompressed = settings.sender.uncompressed_kbps();
        let (large, line) = match cost {
            None => ("…".to_owned(), about),
            Some(cost) => match cost.less(uncompressed) {
                None => (cost.figure() + " kbps", about),
                Some(less) => {
                    let (now, before) = (cost.figure(), grouped(uncompressed));
                    let error = cost.error.as_ref();
                    let error = error.filter(|_| settings.sender.kept_budget().is_some());
                    let error = error.map_or(String::new(), |error| format!(", error {error}"));
                    (less, format!("{now} kbps instead of {before}{error}"))
                }
            },
        };
        let at = pos2(half.center().x, half.min.y + TOP);
        let color = side.color_of(self.colors());
        let width = half.width() - 2.0 * self.sizes.margin;
        let large = [(large.as_str(), self.sizes.headline, color)];
        self.figures(
            at,
            Align2::CENTER_TOP,
            width,
            &large,
            (&line, self.sizes.line),
        )
    }

    /// Paints what a lane costs and how far it is from the simulation, centred over its column. Returns the ground's
    /// rectangle.
    pub(super) fn column(&self, half: Rect, side: Side, cost: Option<&Cost>) -> Rect {
        let figure = cost.map_or_else(|| "…".to_owned(), Cost::figure);
        let large = self.bandwidth(&figure, side);
        let error = cost.and_then(|cost| cost.error.as_ref());
        let line = error.map_or_else(|| "…".to_owned(), |error| format!("mean error {error}"));
        self.figures(
            pos2(half.center().x, half.min.y + TOP),
            Align2::CENTER_TOP,
            half.width() - 2.0 * self.sizes.margin,
            &large,
            (&line, self.sizes.line),
        )
    }

    /// Paints what one of two lanes costs, at the outer edge of its half, so that the `ratio` between the halves stays
    /// free. Returns the ground's rectangle.
    pub(super) fn compared(
        &self,
        half: Rect,
        side: Side,
        settings: &LaneSettings,
        cost: Option<&Cost>,
    ) -> Rect {
        let margin = self.sizes.margin;
        let (anchor, x) = match side {
            Side::Left => (Align2::LEFT_TOP, half.min.x + margin),
            Side::Right => (Align2::RIGHT_TOP, half.max.x - margin),
        };
        let width = half.width() - 2.0 * margin - 3.0 * self.sizes.ratio;
        let figure = cost.map_or_else(|| "…".to_owned(), Cost::figure);
        let large = self.bandwidth(&figure, side);
        let (line, size) = self.about(settings, width);
        self.figures(
            pos2(x, half.min.y + TOP),
            anchor,
            width,
            &large,
            (&line, size),
        )
    }

    fn bandwidth<'a>(&self, kbps: &'a str, side: Side) -> [Part<'a>; 2] {
        let color = side.color_of(self.colors());
        [
            (kbps, self.sizes.headline, color),
            (" kbps", self.sizes.unit, color),
        ]
    }

    /// What the rung does, as far as it fits into the plate of a headline of that width, and in which size.
    fn about(&self, settings: &LaneSettings, width: f32) -> (String, f32) {
        let (about, name) = about_rung(settings);
        let phrase = about.split([':', ';', ',']).next().unwrap_or_default();
        let phrase = phrase.trim_end_matches('.').to_owned();
        let (large, small) = (self.sizes.line, self.sizes.small);
        let width = width - 2.0 * PADDING.x * self.sizes.headline;
        let fits = |text: &str, size| !self.line(&[(text, size, self.colors().ink)], width).elided;
        let wishes = [(about.clone(), large), (about, small), (phrase, large)];
        let wish = wishes.into_iter().find(|(text, size)| fits(text, *size));
        wish.unwrap_or_else(|| (name.to_owned(), large))
    }

    fn figures(
        &self,
        at: Pos2,
        anchor: Align2,
        width: f32,
        large: &[Part<'_>],
        (line, size): (&str, f32),
    ) -> Rect {
        let padding = PADDING * self.sizes.headline;
        let width = width - 2.0 * padding.x;
        let line = self.line(&[(line, size, self.colors().ink)], width);
        self.plate(at, anchor, padding, &[self.line(large, width), line])
    }

    /// Paints the ratio between two lanes, on the line between the halves.
    pub(super) fn ratio(&self, picture: Rect, (ratio, side): (String, &str)) {
        let colors = self.colors();
        let line = |text: &str, size| self.line(&[(text, size, colors.ground)], f32::INFINITY);
        let lines = [line(&ratio, self.sizes.ratio), line(side, self.sizes.small)];
        let padding = vec2(0.75, 0.2) * self.sizes.ratio;
        let at = pos2(picture.center().x, picture.min.y + TOP);
        let fill = egui_color(colors.ink);
        self.ground(at, Align2::CENTER_TOP, padding, &lines, fill);
    }

    /// Paints a sentence about what the pointer is over.
    pub(super) fn tip(&self, over: Rect, picture: Rect, text: &str) {
        let ink = (text, self.sizes.small, self.colors().ink);
        let line = self.line(&[ink], picture.width() - 4.0 * self.sizes.margin);
        let padding = Vec2::splat(0.66 * self.sizes.small);
        let half = line.size().x / 2.0 + padding.x + self.sizes.margin;
        let x = over
            .center()
            .x
            .min(picture.max.x - half)
            .max(picture.min.x + half);
        self.plate(
            pos2(x, over.max.y + 4.0),
            Align2::CENTER_TOP,
            padding,
            &[line],
        );
    }
}

/// What the rung does, and its name.
fn about_rung(settings: &LaneSettings) -> (String, &'static str) {
    let stages = settings.sender.stages;
    let name = rung_name(stages);
    let about = ladder::rung_of(stages).map_or(name, |rung| rung.summary);
    (about.to_owned(), name)
}

#[cfg(test)]
mod tests {
    use super::super::text::tests::with_pen;
    use super::*;
    use crate::replication::{HEADER_BYTES, PacketRecord, Sample};
    use cubewire_codec::{Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence};

    fn cost(kbps: f64) -> Cost {
        Cost {
            kbps,
            wire_kbps: kbps,
            error: None,
        }
    }

    #[test]
    fn an_uncompressed_snapshot_has_as_many_bytes_as_it_is_compared_with() {
        let world = crate::simulation::CubeWorld::default();
        let stages = ladder::UNCOMPRESSED.stages;
        let initial = world.current().clone();
        let mut current = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
        current.quantize(&initial, stages.precision()).unwrap();
        let mut encoder = Encoder::new(Plan::cubes(), initial, Limits::default()).unwrap();
        let mut packet = Packet::default();
        let sequence = Sequence(0);
        encoder
            .encode(sequence, stages, &current, None, &mut packet, None)
            .unwrap();
        let bytes = packet.bytes.len() + HEADER_BYTES;
        let sender = crate::replication::SenderSettings::default();
        let rate = sender.snapshots_per_second() as usize;
        assert_eq!(
            crate::replication::kbps(bytes * rate, 60),
            sender.uncompressed_kbps()
        );
    }

    #[test]
    fn a_headline_needs_a_second_and_changes_four_times_in_one() {
        let meter = |ticks| {
            LaneMeter::from_samples((0..ticks).map(|tick| Sample {
                tick,
                snapshots: vec![PacketRecord {
                    payload_bytes: tick as usize,
                    ..PacketRecord::default()
                }],
                ..Sample::default()
            }))
        };
        assert_eq!(Cost::of(&meter(59), None), None);
        let shown: Vec<_> = (600..660)
            .map(|ticks| Cost::of(&meter(ticks), None).unwrap().kbps)
            .collect();
        let changes = shown.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(changes, 4);
        // The past is shown tick by tick.
        let past = |tick| Cost::of(&meter(600), Some(tick)).unwrap().kbps;
        assert!(past(301) > past(300));
        assert_eq!(meter(600).samples().len(), 600);
    }

    #[test]
    fn a_ratio_is_from_the_dearer_to_the_cheaper_half() {
        let [dear, cheap] = [cost(4_341.0), cost(216.0)];
        let less = |than| Some(("20× less".to_owned(), than));
        assert_eq!(ratio([&dear, &cheap]), less("on the right"));
        assert_eq!(ratio([&cheap, &dear]), less("on the left"));
        let same = Some(("the same".to_owned(), "left and right"));
        assert_eq!(ratio([&cost(100.0), &cost(104.0)]), same);
        assert_eq!(ratio([&cost(100.0), &cost(0.0)]), None);
        assert_eq!(cheap.less(17_368.8).as_deref(), Some("80× less"));
        assert_eq!(cost(17_300.0).less(17_368.8), None);
    }

    #[test]
    fn two_headlines_leave_the_divider_to_the_ratio() {
        with_pen(|pen| {
            let picture = Rect::from_min_size(Pos2::ZERO, vec2(872.0, 720.0));
            let (left, right) = picture.split_left_right_at_fraction(0.5);
            for rung in ladder::all() {
                let lane = LaneSettings::with_stages(rung.stages);
                let of = |half, side| pen.compared(half, side, &lane, Some(&cost(17_368.8)));
                let plates = [of(left, Side::Left), of(right, Side::Right)];
                let free = (plates[0].max.x, plates[1].min.x);
                assert!(free.0 < 436.0 - 67.0 && free.1 > 436.0 + 67.0, "{free:?}");
            }
        });
    }
}
