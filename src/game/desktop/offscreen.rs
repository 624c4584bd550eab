//! The game rendered offscreen frame by frame, without a window or display server.
//!
//! A manual clock makes the frames independent of the rendering time.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bevy::app::{PluginGroupBuilder, TerminalCtrlCHandlerPlugin};
use bevy::asset::RenderAssetUsages;
use bevy::camera::{ImageRenderTarget, RenderTarget};
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, BufferUsages, CommandEncoderDescriptor, Extent3d, MapMode,
    PipelineCache, PollType, TexelCopyBufferInfo, TexelCopyBufferLayout, TextureDimension,
    TextureFormat, TextureUsages,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::settings::{Backends, WgpuSettings};
use bevy::render::texture::GpuImage;
use bevy::render::{RenderApp, RenderPlugin};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use bevy_egui::EguiPlugin;
use cubewire_scene::TICKS_PER_SECOND;

use super::stop::StopPlugin;
use crate::display::log_plugin;
use crate::game::{Failure, GamePlugin};
use crate::panel::PanelPlugin;
use crate::recording::InputLogPlugin;
use crate::replication::{Ablation, LiveLadder};
use crate::view::{AppearancePlugin, Canvas, ViewPlugin, settle_cameras};

/// Film size with scale factor 1, pixels.
const REFERENCE_SIZE: Vec2 = Vec2::new(960.0, 540.0);

/// Minimum scale factor. Smaller type is not readable.
const MIN_SCALE: f32 = 0.5;

/// Number of consecutive updates without a pending shader after which all shaders count as ready.
const WARM_UP_UPDATES: usize = 4;

const SHADER_TIMEOUT: Duration = Duration::from_secs(120);

const SHADER_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Maximum number of ticks to skip in one update. Each update checks for signals, but also draws a frame.
const SKIPPED_PER_UPDATE: u32 = 600;

/// Whether logging is set up. A process can do this only once, for all its games.
static LOGS: AtomicBool = AtomicBool::new(false);

/// Tells all renderers of this process that a window has set up logging.
pub(crate) fn keep_logs() {
    LOGS.store(true, Ordering::Relaxed);
}

pub(super) const BYTES_PER_PIXEL: usize = 4;

/// A game without a window that renders to readable frames.
pub struct OffScreen {
    pub app: App,
    image: Handle<Image>,
    buffer: Buffer,
    size: UVec2,
    frames_per_second: u32,
    frames: u64,
}

