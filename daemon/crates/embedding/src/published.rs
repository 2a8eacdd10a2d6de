//! The published files for tests, and weights that mean nothing for those that need none.

use crate::{
    DIMENSION, Model, install,
    tokenizer::PIECES,
    weights::{ROWS, VOCABULARY_BYTES, Weights},
};
use std::{
    array, env, fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

pub(crate) use abide_skip::embedding_model as folder;

/// The published model, installed once for all tests.
pub(crate) fn model(test: &str) -> Option<&'static Model> {
    static MODEL: OnceLock<Model> = OnceLock::new();
    let folder = folder(test)?;
    Some(MODEL.get_or_init(|| {
        let place = target().join("tmp");
        fs::create_dir_all(&place).unwrap();
        let installed = place.join("abide-embedding-model");
        install(&folder, &installed).unwrap();
        Model::open(&installed).unwrap()
    }))
}

fn target() -> PathBuf {
    env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}

/// Weights drawn from a seed, with a vocabulary of letters and digits.
pub(crate) fn meaningless() -> Weights {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut vocabulary: String = (0..200).map(|_| "\n").collect();
    vocabulary.extend((' '..='~').filter(|c| *c != '#').flat_map(|c| [format!("{c}\n"), format!("##{c}\n")]));
    vocabulary.push_str(&" ".repeat(VOCABULARY_BYTES - vocabulary.len()));
    Weights {
        scales: vec![1.0 / 127.0; PIECES],
        words: (0..PIECES).map(|_| array::from_fn(|_| (next() * 127.0) as i8)).collect(),
        rows: (0..ROWS).map(|_| array::from_fn(|_| next() * (3.0 / DIMENSION as f32).sqrt())).collect(),
        vocabulary,
    }
}

/// Writes them as an installed model.
pub(crate) fn write_meaningless(to: &Path) {
    meaningless().write(&mut fs::File::create(to).unwrap()).unwrap();
}
