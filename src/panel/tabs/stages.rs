//! A switch for each stage of the codec. Options that the codec rejects are disabled, with the reason in
//! their tooltip.

use std::mem;

use bevy_egui::egui;
use cubewire_codec::Stages;
use cubewire_codec::quantize::smallest_three::{MAX_BITS, MIN_BITS};
use cubewire_codec::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Velocity,
};

use crate::panel::terms::{self, Tooltip};

pub(in crate::panel) fn draw(ui: &mut egui::Ui, stages: &mut Stages) {
    ui.weak("Greyed-out options conflict with the current ones; hover to see why.");
    orientation(ui, stages);
    let chosen = *stages;
    switch(
        ui,
        "Velocity",
        stages,
        Velocity::ALL,
        |stages, velocity| Stages { velocity, ..stages },
        terms::velocity,
    );
    switch(
        ui,
        "Position",
        stages,
        with_chosen(Position::ALL, chosen.position),
        |stages, position| Stages { position, ..stages },
        terms::position,
    );
    switch(
        ui,
        "Delta",
        stages,
        with_chosen(Delta::ALL, chosen.delta),
        |stages, delta| Stages { delta, ..stages },
        terms::delta,
    );
    switch(
        ui,
        "Relative position",
        stages,
        with_chosen(RelativePosition::ALL, chosen.relative_position),
        |stages, relative_position| Stages {
            relative_position,
            ..stages
        },
        terms::relative_position,
    );
    switch(
        ui,
        "Relative orientation",
        stages,
        with_chosen(RelativeOrientation::ALL, chosen.relative_orientation),
        |stages, relative_orientation| Stages {
            relative_orientation,
            ..stages
        },
        terms::relative_orientation,
    );
    switch(
        ui,
        "Changed flags",
        stages,
        ChangedFlags::ALL,
        |stages, changed_flags| Stages {
            changed_flags,
            ..stages
        },
        terms::changed_flags,
    );
}

fn orientation(ui: &mut egui::Ui, stages: &mut Stages) {
    let with = |stages: Stages, orientation: Orientation| Stages {
        orientation,
        ..stages
    };
    let bits = match stages.orientation {
        Orientation::SmallestThree { bits } => bits,
        Orientation::Full => ARTICLE_BITS,
    };
    let variants = [Orientation::Full, Orientation::SmallestThree { bits }];
    switch(
        ui,
        "Orientation",
        stages,
        variants,
        with,
        terms::orientation,
    );
    let smallest_three = stages.orientation != Orientation::Full;
    let mut bits = bits;
    let slider = egui::Slider::new(&mut bits, MIN_BITS..=MAX_BITS).text("bits per component");
    let slider = ui
        .horizontal(|ui| {
            ui.add_space(TITLE_WIDTH + ui.spacing().item_spacing.x);
            ui.spacing_mut().slider_width = SLIDER_WIDTH;
            ui.add_enabled(smallest_three, slider)
        })
        .inner
        .on_hover_text(terms::COMPONENT_BITS)
        .on_disabled_hover_text(terms::NO_COMPONENT_BITS);
    let candidate = with(*stages, Orientation::SmallestThree { bits });
    if slider.changed() && refusal(candidate).is_none() {
        *stages = candidate;
    }
}

/// The variants of a stage, the chosen one with its parameters instead of the usual ones.
fn with_chosen<T: Copy, const VARIANTS: usize>(
    mut variants: [T; VARIANTS],
    chosen: T,
) -> [T; VARIANTS] {
    for variant in &mut variants {
        if mem::discriminant(variant) == mem::discriminant(&chosen) {
            *variant = chosen;
        }
    }
    variants
}

/// A row of options, one for each variant of a stage.
fn switch<T: Copy, const VARIANTS: usize>(
    ui: &mut egui::Ui,
    title: &str,
    stages: &mut Stages,
    variants: [T; VARIANTS],
    with: impl Fn(Stages, T) -> Stages,
    tooltip: impl Fn(T) -> Tooltip,
) {
    ui.horizontal_top(|ui| {
        let label = egui::vec2(TITLE_WIDTH, ui.spacing().interact_size.y);
        ui.allocate_ui_with_layout(label, egui::Layout::left_to_right(egui::Align::Min), |ui| {
            ui.set_min_width(TITLE_WIDTH);
            ui.label(title);
        });
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(3.0, 2.0);
            for variant in variants {
                let candidate = with(*stages, variant);
                let Tooltip { name, text } = tooltip(variant);
                let button = egui::Button::selectable(candidate == *stages, name);
                let response = match refusal(candidate) {
                    Some(reason) => ui.add_enabled(false, button).on_disabled_hover_text(reason),
                    None => ui.add(button).on_hover_text(text),
                };
                if response.clicked() {
                    *stages = candidate;
                }
            }
        });
    });
}

/// Why the codec rejects these stages; none if they are legal.
pub(super) fn refusal(candidate: Stages) -> Option<String> {
    candidate.check().err().map(|illegal| illegal.to_string())
}

/// Logical points.
const TITLE_WIDTH: f32 = 112.0;
const SLIDER_WIDTH: f32 = 64.0;

/// Bits per component in the article.
const ARTICLE_BITS: u8 = 9;

#[cfg(test)]
mod tests {
    use cubewire_codec::{IllegalStages, ladder};

    use super::*;

    #[test]
    fn an_illegal_option_gives_the_codecs_reason() {
        let candidate = Stages {
            changed_flags: ChangedFlags::Separate,
            ..ladder::POSITION.stages
        };
        assert_eq!(
            refusal(candidate),
            Some(IllegalStages::ChangedFlagsWithoutDelta.to_string())
        );
    }

    #[test]
    fn the_chosen_option_keeps_its_parameters() {
        let chosen = RelativePosition::TwoRanges { small: 4, large: 8 };
        let options = with_chosen(RelativePosition::ALL, chosen);
        assert_eq!(
            options,
            [RelativePosition::Off, chosen, RelativePosition::Predicted]
        );
    }
}
