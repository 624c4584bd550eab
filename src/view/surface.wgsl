// Surfaces of both levels of detail. High detail is Bevy's own material. At low detail (`IS_PLAIN`), light has no
// highlights: Lambert's law with one sun, a shadow of one sample, ambient light, and fog. It looks like Bevy's at a
// fraction of the cost.

#import bevy_pbr::forward_io::{VertexOutput, FragmentOutput}
#import bevy_pbr::pbr_types

#ifdef IS_PLAIN
#import bevy_pbr::mesh_view_bindings::{view, lights, fog}
#import bevy_pbr::pbr_bindings
#import bevy_pbr::shadows::world_to_directional_light_local
#import bevy_pbr::shadow_sampling::sample_shadow_map_hardware

// Share of the ambient light that a surface reflects: facing down, and facing up. Bevy's function of the angle of view
// is close to the upper one.
const AMBIENT_BELOW: f32 = 0.38;
const AMBIENT_ABOVE: f32 = 0.452;

const PI: f32 = 3.14159265;

fn shadow(position: vec3<f32>, normal: vec3<f32>) -> f32 {
    let light = &lights.directional_lights[0];
    let bias = (*light).shadow_normal_bias * (*light).cascades[0].texel_size * normal
        + (*light).shadow_depth_bias * (*light).direction_to_light;
    let at = world_to_directional_light_local(0u, 0u, vec4(position + bias, 1.0));
    if at.w == 0.0 {
        return 1.0;
    }
    return sample_shadow_map_hardware(at.xy, at.z, i32((*light).depth_texture_base_index));
}

fn lit(color: vec3<f32>, position: vec3<f32>, normal: vec3<f32>) -> vec3<f32> {
    var light = lights.ambient_color.rgb * mix(AMBIENT_BELOW, AMBIENT_ABOVE, 0.5 + 0.5 * normal.z);
    let facing = dot(normal, lights.directional_lights[0].direction_to_light);
    if facing > 0.0 && lights.n_directional_lights > 0u {
        light += lights.directional_lights[0].color.rgb * (facing / PI * shadow(position, normal));
    }
    return color * light * view.exposure + pbr_bindings::material.emissive.rgb;
}

@fragment
fn fragment(in: VertexOutput) -> FragmentOutput {
    let flags = pbr_bindings::material.flags;
    var color = pbr_bindings::material.base_color.rgb;
#ifdef VERTEX_COLORS
    color *= in.color.rgb;
#endif
#ifdef VERTEX_UVS_A
    if (flags & pbr_types::STANDARD_MATERIAL_FLAGS_BASE_COLOR_TEXTURE_BIT) != 0u {
        color *= textureSample(pbr_bindings::base_color_texture, pbr_bindings::base_color_sampler, in.uv).rgb;
    }
#endif
    let position = in.world_position.xyz;
    if (flags & pbr_types::STANDARD_MATERIAL_FLAGS_UNLIT_BIT) == 0u {
        color = lit(color, position, normalize(in.world_normal));
    }
#ifdef DISTANCE_FOG
    if (flags & pbr_types::STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT) != 0u {
        let depth = fog.be.x * distance(position, view.world_position);
        color = mix(fog.base_color.rgb, color, exp(-depth * depth));
    }
#endif
    return FragmentOutput(vec4(color, 1.0));
}
#else // IS_PLAIN
#import bevy_pbr::pbr_fragment::pbr_input_from_standard_material
#import bevy_pbr::pbr_functions::{alpha_discard, apply_pbr_lighting, main_pass_post_lighting_processing}

@fragment
fn fragment(in: VertexOutput, @builtin(front_facing) is_front: bool) -> FragmentOutput {
    var surface = pbr_input_from_standard_material(in, is_front);
    surface.material.base_color = alpha_discard(surface.material, surface.material.base_color);
    var color = surface.material.base_color;
    if (surface.material.flags & pbr_types::STANDARD_MATERIAL_FLAGS_UNLIT_BIT) == 0u {
        color = apply_pbr_lighting(surface);
    }
    return FragmentOutput(main_pass_post_lighting_processing(surface, color));
}
#endif // IS_PLAIN
