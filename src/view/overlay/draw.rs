//! Draws all text over the pictures of the cameras.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::EguiContexts;
use bevy_egui::egui::{Align2, LayerId, Pos2, Rect, Vec2, pos2, vec2};

use super::headline::{self, Cost, OverlayLane};
use super::outline::Outlined;
use super::text::{Pen, Sizes};
use super::{Overlay, Part, film};
use crate::history::Moment;
use crate::replication::{
    Lane, LaneMeter, LaneSettingsQuery, LiveLadder, LocalLane, PlayoutDelay, RungCosts,
};
use crate::theme::{Theme, egui_color, fonts};
use crate::view::costs::{Costs, CubeColors};
use crate::view::notices::Notices;
use crate::view::panes::Pane;
use crate::view::side::{Selected, Side};
use crate::view::{Exaggeration, ViewMode};

type LaneInHalf = (
    &'static Side,
    LaneSettingsQuery,
    Has<LocalLane>,
    &'static LaneMeter,
    Option<&'static LiveLadder>,
    Has<Selected>,
);

#[derive(SystemParam)]
pub(in crate::view) struct OverlayInputs<'w, 's> {
    ticks: Res<'w, Time<Fixed>>,
    frames: Res<'w, Time<Virtual>>,
    mode: Res<'w, ViewMode>,
    exaggeration: Res<'w, Exaggeration>,
    theme: Res<'w, Theme>,
    colors: Res<'w, CubeColors>,
    costs: Res<'w, Costs>,
    overlay: Res<'w, Overlay>,
    notices: Res<'w, Notices>,
    moment: Res<'w, Moment>,
    window: Option<Single<'w, 's, (), With<PrimaryWindow>>>,
    lanes: Query<'w, 's, LaneInHalf, With<Lane>>,
    outlined: Outlined<'w, 's>,
}

/// Draws the text over the pictures of the cameras, below the panel.
pub(in crate::view) fn draw(
    mut contexts: EguiContexts,
    panes: Query<(&Side, &Pane)>,
    inputs: OverlayInputs<'_, '_>,
) {
    let Ok(ctx) = contexts.ctx_mut() else {
        // No camera exists yet, or its window is minimized.
        return;
    };
    if inputs.overlay.title.is_some() {
        // In a window the panel sets the fonts. A film has no panel.
        ctx.set_fonts(fonts());
    }
    let in_points = |area: URect| {
        let point = |pixel: UVec2| {
            let at = pixel.as_vec2() / ctx.pixels_per_point();
            pos2(at.x, at.y)
        };
        Rect::from_min_max(point(area.min), point(area.max))
    };
    let panes = panes.iter().filter(|(_, pane)| !pane.area.is_empty());
    let panes: Vec<_> = panes.map(|(&side, pane)| (side, in_points(pane.area))).collect();
    let Some(picture) = panes.iter().map(|&(_, area)| area).reduce(Rect::union) else { return };
    let painter = ctx.layer_painter(LayerId::background());
    let window = ctx.viewport_rect();
    if let Some(card) = &inputs.overlay.card {
        let film = inputs.overlay.film(window, ctx.pixels_per_point());
        let pen = Pen {
            painter: &painter,
            theme: *inputs.theme,
            sizes: Sizes::of(true, film.width(), film.width(), ctx.pixels_per_point()),
        };
        return pen.card([window, film], card);
    }
    let (left, right) = picture.split_left_right_at_fraction(0.5);
    let pane = |side: Side| panes.iter().find(|&&(other, _)| other == side).map(|&(_, area)| area);
    let areas = match *inputs.mode {
        ViewMode::Split => Side::ALL.map(pane),
        ViewMode::Left => [Some(picture), None],
        ViewMode::Right => [None, Some(picture)],
        ViewMode::Difference => [Some(left), Some(right)],
    };
    let is_film = inputs.overlay.title.is_some();
    let part = match &inputs.overlay.column {
        // The same for all columns, which differ by a pixel.
        Some(column) => column.whole as f32 / ctx.pixels_per_point() / column.lanes.len() as f32,
        None => left.width(),
    };
    let pen = |painter| Pen {
        painter,
        theme: *inputs.theme,
        sizes: Sizes::of(is_film, window.width(), part, ctx.pixels_per_point()),
    };
    let within = painter.with_clip_rect(picture);
    for &(side, area) in &panes {
        pen(&within).outlines(side, area, &inputs.outlined);
    }
    let pointer = ctx.pointer_hover_pos().filter(|_| !ctx.is_pointer_over_egui());
    let lanes = inputs.lanes();
    let common = is_film.then(|| match &inputs.overlay.column {
        // The columns have no captions.
        Some(column) => {
            inputs.exaggeration.text().into_iter().chain(column.common.clone()).collect()
        }
        None => film::common(lanes.iter().map(|lane| &lane.settings)),
    });
    let halves = Side::ALL.into_iter().zip(areas).filter_map(|(side, area)| {
        let lane = lanes.iter().find(|lane| lane.side == side);
        Some(Half { side, area: area?, lane })
    });
    let halves: Vec<_> = halves.collect();
    inputs.draw(&pen(&within), picture, &halves, common.as_deref(), pointer);
    if let Some(common) = common {
        let film = inputs.overlay.film(window, ctx.pixels_per_point());
        let legend = (*inputs.colors, inputs.costs.scale);
        pen(&painter).film(&inputs.overlay, [window, film], &lanes, &common, legend);
    }
}

