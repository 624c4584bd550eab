//! Texts, settings and scenes of the tour's steps.
//!
//! The article's figures are from *Snapshot Compression* (Glenn Fiedler, gafferongames.com, 2015). They match those in the
//! [terms](crate::panel), on the ladder and in the README.

use cubewire_inspector::words::grouped;

use super::watch::Watch;
use crate::panel::settings::Page;
use crate::replication::TARGET_KBPS;
use crate::view::{CubeColors, ViewMode};

#[derive(Clone, Copy, Debug)]
pub struct TourStep {
    pub title: &'static str,
    /// Two or three sentences.
    pub text: &'static str,
    /// Content of the left half, in text form.
    pub left: &'static str,
    /// Lane in the right half, in text form.
    pub right: &'static str,
    pub view: ViewMode,
    pub scene: Scene,
    pub has_trails: bool,
    pub page: Page,
    pub colors: CubeColors,
    pub watch: Watch,
    /// The article's value of that number, in the same unit, if the article has one.
    pub article: Option<f64>,
    /// Difference from the article with its reason, or a hint about the scene.
    pub difference: &'static str,
    pub address: &'static str,
    pub task: Option<Task>,
}

impl TourStep {
    pub fn article_name(&self) -> &'static str {
        if self.article == Some(TARGET_KBPS) { "the target" } else { "the article" }
    }

    /// Returns a line with the article's figure; `None` if it has no figure.
    pub fn article_line(&self) -> Option<String> {
        let [what, unit] = self.watch.name_and_unit();
        // No measurement is next to this value, so whole numbers need no decimals.
        let value = match self.article? {
            value if value.fract() == 0.0 => grouped(value),
            value => self.watch.text(value),
        };
        let name = self.article_name();
        Some(format!("{what}: {value} {unit} ({name})."))
    }
}

/// Scene of a step: a script that is built into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// Script `katamari`: the player rolls up a ball of cubes.
    Katamari,
    /// Script `rolling`: the player rolls, and few cubes change.
    Rolling,
    /// Script `ball`: a ball rolls from side to side.
    Ball,
}

impl Scene {
    pub const ALL: [Self; 3] = [Self::Katamari, Self::Rolling, Self::Ball];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    TakeOver,
    CutLink,
}

impl Task {
    pub const fn text(self) -> &'static str {
        match self {
            Self::TakeOver => "Hold Z and an arrow key to play instead of the script.",
            Self::CutLink => "Press L to cut the link, and L again to restore it.",
        }
    }
}

const SNAPSHOT_COMPRESSION: &str = "https://gafferongames.com/post/snapshot_compression/";

/// Defaults of a step: the default lane next to the simulation.
const USUAL: TourStep = TourStep {
    title: "",
    text: "",
    left: "simulation",
    right: "rung:changed-flags",
    view: ViewMode::Split,
    scene: Scene::Katamari,
    has_trails: false,
    page: Page::Ladder,
    colors: CubeColors::Interaction,
    watch: Watch::Kbps,
    article: None,
    difference: "",
    address: SNAPSHOT_COMPRESSION,
    task: None,
};

const STATE_SYNCHRONIZATION: &str = "https://gafferongames.com/post/state_synchronization/";

const DETERMINISTIC_LOCKSTEP: &str = "https://gafferongames.com/post/deterministic_lockstep/";

const SNAPSHOT_INTERPOLATION: &str = "https://gafferongames.com/post/snapshot_interpolation/";