impl OffScreen {
    /// Sets up the game at tick 0 without lanes, drawn with `size` pixels and `frames_per_second`, at least 1.
    ///
    /// # Errors
    /// If the adapter does not support the size.
    ///
    /// # Panics
    /// In Bevy, if there is no graphics adapter.
    pub fn new(size: UVec2, frames_per_second: u32, interface: Interface) -> Result<Self, Failure> {
        let mut app = App::new();
        app.add_plugins((plugins(), StopPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
        add_game(&mut app, interface);
        // Bevy's limit per frame is too short for low frame rates: at 1 frame per second, a frame spans 60 ticks.
        let mut clock = app.world_mut().resource_mut::<Time<Virtual>>();
        clock.set_max_delta(Duration::MAX);
        app.finish();
        app.cleanup();

        let device = app.world().resource::<RenderDevice>();
        let max = device.limits().max_texture_dimension_2d;
        if size.max_element() > max {
            let UVec2 { x, y } = size;
            let limit = format!("the limit of this graphics adapter is {max}x{max}");
            return Err(format!("{x}x{y}: {limit}").into());
        }
        let row = RenderDevice::align_copy_bytes_per_row(size.x as usize * BYTES_PER_PIXEL);
        let bytes = (row * size.y as usize) as u64;
        if bytes > device.limits().max_buffer_size {
            let why = format!("a frame of {bytes} bytes exceeds the adapter's buffer size");
            return Err(no_frame(why).into());
        }
        let buffer = device.create_buffer(&BufferDescriptor {
            label: Some("frame"),
            size: bytes,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut images = app.world_mut().resource_mut::<Assets<Image>>();
        let mut image = Image::new_uninit(
            Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 },
            TextureDimension::D2,
            TextureFormat::Rgba8UnormSrgb,
            RenderAssetUsages::RENDER_WORLD,
        );
        image.texture_descriptor.usage |=
            TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        let image = images.add(image);
        let of_film = |whole: UVec2| (whole.as_vec2() / REFERENCE_SIZE).min_element();
        let scale_factor = match interface {
            Interface::Film { whole } => of_film(whole).max(MIN_SCALE),
            Interface::Past => of_film(size).max(MIN_SCALE),
            // The panel chooses its scale itself, as in a window.
            Interface::Panel => 1.0,
        };
        app.insert_resource(Canvas {
            target: RenderTarget::Image(ImageRenderTarget { handle: image.clone(), scale_factor }),
            size,
            scale_factor,
        });
        Ok(Self { app, image, buffer, size, frames_per_second, frames: 0 })
    }

    /// Plays `ticks` ticks without showing them. Stops early if the program receives a signal.
    pub fn skip(&mut self, ticks: u64) {
        let mut left = ticks;
        while left > 0 && self.app.should_exit().is_none() {
            let now = left.min(SKIPPED_PER_UPDATE.into());
            let mut clock = self.app.world_mut().resource_mut::<Time<Fixed>>();
            let duration = clock.timestep() * now as u32;
            clock.accumulate_overstep(duration);
            self.app.update();
            left -= now;
        }
        settle_cameras(self.app.world_mut());
    }

    /// Draws until all shaders are ready, without advancing time. Stops early if the program receives a signal.
    ///
    /// # Errors
    /// If the shaders are not loaded and compiled within two minutes.
    pub fn warm_up(&mut self) -> Result<(), Failure> {
        let start = Instant::now();
        let mut ready = 0;
        while ready < WARM_UP_UPDATES {
            self.app.update();
            let render = self.app.sub_app(RenderApp).world();
            let mut waiting = render.resource::<PipelineCache>().waiting_pipelines();
            // Until a shader is ready, Bevy leaves out its meshes without an error.
            if waiting.next().is_none() {
                ready += 1;
            } else if self.app.should_exit().is_some() {
                return Ok(());
            } else if start.elapsed() > SHADER_TIMEOUT {
                let seconds = SHADER_TIMEOUT.as_secs();
                return Err(format!("the shaders are not ready after {seconds} s").into());
            } else {
                ready = 0;
                thread::sleep(SHADER_POLL_INTERVAL);
            }
        }
        Ok(())
    }

    /// Advances by one frame and returns it: RGBA, one byte per channel, rows from the top.
    pub fn frame(&mut self) -> Result<Vec<u8>, Failure> {
        let tick = self.app.world().resource::<Time<Fixed>>().timestep();
        let due = |frame| due(frame, self.frames_per_second, tick);
        let step = due(self.frames + 1) - due(self.frames);
        self.frames += 1;
        self.draw(step)
    }

    /// Draws a frame `step` later than the last one, and reads it back.
    pub(super) fn draw(&mut self, step: Duration) -> Result<Vec<u8>, Failure> {
        self.app.insert_resource(TimeUpdateStrategy::ManualDuration(step));
        self.app.update();
        let render = self.app.sub_app(RenderApp).world();
        let device = render.resource::<RenderDevice>();
        let queue = render.resource::<RenderQueue>();
        let images = render.resource::<RenderAssets<GpuImage>>();
        let image = images.get(&self.image).ok_or_else(|| no_frame("the image is missing"))?;
        let row = RenderDevice::align_copy_bytes_per_row(self.size.x as usize * BYTES_PER_PIXEL);
        let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
        encoder.copy_texture_to_buffer(
            image.texture.as_image_copy(),
            TexelCopyBufferInfo {
                buffer: &self.buffer,
                layout: TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row as u32),
                    rows_per_image: None,
                },
            },
            image.texture_descriptor.size,
        );
        queue.submit([encoder.finish()]);
        let slice = self.buffer.slice(..);
        let (sender, receiver) = std::sync::mpsc::channel();
        slice.map_async(MapMode::Read, move |result| {
            // The receiver lives until it has received this message.
            let _ = sender.send(result);
        });
        device.poll(PollType::wait_indefinitely()).map_err(no_frame)?;
        receiver.recv().map_err(no_frame)?.map_err(no_frame)?;
        let padded = slice.get_mapped_range();
        let mut frame = Vec::with_capacity(self.size.element_product() as usize * BYTES_PER_PIXEL);
        for row in padded.chunks_exact(row) {
            frame.extend_from_slice(&row[..self.size.x as usize * BYTES_PER_PIXEL]);
        }
        drop(padded);
        self.buffer.unmap();
        Ok(frame)
    }
}

fn no_frame(why: impl Display) -> String {
    format!("the graphics adapter failed to draw a frame: {why}")
}

fn plugins() -> PluginGroupBuilder {
    let mut plugins = DefaultPlugins
        .set(WindowPlugin {
            primary_window: None,
            exit_condition: ExitCondition::DontExit,
            ..default()
        })
        .set(RenderPlugin {
            // With asynchronous compilation, meshes of pending shaders would be missing.
            synchronous_pipeline_compilation: true,
            // Backends that work without a display.
            render_creation: WgpuSettings { backends: Some(Backends::PRIMARY), ..default() }.into(),
            ..default()
        })
        .set(log_plugin())
        // `StopPlugin` handles more signals than Ctrl-C.
        .disable::<TerminalCtrlCHandlerPlugin>()
        .disable::<WinitPlugin>()
        // With pipelined rendering, an update would draw the previous frame.
        .disable::<PipelinedRenderingPlugin>();
    if LOGS.swap(true, Ordering::Relaxed) {
        plugins = plugins.disable::<LogPlugin>();
    }
    plugins
}

/// Interface over the scene, in addition to captions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    Film {
        /// Size of the whole film in pixels, which sets the scale factor. The frame can be one of its columns.
        whole: UVec2,
    },
    /// As [`Film`](Self::Film), without a game: for films of the past.
    Past,
    Panel,
}

