//! What the steps of the tour say, switch and play.
//!
//! Figures of the article, *Snapshot Compression* (Glenn Fiedler, gafferongames.com, 2015), are those of the
//! [terms](crate::panel), the ladder and the README.

use super::watch::Watch;
use crate::panel::settings::Page;
use crate::panel::terms::capital;
use crate::view::CubeColors;

/// A step of the tour.
#[derive(Clone, Copy, Debug)]
pub struct TourStep {
    /// The title, in a few words.
    pub title: &'static str,
    /// Two or three sentences.
    pub text: &'static str,
    /// What the left half shows, as text.
    pub left: &'static str,
    /// The lane in the right half, as text.
    pub right: &'static str,
    /// What is played.
    pub scene: Scene,
    /// Whether trails are shown.
    pub has_trails: bool,
    /// The page of the panel that shows what the step is about.
    pub page: Page,
    /// What the colours of the cubes show.
    pub colors: CubeColors,
    /// The number to watch.
    pub watch: Watch,
    /// What the article has for that, if it has a figure.
    pub article: Option<Figure>,
    /// How what is seen here differs from the article, and why; or what to see.
    pub difference: &'static str,
    /// The address of the article that it is about.
    pub address: &'static str,
    /// Something to do. The tour goes on without it, too.
    pub task: Option<Task>,
}

/// A figure of the article for what a step [watches](Watch), in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What the article has it as, in a few words.
    pub name: &'static str,
    /// The number.
    pub value: &'static str,
}

impl TourStep {
    /// What the article has, in a sentence; none if it has no figure.
    #[must_use]
    pub fn article_line(&self) -> Option<String> {
        let Figure { name, value } = self.article?;
        let what = capital(self.watch.name());
        Some(format!("{what}: {value} {} ({name}).", self.watch.unit()))
    }
}

const fn figure(value: &'static str) -> Option<Figure> {
    Some(Figure {
        name: "the article",
        value,
    })
}

/// What the article wants to get by with.
const TARGET: Option<Figure> = Some(Figure {
    name: "the target",
    value: "256",
});

/// What a step plays: a script that is in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// `katamari`: a ball of cubes is rolled up.
    Katamari,
    /// `rolling`: the player rolls, and few cubes change.
    Rolling,
    /// `ball`: a ball rolls from side to side.
    Ball,
}

impl Scene {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Katamari, Self::Rolling, Self::Ball];
}

/// Something to do in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Play instead of the script.
    TakeOver,
    /// Lay the replica over the simulation.
    Overlay,
    /// Cut the link, and restore it.
    CutLink,
}

impl Task {
    /// What to do.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::TakeOver => "Hold Z and an arrow key: you play instead of the script.",
            Self::Overlay => "Press V until both worlds are drawn over each other.",
            Self::CutLink => "Press L to cut the link, and L again to restore it.",
        }
    }
}

/// *Snapshot Compression*, Glenn Fiedler, 2015.
const SNAPSHOT_COMPRESSION: &str = "https://gafferongames.com/post/snapshot_compression/";