pub const STEPS: [TourStep; 18] = [
    TourStep {
        title: "Two worlds",
        text: "On the left, a physics engine on this machine simulates 901 cubes. The right half is rebuilt from \
               network packets alone, over a link with a round trip of 100\u{a0}ms.",
        right: "rung:uncompressed",
        watch: Watch::Error,
        difference: "Mean distance of the red cubes in both halves, at the same tick. Nothing is rounded yet.",
        task: Some(Task::TakeOver),
        ..USUAL
    },
    TourStep {
        title: "Uncompressed",
        text: "Sixty times a second, every cube is sent: position, orientation and velocity as 32-bit floats. Cubes \
               at rest cost as much as cubes that move.",
        right: "rung:uncompressed",
        article: Some(17_370.0),
        difference: "Both count 321 bits for each of 901 cubes, and the IP and UDP headers.",
        ..USUAL
    },
    TourStep {
        title: "The smallest three",
        text: "An orientation is a unit quaternion, so its largest component follows from the other three. Two bits \
               say which one is dropped; the others take 9 bits each.",
        right: "rung:smallest-three",
        watch: Watch::Orientation,
        article: Some(29.0),
        difference: "As four floats it would take 128 bits, here and in the article.",
        ..USUAL
    },
    TourStep {
        title: "Velocity: quantized, at rest, dropped",
        text: "First, velocities are quantized to 11 bits per component. Then one bit says whether a cube is at \
               rest. Finally they are dropped: linear interpolation does not need them.",
        right: "rung:no-velocity",
        watch: Watch::Cube,
        article: Some(126.0),
        difference: "Quantized: 159 bits. With the bit for rest: 127 at rest, 160 in motion.",
        ..USUAL
    },
    TourStep {
        title: "Positions on a grid",
        text: "Positions are bounded and rounded to 1/512\u{a0}m, so that they take 50 bits instead of 96. Steps of \
               2\u{a0}mm are too small to see, even here, where the replica is drawn over the simulation.",
        right: "rung:position",
        view: ViewMode::Difference,
        watch: Watch::Cube,
        article: Some(80.0),
        difference: "50 bits of position, 29 of orientation and 1 of colour: 4.3\u{a0}Mbps in all.",
        ..USUAL
    },
    TourStep {
        title: "Delta: only what changed",
        text: "Only cubes that differ from the baseline, the last snapshot known to have arrived, are sent. One bit \
               for each cube says which. The colours show how many bits each takes.",
        right: "rung:delta",
        page: Page::Kinds,
        colors: CubeColors::Bits,
        watch: Watch::SelectionRate,
        article: Some(54.0),
        difference: "For the 901 bits alone. The rest of the bandwidth goes to the cubes that move.",
        ..USUAL
    },
    TourStep {
        title: "Indices",
        text: "When few cubes change, a list of 10-bit indices is shorter than a bit for every cube. Each packet \
               uses the shorter of the two. With all cubes at rest, only headers remain.",
        right: "rung:index",
        scene: Scene::Rolling,
        watch: Watch::Selection,
        article: Some(10.0),
        difference: "A list pays off for up to 90 cubes. Here its length is sent as well.",
        ..USUAL
    },
    TourStep {
        title: "Relative indices",
        text: "Cubes that change are often neighbours, and neighbours have similar indices. So each index is sent \
               as its distance from the previous one, in 3, 5 or 10 bits after a prefix of one or two.",
        right: "rung:relative-index",
        page: Page::Ranges,
        watch: Watch::Selection,
        article: Some(5.5),
        difference: "Fewer when the cubes are neighbours, more in a ball gathered from all over.",
        ..USUAL
    },
    TourStep {
        title: "Relative positions",
        text: "A cube moves little between the baseline and now. A small difference takes 5 bits per component, a \
               larger one 9; beyond that, the position is sent in full.",
        right: "rung:relative-position",
        page: Page::Ranges,
        watch: Watch::Position,
        article: Some(26.1),
        difference: "A rolling ball moves its cubes further in 100\u{a0}ms: fewer differences are small.",
        ..USUAL
    },
    TourStep {
        title: "Relative orientations",
        text: "Nine times out of ten, the largest component is still the same one. Then only the differences of the \
               other three are sent, in 5 bits each if they are small, in 8 if they are larger.",
        right: "rung:relative-orientation",
        page: Page::Ranges,
        watch: Watch::Orientation,
        article: Some(23.3),
        difference: "How much this saves depends on how fast the ball turns.",
        ..USUAL
    },
    TourStep {
        title: "Changed flags",
        text: "Some cubes slide without turning, or turn in place: two flags say whether position and orientation \
               follow. Hardly any cube of a rolling ball does, so here the flags cost more than they save.",
        article: Some(TARGET_KBPS),
        difference: "The article's last stage. A small ball stays below the target; a large one does not.",
        ..USUAL
    },
    TourStep {
        title: "What loss does",
        text: "This link loses and delays packets. Nothing is resent: every packet builds on a baseline that has \
               arrived, so the next one repairs what you see. Older baselines make larger packets.",
        right: "rung:changed-flags,link:article",
        page: Page::Link,
        watch: Watch::Lost,
        article: Some(5.0),
        difference: "Losses are random: within seconds, their share comes close to 5\u{a0}%.",
        address: SNAPSHOT_INTERPOLATION,
        task: Some(Task::CutLink),
        ..USUAL
    },
    TourStep {
        title: "Ten snapshots a second",
        text: "Both halves are replicas now. The left one has no interpolation and jumps; the right one follows \
               Hermite curves through positions and velocities. The trails show four cubes' paths.",
        left: "rung:at-rest,rate:10,interpolation:none",
        right: "rung:at-rest,rate:10,interpolation:hermite",
        scene: Scene::Ball,
        has_trails: true,
        page: Page::Link,
        watch: Watch::Delay,
        article: Some(350.0),
        difference: "Long enough to bridge two losses in a row. The captions show the error of each half.",
        address: SNAPSHOT_INTERPOLATION,
        ..USUAL
    },
    TourStep {
        title: "Beyond the article: prediction",
        text: "The left replica is sent as at the end of the article. On the right, both ends extrapolate each \
               position from the baseline's motion, and only the difference from that is sent.",
        left: "rung:changed-flags",
        right: "rung:predicted-position",
        watch: Watch::Position,
        article: Some(26.1),
        difference: "Compare the halves: this ball moves faster than the article's.",
        ..USUAL
    },
    TourStep {
        title: "Beyond the article: arithmetic coding",
        text: "Adaptive probabilities replace fixed numbers of bits: likely values take a fraction of a bit. The \
               left half codes differences from the baseline, the right one from predictions.",
        left: "rung:arithmetic",
        right: "rung:predicted",
        article: Some(TARGET_KBPS),
        difference: "The article leaves this as an exercise.",
        ..USUAL
    },
    TourStep {
        title: "State synchronization: a budget",
        text: "Fiedler's next article sends within a budget: on the right, 64\u{a0}kbps. A cube's priority grows \
               while it waits, faster with a larger error. The most urgent cubes are sent first.",
        left: "rung:predicted",
        right: "rung:predicted,budget:64kbps",
        page: Page::Budget,
        watch: Watch::Error,
        difference: "No second takes more than 64\u{a0}kbps, headers included. The price is this error.",
        address: STATE_SYNCHRONIZATION,
        ..USUAL
    },
    TourStep {
        title: "State synchronization: nothing starves",
        text: "A cube's error raises its priority up to a limit, its wait without limit. With a quarter of the \
               bits, all cubes wait longer, but each has its turn. The colours show the longest waits.",
        left: "rung:predicted,budget:128kbps",
        right: "rung:predicted,budget:32kbps",
        page: Page::Budget,
        colors: CubeColors::Wait,
        watch: Watch::Error,
        difference: "A quarter of the bits, and several times the error.",
        address: STATE_SYNCHRONIZATION,
        ..USUAL
    },
    TourStep {
        title: "Beyond the article: simulation",
        text: "Now both ends run the physics. A packet has the pressed keys and a hash of the state, \
               and cubes only after a mismatch: a thousandth of the first rung's bandwidth.",
        right: "rung:simulated",
        article: Some(TARGET_KBPS),
        difference: "A sixteenth of the target, and most of that is headers.",
        address: DETERMINISTIC_LOCKSTEP,
        ..USUAL
    },
];
