//! A cube whose edges and corners are cut off, so that they catch the light as it turns.
//!
//! Each corner has three vertices, one on each of its faces, with the normals of the faces. Edges and
//! corners lie between them, so their normals are interpolated. That makes 24 vertices, as many as a cube
//! with sharp edges has.

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;

/// Width of what is cut off an edge, as a fraction of the side.
const BEVEL: f32 = 0.05;

/// A cube of side `size` around the origin, with texture coordinates from 0 to 1 on each face.
pub(super) fn cube(size: f32) -> Mesh {
    let mut positions = Vec::new();
    let mut normals = Vec::new();
    let mut uvs = Vec::new();
    for corner in 0..8 {
        let signs = signs(corner);
        for axis in 0..3 {
            let mut position = signs * (0.5 - BEVEL);
            position[axis] = signs[axis] * 0.5;
            let mut normal = Vec3::ZERO;
            normal[axis] = signs[axis];
            positions.push(position * size);
            normals.push(normal);
            uvs.push(Vec2::new(
                position[(axis + 1) % 3] + 0.5,
                position[(axis + 2) % 3] + 0.5,
            ));
        }
    }
    let mut indices = Vec::new();
    let mut add = |corners: &[u16]| {
        let [a, b, c] = [0, 1, 2].map(|place| positions[usize::from(corners[place])]);
        let faces_in = (b - a).cross(c - a).dot(a + b + c) < 0.0;
        for last in 2..corners.len() {
            let [a, b, c] = [corners[0], corners[last - 1], corners[last]];
            indices.extend(if faces_in { [a, c, b] } else { [a, b, c] });
        }
    };
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for sign in [0, 1 << axis] {
            // A face, its corners one after the other.
            let corners = [0, 1 << u, (1 << u) | (1 << v), 1 << v];
            add(&corners.map(|corner| vertex(sign | corner, axis)));
        }
        for others in [0, 1 << u, 1 << v, (1 << u) | (1 << v)] {
            // An edge along the axis, between two faces.
            let (from, to) = (others, others | (1 << axis));
            add(&[
                vertex(from, u),
                vertex(from, v),
                vertex(to, v),
                vertex(to, u),
            ]);
        }
    }
    for corner in 0..8 {
        add(&[0, 1, 2].map(|axis| vertex(corner, axis)));
    }
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
    .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
    .with_inserted_indices(Indices::U16(indices))
}

/// The octant of a corner: bit 0 for x, bit 1 for y, bit 2 for z.
fn signs(corner: u16) -> Vec3 {
    let sign = |axis: u16| {
        if corner & (1 << axis) == 0 { -1.0 } else { 1.0 }
    };
    Vec3::new(sign(0), sign(1), sign(2))
}

/// The vertex of a corner on the face across an axis.
const fn vertex(corner: u16, axis: usize) -> u16 {
    corner * 3 + axis as u16
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use bevy::mesh::VertexAttributeValues;

    use super::*;

    fn vectors(mesh: &Mesh, normals: bool) -> Vec<Vec3> {
        let attribute = if normals {
            Mesh::ATTRIBUTE_NORMAL
        } else {
            Mesh::ATTRIBUTE_POSITION
        };
        match mesh.attribute(attribute) {
            Some(VertexAttributeValues::Float32x3(values)) => {
                values.iter().copied().map(Vec3::from).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn triangles(mesh: &Mesh) -> Vec<[usize; 3]> {
        let indices: Vec<_> = mesh.indices().unwrap().iter().collect();
        let triangles = indices.chunks_exact(3);
        triangles.map(|t| [t[0], t[1], t[2]]).collect()
    }

    #[test]
    fn it_has_as_many_vertices_as_a_sharp_cube_and_lies_inside_it() {
        let mesh = cube(1.0);
        let sharp = Mesh::from(Cuboid::from_length(1.0));
        assert_eq!(mesh.count_vertices(), sharp.count_vertices());
        for position in vectors(&mesh, false) {
            assert_eq!(position.abs().max_element(), 0.5);
        }
        for normal in vectors(&mesh, true) {
            assert_eq!(normal.length(), 1.0);
        }
    }

    #[test]
    fn it_is_closed_and_every_triangle_faces_out() {
        let mesh = cube(1.0);
        let positions = vectors(&mesh, false);
        let triangles = triangles(&mesh);
        // Six faces and twelve edges of two triangles, eight corners.
        assert_eq!(triangles.len(), 44);
        let mut edges = HashMap::new();
        for [a, b, c] in triangles {
            let [p, q, r] = [a, b, c].map(|vertex| positions[vertex]);
            let normal = (q - p).cross(r - p);
            assert!(normal.length() > 1e-4, "{p} {q} {r}");
            assert!(normal.dot(p + q + r) > 0.0, "{p} {q} {r}");
            for edge in [(a, b), (b, c), (c, a)] {
                *edges.entry(edge).or_insert(0) += 1;
            }
        }
        for (&(a, b), &count) in &edges {
            assert_eq!(count, 1, "{a} to {b}");
            assert_eq!(edges.get(&(b, a)), Some(&1), "{b} to {a}");
        }
    }
}
