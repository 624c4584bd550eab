//! Meshes, materials and colours of the cubes, and the order of the drawing systems.

use bevy::asset::AssetEventSystems;
use bevy::camera::CameraUpdateSystems;
use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::core_3d::check_msaa;
use bevy::input::InputSystems;
use bevy::prelude::*;
use bevy_egui::{EguiPostUpdateSet, EguiPreUpdateSet, EguiPrimaryContextPass};
use cubewire_codec::Form;
use cubewire_palette::{CUBE, INTERACTING_CUBE, MUTED_CUBE, PLAYER_CUBES, Rgb, amount, form};
use cubewire_scene::{self as scene, MAX_PLAYERS, seat, side};

use super::canvas::Canvas;
use super::compose::ComposePlugin;
use super::costs::{Cost, Costs, CubeColors};
use super::cubes::ViewCube;
use super::notices::Notices;
use super::quality::{self, Detail, LargestTexture, Quality, Sharpness};
use super::side::Side;
use super::surface::{self, Surface, SurfacePlugin};
use super::touch::TouchKeys;
use super::{ViewMode, ViewSystems};
use super::{
    bevel, camera, canvas, exaggeration, floor, notices, overlay, panes, picking, player, stage,
    touch, trails,
};
use crate::theme::{Theme, bevy_color};

/// Widths of an outline and of its casing on each face, measured from the bevel, as fractions of the side.
const OUTLINE: [f32; 2] = [0.01, 0.04];

/// Scale of an outline. Above 1, so that the outline stays visible on an identical cube of the simulation.
const OUTLINE_SIZE: f32 = 1.01;

/// Draws the cubes of [`super::ViewPlugin`] on the [`Canvas`].
pub struct AppearancePlugin;

impl Plugin for AppearancePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((SurfacePlugin, ComposePlugin))
            .init_resource::<camera::Orbit>()
            .init_resource::<Canvas>()
            .init_resource::<overlay::Overlay>()
            .init_resource::<Notices>()
            .init_resource::<Theme>()
            .init_resource::<Quality>()
            .init_resource::<Detail>()
            .init_resource::<Sharpness>()
            // The minimum of WebGL2, until the adapter is known.
            .insert_resource(LargestTexture(2048))
            .add_systems(
                Startup,
                (camera::spawn, trails::spawn, floor::spawn, stage::spawn, player::spawn).chain(),
            )
            .add_systems(PostStartup, (prepare, dress).chain())
            .init_resource::<TouchKeys>()
            .add_systems(PreUpdate, dress.after(super::cubes::spawn))
            .add_systems(
                PreUpdate,
                (
                    // After the systems that show other notices.
                    quality::adjust.after(EguiPreUpdateSet::ProcessInput),
                    touch::read.after(InputSystems).run_if(resource_exists::<Touches>),
                ),
            )
            .add_systems(
                Update,
                (
                    camera::orbit,
                    picking::pick,
                    quality::choose.run_if(resource_changed::<Quality>),
                    stage::set_detail.run_if(resource_changed::<Detail>),
                    (stage::paint, stage::light, floor::paint, paint_cubes)
                        .chain()
                        .run_if(resource_changed::<Theme>.or_eager(resource_changed::<Detail>)),
                )
                    .chain(),
            )
            .add_systems(
                PostUpdate,
                (
                    (canvas::bound_window, canvas::follow_window, panes::place.before(check_msaa))
                        .chain(),
                    // The cameras follow the real pose of the player, so that exaggerated errors do not shake them.
                    camera::follow.before(exaggeration::exaggerate),
                    // Chained because all of them write transforms and some write visibility.
                    (
                        colour.after(exaggeration::exaggerate),
                        player::follow,
                        stage::shine,
                        trails::show,
                        surface::dress,
                        surface::simplify,
                    )
                        .chain(),
                    notices::follow,
                )
                    .in_set(ViewSystems::Follow)
                    .before(CameraUpdateSystems)
                    .before(AssetEventSystems),
            )
            // Upload new glyphs in the frame that first uses them.
            .configure_sets(
                PostUpdate,
                EguiPostUpdateSet::PostProcessOutput.before(AssetEventSystems),
            )
            .add_systems(EguiPrimaryContextPass, overlay::draw.in_set(ViewSystems::Overlay));
    }
}

#[derive(Resource, Debug)]
struct Paint {
    cube: Handle<Mesh>,
    outline: Handle<Mesh>,
    grey: Handle<StandardMaterial>,
    red: Handle<StandardMaterial>,
    /// Interacting cube under an outline.
    muted: Handle<StandardMaterial>,
    players: [Handle<StandardMaterial>; MAX_PLAYERS],
    over: Handle<StandardMaterial>,
    not_sent: Handle<StandardMaterial>,
    /// Amounts from 0 to the end of the scale.
    amounts: Vec<Handle<StandardMaterial>>,
    /// In the order of [`Form::ALL`].
    forms: Vec<Handle<StandardMaterial>>,
}

