//! Limits on JSON schemas. A schema may come from a foreign server. Compiling it and checking arguments against it both recurse, so
//! long chains of references or nested alternatives could overflow the stack or take forever.
//!
//! A schema is read as a graph of subschemas. An edge is a keyword that leads to a subschema for the same value (`$ref`, `anyOf`, …)
//! or for a part of the value (`properties`, `items`, …). The limits are on the number of subschemas, on the depth of compiling, and
//! on the number of subschemas evaluated for one value, whatever the arguments are.

use crate::text::one_line;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// The longest text of a schema, in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// The most subschemas reachable from the root.
const MAX_SUBSCHEMAS: usize = 1_000;
/// The deepest recursion of compiling: the heights of the root and of all referenced subschemas, summed.
const MAX_LEVELS: usize = 256;
/// The most subschemas evaluated for one value, each counted as often as it is evaluated.
const MAX_EVALUATED: u64 = 1_000;
/// The same number, summed over all subschemas of the schema.
const MAX_EVALUATED_TOTAL: u64 = 50 * MAX_EVALUATED;
/// `serde_json` does not read arguments that are nested deeper.
const MAX_ARGUMENT_LEVELS: usize = 128;

/// Why a schema is not compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SchemaError {
    #[error("it is {0} bytes long, over the limit of {MAX_BYTES}")]
    TooLong(usize),
    #[error("it has more than {MAX_SUBSCHEMAS} subschemas")]
    TooManySubschemas,
    #[error("its subschemas are more than {MAX_LEVELS} levels deep, references included")]
    TooDeep,
    #[error("it would take more than {MAX_EVALUATED} subschemas to check one value, references included")]
    TooManyEvaluated,
    #[error("{keyword} {target:?} is not followed: only `$ref` to a JSON pointer within the schema is")]
    Reference { keyword: &'static str, target: String },
    #[error("`$ref` {0:?} points to nothing in the schema")]
    Dangling(String),
    #[error("one of its `$ref`s leads back to itself for the same value")]
    Circle,
    /// The compiler's own message.
    #[error("{0}")]
    Invalid(String),
}

/// The part of a value that a subschema is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Part<'a> {
    Property(&'a str),
    /// Any property whose name matches a pattern.
    Matching,
    /// Any property that the schema does not name.
    Additional,
    /// A property's name.
    Name,
    Item(usize),
    /// Any item.
    Items,
}

/// A subschema.
#[derive(Default)]
struct Node<'a> {
    /// Its `properties`.
    named: Option<&'a Map<String, Value>>,
    /// Subschemas for the same value.
    same: Vec<usize>,
    /// Subschemas for parts of the value.
    parts: Vec<(Part<'a>, usize)>,
    /// Subschemas nested in its JSON: all of `parts`, and those of `same` that are not references.
    nested: Vec<usize>,
    /// A `$ref` points to it.
    is_target: bool,
}

struct Graph<'a> {
    root: &'a Value,
    nodes: Vec<Node<'a>>,
    /// The node of each subschema, by its address.
    known: HashMap<*const Value, usize>,
    /// Nodes whose keywords are not read yet.
    unread: Vec<(usize, &'a Value)>,
}

/// Checks that the schema, given as text and parsed, is within the limits.
pub(super) fn check(text: &str, schema: &Value) -> Result<(), SchemaError> {
    if text.len() > MAX_BYTES {
        return Err(SchemaError::TooLong(text.len()));
    }
    let graph = Graph::of(schema)?;
    graph.check_depth()?;
    let evaluated = graph.evaluated()?;
    graph.check_evaluations(&evaluated)
}

impl<'a> Graph<'a> {
    fn of(root: &'a Value) -> Result<Self, SchemaError> {
        let mut graph = Self { root, nodes: Vec::new(), known: HashMap::new(), unread: Vec::new() };
        graph.add(root)?;
        while let Some((node, value)) = graph.unread.pop() {
            if let Value::Object(keywords) = value {
                graph.read(node, keywords)?;
            }
        }
        Ok(graph)
    }

    /// The node of a subschema; a new one is read later.
    fn add(&mut self, value: &'a Value) -> Result<usize, SchemaError> {
        if let Some(known) = self.known.get(&std::ptr::from_ref(value)) {
            return Ok(*known);
        }
        let node = self.nodes.len();
        if node == MAX_SUBSCHEMAS {
            return Err(SchemaError::TooManySubschemas);
        }
        self.nodes.push(Node::default());
        self.known.insert(value, node);
        self.unread.push((node, value));
        Ok(node)
    }

