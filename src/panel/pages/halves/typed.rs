//! The settings of a lane as text, to be edited.

use bevy_egui::egui::{self, Id, Stroke, Ui, WidgetInfo, vec2};

use crate::panel::style::{CONTROL, LINE, Look, SMALL};
use crate::panel::widgets::named;
use crate::replication::LaneSettings;
use crate::view::{PaneContent, Side};

/// An editable field with the text of a lane. Returns what was typed, once the user presses Enter.
pub(super) fn field(
    ui: &mut Ui,
    label: f32,
    side: Side,
    settings: &LaneSettings,
) -> Option<PaneContent> {
    let look = Look::of(ui);
    let current = settings.to_text().unwrap_or_default();
    let id = Id::new(("lane as text", side));
    // What is wrong stays until it is mended, or given up with Esc.
    let parse = |text: &str| match side {
        Side::Left => text.parse::<PaneContent>(),
        Side::Right => text.parse().map(PaneContent::Lane),
    };
    let has_focus = ui.memory(|memory| memory.has_focus(id));
    let typed: Option<String> = ui.data(|data| data.get_temp(id));
    let typed = typed.filter(|typed| has_focus || parse(typed).is_err());
    let mut text = typed.unwrap_or_else(|| current.clone());
    let (_, response) = named(ui, label, "As text", SMALL, |ui| {
        let size = vec2(ui.available_width(), CONTROL);
        ui.visuals_mut().widgets.inactive.bg_stroke = Stroke::new(1.0, look.line);
        let field = egui::TextEdit::singleline(&mut text)
            .id(id)
            .font(egui::TextStyle::Monospace)
            .vertical_align(egui::Align::Center)
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
            let error = egui::RichText::new(error).size(SMALL).color(look.error);
            ui.add(egui::Label::new(error).wrap());
        }
        content => {
            // The room of an error, so that nothing below jumps.
            ui.add_space(LINE);
            // A tooltip would cover what is typed, and its error.
            if content.is_ok() && !response.has_focus() {
                response
                    .clone()
                    .on_hover_text("The settings of this lane as text. Edit, then press Enter.");
            }
        }
    }
    if response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Escape)) {
        ui.data_mut(|data| data.remove_temp::<String>(id));
        return None;
    }
    ui.data_mut(|data| data.insert_temp(id, text));
    let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    content.ok().filter(|_| is_entered)
}