const AMOUNTS: usize = 33;

/// Emissive share of a legend colour. Lighting adds the rest.
const SHINE: f32 = 0.6;

type Look<'a> = (&'a Handle<Mesh>, &'a Handle<StandardMaterial>);

impl Paint {
    fn of_cost(&self, colors: CubeColors, costs: &Costs, cost: Cost) -> &Handle<StandardMaterial> {
        if colors == CubeColors::Form {
            return cost.form.map_or(&self.not_sent, |form| &self.forms[form as usize]);
        }
        let Some(fraction) = costs.scale.fraction(cost.amount) else { return &self.not_sent };
        let index = (fraction * (AMOUNTS - 1) as f32).round() as usize;
        &self.amounts[index.min(AMOUNTS - 1)]
    }

    fn of(
        &self,
        cube: &ViewCube,
        side: Side,
        mode: ViewMode,
        colors: CubeColors,
        costs: &Costs,
    ) -> Look<'_> {
        if mode == ViewMode::Difference && side == Side::Right {
            return (&self.outline, &self.over);
        }
        if colors != CubeColors::Interaction {
            let cost = costs.of(side, cube.index);
            return (&self.cube, self.of_cost(colors, costs, cost));
        }
        match (seat(cube.index), cube.interacting) {
            (Some(player), _) => (&self.cube, &self.players[player]),
            (_, true) if mode == ViewMode::Difference => (&self.cube, &self.muted),
            (_, true) => (&self.cube, &self.red),
            _ => (&self.cube, &self.grey),
        }
    }
}

fn prepare(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let mut material = |color: Rgb, shine: f32| {
        let color = bevy_color(color).to_linear();
        materials.add(StandardMaterial {
            base_color: (color * (1.0 - shine)).with_alpha(1.0).into(),
            emissive: color * shine,
            perceptual_roughness: 0.75,
            reflectance: 0.25 * (1.0 - shine),
            ..default()
        })
    };
    let amounts = (0..AMOUNTS).map(|index| amount(index as f32 / (AMOUNTS - 1) as f32));
    let paint = Paint {
        grey: material(CUBE, 0.0),
        red: material(INTERACTING_CUBE, 0.0),
        muted: material(MUTED_CUBE, 0.0),
        not_sent: material(Theme::default().colors().not_sent, 0.0),
        amounts: amounts.map(|color| material(color, SHINE)).collect(),
        forms: Form::ALL.map(|each| material(form(each), SHINE)).into(),
        players: PLAYER_CUBES.map(|color| materials.add(player::material(color))),
        over: materials.add(StandardMaterial { unlit: true, ..default() }),
        // The transform scales the meshes to the cube's side.
        cube: meshes.add(bevel::cube()),
        outline: meshes.add(outline(Theme::default())),
    };
    commands.insert_resource(paint);
}

fn dress(
    mut commands: Commands,
    paint: If<Res<Paint>>,
    cubes: Query<(Entity, &Side), Added<ViewCube>>,
) {
    for (entity, side) in &cubes {
        commands.entity(entity).insert((
            Mesh3d(paint.cube.clone()),
            Surface(paint.grey.clone()),
            RenderLayers::layer(side.layer()),
        ));
    }
}

fn paint_cubes(
    theme: Res<Theme>,
    paint: Res<Paint>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    if let Some(mut mesh) = meshes.get_mut(&paint.outline) {
        *mesh = outline(*theme);
    }
    if let Some(mut material) = materials.get_mut(&paint.not_sent) {
        material.base_color = bevy_color(theme.colors().not_sent);
    }
}

fn outline(theme: Theme) -> Mesh {
    let [line, casing] = OUTLINE;
    let colors = theme.colors();
    let colors = [colors.right, colors.ground].map(bevy_color);
    bevel::outline([(line, colors[0]), (casing, colors[1])])
}

type DressedCube<'a> = (
    &'a Side,
    Ref<'a, ViewCube>,
    &'a mut Transform,
    &'a mut Visibility,
    &'a mut Mesh3d,
    &'a mut Surface,
);

/// Sets mesh, material and size of the cubes that changed. Updates all cubes if the view mode or the colour mode
/// changed, if colours show costs, or in `Difference` mode.
fn colour(
    mode: Res<ViewMode>,
    colors: Res<CubeColors>,
    costs: Res<Costs>,
    paint: If<Res<Paint>>,
    mut cubes: Query<DressedCube<'_>>,
) {
    let is_over = *mode == ViewMode::Difference;
    let has_costs = *colors != CubeColors::Interaction;
    let all = mode.is_changed() || colors.is_changed() || has_costs || is_over;
    let mut under = vec![Transform::IDENTITY; scene::cubes(MAX_PLAYERS)];
    for (_, cube, transform, ..) in cubes.iter().filter(|(half, ..)| **half == Side::Left) {
        under[cube.index] = *transform;
    }
    for (&half, cube, transform, mut visibility, mut mesh, mut material) in &mut cubes {
        if all || cube.is_changed() {
            let is_over = is_over && half == Side::Right;
            let is_shown = !is_over || stands_out(&cube, &transform, &under[cube.index]);
            // Compare before writing, so that change detection skips cubes with the same look.
            visibility.set_if_neq(super::visibility(is_shown));
            let wanted = paint.of(&cube, half, *mode, *colors, &costs);
            mesh.set_if_neq(Mesh3d(wanted.0.clone()));
            material.set_if_neq(Surface(wanted.1.clone()));
            let is_outline = *wanted.0 == paint.outline;
            let size = side(cube.index) * if is_outline { OUTLINE_SIZE } else { 1.0 };
            transform.map_unchanged(|pose| &mut pose.scale).set_if_neq(Vec3::splat(size));
        }
    }
}

