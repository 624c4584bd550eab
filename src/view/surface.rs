//! The material of everything that a pane draws: Bevy's with all its effects, or at low detail a plain one that is
//! fast on software renderers.

use std::collections::HashMap;

use bevy::asset::embedded_asset;
use bevy::mesh::MeshVertexBufferLayoutRef;
use bevy::pbr::{MaterialPipeline, MaterialPipelineKey};
use bevy::prelude::*;
use bevy::render::render_resource::{
    AsBindGroup, Face, RenderPipelineDescriptor, SpecializedMeshPipelineError,
};
use bevy::shader::ShaderRef;

use super::quality::Detail;

/// Material of an entity at high detail. [`dress`] inserts the component that Bevy draws.
#[derive(Component, Clone, Debug, PartialEq, Eq)]
pub(super) struct Surface(pub(super) Handle<StandardMaterial>);

/// Version of a [`StandardMaterial`] for low detail, without highlights, with one light and one shadow sample.
#[derive(Asset, AsBindGroup, TypePath, Clone, Debug)]
#[bind_group_data(PlainKey)]
pub(super) struct Plain {
    #[uniform(0)]
    color: LinearRgba,
    #[uniform(0)]
    emissive: LinearRgba,
    #[texture(1)]
    #[sampler(2)]
    texture: Option<Handle<Image>>,
    key: PlainKey,
}

/// Settings that select the compiled shader. If the uniform had them, llvmpipe would compile the shader again for each new
/// combination, in every frame, and keep the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PlainKey {
    is_lit: bool,
    has_fog: bool,
    has_texture: bool,
    cull_mode: Option<Face>,
    depth_bias: i32,
}

impl From<&Plain> for PlainKey {
    fn from(plain: &Plain) -> Self {
        plain.key
    }
}

impl From<&StandardMaterial> for Plain {
    fn from(material: &StandardMaterial) -> Self {
        Self {
            color: material.base_color.to_linear(),
            emissive: material.emissive,
            texture: material.base_color_texture.clone(),
            key: PlainKey {
                is_lit: !material.unlit,
                has_fog: material.fog_enabled,
                has_texture: material.base_color_texture.is_some(),
                cull_mode: material.cull_mode,
                depth_bias: material.depth_bias as i32,
            },
        }
    }
}

impl Material for Plain {
    fn fragment_shader() -> ShaderRef {
        "embedded://cubewire/view/surface.wgsl".into()
    }

    fn depth_bias(&self) -> f32 {
        self.key.depth_bias as f32
    }

    fn specialize(
        _: &MaterialPipeline,
        descriptor: &mut RenderPipelineDescriptor,
        _: &MeshVertexBufferLayoutRef,
        key: MaterialPipelineKey<Self>,
    ) -> Result<(), SpecializedMeshPipelineError> {
        let key = key.bind_group_data;
        descriptor.primitive.cull_mode = key.cull_mode;
        if let Some(depth) = &mut descriptor.depth_stencil {
            depth.bias.constant = key.depth_bias;
        }
        if let Some(fragment) = &mut descriptor.fragment {
            let all = [(key.is_lit, "LIT"), (key.has_fog, "FOG"), (key.has_texture, "TEXTURE")];
            let wanted = all.into_iter().filter(|(is_wanted, _)| *is_wanted);
            fragment.shader_defs.extend(wanted.map(|(_, name)| name.into()));
        }
        Ok(())
    }
}

pub(super) struct SurfacePlugin;

impl Plugin for SurfacePlugin {
    fn build(&self, app: &mut App) {
        embedded_asset!(app, "surface.wgsl");
        app.add_plugins(MaterialPlugin::<Plain>::default()).init_resource::<PlainVersions>();
    }
}

/// Plain versions of the materials, one each, so that entities with the same material are drawn together.
#[derive(Resource, Debug, Default)]
pub(super) struct PlainVersions(HashMap<AssetId<StandardMaterial>, Handle<Plain>>);

