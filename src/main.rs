//! The program: for now it says what the codec can do, and where to see it done.

use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match introduce(&mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // If even that cannot be written, the exit code says enough.
            let _ = writeln!(io::stderr(), "error: standard output: {error}");
            ExitCode::from(2)
        }
    }
}

fn introduce(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "Cubewire will be Glenn Fiedler's cube demo in a window: the simulation on the left, its\n\
         replica on the right, and every stage of snapshot compression a switch. The window is not\n\
         built yet. The codec is, and climbs this ladder:\n"
    )?;
    cubewire::print_ladder(out)?;
    writeln!(
        out,
        "\nTo measure it on recorded play:\n\n  \
         cargo run --release -p cubewire-lab -- walkoff assets/recordings/dev-mix.bin.zst"
    )?;
    out.flush()
}
