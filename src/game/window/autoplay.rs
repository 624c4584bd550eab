//! Plays [the fall](crate::game::fall) until the user presses a key.

use bevy::input::InputSystems;
use bevy::prelude::*;
use bevy_egui::EguiPreUpdateSet;
use cubewire_codec::ladder::LADDER;
use cubewire_scene::TICKS_PER_SECOND;

use crate::controls::Inputs;
use crate::game::fall::fall;
use crate::panel::{PanelState, PanelSystems};
use crate::recording::ScriptPlayback;
use crate::replication::LaneSettings;
use crate::simulation::CubeWorld;
use crate::view::Notices;

/// Ticks without input after which the fall begins, except at the first start.
const PATIENCE: u64 = 20 * TICKS_PER_SECOND as u64;

const NOTICE: &str = "Playing by itself: any key or click takes over";

/// Adds the fall to an app with a panel. It begins with the first tick if the screen was never explained. The
/// explanation follows when the user takes over. Until it begins, the lane in the right half has its first rung.
pub(super) fn install(app: &mut App, right: &mut LaneSettings) {
    right.sender.stages = LADDER[0].stages;
    let mut panel = app.world_mut().resource_mut::<PanelState>();
    let is_first = std::mem::take(&mut panel.explaining);
    let begins_at = if is_first { 0 } else { PATIENCE };
    app.insert_resource(Autoplay::Waiting { begins_at })
        .add_systems(
            PreUpdate,
            begin_or_end
                .after(InputSystems)
                .before(EguiPreUpdateSet::ProcessInput)
                .run_if(resource_exists::<Autoplay>),
        )
        .add_systems(
            Update,
            // After the action of the key that took over, which may be the key for the explanation.
            explain.before(PanelSystems::Notices).run_if(resource_exists::<Autoplay>),
        );
}

/// State of the fall. It is removed at the first input.
#[derive(Resource, Clone, Copy, Debug)]
enum Autoplay {
    Waiting { begins_at: u64 },
    Playing,
    Over,
}

/// Begins the fall, or ends it at the first input, before the keys of this frame are read. The lane keeps its rung.
fn begin_or_end(
    world: Res<CubeWorld>,
    inputs: Inputs<'_>,
    mut state: ResMut<Autoplay>,
    mut notices: ResMut<Notices>,
    mut commands: Commands,
) {
    match *state {
        Autoplay::Playing if inputs.is_any_pressed() => {
            commands.remove_resource::<ScriptPlayback>();
            notices.autoplay = None;
            *state = Autoplay::Over;
        }
        Autoplay::Waiting { .. } if inputs.is_any_pressed() => {
            commands.remove_resource::<Autoplay>();
        }
        Autoplay::Waiting { begins_at } if world.tick() >= begins_at => {
            let playing = ScriptPlayback::new(fall()).showing_halves(Vec::new());
            commands.insert_resource(playing);
            notices.autoplay = Some(NOTICE);
            *state = Autoplay::Playing;
        }
        _ => {}
    }
}

fn explain(state: Res<Autoplay>, mut panel: ResMut<PanelState>, mut commands: Commands) {
    if matches!(*state, Autoplay::Over) {
        panel.explaining = !panel.explained;
        commands.remove_resource::<Autoplay>();
    }
}

#[cfg(test)]
mod tests {
    use bevy::input::{ButtonState, InputPlugin};
    use bevy_egui::input::EguiWantsInput;

    use super::super::tour::tests::key;
    use super::*;
    use crate::game::headless::HeadlessGame;
    use crate::game::show_halves;
    use crate::panel::PanelPlugin;
    use crate::recording::KeyboardPlugin;
    use crate::replication::SenderSettings;
    use crate::simulation::{HeldKeys, state_hash};
    use crate::view::{PaneContent, Selected, ViewPlugin};

    #[derive(Resource)]
    struct Start(LaneSettings);

    /// A game at its first start, or at a later one, after the screen was explained.
    fn game(explained: bool) -> HeadlessGame {
        let window = move |app: &mut App| {
            app.init_resource::<EguiWantsInput>();
            let mut panel = app.world_mut().resource_mut::<PanelState>();
            (panel.explained, panel.explaining) = (explained, !explained);
            let mut right = LaneSettings::default();
            install(app, &mut right);
            app.insert_resource(Start(right));
        };
        let tour = super::super::tour::install;
        let plugins =
            (InputPlugin, ViewPlugin, PanelPlugin::default(), KeyboardPlugin, tour, window);
        let mut game = HeadlessGame::with_plugins(None, plugins);
        let world = game.app.world_mut();
        let Start(right) = world.remove_resource().unwrap();
        show_halves(world, PaneContent::Simulation, right).unwrap();
        game
    }