/// Whether a replica's cube needs an outline over the simulated cube: it moves, or the two poses differ visibly.
fn stands_out(cube: &ViewCube, shown: &Transform, under: &Transform) -> bool {
    let turned = shown.rotation.angle_between(under.rotation) * side(cube.index);
    cube.interacting || shown.translation.distance(under.translation) + turned > SEEN_METRES
}

/// Smallest visible distance: a quarter of a pixel at the default camera distance.
const SEEN_METRES: f32 = 0.005;

#[cfg(test)]
mod tests {
    use bevy::ecs::system::RunSystemOnce;

    use super::*;

    fn world() -> World {
        let mut world = World::new();
        world.init_resource::<Assets<Mesh>>();
        world.init_resource::<Assets<StandardMaterial>>();
        world.run_system_once(prepare).unwrap();
        world
    }

    #[test]
    fn a_cube_in_full_light_has_the_colour_of_its_legend_and_most_of_it_in_the_shade() {
        let world = world();
        let paint = world.resource::<Paint>();
        let materials = world.resource::<Assets<StandardMaterial>>();
        let last = paint.amounts.last().unwrap();
        let forms = Form::ALL.map(|each| (&paint.forms[each as usize], form(each)));
        let ends = [(&paint.amounts[0], amount(0.0)), (last, amount(1.0))];
        for (material, color) in ends.into_iter().chain(forms) {
            let material = materials.get(material).unwrap();
            let color = bevy_color(color).to_linear().to_vec3();
            let lit = material.base_color.to_linear().to_vec3();
            let shining = material.emissive.to_vec3();
            assert!((lit + shining).distance(color) < 1e-5);
            assert!(shining.distance(SHINE * color) < 1e-5);
        }
        let not_sent = materials.get(&paint.not_sent).unwrap();
        assert_eq!(not_sent.emissive.to_vec3(), Vec3::ZERO);
    }

    #[test]
    fn cubes_that_are_not_sent_have_the_colour_of_the_theme() {
        let mut world = world();
        for theme in [Theme::Light, Theme::Dark] {
            world.insert_resource(theme);
            world.run_system_once(paint_cubes).unwrap();
            let materials = world.resource::<Assets<StandardMaterial>>();
            let not_sent = materials.get(&world.resource::<Paint>().not_sent);
            let color = bevy_color(theme.colors().not_sent);
            assert_eq!(not_sent.unwrap().base_color, color);
        }
    }

    #[test]
    fn what_is_awake_or_elsewhere_is_outlined_over_muted_cubes() {
        let mut world = world();
        world.insert_resource(ViewMode::Difference);
        world.init_resource::<CubeColors>();
        world.init_resource::<Costs>();
        let at = Transform::from_xyz(1.0, 2.0, 0.2);
        let off = |metres: f32| Transform::from_xyz(1.0 + metres, 2.0, 0.2);
        let turned = at.with_rotation(Quat::from_rotation_z(0.1));
        let over =
            [(at, false), (off(0.001), false), (off(0.02), false), (turned, false), (at, true)];
        let mut outlines = Vec::new();
        for (index, (shown, interacting)) in (1..).zip(over) {
            let cube = ViewCube { index, interacting };
            world.spawn((Side::Left, cube, at, Visibility::default()));
            outlines.push(world.spawn((Side::Right, cube, shown, Visibility::default())).id());
        }
        world.run_system_once(dress).unwrap();
        world.run_system_once(colour).unwrap();
        let seen = outlines.iter().map(|&cube| *world.get::<Visibility>(cube).unwrap());
        let seen: Vec<_> = seen.map(|visibility| visibility != Visibility::Hidden).collect();
        assert_eq!(seen, [false, false, true, true, true]);
        let mut under = world.query::<(&Side, &ViewCube, &Surface)>();
        let under = under.iter(&world).filter(|(half, ..)| **half == Side::Left);
        let under: Vec<_> = under.collect();
        let paint = world.resource::<Paint>();
        assert_eq!(under.len(), 5);
        for (_, cube, material) in under {
            let wanted = if cube.interacting { &paint.muted } else { &paint.grey };
            assert_eq!(material.0, *wanted);
        }
    }
}
