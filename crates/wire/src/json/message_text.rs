//! A message whose fields come from several texts: a path, a query string, and a JSON body.
//!
//! A text of a path or a query becomes the JSON that the field takes, and is then read as strictly as a body.
//! Begin at [`MessageText::read`].

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value as Json};

use super::fault::{JsonFault, JsonInputError};
use super::{input, strict};

/// The texts of one message.
#[derive(Debug, Clone)]
pub struct MessageText<'a> {
    /// Fields by name that are parts of a path.
    pub path: Vec<(&'a str, &'a str)>,
    /// Fields by name that are parameters of a query; a field of a message within is `outer.inner`, and a repeated field
    /// occurs several times.
    pub query: Vec<(&'a str, &'a str)>,
    /// The JSON of the other fields; empty: none.
    pub body: &'a str,
    /// Bytes that the body may have.
    pub bytes_max: usize,
}

impl MessageText<'_> {
    /// Reads the message, whose full name is given, and returns its bytes.
    ///
    /// # Errors
    /// [`JsonInputError`] with the first fault.
    ///
    /// # Panics
    /// The schemas have no message of this name.
    pub fn read(&self, full_name: &str) -> Result<Vec<u8>, JsonInputError> {
        let descriptor = super::POOL.get_message_by_name(full_name).expect("the name is of the schemas");
        let mut value = if self.body.is_empty() {
            Json::Object(Map::new())
        } else {
            strict::parse(self.body, self.bytes_max)?
        };
        if let Json::Object(members) = &mut value {
            for (name, text) in &self.path {
                if names_of(&descriptor, name).any(|name| members.contains_key(&name)) {
                    return Err(JsonInputError::new(name, JsonFault::InPath));
                }
                insert(members, &descriptor, name, text)?;
            }
            for (name, text) in &self.query {
                let in_path =
                    |known: &(&str, &str)| names_of(&descriptor, known.0).any(|known| known == *name);
                if self.path.iter().any(in_path) {
                    return Err(JsonInputError::new(name, JsonFault::InPath));
                }
                insert(members, &descriptor, name, text)?;
            }
        }
        input::to_bytes(&descriptor, &value)
    }
}

/// Returns the names under which JSON takes a field.
fn names_of(descriptor: &MessageDescriptor, name: &str) -> impl Iterator<Item = String> {
    let field = descriptor.get_field_by_name(name);
    field.into_iter().flat_map(|field| [field.name().to_owned(), field.json_name().to_owned()])
}

/// Puts a field into the JSON of its message, by its dotted name.
fn insert(
    members: &mut Map<String, Json>,
    descriptor: &MessageDescriptor,
    path: &str,
    text: &str,
) -> Result<(), JsonInputError> {
    let (name, inner) = path.split_once('.').map_or((path, None), |(name, inner)| (name, Some(inner)));
    let field = descriptor.get_field_by_name(name).or_else(|| descriptor.get_field_by_json_name(name));
    let field = field.ok_or_else(|| JsonInputError::new(path, input::unknown_member(descriptor, name)))?;
    match (inner, field.kind()) {
        (Some(inner), Kind::Message(below)) if !field.is_list() && !field.is_map() => {
            let known = members.entry(field.name().to_owned()).or_insert_with(|| Json::Object(Map::new()));
            let Json::Object(members) = known else {
                return Err(JsonInputError::new(path, JsonFault::DuplicateMember));
            };
            insert(members, &below, inner, text)
        }
        (Some(_), _) => Err(JsonInputError::new(path, input::unknown_member(descriptor, path))),
        (None, kind) => insert_value(members, &field, json_of(&kind, text)),
    }
}

fn insert_value(
    members: &mut Map<String, Json>,
    field: &FieldDescriptor,
    value: Json,
) -> Result<(), JsonInputError> {
    let name = field.name();
    match members.get_mut(name) {
        None => {
            let value = if field.is_list() { Json::Array(vec![value]) } else { value };
            members.insert(name.to_owned(), value);
            Ok(())
        }
        Some(Json::Array(values)) if field.is_list() => {
            values.push(value);
            Ok(())
        }
        Some(_) => Err(JsonInputError::new(name, JsonFault::DuplicateMember)),
    }
}

