//! The file with the weights, in a form of our own that needs no work when it is read.
//!
//! It has the rows of the words in a byte a number: they are half of the model, and a text needs few of them.
//! The rest is whole. All of it is rows of [`DIMENSION`] numbers, in the order in which the model needs them.

use crate::{
    DIMENSION,
    tokenizer::{PIECES, TOKENS},
};
use std::{
    fs::File,
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
};

/// How the file begins.
const MAGIC: [u8; 8] = *b"abide-em";
/// The number of this form of the file.
const FORM: u32 = 1;
/// The SHA-256 of the published weights, in hexadecimal digits.
pub(crate) const SOURCE: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
/// The bytes of the published vocabulary, with which the file ends.
pub(crate) const VOCABULARY_BYTES: usize = 231_508;

pub(crate) const LAYERS: usize = 6;
/// How many rows wider the inside of a layer is.
pub(crate) const WIDENING: usize = 4;
/// The rows of a layer: weights of query, key and value with their biases; of what they give, with its bias
/// and a normalisation; of the way into the wide inside and of the way out, with biases and a normalisation.
const LAYER_ROWS: usize = (3 * DIMENSION + 3)
    + (DIMENSION + 1 + 2)
    + (WIDENING * DIMENSION + WIDENING)
    + (WIDENING * DIMENSION + 1 + 2);
/// The rows of the places of tokens, a normalisation, and the layers.
pub(crate) const ROWS: usize = TOKENS + 2 + LAYERS * LAYER_ROWS;

/// A row of weights.
pub(crate) type Row = [f32; DIMENSION];

/// Why the file with the weights cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot read the embedding model {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is no embedding model of this version of Abide; install the model again", path.display())]
    Other { path: PathBuf },
    #[error("the embedding model {} is damaged; install it again", path.display())]
    Damaged { path: PathBuf },
}

/// The content of the file.
pub(crate) struct Weights {
    /// What the numbers of each word's row are multiplied with.
    pub(crate) scales: Vec<f32>,
    pub(crate) words: Vec<[i8; DIMENSION]>,
    /// The rest: [`ROWS`] rows.
    pub(crate) rows: Vec<Row>,
    pub(crate) vocabulary: String,
}

impl Weights {
    pub(crate) fn read(path: &Path) -> Result<Self, OpenError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                OpenError::Damaged { path: path.to_owned() }
            }
            _ => OpenError::Read { path: path.to_owned(), source },
        };
        let mut file = BufReader::new(File::open(path).map_err(failed)?);
        let mut start = Vec::new();
        (&mut file).take(header().len() as u64).read_to_end(&mut start).map_err(failed)?;
        if start != header() {
            return Err(OpenError::Other { path: path.to_owned() });
        }
        Self::read_body(&mut file).map_err(failed)
    }

    fn read_body(file: &mut impl Read) -> io::Result<Self> {
        let sum = u32::from_le_bytes(array(file)?);
        let mut file = Summed { of: file, sum: crc32fast::Hasher::new() };
        let weights =
            Self {
                scales: filled(PIECES, 0.0, || Ok(f32::from_le_bytes(array(&mut file)?)))?,
                words: filled(PIECES, [0; DIMENSION], || {
                    Ok(array::<DIMENSION>(&mut file)?.map(u8::cast_signed))
                })?,
                rows: filled(ROWS, [0.0; DIMENSION], || read_row(&mut file))?,
                vocabulary: read_vocabulary(&mut file)?,
            };
        let is_whole = file.sum.finalize() == sum && file.of.read(&mut [0])? == 0;
        if is_whole { Ok(weights) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    pub(crate) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut body = Vec::new();
        body.extend(self.scales.iter().flat_map(|scale| scale.to_le_bytes()));
        body.extend(self.words.as_flattened().iter().map(|byte| byte.cast_unsigned()));
        body.extend(self.rows.as_flattened().iter().flat_map(|number| number.to_le_bytes()));
        body.extend(self.vocabulary.as_bytes());
        to.write_all(&header())?;
        to.write_all(&crc32fast::hash(&body).to_le_bytes())?;
        to.write_all(&body)
    }
}

/// How a file of this form with this model begins.
fn header() -> Vec<u8> {
    let dimension = DIMENSION as u32;
    [&MAGIC[..], &FORM.to_le_bytes(), &dimension.to_le_bytes(), SOURCE.as_bytes()].concat()
}

/// A list in one piece of memory, which the system gets back whole.
fn filled<T: Copy>(length: usize, empty: T, mut read: impl FnMut() -> io::Result<T>) -> io::Result<Vec<T>> {
    let mut list = vec![empty; length];
    for item in &mut list {
        *item = read()?;
    }
    Ok(list)
}

fn read_row(file: &mut impl Read) -> io::Result<Row> {
    let bytes: [u8; 4 * DIMENSION] = array(file)?;
    let numbers = bytes.as_chunks::<4>().0;
    Ok(std::array::from_fn(|at| f32::from_le_bytes(numbers[at])))
}

fn read_vocabulary(file: &mut impl Read) -> io::Result<String> {
    let mut bytes = vec![0; VOCABULARY_BYTES];
    file.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn array<const BYTES: usize>(file: &mut impl Read) -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A reader that keeps a checksum of what is read.
struct Summed<R> {
    of: R,
    sum: crc32fast::Hasher,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.of.read(buffer)?;
        self.sum.update(&buffer[..length]);
        Ok(length)
    }
}

#[cfg(test)]
mod tests;
