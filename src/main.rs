//! The program: for now it says what the codec can do, and where to see it done.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "Cubewire will be Glenn Fiedler's cube demo in a window: the simulation on the left, its\n\
         replica on the right, and every stage of snapshot compression a switch. The window is not\n\
         built yet. The codec is, and climbs this ladder:\n"
    )?;
    cubewire::print_ladder(&mut out)?;
    writeln!(
        out,
        "\nTo measure it on recorded play:\n\n  \
         cargo run --release -p cubewire-lab -- walkoff assets/recordings/dev-mix.bin.zst"
    )
}
