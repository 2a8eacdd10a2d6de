//! JSON objects of which only some fields are known. The others are kept byte for byte and in order.

use abide_protocol::JsonText;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use std::fmt;

/// An object's fields, each as it stands in the text.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    pub(crate) fn parse(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The fields of a block's `opaque`, none if it is no object.
    pub(crate) fn of(opaque: Option<&'a JsonText>) -> Self {
        opaque.and_then(|json| Self::parse(json.as_str()).ok()).unwrap_or_default()
    }

    /// Takes a field out. `null` is the same as absent.
    pub(crate) fn take_raw(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.0.iter().position(|(n, _)| n == name)?;
        let (_, value) = self.0.remove(at);
        (value.get() != "null").then_some(value)
    }

    /// Takes a field out and reads it.
    pub(crate) fn take<T: Deserialize<'a>>(&mut self, name: &str) -> serde_json::Result<Option<T>> {
        self.take_raw(name).map(|raw| serde_json::from_str(raw.get())).transpose()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// The unknown fields of an object, gathered over a stream: lists and texts grow, other values are replaced.
#[derive(Debug, Default)]
pub(crate) struct Gathered(Vec<(String, Value)>);

#[derive(Debug)]
enum Value {
    List(Vec<Box<RawValue>>),
    Text(String),
    Other(Box<RawValue>),
}

impl Gathered {
    /// Adds the fields left in `fields`; returns how many bytes were added.
    pub(crate) fn add(&mut self, fields: &Fields<'_>) -> serde_json::Result<usize> {
        let mut size = 0;
        for (name, raw) in fields.iter().filter(|(_, raw)| raw.get() != "null") {
            size += name.len() + raw.get().len();
            let value = match raw.get().as_bytes().first() {
                Some(b'[') => Value::List(serde_json::from_str(raw.get())?),
                Some(b'"') => Value::Text(serde_json::from_str(raw.get())?),
                _ => Value::Other(raw.to_owned()),
            };
            match (self.0.iter_mut().find(|(n, _)| n == name).map(|(_, v)| v), value) {
                (None, value) => self.0.push((name.to_owned(), value)),
                (Some(Value::List(list)), Value::List(more)) => list.extend(more),
                (Some(Value::Text(text)), Value::Text(more)) => text.push_str(&more),
                (Some(old), value) => *old = value,
            }
        }
        Ok(size)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a `null` under `name`: a placeholder for the block's own text when it is sent back.
    pub(crate) fn place_text(&mut self, name: &str) {
        self.0.push((name.to_owned(), Value::Other(RawValue::NULL.to_owned())));
    }

    /// The fields as a block's `opaque`: one object, or `None`.
    pub(crate) fn into_opaque(self) -> Option<JsonText> {
        if self.0.is_empty() {
            return None;
        }
        let mut text = String::from("{");
        for (name, value) in self.0 {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&serde_json::Value::String(name).to_string());
            text.push(':');
            match value {
                Value::List(list) => {
                    text.push('[');
                    for (i, item) in list.iter().enumerate() {
                        if i > 0 {
                            text.push(',');
                        }
                        text.push_str(item.get());
                    }
                    text.push(']');
                }
                Value::Text(string) => text.push_str(&serde_json::Value::String(string).to_string()),
                Value::Other(raw) => text.push_str(raw.get()),
            }
        }
        text.push('}');
        JsonText::parse(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_keep_their_bytes_and_grow_over_a_stream() {
        let mut gathered = Gathered::default();
        for delta in [
            r#"{"known":1,"z":{"n":1.000000000000000000001},"list":[{"a": 1}],"sig":"ab"}"#,
            r#"{"known":2,"list":[2],"sig":"cd","none":null}"#,
        ] {
            let mut fields = Fields::parse(delta).unwrap();
            assert!(fields.take::<u32>("known").unwrap().is_some());
            gathered.add(&fields).unwrap();
        }
        assert_eq!(
            gathered.into_opaque().unwrap().as_str(),
            r#"{"z":{"n":1.000000000000000000001},"list":[{"a": 1},2],"sig":"abcd"}"#
        );
    }

    #[test]
    fn no_fields_are_no_opaque() {
        let mut gathered = Gathered::default();
        gathered.add(&Fields::parse(r#"{"refusal":null}"#).unwrap()).unwrap();
        assert_eq!(gathered.into_opaque(), None);
    }
}
