//! A script in the window; a replay is compared with what was recorded.

use bevy::prelude::*;

use crate::recording::{Outcome, Playing, ReplayCheck, Script, begin};
use crate::simulation::World as CubeWorld;
use crate::view::Notices;

/// Ticks of a lead-in that are played with each frame.
const LEAD_IN_TICKS: u64 = 120;

/// Plays from the first tick on.
pub(super) fn play(app: &mut App, script: Script) {
    let lead_in = script.lead_in;
    let playing = Playing::new(script).showing_halves(Vec::new());
    begin(app.world_mut(), playing);
    app.add_systems(Update, say_outcome.run_if(resource_exists::<ReplayCheck>));
    app.insert_resource(LeadIn(lead_in)).add_systems(
        RunFixedMainLoop,
        hurry.in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
    );
    if lead_in > 0 {
        app.add_systems(PostStartup, say_lead_in);
    }
}

/// The tick at which there is something to be seen.
#[derive(Resource, Debug)]
struct LeadIn(u64);

/// Plays what leads up to a replay faster than it was.
fn hurry(
    world: Res<CubeWorld>,
    lead_in: Res<LeadIn>,
    virtual_clock: Res<Time<Virtual>>,
    mut clock: ResMut<Time<Fixed>>,
) {
    let left = lead_in.0.saturating_sub(world.tick()).min(LEAD_IN_TICKS);
    if left > 0 && !virtual_clock.is_paused() {
        let time = clock.timestep() * left as u32;
        clock.accumulate_overstep(time);
    }
}

fn say_lead_in(time: Res<Time<Real>>, mut notices: ResMut<Notices>) {
    let said = "what led up to the replay is played first, in quick motion";
    notices.say(said.to_owned(), time.elapsed());
}

fn say_outcome(
    time: Res<Time<Real>>,
    check: Res<ReplayCheck>,
    mut is_said: Local<bool>,
    mut notices: ResMut<Notices>,
) {
    let said = match check.outcome() {
        Outcome::Same => "the replay is over: every state was as recorded".to_owned(),
        Outcome::Different(difference) => difference.to_string(),
        Outcome::Unfinished => return,
    };
    if *is_said {
        return;
    }
    *is_said = true;
    notices.say(said, time.elapsed());
}
