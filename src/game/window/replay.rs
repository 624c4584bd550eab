//! Plays a script in the window. For a replay, also compares the states with the recording.

use bevy::prelude::*;

use crate::controls::ControlsSystems;
use crate::recording::{Outcome, RecorderSystems, ReplayCheck, Script, ScriptPlayback, begin};
use crate::simulation::CubeWorld;
use crate::view::Notices;

const LEAD_IN_TICKS: u64 = 120;

pub(super) fn play(app: &mut App, script: Script) {
    let lead_in = script.lead_in;
    let playing = ScriptPlayback::new(script).showing_halves(Vec::new());
    begin(app.world_mut(), playing);
    app.add_systems(
        Update,
        show_outcome.after(RecorderSystems::Notices).run_if(resource_exists::<ReplayCheck>),
    );
    app.insert_resource(LeadIn(lead_in)).add_systems(
        RunFixedMainLoop,
        fast_forward.after(ControlsSystems).in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
    );
    if lead_in > 0 {
        app.add_systems(PostStartup, show_lead_in);
    }
}

#[derive(Resource, Debug)]
struct LeadIn(u64);

/// Adds time to the clock during the lead-in, so that many ticks run per frame.
fn fast_forward(
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

fn show_lead_in(mut notices: ResMut<Notices>) {
    notices.show("Fast-forwarding to the start of the replay");
}

fn show_outcome(check: Res<ReplayCheck>, mut is_shown: Local<bool>, mut notices: ResMut<Notices>) {
    let sentence = match &check.outcome {
        Outcome::Same => "The replay is over: every state matched the recording".to_owned(),
        Outcome::Different(difference) => format!("The replay is over: {difference}"),
        Outcome::Unfinished => return,
    };
    if !std::mem::replace(&mut *is_shown, true) {
        notices.show(sentence);
    }
}
