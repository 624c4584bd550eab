//! The appearance of both worlds: cubes, floor, light.

use bevy::asset::AssetEventSystems;
use bevy::camera::CameraUpdateSystems;
use bevy::camera::visibility::{NoFrustumCulling, RenderLayers};
use bevy::light::{CascadeShadowConfigBuilder, GlobalAmbientLight, NotShadowCaster};
use bevy::prelude::*;
use bevy_egui::{EguiPostUpdateSet, EguiPrimaryContextPass};
use cubewire_scene::{PLAYER, WALL};

use super::camera::{self, SHARED};
use super::floor::{self, TILE_METRES};
use super::{Canvas, Notices, Side, ViewCube, ViewMode, ViewSystems, canvas, overlay, trails};

/// Position of the sun, which shines towards the origin.
const SUN: Vec3 = Vec3::new(25.0, -50.0, 100.0);
const SUN_LUX: f32 = 9_000.0;
const AMBIENT: f32 = 900.0;

const SKY: Color = Color::srgb(0.80, 0.84, 0.88);
const GREY: Color = Color::srgb(0.72, 0.73, 0.75);
const RED: Color = Color::srgb(0.84, 0.16, 0.12);
const PLAYER_COLOUR: Color = Color::srgb(0.06, 0.32, 0.72);

/// Opacity of the replica in the difference view.
const TRANSLUCENT: f32 = 0.45;

/// Draws the cubes of [`super::ViewPlugin`] on the [`Canvas`].
#[derive(Debug)]
pub struct AppearancePlugin;

impl Plugin for AppearancePlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(ClearColor(SKY))
            .insert_resource(GlobalAmbientLight {
                brightness: AMBIENT,
                ..default()
            })
            .init_resource::<camera::Orbit>()
            .init_resource::<Canvas>()
            .init_resource::<overlay::Overlay>()
            .init_resource::<Notices>()
            .add_systems(Startup, (camera::spawn, trails::spawn).chain())
            .add_systems(PostStartup, spawn_scene)
            .add_systems(Update, camera::orbit)
            .add_systems(
                PostUpdate,
                (
                    (canvas::follow_window, camera::place).chain(),
                    colour,
                    // Both move things, both hide things.
                    (camera::follow, trails::show).chain(),
                    light.before(trails::show),
                    overlay::notice,
                )
                    .in_set(ViewSystems::Follow)
                    .before(CameraUpdateSystems),
            )
            // Else a glyph is missing in the first frame that needs it.
            .configure_sets(
                PostUpdate,
                EguiPostUpdateSet::PostProcessOutput.before(AssetEventSystems),
            )
            .add_systems(
                EguiPrimaryContextPass,
                overlay::draw.in_set(ViewSystems::Overlay),
            );
    }
}

/// Materials of the cubes: opaque, then translucent.
#[derive(Resource, Debug)]
struct Paint {
    grey: [Handle<StandardMaterial>; 2],
    red: [Handle<StandardMaterial>; 2],
    player: [Handle<StandardMaterial>; 2],
}

impl Paint {
    fn of(&self, cube: &ViewCube, translucent: bool) -> &Handle<StandardMaterial> {
        let paints = match (cube.index, cube.interacting) {
            (PLAYER, _) => &self.player,
            (_, true) => &self.red,
            (_, false) => &self.grey,
        };
        &paints[usize::from(translucent)]
    }
}

/// Adds meshes to the cubes, and spawns floor and suns.
fn spawn_scene(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut images: ResMut<Assets<Image>>,
    cubes: Query<(Entity, &Side, &ViewCube)>,
) {
    let mut paint = |colour: Color| {
        [1.0, TRANSLUCENT].map(|alpha| {
            materials.add(StandardMaterial {
                base_color: colour.with_alpha(alpha),
                alpha_mode: if alpha < 1.0 {
                    AlphaMode::Blend
                } else {
                    AlphaMode::Opaque
                },
                perceptual_roughness: 0.85,
                reflectance: 0.2,
                // Drawn in front of the simulation's cube if both are at the same place.
                depth_bias: if alpha < 1.0 { 8.0 } else { 0.0 },
                ..default()
            })
        })
    };
    let paint = Paint {
        grey: paint(GREY),
        red: paint(RED),
        player: paint(PLAYER_COLOUR),
    };
    // A unit cube: the transform scales it to the side length.
    let cube_mesh = meshes.add(Cuboid::from_length(1.0));
    for (entity, side, cube) in &cubes {
        commands.entity(entity).insert((
            Mesh3d(cube_mesh.clone()),
            MeshMaterial3d(paint.of(cube, false).clone()),
            RenderLayers::layer(side.layer()),
        ));
    }
    commands.insert_resource(paint);

    let size = 2.0 * WALL;
    let mut plane = Plane3d::new(Vec3::Z, Vec2::splat(WALL)).mesh().build();
    if let Some(bevy::mesh::VertexAttributeValues::Float32x2(uvs)) =
        plane.attribute_mut(Mesh::ATTRIBUTE_UV_0)
    {
        for uv in uvs {
            // The centre of the floor is the corner of a tile.
            *uv = uv.map(|at| (at - 0.5) * size / TILE_METRES);
        }
    }
    if let Err(error) = plane.generate_tangents() {
        debug!("the floor has no tangents: {error}");
    }
    commands.spawn((
        Mesh3d(meshes.add(plane)),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color_texture: Some(images.add(floor::tile())),
            perceptual_roughness: 1.0,
            reflectance: 0.0,
            ..default()
        })),
        NoFrustumCulling,
        NotShadowCaster,
        RenderLayers::layer(SHARED).with(1).with(2),
    ));
    for side in Side::ALL {
        commands.spawn((
            side,
            DirectionalLight {
                illuminance: SUN_LUX,
                shadow_maps_enabled: true,
                ..default()
            },
            CascadeShadowConfigBuilder {
                num_cascades: 2,
                first_cascade_far_bound: 25.0,
                maximum_distance: 80.0,
                ..default()
            }
            .build(),
            Transform::from_translation(SUN).looking_at(Vec3::ZERO, Vec3::Z),
            RenderLayers::layer(side.layer()),
        ));
    }
}

/// Sets the material of cubes that changed, or of all if the view mode changed.
fn colour(
    mode: Res<ViewMode>,
    paint: Option<Res<Paint>>,
    mut cubes: Query<(&Side, Ref<ViewCube>, &mut MeshMaterial3d<StandardMaterial>)>,
) {
    let Some(paint) = paint else {
        return;
    };
    let all = mode.is_changed();
    for (&side, cube, mut material) in &mut cubes {
        if all || cube.is_changed() {
            let translucent = *mode == ViewMode::Difference && side == Side::Right;
            let wanted = paint.of(&cube, translucent);
            if material.0 != *wanted {
                material.0 = wanted.clone();
            }
        }
    }
}

/// Hides the sun of a side without a camera: one sun is enough where one camera shows both worlds.
fn light(mode: Res<ViewMode>, mut suns: Query<(&Side, &mut Visibility), With<DirectionalLight>>) {
    for (&side, mut visibility) in &mut suns {
        visibility.set_if_neq(if mode.shows(side) {
            Visibility::Inherited
        } else {
            Visibility::Hidden
        });
    }
}
