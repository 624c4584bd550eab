//! Figures of a run: a table for people, or JSON for programs.

use std::io::{self, Write};

use cubewire_cli::Table;
use serde::Serialize;
use serde_json::Value;

/// Prints figures as JSON, or as a table with a row for each.
///
/// # Errors
/// If writing to `out` fails.
pub(super) fn print(figures: &impl Serialize, json: bool, out: &mut impl Write) -> io::Result<()> {
    let figures = serde_json::to_value(figures).expect("figures are plain data");
    if json {
        return writeln!(out, "{figures:#}");
    }
    let mut table = Table::new(["figure", "value"]);
    add(&mut table, "", &figures);
    writeln!(out, "{table}")
}

/// Adds a row for each figure that is not null. It is named after the fields that lead to it; of a list, after the first
/// field of its item.
fn add(table: &mut Table, name: &str, value: &Value) {
    let under = |key: &str| format!("{name} {}", key.replace('_', " "));
    let cell = match value {
        Value::Null => return,
        Value::Object(fields) => {
            for (key, value) in fields {
                add(table, under(key).trim(), value);
            }
            return;
        }
        Value::Array(items) => {
            for item in items {
                let mut fields = item.as_object().cloned().unwrap_or_default();
                let first = fields.keys().next().cloned().unwrap_or_default();
                let label = fields.shift_remove(&first);
                let label = label.as_ref().map_or(String::new(), text);
                add(table, under(&label).trim(), &Value::Object(fields));
            }
            return;
        }
        figure => text(figure),
    };
    table.row([name.to_owned(), cell]);
}

/// A number has at most three decimals.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or_default();
            ((number * 1000.0).round() / 1000.0).to_string()
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
            "halves": [{ "half": "left", "shows": "simulation" }, { "half": "right", "mean_kbps": 5 }],
        });
        let print = |json| {
            let mut out = Vec::new();
            print(&figures, json, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let rows: Vec<_> = print(false).lines().skip(2).map(str::to_owned).collect();
        let wanted = [
            "| wire kbps              |     12.346 |",
            "| halves left shows      | simulation |",
            "| halves right mean kbps |          5 |",
        ];
        assert_eq!(rows, wanted);
        assert_eq!(
            serde_json::from_str::<Value>(&print(true)).unwrap(),
            figures
        );
    }
}
