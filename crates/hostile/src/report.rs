//! The table and the sentences below it.

use std::io::{self, Write};

use cubewire_cli::{Table, number};
use serde_json::Value;

use crate::figures::{Compared, Figures, Phase};
use crate::wire::Tally;

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
    let relay = serde_json::to_value(figures.relay).expect("figures are plain data");
    writeln!(out, "relay: {}", listed(&relay))?;
    let server = &figures.server;
    writeln!(
        out,
        "server: {} MB without attacks, {} MB at most; {} log lines; its report: {}\n",
        server.rss_quiet >> 20,
        server.rss_max >> 20,
        server.log_lines,
        listed(&server.said)
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

/// Returns titles and cells of a row.
fn row(phase: &Phase) -> [(&'static str, String); 17] {
    let mut tally = Tally::default();
    for attacker in &phase.attackers {
        tally += attacker.tally;
    }
    let whole = |count: u64| number(count as f64, 0);
    let Phase {
        watched, near, far, ..
    } = phase;
    [
        ("attack", phase.name.to_owned()),
        ("s", format!("{:.1}", phase.seconds)),
        ("sent", whole(tally.sent)),
        ("sent kB", whole(tally.sent_bytes / 1000)),
        ("got kB", whole(tally.received_bytes / 1000)),
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
        ("log lines", whole(phase.log_lines)),
    ]
}

/// Formats counts with their names, including counts in nested objects.
fn listed(counts: &Value) -> String {
    let fields = counts.as_object().into_iter().flatten();
    let counts = fields.filter_map(|(name, value)| match value {
        Value::Object(_) => Some(listed(value)),
        value => {
            let count = number(value.as_f64()?, 0);
            Some(format!("{count} {}", name.replace('_', " ")))
        }
    });
    counts.collect::<Vec<_>>().join(", ")
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_listed_with_their_names() {
        let counts = json!({ "log_lines": 2526, "traffic": { "sent": 3 }, "budgets": [] });
        assert_eq!(listed(&counts), "2\u{2009}526 log lines, 3 sent");
    }
}
