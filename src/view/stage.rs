//! Sky and lights, coloured by the theme.

use bevy::anti_alias::fxaa::Fxaa;
use bevy::asset::RenderAssetUsages;
use bevy::camera::visibility::{NoFrustumCulling, RenderLayers};
use bevy::core_pipeline::prepass::{DepthPrepass, NormalPrepass};
use bevy::light::{
    CascadeShadowConfigBuilder, DirectionalLightShadowMap, GlobalAmbientLight, NotShadowCaster,
    NotShadowReceiver, ShadowFilteringMethod,
};
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::pbr::{
    MAX_DIRECTIONAL_LIGHTS, ScreenSpaceAmbientOcclusion, ScreenSpaceAmbientOcclusionQualityLevel,
};
use bevy::prelude::*;
use cubewire_palette::{Colors, Rgb};

use super::ViewMode;
use super::panes::Pane;
use super::quality::Detail;
use super::side::{SHARED, Side};
use super::surface::Surface;
use crate::theme::{Theme, bevy_color};

/// Positions of the sun, which casts shadows, and of a weaker fill light without shadows. Both point at the origin.
const SUN: Vec3 = Vec3::new(-40.0, -45.0, 90.0);
const FILL: Vec3 = Vec3::new(70.0, -60.0, 30.0);

/// Elevations of the rings of the sky in radians, and the shares of the upper colour. The default view ends 10° above the
/// horizon.
const RINGS: [(f32, f32); 5] = [(-0.5, 0.0), (0.0, 0.0), (0.06, 0.45), (0.2, 1.0), (1.57, 1.0)];

/// Factor of the ambient light if the fill light is off.
const WITHOUT_FILL: f32 = 1.25;

/// Radius of the sky, metres. Larger than the floor, so that the camera is always near the centre.
const SKY_RADIUS: f32 = 6_000.0;
const SKY_SEGMENTS: u16 = 24;

#[derive(Clone, Copy, Debug)]
struct Lights {
    sun_lux: f32,
    sun: Color,
    fill_lux: f32,
    ambient: f32,
    /// Colour of the fill and the ambient light.
    shade: Color,
}

impl Lights {
    const fn of(theme: Theme) -> Self {
        match theme {
            Theme::Light => Self {
                sun_lux: 2_500.0,
                sun: Color::srgb(1.0, 0.98, 0.94),
                fill_lux: 550.0,
                ambient: 560.0,
                shade: Color::srgb(0.90, 0.95, 1.0),
            },
            Theme::Dark => Self {
                sun_lux: 2_100.0,
                sun: Color::srgb(0.93, 0.96, 1.0),
                fill_lux: 380.0,
                ambient: 400.0,
                shade: Color::srgb(0.80, 0.88, 1.0),
            },
        }
    }
}

#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Fill;

#[derive(Resource, Clone, Debug)]
pub(super) struct Sky(Handle<Mesh>);

/// Spawns the sky and the lights without their colours.
pub(super) fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let everywhere = RenderLayers::layer(SHARED).with(1).with(2);
    let sky = meshes.add(dome([Rgb(0, 0, 0); 2]));
    commands.spawn((
        Mesh3d(sky.clone()),
        Surface(materials.add(StandardMaterial {
            unlit: true,
            fog_enabled: false,
            cull_mode: None,
            ..default()
        })),
        NoFrustumCulling,
        NotShadowCaster,
        NotShadowReceiver,
        everywhere.clone(),
    ));
    commands.insert_resource(Sky(sky));
    for side in Side::ALL {
        commands.spawn((
            side,
            DirectionalLight { shadow_maps_enabled: true, ..default() },
            Transform::from_translation(SUN).looking_at(Vec3::ZERO, Vec3::Z),
            RenderLayers::layer(side.layer()),
        ));
    }
    commands.spawn((
        Fill,
        DirectionalLight::default(),
        Transform::from_translation(FILL).looking_at(Vec3::ZERO, Vec3::Z),
        everywhere,
    ));
}

/// Colour of an unlit material in a theme.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Themed(pub(super) fn(&Colors) -> Rgb);

pub(super) fn paint(
    theme: Res<Theme>,
    sky: Res<Sky>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut clear: ResMut<ClearColor>,
    mut fogs: Query<&mut DistanceFog>,
    themed: Query<(&Themed, &Surface)>,
) {
    let colors = theme.colors();
    // Visible in the gap between the halves.
    clear.0 = bevy_color(colors.ground);
    for mut fog in &mut fogs {
        fog.color = bevy_color(colors.haze);
    }
    for (color, material) in &themed {
        if let Some(mut material) = materials.get_mut(&material.0) {
            material.base_color = bevy_color(color.0(colors));
        }
    }
    if let Some(mut mesh) = meshes.get_mut(&sky.0) {
        *mesh = dome(colors.sky);
    }
}

