//! No terminal input on this platform yet: commands print how to answer from elsewhere.

use super::Draft;
use std::{io, path::Path, time::Duration};

#[derive(Clone, Copy)]
pub(crate) struct Terminal(std::convert::Infallible);

impl Terminal {
    pub(crate) fn open() -> Option<Self> {
        None
    }

    pub(crate) async fn line(&self) -> io::Result<Option<String>> {
        match self.0 {}
    }

    pub(crate) async fn typed(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub(crate) async fn edit(&self, _: &str, _: &Draft) -> io::Result<super::Edited> {
        match self.0 {}
    }

    pub(crate) fn call_off(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub(crate) async fn secret(&self) -> io::Result<Option<String>> {
        match self.0 {}
    }

    pub(crate) async fn key(&self) -> io::Result<u8> {
        match self.0 {}
    }

    pub(crate) async fn settle(&self, _: Duration) -> io::Result<Vec<u8>> {
        match self.0 {}
    }

    pub(crate) fn forget_typed(&self) -> io::Result<()> {
        match self.0 {}
    }
}

pub(crate) struct Editor(std::convert::Infallible);

impl Editor {
    pub(crate) fn open(terminal: Terminal, _: Vec<String>) -> io::Result<Self> {
        match terminal.0 {}
    }

    pub(crate) async fn line(&mut self, _: &str, _: &[String], _: &Path) -> io::Result<super::Edited> {
        match self.0 {}
    }

    pub(crate) async fn lend<T>(&self, _: impl Future<Output = T>) -> io::Result<T> {
        match self.0 {}
    }
}
