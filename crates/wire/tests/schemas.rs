//! No number of the schemas changes its meaning: what is compiled now is compared with what was released.
//!
//! `schemas.txt` is the descriptor set as text, a line for each field, value of an enumeration, reservation and
//! method. Owns the comparison's rules. A new line is added with `PALYRA_WRITE_SCHEMAS=1 cargo nextest run -p
//! palyra-wire`; that writes nothing while a rule is broken. Begin at [`Schemas::broken_rules`].

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use palyra_wire::short_names::has_short_names;
use protox::prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use protox::prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, ServiceDescriptorProto,
};

/// A number, a reserved name or a method of the schemas, by the name of what it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SchemaKey {
    Field(String, i32),
    Value(String, i32),
    ReservedName(String, String),
    Method(String, String),
}

/// What each key means: type and name of a field, name of a value, types of a method. `None` is reserved.
#[derive(Debug, Default, PartialEq, Eq)]
struct Schemas(BTreeMap<SchemaKey, Option<String>>);

impl Schemas {
    /// Returns what a program of before would misread.
    fn broken_rules(&self, now: &Self) -> Vec<String> {
        let mut broken = Vec::new();
        for (key, before) in &self.0 {
            match (before, now.0.get(key)) {
                (_, None) => broken.push(format!("{key:?} is gone: reserve its number ({before:?})")),
                (Some(before), Some(Some(after))) if before != after => {
                    broken.push(format!("{key:?} was `{before}` and is `{after}`"));
                }
                (None, Some(Some(after))) => {
                    broken.push(format!("{key:?} is reserved and is used again for `{after}`"));
                }
                (Some(before), Some(None)) => broken.extend(now.unreserved_name(key, before)),
                (Some(_) | None, Some(_)) => {}
            }
        }
        broken
    }

    /// A removed field's name has to be reserved too: JSON knows it by its name. Only a string may become an
    /// enumeration with short names under its name, as the JSON of both is the same text.
    fn unreserved_name(&self, key: &SchemaKey, before: &str) -> Option<String> {
        let SchemaKey::Field(message, _) = key else { return None };
        let name = before.rsplit(' ').next().unwrap_or_default();
        let reserved = SchemaKey::ReservedName(message.clone(), name.to_owned());
        let is_kept = self.0.contains_key(&reserved)
            || (before == format!("string {name}") && self.is_short_named(message, name));
        (!is_kept).then(|| format!("{key:?} is reserved, and its name `{name}` is not"))
    }

    fn is_short_named(&self, message: &str, name: &str) -> bool {
        self.0.iter().any(|(key, meaning)| {
            let of_message = matches!(key, SchemaKey::Field(owner, _) if owner == message);
            let parts = meaning.as_deref().and_then(|meaning| meaning.strip_prefix('.')?.split_once(' '));
            of_message && parts.is_some_and(|(of_type, named)| named == name && has_short_names(of_type))
        })
    }

    fn to_text(&self) -> String {
        let line = |(key, meaning): (&SchemaKey, &Option<String>)| {
            let meaning = meaning.as_deref().unwrap_or("reserved");
            match key {
                SchemaKey::Field(owner, number) => format!("field {owner} {number} {meaning}\n"),
                SchemaKey::Value(owner, number) => format!("value {owner} {number} {meaning}\n"),
                SchemaKey::ReservedName(owner, name) => format!("name {owner} {name} {meaning}\n"),
                SchemaKey::Method(owner, name) => format!("method {owner} {name} {meaning}\n"),
            }
        };
        self.0.iter().map(line).collect()
    }

    fn from_text(text: &str) -> Self {
        let line = |line: &str| {
            let mut words = line.splitn(4, ' ').map(str::to_owned);
            let [what, owner, name, meaning] = std::array::from_fn(|_| words.next().unwrap());
            let key = match what.as_str() {
                "field" => SchemaKey::Field(owner, name.parse().unwrap()),
                "value" => SchemaKey::Value(owner, name.parse().unwrap()),
                "name" => SchemaKey::ReservedName(owner, name),
                "method" => SchemaKey::Method(owner, name),
                other => panic!("`{other}` begins no line of a schema"),
            };
            (key, (meaning != "reserved").then_some(meaning))
        };
        Self(text.lines().map(line).collect())
    }