    fn read(&mut self, node: usize, keywords: &'a Map<String, Value>) -> Result<(), SchemaError> {
        self.nodes[node].named = keywords.get("properties").and_then(Value::as_object);
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "$ref" => self.add_reference(node, value)?,
                "$dynamicRef" => return Err(not_followed("$dynamicRef", value)),
                "$recursiveRef" => return Err(not_followed("$recursiveRef", value)),
                // A nested `$id` would change the base of the references in it.
                "$id" | "id" if node > 0 && value.is_string() => return Err(not_followed("$id", value)),
                "not" | "if" | "then" | "else" => self.add_same(node, value)?,
                "allOf" | "anyOf" | "oneOf" => {
                    for value in value.as_array().into_iter().flatten() {
                        self.add_same(node, value)?;
                    }
                }
                "dependentSchemas" | "dependencies" => {
                    for value in value.as_object().into_iter().flat_map(Map::values) {
                        self.add_same(node, value)?;
                    }
                }
                "properties" => {
                    for (name, value) in value.as_object().into_iter().flatten() {
                        self.add_part(node, Part::Property(name), value)?;
                    }
                }
                "patternProperties" => {
                    for value in value.as_object().into_iter().flat_map(Map::values) {
                        self.add_part(node, Part::Matching, value)?;
                    }
                }
                "additionalProperties" | "unevaluatedProperties" => {
                    self.add_part(node, Part::Additional, value)?;
                }
                "propertyNames" => self.add_part(node, Part::Name, value)?,
                "items" | "prefixItems" if value.is_array() => {
                    for (place, value) in value.as_array().into_iter().flatten().enumerate() {
                        self.add_part(node, Part::Item(place), value)?;
                    }
                }
                "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                    self.add_part(node, Part::Items, value)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_reference(&mut self, node: usize, target: &'a Value) -> Result<(), SchemaError> {
        let pointer = target.as_str().and_then(|target| target.strip_prefix('#'));
        let Some(pointer) = pointer.filter(|pointer| pointer.is_empty() || pointer.starts_with('/')) else {
            return Err(not_followed("$ref", target));
        };
        let found = self.root.pointer(pointer).ok_or_else(|| SchemaError::Dangling(shown(target)))?;
        let found = self.add(found)?;
        self.nodes[found].is_target = true;
        self.nodes[node].same.push(found);
        Ok(())
    }

    /// Adds a subschema for the same value.
    fn add_same(&mut self, node: usize, value: &'a Value) -> Result<(), SchemaError> {
        let sub = self.add(value)?;
        self.nodes[node].same.push(sub);
        self.nodes[node].nested.push(sub);
        Ok(())
    }

    /// Adds a subschema for a part of the value.
    fn add_part(&mut self, node: usize, part: Part<'a>, value: &'a Value) -> Result<(), SchemaError> {
        let sub = self.add(value)?;
        self.nodes[node].parts.push((part, sub));
        self.nodes[node].nested.push(sub);
        Ok(())
    }

    /// The compiler does not enter a referenced subschema again while it is within it. So it recurses at most as deep as the heights
    /// of the root and of all referenced subschemas together.
    fn check_depth(&self) -> Result<(), SchemaError> {
        let referred = self.nodes.iter().enumerate().filter(|(n, node)| node.is_target || *n == 0);
        let levels: usize = referred.map(|(n, _)| self.height(n)).sum();
        if levels > MAX_LEVELS { Err(SchemaError::TooDeep) } else { Ok(()) }
    }

    /// The levels of subschemas nested in the node's JSON, with its own. The recursion is no deeper than the JSON.
    fn height(&self, node: usize) -> usize {
        1 + self.nodes[node].nested.iter().map(|sub| self.height(*sub)).max().unwrap_or(0)
    }

    /// For each subschema: the subschemas evaluated for the same value, and how often each.
    fn evaluated(&self) -> Result<Vec<Evaluated>, SchemaError> {
        let mut counts = vec![Count::Unknown; self.nodes.len()];
        let mut total = 0_u64;
        for node in 0..self.nodes.len() {
            total = total.saturating_add(self.count(node, &mut counts)?);
            if total > MAX_EVALUATED_TOTAL {
                return Err(SchemaError::TooManyEvaluated);
            }
        }
        let evaluated = |node| {
            let mut times = BTreeMap::<usize, u64>::new();
            let mut open = vec![node];
            while let Some(node) = open.pop() {
                *times.entry(node).or_default() += 1;
                open.extend(self.nodes[node].same.iter().copied());
            }
            Evaluated { count: times.values().sum(), times }
        };
        Ok((0..self.nodes.len()).map(evaluated).collect())
    }

