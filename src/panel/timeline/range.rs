//! The totals of a lane in a range of ticks.

use bevy_egui::egui::{Align2, Rect, Stroke, Ui, pos2};
use cubewire_scene::TICKS_PER_SECOND;

use super::TickAxis;
use crate::panel::lane::Measured;
use crate::panel::settings::TickRange;
use crate::panel::style;
use crate::replication::{Accounting, Fate, LaneMeter, Totals};
use crate::theme::{Theme, egui_color};

impl TickRange {
    /// What a lane sent in these ticks, in words.
    fn words(self, meter: &LaneMeter) -> String {
        let newest = meter.samples().back().map_or(0, |sample| sample.tick);
        let samples = || {
            let samples = meter.back_from(Some(self.last));
            samples.take_while(|sample| sample.tick >= self.first)
        };
        let totals = Totals::of(samples());
        let packets = samples().flat_map(|sample| {
            let packets = sample.snapshots.iter();
            packets.map(|packet| packet.fate(sample.tick, newest))
        });
        let (mut lost, mut late) = (0, 0);
        for fate in packets {
            match fate {
                Fate::Lost => lost += 1,
                Fate::Arrived(arrival) if arrival.is_late => late += 1,
                Fate::Arrived(_) | Fate::OnItsWay => {}
            }
        }
        if totals.ticks == 0 {
            return "not recorded".to_owned();
        }
        let seconds = totals.ticks as f64 / f64::from(TICKS_PER_SECOND);
        let mean = totals.payload_bytes as f64 / totals.snapshots.max(1) as f64;
        format!(
            "{seconds:.2} s: {} packets, {} bytes payload, mean {mean:.1}, largest {}; {:.1} kbps; {lost} lost, {late} late",
            totals.snapshots,
            totals.payload_bytes,
            totals.max_payload_bytes,
            totals.kbps(Accounting::PayloadAndUdp),
        )
    }
}

/// Marks the range in the row of a lane, and writes its totals next to it.
pub(super) fn draw(
    ui: &Ui,
    theme: Theme,
    row: Rect,
    measured: &Measured<'_>,
    axis: &TickAxis,
    range: TickRange,
) {
    let ink = egui_color(theme.colors().ink);
    let painter = ui.painter_at(row);
    let marked = Rect::from_x_y_ranges(
        axis.x_of(range.first)..=axis.x_of(range.last),
        row.y_range(),
    );
    painter.rect_filled(marked, 0.0, ink.gamma_multiply(0.18));
    for x in [marked.left(), marked.right()] {
        painter.vline(x, row.y_range(), Stroke::new(1.0, ink));
    }
    let words = range.words(measured.meter);
    // Next to the range where there is room.
    let (before, after) = (marked.left() - row.left(), row.right() - marked.right());
    let (x, align) = if before.max(after) < TEXT_WIDTH {
        (row.center().x, Align2::CENTER_CENTER)
    } else if after >= before {
        (marked.right() + 6.0, Align2::LEFT_CENTER)
    } else {
        (marked.left() - 6.0, Align2::RIGHT_CENTER)
    };
    let at = pos2(x, row.center().y);
    style::text_over(&painter, theme, at, align, words, 11.0);
}

/// Approximate width of the totals, logical points.
const TEXT_WIDTH: f32 = 480.0;

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::replication::{Arrival, PacketRecord, Sample};

    #[test]
    fn a_range_has_the_totals_of_its_ticks_alone() {
        let meter = LaneMeter::from_samples((0..600).map(|tick| Sample {
            tick,
            stages: ladder::DELTA.stages,
            snapshots: vec![PacketRecord {
                payload_bytes: if tick == 120 { 400 } else { 100 },
                arrival: (tick != 119).then_some(Arrival {
                    after_ticks: 3,
                    is_late: tick == 121,
                }),
                ..PacketRecord::default()
            }],
            ..Sample::default()
        }));
        let range = TickRange::between(179, 120);
        assert_eq!(range, TickRange::between(120, 179));
        // 60 packets with 28 bytes of headers each, in a second.
        let expected = "1.00 s: 60 packets, 6300 bytes payload, mean 105.0, largest 400; 63.8 kbps; 0 lost, 1 late";
        assert_eq!(range.words(&meter), expected);
        let one_more = TickRange::between(119, 179).words(&meter);
        assert!(one_more.contains("61 packets"), "{one_more}");
        assert!(one_more.ends_with("1 lost, 1 late"), "{one_more}");
        // What is not recorded any more does not count as time.
        let older =
            TickRange::between(0, 9).words(&LaneMeter::from_samples((5..600).map(|tick| Sample {
                tick,
                ..Sample::default()
            })));
        assert!(older.starts_with("0.08 s: 0 packets"), "{older}");
        let none = TickRange::between(700, 710).words(&meter);
        assert_eq!(none, "not recorded");
    }
}
