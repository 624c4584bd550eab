//! Graphics quality: the setting, the level of detail chosen from it, and its adjustment to the measured frame time.

use std::time::Duration;

use bevy::prelude::*;
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy::window::{PrimaryWindow, WindowFocused};
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
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sharpness(usize);

/// Samples per pixel, and image pixels per canvas pixel along each axis. A step takes 0.6 to 0.7 times the pixel work of
/// the step before.
const STEPS: [(Msaa, f32); 5] =
    [(Msaa::Sample4, 1.0), (Msaa::Off, 1.0), (Msaa::Off, 0.8), (Msaa::Off, 0.64), (Msaa::Off, 0.5)];

/// Pixel work of four samples, relative to one. On llvmpipe whole frames take 1.36 times as long.
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
        let affordable = self.cost() * SLOW.as_secs_f32() / frame.as_secs_f32();
        let mut coarser = (self.0..STEPS.len()).map(Self);
        coarser.find(|step| step.cost() <= affordable).unwrap_or(Self::LEAST)
    }
}

/// Largest texture side that the graphics adapter supports, pixels.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LargestTexture(pub(super) u32);

impl Detail {
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
    // In software, a window is too slow for four samples. Films and pictures always have them.
    sharpness.set_if_neq(match is_software && window.is_some() {
        true => Sharpness::ONE_SAMPLE,
        false => Sharpness::default(),
    });
    detail.set_if_neq(if is_high { Detail::High { occlusion, is_software } } else { Detail::Low });
}