    /// The number of subschemas evaluated for the same value as `node`, itself included.
    fn count(&self, node: usize, counts: &mut [Count]) -> Result<u64, SchemaError> {
        match counts[node] {
            Count::Known(count) => return Ok(count),
            Count::Open => return Err(SchemaError::Circle),
            Count::Unknown => counts[node] = Count::Open,
        }
        let mut count = 1_u64;
        for sub in &self.nodes[node].same {
            count = count.saturating_add(self.count(*sub, counts)?);
        }
        if count > MAX_EVALUATED {
            return Err(SchemaError::TooManyEvaluated);
        }
        counts[node] = Count::Known(count);
        Ok(count)
    }

    /// Limits the subschemas evaluated for one value at every depth of the arguments. If several subschemas of a value lead to the same
    /// part of it, the number can double with each level.
    fn check_evaluations(&self, evaluated: &[Evaluated]) -> Result<(), SchemaError> {
        let mut most: Vec<u64> = evaluated.iter().map(|evaluated| evaluated.count).collect();
        for _ in 0..MAX_ARGUMENT_LEVELS {
            let deeper: Vec<u64> = evaluated
                .iter()
                .map(|evaluated| evaluated.count.max(self.most_for_a_part(evaluated, &most)))
                .collect();
            if deeper.iter().any(|count| *count > MAX_EVALUATED) {
                return Err(SchemaError::TooManyEvaluated);
            }
            if deeper == most {
                break;
            }
            most = deeper;
        }
        Ok(())
    }

    /// The largest number of subschemas evaluated for one part of a value, if `evaluated` are evaluated for the value. Each subschema of
    /// the part counts as its number in `most`.
    fn most_for_a_part(&self, evaluated: &Evaluated, most: &[u64]) -> u64 {
        let (mut named, mut items) = (HashMap::<&str, u64>::new(), HashMap::<usize, u64>::new());
        let (mut any_property, mut any_item, mut name) = (0, 0, 0);
        // A subschema's `additionalProperties` does not apply to the properties that it names.
        let mut not_additional = HashMap::<&str, u64>::new();
        for (node, times) in &evaluated.times {
            let Node { parts, named: names, .. } = &self.nodes[*node];
            let mut additional = 0;
            for (part, sub) in parts {
                let count = most[*sub] * times;
                match part {
                    Part::Property(property) => *named.entry(property).or_default() += count,
                    Part::Matching => any_property += count,
                    Part::Additional => additional += count,
                    Part::Name => name += count,
                    Part::Item(place) => *items.entry(*place).or_default() += count,
                    Part::Items => any_item += count,
                }
            }
            any_property += additional;
            if additional > 0 {
                for property in names.iter().flat_map(|names| names.keys()) {
                    *not_additional.entry(property).or_default() += additional;
                }
            }
        }
        let named = named.into_iter().map(|(property, count)| {
            any_property + count - not_additional.get(property).copied().unwrap_or(0)
        });
        let items = items.into_values().map(|count| any_item + count);
        named.chain(items).chain([any_property, any_item, name]).max().unwrap_or(0)
    }
}

/// The subschemas evaluated for the same value as one subschema.
struct Evaluated {
    /// How often each is evaluated.
    times: BTreeMap<usize, u64>,
    count: u64,
}

#[derive(Clone, Copy)]
enum Count {
    Unknown,
    /// It is being counted. Reaching it again means that it leads back to itself.
    Open,
    Known(u64),
}

fn not_followed(keyword: &'static str, target: &Value) -> SchemaError {
    SchemaError::Reference { keyword, target: shown(target) }
}

