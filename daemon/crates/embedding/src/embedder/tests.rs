use super::*;
use crate::published;
use std::fs;

#[test]
fn the_model_is_loaded_at_its_first_use_and_dropped_after_its_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    let mut embedder = Embedder::new(path.clone());
    assert!(embedder.embed("a", start).is_err(), "nothing is installed");
    assert_eq!(embedder.drop_idle(start), None);

    published::write_meaningless(&path);
    let vector = embedder.embed("a", start).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(embedder.drop_idle(start), Some(after(60)));
    assert_eq!(embedder.embed("a", after(30)).unwrap(), vector, "it is still loaded");
    assert_eq!(embedder.drop_idle(after(60)), Some(after(90)), "it was used meanwhile");
    assert_eq!(embedder.embed("a", after(89)).unwrap(), vector);
    assert_eq!(embedder.drop_idle(after(149)), None);
    assert!(embedder.embed("a", after(149)).is_err(), "it is loaded no more");
}
