//! Reads what every method declares about itself, and writes the table and the macro made from it.
//!
//! A method without a complete declaration is an error that names the method, so the audience cannot be forgotten.
//! Begin at [`read`].

use std::collections::BTreeMap;
use std::fmt::Write as _;

use protox::prost_reflect::{DescriptorPool, DynamicMessage, Kind, MethodDescriptor, ReflectMessage, Value};

const OPTION: &str = "palyra.options.v1.operation";
const HTTP_PREFIX: &str = "/api/v1/";

/// A method with its declaration.
pub(crate) struct DeclaredMethod {
    method: MethodDescriptor,
    audience: String,
    scope: String,
    kind: String,
    summary: String,
    http: String,
}

/// Returns the operations of a descriptor set, in order of the files.
pub(crate) fn read(set: &[u8]) -> Result<Vec<DeclaredMethod>, Box<dyn std::error::Error>> {
    let pool = DescriptorPool::decode(set)?;
    let mut operations = Vec::new();
    for service in pool.services() {
        for method in service.methods() {
            let name = method.full_name().to_owned();
            operations.push(declared(&pool, method).map_err(|why| format!("{name}: {why}"))?);
        }
    }
    let mut taken = BTreeMap::new();
    for operation in operations.iter().filter(|operation| !operation.http.is_empty()) {
        if let Some(other) = taken.insert(&operation.http, operation.method.full_name()) {
            return Err(format!(
                "{}: `{}` is the path of {other}",
                operation.method.full_name(),
                operation.http
            )
            .into());
        }
    }
    Ok(operations)
}

fn declared(pool: &DescriptorPool, method: MethodDescriptor) -> Result<DeclaredMethod, String> {
    let extension = pool.get_extension_by_name(OPTION).ok_or("the file of options is not imported")?;
    let options = method.options();
    if !options.has_extension(&extension) {
        return Err(format!("`option ({OPTION})` is missing: declare audience, scope, kind and summary"));
    }
    let value = options.get_extension(&extension);
    let Value::Message(declaration) = value.as_ref() else {
        return Err("the option is not a message".to_owned());
    };
    let summary = text(declaration, "summary");
    if summary.is_empty() || summary.ends_with('.') || summary.len() > 80 {
        return Err("`summary` must be one line of at most 80 characters without a full stop".to_owned());
    }
    let http = text(declaration, "http");
    check_http(&method, &http)?;
    let audience = value_name(declaration, "audience", "AUDIENCE_")?;
    let scope = value_name(declaration, "scope", "SCOPE_")?;
    let kind = value_name(declaration, "kind", "OPERATION_KIND_")?;
    let request = format!("{}Request", method.name());
    let response = format!("{}Response", method.name());
    if method.input().name() != request || method.output().name() != response {
        return Err(format!("its messages must be {request} and {response}"));
    }
    Ok(DeclaredMethod { method, audience, scope, kind, summary, http })
}

fn text(declaration: &DynamicMessage, field: &str) -> String {
    let value = declaration.get_field_by_name(field);
    value.as_ref().and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

/// Returns an enumeration's value as the name of a Rust variant.
fn value_name(declaration: &DynamicMessage, field: &str, prefix: &str) -> Result<String, String> {
    let number =
        declaration.get_field_by_name(field).and_then(|value| value.as_enum_number()).unwrap_or_default();
    let value = match declaration.descriptor().get_field_by_name(field).map(|field| field.kind()) {
        Some(Kind::Enum(values)) => values.get_value(number).filter(|value| value.number() != 0),
        Some(_) | None => None,
    };
    let value = value.ok_or_else(|| format!("`{field}` is missing"))?;
    let word = value.name().trim_start_matches(prefix).to_lowercase();
    let parts = word.split('_').filter(|part| !part.is_empty());
    Ok(parts.map(|part| part[..1].to_uppercase() + &part[1..]).collect())
}

/// Checks a path: known method, our prefix, and fields of the request in braces.
fn check_http(method: &MethodDescriptor, http: &str) -> Result<(), String> {
    if http.is_empty() {
        let both = method.is_client_streaming();
        return if both { Ok(()) } else { Err("`http` is missing".to_owned()) };
    }
    let (verb, path) = http.split_once(' ').ok_or("`http` must be a method and a path")?;
    if !["GET", "POST"].contains(&verb) || !path.starts_with(HTTP_PREFIX) {
        return Err(format!("`http` must be GET or POST, and a path below {HTTP_PREFIX}"));
    }
    for part in path.split('/').filter(|part| part.contains(['{', '}'])) {
        let field = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')).unwrap_or_default();
        if method.input().get_field_by_name(field).is_none() {
            return Err(format!("`{part}` in `http` is not a field of the request"));
        }
    }
    Ok(())
}

/// Returns the table as Rust.
pub(crate) fn to_rust(operations: &[DeclaredMethod]) -> String {
    let mut text = String::from(
        "/// Every operation, in order of the schemas' files.\npub static OPERATIONS: &[OperationSpec] = &[\n",
    );
    for DeclaredMethod { method, audience, scope, kind, summary, http } in operations {
        let (service, name) = (method.parent_service().full_name().to_owned(), method.name());
        let _ = writeln!(
            text,
            "    OperationSpec {{ path: \"/{service}/{name}\", service: {service:?}, name: {name:?}, input: {:?}, \
             output: {:?}, audience: OperationAudience::{audience}, scope: OperationScope::{scope}, kind: OperationKind::{kind}, summary: {summary:?}, \
             http: {http:?}, client_streams: {}, server_streams: {} }},",
            method.input().full_name(),
            method.output().full_name(),
            method.is_client_streaming(),
            method.is_server_streaming(),
        );
    }
    text.push_str("];\n\n");
    text.push_str(&paths_macro(operations, "unary_operations", "unary method", false));
    text.push_str(&paths_macro(operations, "server_stream_operations", "server stream", true));
    text
}

/// A macro that hands the path, the messages and the kind of every method that takes one request to another macro: of those
/// with one response, or of those with a stream of them.
fn paths_macro(operations: &[DeclaredMethod], name: &str, what: &str, streams: bool) -> String {
    let mut text = format!(
        "/// Calls `$with!` with path, function, request, response and kind of every {what}.\n\
         #[macro_export]\nmacro_rules! {name} {{\n    ($with:ident) => {{\n        $with! {{\n",
    );
    for DeclaredMethod { method, kind, .. } in operations {
        if !method.is_client_streaming() && method.is_server_streaming() == streams {
            let (service, name) = (method.parent_service().full_name().to_owned(), method.name());
            let function = snake_case(name);
            let _ = writeln!(
                text,
                "            \"/{service}/{name}\" {function} {name}Request {name}Response {kind};"
            );
        }
    }
    text.push_str("        }\n    };\n}\n");
    text
}

pub(crate) fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
