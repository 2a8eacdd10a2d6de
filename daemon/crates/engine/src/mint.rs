use abide_protocol::{RecordId, Timestamp, record::ClockMoved};
use uuid::{Builder, Uuid};

/// Makes ids from a given time and entropy; the same values give the same ids. Ids sort in the order in which
/// they were made.
#[derive(Debug, Clone)]
pub struct Mint {
    at: Timestamp,
    state: u64,
    made: u16,
    moved: ClockMoved,
}

impl Mint {
    #[must_use]
    pub const fn new(at: Timestamp, entropy: u64) -> Self {
        Self { at, state: entropy, made: 0, moved: ClockMoved { slept_ms: 0, set_by_ms: 0 } }
    }

    /// The same, with how far the clock has moved since the daemon's start, all in all.
    #[must_use]
    pub const fn moved(self, moved: ClockMoved) -> Self {
        Self { moved, ..self }
    }

    /// How far the clock has moved since the daemon's start.
    #[must_use]
    pub const fn clock(&self) -> ClockMoved {
        self.moved
    }

    /// The time given to [`Self::new`].
    #[must_use]
    pub const fn at(&self) -> Timestamp {
        self.at
    }

    /// A `UUIDv7` (RFC 9562 §5.7), with a counter in its first 12 random bits (§6.2, method 1).
    pub fn uuid(&mut self) -> Uuid {
        let mut bytes = [0; 10];
        bytes[..2].copy_from_slice(&self.made.to_be_bytes());
        bytes[2..].copy_from_slice(&self.random().to_be_bytes());
        self.made = (self.made + 1).min(0x0FFF);
        Builder::from_unix_timestamp_millis(u64::try_from(self.at.0).unwrap_or(0), &bytes).into_uuid()
    }

    pub fn record_id(&mut self) -> RecordId {
        RecordId(self.uuid())
    }

    /// `SplitMix64` (Steele, Lea, Flood 2014): enough for ids and jitter, not for secrets.
    pub fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
