//! A script in the window; a replay is compared with what was recorded.

use bevy::prelude::*;

use crate::recording::{InputLog, Playing, ReplayCheck, Script};
use crate::simulation::World as CubeWorld;
use crate::view::Notices;

/// Ticks of a lead-in that are played with each frame.
const LEAD_IN_TICKS: u64 = 120;

/// Plays from the first tick on.
pub(super) fn play(app: &mut App, script: Script) {
    let lead_in = script.lead_in;
    let check = ReplayCheck::new(&script);
    let mut playing = Playing::new(script).showing_halves(Vec::new());
    if let Some(check) = check {
        playing = playing.once();
        app.insert_resource(InputLog::that_keeps_resets())
            .insert_resource(check)
            .add_systems(Update, say_outcome);
    }
    app.insert_resource(playing)
        .insert_resource(LeadIn(lead_in))
        .add_systems(First, hurry);
}

/// The tick at which there is something to be seen.
#[derive(Resource, Debug)]
struct LeadIn(u64);

/// Plays what leads up to a replay faster than it was.
fn hurry(world: Res<CubeWorld>, lead_in: Res<LeadIn>, mut clock: ResMut<Time<Fixed>>) {
    let left = lead_in.0.saturating_sub(world.tick()).min(LEAD_IN_TICKS);
    if left > 0 {
        let time = clock.timestep() * left as u32;
        clock.accumulate_overstep(time);
    }
}

fn say_outcome(
    time: Res<Time<Real>>,
    check: Res<ReplayCheck>,
    mut is_said: Local<bool>,
    mut notices: ResMut<Notices>,
) {
    let Some(outcome) = check.outcome().filter(|_| !*is_said) else {
        return;
    };
    *is_said = true;
    let said = match outcome {
        Ok(()) => "the replay is over: every state was as recorded".to_owned(),
        Err(difference) => difference.to_string(),
    };
    notices.say(said, time.elapsed());
}
