//! Where the bits go: the newest second, by kind of field and in a few means.

use bevy_egui::egui::{self, Color32};
use cubewire_codec::{BitKind, BitLedger};
use cubewire_scene::TICKS_PER_SECOND;

use super::figure;
use crate::replication::{LaneMeter, Sample, kbps};

pub(super) fn draw(ui: &mut egui::Ui, meter: &LaneMeter) {
    let sums = Sums::of(meter.newest(TICKS_PER_SECOND as usize));
    if sums.snapshots == 0 {
        ui.weak("Nothing was sent in the newest second.");
        return;
    }
    ui.weak("Payload of the newest second:");
    bar(ui, &sums);
    legend(ui, &sums);
    ui.separator();
    figures(ui, &sums);
}

/// Sums over some samples.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sums {
    samples: usize,
    snapshots: usize,
    ledger: BitLedger,
    changed_cubes: usize,
    sent_cubes: usize,
    payload_bytes: usize,
    peak_bytes: usize,
    packets: usize,
    article_bytes: usize,
    wire_bytes: usize,
    ack_bytes: usize,
    renet_ack_bytes: usize,
}

impl Sums {
    fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Self {
        let mut sums = Self::default();
        for sample in samples {
            sums.samples += 1;
            sums.snapshots += sample.snapshots;
            sums.ledger.add(&sample.ledger);
            sums.changed_cubes += sample.changed_cubes;
            sums.sent_cubes += sample.sent_cubes;
            sums.payload_bytes += sample.payload_bytes;
            sums.peak_bytes = sums.peak_bytes.max(sample.payload_bytes);
            sums.packets += sample.packets;
            sums.article_bytes += sample.article_bytes;
            sums.wire_bytes += sample.wire_bytes;
            sums.ack_bytes += sample.ack_bytes;
            sums.renet_ack_bytes += sample.renet_ack_bytes;
        }
        sums
    }

    fn kbps(&self, bytes: usize) -> f64 {
        kbps(bytes, self.samples)
    }

    /// Mean over the snapshots; there must be some.
    fn mean(&self, sum: f64) -> f64 {
        sum / self.snapshots as f64
    }

    /// None if no cube was sent.
    fn bits_per_sent_cube(&self) -> Option<f64> {
        (self.sent_cubes > 0).then(|| self.ledger.body() / self.sent_cubes as f64)
    }

    fn packets_per_second(&self) -> f64 {
        self.packets as f64 / self.samples as f64 * f64::from(TICKS_PER_SECOND)
    }

    /// Part of all bits, 0 to 1.
    fn fraction(&self, kind: BitKind) -> f64 {
        let total = self.ledger.total();
        if total > 0.0 {
            self.ledger.kind(kind) / total
        } else {
            0.0
        }
    }
}

