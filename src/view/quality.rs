//! Graphics quality: the setting, the level of detail chosen from it, and its adjustment to the measured frame time.

use std::time::Duration;

use bevy::prelude::*;
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy::window::PrimaryWindow;
use serde::{Deserialize, Serialize};
use wgpu::{Backend, DeviceType};

use super::notices::Notices;
use crate::controls::Inputs;
use crate::display;

#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(not(target_family = "wasm"), derive(clap::ValueEnum))]
pub enum Quality {
    /// High on a graphics card, low with a software renderer. A window changes to low if frames take too long.
    #[default]
    Auto,
    /// Plain light and shadows, four samples per pixel. A window reduces samples and resolution if frames take too long.
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

/// Samples and resolution at low detail, as an index of [`STEPS`].
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sharpness(usize);

/// Samples per pixel, and image pixels per canvas pixel along each axis. A step takes 0.4 to 0.7 times the pixel work of
/// the step before.
const STEPS: [(Msaa, f32); 5] =
    [(Msaa::Sample4, 1.0), (Msaa::Off, 1.0), (Msaa::Off, 0.8), (Msaa::Off, 0.64), (Msaa::Off, 0.5)];

/// Pixel work of four samples, relative to one.
const COST_OF_SAMPLES: f32 = 1.5;

impl Sharpness {
    /// Full resolution with one sample per pixel.
    const ONE_SAMPLE: Self = Self(1);
    const LEAST: Self = Self(STEPS.len() - 1);

    pub(super) const fn samples(self) -> Msaa {
        STEPS[self.0].0
    }

    pub(super) const fn resolution(self) -> f32 {
        STEPS[self.0].1
    }

    /// Relative work of the pixels.
    fn cost(self) -> f32 {
        let samples = if self.samples() == Msaa::Off { 1.0 } else { COST_OF_SAMPLES };
        samples * self.resolution() * self.resolution()
    }

    /// Returns the next step if frames of this mean time leave room for it. If they take too long, returns the sharpest
    /// step that could be fast enough.
    fn adjusted(self, frame: Duration) -> Self {
        if frame < FAST {
            return Self(self.0.saturating_sub(1));
        }
        let least_work = self.cost() * SLOW.as_secs_f32() / frame.as_secs_f32();
        let coarser = (self.0..STEPS.len()).map(Self);
        coarser.into_iter().find(|step| step.cost() <= least_work).unwrap_or(Self::LEAST)
    }
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
    window: Option<Single<(), With<PrimaryWindow>>>,
    (mut detail, mut sharpness): (ResMut<Detail>, ResMut<Sharpness>),
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
    // A window in software is too slow for four samples. Without a window, nobody waits for the frames.
    sharpness.set_if_neq(match is_software && window.is_some() {
        true => Sharpness::ONE_SAMPLE,
        false => Sharpness::default(),
    });
    detail.set_if_neq(if is_high { Detail::High { occlusion, is_software } } else { Detail::Low });
}

/// Adjusts the detail of a window to the mean frame time, at most once in five seconds and never while a key is held.
/// Changes from high to low detail if the setting is [`Quality::Auto`], and never back.
pub(super) fn adjust(
    quality: Res<Quality>,
    time: Res<Time<Real>>,
    window: Single<&Window, With<PrimaryWindow>>,
    inputs: Inputs<'_>,
    mut frames: Local<Frames>,
    (mut detail, mut sharpness): (ResMut<Detail>, ResMut<Sharpness>),
    mut notices: ResMut<Notices>,
) {
    // The system may throttle a window in the background.
    if !window.focused {
        *frames = Frames::default();
        return;
    }
    frames.add(time.delta());
    if inputs.is_any_held() {
        return;
    }
    let Some(mean) = frames.mean() else {
        return;
    };
    *frames = Frames::default();
    match *detail {
        Detail::Low => {
            let adjusted = sharpness.adjusted(mean);
            sharpness.set_if_neq(adjusted);
        }
        Detail::High { .. } if *quality == Quality::Auto && mean > SLOW => {
            *detail = Detail::Low;
            let high = display::setting("quality", "high");
            notices.show(format!(
                "Switched to low quality: frames took too long ({high} keeps high quality)"
            ));
        }
        Detail::High { .. } => {}
    }
}

/// Mean frame time above which the detail is reduced: 25 frames per second.
const SLOW: Duration = Duration::from_millis(40);

/// Mean frame time below which the picture becomes sharper. A display of 60 Hz has 16.7 ms. The next step takes at most
/// 1.7 times as long, and is then still faster than [`SLOW`], also on a display that rounds it up to 33 ms.
const FAST: Duration = Duration::from_millis(18);

/// Frame times since the last adjustment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frames {
    since: Duration,
    count: u32,
    sum: Duration,
}

impl Frames {
    /// Time between two adjustments.
    const PERIOD: Duration = Duration::from_secs(5);

    /// Time after an adjustment that is not measured, because shaders are compiled.
    const SETTLING: Duration = Duration::from_secs(2);

    /// Largest amount that one frame counts, so that a single stall has little effect.
    const MAX: Duration = Duration::from_millis(250);

    fn add(&mut self, frame: Duration) {
        self.since += frame;
        if self.since > Self::SETTLING {
            self.count += 1;
            self.sum += frame.min(Self::MAX);
        }
    }

    /// Returns the mean frame time once a period is over.
    fn mean(&self) -> Option<Duration> {
        (self.since >= Self::PERIOD).then(|| self.sum.checked_div(self.count)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Time of a frame of which `fixed` does not depend on the resolution.
    fn frame(sharpness: Sharpness, fixed: Duration, pixels: Duration) -> Duration {
        fixed + pixels.mul_f32(sharpness.cost())
    }

    #[test]
    fn sharpness_settles_on_every_machine() {
        for fixed in (0..100).step_by(3) {
            for pixels in (1..300).step_by(7) {
                let mut sharpness = Sharpness::ONE_SAMPLE;
                for _ in 0..STEPS.len() {
                    sharpness = sharpness.adjusted(frame(sharpness, ms(fixed), ms(pixels)));
                }
                let time = frame(sharpness, ms(fixed), ms(pixels));
                assert_eq!(sharpness.adjusted(time), sharpness, "{fixed} + {pixels} ms");
                assert!(time <= SLOW || sharpness == Sharpness::LEAST);
                assert!(time >= FAST || sharpness == Sharpness::default());
            }
        }
    }

    #[test]
    fn frame_times_count_after_settling_and_stalls_count_little() {
        let mut frames = Frames::default();
        frames.add(ms(1_900));
        for _ in 0..155 {
            assert_eq!(frames.mean(), None);
            frames.add(ms(20));
        }
        assert_eq!(frames.mean(), Some(ms(20)));
        frames.add(ms(60_000));
        assert!(frames.mean().unwrap() < ms(22));
    }
}
