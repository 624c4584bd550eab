//! The table and the sentences below it.

use std::io::{self, Write};

use cubewire_cli::Table;

use crate::figures::{Compared, Figures, Phase};
use crate::wire::Tally;

/// Prints the phases, the notes of the attackers, the sums and the expectations.
pub(crate) fn print(figures: &Figures, out: &mut impl Write) -> io::Result<()> {
    let rows = figures.phases.iter().map(row);
    let rows: Vec<_> = rows.collect();
    let mut table = Table::new(rows[0].each_ref().map(|(title, _)| *title));
    for row in rows {
        table.row(row.map(|(_, cell)| cell));
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

/// Titles and cells. The quiet phase is always there.
fn row(phase: &Phase) -> [(&'static str, String); 17] {
    let mut tally = Tally::default();
    for attacker in &phase.attackers {
        tally += attacker.tally;
    }
    let Phase {
        watched, near, far, ..
    } = phase;
    [
        ("attack", phase.name.to_owned()),
        ("s", format!("{:.1}", phase.seconds)),
        ("sent", tally.sent.to_string()),
        ("sent kB", (tally.sent_bytes / 1000).to_string()),
        ("got kB", (tally.received_bytes / 1000).to_string()),
        ("snapshots/s", format!("{:.1}", watched.rate)),
        ("gap ms", format!("{:.0}", watched.longest_gap_ms)),
        ("long gaps", watched.long_gaps.to_string()),
        ("stall ms", format!("{:.0}", phase.stall_ms)),
        ("ticks/s", format!("{:.1}", watched.ticks)),
        ("newcomers", format!("{} of {}", near.connected, near.came)),
        ("slowest ms", format!("{:.0}", near.slowest_ms)),
        ("from afar", format!("{} of {}", far.connected, far.came)),
        ("slowest ms", format!("{:.0}", far.slowest_ms)),
        ("MB", (phase.rss >> 20).to_string()),
        ("% CPU", format!("{:.0}", phase.cpu_percent)),
        ("log lines", phase.log_lines.to_string()),
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
