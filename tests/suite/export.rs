//! Exported measurements, from a game without a window and from the panel.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use cubewire::controls::Action;
use cubewire::game::headless::LaneGame;
use cubewire::recording::RecordingFolder;
use cubewire::recording::export::{COLUMNS, ExportPlugin};
use cubewire::replication::Totals;
use cubewire::view::{Notices, ViewPlugin};
use cubewire_codec::BitKind;
use serde_json::Value;

use crate::command_line::{cubewire, json, printed};
use crate::common::{eventually, lane, names, pause, root, script, script_path, steps};

/// A table with rows by column name.
struct Table {
    names: Vec<String>,
    rows: Vec<HashMap<String, String>>,
}

impl Table {
    fn read(path: &Path) -> Self {
        let mut reader = csv::Reader::from_path(path).unwrap();
        let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let rows = reader.records().map(|row| {
            let row = row.unwrap();
            let cells = row.iter().map(str::to_owned);
            names.iter().cloned().zip(cells).collect()
        });
        let rows = rows.collect();
        Self { names, rows }
    }

    /// Returns a column, with `None` for empty cells.
    fn column(&self, name: &str) -> Vec<Option<f64>> {
        let number = |row: &HashMap<String, String>| match &*row[name] {
            "" => None,
            number => Some(number.parse().unwrap()),
        };
        self.rows.iter().map(number).collect()
    }

    fn sum(&self, name: &str) -> f64 {
        self.column(name).into_iter().flatten().sum()
    }

    fn count(&self, name: &str) -> usize {
        self.column(name).into_iter().flatten().count()
    }
}

fn bits(kind: BitKind) -> String {
    format!("{kind}_bits")
}

const NETWORK: &str = "hostile";

/// Creates a game over a network that loses, delays and duplicates packets.
fn lossy_game(rung: &str) -> LaneGame {
    let settings = lane(&format!("{rung},link:{NETWORK}"));
    let plugins = (ViewPlugin, ExportPlugin);
    LaneGame::with_plugins(Some(script("katamari")), settings, plugins).unwrap()
}

#[test]
fn the_table_of_a_play_sums_to_its_totals() {
    let folder = tempfile::tempdir().unwrap();
    for rung in ["changed-flags", "predicted"] {
        let path = folder.path().join("play.csv");
        let mut play = cubewire(&["headless", "--rung", rung, "--network", NETWORK, "--json"]);
        play.args(["--seconds", "4", "--script"]);
        play.arg(script_path("katamari")).arg("--csv");
        let totals = json(play.arg(&path));
        assert_eq!((&totals["rung"], &totals["wrong"]), (&rung.into(), &0.into()));
        let table = Table::read(&path);
        assert!(table.rows.iter().all(|row| row["rung"] == rung));
        assert_every_tick(&table);
        assert_totals(&table, &totals);
        let mut game = lossy_game(rung);
        assert_measured(&table, &totals, &mut game);
        assert_errors(&table);
    }
    assert_eq!(names(folder.path()), ["play.csv"]);
}

fn assert_every_tick(table: &Table) {
    let names = COLUMNS.iter().map(|column| &*column.name);
    assert!(names.eq(table.names.iter().map(String::as_str)));
    let ticks: Vec<_> = table.column("tick").into_iter().flatten().collect();
    assert_eq!(ticks.len(), 240);
    assert!(ticks.windows(2).all(|pair| pair[1] == pair[0] + 1.0));
}

fn assert_totals(table: &Table, totals: &Value) {
    let figure = |name: &str| totals[name].as_f64().unwrap();
    assert_eq!(totals["network"], NETWORK);
    let snapshots = figure("snapshots");
    assert_eq!(snapshots, 240.0);
    let near = |sum: f64, mean: f64| (sum - mean * snapshots).abs() < 1e-3;
    assert!(near(table.sum("payload_bytes"), figure("payload_bytes")));
    assert!(near(table.sum("changed_cubes"), figure("changed_cubes")));
    for kind in BitKind::DEMO {
        let listed = totals["bits"].as_array().unwrap().iter();
        let listed = listed.filter(|bits| bits["kind"] == kind.name());
        let mean = listed.map(|bits| bits["bits_per_snapshot"].as_f64().unwrap()).sum();
        assert!(near(table.sum(&bits(kind)), mean), "{kind}");
    }
    for (name, accounting) in [("article_bytes", "article"), ("wire_bytes", "wire")] {
        let kbps = table.sum(name) * 8.0 / 1000.0 / 4.0;
        let mean = totals[accounting]["mean_kbps"].as_f64().unwrap();
        assert!((kbps - mean).abs() < 1e-6, "{name}: {kbps}, {mean}");
    }
    for row in &table.rows {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        let sum: f64 = BitKind::DEMO.map(|kind| number(&bits(kind))).iter().sum();
        let wanted = number("payload_bytes") * 8.0;
        assert!((sum - wanted).abs() < 1e-6, "{sum} is not {wanted}");
    }
}

