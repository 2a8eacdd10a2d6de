//! A content block in a request.

use crate::fields::Fields;
use abide_protocol::JsonText;
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;
use std::borrow::Cow;

pub(super) struct Content<'a> {
    pub(super) kind: Kind<'a>,
    /// Asks the provider to cache the request up to here.
    pub(super) cached: bool,
}

pub(super) enum Kind<'a> {
    Text {
        text: &'a str,
        opaque: Option<&'a JsonText>,
    },
    /// If `opaque` has a `type` (redacted thinking), it is the whole block.
    Thinking {
        text: &'a str,
        opaque: &'a JsonText,
    },
    Call {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: &'a RawValue,
        opaque: Option<&'a JsonText>,
    },
    Result {
        id: Cow<'a, str>,
        text: &'a str,
        failed: bool,
    },
}

#[derive(Serialize)]
pub(super) struct CacheControl {
    r#type: &'static str,
}

impl CacheControl {
    pub(super) const EPHEMERAL: Self = Self { r#type: "ephemeral" };
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let opaque = match &self.kind {
            Kind::Text { text, opaque } => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                Fields::of(*opaque)
            }
            Kind::Thinking { text, opaque } => {
                let opaque = Fields::of(Some(opaque));
                if !opaque.iter().any(|(name, _)| name == "type") {
                    map.serialize_entry("type", "thinking")?;
                    map.serialize_entry("thinking", text)?;
                }
                opaque
            }
            Kind::Call { id, name, input, opaque } => {
                map.serialize_entry("type", "tool_use")?;
                map.serialize_entry("id", id)?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("input", input)?;
                Fields::of(*opaque)
            }
            Kind::Result { id, text, failed } => {
                map.serialize_entry("type", "tool_result")?;
                map.serialize_entry("tool_use_id", id)?;
                map.serialize_entry("content", text)?;
                if *failed {
                    map.serialize_entry("is_error", &true)?;
                }
                Fields::default()
            }
        };
        for (name, value) in opaque.iter() {
            map.serialize_entry(name, value)?;
        }
        if self.cached {
            map.serialize_entry("cache_control", &CacheControl::EPHEMERAL)?;
        }
        map.end()
    }
}
