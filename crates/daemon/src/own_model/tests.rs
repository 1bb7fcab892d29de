//! What selects a model, and when two selections are the same.

use super::*;

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn with(file: &str, pairs: &[(&str, &str)]) -> Result<OwnModel, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("palyra.toml");
    std::fs::write(&path, file).expect("written");
    own_model(Some(&path), &environment(pairs))
}

const SERVER: (&str, &str) = ("OPENAI_BASE_URL", "http://h/v1");
const BOX: &str = "[providers.box]\nbase_url = \"http://b/v1\"\nkey = \"env:KEY\"\n";

#[test]
fn the_source_of_a_model_is_named() {
    let named = format!("model.default = \"box/m\"\n{BOX}");
    let at_openai = "model.default = \"openai/m\"\n";
    for (file, pairs, source, name) in [
        ("", &[][..], ModelSource::BuiltIn, "demo/demo"),
        ("", &[("PALYRA_MODEL", "m")], ModelSource::BuiltIn, "demo/demo"),
        ("", &[SERVER], ModelSource::Environment, "the first model at http://h/v1"),
        ("", &[SERVER, ("PALYRA_MODEL", "m")], ModelSource::Environment, "openai/m"),
        (&named, &[SERVER], ModelSource::Configuration, "box/m"),
        (at_openai, &[SERVER], ModelSource::Environment, "openai/m"),
        (BOX, &[("PALYRA__MODEL__DEFAULT", "box/n"), ("KEY", "k")], ModelSource::Environment, "box/n"),
        (
            &named,
            &[("PALYRA__PROVIDERS__BOX__BASE_URL", "http://c/v1"), ("KEY", "k")],
            ModelSource::Environment,
            "box/m",
        ),
    ] {
        let own = with(file, pairs).expect("a model");
        assert_eq!((own.source, own.name.as_str()), (source, name), "{file} {pairs:?}");
    }
}

#[test]
fn a_model_of_a_server_that_no_variable_names_here_starts_no_daemon() {
    let unset_server = |file: &str, pairs: &[(&str, &str)]| with(file, pairs).expect("a model").unset_server;
    let named = "model.default = \"openai/m\"\n";
    let saved = format!("{named}[providers.openai]\nbase_url = \"http://h/v1\"\n");
    assert_eq!(unset_server(named, &[]), Some("OPENAI_BASE_URL"));
    assert_eq!(unset_server("", &[("PALYRA__MODEL__DEFAULT", "openai/m")]), Some("OPENAI_BASE_URL"));
    assert_eq!((unset_server(named, &[SERVER]), unset_server(&saved, &[])), (None, None));
}

#[test]
fn whatever_selects_the_model_changes_the_fingerprint_and_the_salt_does() {
    let base = with("", &[SERVER, ("OPENAI_API_KEY", "canary")]).expect("a model");
    let same = with("", &[SERVER, ("OPENAI_API_KEY", "canary"), ("OTHER", "x")]).expect("a model");
    assert_eq!(base.fingerprint(b"salt"), same.fingerprint(b"salt"));
    assert_ne!(base.fingerprint(b"salt"), same.fingerprint(b"pepper"));
    for pairs in [
        &[("OPENAI_BASE_URL", "http://i/v1"), ("OPENAI_API_KEY", "canary")][..],
        &[SERVER, ("OPENAI_API_KEY", "another")],
        &[SERVER],
        &[SERVER, ("OPENAI_API_KEY", "canary"), ("PALYRA_MODEL", "m")],
        &[],
    ] {
        let other = with("", pairs).expect("a model");
        assert_ne!(base.fingerprint(b"salt"), other.fingerprint(b"salt"), "{pairs:?}");
    }
}

#[test]
fn variables_that_name_the_configured_server_and_model_are_known() {
    let named = format!("model.default = \"box/m\"\n{BOX}");
    for (server, model, expect) in [
        ("http://b/v1", "m", true),
        ("http://b/v1/", "m", true),
        ("http://b/v1", "n", false),
        ("http://c/v1", "m", false),
    ] {
        let pairs = [("OPENAI_BASE_URL", server), ("PALYRA_MODEL", model), ("KEY", "k")];
        assert_eq!(with(&named, &pairs).expect("a model").is_named_twice, expect, "{server} {model}");
    }
}

#[test]
fn a_named_model_has_the_fingerprint_of_its_server_beside_its_own() {
    let server = with("", &[SERVER]).expect("a model");
    let named = with("", &[SERVER, ("PALYRA_MODEL", "m")]).expect("a model");
    assert_eq!(named.unnamed_fingerprint(b"salt"), Some(server.fingerprint(b"salt")));
    assert_eq!(server.unnamed_fingerprint(b"salt"), None);
    let keyed = with("", &[SERVER, ("PALYRA_MODEL", "m"), ("OPENAI_API_KEY", "k")]).expect("a model");
    assert_ne!(keyed.unnamed_fingerprint(b"salt"), Some(server.fingerprint(b"salt")));
}

#[test]
fn a_model_with_a_key_has_the_fingerprint_of_the_same_one_without_it() {
    let keyed = with("", &[SERVER, ("PALYRA_MODEL", "m"), ("OPENAI_API_KEY", "k")]).expect("a model");
    let keyless = with("", &[SERVER, ("PALYRA_MODEL", "m")]).expect("a model");
    assert_eq!(keyed.keyless_fingerprint(b"salt"), Some(keyless.fingerprint(b"salt")));
    assert_eq!(keyless.keyless_fingerprint(b"salt"), None);
    let other = with("", &[SERVER, ("PALYRA_MODEL", "n")]).expect("a model");
    assert_ne!(keyed.keyless_fingerprint(b"salt"), Some(other.fingerprint(b"salt")));
}

#[test]
fn what_cannot_be_used_is_said_without_its_value() {
    let told = with("", &[("OPENAI_BASE_URL", "canary")]).err().expect("refused");
    assert!(told.contains("OPENAI_BASE_URL cannot be used") && !told.contains("canary"), "{told}");
    let told = with(BOX, &[("PALYRA__MODEL__DEFAULT", "box/m")]).err().expect("refused");
    assert!(told.contains("`KEY` is not set in this environment"), "{told}");
}