/// Compares the table with `game`, which is the same play in this process.
fn assert_measured(table: &Table, totals: &Value, game: &mut LaneGame) {
    let mut late = 0;
    for _ in 0..240 {
        game.step();
        late += game.meter().samples().back().unwrap().late;
    }
    let link = game.meter().link;
    assert!(link.lost > 25 && late > 0, "{link:?}, {late} late");
    let lost = link.lost + link.queue_dropped;
    assert_eq!(table.sum("lost_datagrams"), lost as f64);
    assert_eq!(table.sum("late"), late as f64);
    let received = totals["received"].as_f64().unwrap();
    assert_eq!(table.count("arrived_after_ticks") as f64, received);
    assert_eq!(game.meter().received as f64, received);
    let starved = game.meter().samples().iter();
    let starved = starved.filter(|sample| sample.is_starved()).count();
    assert_eq!(table.sum("starved"), starved as f64);
}

/// At the start there is no display, then one with errors for a while.
fn assert_errors(table: &Table) {
    let error = table.column("max_error_mm");
    assert_eq!(error[0], None);
    assert!(table.count("max_error_mm") > 180 && table.sum("max_error_mm") > 0.0);
    let mean = table.column("mean_error_mm");
    let pairs = mean.iter().zip(&error);
    assert!(pairs.flat_map(|(mean, max)| Some((*mean)? <= (*max)? + 1e-3)).all(|is| is));
}

#[test]
fn a_table_leaves_out_what_is_not_measured_and_what_is_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("play.csv");
    let arguments = ["headless", "--seconds", "4", "--skip", "2", "--csv"];
    printed(cubewire(&arguments).arg(&path));
    let table = Table::read(&path);
    assert_eq!(table.rows.len(), 120);
    assert!(table.rows.iter().all(|row| row["rung"] == "changed-flags"));
    assert_eq!(table.rows[0]["seconds"].parse::<f64>().unwrap().floor(), 2.0);
    // The last packets are still in flight.
    let arrived = table.column("arrived_after_ticks");
    assert!(arrived[..110].iter().all(Option::is_some));
    assert_eq!((arrived[119], table.column("late")[119]), (None, Some(0.0)));
}

#[test]
fn the_button_saves_the_last_minute() {
    let folder = tempfile::tempdir().unwrap();
    let mut game = lossy_game("predicted");
    game.app.insert_resource(RecordingFolder(folder.path().to_owned()));
    game.app.init_resource::<Notices>();
    steps(&mut game, 700);
    pause(&mut game.app, true);
    game.app.world_mut().trigger(Action::SaveCsv);
    let said = eventually("a notice", || {
        game.app.update();
        let notices = game.app.world().resource::<Notices>();
        notices.sentences().next().map(str::to_owned)
    });
    let path = folder.path().join("cubewire-1.csv");
    assert_eq!(said, format!("{}: the last 11.7 s of the right half", path.display()));
    let samples = game.meter().samples();
    let table = Table::read(&path);
    let totals = Totals::of(samples);
    assert_eq!(table.rows.len(), samples.len());
    assert_eq!(table.sum("payload_bytes"), totals.payload_bytes as f64);
    assert_eq!(table.sum("sent_cubes"), totals.sent_bodies as f64);
}

#[test]
fn the_document_names_every_column() {
    let document = root().join("src/recording/EXPORTS.md");
    let document = fs::read_to_string(document).unwrap();
    for column in COLUMNS.iter() {
        let name = match column.name.strip_suffix("_bits") {
            Some(kind) => format!("`{kind}`"),
            None => format!("`{}`", column.name),
        };
        assert!(document.contains(&name), "EXPORTS.md: no {name}");
    }
}
