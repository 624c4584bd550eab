//! The rungs of the ladder, to see which one is in use and to choose another.

use bevy_egui::egui::{Align, Label, Layout, RichText, Ui, UiBuilder};
use cubewire_bevy::ConnectionSettings;
use cubewire_codec::Stages;
use cubewire_codec::ladder::{LADDER, Rung};
use cubewire_protocol::FallbackReason;

use super::{End, View};
use crate::style::{Look, ROW, SMALL};
use crate::widgets::{At, Row, note};

impl View<'_> {
    /// Draws a row for each rung. Returns the stages of the one that is pressed.
    pub(super) fn stages(&self, ui: &mut Ui) -> Option<Stages> {
        let used = match self.end {
            End::Server { peer, .. } => peer.settings().map(|settings| settings.stages),
            End::Client { .. } => {
                let newest = self.record().packets().next_back();
                newest.map(|packet| packet.stages)
            }
        };
        let mut pressed = None;
        let mut is_rung = false;
        for rung in LADDER {
            let stages = self.check(&rung);
            let is_used = used.is_some() && self.plan.legal(*rung.stages).ok() == used;
            is_rung |= is_used;
            if row(ui, &rung, stages.as_ref().err(), is_used) {
                pressed = stages.ok();
            }
        }
        if used.is_some() && !is_rung {
            note(ui, "Custom: no rung has these stages.");
        }
        let refused = match self.end {
            End::Server { peer, .. } => peer.refusal().map(|why| ("Refused", why)),
            End::Client { session, .. } => {
                let answer = session.answer().and_then(Result::err);
                answer.map(|why| ("The server declines", why))
            }
        };
        if let Some((what, why)) = refused {
            note(ui, &format!("{what}: {why}."));
        }
        pressed
    }

    /// Returns the stages of a rung as this scene has them, or the reason why the connection cannot have them.
    fn check(&self, rung: &Rung) -> Result<Stages, String> {
        let (legal, fallback) = match self.end {
            End::Server { peer, settings, .. } => {
                let budget = peer.settings().and_then(|settings| settings.budget_kbps);
                let settings = ConnectionSettings {
                    stages: *rung.stages,
                    ..*settings
                };
                (settings.check(self.plan, budget.is_some()), peer.fallback())
            }
            End::Client { session, .. } => {
                let legal = self.plan.legal(*rung.stages);
                (legal.map_err(|why| why.to_string()), session.fallback())
            }
        };
        let replaced = |why: FallbackReason| FallbackReason::instead_of(rung.stages).map(|_| why);
        match fallback.and_then(replaced) {
            Some(why) => Err(why.to_string()),
            None => legal,
        }
    }
}

/// Draws the row of a rung, with the reason why it cannot be chosen. Returns whether it is pressed.
fn row(ui: &mut Ui, rung: &Rung, refusal: Option<&String>, is_used: bool) -> bool {
    let look = Look::of(ui);
    let (row, about, [ink, muted]) = match refusal {
        None => (
            Row::button(ui, ROW, rung.name, is_used),
            rung.summary,
            [look.ink, look.muted],
        ),
        Some(why) => (
            Row::show(ui, ROW, &format!("{}: {why}", rung.name)),
            &**why,
            [look.impossible[1]; 2],
        ),
    };
    row.text(ui, At::Left(0.0), rung.name, SMALL, ink);
    let right = row.rect.with_min_x(row.rect.left() + NAME);
    let layout = Layout::left_to_right(Align::Center);
    let mut right = ui.new_child(UiBuilder::new().max_rect(right).layout(layout));
    let about = RichText::new(about).size(SMALL).color(muted);
    right.add(Label::new(about).truncate().selectable(false));
    row.response.clicked()
}

/// Logical points.
const NAME: f32 = 124.0;
