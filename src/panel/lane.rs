//! What the panel shows of a lane and of the game, and what it asks for.

use std::path::Path;

use cubewire_codec::Stages;
use cubewire_codec::ladder::Rung;
use cubewire_inspector::names::Lit;
use cubewire_protocol::Standing;

use crate::controls::Action;
use crate::history::Selection;
use crate::replication::{
    Ablation, CubeError, DeltaCounts, LaneMeter, LaneSettings, LaneSync, RungCosts, SenderSettings,
    ShadowLadder, Standings, Totals,
};
use crate::view::{Inset, PaneContent, Side, ViewMode};

use super::pages::peers::Peers;
use super::pages::ranges::tried::Tradeoffs;
use super::tour::Tour;

/// The data that [`draw`](super::draw) shows, and the settings that it may change.
#[derive(Debug)]
pub struct LaneView<'a> {
    /// Settings of the selected lane.
    pub settings: &'a mut LaneSettings,
    /// The half that it is shown in.
    pub side: Side,
    /// Measurements of the selected lane.
    pub meter: &'a LaneMeter,
    /// What its two ends simulate, if that is known.
    pub sync: Option<&'a LaneSync>,
    /// Bandwidth of every rung; without it the ladder shows no figures.
    pub shadow: Option<&'a ShadowLadder>,
    /// What each part of the present stages saves, if that is measured.
    pub ablation: Option<&'a Ablation>,
    /// The other ends of a real network.
    pub peers: Peers<'a>,
    /// Every lane in a half of the screen, the left one first, including the selected one.
    pub shown: Vec<Measured<'a>>,
    /// What the halves show; `None` where it cannot be changed.
    pub halves: Option<&'a mut Halves>,
    /// The state of the game, for the buttons.
    pub status: Status<'a>,
    /// The history, for the timeline.
    pub past: Past,
    /// The cube that views and panel are about.
    pub selection: &'a mut Selection,
    /// Errors of the lane's displayed cubes, if they are measured.
    pub errors: &'a [CubeError],
    /// How the lane's cubes stand within its budget, if that is known.
    pub standings: Option<&'a Standings>,
    /// Distributions of what its packets carry, if they are measured.
    pub counts: Option<&'a DeltaCounts>,
    /// What the stages that were tried cost.
    pub tradeoffs: &'a Tradeoffs,
}

impl Selection {
    /// Has a view of the inspector mark and select cubes.
    pub(super) fn lit<R>(&mut self, show: impl FnOnce(&mut Lit) -> R) -> R {
        let mut lit = Lit {
            selected: self.cube,
            hovered: self.hovered,
        };
        let shown = show(&mut lit);
        (self.cube, self.hovered) = (lit.selected, lit.hovered);
        shown
    }
}

impl<'a> LaneView<'a> {
    /// The stages of what the views show: while they look back, those of the tick that is shown.
    #[must_use]
    pub fn stages_shown(&self) -> Stages {
        self.sender_shown(self.meter, self.settings.sender).stages
    }

    /// Settings of a lane, with the stages of what the views show of it.
    fn sender_shown(&self, meter: &LaneMeter, sender: SenderSettings) -> SenderSettings {
        let sample = self.past.moment.and_then(|tick| meter.at(tick));
        let stages = sample.map_or(sender.stages, |sample| sample.stages);
        SenderSettings { stages, ..sender }
    }

    /// Whether what it costs can be compared.
    pub(super) fn arrives(&self) -> bool {
        self.meter.arrives(self.past.moment)
    }

    /// The second of what the views show that all figures are means of: see [`LaneMeter::second`].
    pub(super) fn second(&self) -> Option<Totals> {
        self.meter.second(self.past.moment)
    }

    /// What the views show would cost on each rung.
    pub(super) fn rung_costs(&self) -> RungCosts<'a> {
        let sender = self.sender_shown(self.meter, self.settings.sender);
        RungCosts::new(self.meter, self.shadow, &sender, self.past.moment)
    }

    /// Kilobits a second on a rung, as [`rung_costs`](Self::rung_costs) has them, but on that of a lane in the other half which
    /// is sent as this one what that lane costs, as its headline says.
    pub(super) fn kbps_on(&self) -> impl Fn(&Rung) -> Option<f64> + use<'a> {
        let costs = self.rung_costs();
        let (own, shown) = (self.settings.sender, self.stages_shown());
        let others = self.shown.iter().filter_map(|other| {
            let sender = self.sender_shown(other.meter, other.settings.sender);
            let stages = sender.stages;
            let is_alike = stages != shown && sender == SenderSettings { stages, ..own };
            is_alike.then(|| RungCosts::new(other.meter, None, &sender, self.past.moment))
        });
        let others: Vec<_> = others.collect();
        move |rung| {
            let other = others.iter().find_map(|costs| costs.kbps(rung));
            other.or_else(|| costs.kbps(rung))
        }
    }

    /// How a cube stands within the budget, if that is known.
    pub(super) fn standing(&self, cube: usize) -> Option<Standing> {
        self.standings?.now.get(cube).copied()
    }

    /// The newest tick of its meter; 0 before there is one.
    pub(super) fn now(&self) -> u64 {
        self.meter.newest_tick().unwrap_or(0)
    }
}

/// What the buttons of the panel show.
#[derive(Clone, Debug, Default)]
pub struct Status<'a> {
    /// Whether the simulation runs here.
    pub plays: bool,
    /// Whether it is paused.
    pub is_paused: bool,
    /// What the halves show.
    pub view: ViewMode,
    /// Whether trails are shown.
    pub has_trails: bool,
    /// Whether a replay is being recorded.
    pub records_replay: bool,
    /// Whether a video is being recorded.
    pub records_video: bool,
    /// Whether the game plays by itself.
    pub plays_itself: bool,
    /// Where the state of the panel is kept.
    pub settings: Option<&'a Path>,
    /// The tour, where one can be taken.
    pub tour: Option<Tour>,
}

/// What the timeline shows besides the meters of the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// The tick of the past that the views show.
    pub moment: Option<u64>,
    /// The oldest tick that they can show.
    pub first: Option<u64>,
    /// Bytes of memory of the whole history.
    pub memory_bytes: usize,
}

/// What [`draw`](super::draw) covered, and what the user asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drawn {
    /// The part of the window that the panel covers.
    pub inset: Inset,
    /// The action whose button was pressed.
    pub asked: Option<Action>,
    /// The tick of the past to show.
    pub moment: Option<u64>,
}

/// A lane in one half of the screen.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// Which half.
    pub side: Side,
    /// Measurements of the lane.
    pub meter: &'a LaneMeter,
    /// Its settings.
    pub settings: LaneSettings,
}

/// What the halves show.
#[derive(Clone, Debug, PartialEq)]
pub struct Halves {
    /// Whether the left half shows a lane instead of the simulation.
    pub left_is_lane: bool,
    /// The half whose lane the panel shows.
    pub selected: Side,
    /// What the user just entered for halves.
    pub typed: Vec<(Side, PaneContent)>,
}