    fn steps(game: &mut HeadlessGame, ticks: u64) {
        (0..ticks).for_each(|_| game.step());
    }

    fn rung(game: &mut HeadlessGame) -> &'static str {
        let world = game.app.world_mut();
        let mut lanes = world.query_filtered::<&SenderSettings, With<Selected>>();
        let sender = *lanes.single(world).unwrap();
        let lane = LaneSettings { sender, ..LaneSettings::default() };
        lane.rung_name()
    }

    fn plays(game: &HeadlessGame) -> bool {
        let is_said = game.app.world().resource::<Notices>().autoplay.is_some();
        let plays = game.app.world().contains_resource::<ScriptPlayback>();
        assert_eq!(plays, is_said);
        plays
    }

    fn panel(game: &HeadlessGame) -> &PanelState {
        game.app.world().resource()
    }

    #[test]
    fn the_first_start_climbs_down_the_ladder_until_a_key_takes_over_on_the_rung_that_is_shown() {
        let mut game = game(false);
        steps(&mut game, 60);
        for rung_of_time in &LADDER[..5] {
            assert_eq!(rung(&mut game), rung_of_time.name);
            assert!(plays(&game) && !panel(&game).explaining);
            steps(&mut game, 120);
        }
        let states = &game.cubes().current().bodies;
        assert!(states.iter().filter(|cube| cube.interacting).count() > 5);
        key(&mut game, KeyCode::ArrowLeft, ButtonState::Pressed);
        assert!(!plays(&game) && panel(&game).explaining);
        let held = game.app.world().resource::<HeldKeys>().0[0];
        assert!(held.left && !held.gather, "the player controls the cube at once");
        assert_eq!(panel(&game).last_rung, 5);
        steps(&mut game, PATIENCE + 60);
        assert_eq!(rung(&mut game), LADDER[5].name);
        assert!(!plays(&game) && panel(&game).explaining);
        key(&mut game, KeyCode::ArrowUp, ButtonState::Pressed);
        assert!(!panel(&game).explaining && panel(&game).explained);
    }

    fn hash(game: &mut HeadlessGame, ticks: u64) -> u64 {
        (0..ticks).fold(0, |hash, _| {
            game.step();
            state_hash(hash, game.cubes().current())
        })
    }

    #[test]
    fn every_pass_is_like_the_first_down_to_the_last_rung_and_at_a_later_start() {
        let ticks = fall().ticks;
        let mut first = game(false);
        let beginning = hash(&mut first, 300);
        let rest = hash(&mut first, ticks - 300);
        assert_eq!(rung(&mut first), LADDER[LADDER.len() - 1].name);
        assert_eq!(hash(&mut first, 300), beginning);
        assert_eq!(rung(&mut first), LADDER[2].name);
        assert_eq!(hash(&mut first, ticks - 300), rest);
        let mut later = game(true);
        steps(&mut later, PATIENCE);
        assert!(!plays(&later));
        assert_eq!(hash(&mut later, 300), beginning);
    }

    #[test]
    fn the_key_that_takes_over_also_acts() {
        for (code, rung_after, explains) in [
            (KeyCode::F1, 0, true),
            (KeyCode::F3, 0, false),
            (KeyCode::Digit4, 3, true),
            (KeyCode::PageDown, 1, true),
        ] {
            let mut game = game(false);
            steps(&mut game, 60);
            key(&mut game, code, ButtonState::Pressed);
            game.step();
            let name = LADDER[rung_after].name;
            assert_eq!((rung(&mut game), panel(&game).explaining), (name, explains), "{code:?}");
        }
    }

    #[test]
    fn a_later_start_waits_on_the_first_rung_for_twenty_seconds_and_a_key_ends_the_wait() {
        let mut waits = game(true);
        steps(&mut waits, PATIENCE - 60);
        assert!(!plays(&waits));
        assert_eq!(rung(&mut waits), LADDER[0].name);
        steps(&mut waits, 120);
        assert!(plays(&waits));
        assert_eq!(rung(&mut waits), LADDER[0].name);
        key(&mut waits, KeyCode::Space, ButtonState::Pressed);
        assert!(!plays(&waits) && !panel(&waits).explaining);

        let mut pressed = game(true);
        key(&mut pressed, KeyCode::Space, ButtonState::Pressed);
        steps(&mut pressed, PATIENCE + 60);
        assert!(!plays(&pressed));
    }
}
