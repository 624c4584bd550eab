//! Sets of cubes as one `bool` per cube, few of which are set.

/// Flags that are compared at once: most cubes are at rest most of the time.
const CHUNK: usize = 16;

/// The indices of set flags, ascending.
pub(crate) fn flagged(flags: &[bool]) -> impl Iterator<Item = usize> {
    let chunks = flags.chunks(CHUNK).enumerate();
    chunks
        .filter(|(_, flags)| **flags != [false; CHUNK][..flags.len()])
        .flat_map(|(chunk, flags)| {
            let indices = (chunk * CHUNK..).zip(flags);
            indices.filter(|(_, flag)| **flag).map(|(index, _)| index)
        })
}

/// Sets the flags of the indices at which two columns differ.
pub(crate) fn flag_differing<T: PartialEq>(flags: &mut [bool], ours: &[T], theirs: &[T]) {
    let chunks = ours.chunks(CHUNK).zip(theirs.chunks(CHUNK));
    for (flags, (ours, theirs)) in flags.chunks_mut(CHUNK).zip(chunks) {
        if ours != theirs {
            for (flag, (ours, theirs)) in flags.iter_mut().zip(ours.iter().zip(theirs)) {
                *flag |= ours != theirs;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_in_whole_and_partial_chunks() {
        for len in [0, 1, 15, 16, 17, 40] {
            let column: Vec<i32> = (0..len).collect();
            let mut other = column.clone();
            let indices: Vec<usize> = (0..len as usize).step_by(7).collect();
            for &index in &indices {
                other[index] += 1;
            }
            let mut flags = vec![false; column.len()];
            flag_differing(&mut flags, &column, &other);
            assert_eq!(flagged(&flags).collect::<Vec<_>>(), indices, "{len}");
        }
    }
}
