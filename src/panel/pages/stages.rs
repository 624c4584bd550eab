//! A switch for each stage of the codec. Options that the codec rejects are disabled, with the reason in
//! their tooltip.

use std::mem;

use bevy_egui::egui;
use cubewire_codec::quantize::smallest_three::{MAX_BITS, MIN_BITS};
use cubewire_codec::stages::{
    ChangedFlags, Delta, Orientation, Position, RelativeOrientation, RelativePosition, Velocity,
};
use cubewire_codec::{StageOptions, Stages};

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
        |options| &mut options.velocity,
        terms::velocity,
    );
    switch(
        ui,
        "Position",
        stages,
        with_chosen(Position::ALL, chosen.position),
        |options| &mut options.position,
        terms::position,
    );
    switch(
        ui,
        "Delta",
        stages,
        with_chosen(Delta::ALL, chosen.delta),
        |options| &mut options.delta,
        terms::delta,
    );
    switch(
        ui,
        "Relative position",
        stages,
        with_chosen(RelativePosition::ALL, chosen.relative_position),
        |options| &mut options.relative_position,
        terms::relative_position,
    );
    switch(
        ui,
        "Relative orientation",
        stages,
        with_chosen(RelativeOrientation::ALL, chosen.relative_orientation),
        |options| &mut options.relative_orientation,
        terms::relative_orientation,
    );
    switch(
        ui,
        "Changed flags",
        stages,
        ChangedFlags::ALL,
        |options| &mut options.changed_flags,
        terms::changed_flags,
    );
}

fn orientation(ui: &mut egui::Ui, stages: &mut Stages) {
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
        |options| &mut options.orientation,
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
    let candidate = StageOptions {
        orientation: Orientation::SmallestThree { bits },
        ..**stages
    };
    if slider.changed()
        && let Ok(legal) = candidate.check()
    {
        *stages = legal;
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
    stage: impl Fn(&mut StageOptions) -> &mut T,
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
                let mut candidate = **stages;
                *stage(&mut candidate) = variant;
                let Tooltip { name, text } = tooltip(variant);
                let button = egui::Button::selectable(candidate == **stages, name);
                match candidate.check() {
                    Ok(legal) => {
                        if ui.add(button).on_hover_text(text).clicked() {
                            *stages = legal;
                        }
                    }
                    Err(illegal) => {
                        let button = ui.add_enabled(false, button);
                        button.on_disabled_hover_text(illegal.to_string());
                    }
                }
            }
        });
    });
}

/// Logical points.
const TITLE_WIDTH: f32 = 112.0;
const SLIDER_WIDTH: f32 = 64.0;

/// Bits per component in the article.
const ARTICLE_BITS: u8 = 9;

#[cfg(test)]
mod tests {
    use super::*;

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
