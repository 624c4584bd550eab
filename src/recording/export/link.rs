//! Copies the contents of both halves as a link or as a command, to send to others.

use bevy::prelude::*;
use bevy_egui::{EguiContext, PrimaryEguiContext};

use crate::controls::Action;
use crate::display;
use crate::replication::LaneSettings;
use crate::view::{Halves, Notices, PaneContent, Side};

/// Copies the address of the page in a browser, or the command line on a desktop.
pub(super) fn on_action(
    action: On<Action>,
    time: Res<Time<Real>>,
    halves: Halves<'_, '_>,
    mut egui: Query<&mut EguiContext, With<PrimaryEguiContext>>,
    mut notices: ResMut<Notices>,
) {
    if *action != Action::CopyLink {
        return;
    }
    let text = match (halves.content(Side::Left), halves.content(Side::Right)) {
        (left, PaneContent::Lane(right)) => match display::address() {
            Some(address) => query(&left, &right).map(|query| address + &query),
            None => command(&left, &right),
        },
        (_, PaneContent::Simulation) => None,
    };
    let sentence = match text {
        Some(text) => {
            if let Ok(mut egui) = egui.single_mut() {
                display::copy(egui.get_mut(), &text);
            }
            format!("Copied: {text}")
        }
        None => "No link: recorded delays cannot be part of a link".to_owned(),
    };
    notices.show(sentence, time.elapsed());
}

/// Query parameters of a page with these halves. `None` for a lane without a text form.
#[must_use]
pub fn query(left: &PaneContent, right: &LaneSettings) -> Option<String> {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("left", &left.to_text()?);
    query.append_pair("right", &right.to_text()?);
    // Colons and commas are legal in a query, and readable.
    let readable = query.finish().replace("%3A", ":").replace("%2C", ",");
    Some(format!("?{readable}"))
}

/// Command that shows these halves in a window. `None` for a lane without a text form.
#[must_use]
fn command(left: &PaneContent, right: &LaneSettings) -> Option<String> {
    let [left, right] = [left.to_text()?, right.to_text()?].map(|text| quoted(&text));
    Some(format!("cubewire --left {left} --right {right}"))
}

/// Quotes an argument for a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ":,._-".contains(c);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_where_a_shell_needs_it() {
        let right: LaneSettings = "rung:predicted,link:4g".parse().unwrap();
        assert_eq!(
            command(&PaneContent::Simulation, &right).unwrap(),
            format!(
                "cubewire --left simulation --right {}",
                right.to_text().unwrap()
            )
        );
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
