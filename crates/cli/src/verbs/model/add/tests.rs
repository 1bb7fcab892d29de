//! What is written of a provider, and what is refused before a test.

use super::*;

fn args(name: &str, key: Option<&str>) -> AddRequest {
    AddRequest {
        name: name.to_owned(),
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        model: "small".to_owned(),
        format: WireFormat::OpenAiChat,
        key: key.map(str::to_owned),
        context_tokens: None,
        images: false,
        no_default: false,
        yes: false,
        no_test: false,
        json: false,
        variables: Vec::new(),
    }
}

#[test]
fn what_is_written_is_what_was_asked_for() {
    let args = AddRequest { context_tokens: Some(8_192), ..args("local", Some("env:KEY")) };
    let settings = ProviderSettings { args: &args, base_url: "http://h/v1", takes_images: true };
    let expect = "[providers.local]\nformat = \"openai_chat\"\nbase_url = \"http://h/v1\"\nmodel = \"small\"\nimages = true\n\
                  key = \"env:KEY\"\ncontext_tokens = 8192\n\n[model]\ndefault = \"local/small\"\n";
    assert_eq!(edited("", &settings, DefaultChange::Set).unwrap(), expect);
}

#[test]
fn a_key_itself_is_refused_and_not_repeated() {
    let failure = check_arguments(&args("local", Some("sk-sesame"))).unwrap_err();
    assert_eq!(failure.exit(), Exit::Usage);
    assert!(!failure.lines().join("\n").contains("sesame"));
    let refused = check_arguments(&args("My model", None)).unwrap_err().to_string();
    assert_eq!(refused, "the name takes a-z, 0-9 and -; for example `my-model`");
    assert!(check_arguments(&args("demo", None)).is_err());
    assert!(check_arguments(&args("my-box-2", Some("file:/run/key"))).is_ok());
    // Only the daemon has the vault.
    let of_vault = args("local", Some("vault:model-local"));
    assert!(check_arguments(&of_vault).is_err());
    assert!(check_arguments(&AddRequest { no_test: true, ..of_vault }).is_ok());
}

#[test]
fn a_server_is_replaced_without_becoming_the_default_one() {
    let words = ["palyra", "model", "add", "local", "--no-default", "--yes"];
    let parsed = crate::command_line::parse(words.map(std::ffi::OsString::from).to_vec());
    assert!(parsed.is_ok(), "{}", parsed.err().unwrap());
    let config = "[providers.local]\nbase_url = \"http://127.0.0.1:2/v1\"\n";
    let asked = AddRequest { no_default: true, ..args("local", None) };
    let refused = check_replaced(config, &asked).unwrap_err().to_string();
    assert!(refused.ends_with("--yes replaces local"), "{refused}");
    assert!(check_replaced(config, &AddRequest { yes: true, ..asked }).is_ok());
}
