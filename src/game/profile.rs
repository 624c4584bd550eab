//! Measures how long the parts of a frame take, without rendering.

use std::io::{self, Write};
use std::time::Duration;

use bevy::platform::time::Instant;
use bevy::prelude::*;
use bevy_egui::egui;

use super::GameError;
use super::headless::LaneGame;
use crate::history::{HistorySystems, LaneHistory, Selection, Show, Wanted};
use crate::panel::{LaneView, Measured, PanelState, Past, Peers, Status, Tab, Tradeoffs, draw};
use crate::recording::Script;
use crate::replication::transport::{End, TransportSystems};
use crate::replication::{
    Ablation, DeltaCounts, Divergence, LaneMeter, LaneSettings, LaneSettingsQuery,
    ReplicationSystems, ShadowLadder, WantsAblation,
};
use crate::simulation::{CubeWorld, SimulationSystems};
use crate::view::{CubeColors, Side, ViewPlugin, ViewSystems};

/// Times of every frame, by part, and a panel that is laid out but not drawn.
///
/// In a window, the shadow ladder has the time until the next frame, and that in which the frame is drawn.
/// Here a frame follows the other at once, and what the shadow's task takes is not part of any frame's time.
#[derive(Resource)]
#[expect(
    missing_debug_implementations,
    reason = "egui's context has none that says anything"
)]
pub struct Profile {
    frame_start: Instant,
    part_start: Instant,
    parts: Vec<(&'static str, Vec<Duration>)>,
    frames: Vec<Duration>,
    /// What the shadow ladder's task took.
    shadow: Vec<Duration>,
    egui: egui::Context,
    panel: PanelState,
}

impl Profile {
    /// Times every frame from now on.
    pub fn install(app: &mut App, opens: bool) {
        let mut panel = PanelState::default();
        if opens {
            panel.timeline = true;
            panel.tab = Tab::Packet;
            let mut wanted = app.world_mut().resource_mut::<Wanted>();
            for show in [Show::Timeline, Show::Packet, Show::Cubes] {
                wanted.set(show, true);
            }
            app.insert_resource(WantsAblation(true))
                .insert_resource(CubeColors::Bits);
            let world = app.world_mut();
            let mut lanes = world.query_filtered::<Entity, With<LaneMeter>>();
            let lanes: Vec<_> = lanes.iter(world).collect();
            for lane in lanes {
                world.entity_mut(lane).insert(DeltaCounts::default());
            }
        }
        app.insert_resource(Self {
            frame_start: Instant::now(),
            part_start: Instant::now(),
            parts: Vec::new(),
            frames: Vec::new(),
            shadow: Vec::new(),
            egui: egui::Context::default(),
            panel,
        })
        .add_systems(First, start)
        .add_systems(
            FixedUpdate,
            (
                begin_part.before(SimulationSystems::Control),
                end_part("simulation")
                    .after(SimulationSystems::Step)
                    .before(TransportSystems::Receive(End::Sender)),
                end_part("lane")
                    .after(TransportSystems::Flush(End::Receiver))
                    .before(ReplicationSystems::Observe),
                end_part("checks")
                    .after(ReplicationSystems::Observe)
                    .before(HistorySystems::Record),
                end_part("history")
                    .after(HistorySystems::Record)
                    .before(ReplicationSystems::Shadow),
                end_part("shadow ladder").after(ReplicationSystems::Shadow),
            ),
        )
        .add_systems(
            PostUpdate,
            (
                begin_part.before(ViewSystems::Cubes),
                end_part("view cubes")
                    .after(ViewSystems::Cubes)
                    .before(ViewSystems::Follow),
            ),
        )
        .add_systems(
            Last,
            (begin_part, lay_out_panel, end_part("panel"), end)
                .chain()
                .before(ReplicationSystems::Shadow),
        );
    }

    fn part(&mut self, name: &'static str, time: Duration) {
        match self.parts.iter_mut().find(|(other, _)| *other == name) {
            Some((_, times)) => times.push(time),
            None => self.parts.push((name, vec![time])),
        }
    }

