//! Graphics quality: the setting, the level of detail chosen from it, and its reduction if frames are slow.

use std::time::Duration;

use bevy::prelude::*;
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy::window::PrimaryWindow;
use serde::{Deserialize, Serialize};
use wgpu::{Backend, DeviceType};

use super::notices::Notices;
use crate::display;

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(not(target_family = "wasm"), derive(clap::ValueEnum))]
pub enum Quality {
    /// High on a graphics card, low with a software renderer. A window changes to low if frames take too long.
    #[default]
    Auto,
    /// Four samples per pixel, plain shadows.
    Low,
    /// Supersampling, soft shadows and ambient occlusion.
    High,
}

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detail {
    /// Fast enough for software renderers.
    #[default]
    Low,
    High {
        occlusion: bool,
        is_software: bool,
    },
}

/// Largest texture side that the graphics adapter supports, pixels.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LargestTexture(pub(super) u32);

impl Default for LargestTexture {
    /// 2048, the minimum of WebGL2.
    fn default() -> Self {
        Self(2048)
    }
}

impl Detail {
    pub(super) const fn has_occlusion(self) -> bool {
        matches!(self, Self::High { occlusion: true, .. })
    }

    /// Samples for textures seen at an angle. Only 1 in software: with more, llvmpipe 15 needs minutes for some frames
    /// with a floor up to the horizon.
    pub(super) const fn anisotropy(self) -> u16 {
        match self {
            Self::High { is_software: false, .. } => 8,
            Self::High { .. } | Self::Low => 1,
        }
    }
}

/// Number of storage textures that Bevy's ambient occlusion writes in one pass.
const OCCLUSION_STORAGE_TEXTURES: u32 = 5;

/// Chooses the level of detail and reads the largest texture size from the device. Low detail without an adapter.
pub(super) fn choose(
    quality: Res<Quality>,
    adapter: Option<Res<RenderAdapterInfo>>,
    device: Option<Res<RenderDevice>>,
    mut detail: ResMut<Detail>,
    mut largest: ResMut<LargestTexture>,
) {
    let limits = device.map(|device| device.limits());
    if let Some(limits) = &limits {
        largest.set_if_neq(LargestTexture(limits.max_texture_dimension_2d));
    }
    // Bevy does not support ambient occlusion on WebGPU.
    let is_web_gpu =
        adapter.as_ref().is_some_and(|adapter| adapter.backend == Backend::BrowserWebGpu);
    let is_software = adapter.is_none_or(|adapter| adapter.device_type == DeviceType::Cpu);
    let is_high = match *quality {
        Quality::Auto => !is_software,
        Quality::Low => false,
        Quality::High => true,
    };
    let occlusion = !is_web_gpu
        && limits.is_some_and(|limits| {
            limits.max_storage_textures_per_shader_stage >= OCCLUSION_STORAGE_TEXTURES
        });
    detail.set_if_neq(if is_high { Detail::High { occlusion, is_software } } else { Detail::Low });
}

/// Changes to low detail after too many slow frames, if the setting is [`Quality::Auto`]. Never changes back.
pub(super) fn lower(
    quality: Res<Quality>,
    time: Res<Time<Real>>,
    window: Single<&Window, With<PrimaryWindow>>,
    mut slow: Local<SlowFrames>,
    mut detail: ResMut<Detail>,
    mut notices: ResMut<Notices>,
) {
    // The system may throttle a window in the background.
    if *quality != Quality::Auto || *detail == Detail::Low || !window.focused {
        return;
    }
    if slow.add(time.delta()) {
        *detail = Detail::Low;
        let high = display::setting("quality", "high");
        notices.show(format!(
            "Switched to low quality: frames took too long ({high} keeps high quality)"
        ));
    }
}

#[derive(Debug, Default)]
pub(super) struct SlowFrames {
    seen: Duration,
    /// Time of slow frames minus time of fast frames, at least 0.
    slow: Duration,
}

impl SlowFrames {
    /// Frames above this time are slow: half the rate of 60 frames per second.
    const SLOW: Duration = Duration::from_millis(34);

    /// Largest amount that one frame counts, so that a single stall has little effect.
    const MAX: Duration = Duration::from_millis(100);

    /// Startup time that is ignored, because shaders are compiled.
    const SETTLING: Duration = Duration::from_secs(3);

    /// Value of `slow` at which drawing is too slow.
    const LIMIT: Duration = Duration::from_secs(2);

    fn add(&mut self, frame: Duration) -> bool {
        self.seen += frame;
        if self.seen < Self::SETTLING {
            return false;
        }
        let frame_counts = frame.min(Self::MAX);
        self.slow = if frame > Self::SLOW {
            self.slow + frame_counts
        } else {
            self.slow.saturating_sub(frame_counts)
        };
        self.slow >= Self::LIMIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Duration = Duration::from_millis(16);
    const SLOW: Duration = Duration::from_millis(50);

    fn settled() -> SlowFrames {
        let mut frames = SlowFrames::default();
        for _ in 0..200 {
            assert!(!frames.add(FAST));
        }
        frames
    }

    fn patience(frames: &mut SlowFrames) -> usize {
        (1..1_000).find(|_| frames.add(SLOW)).unwrap()
    }

    #[test]
    fn two_seconds_of_slow_frames_are_too_much_but_those_at_the_start_do_not_count() {
        assert_eq!(patience(&mut settled()), 40);
        let mut frames = SlowFrames::default();
        for _ in 0..59 {
            assert!(!frames.add(SLOW));
        }
        assert_eq!(patience(&mut frames), 40);
    }

    #[test]
    fn stalls_and_a_few_slow_frames_among_fast_ones_are_not_too_much() {
        let mut frames = settled();
        for _ in 0..100 {
            assert!(!frames.add(Duration::from_secs(1)));
            for _ in 0..10 {
                assert!(!frames.add(FAST));
            }
        }
        for _ in 0..1_000 {
            assert!(!frames.add(SLOW));
            for _ in 0..4 {
                assert!(!frames.add(FAST));
            }
        }
    }
}
