//! Renders protocol/README.md from the sources, and compares.

mod source;

use crate::golden::is_blessed;
use abide_protocol::{ErrorKind, hello, method::Request, notification::Notification};
use source::{Constant, Definition, Field, Row, Shape, Source};
use std::{collections::BTreeSet, fmt::Write as _, fs, path::PathBuf};

const PAGE: &str = include_str!("reference/page.md");

/// `ABIDE_BLESS=1` writes the page anew.
#[test]
fn the_page_is_rendered_from_the_sources() {
    let page = render(&Source::read());
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("README.md");
    if is_blessed() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(page == found, "{} is not what the sources say: ABIDE_BLESS=1 writes it", path.display());
}

#[test]
fn the_parser_finds_every_method_notification_error_and_limit() {
    let source = Source::read();
    let names = |rows: &[Row]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&source.methods), Request::NAMES);
    assert_eq!(names(&source.notifications), Notification::NAMES);
    for row in source.methods.iter().chain(&source.notifications) {
        assert!(!row.meaning.is_empty(), "{} has no meaning", row.name);
    }
    assert_eq!(errors(&source).lines().count(), ErrorKind::ALL.len());
    assert_eq!(source.value("MAX_FRAME"), hello::MAX_FRAME as u64);
    assert_eq!(source.value("MAX_PROMPT"), abide_protocol::limits::MAX_PROMPT as u64);
    assert!(source.constants.iter().all(|constant| !constant.meaning.is_empty()));
}

fn render(source: &Source) -> String {
    let mut linked = BTreeSet::new();
    let mut methods = String::new();
    for Row { name, kind, meaning, takes, gives } in &source.methods {
        let _ = write!(methods, "### `{name}`\n\n{meaning} ({kind})\n\n");
        table(&mut methods, source, "`params`", takes, &mut linked);
        table(&mut methods, source, "`result`", gives.as_deref().unwrap_or_default(), &mut linked);
    }
    let mut notifications = String::new();
    for Row { name, kind, meaning, takes, .. } in &source.notifications {
        let _ = write!(notifications, "### `{name}`\n\n{meaning} ({kind})\n\n");
        table(&mut notifications, source, "`params`", takes, &mut linked);
    }
    let fields = |name: &str, linked: &mut BTreeSet<String>| {
        let Shape::Struct(fields) = &source.definition(name).shape else { panic!("{name} is no struct") };
        rows(source, fields, linked)
    };
    let parts = [
        ("hello", fields("HelloParams", &mut linked)),
        ("hello-reply", fields("HelloReply", &mut linked)),
        ("error-data", fields("ErrorData", &mut linked)),
        ("bincode", hello::BINCODE.to_owned()),
        ("methods", methods),
        ("notifications", notifications),
        ("errors", errors(source)),
        ("limits", limits(source)),
        ("types", types(source, linked)),
    ];
    let mut page = PAGE.to_owned();
    for (name, part) in parts {
        let place = format!("{{{{{name}}}}}");
        assert!(page.contains(&place), "{place}");
        page = page.replace(&place, part.trim_end());
    }
    page
}

/// A struct's fields as a table, after its docstring.
fn table(out: &mut String, source: &Source, heading: &str, name: &str, linked: &mut BTreeSet<String>) {
    let Definition { meaning, shape, .. } = source.definition(name);
    let Shape::Struct(fields) = shape else { panic!("{name} is no struct") };
    if !meaning.is_empty() {
        let _ = write!(out, "{heading}: {meaning}\n\n");
    }
    let _ = write!(out, "| {heading} | type | meaning |\n|---|---|---|\n{}\n", rows(source, fields, linked));
}

fn rows(source: &Source, fields: &[Field], linked: &mut BTreeSet<String>) -> String {
    let mut out = String::new();
    for Field { name, kind, meaning, is_optional } in fields {
        let optional = if *is_optional { "?" } else { "" };
        let _ = writeln!(out, "| `{name}` | {}{optional} | {meaning} |", shown(source, kind, linked));
    }
    out
}

/// A Rust type as the page names it.
fn shown(source: &Source, kind: &str, linked: &mut BTreeSet<String>) -> String {
    let inner = |wrapper: &str| kind.strip_prefix(wrapper).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inner) = inner("Option<").or_else(|| inner("Box<")) {
        return shown(source, inner, linked);
    }
    if let Some(inner) = inner("Vec<") {
        return format!("list of {}", shown(source, inner, linked));
    }
    if let Some(inner) = inner("BTreeMap<TaskId, ") {
        return format!("object of {} by task id", shown(source, inner, linked));
    }
    match kind.rsplit("::").next().unwrap_or(kind) {
        "String" => "text".to_owned(),
        "bool" => "true or false".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "i32" | "i64" => "number".to_owned(),
        "BTreeMap<String, String>" => "object of texts".to_owned(),
        "JsonText" => "any JSON".to_owned(),
        "Timestamp" => "time".to_owned(),
        "Seq" | "SubscriptionId" => "number".to_owned(),
        name if source.ids.contains(name) => "id".to_owned(),
        name => {
            source.definition(name);
            linked.insert(name.to_owned());
            format!("[{name}](#{})", name.to_lowercase())
        }
    }
}

/// All types that are linked to, and those that they link to in turn.
fn types(source: &Source, mut wanted: BTreeSet<String>) -> String {
    let mut sections = std::collections::BTreeMap::new();
    while let Some(name) = wanted.pop_first() {
        if sections.contains_key(&name) {
            continue;
        }
        let Definition { meaning, shape, .. } = source.definition(&name);
        let mut section = format!("### {name}\n\n");
        if !meaning.is_empty() {
            let _ = write!(section, "{meaning}\n\n");
        }
        let body = match shape {
            Shape::Struct(fields) => {
                format!("| field | type | meaning |\n|---|---|---|\n{}", rows(source, fields, &mut wanted))
            }
            Shape::Enum(variants) => {
                let mut body = "| value | content | meaning |\n|---|---|---|\n".to_owned();
                for Field { name, kind, meaning, .. } in variants {
                    let content =
                        if kind.is_empty() { String::new() } else { shown(source, kind, &mut wanted) };
                    let _ = writeln!(body, "| `{name}` | {content} | {meaning} |");
                }
                body
            }
        };
        section.push_str(&body);
        sections.insert(name, section);
    }
    sections.into_values().collect::<Vec<_>>().join("\n")
}

fn errors(source: &Source) -> String {
    let Shape::Enum(kinds) = &source.definition("ErrorKind").shape else { panic!("no enum") };
    let mut out = String::new();
    for (kind, Field { name, meaning, .. }) in ErrorKind::ALL.iter().zip(kinds) {
        let on_the_wire = serde_json::to_value(kind).unwrap();
        assert_eq!(on_the_wire.as_str(), Some(name.as_str()));
        let retryable = if kind.retryable() { "yes" } else { "" };
        let _ = writeln!(out, "| `{name}` | {} | {retryable} | {meaning} |", kind.code());
    }
    out
}

fn limits(source: &Source) -> String {
    let row = |c: &Constant| format!("| `{}` | {} | {} |\n", c.name, c.value, c.meaning);
    source.constants.iter().map(row).collect()
}
