//! Reads the crate's sources, as `rustfmt` leaves them: one field, variant or row of a table a line.

use std::{collections::BTreeSet, fs, path::Path};

#[derive(Default)]
pub(super) struct Source {
    pub(super) methods: Vec<Row>,
    pub(super) notifications: Vec<Row>,
    pub(super) constants: Vec<Constant>,
    pub(super) ids: BTreeSet<String>,
    definitions: Vec<Definition>,
}

/// A row of the table of methods or notifications.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) meaning: String,
    pub(super) takes: String,
    /// The reply's type; a notification has none.
    pub(super) gives: Option<String>,
}

pub(super) struct Constant {
    pub(super) name: String,
    pub(super) value: u64,
    pub(super) meaning: String,
}

/// A struct or an enum.
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) meaning: String,
    pub(super) shape: Shape,
}

pub(super) enum Shape {
    Struct(Vec<Field>),
    Enum(Vec<Field>),
}

/// A field, or a variant with the type of its content.
pub(super) struct Field {
    /// On the wire.
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) meaning: String,
    pub(super) is_optional: bool,
}

/// The documentation and attributes before an item.
#[derive(Default)]
struct Before {
    doc: Vec<String>,
    attributes: String,
}

impl Before {
    /// Takes the line if it is documentation or an attribute.
    fn takes(&mut self, line: &str) -> bool {
        if let Some(doc) = line.strip_prefix("///") {
            self.doc.push(doc.trim().replace("[`", "`").replace("`]", "`").replace('|', "\\|"));
        } else if line.starts_with("#[") {
            self.attributes.push_str(line);
        } else {
            return false;
        }
        true
    }

    fn meaning(&self) -> String {
        self.doc.join(" ")
    }
}

impl Source {
    pub(super) fn read() -> Self {
        let mut source = Self::default();
        source.folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
        source
    }

    pub(super) fn definition(&self, name: &str) -> &Definition {
        let name = name.rsplit("::").next().unwrap_or(name);
        self.definitions.iter().find(|d| d.name == name).unwrap_or_else(|| panic!("there is no type {name}"))
    }

    pub(super) fn value(&self, constant: &str) -> u64 {
        self.constants.iter().find(|c| c.name == constant).unwrap_or_else(|| panic!("{constant}")).value
    }

    fn folder(&mut self, folder: &Path) {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            // The codecs do not belong on the page.
            if path.is_dir() && !path.ends_with("codec") {
                self.folder(&path);
            } else if path.is_file() && !path.ends_with("codec.rs") {
                self.file(&fs::read_to_string(&path).unwrap());
            }
        }
    }

    fn file(&mut self, text: &str) {
        let mut lines = text.lines();
        let mut before = Before::default();
        while let Some(line) = lines.next() {
            if before.takes(line) {
                continue;
            }
            let before = std::mem::take(&mut before);
            let mut block = || lines.by_ref().take_while(|line| *line != "}").collect::<Vec<_>>();
            // Only types that derive `Serialize` are sent.
            let is_told = before.attributes.contains("Serialize");
            let named = |keyword: &str| line.strip_prefix(keyword)?.strip_suffix(" {").filter(|_| is_told);
            if let Some(name) = named("pub struct ") {
                let camel_case = before.attributes.contains("camelCase");
                let all_optional = before.attributes.contains("default)]");
                let fields = block_fields(&block(), |name, line| {
                    let kind = line.strip_suffix(',').expect(line);
                    let name = if camel_case { camel(name) } else { name.to_owned() };
                    (name, kind.to_owned(), all_optional)
                });
                self.define(name, &before, Shape::Struct(fields));
            } else if let Some(name) = named("pub enum ") {
                self.define(name, &before, Shape::Enum(block_variants(&block())));
            } else if let Some(rest) = line.strip_prefix("pub const ") {
                self.constant(rest, &before);
            } else if line == "methods! {" || line == "notifications! {" {
                let rows = block_rows(&block());
                let table = if line == "methods! {" { &mut self.methods } else { &mut self.notifications };
                table.extend(rows);
            } else if line == "id! {" {
                let names = block().into_iter().map(str::trim).filter(|line| !line.starts_with("///"));
                self.ids.extend(names.map(str::to_owned));
            }
        }
    }

    fn define(&mut self, name: &str, before: &Before, shape: Shape) {
        self.definitions.push(Definition { name: name.to_owned(), meaning: before.meaning(), shape });
    }

    fn constant(&mut self, rest: &str, before: &Before) {
        let Some((name, value)) = rest.split_once('=') else { return };
        let factors =
            value.trim().trim_end_matches(';').split('*').map(|n| n.trim().replace('_', "").parse());
        // A text constant is no limit.
        if let Ok(factors) = factors.collect::<Result<Vec<u64>, _>>()
            && let Some((name, _)) =
                name.split_once(':').filter(|(name, _)| name.ends_with("MS") || name.starts_with("MAX"))
        {
            let value = factors.into_iter().product();
            self.constants.push(Constant { name: name.to_owned(), value, meaning: before.meaning() });
        }
    }
}

/// `of` returns a field's name on the wire, its type, and whether all fields may be absent, from its name and
/// the rest of its line.
fn block_fields(block: &[&str], of: impl Fn(&str, &str) -> (String, String, bool)) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut before = Before::default();
    for line in block.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        if before.takes(line) {
            continue;
        }
        let before = std::mem::take(&mut before);
        let (name, rest) = line.strip_prefix("pub ").and_then(|line| line.split_once(": ")).expect(line);
        let (name, kind, all_optional) = of(name, rest);
        let is_required = before.attributes.contains("deserialize_with");
        let is_option = kind.starts_with("Option<") && !is_required;
        let is_optional = all_optional || is_option || before.attributes.contains("default");
        fields.push(Field { name, kind, meaning: before.meaning(), is_optional });
    }
    fields
}

fn block_variants(block: &[&str]) -> Vec<Field> {
    let mut variants = Vec::new();
    let mut before = Before::default();
    for line in block.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        if before.takes(line) {
            continue;
        }
        let before = std::mem::take(&mut before);
        let variant = line.strip_suffix(',').unwrap_or(line);
        let (name, kind) = match variant.split_once('(') {
            Some((name, kind)) => (name, kind.strip_suffix(')').expect(line)),
            None => (variant, ""),
        };
        variants.push(Field {
            name: snake(name),
            kind: kind.to_owned(),
            meaning: before.meaning(),
            is_optional: false,
        });
    }
    variants
}

/// `1 "name" Access Priority Name(Type) -> Type;`, of notifications without access and priority.
fn block_rows(block: &[&str]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut before = Before::default();
    for line in block.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        if before.takes(line) {
            continue;
        }
        let before = std::mem::take(&mut before);
        let [kind, name, rest] = line.splitn(3, ' ').collect::<Vec<_>>().try_into().expect(line);
        let (takes, gives) = rest.split_once('(').and_then(|(_, rest)| rest.split_once(')')).expect(line);
        rows.push(Row {
            name: name.trim_matches('"').to_owned(),
            kind: kind.to_owned(),
            meaning: before.meaning(),
            takes: takes.to_owned(),
            gives: gives.strip_prefix(" -> ").map(|gives| gives.trim_end_matches(';').to_owned()),
        });
    }
    rows
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}
