//! The inputs that fuzzing starts from: the wire's golden files, and `seeds/`.

use serde_json::value::RawValue;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The inputs for a target, by its name.
///
/// # Panics
/// Files of the repository are missing or have another format.
#[must_use]
pub fn of(target: &str) -> Vec<Vec<u8>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = files(&here.join("../../protocol/tests/golden"));
    let found: Vec<Vec<u8>> = match target {
        "frame" => golden.iter().filter(|file| has_end(file, "hex")).map(|file| unhex(&text(file))).collect(),
        "hello" => golden
            .iter()
            .filter(|file| has_end(file, "json") && is_hello(file))
            .map(|file| line(file))
            .collect(),
        "line" => golden
            .iter()
            .filter(|file| has_end(file, "json") && !is_hello(file))
            .map(|file| line(file))
            .collect(),
        "stored_record" => {
            let mut records: Vec<String> =
                golden.iter().filter(|file| is_record(file)).map(|file| record(file)).collect();
            records.push(records.join("\n"));
            records.into_iter().map(String::into_bytes).collect()
        }
        other => files(&here.join("seeds").join(other)).iter().map(|file| text(file).into_bytes()).collect(),
    };
    assert!(!found.is_empty(), "nothing to begin with for {target}");
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn line(file: &Path) -> Vec<u8> {
    text(file).trim().as_bytes().to_vec()
}

fn has_end(file: &Path, end: &str) -> bool {
    file.extension().is_some_and(|extension| extension == end)
}

fn begins(file: &Path, beginning: &str) -> bool {
    file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(beginning))
}

fn is_hello(file: &Path) -> bool {
    begins(file, "hello")
}

fn is_record(file: &Path) -> bool {
    has_end(file, "json") && begins(file, "notification.taskEvent.")
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (16 * pair[0] + pair[1]) as u8).collect()
}

/// The record as the database stores it.
fn record(file: &Path) -> String {
    let told = text(file);
    let (_, body) = told.split_once(r#""body":{""#).expect("a record has a body");
    let (kind, fields) = body.split_once("\":").expect("a body is of a kind");
    let mut fields = serde_json::Deserializer::from_str(fields).into_iter::<&RawValue>();
    let fields = fields.next().expect("a body has fields").expect("a golden file is JSON");
    format!("{kind} {fields}")
}