/// Adjusts the detail of a window to the mean frame time: at most once in five seconds, and never while a key is held.
/// Changes from high to low detail if the setting is [`Quality::Auto`], and never back. Says so while the game is slower
/// than real time.
pub(super) fn adjust(
    quality: Res<Quality>,
    (real, game): (Res<Time<Real>>, Res<Time<Virtual>>),
    (window, mut focus): (Single<&Window, With<PrimaryWindow>>, MessageReader<WindowFocused>),
    (mut had_focus, mut frames): (Local<bool>, Local<Frames>),
    inputs: Inputs<'_>,
    (mut detail, mut sharpness): (ResMut<Detail>, ResMut<Sharpness>),
    mut notices: ResMut<Notices>,
) {
    // The system may throttle a window in the background. Without a window manager, no window ever gets the focus.
    *had_focus |= focus.read().any(|change| change.focused);
    let is_behind = *had_focus && !window.focused;
    if is_behind || game.is_paused() {
        *frames = Frames::default();
        notices.slow = None;
        return;
    }
    let Some((mean, percent)) = frames.add(real.delta(), game.delta()) else { return };
    let is_slow = percent < SLOW_PERCENT;
    notices.slow = is_slow.then(|| format!("Slow graphics: playing at {percent} % speed"));
    match *detail {
        _ if inputs.is_any_held() => {}
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

/// Speed in percent of real time below which the game is slow.
const SLOW_PERCENT: u32 = 90;

/// Mean frame time above which the detail is reduced: 25 frames per second.
const SLOW: Duration = Duration::from_millis(40);

/// Mean frame time below which the picture becomes sharper. A display of 60 Hz has 16.7 ms. The next step takes at most
/// 1.7 times as long, and is then still faster than [`SLOW`], also on a display that rounds it up to 33 ms.
const FAST: Duration = Duration::from_millis(18);

/// Frame times of a period.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frames {
    /// Whether a period is over since the start or the last pause.
    has_settled: bool,
    since: Duration,
    count: u32,
    /// Sum of the frame times, each at most [`Self::MAX`].
    sum: Duration,
    real: Duration,
    game: Duration,
}

impl Frames {
    const PERIOD: Duration = Duration::from_secs(5);

    /// Time at the start of a period that is not measured, because an adjustment compiles shaders.
    const SETTLING: Duration = Duration::from_secs(2);

    /// Largest time of a frame in the mean, so that a single stall has little effect.
    const MAX: Duration = Duration::from_millis(250);

    /// A frame of this time is no slow drawing: the system has stopped the window.
    const STALL: Duration = Duration::from_secs(2);

    /// Adds a frame and the time that the game played in it. At the end of every period but the first one, returns the
    /// mean frame time, and the speed of the game in percent of real time, rounded to 5 %.
    fn add(&mut self, real: Duration, game: Duration) -> Option<(Duration, u32)> {
        self.since += real;
        if self.since > Self::SETTLING && real < Self::STALL {
            self.count += 1;
            self.sum += real.min(Self::MAX);
            self.real += real;
            self.game += game;
        }
        if self.since < Self::PERIOD {
            return None;
        }
        let ended = std::mem::replace(self, Self { has_settled: true, ..Self::default() });
        let mean = ended.sum.checked_div(ended.count).filter(|_| ended.has_settled)?;
        let speed = ended.game.as_secs_f64() / ended.real.as_secs_f64();
        Some((mean, 5 * (20.0 * speed).round() as u32))
    }
}

#[cfg(test)]
mod tests {
    use bevy::time::{TimePlugin, TimeUpdateStrategy};

    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Time of a frame: `fixed`, and the time of the pixels at full resolution with one sample.
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

    fn window(quality: Quality, detail: Detail) -> App {
        let mut app = App::new();
        app.add_plugins(TimePlugin)
            .add_message::<WindowFocused>()
            .init_resource::<Notices>()
            .init_resource::<Sharpness>()
            .init_resource::<ButtonInput<KeyCode>>()
            .insert_resource(quality)
            .insert_resource(detail)
            .add_systems(Update, adjust);
        app.world_mut().spawn((Window::default(), PrimaryWindow));
        // The first frame takes no time.
        app.update();
        app
    }

    /// Draws frames of this time for some seconds. Returns the sharpness and the speed that the window tells.
    fn after(app: &mut App, frame_ms: u64, seconds: u64) -> (usize, Option<String>) {
        app.insert_resource(TimeUpdateStrategy::ManualDuration(ms(frame_ms)));
        (0..seconds * 1_000 / frame_ms).for_each(|_| app.update());
        let Sharpness(step) = *app.world().resource();
        (step, app.world().resource::<Notices>().slow.clone())
    }

    #[test]
    fn a_window_becomes_coarser_and_sharper_but_not_while_a_key_is_held() {
        let mut app = window(Quality::Low, Detail::Low);
        assert_eq!(after(&mut app, 100, 5), (0, None), "shaders are compiled");
        app.world_mut().resource_mut::<ButtonInput<KeyCode>>().press(KeyCode::KeyZ);
        assert_eq!(after(&mut app, 100, 20), (0, None));
        app.world_mut().resource_mut::<ButtonInput<KeyCode>>().release(KeyCode::KeyZ);
        assert_eq!(after(&mut app, 100, 5).0, 3);
        assert_eq!(after(&mut app, 25, 15).0, 3);
        for step in (0..3).rev() {
            assert_eq!(after(&mut app, 10, 5).0, step);
        }
        assert_eq!(after(&mut app, 10, 5).0, 0);
    }

    #[test]
    fn only_the_automatic_quality_changes_to_low_detail() {
        let high = Detail::High { occlusion: true, is_software: false };
        for (quality, frame_ms, expected) in
            [(Quality::Auto, 50, Detail::Low), (Quality::Auto, 25, high), (Quality::High, 50, high)]
        {
            let mut app = window(quality, high);
            after(&mut app, frame_ms, 11);
            after(&mut app, 10, 11);
            assert_eq!(*app.world().resource::<Detail>(), expected, "{quality:?}, {frame_ms} ms");
        }
    }

    #[test]
    fn slow_play_is_told_until_it_is_fast_again_or_pauses() {
        let slow = |percent: u32| Some(format!("Slow graphics: playing at {percent} % speed"));
        let mut app = window(Quality::Low, Detail::Low);
        after(&mut app, 500, 5);
        assert_eq!(after(&mut app, 500, 5).1, slow(50));
        assert_eq!(after(&mut app, 625, 10).1, slow(40));
        assert_eq!(after(&mut app, 100, 6).1, None);
        assert_eq!(after(&mut app, 20, 4).1, None);
        let entity = app.world_mut().query::<(Entity, &Window)>().single(app.world()).unwrap().0;
        for (focused, told) in [(false, slow(50)), (true, slow(50)), (false, None)] {
            app.world_mut().write_message(WindowFocused { window: entity, focused });
            app.world_mut().get_mut::<Window>(entity).unwrap().focused = focused;
            assert_eq!(after(&mut app, 500, 10).1, told, "{focused}");
        }
        app.world_mut().get_mut::<Window>(entity).unwrap().focused = true;
        assert_eq!(after(&mut app, 20, 10).1, None);
        // The window was stopped, for example because it was dragged.
        assert_eq!(after(&mut app, 4_000, 8).1, None);
        assert_eq!(after(&mut app, 500, 10).1, slow(50));
        app.world_mut().resource_mut::<Time<Virtual>>().pause();
        assert_eq!(after(&mut app, 500, 1).1, None);
    }

    #[test]
    fn a_stall_counts_little() {
        let mut frames = Frames { has_settled: true, ..Frames::default() };
        let mut found = None;
        for frame in [vec![ms(1_900)], vec![ms(20); 150], vec![ms(1_900)]].concat() {
            assert_eq!(found, None);
            found = frames.add(frame, ms(20));
        }
        assert!(found.is_some_and(|(mean, _)| mean < ms(25)), "{found:?}");
    }
}
