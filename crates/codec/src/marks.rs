//! Cubes marked by a `bool` each, few among many.

/// Compared at once: most cubes are at rest most of the time.
const CHUNK: usize = 16;

/// The indices that are marked, ascending.
pub(crate) fn marked(marks: &[bool]) -> impl Iterator<Item = usize> {
    let chunks = marks.chunks(CHUNK).enumerate();
    chunks
        .filter(|(_, marks)| **marks != [false; CHUNK][..marks.len()])
        .flat_map(|(chunk, marks)| {
            let indices = (chunk * CHUNK..).zip(marks);
            indices.filter(|(_, mark)| **mark).map(|(index, _)| index)
        })
}

/// Marks the places at which two columns differ, besides those that are marked already.
pub(crate) fn mark_differing<T: PartialEq>(marks: &mut [bool], ours: &[T], theirs: &[T]) {
    let chunks = ours.chunks(CHUNK).zip(theirs.chunks(CHUNK));
    for (marks, (ours, theirs)) in marks.chunks_mut(CHUNK).zip(chunks) {
        if ours != theirs {
            for (mark, (ours, theirs)) in marks.iter_mut().zip(ours.iter().zip(theirs)) {
                *mark |= ours != theirs;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_in_whole_and_partial_chunks() {
        for len in [0, 1, 15, 16, 17, 40] {
            let column: Vec<i32> = (0..len).collect();
            let mut other = column.clone();
            let places: Vec<usize> = (0..len as usize).step_by(7).collect();
            for &place in &places {
                other[place] += 1;
            }
            let mut marks = vec![false; column.len()];
            mark_differing(&mut marks, &column, &other);
            assert_eq!(marked(&marks).collect::<Vec<_>>(), places, "{len}");
        }
    }
}
