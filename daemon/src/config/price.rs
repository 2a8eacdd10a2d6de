use serde::{Deserialize, Deserializer, de::Error as _};

/// A model's price in micro-dollars per million tokens. (The file has dollars per million tokens.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    #[serde(deserialize_with = "dollars")]
    pub input: u64,
    #[serde(deserialize_with = "dollars")]
    pub output: u64,
    /// `None`: as `input`.
    #[serde(default, deserialize_with = "maybe_dollars")]
    pub cache_read: Option<u64>,
    /// `None`: as `input`.
    #[serde(default, deserialize_with = "maybe_dollars")]
    pub cache_write: Option<u64>,
}

impl From<Price> for abide_model::Price {
    fn from(price: Price) -> Self {
        Self {
            input: price.input,
            output: price.output,
            cache_read: price.cache_read.unwrap_or(price.input),
            cache_write: price.cache_write.unwrap_or(price.input),
        }
    }
}

/// More than any model costs, and small enough for a float to be exact.
const MAX_DOLLARS: f64 = 1_000_000.0;

fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let dollars = f64::deserialize(deserializer)?;
    if !(0.0..=MAX_DOLLARS).contains(&dollars) {
        return Err(D::Error::custom("a price is in dollars per million tokens, from 0 to 1000000"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was just checked")]
    let micros = (dollars * 1e6).round() as u64;
    Ok(micros)
}

fn maybe_dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    dollars(deserializer).map(Some)
}
