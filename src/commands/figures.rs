//! Prints the figures of a run as a table or as JSON.

use std::io::{self, Write};

use cubewire_cli::{Table, number};
use serde::Serialize;
use serde_json::Value;

/// Prints figures as JSON, or as a table with one row per figure.
pub(super) fn print(figures: &impl Serialize, json: bool, out: &mut impl Write) -> io::Result<()> {
    let figures = serde_json::to_value(figures).expect("figures are plain data");
    if json {
        return writeln!(out, "{figures:#}");
    }
    let mut table = Table::new(["figure", "value"]);
    add(&mut table, "", "", &figures);
    writeln!(out, "{table}")
}

/// Adds a row for each figure that is not null, labelled with the names of the fields that lead to it. An item of a
/// list is labelled with its first field. If that field is a name, it replaces the labels before it: `left, delta mean
/// kbps`.
fn add(table: &mut Table, of: &str, name: &str, value: &Value) {
    let under = |key: &str| format!("{name} {}", key.replace('_', " ")).trim().to_owned();
    let cell = match value {
        Value::Null => return,
        Value::Object(fields) => {
            for (key, value) in fields {
                add(table, of, &under(key), value);
            }
            return;
        }
        Value::Array(items) => {
            for item in items {
                let mut fields = item.as_object().cloned().unwrap_or_default();
                let first = fields.keys().next().cloned().unwrap_or_default();
                let label = fields.shift_remove(&first).unwrap_or_default();
                let fields = Value::Object(fields);
                match label {
                    // A number is an identifier, not a name.
                    Value::String(label) if label.parse::<u64>().is_ok() => {
                        add(table, of, &under(&label), &fields);
                    }
                    Value::String(label) if of.is_empty() => add(table, &label, "", &fields),
                    Value::String(label) => add(table, &format!("{of}, {label}"), "", &fields),
                    label => add(table, of, &under(&label.to_string()), &fields),
                }
            }
            return;
        }
        figure => text(figure),
    };
    table.row([format!("{of} {name}").trim().to_owned(), cell]);
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(figure) => {
            let text = number(figure.as_f64().unwrap_or_default(), 3);
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_and_programs_are_told_the_same() {
        let figures = json!({
            "wire_kbps": 12.345678,
            "viewer": null,
            "parts": [
                { "part": "left", "shows": "simulation" },
                { "part": "right", "by_stages": [{ "stages": "delta", "mean_kbps": 17_368.8 }] },
            ],
            "viewers": [{ "viewer": "1234", "kbps": 64 }],
        });
        let print = |json| {
            let mut out = Vec::new();
            print(&figures, json, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let rows: Vec<_> = print(false).lines().skip(2).map(str::to_owned).collect();
        let wanted = [
            "| wire kbps              |     12.346 |",
            "| left shows             | simulation |",
            "| right, delta mean kbps |   17\u{2009}368.8 |",
            "| viewers 1234 kbps      |         64 |",
        ];
        assert_eq!(rows, wanted);
        assert_eq!(serde_json::from_str::<Value>(&print(true)).unwrap(), figures);
    }
}
