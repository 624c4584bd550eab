//! The page *The two halves*: pickers for the content of each half, and the lanes in the text form of the command line.

use super::pickers;
use crate::panel::lane::Halves;
use crate::panel::prelude::*;
use crate::panel::style;
use crate::view::PaneContent;

pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let Some(halves) = lane.halves.as_deref_mut() else { return };
    let of = |side: Side| {
        let shown = lane.shown.iter().find(|shown| shown.side == side);
        shown.map(|shown| &shown.settings)
    };
    for side in Side::ALL {
        ui.add_space(ABOVE);
        let drawn = ui.push_id(side, |ui| {
            style::in_half(ui, side, |ui| half(ui, halves, side, of(side)));
        });
        let rect = drawn.response.rect;
        let edge = Rect::from_min_max(rect.left_top(), pos2(rect.left() + EDGE, rect.bottom()));
        ui.painter().rect_filled(edge, 0.0, side.color_in(Look::of(ui)));
    }
    ui.add_space(ABOVE);
    buttons(ui, halves, of(Side::Left).zip(of(Side::Right)));
}

fn half(ui: &mut Ui, halves: &mut Halves, side: Side, settings: Option<&LaneSettings>) {
    ui.horizontal(|ui| {
        ui.add_space(EDGE + 8.0);
        ui.vertical(|ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = BETWEEN;
            what(ui, settings.is_some(), side);
            let Some(settings) = settings else { return };
            let mut picked = settings.clone();
            pick(ui, &mut picked);
            if picked != *settings {
                halves.typed.push((side, PaneContent::Lane(picked)));
            }
            if let Some(content) = typed(ui, side, settings) {
                halves.typed.push((side, content));
            }
        });
    });
}

fn what(ui: &mut Ui, is_lane: bool, side: Side) {
    let name = format!("{} half", capital(side.name()));
    let (what, about) = match is_lane {
        true => ("a replica", "The other end of the network, rebuilt from packets alone."),
        false => (
            "the simulation",
            "The physics itself, without any network. Compare shows a replica instead.",
        ),
    };
    let (label, _) = named(ui, LABEL, "", BODY, |ui| ui.weak(what).on_hover_text(about));
    text(ui.painter(), label.rect, At::Left(0.0), name, BODY, Look::of(ui).half);
}

fn pick(ui: &mut Ui, lane: &mut LaneSettings) {
    let size = [ui.available_width() - LABEL, CONTROL];
    named(ui, LABEL, "Stages", SMALL, |ui| {
        let shown = rung_name(lane.sender.stages);
        pickers::rung_named(ui, &mut lane.sender, shown, size);
    });
    named(ui, LABEL, "Network", SMALL, |ui| pickers::network(ui, &mut lane.link.conditions, size));
    named(ui, LABEL, "Snapshots/s", SMALL, |ui| {
        pickers::rate(ui, 104.0, &mut lane.sender);
        named(ui, 36.0, "delay", SMALL, |ui| pickers::delay(ui, lane));
    });
    pickers::interpolation(ui, LABEL, &mut lane.playout.interpolation);
}

/// Draws an editable field with the text of a lane. Returns the entered content when the user presses Enter.
fn typed(ui: &mut Ui, side: Side, settings: &LaneSettings) -> Option<PaneContent> {
    let look = Look::of(ui);
    let current = settings.to_text().unwrap_or_default();
    let id = Id::new(("lane as text", side));
    // Invalid text stays until the user corrects it or presses Esc.
    let parse = |text: &str| match side {
        Side::Left => text.parse::<PaneContent>(),
        Side::Right => text.parse().map(PaneContent::Lane),
    };
    let has_focus = ui.memory(|memory| memory.has_focus(id));
    let typed: Option<String> = ui.data(|data| data.get_temp(id));
    let typed = typed.filter(|typed| has_focus || parse(typed).is_err());
    let mut text = typed.unwrap_or_else(|| current.clone());
    let (_, response) = named(ui, LABEL, "As text", SMALL, |ui| {
        let size = vec2(ui.available_width(), CONTROL);
        ui.visuals_mut().widgets.inactive.bg_stroke = Stroke::new(1.0, look.line);
        let field = egui::TextEdit::singleline(&mut text)
            .id(id)
            .font(egui::TextStyle::Monospace)
            .vertical_align(Align::Center)
            .hint_text("recorded delays have no text form");
        ui.add_sized(size, field)
    });
    response.widget_info(|| WidgetInfo {
        label: Some(format!("The {} half as text", side.name())),
        ..WidgetInfo::text_edit(true, &current, &text, "")
    });
    let content = parse(&text);
    match &content {
        Err(error) if text != current => {
            let error = error.to_string().replace('`', "\"");
            wrapped(ui, error, look.error);
        }
        content => {
            // Reserves the row of an error message, so that the layout does not jump.
            ui.add_space(LINE);
            // No tooltip while typing: it would cover the text and its error.
            if content.is_ok() && !response.has_focus() {
                response
                    .clone()
                    .on_hover_text("The settings of this lane as text. Edit, then press Enter.");
            }
        }
    }
    if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
        ui.data_mut(|data| data.remove_temp::<String>(id));
        return None;
    }
    ui.data_mut(|data| data.insert_temp(id, text));
    let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    content.ok().filter(|_| is_entered)
}

fn buttons(ui: &mut Ui, halves: &mut Halves, both: Option<(&LaneSettings, &LaneSettings)>) {
    let width = (ui.available_width() - APART) / 2.0;
    let selected = halves.selected;
    let refusal = both.is_none().then_some(NEEDS_TWO);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = APART;
        let mut is_pressed = |name, about| {
            let widget = |ui: &mut Ui| button(ui, width, name, "", Kind::Usual);
            unless(ui, refusal, about, widget).clicked()
        };
        let swap = is_pressed("Swap halves", "Each half gets the settings of the other.");
        let about = "Copies the settings of the selected half to the other half.";
        let same = is_pressed("Same settings", about);
        let others = both.map(|(left, right)| [(Side::Left, right), (Side::Right, left)]);
        for (side, settings) in others.into_iter().flatten() {
            if swap || (same && selected != side) {
                halves.typed.push((side, PaneContent::Lane(settings.clone())));
            }
        }
    });
    if let Some(refusal) = refusal {
        ui.add_space(BETWEEN);
        note(ui, refusal);
    }
}

const NEEDS_TWO: &str =
    "To swap or copy settings, the left half has to show a replica, too: Compare.";

/// Sizes and distances, logical points.
const ABOVE: f32 = 8.0;
const BETWEEN: f32 = 2.0;
const EDGE: f32 = 3.0;
const LABEL: f32 = 76.0;
const APART: f32 = 8.0;
