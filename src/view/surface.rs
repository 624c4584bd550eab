//! The material of everything that a pane draws: Bevy's with all its effects, or at low detail a plain one that is
//! fast on software renderers.

use bevy::asset::embedded_asset;
use bevy::mesh::MeshVertexBufferLayoutRef;
use bevy::pbr::{
    ExtendedMaterial, MaterialExtension, MaterialExtensionKey, MaterialExtensionPipeline,
};
use bevy::prelude::*;
use bevy::render::render_resource::{
    AsBindGroup, RenderPipelineDescriptor, SpecializedMeshPipelineError,
};
use bevy::shader::ShaderRef;

use super::quality::Detail;

/// A [`StandardMaterial`] that the level of detail makes plain. One type for both, so that entities keep their
/// components when the detail changes.
pub(super) type Surface = ExtendedMaterial<StandardMaterial, Plain>;

/// Whether a material is drawn without highlights, with one light and one shadow sample.
#[derive(Asset, AsBindGroup, TypePath, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[bind_group_data(Plain)]
pub(super) struct Plain {
    is_plain: bool,
}

/// The pipeline key of the material.
impl From<&Self> for Plain {
    fn from(plain: &Self) -> Self {
        *plain
    }
}

impl MaterialExtension for Plain {
    fn fragment_shader() -> ShaderRef {
        "embedded://cubewire/view/surface.wgsl".into()
    }

    fn specialize(
        _: &MaterialExtensionPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: MaterialExtensionKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        if let Some(fragment) =
            descriptor.fragment.as_mut().filter(|_| key.bind_group_data.is_plain)
        {
            fragment.shader_defs.push("IS_PLAIN".into());
        }
        Ok(())
    }
}

pub(super) struct SurfacePlugin;

impl Plugin for SurfacePlugin {
    fn build(&self, app: &mut App) {
        embedded_asset!(app, "surface.wgsl");
        app.add_plugins(MaterialPlugin::<Surface>::default());
    }
}

pub(super) fn surface(base: StandardMaterial) -> Surface {
    Surface { base, extension: Plain::default() }
}

/// Makes all materials plain at low detail, and Bevy's at high detail.
pub(super) fn set_detail(detail: Res<Detail>, mut surfaces: ResMut<Assets<Surface>>) {
    let is_plain = *detail == Detail::Low;
    for (_, surface) in surfaces.iter_mut() {
        surface.extension = Plain { is_plain };
    }
}
