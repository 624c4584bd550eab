//! What replication costs a game in lines.

const GAME: &str = include_str!("../../../../examples/your_own_game.rs");

#[test]
fn a_game_has_few_lines_about_replication() {
    let lines: Vec<_> = GAME
        .lines()
        .filter(|line| !line.starts_with("//!"))
        .collect();
    let marked = lines
        .iter()
        .filter(|line| line.ends_with("// replication"))
        .count();
    assert!(
        (10..=15).contains(&marked),
        "{marked} lines are about replication"
    );
    assert!(
        GAME.lines().count() <= 120,
        "{} lines",
        GAME.lines().count()
    );
    let names = [
        "cubewire",
        "Cubewire",
        "Renet",
        "Plugin,",
        "Replicated,",
        "body_kind",
        "replicate",
        "Interest",
        "ByteBudget",
        "Inspector",
    ];
    for line in lines
        .iter()
        .filter(|line| names.iter().any(|name| line.contains(name)))
    {
        let is_marked = line.ends_with("// replication");
        assert!(is_marked, "{line}");
    }
}
