//! Comments of the schemas as text.

use prost_reflect::{
    DescriptorPool, EnumDescriptor, FieldDescriptor, FileDescriptor, MessageDescriptor, MethodDescriptor,
};
use protox::prost_reflect;

/// Compiles the schemas with their comments.
pub(crate) fn pool() -> DescriptorPool {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/proto");
    let mut files: Vec<_> =
        std::fs::read_dir(root.join("palyra/v1")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut compiler = protox::Compiler::new([&root]).unwrap();
    compiler.include_imports(true).include_source_info(true).open_files(files).unwrap();
    DescriptorPool::decode(compiler.encode_file_descriptor_set().as_slice()).unwrap()
}

pub(crate) fn of_message(message: &MessageDescriptor) -> String {
    comment(&message.parent_file(), message.path())
}

pub(crate) fn of_field(field: &FieldDescriptor) -> String {
    comment(&field.parent_message().parent_file(), field.path())
}

pub(crate) fn of_method(method: &MethodDescriptor) -> String {
    comment(&method.parent_service().parent_file(), method.path())
}

/// Returns what an enumeration means, and each of its values.
pub(crate) fn of_enum(values: &EnumDescriptor, name: impl Fn(&str) -> String) -> String {
    let mut text = comment(&values.parent_file(), values.path());
    for value in values.values().filter(|value| value.number() != 0) {
        let meaning = comment(&values.parent_file(), value.path());
        text.push_str(&format!("\n\n`{}`: {meaning}", name(value.name())));
    }
    text
}

fn comment(file: &FileDescriptor, path: &[i32]) -> String {
    let info = file.file_descriptor_proto().source_code_info.as_ref();
    let mut locations = info.into_iter().flat_map(|info| &info.location);
    let found = locations.find(|location| location.path == path);
    let text = found.map(|location| location.leading_comments()).unwrap_or_default();
    let paragraphs = text.trim().split("\n\n");
    let joined = paragraphs.map(|lines| lines.lines().map(str::trim).collect::<Vec<_>>().join(" "));
    joined.collect::<Vec<_>>().join("\n\n")
}
