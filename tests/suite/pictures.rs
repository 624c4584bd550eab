//! The pictures in the documents, rendered offscreen. This needs a Vulkan driver such as Mesa's software driver, so both
//! tests are ignored by default: `cargo test --workspace -- --ignored`.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use bevy::prelude::*;
use cubewire::game::desktop::offscreen::{Interface, OffScreen};
use cubewire::game::{right_lane, show_halves};
use cubewire::history::{Moment, Selection};
use cubewire::panel::{Page, PanelSize, PanelState, Tour};
use cubewire::recording::ScriptPlayback;
use cubewire::recording::video::{round, write_png};
use cubewire::simulation::CubeWorld;
use cubewire::theme::Theme;
use cubewire::view::{CubeColors, Trails, ViewMode};
use png::{Compression, Decoder, Transformations};

use crate::common::{names, root, script};

#[derive(Clone, Copy)]
struct Shot {
    name: &'static str,
    page: Page,
    halves: [&'static str; 2],
    script: &'static str,
    /// Ticks until the panel has measurements.
    ticks: u64,
    /// Changes the view and the panel.
    change: fn(&mut World),
}

/// The ball, next to the default lane.
const fn shot(name: &'static str, page: Page, change: fn(&mut World)) -> Shot {
    let halves = ["simulation", "rung:changed-flags"];
    Shot { name, page, halves, script: "katamari", ticks: 600, change }
}

/// A ball that rolls from side to side, with trails, in lanes with two kinds of interpolation.
const fn trails(name: &'static str, halves: [&'static str; 2]) -> Shot {
    let show_trails: fn(&mut World) = |world| {
        world.resource_mut::<PanelState>().size = PanelSize::Hidden;
        world.resource_mut::<Trails>().shown = true;
    };
    Shot { halves, script: "ball", ticks: 900, ..shot(name, Page::Ladder, show_trails) }
}

const SHOTS: [Shot; 7] = [
    shot("ladder", Page::Ladder, |_| {}),
    shot("overlay", Page::Ladder, |world| world.insert_resource(ViewMode::Difference)),
    // A cube of the ball.
    shot("packet", Page::Packet, |world| world.resource_mut::<Selection>().cube = Some(465)),
    shot("cubes-bits", Page::Kinds, |world| {
        world.resource_mut::<PanelState>().colors = CubeColors::Bits;
    }),
    Shot {
        halves: ["rung:delta,link:hostile", "rung:predicted,link:wi-fi-bad"],
        ..shot("timeline", Page::Kinds, |world| world.resource_mut::<PanelState>().timeline = true)
    },
    trails(
        "none-linear",
        ["rung:at-rest,rate:10,interpolation:none", "rung:at-rest,rate:10,interpolation:linear"],
    ),
    trails(
        "hermite-extrapolate",
        [
            "rung:at-rest,rate:10,interpolation:hermite",
            "rung:at-rest,rate:10,interpolation:extrapolate",
        ],
    ),
];

const SIZE: UVec2 = UVec2::new(1280, 720);

/// End of the file names.
const SUFFIX: &str = "-1280x720-dark.png";

/// Frames until the layout has followed the panel's state and egui's measurements.
const SETTLING_FRAMES: usize = 2;

/// One second, which the timeline is in the past.
const PAST_TICKS: u64 = 60;

impl Shot {
    fn path(&self) -> PathBuf {
        folder().join(format!("{}{SUFFIX}", self.name))
    }

    /// Returns the picture: RGBA, one byte per channel.
    fn take(&self) -> Vec<u8> {
        let mut renderer = OffScreen::new(SIZE, 60, Interface::Panel).unwrap();
        let world = renderer.app.world_mut();
        let [left, right] = self.halves;
        show_halves(world, left.parse().unwrap(), right_lane(right).unwrap()).unwrap();
        world.insert_resource(ScriptPlayback::new(script(self.script)));
        let mut panel = world.resource_mut::<PanelState>();
        (panel.page, panel.theme) = (self.page, Theme::Dark);
        (self.change)(world);
        renderer.skip(self.ticks);
        renderer.warm_up().unwrap();
        let world = renderer.app.world_mut();
        world.insert_resource(Tour { plays: true, ..Tour::default() });
        if world.resource::<PanelState>().timeline {
            let past = world.resource::<CubeWorld>().tick() - PAST_TICKS;
            world.resource_mut::<Time<Virtual>>().pause();
            world.insert_resource(Moment(Some(past)));
            world.resource_mut::<PanelState>().range = Some([past - PAST_TICKS, past]);
        }
        for _ in 0..SETTLING_FRAMES {
            renderer.frame().unwrap();
        }
        renderer.frame().unwrap().into_iter().map(round).collect()
    }
}

fn folder() -> PathBuf {
    root().join("assets/screenshots")
}

#[test]
#[ignore = "writes the pictures that the other compares with, and needs a Vulkan driver"]
fn write_the_pictures_of_the_documents() {
    for shot in SHOTS {
        write_png(&shot.path(), SIZE.into(), &shot.take(), Compression::High).unwrap();
    }
}

/// Maximum difference of a channel, caused by the smaller palette of the stored picture.
const PALETTE: u8 = 48;

/// Maximum number of pixels that differ more: fewer than a line of small text has.
const MOST: usize = 300;

fn pixels(path: &Path) -> Vec<[u8; 3]> {
    let mut decoder = Decoder::new(BufReader::new(File::open(path).unwrap()));
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let pixels = bytes.chunks_exact(info.color_type.samples());
    pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn the_pictures_of_the_documents_show_the_program_as_it_is() {
    let mut kept = names(&folder());
    kept.retain(|name| name.ends_with(SUFFIX));
    let mut taken = SHOTS.map(|shot| format!("{}{SUFFIX}", shot.name));
    taken.sort();
    assert_eq!(kept, taken);
    for shot in SHOTS {
        let (name, kept, now) = (shot.name, pixels(&shot.path()), shot.take());
        let now = now.as_chunks::<4>().0;
        assert_eq!(kept.len(), now.len(), "{name}");
        let differs = |(kept, now): &(&[u8; 3], &[u8; 4])| {
            kept.iter().zip(*now).any(|(a, b)| a.abs_diff(*b) > PALETTE)
        };
        let differing = kept.iter().zip(now).filter(differs).count();
        assert!(
            differing <= MOST,
            "{name}: {differing} pixels are not as kept; assets/screenshots/README.md says how to take it again"
        );
    }
}