/// The default lane next to the simulation.
const USUAL: TourStep = TourStep {
    title: "",
    text: "",
    left: "simulation",
    right: "rung:changed-flags",
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

/// *State Synchronization*, Glenn Fiedler, 2015.
const STATE_SYNCHRONIZATION: &str = "https://gafferongames.com/post/state_synchronization/";

/// *Snapshot Interpolation*, Glenn Fiedler, 2014.
const SNAPSHOT_INTERPOLATION: &str = "https://gafferongames.com/post/snapshot_interpolation/";

/// The tour, in order.
pub const STEPS: [TourStep; 18] = [
    TourStep {
        title: "Two worlds",
        text: "At the left, a physics engine simulates 901 cubes on this machine. The right half is rebuilt from network \
               packets alone, over a link with a round trip of 100 ms.",
        watch: Watch::Error,
        difference: "How far apart the red cubes of the two halves are, at the same tick.",
        task: Some(Task::TakeOver),
        ..USUAL
    },
    TourStep {
        title: "Uncompressed",
        text: "Sixty times a second, every cube is sent with its position, orientation and velocity as 32-bit floats. \
               Cubes that lie still cost as much as those that move.",
        right: "rung:uncompressed",
        article: figure("17\u{2009}370"),
        difference: "321 bits for each of 901 cubes, and the headers of IP and UDP, in both.",
        ..USUAL
    },
    TourStep {
        title: "The smallest three",
        text: "An orientation is a quaternion of length 1, so its largest component follows from the other three. Two \
               bits name the one that is dropped, and the others take 9 bits each.",
        right: "rung:smallest-three",
        watch: Watch::Orientation,
        article: figure("29"),
        difference: "Four floats would take 128 bits, here as in the article.",
        ..USUAL
    },
    TourStep {
        title: "Velocity: bounded, at rest, left out",
        text: "Velocities are first quantized to 11 bits per component, then replaced by one bit for cubes at rest. In \
               the end they are left out: linear interpolation does without. PageDown goes back through these rungs.",
        right: "rung:no-velocity",
        watch: Watch::Cube,
        article: figure("126"),
        difference: "159 bits with a quantized velocity; with the flag 127 at rest and 160 in motion.",
        ..USUAL
    },
    TourStep {
        title: "Positions on a grid",
        text: "Positions are bounded and quantized to 1/512 m, which takes 50 bits instead of 96. That is 2 mm: too \
               little to see, even with the replica laid over the same tick of the simulation.",
        right: "rung:position",
        watch: Watch::Cube,
        article: figure("80"),
        difference: "50 bits of position, 29 of orientation and 1 of colour: 4.3 Mbps in all.",
        task: Some(Task::Overlay),
        ..USUAL
    },
    TourStep {
        title: "Delta: only what changed",
        text: "Only cubes that differ from the baseline are sent: a snapshot that the receiver has acknowledged. One bit \
               for each of the 901 cubes marks them. The colours show what each cube takes.",
        right: "rung:delta",
        page: Page::Kinds,
        colors: CubeColors::Bits,
        watch: Watch::SelectionRate,
        article: figure("54"),
        difference: "For the 901 bits alone; the rest of the bandwidth is for the cubes that move.",
        ..USUAL
    },
    TourStep {
        title: "Indices",
        text: "Where few cubes changed, a list of their indices, 10 bits each, is shorter than a bit for every cube. Each \
               packet has the shorter of the two. With all cubes at rest only headers remain, about 15 kbps.",
        right: "rung:index",
        scene: Scene::Rolling,
        watch: Watch::Selection,
        article: figure("10"),
        difference: "A list pays for up to 90 cubes; a packet here also says how long it is.",
        ..USUAL
    },
    TourStep {
        title: "Relative indices",
        text: "Changed cubes are often neighbours, and neighbours have similar indices. So each index is sent as the \
               distance from the previous one, in 4, 7 or 12 bits.",
        right: "rung:relative-index",
        page: Page::Ranges,
        watch: Watch::Selection,
        article: figure("5.5"),
        difference: "Fewer where the changed cubes are neighbours, more in a ball of scattered ones.",
        ..USUAL
    },
    TourStep {
        title: "Relative positions",
        text: "A cube moves little between the baseline and now. The difference takes 5 bits per component if it is small \
               and 9 if it is larger; beyond that, the position is sent in full.",
        right: "rung:relative-position",
        page: Page::Ranges,
        watch: Watch::Position,
        article: figure("26.1"),
        difference: "A rolling ball moves its cubes further in 100 ms, so more of them are sent in full.",
        ..USUAL
    },
    TourStep {
        title: "Relative orientations",
        text: "In nine of ten cases the largest component is still the same one. Then only differences of the other three \
               are sent, in 5 or 8 bits each. The colours show which form each cube takes.",
        right: "rung:relative-orientation",
        page: Page::Ranges,
        colors: CubeColors::Form,
        watch: Watch::Orientation,
        article: figure("23.3"),
        difference: "How much it saves depends on how fast the ball turns.",
        ..USUAL
    },
    TourStep {
        title: "Changed flags",
        text: "Some cubes slide without turning or turn in place, so two flags say whether position and orientation \
               follow. In a rolling ball hardly any cube does: here, the flags cost more than they save. This is the \
               last stage of the article.",
        article: TARGET,
        difference: "Below the target while few cubes move; a large ball exceeds it.",
        ..USUAL
    },
    TourStep {
        title: "What loss does",
        text: "This link also loses and delays packets. Nothing is sent again: every packet names a baseline that has \
               arrived, so the next one repairs what you see. Older baselines make larger packets.",
        right: "rung:changed-flags,link:article",
        page: Page::Link,
        watch: Watch::Lost,
        article: figure("5"),
        difference: "Drawn at random: it comes near 5 % within some seconds.",
        address: SNAPSHOT_INTERPOLATION,
        task: Some(Task::CutLink),
        ..USUAL
    },
    TourStep {
        title: "Ten snapshots a second",
        text: "Both halves are replicas now. The left one has no interpolation and jumps; the right one follows Hermite \
               curves through positions and velocities. The trails show the paths of four cubes.",
        left: "rung:at-rest,rate:10,interpolation:none",
        right: "rung:at-rest,rate:10,interpolation:hermite",
        scene: Scene::Ball,
        has_trails: true,
        page: Page::Link,
        watch: Watch::Delay,
        article: figure("350"),
        difference: "Enough for two losses in a row. The captions say how far each half is off.",
        address: SNAPSHOT_INTERPOLATION,
        ..USUAL
    },
    TourStep {
        title: "Beyond the article: prediction",
        text: "The left replica is sent as at the end of the article. For the right one, both ends extrapolate each \
               position from the baseline's motion, and only the difference from that is sent.",
        left: "rung:changed-flags",
        right: "rung:predicted-position",
        watch: Watch::Position,
        article: figure("26.1"),
        difference: "Compare the halves: this ball is faster than the article's.",
        ..USUAL
    },
    TourStep {
        title: "Beyond the article: arithmetic coding",
        text: "Probabilities that adapt to the packets replace fixed numbers of bits: what is likely costs a fraction of \
               one. The left half codes differences from the baseline; the right one codes differences from \
               predictions, and takes less.",
        left: "rung:arithmetic",
        right: "rung:predicted",
        article: TARGET,
        difference: "Not in the article, which leaves it as an exercise.",
        ..USUAL
    },
    TourStep {
        title: "State synchronization: a budget",
        text: "Fiedler's next article sends what a budget allows; the right half has 64 kbps, with all headers. Each \
               cube has a priority accumulator that grows while it waits, faster the further off it is. The most \
               urgent cubes are sent, and begin again at 0.",
        left: "rung:predicted",
        right: "rung:predicted,budget:64kbps",
        page: Page::Budget,
        difference: "No second of the right half takes more than 64 kbps. The left half has no budget.",
        address: STATE_SYNCHRONIZATION,
        ..USUAL
    },
    TourStep {
        title: "State synchronization: nothing starves",
        text: "The colours show for how long a cube has waited. An error adds to its priority up to a bound, waiting \
               without one. So with a quarter of the bits all cubes wait longer and are further off, but each is sent in \
               the end.",
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
        text: "Now both ends run the physics. A packet has the keys, a check that the two agree, and cubes only where \
               they do not: a thousandth of what the first rung took.",
        right: "rung:simulated",
        article: TARGET,
        difference: "A sixteenth of the target. Most of it is headers.",
        address: STATE_SYNCHRONIZATION,
        ..USUAL
    },
];
