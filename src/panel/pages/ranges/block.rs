//! Two ranges of a stage: what they have to hold, and the sliders that set them.

use bevy_egui::egui::{Align, Layout, Ui, vec2};
use cubewire_codec::{StageOptions, Stages};

use super::edit;
use super::histogram::{self, Bars};
use crate::panel::widgets::{Parameter, heading, note};
use crate::words::rounded;

/// A histogram with sliders beside it, and the shares of each range.
pub(super) struct Block<'a> {
    pub(super) title: &'static str,
    pub(super) bars: Bars<'a>,
    /// The share that has no difference, and is sent whole.
    pub(super) beyond: f32,
    pub(super) bits_a_cube: Option<f64>,
    /// The most bits that a range can have.
    pub(super) max: u8,
}

impl Block<'_> {
    /// Draws it. What the sliders set takes effect if the codec accepts it.
    pub(super) fn draw(
        &self,
        ui: &mut Ui,
        stages: &mut Stages,
        set: impl Fn(&mut StageOptions, [u8; 2]),
    ) {
        let bits = self.bits_a_cube.map(rounded);
        let bits = bits.map_or_else(String::new, |bits| format!("{bits} bits a cube"));
        heading(ui, self.title, bits).on_hover_text(self.bars.about);
        ui.add_space(2.0);
        let size = vec2(ui.available_width(), histogram::HEIGHT);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Min), |ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            histogram::draw(ui, &self.bars);
            ui.add_space(BESIDE);
            ui.vertical(|ui| self.sliders(ui, stages, set));
        });
    }

    fn sliders(&self, ui: &mut Ui, stages: &mut Stages, set: impl Fn(&mut StageOptions, [u8; 2])) {
        let absent = self.bars.ranges.is_none().then_some(ABSENT);
        let [small, large] = self.bars.ranges.unwrap_or([1, self.max]);
        let limits = [1..=large, small..=self.max];
        for (index, range) in limits.into_iter().enumerate() {
            let of_range = Parameter {
                height: HEIGHT,
                label: NAMES[index],
                name: format!("{}, {}", self.title, NAMES[index]),
                widths: WIDTHS,
                range,
                unit: "",
                is_power: false,
                absent,
            };
            let mut wanted = [small, large];
            edit(ui, stages, &of_range, wanted[index], |options, bits| {
                wanted[index] = bits;
                set(options, wanted);
            });
        }
        note(ui, self.shares()).on_hover_text(ABOUT_SHARES);
    }

    /// The shares of the small range, of the large one, and of what is beyond.
    fn shares(&self) -> String {
        let Some(ranges) = self.bars.ranges else {
            return "no ranges with these stages".to_owned();
        };
        let all: f32 = self.bars.counts.iter().sum();
        let [small, large] = ranges.map(usize::from);
        let up_to = |bits: usize| {
            let inside = self.bars.counts.iter().take(bits + 1).sum::<f32>();
            100.0 * inside / all.max(1e-6) * (1.0 - self.beyond)
        };
        match all > 0.0 {
            true => format!(
                "{:.0} % · {:.0} % · {:.0} % whole",
                up_to(small),
                up_to(large) - up_to(small),
                100.0 - up_to(large)
            ),
            false => "nothing has changed yet".to_owned(),
        }
    }
}

const NAMES: [&str; 2] = ["small", "large"];

const ABSENT: &str = "The stages have no such two ranges: see Stages.";

const ABOUT_SHARES: &str =
    "Of all: in the small range, in the large one, and beyond both, where the value is sent whole.";

/// Logical points.
const BESIDE: f32 = 16.0;
const HEIGHT: f32 = 26.0;
const WIDTHS: [f32; 3] = [40.0, 76.0, 44.0];

#[cfg(test)]
mod tests {
    use cubewire_codec::BitKind;

    use super::*;
    use crate::replication::DELTA_BITS;

    fn shares(ranges: Option<[u8; 2]>, beyond: f32) -> String {
        let mut counts = [0.0; DELTA_BITS];
        (counts[2], counts[5], counts[6], counts[12]) = (10.0, 10.0, 60.0, 20.0);
        let block = Block {
            title: "",
            bars: Bars {
                about: "",
                counts: &counts,
                last: 12,
                kind: BitKind::Position,
                ranges,
            },
            beyond,
            bits_a_cube: None,
            max: 18,
        };
        block.shares()
    }

    #[test]
    fn shares_are_those_of_each_range_and_of_what_is_beyond() {
        assert_eq!(shares(Some([5, 9]), 0.0), "20 % · 60 % · 20 % whole");
        assert_eq!(shares(Some([5, 9]), 0.5), "10 % · 30 % · 60 % whole");
        assert_eq!(shares(None, 0.0), "no ranges with these stages");
    }
}
