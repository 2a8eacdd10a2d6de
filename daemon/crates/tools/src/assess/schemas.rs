mod bounds;

use bounds::SchemaError;

use crate::{text::one_line, tool::CallError};
use abide_protocol::transcript::ToolSpec;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// How many compiled schemas are kept: enough for a few versions whose tasks still run.
const MAX_KEPT: usize = 128;

/// How many faults an error names.
const MAX_NAMED: usize = 3;

/// Compiled schemas of tools. Tasks bring their own schemas, frozen at their start.
#[derive(Debug, Default)]
pub(crate) struct Schemas(Mutex<HashMap<String, Arc<Validator>>>);

impl Schemas {
    pub(super) fn check(&self, spec: &ToolSpec, arguments: &Value) -> Result<(), CallError> {
        let schema = self.compiled(spec)?;
        let faults: Vec<String> = schema.iter_errors(arguments).take(MAX_NAMED).map(|e| fault(&e)).collect();
        if faults.is_empty() { Ok(()) } else { Err(CallError::Arguments(faults.join("; "))) }
    }

    fn compiled(&self, spec: &ToolSpec) -> Result<Arc<Validator>, CallError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = kept.get(spec.parameters.as_str()) {
            return Ok(Arc::clone(schema));
        }
        let schema = compile(spec)
            .map_err(|error| CallError::Schema { tool: spec.name.clone(), error: error.to_string() })?;
        let schema = Arc::new(schema);
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(spec.parameters.as_str().to_owned(), Arc::clone(&schema));
        Ok(schema)
    }
}

fn compile(spec: &ToolSpec) -> Result<Validator, SchemaError> {
    let schema = spec.parameters.value();
    bounds::check(spec.parameters.as_str(), &schema)?;
    jsonschema::validator_for(&schema)
        .map_err(|error| SchemaError::Invalid(one_line(&error.to_string(), 300)))
}

/// The field and its fault.
fn fault(error: &ValidationError<'_>) -> String {
    let field = error.instance_path().to_string();
    let field = field.trim_start_matches('/');
    // The value may be long, so it is masked.
    let words = one_line(&error.masked_with("it").to_string(), 200);
    if field.is_empty() { words } else { format!("`{}`: {words}", one_line(field, 60)) }
}
