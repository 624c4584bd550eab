// Low detail: Lambert's law with one sun, a shadow of one sample, ambient light and fog, without highlights. It looks
// like Bevy's material at a fraction of the cost.

#import bevy_pbr::forward_io::{VertexOutput, FragmentOutput}
#import bevy_pbr::mesh_view_bindings::{view, lights, fog}
#import bevy_pbr::shadows::world_to_directional_light_local
#import bevy_pbr::shadow_sampling::sample_shadow_map_hardware

struct Plain {
    color: vec4<f32>,
    emissive: vec4<f32>,
}

@group(#{MATERIAL_BIND_GROUP}) @binding(0) var<uniform> material: Plain;
@group(#{MATERIAL_BIND_GROUP}) @binding(1) var surface_texture: texture_2d<f32>;
@group(#{MATERIAL_BIND_GROUP}) @binding(2) var surface_sampler: sampler;

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
    if facing > 0.0 {
        light += lights.directional_lights[0].color.rgb * (facing / PI * shadow(position, normal));
    }
    return color * light * view.exposure + material.emissive.rgb;
}

@fragment
fn fragment(in: VertexOutput) -> FragmentOutput {
    var color = material.color.rgb;
#ifdef VERTEX_COLORS
    color *= in.color.rgb;
#endif
#ifdef TEXTURE
    color *= textureSample(surface_texture, surface_sampler, in.uv).rgb;
#endif
#ifdef LIT
    color = lit(color, in.world_position.xyz, normalize(in.world_normal));
#endif
#ifdef FOG
    let depth = fog.be.x * distance(in.world_position.xyz, view.world_position);
    color = mix(fog.base_color.rgb, color, exp(-depth * depth));
#endif
    return FragmentOutput(vec4(color, 1.0));
}