fn shown(target: &Value) -> String {
    one_line(target.as_str().unwrap_or_default(), 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(schema: &Value) -> Result<(), SchemaError> {
        check(&schema.to_string(), schema)
    }

    fn definitions(levels: usize, of: impl Fn(String) -> Value) -> Value {
        let mut all: Map<String, Value> =
            (0..levels).map(|n| (format!("d{n}"), of(format!("#/$defs/d{}", n + 1)))).collect();
        all.insert(format!("d{levels}"), json!({ "type": "string" }));
        json!({ "$ref": "#/$defs/d0", "$defs": all })
    }

    #[test]
    fn common_schemas_are_accepted() {
        let node = json!({ "$ref": "#/$defs/node" });
        let tree = json!({ "type": "object", "properties": { "children": { "type": "array", "items": { "$ref": "#" } } } });
        let pair = json!({ "$ref": "#/$defs/node", "$defs": { "node": {
            "type": "object", "properties": { "left": node, "right": node }, "additionalProperties": false,
        } } });
        let filter = json!({ "$ref": "#/$defs/node", "$defs": { "node": { "anyOf": [
            { "type": "object", "properties": { "and": { "type": "array", "items": node } }, "required": ["and"] },
            { "type": "object", "properties": { "or": { "type": "array", "items": node } }, "required": ["or"] },
            { "type": "object", "properties": { "not": node }, "required": ["not"] },
            { "type": "object", "properties": { "field": { "enum": ["a", "b"] } }, "required": ["field"] },
        ] } } });
        let any = json!({ "$ref": "#/$defs/node", "$defs": { "node": {
            "type": ["object", "array", "string"],
            "properties": { "name": node }, "additionalProperties": node, "items": node,
        } } });
        let choices = (0..500).map(|n| json!({ "const": n })).collect::<Vec<_>>();
        for schema in [json!(true), json!({}), tree, pair, filter, any, json!({ "oneOf": choices })] {
            assert_eq!(checked(&schema), Ok(()), "{schema}");
            assert!(jsonschema::validator_for(&schema).is_ok(), "{schema}");
        }
        for spec in crate::tool::Registry::built_in().specs(None) {
            assert_eq!(check(spec.parameters.as_str(), &spec.parameters.value()), Ok(()), "{}", spec.name);
        }
    }

    #[test]
    fn each_limit_has_its_error() {
        use SchemaError as E;
        let reference = |target: &str| json!({ "properties": { "a": { "$ref": target } } });
        let not_followed = |keyword, target: &str| E::Reference { keyword, target: target.to_owned() };
        let same = |name: &str| json!({ "properties": { "a": { "$ref": name } } });
        let doubled = |target: String| json!({ "anyOf": [{ "$ref": target.clone() }, { "type": "null" }, { "$ref": target }] });
        let table = [
            (json!({ "description": "x".repeat(MAX_BYTES) }), E::TooLong(MAX_BYTES + 18)),
            (json!({ "allOf": vec![json!({}); MAX_SUBSCHEMAS] }), E::TooManySubschemas),
            (definitions(5_000, |target| json!({ "$ref": target })), E::TooManySubschemas),
            (definitions(400, |target| json!({ "$ref": target })), E::TooDeep),
            (definitions(200, |target| json!({ "properties": { "a": { "$ref": target } } })), E::TooDeep),
            (definitions(20, doubled), E::TooManyEvaluated),
            // Each level of the arguments doubles the number of evaluations at the next.
            (json!({ "anyOf": [same("#"), same("#")] }), E::TooManyEvaluated),
            (
                json!({ "properties": { "a": { "$ref": "#" } }, "patternProperties": { "a": { "$ref": "#" } } }),
                E::TooManyEvaluated,
            ),
            (reference("https://example.com/schema"), not_followed("$ref", "https://example.com/schema")),
            (reference("other.json#/a"), not_followed("$ref", "other.json#/a")),
            (reference("#anchor"), not_followed("$ref", "#anchor")),
            (json!({ "items": { "$dynamicRef": "#node" } }), not_followed("$dynamicRef", "#node")),
            (json!({ "items": { "$recursiveRef": "#" } }), not_followed("$recursiveRef", "#")),
            (json!({ "items": { "$id": "file:///etc/passwd" } }), not_followed("$id", "file:///etc/passwd")),
            (reference("#/$defs/none"), E::Dangling("#/$defs/none".to_owned())),
            (json!({ "$ref": "#" }), E::Circle),
            (
                json!({ "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "not": { "$ref": "#" } } } }),
                E::Circle,
            ),
        ];
        for (schema, expected) in table {
            let text: String = schema.to_string().chars().take(200).collect();
            assert_eq!(checked(&schema), Err(expected), "{text}");
        }
    }

    /// The largest accepted schemas are compiled and evaluated with the stack size of the threads that do it in the daemon.
    #[test]
    fn accepted_schemas_do_not_overflow_the_stack() {
        let schema = definitions(MAX_LEVELS - 3, |target| json!({ "$ref": target }));
        assert_eq!(checked(&schema), Ok(()));
        let small = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
        let thread = small.spawn(move || {
            let validator = jsonschema::validator_for(&schema).unwrap();
            validator.is_valid(&json!("x")) && validator.iter_errors(&json!(1)).count() == 1
        });
        assert!(thread.unwrap().join().unwrap());
    }
}