fn bar(ui: &mut egui::Ui, sums: &Sums) {
    let size = egui::vec2(ui.available_width(), BAR_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    let painter = ui.painter_at(rect);
    let pointer = response.hover_pos();
    let mut hovered = None;
    let mut left = rect.left();
    for kind in BitKind::ALL {
        let right = left + rect.width() * sums.fraction(kind) as f32;
        let part = egui::Rect::from_x_y_ranges(left..=right, rect.y_range());
        painter.rect_filled(part, 0.0, color(kind));
        if pointer.is_some_and(|pointer| (left..right).contains(&pointer.x)) {
            hovered = Some(kind);
        }
        left = right;
    }
    if let Some(kind) = hovered {
        let percent = 100.0 * sums.fraction(kind);
        response.on_hover_text_at_pointer(format!("{kind}: {percent:.1} %"));
    }
}

fn legend(ui: &mut egui::Ui, sums: &Sums) {
    let legend = egui::Grid::new("bit_kinds").num_columns(4);
    legend.min_col_width(0.0).show(ui, |ui| {
        for kind in BitKind::ALL {
            let side = ui.text_style_height(&egui::TextStyle::Body) * 0.7;
            let (rect, _) = ui.allocate_exact_size(egui::vec2(side, side), egui::Sense::hover());
            ui.painter().rect_filled(rect, 2.0, color(kind));
            ui.label(kind.name());
            ui.monospace(format!("{:5.1} %", 100.0 * sums.fraction(kind)));
            let bits = sums.mean(sums.ledger.kind(kind));
            ui.monospace(format!("{bits:8.1} bits a packet"));
            ui.end_row();
        }
    });
}

fn figures(ui: &mut egui::Ui, sums: &Sums) {
    let per_cube = sums.bits_per_sent_cube();
    figure(
        ui,
        if sums.sent_cubes == sums.changed_cubes {
            "per changed cube"
        } else {
            "per cube sent, changed or not"
        },
        per_cube.map_or_else(|| "–".to_owned(), |bits| format!("{bits:.1} bits")),
    );
    let changed = sums.mean(sums.changed_cubes as f64);
    figure(ui, "changed cubes, mean", format!("{changed:.1} cubes"));
    let payload = sums.mean(sums.payload_bytes as f64);
    figure(
        ui,
        "packet size, mean (payload)",
        format!("{payload:.1} bytes"),
    );
    figure(
        ui,
        "packet size, peak (payload)",
        format!("{} bytes", sums.peak_bytes),
    );
    let packets = sums.packets_per_second();
    figure(ui, "packets", format!("{packets:.0} a second"));
    for (name, bytes) in [
        ("article accounting", sums.article_bytes),
        ("wire accounting", sums.wire_bytes),
        ("our acks, wire", sums.ack_bytes),
        ("the transport's own acks, wire", sums.renet_ack_bytes),
    ] {
        figure(ui, name, format!("{:.1} kbps", sums.kbps(bytes)));
    }
}

/// The palette of Okabe and Ito, with grey for black, which a dark panel would swallow.
const fn color(kind: BitKind) -> Color32 {
    match kind {
        BitKind::Header => Color32::from_rgb(0xCC, 0x79, 0xA7),
        BitKind::Selection => Color32::from_rgb(0xE6, 0x9F, 0x00),
        BitKind::Interacting => Color32::from_rgb(0xD5, 0x5E, 0x00),
        BitKind::Flags => Color32::from_rgb(0xF0, 0xE4, 0x42),
        BitKind::Position => Color32::from_rgb(0x56, 0xB4, 0xE9),
        BitKind::Orientation => Color32::from_rgb(0x00, 0x9E, 0x73),
        BitKind::Velocity => Color32::from_rgb(0x00, 0x72, 0xB2),
        BitKind::Check => Color32::from_rgb(0xE8, 0xE8, 0xE8),
        BitKind::Padding => Color32::from_rgb(0x99, 0x99, 0x99),
    }
}

/// Logical points.
const BAR_HEIGHT: f32 = 18.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(payload_bytes: usize) -> Sample {
        Sample {
            snapshots: 1,
            payload_bytes,
            article_bytes: payload_bytes + 28,
            wire_bytes: payload_bytes + 40,
            packets: 2,
            changed_cubes: 5,
            sent_cubes: 5,
            ..Sample::default()
        }
    }

    #[test]
    fn sums_are_taken_over_all_samples() {
        let samples = [sample(100), sample(300)];
        let sums = Sums::of(samples.iter());
        assert_eq!(sums.samples, 2);
        assert_eq!(sums.peak_bytes, 300);
        assert_eq!(sums.mean(sums.payload_bytes as f64), 200.0);
        assert_eq!(sums.packets_per_second(), 120.0);
        assert!((sums.kbps(sums.article_bytes) - 109.44).abs() < 1e-9);
        assert_eq!(sums.bits_per_sent_cube(), Some(0.0));
    }

    #[test]
    fn ticks_between_snapshots_count_as_time_and_not_as_packets() {
        let between = Sample::default();
        let samples = [sample(100), between.clone(), sample(300), between];
        let sums = Sums::of(samples.iter());
        assert_eq!(sums.mean(sums.payload_bytes as f64), 200.0);
        assert_eq!(sums.packets_per_second(), 60.0);
        assert!((sums.kbps(sums.article_bytes) - 54.72).abs() < 1e-9);
    }

    #[test]
    fn without_changed_cubes_there_is_no_mean_of_them() {
        let still = Sample {
            changed_cubes: 0,
            sent_cubes: 0,
            ..sample(7)
        };
        let sums = Sums::of([still].iter());
        assert_eq!(sums.bits_per_sent_cube(), None);
        assert_eq!(sums.fraction(BitKind::Header), 0.0);
    }

    #[test]
    fn every_kind_has_a_color_of_its_own() {
        for (place, kind) in BitKind::ALL.into_iter().enumerate() {
            let others = &BitKind::ALL[..place];
            assert!(others.iter().all(|&other| color(other) != color(kind)));
        }
    }
}