/// Adds everything that is rendered offscreen except Bevy's default plugins, which must already be there.
pub fn add_game(app: &mut App, interface: Interface) {
    app.add_plugins(EguiPlugin::default());
    match interface {
        Interface::Past => {
            app.insert_resource(Time::<Fixed>::from_hz(f64::from(TICKS_PER_SECOND)));
        }
        _ => {
            app.add_plugins((GamePlugin, InputLogPlugin));
        }
    }
    app.add_plugins((ViewPlugin, AppearancePlugin));
    if interface == Interface::Panel {
        app.add_plugins(PanelPlugin::default()).add_systems(FixedLast, finish_ablations);
    }
}

/// Encodes every tick without each stage. Offscreen there is no frame time to keep, so no tick is skipped.
fn finish_ablations(mut lanes: Query<(&mut Ablation, &mut LiveLadder)>) -> Result {
    for (mut ablation, mut ladder) in &mut lanes {
        ladder.wait()?;
        ablation.finish()?;
    }
    Ok(())
}

/// Time of a frame, computed from whole ticks of rounded length. At 60 frames per second each frame is exactly one tick
/// later, and at any rate one second of film has 60 ticks.
fn due(frame: u64, frames_per_second: u32, tick: Duration) -> Duration {
    let ticks = u128::from(frame) * u128::from(TICKS_PER_SECOND);
    let nanos = (ticks * tick.as_nanos()).div_ceil(frames_per_second.max(1).into());
    Duration::from_nanos_u128(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_has_sixty_ticks_a_second() {
        let tick = Duration::from_nanos(16_666_667);
        for rate in 1..=240 {
            for second in [1, 10, 3_600] {
                let due = due(second * u64::from(rate), rate, tick);
                assert_eq!(due.as_nanos() / tick.as_nanos(), 60 * u128::from(second), "{rate}");
                assert_eq!(due.as_nanos() % tick.as_nanos(), 0, "{rate}");
            }
        }
        for frame in 0..100 {
            assert_eq!(due(frame, 60, tick), tick * frame as u32);
            assert_eq!(due(frame, 20, tick), tick * 3 * frame as u32);
        }
    }
}
