//! A method that does not declare itself stops the build, with an error that names the method and what is missing; so
//! does a value of an enumeration with short names that has no short name.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;

#[path = "../build/operations.rs"]
mod operations;
#[path = "../build/short_names.rs"]
mod short_names;

/// Compiles a service with one method and this option, and reads it as the build script does.
fn declared(name: &str, option: &str) -> Result<String, String> {
    let schema = format!(
        "syntax = \"proto3\";\npackage palyra.v1;\nimport \"palyra/options/v1/operation.proto\";\n\
         service Things {{\n  rpc GetThing(GetThingRequest) returns (GetThingResponse) {{ {option} }}\n}}\n\
         message GetThingRequest {{ string thing_id = 1; }}\nmessage GetThingResponse {{}}\n"
    );
    let operations = operations::read(&compiled(name, &schema)).map_err(|error| error.to_string())?;
    Ok(operations::to_rust(&operations))
}

/// Compiles a schema as the build script does.
fn compiled(name: &str, schema: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("declarations-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("things.proto");
    std::fs::write(&file, schema).unwrap();
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let mut compiler = protox::Compiler::new([folder.as_path(), schemas.as_path()]).unwrap();
    compiler.include_imports(true).open_files([&file]).unwrap().encode_file_descriptor_set()
}

fn option(fields: &str) -> String {
    format!("option (palyra.options.v1.operation) = {{ {fields} }};")
}

const WHOLE: &str = "audience: AUDIENCE_OWNER scope: SCOPE_RUNS_READ kind: OPERATION_KIND_READ summary: \"Show a thing\" \
     http: \"GET /api/v1/things/{thing_id}\"";

/// The control is the whole declaration.
#[test]
fn a_method_without_a_part_of_its_declaration_does_not_build() {
    let table = declared("whole", &option(WHOLE)).unwrap();
    assert!(
        table.contains("path: \"/palyra.v1.Things/GetThing\"") && table.contains("OperationAudience::Owner")
    );
    let missing = declared("none", "").unwrap_err();
    assert!(
        missing.starts_with("palyra.v1.Things.GetThing: `option (palyra.options.v1.operation)` is missing")
    );
    for (name, from, to, said) in [
        ("audience", "audience: AUDIENCE_OWNER", "", "`audience` is missing"),
        ("scope", "scope: SCOPE_RUNS_READ", "", "`scope` is missing"),
        ("unspecified", "AUDIENCE_OWNER", "AUDIENCE_UNSPECIFIED", "`audience` is missing"),
        ("kind", "kind: OPERATION_KIND_READ", "", "`kind` is missing"),
        ("summary", "Show a thing", "Show a thing.", "`summary` must be one line"),
        ("http", "http: \"GET /api/v1/things/{thing_id}\"", "", "`http` is missing"),
        ("prefix", "/api/v1", "/v1", "a path below /api/v1/"),
        ("field", "{thing_id}", "{name}", "`{name}` in `http` is not a field of the request"),
    ] {
        assert!(WHOLE.contains(from), "{from}");
        let error = declared(name, &option(&WHOLE.replace(from, to))).unwrap_err();
        assert!(error.starts_with("palyra.v1.Things.GetThing: ") && error.contains(said), "{name}: {error}");
    }
}

/// The control is the same enumeration without the option.
#[test]
fn a_value_without_the_prefix_of_its_enumeration_does_not_build() {
    let written = |name: &str, option: &str, value: &str| {
        let schema = format!(
            "syntax = \"proto3\";\npackage palyra.v1;\nimport \"palyra/options/v1/enumeration.proto\";\n\
             enum ThingState {{\n  {option}\n  THING_STATE_UNSPECIFIED = 0;\n  {value} = 1;\n}}\n\
             message Thing {{ ThingState state = 1; repeated ThingState before = 2; }}\n"
        );
        short_names::to_rust(&compiled(name, &schema)).map_err(|error| error.to_string())
    };
    let short = "option (palyra.options.v1.short_names) = true;";
    let text = written("short", short, "THING_STATE_IN_USE").unwrap();
    assert!(
        text.contains("\"palyra.v1.ThingState\"") && text.contains("Self::InUse => \"in_use\""),
        "{text}"
    );
    assert!(text.contains("pub fn state_name(") && !text.contains("before_name"), "{text}");
    let error = written("prefix", short, "IN_USE").unwrap_err();
    assert_eq!(error, "`IN_USE` must begin with `THING_STATE_`");
    assert!(!written("long", "", "IN_USE").unwrap().contains("ThingState"));
}
