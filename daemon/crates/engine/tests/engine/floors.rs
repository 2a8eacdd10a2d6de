//! The floors of the engine's sources.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// From the ground up.
const FLOORS: [&str; 4] = ["mode", "state", "decide", "driver"];

#[test]
fn no_floor_knows_one_above_it() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (height, floor) in (1..).zip(FLOORS) {
        let files = files(&sources.join(floor));
        assert!(!files.is_empty(), "{floor} has no files");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for above in &FLOORS[height..] {
                assert!(!text.contains(&format!("{above}::")), "{} knows {above}", file.display());
            }
        }
    }
}

/// The Rust files in this folder, at any depth.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let rust = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.chain(folders.iter().flat_map(|folder| self::files(folder))).collect()
}