    /// Reads every schema below a folder.
    fn compiled(root: &Path) -> Self {
        let mut files: Vec<PathBuf> = ["palyra/options/v1", "palyra/v1", "palyra/store/v1"]
            .iter()
            .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "proto"))
            .collect();
        files.sort();
        let set = protox::compile(&files, [root]).unwrap();
        let mut schemas = Self::default();
        let own = set.file.iter().filter(|file| file.package().starts_with("palyra."));
        own.for_each(|file| schemas.file(file));
        schemas
    }

    fn file(&mut self, file: &FileDescriptorProto) {
        let package = file.package();
        file.message_type.iter().for_each(|message| self.message(package, message));
        file.enum_type.iter().for_each(|values| self.values(package, values));
        file.service.iter().for_each(|service| self.service(package, service));
    }

    fn message(&mut self, within: &str, message: &DescriptorProto) {
        let owner = format!("{within}.{}", message.name());
        for field in &message.field {
            self.0.insert(SchemaKey::Field(owner.clone(), field.number()), Some(meaning_of(message, field)));
        }
        for range in &message.reserved_range {
            for number in range.start()..range.end() {
                self.0.insert(SchemaKey::Field(owner.clone(), number), None);
            }
        }
        self.reserve_names(&owner, &message.reserved_name);
        message.nested_type.iter().for_each(|nested| self.message(&owner, nested));
        message.enum_type.iter().for_each(|values| self.values(&owner, values));
    }

    fn values(&mut self, within: &str, values: &EnumDescriptorProto) {
        let owner = format!("{within}.{}", values.name());
        for value in &values.value {
            self.0.insert(SchemaKey::Value(owner.clone(), value.number()), Some(value.name().to_owned()));
        }
        for range in &values.reserved_range {
            for number in range.start()..=range.end() {
                self.0.insert(SchemaKey::Value(owner.clone(), number), None);
            }
        }
        self.reserve_names(&owner, &values.reserved_name);
    }

    fn reserve_names(&mut self, owner: &str, names: &[String]) {
        for name in names {
            self.0.insert(SchemaKey::ReservedName(owner.to_owned(), name.clone()), None);
        }
    }

    fn service(&mut self, within: &str, service: &ServiceDescriptorProto) {
        let owner = format!("{within}.{}", service.name());
        for method in &service.method {
            let stream = |streams: bool| if streams { "stream " } else { "" };
            let meaning = format!(
                "{}{} -> {}{}",
                stream(method.client_streaming()),
                method.input_type(),
                stream(method.server_streaming()),
                method.output_type()
            );
            self.0.insert(SchemaKey::Method(owner.clone(), method.name().to_owned()), Some(meaning));
        }
    }
}

/// Returns label, type, the `oneof` it is in, and name.
fn meaning_of(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let label = match field.label() {
        Label::Repeated => "repeated ",
        Label::Optional | Label::Required if field.proto3_optional() => "optional ",
        Label::Optional | Label::Required => "",
    };
    let type_name = match field.r#type() {
        Type::Message | Type::Enum | Type::Group => field.type_name().to_owned(),
        scalar => scalar.as_str_name().trim_start_matches("TYPE_").to_lowercase(),
    };
    let oneof =
        field.oneof_index.filter(|_| !field.proto3_optional()).and_then(|at| usize::try_from(at).ok());
    let oneof = oneof.map(|at| format!("in {} ", message.oneof_decl[at].name())).unwrap_or_default();
    format!("{label}{type_name} {oneof}{}", field.name())
}

#[test]
fn no_number_of_the_schemas_changes_its_meaning() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let now = Schemas::compiled(&here.join("proto"));
    let file = here.join("tests/schemas.txt");
    let released = Schemas::from_text(&std::fs::read_to_string(&file).unwrap_or_default());
    let broken = released.broken_rules(&now);
    assert!(broken.is_empty(), "programs of before would misread these: {broken:#?}");
    if std::env::var_os("PALYRA_WRITE_SCHEMAS").is_some() {
        std::fs::write(&file, now.to_text()).unwrap();
    }
    let kept = Schemas::from_text(&std::fs::read_to_string(&file).unwrap());
    let missing: Vec<_> = now.0.keys().filter(|key| !kept.0.contains_key(key)).collect();
    assert!(
        missing.is_empty(),
        "write tests/schemas.txt with PALYRA_WRITE_SCHEMAS=1 after adding {missing:?}"
    );
    assert_eq!(kept, now);
    assert!(kept.0.len() > 1_400, "{}", kept.0.len());
}

/// The rules, one change each; the controls are a schema that only grows and a field that is removed and reserved.
#[test]
fn each_change_that_a_program_of_before_would_misread_is_found() {
    let before = "field a.M 1 string name\nfield a.M 2 reserved\nname a.M old reserved\n\
        value a.E 1 E_ONE\nmethod a.S Get .a.M -> stream .a.M\n";
    let found = |after: &str| Schemas::from_text(before).broken_rules(&Schemas::from_text(after));
    let changed = |from: &str, to: &str| {
        assert!(before.contains(from), "{from}");
        found(&before.replace(from, to))
    };
    assert!(found(&format!("{before}field a.M 3 bytes more\nvalue a.E 2 E_TWO\n")).is_empty());
    assert!(changed("1 string name", "1 reserved\nname a.M name reserved").is_empty());
    let as_enumeration = "1 reserved\nfield a.M 3 .palyra.v1.CheckLevel name";
    assert!(changed("1 string name", as_enumeration).is_empty());
    let with_long_names = as_enumeration.replace("CheckLevel", "RunState");
    for (from, to, said) in [
        ("1 string name", "1 bytes name", "was `string name` and is `bytes name`"),
        ("1 string name", "1 string title", "was `string name` and is `string title`"),
        ("1 string name", "1 repeated string name", "is `repeated string name`"),
        ("field a.M 1 string name\n", "", "is gone: reserve its number"),
        ("1 string name", "1 reserved", "its name `name` is not"),
        ("1 string name", &with_long_names, "its name `name` is not"),
        ("1 string name", &as_enumeration.replace(" name", " title"), "its name `name` is not"),
        (
            "field a.M 2 reserved",
            "field a.M 2 string other",
            "is reserved and is used again for `string other`",
        ),
        ("name a.M old reserved\n", "", "is gone"),
        ("1 E_ONE", "1 E_UNO", "was `E_ONE` and is `E_UNO`"),
        ("value a.E 1 E_ONE\n", "", "is gone"),
        ("-> stream .a.M", "-> .a.M", "was `.a.M -> stream .a.M`"),
    ] {
        let found = changed(from, to);
        assert!(found.len() == 1 && found[0].contains(said), "{from} -> {to}: {found:?}");
    }
}
