//! JSON with the schemas' own field names.
//!
//! Differs from canonical proto3 JSON in two ways that help people with `jq`: snake_case names, and
//! 64-bit integers as numbers.

use std::sync::LazyLock;

use prost::{Message, Name};
use prost_reflect::{DescriptorPool, DynamicMessage, SerializeOptions};
use serde_json::Value;

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

fn render<M: Message + Name>(message: &M, options: &SerializeOptions) -> Value {
    let descriptor = POOL.get_message_by_name(&M::full_name()).expect("generated messages are in the pool");
    let dynamic = DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice())
        .expect("a message we encoded decodes");
    dynamic
        .serialize_with_options(serde_json::value::Serializer, options)
        .expect("a message without NaN or foreign Any values serialises")
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
}
