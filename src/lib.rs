//! Cubewire: play Glenn Fiedler's cube demo, and watch where every bit of its network traffic goes.
//!
//! The house:
//!
//! | | |
//! | --- | --- |
//! | `crates/codec` | snapshots to bits and back, one stage of compression at a time |
//! | `crates/lab` | measures the codec on recordings, from the command line |
//! | `examples` | one small program for each thing that a game developer would take away |
//! | `assets/recordings` | play of another simulation, to measure on |
//!
//! The window is not here yet: the program lists the rungs of the ladder that the codec climbs.

use std::io::{self, Write};

use cubewire_codec::ladder::{AFFINE, LADDER};

/// Prints every rung of the ladder with what it adds.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn print_ladder(out: &mut impl Write) -> io::Result<()> {
    for (step, rung) in LADDER.iter().enumerate() {
        writeln!(out, "{:>3}  {:<21} {}", step + 1, rung.name, rung.summary)?;
    }
    writeln!(out, "  -  {:<21} {}", AFFINE.name, AFFINE.summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_is_listed() {
        let mut out = Vec::new();
        print_ladder(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), LADDER.len() + 1);
        for rung in LADDER {
            assert!(text.contains(rung.name));
        }
    }
}
