//! The lines that a game needs for replication, and the part of them that the README shows.

const GAME: &str = include_str!("../../../../examples/your_own_game/main.rs");

/// The part of the example that draws its bodies.
const LOOK: &str = include_str!("../../../../examples/your_own_game/look.rs");

const README: &str = include_str!("../../README.md");

const ROOT_README: &str = include_str!("../../../../README.md");

const FIGURES: &str = include_str!("../../../lab/FIGURES.md");

#[test]
fn a_game_has_few_lines_about_replication() {
    let lines: Vec<_> =
        GAME.lines().chain(LOOK.lines()).filter(|line| !line.starts_with("//")).collect();
    let marked = lines.iter().filter(|line| line.ends_with("// replication")).count();
    assert!((10..=15).contains(&marked), "{marked} lines are about replication");
    assert!(GAME.lines().count() <= 120, "{} lines", GAME.lines().count());
    let names = [
        "cubewire",
        "Cubewire",
        "Renet",
        "ClientPlugin",
        "ServerPlugin",
        "Replicated,",
        "body_kind",
        "replicate",
        "Interest",
        "ByteBudget",
        "inspector",
        "Inspector",
    ];
    for line in lines.iter().filter(|line| names.iter().any(|name| line.contains(name))) {
        let is_marked = line.ends_with("// replication");
        assert!(is_marked, "{line}");
    }
}

#[test]
fn the_readme_draws_bodies_as_the_game_does() {
    let (_, drawing) = README.split_once("## Draw the bodies").unwrap();
    let (_, block) = drawing.split_once("```rust,ignore\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    assert!(block.contains("On<Add, BodyKind>") && LOOK.contains(block));
}

#[test]
fn the_first_readme_quotes_the_game() {
    let (_, quoted) = ROOT_README.split_once("## In your own game").unwrap();
    let (_, quoted) = quoted.split_once("```rust\n").unwrap();
    let (quoted, _) = quoted.split_once("```").unwrap();
    // In the game, more calls can follow the end of a quoted statement.
    let code = |line: &'static str| {
        let line = line.trim().trim_end_matches("// replication").trim_end();
        line.trim_end_matches(';')
    };
    let game: Vec<_> = GAME.lines().map(code).collect();
    for line in quoted.lines().map(code) {
        assert!(line.starts_with("//") || game.contains(&line), "{line}");
    }
}

#[test]
fn the_readme_has_the_bytes_of_every_rung_of_a_game() {
    let (_, checked) = FIGURES.split_once("## Rungs of a game\n").unwrap();
    let (_, checked) = checked.split_once("| --- | ---: |\n").unwrap();
    let (checked, _) = checked.split_once("\n\n").unwrap();
    assert_eq!(checked.lines().count(), 10);
    for row in checked.lines() {
        assert!(README.contains(&format!("\n{row} ")), "{row}");
    }
}
