//! The page *Playing*: the end to which the keys go, prediction, and the time from a key to its effect.

use cubewire_inspector::playing::{self, Playing};

use super::peers::{self, Peers};
use crate::panel::prelude::*;
use crate::replication::{PlayAt, Predict};

/// Draws the page. Its graph covers the last `seconds`.
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>, seconds: u32) {
    let look = Look::of(ui);
    ui.spacing_mut().item_spacing.y = 2.0;
    let playout = &mut lane.settings.playout;
    if let Peers::Server { connection, .. } = &lane.peers {
        let roles = [
            (PlayAt::Simulation, "watch", "The server's players move the cubes."),
            (PlayAt::Client, "play", "Your keys travel to the server, if it has a seat for you."),
        ];
        let roles = roles.map(|(end, name, about)| Choice::new(end, name, about));
        switch(ui, LABEL, "You", &mut playout.play_at, &roles);
        if connection.knows_player {
            note(ui, peers::role(connection, playout));
        }
    } else {
        let ends = [
            (
                PlayAt::Simulation,
                "The keys move the simulated cube at once, and the replica follows.",
            ),
            (
                PlayAt::Client,
                "The keys travel from the replica's end to the simulation, as in a networked game.",
            ),
        ];
        let ends = ends.map(|(end, about)| Choice::new(end, end.name(), about));
        switch(ui, LABEL, "Keys go to", &mut playout.play_at, &ends);
    }
    let cubes = [
        (Predict::None, "Every cube is shown as its snapshots say."),
        (
            Predict::Own,
            "The player's cube and those near it are simulated ahead of the snapshots, with the keys that these do \
             not contain yet.",
        ),
        (
            Predict::World,
            "On the rung simulated, the whole scene is simulated ahead, and again only after other keys than assumed. \
             Elsewhere as own.",
        ),
    ];
    let cubes = cubes.map(|(cubes, about)| Choice::new(cubes, cubes.name(), about));
    switch(ui, LABEL, "Predict", &mut playout.predict, &cubes);
    let is_useless = playout.play_at == PlayAt::Simulation && playout.predict != Predict::None;
    let words = if is_useless { USELESS } else { "" };
    line(ui, words, look.warning);
    divider(ui);
    let newest = lane.meter.samples().back();
    let queue = newest.and_then(|sample| sample.queued_inputs);
    let queue = queue.map_or_else(|| "–".to_owned(), |queue| queue.to_string());
    let playing = Playing {
        samples: lane.meter.samples(),
        ticks_per_second: TICKS_PER_SECOND,
        seconds,
        unit: ("cm", 100.0),
        own: "own cube",
    };
    playing.draw(ui, |ui| {
        playing::row(ui, "Waiting at the simulation", format!("{queue} keys"));
        divider(ui);
    });
}

const USELESS: &str = "There is nothing to predict while the keys go to the simulation.";

/// Width of the labels of settings, logical points.
const LABEL: f32 = 104.0;
