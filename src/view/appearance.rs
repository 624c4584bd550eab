//! The appearance of both worlds. This file has the cubes and the order of all systems.

use bevy::asset::AssetEventSystems;
use bevy::camera::CameraUpdateSystems;
use bevy::camera::visibility::RenderLayers;
use bevy::input::InputSystems;
use bevy::prelude::*;
use bevy_egui::{EguiPostUpdateSet, EguiPrimaryContextPass};
use cubewire_codec::Form;
use cubewire_palette::{CUBE, INTERACTING_CUBE, amount, form};
use cubewire_scene::{PLAYER, side};

use super::canvas::Canvas;
use super::costs::{Costs, CubeColors};
use super::cubes::ViewCube;
use super::notices::Notices;
use super::quality::{self, Detail, Quality};
use super::side::Side;
use super::touch::TouchKeys;
use super::{ViewMode, ViewSystems};
use super::{bevel, camera, canvas, floor, overlay, panes, picking, player, stage, touch, trails};
use crate::theme::{Theme, bevy_color};

/// Opacity of the replica in the difference view.
const GHOST_ALPHA: f32 = 0.6;

/// Size of the replica's cubes in the difference view: where both are at the same position, they are hidden
/// inside the simulation's.
const GHOST_SIZE: f32 = 0.97;

/// Draws the cubes of [`super::ViewPlugin`] on the [`Canvas`].
#[derive(Debug)]
pub struct AppearancePlugin;

impl Plugin for AppearancePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<camera::Orbit>()
            .init_resource::<Canvas>()
            .init_resource::<overlay::Overlay>()
            .init_resource::<Notices>()
            .init_resource::<Theme>()
            .init_resource::<Quality>()
            .init_resource::<Detail>()
            .add_systems(
                Startup,
                (
                    camera::spawn,
                    trails::spawn,
                    floor::spawn,
                    stage::spawn,
                    player::spawn,
                )
                    .chain(),
            )
            .add_systems(PostStartup, dress_cubes)
            .init_resource::<TouchKeys>()
            .add_systems(
                PreUpdate,
                (
                    quality::lower,
                    touch::read
                        .after(InputSystems)
                        .run_if(resource_exists::<Touches>),
                ),
            )
            .add_systems(
                Update,
                (
                    camera::orbit,
                    picking::pick,
                    quality::choose.run_if(resource_changed::<Quality>),
                    stage::set_detail.run_if(resource_changed::<Detail>),
                    (
                        stage::paint,
                        stage::light,
                        floor::paint,
                        trails::paint,
                        paint_ghost,
                    )
                        .chain()
                        .run_if(resource_changed::<Theme>.or_eager(resource_changed::<Detail>)),
                    player::paint
                        .run_if(resource_changed::<Theme>.or_eager(resource_changed::<ViewMode>)),
                )
                    .chain(),
            )
            .add_systems(
                PostUpdate,
                (
                    (canvas::follow_window, panes::place).chain(),
                    // All of them move things, some hide things.
                    (
                        colour,
                        camera::follow,
                        player::follow,
                        stage::shine,
                        trails::show,
                    )
                        .chain(),
                    overlay::notice,
                )
                    .in_set(ViewSystems::Follow)
                    .before(CameraUpdateSystems)
                    .before(AssetEventSystems),
            )
            // Otherwise a glyph is missing in the first frame that needs it.
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

/// Materials of the cubes.
#[derive(Resource, Debug)]
struct Paint {
    grey: Handle<StandardMaterial>,
    red: Handle<StandardMaterial>,
    player: Handle<StandardMaterial>,
    ghost: Handle<StandardMaterial>,
    /// From 0 to the end of the scale.
    amounts: Vec<Handle<StandardMaterial>>,
    /// Not sent, then in the order of [`Form::ALL`].
    forms: Vec<Handle<StandardMaterial>>,
}

/// Materials of amounts.
const AMOUNTS: usize = 33;

