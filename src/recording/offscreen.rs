//! The game drawn into an image, frame by frame: no window, no display server, no clock but our own.
//!
//! Nothing here waits for anything but the graphics adapter: a frame is the same however long it took.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bevy::asset::RenderAssetUsages;
use bevy::camera::{ImageRenderTarget, RenderTarget};
use bevy::log::{Level, LogPlugin};
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

use super::InputLogPlugin;
use crate::GamePlugins;
use crate::display::LOG_FILTER;
use crate::panel::SmallGraphPlugin;
use crate::view::{AppearancePlugin, Canvas, ViewPlugin};

/// Pixels at which a logical point is one.
const USUAL_SIZE: Vec2 = Vec2::new(1280.0, 720.0);

/// Type of less than half its usual size cannot be read.
const SMALLEST_SCALE: f32 = 0.5;

/// Updates in a row that must have found every shader in its place.
const WARM_UP: usize = 4;

/// How long shaders may take to be read and compiled.
const PATIENCE: Duration = Duration::from_secs(120);

/// Between two looks at whether they are.
const NAP: Duration = Duration::from_millis(5);

/// Ticks between two looks at whether Ctrl-C was pressed, each of which draws a picture.
const SKIPPED_AT_ONCE: u32 = 600;

/// Whether there is a log: a process has one, however many games it draws.
static LOGS: AtomicBool = AtomicBool::new(false);

const BYTES_A_PIXEL: usize = 4;

/// A game without a window, whose every frame can be had.
#[derive(Debug)]
pub struct OffScreen {
    /// The app, for lanes and scripts to be put in.
    pub app: App,
    image: Handle<Image>,
    buffer: Buffer,
    size: UVec2,
    frames_per_second: u32,
    /// Frames so far.
    frames: u64,
}

/// Why a frame cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum OffScreenError {
    /// The adapter cannot draw as large.
    #[error("{width}x{height}: this graphics adapter draws up to {most}x{most}")]
    TooLarge {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
        /// Pixels.
        most: u32,
    },
    /// Nothing can be drawn yet.
    #[error("the shaders are not ready after {} s", PATIENCE.as_secs())]
    NotReady,
    /// The adapter failed.
    #[error("the graphics adapter gave no picture: {0}")]
    NoPicture(String),
}

