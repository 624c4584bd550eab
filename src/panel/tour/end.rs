//! The card at the end of the tour: bandwidth from the first rung to the last.

use cubewire_codec::ladder::LADDER;

use super::steps::STEPS;
use crate::panel::lane::LaneView;
use crate::panel::prelude::*;
use crate::replication::TARGET_KBPS;
use crate::view::{Inset, Side};

#[derive(Clone, Debug)]
pub(crate) struct End {
    /// Present cost of each rung; `None` until it is measured.
    kbps: Vec<Option<f64>>,
}

impl End {
    /// Returns `None` except at the end of the tour.
    pub(crate) fn of(lane: &LaneView<'_>) -> Option<Self> {
        lane.status.tour.filter(|tour| tour.is_over())?;
        let costs = lane.rung_costs();
        Some(Self { kbps: LADDER.iter().map(|rung| costs.kbps(rung)).collect() })
    }

    /// Draws the card over the view, between the headline and the captions of the halves. A narrow window has a lower
    /// headline. Returns the action of the pressed button.
    pub(crate) fn draw(&self, ctx: &Context, inset: Inset, is_narrow: bool) -> Option<Action> {
        let mut picture = free(ctx, inset);
        picture.max.y -= CAPTIONS;
        picture.min.y += if is_narrow { LOW_HEADLINE } else { HIGH_HEADLINE };
        let width = WIDTH.min(picture.width() - 32.0);
        let area = over_views("end of the tour").pivot(Align2::CENTER_CENTER);
        let area = area.fixed_pos(picture.center());
        let shown = area.show(ctx, |ui| {
            let look = Look::of(ui);
            over_picture(look, Side::Right.color_in(look))
                .inner_margin(Margin::symmetric(24, 20))
                .show(ui, |ui| {
                    ui.set_width(width - 52.0);
                    ui.spacing_mut().item_spacing = Vec2::splat(8.0);
                    self.said(ui, picture.height() >= HEIGHT);
                    // A narrow card has more rows of text.
                    self.bars(ui, if width < NARROW { LOW_BARS } else { BARS });
                    buttons(ui)
                })
                .inner
        });
        shown.inner
    }

    fn said(&self, ui: &mut Ui, has_caption: bool) {
        let look = Look::of(ui);
        if has_caption {
            let caption = format!("The end of the tour: {} steps", STEPS.len());
            ui.label(RichText::new(caption).size(SMALL).color(look.muted));
        }
        let ends = self.kbps.first().zip(self.kbps.last());
        let Some((Some(first), Some(last))) = ends else { return };
        ui.horizontal(|ui| {
            ui.label(RichText::new(grouped(*first)).size(HEADLINE));
            ui.label(RichText::new("to").size(24.0).color(look.muted));
            let last = format!("{} kbps", grouped(*last));
            ui.label(RichText::new(last).size(HEADLINE).color(Side::Right.color_in(look)));
        });
        let words = format!(
            "The same 901 cubes, 60 times a second, {} less. Rungs 1 to 12 are the article's: the last keeps to its target \
             of {TARGET_KBPS:.0}\u{a0}kbps, the dashed line, unless the ball is large. Rungs 13 to 16 go further.",
            factor(first / last)
        );
        ui.add(Label::new(balanced(ui, &words, BODY, look.ink, ui.available_width())));
    }

    /// Draws a bar for each rung with its cost above and its number below, and the target at the left.
    fn bars(&self, ui: &mut Ui, height: f32) {
        let look = Look::of(ui);
        let (all, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
        let plot = Rect::from_min_max(all.min + vec2(AXIS, 2.0 * LINE), all.max - vec2(0.0, LINE));
        let heading = all.with_max_y(all.top() + LINE);
        let scale = "kbps on each rung, on a logarithmic scale";
        let left = At::Left(0.0);
        text(ui.painter(), heading, left, scale, SMALL, look.muted);
        let right = LADDER.len() as f64;
        let chart = Chart::new(ui, plot, 0.0..=right, 10.0..=20_000.0, Scale::Logarithmic);
        for (index, kbps) in self.kbps.iter().enumerate() {
            let left = index as f64;
            let column = chart.x_of(left)..=chart.x_of(left + 1.0);
            let above = Rect::from_x_y_ranges(column.clone(), plot.top() - LINE..=plot.top());
            let below = Rect::from_x_y_ranges(column, plot.bottom()..=all.bottom());
            let middle = || At::Center(below.width() / 2.0);
            if let Some(kbps) = *kbps {
                let color = match kbps <= TARGET_KBPS {
                    true => Side::Right.color_in(look),
                    false => look.above_target,
                };
                chart.bar(left + 0.05..=left + 0.95, kbps, color);
                if below.width() > COLUMN {
                    let cost = match kbps {
                        1_000.0..9_950.0 => format!("{:.1}k", kbps / 1_000.0),
                        _ => short(kbps),
                    };
                    text(ui.painter(), above, middle(), cost, SMALL, look.ink);
                }
            }
            text(ui.painter(), below, middle(), index + 1, SMALL, look.muted);
        }
        for (name, y, color) in [
            (format!("{TARGET_KBPS:.0}"), chart.y_of(TARGET_KBPS), look.ink),
            ("rung".to_owned(), plot.bottom() + LINE / 2.0, look.muted),
        ] {
            let row = Rect::from_center_size(pos2(all.left() + AXIS / 2.0, y), vec2(AXIS, LINE));
            text(ui.painter(), row, At::Left(0.0), name, SMALL, color);
        }
        chart.level(0.0..=right, TARGET_KBPS, Stroke::new(1.0, look.ink), Some(5.0));
    }
}

fn buttons(ui: &mut Ui) -> Option<Action> {
    let mut offers = vec![
        ("Play on", Action::Tour, "roll the cubes yourself", Kind::Primary),
        ("Film it", Action::Video, "then climb by PageDown", Kind::Usual),
        ("Read the article", Action::Open(STEPS[0].address), "by Glenn Fiedler, 2015", Kind::Usual),
    ];
    offers.retain(|(_, action, ..)| cfg!(not(target_family = "wasm")) || *action != Action::Video);
    let mut pressed = None;
    let has_captions = ui.available_width() >= NARROW;
    ui.spacing_mut().interact_size.y = 44.0;
    ui.columns(offers.len(), |columns| {
        for (ui, (name, action, about, kind)) in columns.iter_mut().zip(offers) {
            if button(ui, ui.available_width(), name, "", kind).clicked() {
                pressed = Some(action);
            }
            if !has_captions {
                continue;
            }
            let key = match action {
                Action::Tour => key_of(Action::LeaveTour),
                action => key_of(action),
            };
            let between = if key.is_empty() { "" } else { ": " };
            let about = RichText::new(format!("{key}{between}{about}")).size(SMALL);
            let about = about.color(Look::of(ui).muted);
            ui.vertical_centered(|ui| ui.add(Label::new(about).truncate()));
        }
    });
    pressed
}

/// Sizes and distances, logical points.
const WIDTH: f32 = 708.0;
const NARROW: f32 = 500.0;
const HEIGHT: f32 = 356.0;
const CAPTIONS: f32 = 40.0;
const LOW_HEADLINE: f32 = 68.0;
const HIGH_HEADLINE: f32 = 96.0;
const HEADLINE: f32 = 40.0;
const BARS: f32 = 116.0;
const LOW_BARS: f32 = 80.0;
const AXIS: f32 = 32.0;

/// Smallest width of a column with a label of its cost, logical points.
const COLUMN: f32 = 34.0;
