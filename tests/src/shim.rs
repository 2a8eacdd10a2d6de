//! Libraries that stand between a program and the C library, for what a test cannot have of the machine.

use crate::{process, wait};
use std::{
    io,
    path::{Path, PathBuf},
};

/// A library of the folder `shim`, compiled to this folder, for `LD_PRELOAD`; `None`: there is no C compiler.
///
/// # Panics
/// It does not compile.
#[must_use]
pub fn compiled(name: &str, folder: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("shim/{name}.c"));
    let library = folder.join(format!("{name}.so"));
    let mut cc = process::blocking_program("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
    match process::finished_blocking(&mut cc, wait::limit()) {
        Ok(output) if output.status.success() => Some(library),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        failed => panic!("the shim does not compile: {failed:?}"),
    }
}