impl OffScreen {
    /// Sets up the simulation and the picture, of `frames_per_second`, at least 1. Lanes are still to be
    /// put in; nothing has moved yet.
    ///
    /// There must be an adapter: Bevy panics without one.
    ///
    /// # Errors
    /// If the adapter cannot draw a picture of `size` pixels.
    pub fn new(size: UVec2, frames_per_second: u32) -> Result<Self, OffScreenError> {
        let mut plugins = DefaultPlugins
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: ExitCondition::DontExit,
                ..default()
            })
            .set(RenderPlugin {
                // A frame that waits for a shader would lack what the shader draws.
                synchronous_pipeline_compilation: true,
                // What draws without a display.
                render_creation: WgpuSettings {
                    backends: Some(Backends::PRIMARY),
                    ..default()
                }
                .into(),
                ..default()
            })
            .set(LogPlugin {
                filter: format!("{LOG_FILTER},bevy_render=error,bevy_egui=error"),
                level: Level::WARN,
                ..default()
            })
            .disable::<WinitPlugin>()
            // With it, an update would draw the frame before.
            .disable::<PipelinedRenderingPlugin>();
        if LOGS.swap(true, Ordering::Relaxed) {
            plugins = plugins.disable::<LogPlugin>();
        }
        let mut app = App::new();
        app.add_plugins((
            plugins,
            EguiPlugin::default(),
            GamePlugins,
            InputLogPlugin,
            ViewPlugin,
            AppearancePlugin,
            SmallGraphPlugin,
        ))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
        // A frame may take as long as it is: at one a second, sixty ticks.
        let mut clock = app.world_mut().resource_mut::<Time<Virtual>>();
        clock.set_max_delta(Duration::MAX);
        app.finish();
        app.cleanup();

        let device = app.world().resource::<RenderDevice>();
        let most = device.limits().max_texture_dimension_2d;
        if size.max_element() > most {
            return Err(OffScreenError::TooLarge {
                width: size.x,
                height: size.y,
                most,
            });
        }
        let row = RenderDevice::align_copy_bytes_per_row(size.x as usize * BYTES_A_PIXEL);
        let bytes = (row * size.y as usize) as u64;
        if bytes > device.limits().max_buffer_size {
            return Err(OffScreenError::NoPicture(format!(
                "{bytes} bytes are too many to be read at once"
            )));
        }
        let buffer = device.create_buffer(&BufferDescriptor {
            label: Some("frame"),
            size: bytes,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut image = Image::new_uninit(
            Extent3d {
                width: size.x,
                height: size.y,
                depth_or_array_layers: 1,
            },
            TextureDimension::D2,
            TextureFormat::Rgba8UnormSrgb,
            RenderAssetUsages::RENDER_WORLD,
        );
        image.texture_descriptor.usage |=
            TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        let image = app.world_mut().resource_mut::<Assets<Image>>().add(image);
        let scale_factor = (size.as_vec2() / USUAL_SIZE).min_element();
        let scale_factor = scale_factor.max(SMALLEST_SCALE);
        app.insert_resource(Canvas {
            target: RenderTarget::Image(ImageRenderTarget {
                handle: image.clone(),
                scale_factor,
            }),
            size,
            scale_factor,
        });
        Ok(Self {
            app,
            image,
            buffer,
            size,
            frames_per_second,
            frames: 0,
        })
    }

    /// Plays that many ticks, which are not to be seen, unless Ctrl-C is pressed.
    pub fn skip(&mut self, ticks: u64) {
        let mut left = ticks;
        while left > 0 && self.app.should_exit().is_none() {
            let now = left.min(SKIPPED_AT_ONCE.into());
            let mut clock = self.app.world_mut().resource_mut::<Time<Fixed>>();
            let duration = clock.timestep() * now as u32;
            clock.accumulate_overstep(duration);
            self.app.update();
            left -= now;
        }
    }

    /// Draws until everything is there; time stands still.
    ///
    /// # Errors
    /// If the shaders are not read and compiled in two minutes.
    pub fn warm_up(&mut self) -> Result<(), OffScreenError> {
        let start = Instant::now();
        let mut ready = 0;
        while ready < WARM_UP {
            self.app.update();
            let render = self.app.sub_app(RenderApp).world();
            let mut waiting = render.resource::<PipelineCache>().waiting_pipelines();
            // A shader that is still being read is no error, and what it draws is left out.
            if waiting.next().is_none() {
                ready += 1;
            } else if start.elapsed() > PATIENCE {
                return Err(OffScreenError::NotReady);
            } else {
                ready = 0;
                thread::sleep(NAP);
            }
        }
        Ok(())
    }

    /// Goes on by a frame and reads it: RGBA, a byte each, rows from the top.
    ///
    /// # Errors
    /// If the adapter fails.
    pub fn frame(&mut self) -> Result<Vec<u8>, OffScreenError> {
        let tick = self.app.world().resource::<Time<Fixed>>().timestep();
        let due = |frame| due(frame, self.frames_per_second, tick);
        let step = due(self.frames + 1) - due(self.frames);
        self.frames += 1;
        self.app
            .insert_resource(TimeUpdateStrategy::ManualDuration(step));
        self.app.update();
        self.read()
    }

    fn read(&self) -> Result<Vec<u8>, OffScreenError> {
        let no_picture = |why: String| OffScreenError::NoPicture(why);
        let render = self.app.sub_app(RenderApp).world();
        let device = render.resource::<RenderDevice>();
        let queue = render.resource::<RenderQueue>();
        let images = render.resource::<RenderAssets<GpuImage>>();
        let image = images
            .get(&self.image)
            .ok_or_else(|| no_picture("nothing was drawn".to_owned()))?;
        let row = RenderDevice::align_copy_bytes_per_row(self.size.x as usize * BYTES_A_PIXEL);
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
            // The receiver is there until it has got this.
            let _ = sender.send(result);
        });
        device
            .poll(PollType::wait_indefinitely())
            .map_err(|error| no_picture(error.to_string()))?;
        receiver
            .recv()
            .map_err(|error| no_picture(error.to_string()))?
            .map_err(|error| no_picture(error.to_string()))?;
        let padded = slice.get_mapped_range();
        let mut frame = Vec::with_capacity(self.size.element_product() as usize * BYTES_A_PIXEL);
        for row in padded.chunks_exact(row) {
            frame.extend_from_slice(&row[..self.size.x as usize * BYTES_A_PIXEL]);
        }
        drop(padded);
        self.buffer.unmap();
        Ok(frame)
    }
}

/// When a frame is due: at 60 a second each of them is a tick later, and at any rate a second has
/// sixty ticks, none of which is missed by what a tick's length is rounded by.
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
                assert_eq!(
                    due.as_nanos() / tick.as_nanos(),
                    60 * u128::from(second),
                    "{rate}"
                );
                assert_eq!(due.as_nanos() % tick.as_nanos(), 0, "{rate}");
            }
        }
        for frame in 0..100 {
            assert_eq!(due(frame, 60, tick), tick * frame as u32);
            assert_eq!(due(frame, 20, tick), tick * 3 * frame as u32);
        }
    }
}
