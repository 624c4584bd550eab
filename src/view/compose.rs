//! Copies the pictures of the cameras to their areas on the canvas, with one draw call for each and without egui.

use bevy::camera::CameraOutputMode;
use bevy::core_pipeline::blit::{BlitPipeline, BlitPipelineKey, init_blit_pipeline};
use bevy::core_pipeline::core_2d::main_transparent_pass_2d;
use bevy::core_pipeline::{Core2d, Core2dSystems};
use bevy::prelude::*;
use bevy::render::camera::ExtractedCamera;
use bevy::render::extract_component::ExtractComponentPlugin;
use bevy::render::render_resource::binding_types::{sampler, texture_2d};
use bevy::render::render_resource::{
    BindGroupLayoutDescriptor, BindGroupLayoutEntries, CachedRenderPipelineId, FilterMode,
    PipelineCache, RenderPassDescriptor, SamplerBindingType, SamplerDescriptor, ShaderStages,
    SpecializedRenderPipeline, TextureFormat, TextureSampleType,
};
use bevy::render::renderer::{RenderContext, RenderDevice, ViewQuery};
use bevy::render::view::ViewTarget;
use bevy::render::{Render, RenderApp, RenderStartup, RenderSystems};

use super::panes::Pane;

/// Returns the camera of a [`Pane`]. Its picture stays in the camera's own texture, which [`compose`] reads. Bevy skips a
/// camera without output that clears its texture. Sky and floor cover the whole picture, so it needs no clearing.
pub(super) fn source() -> Camera {
    Camera { output_mode: CameraOutputMode::Skip, clear_color: ClearColorConfig::None, ..default() }
}

pub(super) struct ComposePlugin;

impl Plugin for ComposePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(ExtractComponentPlugin::<Pane>::default());
        let Some(render) = app.get_sub_app_mut(RenderApp) else { return };
        render
            .add_systems(RenderStartup, set_up.after(init_blit_pipeline))
            .add_systems(Render, queue.in_set(RenderSystems::Prepare))
            .add_systems(
                Core2d,
                compose.in_set(Core2dSystems::MainPass).after(main_transparent_pass_2d),
            );
    }
}

/// Bevy's pipeline that copies a texture, with a filter for pictures that are larger or smaller than their area.
#[derive(Resource)]
struct Composer {
    blit: BlitPipeline,
    /// The pipeline for the format of the canvas.
    pipeline: Option<(TextureFormat, CachedRenderPipelineId)>,
}

fn set_up(mut commands: Commands, device: Res<RenderDevice>, bevy: Res<BlitPipeline>) {
    let layout = BindGroupLayoutEntries::sequential(
        ShaderStages::FRAGMENT,
        (
            texture_2d(TextureSampleType::Float { filterable: true }),
            sampler(SamplerBindingType::Filtering),
        ),
    );
    let linear = SamplerDescriptor {
        mag_filter: FilterMode::Linear,
        min_filter: FilterMode::Linear,
        ..default()
    };
    let blit = BlitPipeline {
        layout: BindGroupLayoutDescriptor::new("pane", &layout),
        sampler: device.create_sampler(&linear),
        fullscreen_shader: bevy.fullscreen_shader.clone(),
        fragment_shader: bevy.fragment_shader.clone(),
    };
    commands.insert_resource(Composer { blit, pipeline: None });
}

/// Queues a pipeline for the format of the canvas.
fn queue(
    mut composer: ResMut<Composer>,
    pipelines: Res<PipelineCache>,
    canvas: Single<&ViewTarget, Without<Pane>>,
) {
    let target_format = canvas.main_texture_format();
    if composer.pipeline.is_none_or(|(format, _)| format != target_format) {
        let key =
            BlitPipelineKey { target_format, blend_state: None, samples: 1, source_space: None };
        let id = pipelines.queue_render_pipeline(composer.blit.specialize(key));
        composer.pipeline = Some((target_format, id));
    }
}

fn compose(
    view: ViewQuery<(&ViewTarget, &ExtractedCamera)>,
    panes: Query<(&Pane, &ViewTarget), With<ExtractedCamera>>,
    composer: Res<Composer>,
    pipelines: Res<PipelineCache>,
    mut context: RenderContext,
) {
    let (canvas, camera) = view.into_inner();
    let pipeline = composer.pipeline.and_then(|(_, id)| pipelines.get_render_pipeline(id));
    let (Some(pipeline), Some(size)) = (pipeline, camera.physical_target_size) else { return };
    let bind = |target: &ViewTarget| {
        let picture = target.main_texture_view();
        composer.blit.create_bind_group(context.render_device(), picture, &pipelines)
    };
    let panes: Vec<_> = panes.iter().map(|(pane, target)| (pane.area, bind(target))).collect();
    let mut pass = context.command_encoder().begin_render_pass(&RenderPassDescriptor {
        label: Some("panes"),
        color_attachments: &[Some(canvas.get_unsampled_color_attachment())],
        ..default()
    });
    pass.set_pipeline(pipeline);
    for (area, picture) in &panes {
        // While the window is resized, the area can exceed it for one frame.
        let area = area.intersect(URect { min: UVec2::ZERO, max: size });
        if !area.is_empty() {
            let [x, y] = area.min.as_vec2().to_array();
            let [width, height] = area.size().as_vec2().to_array();
            pass.set_viewport(x, y, width, height, 0.0, 1.0);
            pass.set_bind_group(0, picture, &[]);
            pass.draw(0..3, 0..1);
        }
    }
}
