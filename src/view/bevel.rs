//! Meshes of a cube with bevelled edges and corners, which catch the light as the cube turns.
//!
//! Each corner has three vertices, one on each adjacent face, with that face's normal. Edges and corners connect these
//! vertices, so their normals are interpolated. The mesh has 24 vertices, as a cube with sharp edges has.

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;

/// Width of the bevel as a fraction of the side.
const BEVEL: f32 = 0.07;

pub(super) fn cube() -> Mesh {
    let mut mesh = Builder::default();
    mesh.add_corners(0.5, Color::WHITE);
    for face in faces() {
        mesh.add(&face);
    }
    mesh.add_bevels();
    mesh.finish()
}

/// The edges of a cube of side 1 with open faces. Each face has two rims, given as width and colour: the line next to
/// the edge, and its casing inside.
pub(super) fn outline([line, casing]: [(f32, Color); 2]) -> Mesh {
    let mut mesh = Builder::default();
    mesh.add_corners(0.5, line.1);
    mesh.add_bevels();
    let inner = mesh.add_corners(0.5 - line.0, line.1);
    mesh.add_rim([0, inner]);
    let [outer, inner] = [line.0, line.0 + casing.0].map(|at| mesh.add_corners(0.5 - at, casing.1));
    mesh.add_rim([outer, inner]);
    mesh.finish()
}

fn faces() -> impl Iterator<Item = [u16; 4]> {
    (0..3).flat_map(|axis| {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let around = [0, 1 << u, (1 << u) | (1 << v), 1 << v];
        [0, 1 << axis].map(|sign| around.map(|corner| vertex(sign | corner, axis)))
    })
}

#[derive(Debug, Default)]
struct Builder {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    colors: Vec<[f32; 4]>,
    indices: Vec<u16>,
}

impl Builder {
    /// Adds the three vertices of each corner and returns the index of the first. `reach` is the distance of the sharp
    /// edges from the centre.
    fn add_corners(&mut self, reach: f32, color: Color) -> u16 {
        let first = self.positions.len() as u16;
        for corner in 0..8 {
            let signs = signs(corner);
            for axis in 0..3 {
                let mut position = signs * (reach - BEVEL);
                position[axis] = signs[axis] * 0.5;
                let mut normal = Vec3::ZERO;
                normal[axis] = signs[axis];
                self.positions.push(position);
                self.normals.push(normal);
                self.colors.push(color.to_linear().to_f32_array());
            }
        }
        first
    }

    fn add_rim(&mut self, [outer, inner]: [u16; 2]) {
        for face in faces() {
            for side in 0..4 {
                let (from, to) = (face[side], face[(side + 1) % 4]);
                self.add(&[from + outer, to + outer, to + inner, from + inner]);
            }
        }
    }

    /// Adds a convex polygon, wound so that it faces outwards.
    fn add(&mut self, corners: &[u16]) {
        let position = |index: usize| self.positions[usize::from(corners[index])];
        let [a, b, c] = [0, 1, 2].map(position);
        let faces_in = (b - a).cross(c - a).dot(a + b + c) < 0.0;
        for last in 2..corners.len() {
            let [a, b, c] = [corners[0], corners[last - 1], corners[last]];
            self.indices.extend(if faces_in { [a, c, b] } else { [a, b, c] });
        }
    }

    /// Adds edges and corners between the first set of vertices.
    fn add_bevels(&mut self) {
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for from in [0, 1 << u, 1 << v, (1 << u) | (1 << v)] {
                let to = from | (1 << axis);
                self.add(&[vertex(from, u), vertex(from, v), vertex(to, v), vertex(to, u)]);
            }
        }
        for corner in 0..8 {
            self.add(&[0, 1, 2].map(|axis| vertex(corner, axis)));
        }
    }

    fn finish(self) -> Mesh {
        Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, self.positions)
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, self.normals)
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, self.colors)
            .with_inserted_indices(Indices::U16(self.indices))
    }
}

/// Signs of a corner's coordinates: bit 0 for x, bit 1 for y, bit 2 for z.
fn signs(corner: u16) -> Vec3 {
    let sign = |axis: u16| {
        if corner & (1 << axis) == 0 { -1.0 } else { 1.0 }
    };
    Vec3::new(sign(0), sign(1), sign(2))
}

/// Index of a corner's vertex on the face across `axis`.
const fn vertex(corner: u16, axis: usize) -> u16 {
    corner * 3 + axis as u16
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use bevy::mesh::{MeshVertexAttribute, VertexAttributeValues};

    use super::*;

    fn vectors(mesh: &Mesh, attribute: MeshVertexAttribute) -> Vec<Vec3> {
        let values = mesh.attribute(attribute).and_then(VertexAttributeValues::as_float3);
        values.unwrap().iter().copied().map(Vec3::from).collect()
    }

    #[test]
    fn they_lie_inside_the_unit_cube_and_have_unit_normals() {
        assert_eq!(cube().count_vertices(), 24);
        for mesh in [cube(), outline([(0.01, Color::BLACK), (0.04, Color::WHITE)])] {
            for position in vectors(&mesh, Mesh::ATTRIBUTE_POSITION) {
                assert_eq!(position.abs().max_element(), 0.5);
            }
            for normal in vectors(&mesh, Mesh::ATTRIBUTE_NORMAL) {
                assert_eq!(normal.length(), 1.0);
            }
        }
    }

    #[test]
    fn a_cube_is_closed_and_every_triangle_faces_out() {
        let mesh = cube();
        let triangles: Vec<_> = mesh.triangles().unwrap().collect();
        // Six faces and twelve edges of two triangles each, and eight corners.
        assert_eq!(triangles.len(), 44);
        let mut edges = HashMap::new();
        for Triangle3d { vertices: [a, b, c] } in triangles {
            let normal = (b - a).cross(c - a);
            assert!(normal.length() > 1e-4, "{a} {b} {c}");
            assert!(normal.dot(a + b + c) > 0.0, "{a} {b} {c}");
            let [a, b, c] = [a, b, c].map(|at| (at * 1000.0).round().as_ivec3());
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