struct Half<'a> {
    side: Side,
    area: Rect,
    /// `None` if the half shows the simulation.
    lane: Option<&'a OverlayLane<'a>>,
}

impl OverlayLane<'_> {
    /// Descriptions of all settings but the rung. In a film, without the parts in `common`.
    fn link(&self, common: Option<&[String]>) -> Vec<String> {
        let lane = &self.settings;
        let Some(common) = common else { return lane.describe(self.is_remote) };
        let mut parts = lane.describe_in_full();
        if lane.sender.kept_budget().is_some() || lane.playout.delay == PlayoutDelay::Adaptive {
            let newest = self.meter.samples().back();
            parts.extend(newest.and_then(|sample| lane.describe_lag(sample.playout_delay)));
        }
        parts.retain(|part| !common.contains(part));
        parts
    }
}

impl OverlayInputs<'_, '_> {
    /// Returns the lanes of the halves, left to right.
    fn lanes(&self) -> Vec<OverlayLane<'_>> {
        let moment = self.moment.0;
        let lanes = self.lanes.iter();
        let lanes = lanes.map(|(&side, settings, is_local, meter, shadow, is_selected)| {
            let mut settings = settings.get();
            if let Some(sample) = moment.and_then(|tick| meter.at(tick)) {
                settings.sender.stages = sample.stages;
                settings.sender.budget = sample.budget_kbps;
                settings.sender.send_interval_ticks = sample.send_interval_ticks;
            }
            let second = meter.arrives(moment).then(|| meter.second(moment));
            let estimate = match second {
                Some(None) => RungCosts::new(meter, shadow, &settings.sender, moment).estimate(),
                None | Some(Some(_)) => None,
            };
            let cost = second.flatten().map(|second| Cost::of(&second));
            let is_remote = !is_local;
            let column = self.overlay.column.as_ref();
            let part = column.map_or(side as usize, |column| column.index);
            OverlayLane { side, part, settings, cost, estimate, meter, is_remote, is_selected }
        });
        let mut lanes: Vec<_> = lanes.collect();
        lanes.sort_by_key(|lane| lane.side);
        lanes
    }

    /// Draws the text over the scene, for the visible halves. `common` has the settings that a film shows elsewhere.
    fn draw(
        &self,
        pen: &Pen<'_>,
        picture: Rect,
        halves: &[Half<'_>],
        common: Option<&[String]>,
        pointer: Option<Pos2>,
    ) {
        let is_alone = halves.iter().filter_map(|half| half.lane).count() < 2;
        let is_compared = self.overlay.column.is_some() || common.is_some() && !is_alone;
        for half in halves {
            if self.warning(half).is_some() {
                pen.frame(self.seen(half, picture));
            }
            // The headline shows the error of a single lane with a budget, and of all lanes of a film.
            let error = |lane: &OverlayLane<'_>| {
                let is_headed = is_alone && lane.heads_error();
                lane.cost.as_ref().filter(|_| !is_headed && !is_compared)?.error()
            };
            let lane = half.lane;
            let (name, rest) = self.overlay.caption(
                (*self.mode, *self.exaggeration),
                half.side,
                lane.map(|lane| &lane.settings),
                &lane.map_or(Vec::new(), |lane| lane.link(common)),
                lane.and_then(error).as_deref(),
            );
            pen.caption(half.area, half.side, &name, &rest);
        }
        // Lower ends of the figures in the left half, and of all figures.
        let (mut left_end, mut end) = (picture.min.y, picture.min.y);
        if self.overlay.shows(Part::Figures) {
            for plate in self.figures(pen, picture, halves, pointer) {
                end = end.max(plate.max.y);
                if plate.min.x < picture.center().x {
                    left_end = left_end.max(plate.max.y);
                }
            }
        }
        // A film has a separate band for the legend.
        if common.is_none() {
            pen.legend(picture, *self.colors, &self.costs);
        }
        self.recording(pen, picture, left_end);
        self.notices(pen, picture, end, halves);
    }

    /// Area that shows a half's lane. An outlined replica covers the whole picture.
    fn seen(&self, half: &Half<'_>, picture: Rect) -> Rect {
        match *self.mode {
            ViewMode::Difference => picture,
            _ => half.area,
        }
    }

    /// Draws the costs of the lanes. Returns the rectangles of their backgrounds.
    fn figures(
        &self,
        pen: &Pen<'_>,
        picture: Rect,
        halves: &[Half<'_>],
        pointer: Option<Pos2>,
    ) -> Vec<Rect> {
        let lanes = halves.iter().filter_map(|half| Some((half, half.lane?)));
        let lanes: Vec<_> = lanes.collect();
        let plates = lanes.iter().map(|(half, lane)| {
            let other = lanes.iter().find(|(other, _)| other.side != half.side);
            let plate = match (other, &self.overlay.column) {
                (_, Some(_)) => pen.column(half.area, lane),
                (Some(_), None) if self.overlay.title.is_some() => {
                    // Leave room for the ratio.
                    let (mut free, ratio) = (half.area, 3.0 * pen.sizes.ratio);
                    match half.side {
                        Side::Left => free.max.x -= ratio,
                        Side::Right => free.min.x += ratio,
                    }
                    pen.column(free, lane)
                }
                (None, None) => pen.headline(self.seen(half, picture), lane),
                (Some((_, other)), None) => pen.compared(half.area, lane, other),
            };
            if let Some(cost) = &lane.cost
                && pointer.is_some_and(|at| plate.contains(at))
            {
                pen.tip(plate, picture, &cost.accounting());
            }
            plate
        });
        let plates = plates.collect();
        if let [(_, left), (_, right)] = lanes[..]
            && let (Some(left), Some(right)) = (&left.cost, &right.cost)
            && let Some(ratio) = headline::ratio([left, right])
        {
            pen.ratio(picture, *self.mode, ratio);
        }
        plates
    }

    /// Draws the length of the current recording next to a red dot at the left.
    fn recording(&self, pen: &Pen<'_>, picture: Rect, top: f32) {
        let text = self.notices.recording();
        if text.is_empty() {
            return;
        }
        let radius = pen.sizes.small / 2.0;
        let top = top.max(picture.min.y + FIGURES_END * pen.sizes.headline);
        let at = pos2(picture.min.x + pen.sizes.margin, top + 8.0);
        let dot = at + Vec2::splat(radius);
        let error = pen.colors().error;
        pen.painter.circle_filled(dot, radius, egui_color(error));
        let at = dot + vec2(2.0 * radius, 0.0);
        let text = (text, pen.sizes.small, pen.colors().ink);
        pen.strip(at, Align2::LEFT_CENTER, picture.width(), &[text]);
    }

    /// Draws the notice, titles and link warnings, each in a separate row below `top`.
    fn notices(&self, pen: &Pen<'_>, picture: Rect, top: f32, halves: &[Half<'_>]) {
        let colors = pen.colors();
        let row = 2.0 * pen.sizes.small + 4.0;
        let mut top = (top + 8.0).max(picture.min.y + FIGURES_END * pen.sizes.headline);
        let strip = |over: Rect, top, text: &str, color| {
            let at = pos2(over.center().x, top);
            let width = over.width() - 2.0 * pen.sizes.margin;
            let part = (text, pen.sizes.small, color);
            pen.strip(at, Align2::CENTER_TOP, width, &[part]);
        };
        if let Some((text, is_error)) = self.notices.shown() {
            let color = if is_error { colors.error } else { colors.ink };
            top = pen.paragraph(picture, top, text, color).max.y + 4.0;
        }
        if let Some(slow) = &self.notices.slow {
            strip(picture, top, slow, colors.warning);
            top += row;
        }
        if self.overlay.shows(Part::Titles) {
            let areas = Side::ALL.map(|side| {
                let half = halves.iter().find(|half| half.side == side);
                half.map(|half| half.area)
            });
            // The headline shows the rung until its cost is measured, and then the caption does.
            let is_headed = self.overlay.shows(Part::Figures);
            let said = Side::ALL.map(|side| {
                let mut halves = halves.iter().filter(|_| is_headed);
                let half = halves.find(|half| half.side == side)?;
                Some(half.lane?.settings.rung_name())
            });
            let titles = self.overlay.titles(self.ticks.elapsed(), picture, areas, said);
            for (title, over) in &titles {
                strip(*over, top, title, colors.ink);
            }
            top += if titles.is_empty() { 0.0 } else { row };
        }
        for half in halves {
            if let Some(warning) = self.warning(half) {
                strip(half.area, top, &warning, colors.warning);
            }
        }
    }

    fn warning(&self, half: &Half<'_>) -> Option<String> {
        let lane = half.lane?;
        let (settings, meter) = (&lane.settings, lane.meter);
        let stale = meter.stale(settings.sender.send_interval_ticks, self.frames.delta());
        let stale = stale.map(|stale| {
            let seconds = stale.as_secs_f64();
            match meter.received {
                0 => format!("No snapshot for {seconds:.1} s"),
                _ => format!("Last snapshot {seconds:.1} s ago"),
            }
        });
        let is_cut = settings.link.conditions.cut;
        let cut = is_cut.then(|| "Link cut".to_owned());
        // A film has no keys.
        let has_key = is_cut && lane.is_selected && self.window.is_some();
        let key = has_key.then(|| "L restores it".to_owned());
        let parts: Vec<_> = [cut, stale, key].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }
}

/// Distance from the top of the picture to the first row below large type, in multiples of the headline's size.
const FIGURES_END: f32 = 2.6;
