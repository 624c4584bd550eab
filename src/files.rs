//! Where files go: atomically to disk, so that a file appears complete or not at all; in a browser, to its
//! downloads.

#[cfg(not(target_family = "wasm"))]
mod disk;
#[cfg(not(target_family = "wasm"))]
pub(crate) use disk::{
    NewFile, claim, is_for_others, publish, read_at_most, recall, release, remember, write_private,
    write_whole,
};

#[cfg(target_family = "wasm")]
mod downloads;
#[cfg(target_family = "wasm")]
pub(crate) use downloads::{NewFile, claim, publish, recall, release, remember, write_whole};