impl Paint {
    /// The material for what a cube cost.
    fn of_cost(
        &self,
        colors: CubeColors,
        costs: &Costs,
        side: Side,
        cube: usize,
    ) -> &Handle<StandardMaterial> {
        let cost = costs.of(side, cube);
        if colors == CubeColors::Form {
            let index = cost.form.map_or(0, |form| 1 + form as usize);
            return &self.forms[index];
        }
        // The scene stays recognizable.
        if cost.amount == 0.0 {
            return &self.grey;
        }
        let fraction = cost.amount / costs.scale_end.max(f32::MIN_POSITIVE);
        let index = (fraction * (AMOUNTS - 1) as f32).round() as usize;
        &self.amounts[index.min(AMOUNTS - 1)]
    }

    /// Under the ghost, which stands out from grey in either theme, no other cube is red.
    fn of(&self, cube: &ViewCube, side: Side, mode: ViewMode) -> &Handle<StandardMaterial> {
        let is_over = mode == ViewMode::Difference;
        match (side, cube.index, cube.interacting) {
            (Side::Right, ..) if is_over => &self.ghost,
            (_, PLAYER, _) => &self.player,
            (_, _, true) if !is_over => &self.red,
            _ => &self.grey,
        }
    }
}

/// Adds meshes and materials to the cubes.
fn dress_cubes(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    cubes: Query<(Entity, &Side, &ViewCube)>,
) {
    let mut matt = |base_color: Color| {
        materials.add(StandardMaterial {
            base_color,
            perceptual_roughness: 0.75,
            reflectance: 0.25,
            ..default()
        })
    };
    let paint = Paint {
        grey: matt(bevy_color(CUBE)),
        red: matt(bevy_color(INTERACTING_CUBE)),
        amounts: (0..AMOUNTS)
            .map(|index| matt(bevy_color(amount(index as f32 / (AMOUNTS - 1) as f32))))
            .collect(),
        forms: [None]
            .into_iter()
            .chain(Form::ALL.map(Some))
            .map(|each| matt(bevy_color(form(each))))
            .collect(),
        player: materials.add(player::material()),
        ghost: materials.add(StandardMaterial {
            alpha_mode: AlphaMode::Blend,
            perceptual_roughness: 1.0,
            reflectance: 0.0,
            ..default()
        }),
    };
    // The transform scales them to the side length.
    let mesh = meshes.add(bevel::cube());
    let player_mesh = meshes.add(player::mesh());
    for (entity, side, cube) in &cubes {
        let is_player = cube.index == PLAYER;
        let mesh = if is_player { &player_mesh } else { &mesh };
        commands.entity(entity).insert((
            Mesh3d(mesh.clone()),
            MeshMaterial3d(paint.of(cube, *side, ViewMode::Split).clone()),
            RenderLayers::layer(side.layer()),
        ));
    }
    commands.insert_resource(paint);
}

/// Paints the ghost in the colour of the right half.
fn paint_ghost(
    theme: Res<Theme>,
    paint: Res<Paint>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    if let Some(mut ghost) = materials.get_mut(&paint.ghost) {
        let color = bevy_color(Side::Right.color(*theme));
        ghost.base_color = color.with_alpha(GHOST_ALPHA);
        // As bright in the shade.
        ghost.emissive = color.to_linear() * 0.5;
    }
}

/// Sets material and size of cubes that changed, or of all if the view mode changed or their colours show
/// costs.
fn colour(
    mode: Res<ViewMode>,
    colors: Res<CubeColors>,
    costs: Res<Costs>,
    paint: Option<Res<Paint>>,
    mut cubes: Query<(
        &Side,
        Ref<ViewCube>,
        &mut Transform,
        &mut MeshMaterial3d<StandardMaterial>,
    )>,
) {
    let Some(paint) = paint else {
        return;
    };
    let shows_costs = *colors != CubeColors::Interaction;
    let all = mode.is_changed() || colors.is_changed() || shows_costs;
    for (&half, cube, mut transform, mut material) in &mut cubes {
        if all || cube.is_changed() {
            let is_ghost = *mode == ViewMode::Difference && half == Side::Right;
            let wanted = if shows_costs && !is_ghost {
                paint.of_cost(*colors, &costs, half, cube.index)
            } else {
                paint.of(&cube, half, *mode)
            };
            if material.0 != *wanted {
                material.0 = wanted.clone();
            }
            let size = side(cube.index) * if is_ghost { GHOST_SIZE } else { 1.0 };
            if transform.scale.x != size {
                transform.scale = Vec3::splat(size);
            }
        }
    }
}
