//! The pictures in the documents. Taking them needs a Vulkan driver such as Mesa's software driver, so this is
//! ignored by default: `cargo test --workspace -- --ignored`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use png::{Decoder, Transformations};

use crate::command_line::{cubewire, printed};
use crate::common::{names, root};

/// End of the file names of pictures of the window.
const SUFFIX: &str = "-1280x720-dark.png";

/// Maximum difference of a channel, caused by the smaller palette of the stored picture.
const PALETTE: u8 = 48;

/// Maximum number of pixels that differ more: fewer than a line of small text has.
const MOST: usize = 300;

fn pixels(path: &Path) -> Vec<[u8; 3]> {
    let mut decoder = Decoder::new(BufReader::new(File::open(path).unwrap()));
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let pixels = bytes.chunks_exact(info.color_type.samples());
    pixels.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}

#[test]
#[ignore = "needs a Vulkan driver"]
fn the_pictures_of_the_documents_show_the_program_as_it_is() {
    let kept = root().join("assets/screenshots");
    let mut names = names(&kept);
    names.retain(|name| name.ends_with(SUFFIX));
    assert!(names.len() > 5, "{names:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut take = cubewire(&["screenshots", "--size", "1280x720", "--theme", "dark"]);
    take.arg("--out").arg(folder.path());
    for name in &names {
        take.args(["--only", name.strip_suffix(SUFFIX).unwrap()]);
    }
    printed(&mut take);
    for name in &names {
        let [kept, now] = [kept.join(name), folder.path().join(name)].map(|path| pixels(&path));
        assert_eq!(kept.len(), now.len(), "{name}");
        let differs = |(kept, now): &(&[u8; 3], &[u8; 3])| {
            kept.iter().zip(*now).any(|(a, b)| a.abs_diff(*b) > PALETTE)
        };
        let differing = kept.iter().zip(&now).filter(differs).count();
        assert!(
            differing <= MOST,
            "{name}: {differing} pixels are not as kept; assets/screenshots/README.md says how to take it again"
        );
    }
}
