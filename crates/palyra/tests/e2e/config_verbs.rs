//! `palyra config check` and `schema`, and the file that `init` writes: without a daemon, and of one mind.

use crate::home::Home;

fn write(home: &Home, text: &str) {
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), text).unwrap();
}

#[test]
fn a_check_needs_no_daemon_and_starts_none() {
    let home = Home::new();
    let none = home.palyra(&["config", "check"]).expect(0);
    assert_eq!(
        (none.out.as_str(), none.err.as_str()),
        ("", "✓ the configuration (there is no file) has no mistakes\n")
    );
    write(&home, "[limits]\nturns_mx = 1\ntool_calls_max = 0\n[model]\ndefault = \"nope\"\n");
    let wrong = home.palyra(&["config", "check"]).expect(2);
    let file = home.config_file().display().to_string();
    let expect = format!(
        "{file}:2:1: there is no setting `limits.turns_mx`; did you mean `limits.turns_max`?\n\
         {file}:3:18: `limits.tool_calls_max` takes a whole number from 1 to 100000, not 0\n\
         {file}:5:11: `model.default` takes provider/model, such as demo/demo\n"
    );
    assert_eq!((wrong.out, wrong.err), (expect, format!("✗ {file} has 3 mistakes\n")));
    let json = &home.palyra(&["config", "check", "--json"]).expect(2).json()[0];
    assert_eq!(
        (&json["valid"], &json["file"], &json["incomplete"]),
        (&false.into(), &file.into(), &false.into())
    );
    let second = &json["mistakes"][1];
    assert_eq!((&second["code"], &second["key"]), (&"PLY-1301".into(), &"limits.tool_calls_max".into()));
    assert_eq!((&second["line"], &second["column"]), (&3.into(), &18.into()));
    assert!(!home.state_dir().exists(), "no daemon was there");
}

#[test]
fn a_setting_is_written_in_the_file_and_its_value_is_not_repeated() {
    let home = Home::new();
    let file = home.config_file().display().to_string();
    for words in [
        &["set", "egress.allow_private", "[\"127.0.0.1:canary\"]"][..],
        &["set", "egress.allow_private=canary"],
        &["unset", "egress.allow_private"],
    ] {
        let told = home.palyra(&[&["config"], words].concat()).expect(2);
        let shown = told.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&format!("settings are edited in the file {file}")), "{shown}");
        assert!(shown.contains("`allow_private = ...` there, below the line `[egress]`"), "{shown}");
        assert!(!shown.contains("canary"), "{shown}");
    }
    assert!(!home.state_dir().exists(), "no daemon was started");
}

#[test]
fn a_check_takes_any_file_and_sees_what_the_daemon_would() {
    let home = Home::new();
    home.write(
        "new.toml",
        "model.default = \"x/m\"\n[providers.x]\nbase_url = \"http://h/v1\"\nkey = \"env:X_KEY\"\n",
    );
    let unset = home.palyra(&["config", "check", "new.toml"]).expect(2);
    assert!(unset.out.starts_with("new.toml:4:7: no key for provider `x`: "), "{}", unset.out);
    let home = home.with("X_KEY", "sk-canary");
    let set = home.palyra(&["config", "check", "new.toml"]).expect(0);
    assert!(!set.err.contains("canary") && set.out.is_empty(), "{}", set.err);
    let missing = home.palyra(&["config", "check", "missing.toml"]).expect(2);
    assert_eq!(missing.out, "missing.toml: the configuration cannot be read: it does not exist\n");
    let home = home.with("PALYRA__LIMITS__TURNS_MAX", "none");
    let variable = home.palyra(&["config", "check", "new.toml"]).expect(2);
    assert!(variable.out.starts_with("environment variable PALYRA__LIMITS__TURNS_MAX: "), "{}", variable.out);
}

#[test]
fn what_init_writes_is_the_schema_and_changes_nothing() {
    let home = Home::new();
    home.palyra(&["init"]).expect(0);
    let schema = home.palyra(&["config", "schema"]).expect(0).out;
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), schema);
    assert!(schema.contains("#turns_max = 50\n") && schema.contains("#[providers.local]\n"), "{schema}");
    home.palyra(&["config", "check"]).expect(0);
    let shown = home.palyra(&["config", "show", "--json"]).expect(0).json();
    let values = shown[0]["values"].as_array().unwrap();
    assert!(values.iter().all(|value| value["origin"] == "default"), "{values:?}");
    let schema = home.palyra(&["config", "schema", "--json"]).expect(0).out;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    for value in values {
        let key: Vec<_> = value["key"].as_str().unwrap().split('.').collect();
        let setting = &schema["properties"][key[0]]["properties"][key[1]];
        assert_eq!(setting["default"].to_string(), value["value"].as_str().unwrap(), "{key:?}");
    }
}

#[test]
fn a_daemon_that_does_not_start_tells_every_mistake() {
    let home = Home::new();
    write(&home, "[limits]\nturns_mx = 1\ntool_calls_max = 0\n");
    let ended = home.palyra(&["run", "hello"]).expect(4);
    let file = home.config_file().display().to_string();
    let expect = format!(
        "· starting the daemon\n\
         error[PLY-1301]: the daemon did not start: the configuration has 2 mistakes\n  \
         {file}:2:1: there is no setting `limits.turns_mx`; did you mean `limits.turns_max`?\n  \
         {file}:3:18: `limits.tool_calls_max` takes a whole number from 1 to 100000, not 0\n  \
         correct what the message names; `palyra config check` lists every mistake\n  \
         `palyra explain PLY-1301` says more\n"
    );
    assert_eq!(ended.err, expect);
}
