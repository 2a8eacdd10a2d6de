//! Gives a call the form of its tool's schema, where nothing is lost by it. Models write `"60"` for 60, an
//! object as a text, and fields that a tool does not have. The settled call is what is recorded, judged,
//! approved and carried out.

mod text;
mod value;

use abide_protocol::{
    spelling,
    transcript::{CallBlock, EffectClass, ToolSpec},
};
use serde_json::{Map, Value};
use value::Schema;

/// Names that models give the one text of a control tool, such as the summary of `task_complete`.
const TEXTS: &[&str] = &[
    "summary",
    "result",
    "message",
    "answer",
    "text",
    "content",
    "response",
    "output",
    "final_answer",
    "question",
    "prompt",
];

/// Settles the call's tool and its arguments. Returns what was left out, in words for the model. A call that
/// cannot be settled, or need not be, stays as it is.
pub fn settle(tools: &[ToolSpec], call: &mut CallBlock) -> Vec<String> {
    let Some(spec) = spelling::tool(tools, &call.tool) else { return Vec::new() };
    spec.name.clone_into(&mut call.tool);
    let schema = spec.parameters.value();
    let schema = Schema(&schema);
    let mut notes = Vec::new();
    let written = text::read(&call.arguments);
    let Some(mut fields) = object(spec, schema, written, &mut notes) else { return Vec::new() };
    let is_strict = serde_json::from_str::<Value>(&call.arguments)
        .is_ok_and(|value| value == Value::from(fields.clone()));
    let before = fields.clone();
    name_text(spec, schema, &mut fields);
    value::settle_fields(schema, &mut fields, &text::fields(&call.arguments), "", &mut notes);
    notes.iter_mut().for_each(|note| *note = format!("{note} (`{}`)", spec.name));
    if !is_strict || fields != before {
        call.arguments = Value::from(fields).to_string();
    }
    notes
}

/// The arguments as an object.
fn object(
    spec: &ToolSpec,
    schema: Schema<'_>,
    written: text::Written,
    notes: &mut Vec<String>,
) -> Option<Map<String, Value>> {
    match written {
        text::Written::Object { fields, rest } => {
            if rest {
                notes.push("what followed the arguments was left out".to_owned());
            }
            Some(fields)
        }
        text::Written::Text(text) => {
            let field = only_text(spec, schema)?;
            Some(Map::from_iter([(field.to_owned(), Value::from(text))]))
        }
        text::Written::Other => None,
    }
}

/// The only field that a control tool requires, if it is a text.
fn only_text<'s>(spec: &ToolSpec, schema: Schema<'s>) -> Option<&'s str> {
    let mut required = schema.required();
    let only =
        required.next().filter(|_| required.next().is_none() && spec.effect == EffectClass::Control)?;
    schema.property(only).is_some_and(|property| property.allows("string")).then_some(only)
}

/// Gives the text of a control tool its proper name, if it is the only text with a name that the tool does
/// not know.
fn name_text(spec: &ToolSpec, schema: Schema<'_>, fields: &mut Map<String, Value>) {
    let Some(field) = only_text(spec, schema).filter(|field| !fields.contains_key(*field)) else { return };
    let is_other = |(name, value): &(&String, &Value)| {
        value.is_string() && schema.property(name).is_none() && TEXTS.contains(&name.as_str())
    };
    let mut others = fields.iter().filter(is_other).map(|(name, _)| name.clone());
    if let Some(other) = others.next().filter(|_| others.next().is_none())
        && let Some(text) = fields.remove(&other)
    {
        fields.insert(field.to_owned(), text);
    }
}

#[cfg(test)]
mod tests {
    use super::settle;
    use abide_protocol::{
        CallId, JsonText,
        transcript::{CallBlock, EffectClass, Risk, Tier, ToolSpec},
    };
    use serde_json::{Value, json};