/// Returns the JSON that a field of a kind takes; what does not fit stays a text, which is refused when it is read.
fn json_of(kind: &Kind, text: &str) -> Json {
    let as_text = || Json::String(text.to_owned());
    match kind {
        Kind::Bool => text.parse().map_or_else(|_| as_text(), Json::Bool),
        Kind::Double | Kind::Float => {
            text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map_or_else(as_text, Json::Number)
        }
        Kind::Enum(_) => text.parse::<i64>().map_or_else(|_| as_text(), |number| Json::Number(number.into())),
        _ => as_text(),
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::v1;

    fn read<M: Message + prost::Name + Default>(
        path: &[(&str, &str)],
        query: &[(&str, &str)],
        body: &str,
    ) -> Result<M, String> {
        let text = MessageText { path: path.to_vec(), query: query.to_vec(), body, bytes_max: 1_000 };
        let bytes = text.read(&M::full_name()).map_err(|error| error.to_string())?;
        Ok(M::decode(bytes.as_slice()).unwrap())
    }

    #[test]
    fn fields_come_from_path_query_and_body() {
        let run =
            read::<v1::SendInputRequest>(&[("run_id", "R")], &[], r#"{"input": {"text": "hi"}}"#).unwrap();
        assert_eq!((run.run_id.as_str(), run.input.unwrap().text.as_str()), ("R", "hi"));
        let page = [("page_size", "7"), ("only", "open"), ("pageToken", "t")];
        let runs = read::<v1::ListRunsRequest>(&[], &page, "").unwrap();
        assert_eq!((runs.page_size, runs.only(), runs.page_token.as_str()), (7, v1::RunFilter::Open, "t"));
        let all = read::<v1::ListGrantsRequest>(&[], &[("all", "true")], "").unwrap();
        assert!(all.all);
        let since =
            read::<v1::ExportApprovalsRequest>(&[], &[("since", "2026-01-01T00:00:00Z")], "").unwrap();
        assert!(since.since.is_some());
        let hosts = read::<v1::PutSecretRequest>(&[], &[("hosts", "a"), ("hosts", "b")], "").unwrap();
        assert_eq!(hosts.hosts, ["a", "b"]);
        let place = read::<v1::ResolveSessionRequest>(&[], &[("session.session_key", "k")], "").unwrap();
        assert!(place.session.is_some());
    }

    #[test]
    fn a_field_is_given_once_and_where_it_belongs() {
        let in_body = read::<v1::SendInputRequest>(&[("run_id", "R")], &[], r#"{"run_id": "S"}"#);
        assert_eq!(in_body.unwrap_err(), "`run_id`: is a part of the path; leave it out of the body");
        let camel = read::<v1::SendInputRequest>(&[("run_id", "R")], &[], r#"{"runId": "S"}"#);
        assert_eq!(camel.unwrap_err(), "`run_id`: is a part of the path; leave it out of the body");
        let in_query = read::<v1::ReadTapeRequest>(&[("run_id", "R")], &[("run_id", "S")], "");
        assert_eq!(in_query.unwrap_err(), "`run_id`: is a part of the path; leave it out of the body");
        let twice = read::<v1::ReadTapeRequest>(&[], &[("limit", "1"), ("limit", "2")], "");
        assert_eq!(twice.unwrap_err(), "`limit`: this member occurs twice; keep one of them");
        for (name, value, expect) in [
            ("limit", "many", "`limit`: must be a whole number, not this string"),
            ("limit", "", "`limit`: must be a whole number, not this string"),
            ("after", "1", "`after`: `ReadTapeRequest` has no such member; did you mean `after_tape_seq`?"),
            ("limit.of", "1", "`limit.of`: `ReadTapeRequest` has no such member; did you mean `limit`?"),
        ] {
            assert_eq!(read::<v1::ReadTapeRequest>(&[], &[(name, value)], "").unwrap_err(), expect);
        }
        let unknown = read::<v1::ListRunsRequest>(&[], &[("only", "some")], "").unwrap_err();
        assert!(unknown.starts_with("`only`: not a value of `RunFilter`"), "{unknown}");
        let yes = read::<v1::ListGrantsRequest>(&[], &[("all", "yes")], "").unwrap_err();
        assert_eq!(yes, "`all`: must be true or false, not this string");
        let long = read::<v1::CancelRunRequest>(&[("run_id", "R")], &[], &" ".repeat(1_001)).unwrap_err();
        assert_eq!(long, "the JSON text: the text has 1001 bytes, at most 1000 are allowed");
    }
}