/// Copies changed materials to their plain versions.
pub(super) fn simplify(
    mut changes: MessageReader<AssetEvent<StandardMaterial>>,
    materials: Res<Assets<StandardMaterial>>,
    versions: Res<PlainVersions>,
    mut plain: ResMut<Assets<Plain>>,
) {
    for change in changes.read() {
        if let AssetEvent::Modified { id } = change
            && let (Some(material), Some(version)) = (materials.get(*id), versions.0.get(id))
            && let Some(mut plain) = plain.get_mut(version)
        {
            *plain = material.into();
        }
    }
}

type Dressed<'a> = (
    Entity,
    Ref<'a, Surface>,
    Option<&'a mut MeshMaterial3d<StandardMaterial>>,
    Option<&'a mut MeshMaterial3d<Plain>>,
);

/// Gives each entity with a changed [`Surface`] the material of the level of detail, and all of them if the level
/// changes. An entity never has both materials.
pub(super) fn dress(
    detail: Res<Detail>,
    materials: Res<Assets<StandardMaterial>>,
    mut versions: ResMut<PlainVersions>,
    mut plain: ResMut<Assets<Plain>>,
    mut commands: Commands,
    mut surfaces: Query<Dressed<'_>>,
) {
    for (entity, surface, worn, worn_plain) in &mut surfaces {
        if !(surface.is_changed() || detail.is_changed()) {
            continue;
        }
        let id = surface.0.id();
        if *detail != Detail::Low {
            wear::<_, Plain>(commands.entity(entity), worn, &surface.0);
        } else if let Some(material) = materials.get(id) {
            let version = versions.0.entry(id).or_insert_with(|| plain.add(Plain::from(material)));
            wear::<_, StandardMaterial>(commands.entity(entity), worn_plain, version);
        }
    }
}

/// Gives an entity a material instead of the one that it has, of the same or the other type.
fn wear<Wanted: Material, Other: Material>(
    mut entity: EntityCommands<'_>,
    worn: Option<Mut<'_, MeshMaterial3d<Wanted>>>,
    wanted: &Handle<Wanted>,
) {
    match worn {
        Some(mut worn) => worn.0 = wanted.clone(),
        None => {
            entity.remove::<MeshMaterial3d<Other>>().insert(MeshMaterial3d(wanted.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_has_the_one_material_of_the_detail_and_shares_it() {
        let mut app = App::new();
        app.add_message::<AssetEvent<StandardMaterial>>()
            .init_resource::<Assets<StandardMaterial>>()
            .init_resource::<Assets<Plain>>()
            .init_resource::<PlainVersions>()
            .init_resource::<Detail>()
            .add_systems(Update, (dress, simplify).chain());
        let mut materials = app.world_mut().resource_mut::<Assets<StandardMaterial>>();
        let material = materials.add(StandardMaterial { unlit: true, ..default() });
        let cubes = [0; 2].map(|_| app.world_mut().spawn(Surface(material.clone())).id());
        let high = Detail::High { occlusion: false, is_software: false };
        for detail in [Detail::Low, high, Detail::Low] {
            app.insert_resource(detail);
            app.update();
            let plain = cubes.map(|cube| app.world().get::<MeshMaterial3d<Plain>>(cube));
            let full = cubes.map(|cube| app.world().get::<MeshMaterial3d<StandardMaterial>>(cube));
            let is_low = detail == Detail::Low;
            assert_eq!(plain.map(|worn| worn.is_some()), [is_low; 2]);
            assert_eq!(full.map(|worn| worn.is_some()), [!is_low; 2]);
            assert_eq!(plain[0], plain[1]);
        }
        let mut materials = app.world_mut().resource_mut::<Assets<StandardMaterial>>();
        materials.get_mut(&material).unwrap().base_color = Color::BLACK;
        app.world_mut().write_message(AssetEvent::Modified { id: material.id() });
        app.update();
        let worn = app.world().get::<MeshMaterial3d<Plain>>(cubes[0]).unwrap();
        let plain = app.world().resource::<Assets<Plain>>().get(worn).unwrap();
        assert_eq!((plain.color, plain.key.is_lit), (LinearRgba::BLACK, false));
    }
}