    fn tool(name: &str, effect: EffectClass, properties: &Value, required: &[&str]) -> ToolSpec {
        let parameters = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        });
        ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: JsonText::from(parameters),
            effect,
            risk: Risk::Low,
            tier: Tier::Allow,
        }
    }

    fn tools() -> Vec<ToolSpec> {
        let all = json!({
            "count": { "type": "integer" }, "share": { "type": "number" }, "all": { "type": "boolean" },
            "path": { "type": "string" }, "mark": { "type": ["string", "null"] },
            "names": { "type": "array", "items": { "type": "string" } },
            "place": { "type": "object", "properties": { "line": { "type": "integer" } }, "additionalProperties": false },
            "any": {}
        });
        let text = json!({ "summary": { "type": "string", "minLength": 1 } });
        let question = json!({ "question": { "type": "string" }, "choices": { "type": "array" } });
        let two = json!({ "handle": { "type": "string" }, "message": { "type": "string" } });
        vec![
            tool("do", EffectClass::Unsafe, &all, &["path"]),
            tool("task_complete", EffectClass::Control, &text, &["summary"]),
            tool("ask_user", EffectClass::Control, &question, &["question"]),
            tool("tell", EffectClass::Control, &two, &["handle", "message"]),
        ]
    }

    fn settled(tool: &str, arguments: &str) -> (CallBlock, Vec<String>) {
        let mut call = CallBlock {
            id: CallId(uuid::Uuid::nil()),
            provider_id: "a".to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            opaque: None,
        };
        let notes = settle(&tools(), &mut call);
        (call, notes)
    }

    #[test]
    fn arguments_get_the_types_of_the_schema_if_nothing_is_lost() {
        let same = "";
        let table = [
            (r#"{"path":"a","count": 60}"#, same),
            (r#"{"path":"a","count":60.0}"#, r#"{"count":60,"path":"a"}"#),
            (r#"{"path":"a","count":"60"}"#, r#"{"count":60,"path":"a"}"#),
            (r#"{"path":"a","count":" -7 "}"#, r#"{"count":-7,"path":"a"}"#),
            (r#"{"path":"a","count":"60.0"}"#, r#"{"count":60,"path":"a"}"#),
            (r#"{"path":"a","count":1.5}"#, same),
            (r#"{"path":"a","count":"1.5"}"#, same),
            (r#"{"path":"a","count":"many"}"#, same),
            (r#"{"path":"a","count":1e300}"#, same),
            (r#"{"path":"a","count":9007199254740993.0}"#, same),
            (r#"{"path":"a","count":"99999999999999999999"}"#, same),
            (r#"{"path":"a","count":true}"#, same),
            (r#"{"path":"a","share":"0.5"}"#, r#"{"path":"a","share":0.5}"#),
            (r#"{"path":"a","share":"NaN"}"#, same),
            (r#"{"path":"a","all":"true"}"#, r#"{"all":true,"path":"a"}"#),
            (r#"{"path":"a","all":"False"}"#, r#"{"all":false,"path":"a"}"#),
            (r#"{"path":"a","all":1}"#, same),
            (r#"{"path":"a","all":"yes"}"#, same),
            (r#"{"path":42}"#, r#"{"path":"42"}"#),
            (r#"{"path":1.5}"#, r#"{"path":"1.5"}"#),
            (r#"{"path":1.10}"#, same),
            (r#"{"path":1e3}"#, same),
            (r#"{"path":true}"#, r#"{"path":"true"}"#),
            (r#"{"path":["a"]}"#, same),
            (r#"{"path":""}"#, same),
            (r#"{"path":null}"#, same),
            (r#"{"path":"a","count":null,"mark":null,"names":null}"#, r#"{"mark":null,"path":"a"}"#),
            (r#"{"path":"a","count":"","all":"","names":"","mark":""}"#, r#"{"path":"a"}"#),
            (r#"{"path":"a","names":"[\"b\"]"}"#, r#"{"names":["b"],"path":"a"}"#),
            (r#"{"path":"a","names":[1,"b"]}"#, r#"{"names":["1","b"],"path":"a"}"#),
            (r#"{"path":"a","names":"b"}"#, same),
            (r#"{"path":"a","place":"{\"line\":\"3\"}"}"#, r#"{"path":"a","place":{"line":3}}"#),
            (r#"{"path":"a","any":"7"}"#, same),
            (r#"{"path":"{\"line\":3}"}"#, same),
        ];
        for (written, expected) in table {
            let (call, notes) = settled("do", written);
            let expected = if expected == same { written } else { expected };
            assert_eq!((call.arguments.as_str(), notes.len()), (expected, 0), "{written}");
        }
    }

    #[test]
    fn arguments_are_read_that_are_not_quite_json() {
        let table = [
            ("", r#"{}"#, 0),
            ("null", r#"{}"#, 0),
            (r#""{\"path\":\"a\"}""#, r#"{"path":"a"}"#, 0),
            (r#""\"{\\\"path\\\":\\\"a\\\"}\"""#, r#"{"path":"a"}"#, 0),
            ("```json\n{\"path\":\"a\"}\n```", r#"{"path":"a"}"#, 0),
            (r#"{"path":"a"}}"#, r#"{"path":"a"}"#, 0),
            (r#"{"path":"a"}"]}"#, r#"{"path":"a"}"#, 0),
            (r#"{"path":"a"}<|call|>"#, r#"{"path":"a"}"#, 0),
            (r#"{"path":"a"} So I write it."#, r#"{"path":"a"}"#, 1),
            ("{\"path\":\"a\nb\t\"}", r#"{"path":"a\nb\t"}"#, 0),
            // Of two values nobody knows which one is meant, and a cut value may have meant more.
            (r#"{"path":"a"}{"path":"b"}"#, r#"{"path":"a"}{"path":"b"}"#, 0),
            (r#"{"path":"a"#, r#"{"path":"a"#, 0),
            (r#"["a"]"#, r#"["a"]"#, 0),
            ("7", "7", 0),
            ("a", "a", 0),
        ];
        for (written, expected, notes) in table {
            let (call, noted) = settled("do", written);
            assert_eq!((call.arguments.as_str(), noted.len()), (expected, notes), "{written}");
        }
    }

    #[test]
    fn a_field_that_the_tool_does_not_have_is_left_out_and_named() {
        let (call, notes) = settled("do", r#"{"path":"a","depth":3,"place":{"line":1,"column":2}}"#);
        assert_eq!(call.arguments, r#"{"path":"a","place":{"line":1}}"#);
        assert_eq!(notes.len(), 2);
        assert!(notes[0].contains("`depth`") && notes[1].contains("`place.column`"), "{notes:?}");
    }

    #[test]
    fn the_only_text_of_a_control_tool_is_kept_whatever_its_name_is() {
        let same = "";
        for (tool, written, expected) in [
            ("task_complete", r#"{"result":"Done."}"#, r#"{"summary":"Done."}"#),
            ("task_complete", r#"{"message":"Done.","success":true}"#, r#"{"summary":"Done."}"#),
            ("task_complete", r#""Done.""#, r#"{"summary":"Done."}"#),
            ("task_complete", "Done.", r#"{"summary":"Done."}"#),
            ("task_complete", r#"{"summary":"Done.","result":"x"}"#, r#"{"summary":"Done."}"#),
            ("task_complete", r#"{"result":"a","answer":"b"}"#, same),
            ("task_complete", r#"{"status":"ok"}"#, same),
            ("task_complete", r#"{"summary":"Do"#, same),
            ("ask_user", r#"{"text":"Which?"}"#, r#"{"question":"Which?"}"#),
            ("tell", r#"{"handle":"a","text":"b"}"#, same),
            ("do", r#"{"text":"rm"}"#, same),
        ] {
            let (call, _) = settled(tool, written);
            let expected = if expected == same { written } else { expected };
            assert_eq!(call.arguments, expected, "{tool} {written}");
        }
    }

    #[test]
    fn a_tool_is_found_by_a_name_that_is_almost_its_own() {
        for (written, expected) in
            [("functions.do", "do"), ("DO ", "do"), ("do<|channel|>commentary", "do"), ("undo", "undo")]
        {
            assert_eq!(settled(written, "{}").0.tool, expected);
        }
    }
}
