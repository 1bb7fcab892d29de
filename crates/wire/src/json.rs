//! JSON with the schemas' own field names.
//!
//! Differs from canonical proto3 JSON in two ways that help people with `jq`: snake_case names, and
//! 64-bit integers as numbers. Values of an enumeration with the option `short_names` are shown by their short names.

mod fault;
mod input;
mod message_text;
mod short_names;
mod strict;

use std::sync::LazyLock;

use prost::{Message, Name};
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage, SerializeOptions};
use serde_json::Value;

pub use fault::{JSON_BYTES_MAX, JSON_DEPTH_MAX, JsonFault, JsonInputError};
pub use input::from_json;
pub use message_text::MessageText;

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(crate::FILE_DESCRIPTOR_SET).expect("the build script wrote a valid descriptor set")
});

/// Renders a message as a JSON value; fields at their default are left out, except in `with_defaults`.
pub fn to_json<M: Message + Name>(message: &M) -> Value {
    render(message, &options())
}

/// Renders a message as a JSON value with every field present.
pub fn to_json_with_defaults<M: Message + Name>(message: &M) -> Value {
    render(message, &options().skip_default_fields(false))
}

fn options() -> SerializeOptions {
    SerializeOptions::new().use_proto_field_name(true).stringify_64_bit_integers(false)
}

/// Renders the bytes of a message, whose full name is given; `None` where they are none.
///
/// # Panics
/// The schemas have no message of this name.
#[must_use]
pub fn bytes_to_json(full_name: &str, bytes: &[u8]) -> Option<Value> {
    rendered_bytes(full_name, bytes, &options())
}

/// Renders the bytes of a message as [`to_json_with_defaults`] does.
///
/// # Panics
/// As [`bytes_to_json`].
#[must_use]
pub fn bytes_to_json_with_defaults(full_name: &str, bytes: &[u8]) -> Option<Value> {
    rendered_bytes(full_name, bytes, &options().skip_default_fields(false))
}

fn rendered_bytes(full_name: &str, bytes: &[u8], options: &SerializeOptions) -> Option<Value> {
    let descriptor = POOL.get_message_by_name(full_name).expect("the name is of the schemas");
    let message = DynamicMessage::decode(descriptor, bytes).ok()?;
    Some(rendered(&message, options))
}

fn render<M: Message + Name>(message: &M, options: &SerializeOptions) -> Value {
    let descriptor = POOL.get_message_by_name(&M::full_name()).expect("generated messages are in the pool");
    let dynamic = DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice())
        .expect("a message we encoded decodes");
    rendered(&dynamic, options)
}

fn rendered(message: &DynamicMessage, options: &SerializeOptions) -> Value {
    let mut value = message
        .serialize_with_options(serde_json::value::Serializer, options)
        .expect("a message without NaN or foreign Any values serialises");
    short_names::shorten(&message.descriptor(), &mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1;

    #[test]
    fn names_are_the_schemas_and_numbers_are_numbers() {
        let entry = v1::TapeEntry {
            run_id: "R".into(),
            tape_seq: 3,
            seq: 9_007,
            event: Some(v1::tape_entry::Event::ModelText(v1::ModelText { attempt: 1, text: "hi".into() })),
            ..Default::default()
        };
        let expect = serde_json::json!({
            "run_id": "R", "tape_seq": 3, "seq": 9_007, "model_text": {"attempt": 1, "text": "hi"},
        });
        assert_eq!(to_json(&entry), expect);
    }

    fn status() -> v1::GetJournalStatusResponse {
        v1::GetJournalStatusResponse {
            log_id: "L".into(),
            health: v1::JournalHealth::EndingsOnly.into(),
            entries: 7,
            integrity: v1::JournalIntegrity::Holds.into(),
            ..Default::default()
        }
    }

    /// Their fields have newer numbers; a value that is not known here stays its number.
    #[test]
    fn values_have_short_names_and_their_members_keep_their_places() {
        let text = |status: &v1::GetJournalStatusResponse| to_json(status).to_string();
        let expect = r#"{"log_id":"L","health":"endings_only","entries":7,"integrity":"holds"}"#;
        assert_eq!(text(&status()), expect);
        let newer = v1::GetJournalStatusResponse { health: 77, ..status() };
        assert_eq!(text(&newer), expect.replace(r#""endings_only""#, "77"));
        assert_eq!((newer.health_name(), status().health_name()), ("77".into(), "endings_only".into()));
        assert_eq!((newer.cause_name(), newer.health()), ("".into(), v1::JournalHealth::Unspecified));
        let with_defaults = to_json_with_defaults(&status());
        assert_eq!(with_defaults["cause"], "");
        let names: Vec<_> = with_defaults.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names[..4], ["log_id", "epoch", "health", "entries"]);
    }

    /// In lists and in messages within messages; an enumeration without the option keeps its full names.
    #[test]
    fn names_are_short_at_every_depth_and_only_where_the_schemas_say_so() {
        let check = |level: v1::CheckLevel| v1::Check { level: level.into(), ..Default::default() };
        let status = v1::GetStatusResponse {
            checks: vec![check(v1::CheckLevel::Ok), check(v1::CheckLevel::Error)],
            ..Default::default()
        };
        let expect = serde_json::json!({"checks": [{"level": "ok"}, {"level": "error"}]});
        assert_eq!(to_json(&status), expect);
        let origin = v1::ModelOrigin {
            source: v1::ModelSource::BuiltIn.into(),
            place: "there".into(),
            ..Default::default()
        };
        let config = v1::GetConfigResponse { model_origin: Some(origin), ..Default::default() };
        let expect = serde_json::json!({"model_origin": {"source": "built_in", "place": "there"}});
        assert_eq!(to_json(&config), expect);
        let run = v1::Run { state: v1::RunState::Done.into(), ..Default::default() };
        assert_eq!(to_json(&run), serde_json::json!({"state": "RUN_STATE_DONE"}));
    }

    #[test]
    fn every_short_name_is_read_again() {
        for (name, level) in [("", v1::CheckLevel::Unspecified), ("warning", v1::CheckLevel::Warning)] {
            assert_eq!((v1::CheckLevel::from_short_name(name), level.short_name()), (Some(level), name));
            let bytes = from_json("palyra.v1.Check", &format!(r#"{{"level": "{name}"}}"#)).unwrap();
            assert_eq!(v1::Check::decode(bytes.as_slice()).unwrap().level(), level);
        }
        assert_eq!(v1::CheckLevel::from_short_name("Warning"), None);
    }
}
