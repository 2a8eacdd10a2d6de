use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use serde_json::value::RawValue;
use std::fmt;

const NEWLINES: [char; 2] = ['\n', '\r'];

/// JSON of a shape the wire does not fix: tool arguments, schemas, metadata, provider data that is sent back
/// unchanged.
///
/// A JSON codec writes the value itself, a binary codec its text. The text is always one line, as a message
/// is: newlines between tokens become spaces (inside strings JSON allows none). Nothing else is changed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct JsonText(String);

impl JsonText {
    /// Takes a text that must be one JSON value.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        Ok(RawValue::from_string(text.into())?.into())
    }

    #[must_use]
    pub fn null() -> Self {
        Self("null".to_owned())
    }

    /// An empty object.
    #[must_use]
    pub fn empty() -> Self {
        Self("{}".to_owned())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How deeply its arrays and objects are nested.
    #[must_use]
    pub fn depth(&self) -> usize {
        let (mut depth, mut deepest) = (0_usize, 0);
        let (mut in_string, mut is_escaped) = (false, false);
        for byte in self.0.bytes() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'[' | b'{' => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        deepest
    }

    /// The value; `Null` if the text is nested deeper than `serde_json` reads.
    #[must_use]
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).unwrap_or(serde_json::Value::Null)
    }
}

impl From<Box<RawValue>> for JsonText {
    fn from(raw: Box<RawValue>) -> Self {
        let text = String::from(Box::<str>::from(raw));
        Self(if text.contains(NEWLINES) { text.replace(NEWLINES, " ") } else { text })
    }
}

impl From<&serde_json::Value> for JsonText {
    fn from(value: &serde_json::Value) -> Self {
        Self(value.to_string())
    }
}

impl From<serde_json::Value> for JsonText {
    fn from(value: serde_json::Value) -> Self {
        Self::from(&value)
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JsonText({} bytes)", self.0.len())
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
            raw.serialize(serializer)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            Box::<RawValue>::deserialize(deserializer).map(Self::from)
        } else {
            Self::parse(String::deserialize(deserializer)?).map_err(D::Error::custom)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_nest() {
        for (text, depth) in
            [("1", 0), ("[]", 1), (r#"{"a": [1, {}], "b": {}}"#, 3), (r#"["[[", "\"[[\\", {"{": 0}]"#, 2)]
        {
            assert_eq!(JsonText::parse(text).unwrap().depth(), depth, "{text}");
        }
    }
}
