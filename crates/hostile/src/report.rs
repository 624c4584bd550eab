//! The table and the sentences below it.

use std::io::{self, Write};

use cubewire_cli::Table;

use crate::figures::{Compared, Figures, Phase};
use crate::wire::Tally;

const TITLES: [&str; 17] = [
    "attack",
    "s",
    "sent",
    "sent kB",
    "got kB",
    "snapshots/s",
    "gap ms",
    "long gaps",
    "stall ms",
    "ticks/s",
    "newcomers",
    "slowest ms",
    "from afar",
    "slowest ms",
    "MB",
    "% CPU",
    "log lines",
];

/// Prints the phases, the notes of the attackers, the sums and the expectations.
pub(crate) fn print(figures: &Figures, out: &mut impl Write) -> io::Result<()> {
    let mut table = Table::new(TITLES);
    for phase in &figures.phases {
        table.row(row(phase));
    }
    writeln!(out, "{table}\n")?;
    for phase in &figures.phases {
        for attacker in &phase.attackers {
            writeln!(out, "{}: {}: {}", phase.name, attacker.name, attacker.note)?;
        }
    }
    writeln!(out)?;
    compared(out, "honest viewer", &figures.viewer)?;
    compared(out, "viewer behind the relay", &figures.bystander)?;
    writeln!(out, "relay: {:?}", figures.relay)?;
    let server = &figures.server;
    writeln!(
        out,
        "server: {} MB without attacks, {} MB at most; {} log lines; it says {}\n",
        server.rss_quiet >> 20,
        server.rss_max >> 20,
        server.log_lines,
        server.said
    )?;
    for expectation in &figures.expectations {
        let mark = if expectation.is_met {
            "met    "
        } else {
            "NOT MET"
        };
        writeln!(out, "{mark} {}", expectation.sentence)?;
    }
    Ok(())
}

fn row(phase: &Phase) -> Vec<String> {
    let mut tally = Tally::default();
    for attacker in &phase.attackers {
        tally += attacker.tally;
    }
    let Phase {
        watched, near, far, ..
    } = phase;
    vec![
        phase.name.to_owned(),
        format!("{:.1}", phase.seconds),
        tally.sent.to_string(),
        (tally.sent_bytes / 1000).to_string(),
        (tally.received_bytes / 1000).to_string(),
        format!("{:.1}", watched.rate),
        format!("{:.0}", watched.longest_gap_ms),
        watched.long_gaps.to_string(),
        format!("{:.0}", phase.stall_ms),
        format!("{:.1}", watched.ticks),
        format!("{} of {}", near.connected, near.came),
        format!("{:.0}", near.slowest_ms),
        format!("{} of {}", far.connected, far.came),
        format!("{:.0}", far.slowest_ms),
        (phase.rss >> 20).to_string(),
        format!("{:.0}", phase.cpu_percent),
        phase.log_lines.to_string(),
    ]
}

fn compared(out: &mut impl Write, who: &str, compared: &Compared) -> io::Result<()> {
    let Compared {
        sent,
        decoded,
        wrong,
        refused,
        losses,
    } = compared;
    writeln!(
        out,
        "{who}: {sent} snapshots sent, {decoded} decoded, {wrong} wrong, {refused} packets refused, {} connections \
         lost {losses:?}",
        losses.len()
    )
}
