//! Input and output of [`draw`](super::layout::draw).

use std::path::Path;

use cubewire_codec::Stages;
use cubewire_codec::ladder::Rung;
use cubewire_inspector::names::Highlight;
use cubewire_protocol::SendState;

use crate::controls::Action;
use crate::history::Selection;
use crate::replication::{
    Ablation, CubeError, DeltaCounts, LaneMeter, LaneSettings, LaneSync, LiveLadder, RungCosts,
    SendStates, SenderSettings, Totals,
};
use crate::view::{Exaggeration, FilmProgress, Inset, Side, ViewMode};

use super::pages::peers::Peers;
use super::pages::ranges::tradeoff::Tradeoffs;
use super::tour::Tour;

/// The data that [`draw`](super::layout::draw) displays, and the settings that it can change.
pub(crate) struct LaneView<'a> {
    pub(crate) settings: &'a mut LaneSettings,
    pub(crate) side: Side,
    pub(crate) meter: &'a LaneMeter,
    pub(crate) sync: Option<&'a LaneSync>,
    /// Bandwidth of every rung. Without it, the ladder has no figures.
    pub(crate) shadow: Option<&'a LiveLadder>,
    /// Savings of each part of the present stages, if measured.
    pub(crate) ablation: Option<&'a Ablation>,
    pub(crate) peers: Peers<'a>,
    /// Every lane on the screen, including the selected one, sorted from left to right.
    pub(crate) shown: Vec<Measured<'a>>,
    /// Content of the halves; `None` if it cannot be changed.
    pub(crate) halves: Option<&'a mut Halves>,
    pub(crate) status: Status<'a>,
    pub(crate) past: Past,
    /// The cube that is selected or hovered, in the panel or in the views.
    pub(crate) selection: &'a mut Selection,
    /// Errors of the displayed cubes by index; empty if they are not measured.
    pub(crate) errors: &'a [CubeError],
    /// State of each cube within the budget, if known.
    pub(crate) send_states: Option<&'a SendStates>,
    /// Distributions of the differences in the lane's packets, if measured.
    pub(crate) counts: Option<&'a DeltaCounts>,
    /// Measured cost and error of all stages that were used.
    pub(crate) tradeoffs: &'a Tradeoffs,
}

impl Selection {
    /// Runs an inspector view, which may change the selected and the hovered cube.
    pub(super) fn highlight<R>(&mut self, show: impl FnOnce(&mut Highlight) -> R) -> R {
        let mut highlight = Highlight { selected: self.cube, hovered: self.hovered };
        let shown = show(&mut highlight);
        (self.cube, self.hovered) = (highlight.selected, highlight.hovered);
        shown
    }
}

impl<'a> LaneView<'a> {
    pub(crate) fn stages_shown(&self) -> Stages {
        self.sender_shown(self.meter, self.settings.sender).stages
    }

    /// Returns the sender settings of a lane, with the stages of the displayed tick.
    fn sender_shown(&self, meter: &LaneMeter, sender: SenderSettings) -> SenderSettings {
        let sample = self.past.moment.and_then(|tick| meter.at(tick));
        SenderSettings { stages: sample.map_or(sender.stages, |sample| sample.stages), ..sender }
    }

    /// Reason to show no ratios of bandwidths. `None` if ratios describe the compression.
    pub(super) fn why_no_ratio(&self) -> Option<&'static str> {
        if !self.meter.arrives(self.past.moment) {
            return Some("no packets arrive");
        }
        self.second().is_some_and(|second| second.is_at_rest()).then_some("no cube moves")
    }

    /// Returns the totals of the second before the displayed tick: see [`Record::second`](crate::replication::Record::second).
    pub(super) fn second(&self) -> Option<Totals> {
        self.meter.second(self.past.moment)
    }

    pub(super) fn rung_costs(&self) -> RungCosts<'a> {
        let sender = self.sender_shown(self.meter, self.settings.sender);
        RungCosts::new(self.meter, self.shadow, &sender, self.past.moment)
    }

    /// Returns the cost of a rung, kbps, from the `costs` of this lane. The cost of a lane in the other half counts for its rung if only its stages
    /// differ, so that the ladder agrees with its headline.
    pub(super) fn kbps_on(&self, costs: RungCosts<'a>) -> impl Fn(&Rung) -> Option<f64> + use<'a> {
        let (own, shown) = (self.settings.sender, self.stages_shown());
        let others = self.shown.iter().filter_map(|other| {
            let sender = self.sender_shown(other.meter, other.settings.sender);
            let stages = sender.stages;
            let is_alike = stages != shown && sender == SenderSettings { stages, ..own };
            is_alike.then(|| RungCosts::new(other.meter, None, &sender, self.past.moment))
        });
        let others: Vec<_> = others.collect();
        move |rung| others.iter().find_map(|costs| costs.kbps(rung)).or_else(|| costs.kbps(rung))
    }

    pub(super) fn send_state(&self, cube: usize) -> Option<SendState> {
        self.send_states?.now.get(cube).copied()
    }

    /// Returns the newest tick of the meter; 0 before the first sample.
    pub(super) fn now(&self) -> u64 {
        self.meter.newest_tick().unwrap_or(0)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Status<'a> {
    /// Whether the simulation runs in this process.
    pub(crate) plays: bool,
    pub(crate) is_paused: bool,
    pub(crate) view: ViewMode,
    pub(crate) has_trails: bool,
    pub(crate) exaggeration: Exaggeration,
    pub(crate) records_replay: bool,
    /// Progress of the film that is rendered. `None` without a film.
    pub(crate) film: Option<FilmProgress>,
    /// The settings file, if the state of the panel is saved.
    pub(crate) settings: Option<&'a Path>,
    /// The tour; `None` if the app has no tour.
    pub(crate) tour: Option<Tour>,
}

/// Extent of the recorded history.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Past {
    /// Displayed tick of the past; `None` in the present.
    pub(crate) moment: Option<u64>,
    /// Oldest tick that the views can show.
    pub(crate) first: Option<u64>,
    /// Memory of the whole history, bytes.
    pub(crate) memory_bytes: usize,
}

/// Output of [`draw`](super::layout::draw).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drawn {
    pub(crate) inset: Inset,
    pub(crate) asked: Option<Action>,
    /// Tick of the past that the user selected in the timeline.
    pub(crate) moment: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Measured<'a> {
    pub(crate) side: Side,
    pub(crate) meter: &'a LaneMeter,
    pub(crate) settings: LaneSettings,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Halves {
    pub(crate) left_is_lane: bool,
    pub(crate) selected: Side,
}
