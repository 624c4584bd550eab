//! Plays a script until the user presses a key.

use std::time::Duration;

use bevy::prelude::*;

use crate::controls::{ControlsSystems, Inputs};
use crate::game::script_of;
use crate::panel::{PanelState, Scene};
use crate::recording::ScriptPlayback;
use crate::view::Notices;

/// Waiting time for the first key or click.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waiting time while cards explain the screen, so that there is motion and traffic behind them.
const BEHIND_CARDS: Duration = Duration::from_secs(1);

const NOTICE: &str = "Playing by itself: press any key to take over";

/// Plays the katamari script until any input, and shows a notice after [`PATIENCE`].
pub(super) fn install(app: &mut App) {
    app.init_resource::<Autoplay>().add_systems(
        RunFixedMainLoop,
        autoplay
            .before(ControlsSystems)
            .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
    );
}

/// State of autoplay.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Autoplay {
    /// Waiting for input.
    #[default]
    Waiting,
    /// Playing the script.
    Playing,
    /// Ended by input, for the rest of the run.
    Over,
}

fn autoplay(
    time: Res<Time<Real>>,
    inputs: Inputs<'_>,
    panel: Res<PanelState>,
    mut state: ResMut<Autoplay>,
    mut notices: ResMut<Notices>,
    mut commands: Commands,
) {
    if *state == Autoplay::Over {
        return;
    }
    let patience = match panel.explaining {
        true => BEHIND_CARDS,
        false => PATIENCE,
    };
    match *state {
        _ if inputs.is_any_pressed() => {
            if *state == Autoplay::Playing {
                commands.remove_resource::<ScriptPlayback>();
                notices.autoplay = None;
            }
            *state = Autoplay::Over;
        }
        Autoplay::Waiting if time.elapsed() >= patience => {
            commands.insert_resource(ScriptPlayback::new(script_of(Scene::Katamari)));
            *state = Autoplay::Playing;
        }
        Autoplay::Playing if time.elapsed() >= PATIENCE => notices.autoplay = Some(NOTICE),
        _ => {}
    }
}
