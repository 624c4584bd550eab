//! The lines that a game needs for replication, and the part of them that the README shows.

const GAME: &str = include_str!("../../../../examples/your_own_game/main.rs");

/// The part of the example that draws its bodies.
const LOOK: &str = include_str!("../../../../examples/your_own_game/look.rs");

const README: &str = include_str!("../../README.md");

const ROOT_README: &str = include_str!("../../../../README.md");

const FIGURES: &str = include_str!("../../../lab/FIGURES.md");

/// The text after `start` in a section, up to `end`.
fn block(text: &'static str, section: &str, start: &str, end: &str) -> &'static str {
    let (_, section) = text.split_once(section).unwrap();
    let (_, block) = section.split_once(start).unwrap();
    block.split_once(end).unwrap().0
}

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
    let block = block(README, "## Draw the bodies", "```rust,ignore\n", "```");
    assert!(block.contains("On<Add, BodyKind>") && LOOK.contains(block));
}

#[test]
fn the_first_readme_quotes_the_game() {
    let quoted = block(ROOT_README, "## In your own game", "```rust\n", "```");
    assert!(quoted.lines().count() <= 17, "{quoted}");
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
    let checked = block(FIGURES, "## Rungs of a game\n", "| --- | ---: |\n", "\n\n");
    assert_eq!(checked.lines().count(), 11);
    for row in checked.lines() {
        assert!(README.contains(&format!("\n{row} ")), "{row}");
    }
}
