//! `figures`.

use std::fs;

use crate::lab;

const FIGURES: &str = "# Figures\n\nProse.\n\n<!-- contents -->\n\n- [One](#one)\n- [Two](#two)\n\n\
                       <!-- end of contents -->\n\n## One\n\nMore.\n\n```sh\necho '| a |'\n```\n\nOLD\n\n## Two\n\n\
                       ```sh timed\necho 1\necho 2\n```\n";
const README: &str = "a\n<!-- figures: One -->\nold\n<!-- end of figures -->\nb\n";

#[test]
fn figures_are_written_where_they_are_old_and_checked() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
    write("crates/lab/FIGURES.md", FIGURES);
    write("crates/bevy/README.md", README);
    let figures = |more: &[&str]| {
        let mut command = lab(&[&["figures"], more].concat());
        command.current_dir(root.path());
        command.assert()
    };

    let check = figures(&["--check"]).code(2);
    assert!(
        String::from_utf8_lossy(&check.get_output().stderr).contains("One; crates/bevy/README.md")
    );
    assert!(String::from_utf8_lossy(&check.get_output().stdout).contains("  - OLD\n  + | a |\n"));
    assert_eq!(read("crates/lab/FIGURES.md"), FIGURES);

    figures(&[]).success();
    let written = FIGURES.replace("OLD", "| a |");
    assert_eq!(read("crates/lab/FIGURES.md"), written);
    assert_eq!(read("crates/bevy/README.md"), README.replace("old", "\n| a |\n"));
    figures(&["--check"]).success();

    // The table of contents is written, too.
    write("crates/lab/FIGURES.md", &written.replace("- [Two](#two)\n", ""));
    figures(&["--check"]).code(2);
    figures(&[]).success();
    assert_eq!(read("crates/lab/FIGURES.md"), written);

    figures(&["Two"]).success();
    assert_eq!(read("crates/lab/FIGURES.md"), written + "\n```text\n1\n2\n```\n");

    figures(&["Three"]).code(2);
    write("crates/bevy/README.md", "<!-- figures: Three -->\n<!-- end of figures -->\n");
    figures(&[]).code(2);
    write("crates/bevy/README.md", "<!-- figures: One -->\n");
    figures(&[]).code(2);
}