/// Sets the lights for the theme. Low detail has no fill light.
pub(super) fn light(
    theme: Res<Theme>,
    detail: Res<Detail>,
    mut ambient: ResMut<GlobalAmbientLight>,
    mut suns: Query<(&mut DirectionalLight, &mut Visibility, Has<Fill>)>,
) {
    let lights = Lights::of(*theme);
    // In a browser, Bevy's renderer supports one directional light per view.
    let has_fill = *detail != Detail::Low && MAX_DIRECTIONAL_LIGHTS > 1;
    ambient.color = lights.shade;
    ambient.brightness = if has_fill { lights.ambient } else { lights.ambient * WITHOUT_FILL };
    for (mut light, mut visibility, is_fill) in &mut suns {
        if is_fill {
            (light.illuminance, light.color) = (lights.fill_lux, lights.shade);
            // Each light costs time in every pixel.
            visibility.set_if_neq(super::visibility(has_fill));
        } else {
            (light.illuminance, light.color) = (lights.sun_lux, lights.sun);
        }
    }
}

/// Sets ambient occlusion and shadows for the level of detail.
pub(super) fn set_detail(
    detail: Res<Detail>,
    mut commands: Commands,
    cameras: Query<Entity, With<Pane>>,
    suns: Query<Entity, (With<DirectionalLight>, Without<Fill>)>,
    mut shadow_map: ResMut<DirectionalLightShadowMap>,
) {
    let is_high = *detail != Detail::Low;
    let filtering = match is_high {
        true => ShadowFilteringMethod::Gaussian,
        false => ShadowFilteringMethod::Hardware2x2,
    };
    for camera in &cameras {
        let mut camera = commands.entity(camera);
        camera.remove::<(ScreenSpaceAmbientOcclusion, DepthPrepass, NormalPrepass)>();
        if matches!(*detail, Detail::High { occlusion: true, .. }) {
            camera.insert(ScreenSpaceAmbientOcclusion {
                quality_level: ScreenSpaceAmbientOcclusionQualityLevel::Medium,
                constant_object_thickness: 0.5,
            });
        }
        camera.insert((Fxaa::default(), filtering));
    }
    shadow_map.size = if is_high { 4096 } else { 2048 };
    let cascades = CascadeShadowConfigBuilder {
        num_cascades: if is_high { 2 } else { 1 },
        first_cascade_far_bound: 22.0,
        maximum_distance: if is_high { 90.0 } else { 50.0 },
        ..default()
    };
    for sun in &suns {
        commands.entity(sun).insert(cascades.build());
    }
}

/// Turns off the sun of a side without a camera. One sun is enough if one camera shows both worlds.
pub(super) fn shine(
    mode: Res<ViewMode>,
    mut suns: Query<(&Side, &mut Visibility), With<DirectionalLight>>,
) {
    for (&side, mut visibility) in &mut suns {
        visibility.set_if_neq(super::visibility(mode.shows(side)));
    }
}

/// Mesh of the sky. `colors` are the colours at the horizon and high above it.
fn dome(colors: [Rgb; 2]) -> Mesh {
    let [low, high] = colors.map(bevy_color);
    let rings = RINGS.map(|(elevation, share)| {
        let color = low.mix(&high, share).to_linear();
        (elevation, color.to_f32_array())
    });
    let mut positions = Vec::new();
    let mut colors = Vec::new();
    let mut indices = Vec::new();
    for (ring, (elevation, color)) in (0..).zip(rings) {
        for segment in 0..SKY_SEGMENTS {
            let yaw = std::f32::consts::TAU * f32::from(segment) / f32::from(SKY_SEGMENTS);
            let flat = Quat::from_rotation_z(yaw) * Vec3::X * f32::cos(elevation);
            positions.push((flat + Vec3::Z * f32::sin(elevation)) * SKY_RADIUS);
            colors.push(color);
            if ring > 0 {
                let below = (ring - 1) * SKY_SEGMENTS;
                let here = ring * SKY_SEGMENTS;
                let next = (segment + 1) % SKY_SEGMENTS;
                let quad = [below + segment, below + next, here + next, here + segment];
                indices.extend([0, 1, 2, 0, 2, 3].map(|corner| quad[corner]));
            }
        }
    }
    let normals = vec![Vec3::Z; positions.len()];
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colors)
        .with_inserted_indices(Indices::U16(indices))
}
