//! The command line.

use std::path::PathBuf;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cubewire_cli::whole_number;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::attacks::{ATTACKS, Attack};

/// Attacks a Cubewire server over loopback and measures the effect on an honest viewer
#[derive(Clone, Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Duration of all attacks together, 20 seconds to a day
    #[arg(long, default_value_t = 60, value_parser = whole_number(20..=86_400_u64))]
    pub(crate) seconds: u64,
    /// Random seed
    #[arg(long, default_value_t = 1, value_parser = whole_number(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Maximum number of datagrams per second that each attacker sends
    #[arg(long, default_value_t = 2000, value_parser = whole_number(1..=20_000_u32))]
    pub(crate) rate: u32,
    /// Attacks, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = attack())]
    pub(crate) only: Vec<&'static Attack>,
    /// Halve the expectations that depend on time, for a machine that does other work or shares its processors
    #[arg(long)]
    pub(crate) busy: bool,
    /// Write the figures to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the server's log to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}

fn attack() -> impl TypedValueParser<Value = &'static Attack> {
    PossibleValuesParser::new(ATTACKS.iter().map(|attack| attack.name)).map(|name| {
        let found = ATTACKS.iter().find(|attack| attack.name == name);
        found.expect("the parser accepts these names only")
    })
}

impl Cli {
    /// Returns the random generator for one use, by the number of a stream.
    pub(crate) fn random(&self, stream: u64) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(stream);
        random
    }

    /// Returns the selected attacks.
    pub(crate) fn attacks(&self) -> Vec<&'static Attack> {
        match &self.only[..] {
            [] => ATTACKS.iter().collect(),
            only => only.to_vec(),
        }
    }
}

#[test]
fn attacks_are_chosen_by_name() {
    let parsed =
        |arguments: &[&str]| Cli::try_parse_from(["cubewire-hostile"].iter().chain(arguments));
    let chosen = parsed(&["--only", "dead,garbage"]).unwrap().attacks();
    let names: Vec<_> = chosen.iter().map(|attack| attack.name).collect();
    assert_eq!(names, ["dead", "garbage"]);
    assert_eq!(parsed(&["--seed", "2"]).unwrap().attacks().len(), ATTACKS.len());
    assert!(parsed(&["--only", "friendly"]).is_err());
}