    /// Plays this many ticks of a script with one lane and the panel, one tick a frame, as fast as it can, and
    /// returns the table that [`print`](Self::print) prints.
    ///
    /// # Errors
    /// If the game cannot be set up.
    pub fn of_script(
        script: Script,
        lane: LaneSettings,
        ticks: u32,
        opens: bool,
    ) -> Result<String, GameError> {
        let mut game = LaneGame::with_plugins(Some(script), lane, ViewPlugin)?;
        game.add_shadow()?;
        Self::install(&mut game.app, opens);
        for _ in 0..ticks {
            game.step();
        }
        let mut table = Vec::new();
        let profile = game.app.world().resource::<Self>();
        profile.print(&mut table).expect("memory can be written to");
        Ok(String::from_utf8_lossy(&table).into_owned())
    }

    /// Prints mean, median, 99th percentile and worst, in milliseconds.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "  ms a frame          mean    median      99 %     worst"
        )?;
        let sums = [
            ("whole frame", self.frames.clone()),
            ("beside: shadow", self.shadow.clone()),
        ];
        for (name, times) in self.parts.iter().cloned().chain(sums) {
            let mut sorted = times;
            sorted.sort_unstable();
            let ms = |time: Duration| time.as_secs_f64() * 1000.0;
            let at = |fraction: f64| {
                let index = sorted.len().saturating_sub(1) as f64 * fraction;
                sorted.get(index.round() as usize).copied().map_or(0.0, ms)
            };
            let mean = ms(sorted.iter().sum()) / sorted.len().max(1) as f64;
            writeln!(
                out,
                "    {name:<16}{mean:>8.3}{:>10.3}{:>10.3}{:>10.3}",
                at(0.5),
                at(0.99),
                at(1.0)
            )?;
        }
        Ok(())
    }
}

fn start(mut profile: ResMut<Profile>, mut shadows: Query<&mut ShadowLadder>) -> Result {
    for mut shadow in &mut shadows {
        shadow.finish()?;
        profile.shadow.push(shadow.time_per_tick());
    }
    profile.frame_start = Instant::now();
    Ok(())
}

fn end(mut profile: ResMut<Profile>) {
    let time = profile.frame_start.elapsed();
    profile.frames.push(time);
}

fn begin_part(mut profile: ResMut<Profile>) {
    profile.part_start = Instant::now();
}

fn end_part(name: &'static str) -> impl Fn(ResMut<Profile>) {
    move |mut profile| {
        let now = Instant::now();
        let time = now - profile.part_start;
        profile.part(name, time);
        profile.part_start = now;
    }
}

/// What the panel shows of a lane.
type ShownLane<'a> = (
    LaneSettingsQuery,
    &'a LaneMeter,
    Option<&'a ShadowLadder>,
    Option<&'a Ablation>,
    Option<&'a Divergence>,
    Option<&'a DeltaCounts>,
    Option<&'a LaneHistory>,
);

/// The work of egui in a frame of the window, up to the triangles.
fn lay_out_panel(
    mut profile: ResMut<Profile>,
    world: Res<CubeWorld>,
    mut lanes: Query<ShownLane<'_>>,
) {
    let Profile { egui, panel, .. } = &mut *profile;
    let Some((settings, meter, shadow, ablation, divergence, counts, history)) =
        lanes.iter_mut().next()
    else {
        return;
    };
    let mut shown = settings.get();
    let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1280.0, 720.0));
    let input = egui::RawInput {
        screen_rect: Some(window),
        ..egui::RawInput::default()
    };
    let mut output = egui.run_ui(input, |ui| {
        let lanes = vec![Measured {
            side: Side::Right,
            meter,
            settings: None,
        }];
        let lane = LaneView {
            settings: &mut shown,
            side: Side::Right,
            meter,
            sync: None,
            shadow,
            ablation,
            tick: Some(world.tick()),
            divergence,
            peers: Peers::None,
            shown: lanes,
            halves: None,
            status: Status::default(),
            past: Past {
                first: history.and_then(|history| history.pictures.first_tick()),
                ..Past::default()
            },
            selection: &mut Selection {
                cube: history.map(|_| CUBE),
                ..Selection::default()
            },
            errors: &[],
            counts,
            tradeoffs: &Tradeoffs::default(),
        };
        draw(ui.ctx(), panel, lane);
    });
    let shapes = std::mem::take(&mut output.shapes);
    let triangles = egui.tessellate(shapes, output.pixels_per_point);
    debug_assert!(!triangles.is_empty(), "there is a panel to draw");
    output.drop_without_applying_deltas();
}

/// A cube of the ball that the script katamari rolls.
const CUBE: usize = 465;
