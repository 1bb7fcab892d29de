//! Reads which enumerations name their values in short, and writes the functions that name them.
//!
//! A value without the prefix of its enumeration is an error that names it. Begin at [`to_rust`].

use std::fmt::Write as _;

use protox::prost_reflect::{DescriptorPool, EnumDescriptor, Kind};

const OPTION: &str = "palyra.options.v1.short_names";

/// Returns the table and the functions of a descriptor set as Rust.
pub(crate) fn to_rust(set: &[u8]) -> Result<String, Box<dyn std::error::Error>> {
    let pool = DescriptorPool::decode(set)?;
    let option = pool.get_extension_by_name(OPTION).ok_or("the file of options is not imported")?;
    let is_short =
        |values: &EnumDescriptor| values.options().get_extension(&option).as_bool().unwrap_or_default();
    let mut enumerations: Vec<_> = pool.all_enums().filter(is_short).collect();
    enumerations.sort_by(|one, other| one.full_name().cmp(other.full_name()));
    let mut text = String::from(
        "/// Full names of the enumerations whose values JSON names in short, in order.\n\
         pub static SHORT_NAMED: &[&str] = &[\n",
    );
    for values in &enumerations {
        let _ = writeln!(text, "    {:?},", values.full_name());
    }
    text.push_str("];\n\n");
    for values in &enumerations {
        text.push_str(&names_of(values)?);
    }
    for message in pool.all_messages() {
        for field in message.fields().filter(|field| !field.is_list() && !field.supports_presence()) {
            if let Kind::Enum(values) = field.kind()
                && is_short(&values)
            {
                text.push_str(&accessor(message.name(), field.name(), values.name()));
            }
        }
    }
    Ok(text)
}

/// The short names of an enumeration, and its functions: value to short name, and back.
fn names_of(values: &EnumDescriptor) -> Result<String, String> {
    let prefix = super::operations::snake_case(values.name()).to_uppercase() + "_";
    let mut names = String::new();
    let mut read = String::new();
    let mut listed = String::new();
    for value in values.values() {
        let word = value.name().strip_prefix(&prefix);
        let word =
            word.ok_or_else(|| format!("`{}` must begin with `{prefix}`", value.name()))?.to_lowercase();
        let variant = camel_case(&word);
        let short = if value.number() == 0 { "" } else { word.as_str() };
        if value.number() != 0 {
            let _ = write!(listed, "{short:?}, ");
        }
        let _ = writeln!(names, "            Self::{variant} => {short:?},");
        let _ = writeln!(read, "            {short:?} => Some(Self::{variant}),");
    }
    Ok(format!(
        "impl crate::v1::{name} {{\n    /// The short names of its values, without the unspecified one.\n    \
         pub const SHORT_NAMES: &'static [&'static str] = &[{listed}];\n\n    \
         /// Returns the short name of the value; empty for the unspecified one.\n    \
         #[must_use]\n    pub const fn short_name(self) -> &'static str {{\n        match self {{\n{names}        }}\n    }}\n\n    \
         /// Reads a short name; the empty text is the unspecified value.\n    \
         #[must_use]\n    pub fn from_short_name(name: &str) -> Option<Self> {{\n        match name {{\n{read}            \
         _ => None,\n        }}\n    }}\n}}\n\n",
        name = values.name(),
    ))
}

/// A function of a message that names the value of a field.
fn accessor(message: &str, field: &str, values: &str) -> String {
    format!(
        "impl crate::v1::{message} {{\n    /// Returns the short name of `{field}`; the number where this program does not \
         know the value.\n    #[must_use]\n    pub fn {field}_name(&self) -> std::borrow::Cow<'static, str> {{\n        \
         named(crate::v1::{values}::try_from(self.{field}).map(crate::v1::{values}::short_name), self.{field})\n    }}\n}}\n\n"
    )
}

fn camel_case(word: &str) -> String {
    let parts = word.split('_').filter(|part| !part.is_empty());
    parts.map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}
