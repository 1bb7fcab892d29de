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

fn edit(old: &str, args: &AddRequest) -> Result<String, String> {
    let settings = ProviderSettings { args, base_url: &args.base_url, takes_images: false };
    edited(old, &settings, DefaultChange::Set)
}

#[test]
fn a_default_that_is_kept_and_images_that_were_seen_are_written() {
    let args = args("local", None);
    let settings = ProviderSettings { args: &args, base_url: "http://h/v1", takes_images: true };
    let new = edited("[model]\ndefault = \"a/b\"\n", &settings, DefaultChange::Keep).unwrap();
    assert_eq!(named_default(&new).as_deref(), Some("a/b"));
    assert!(new.ends_with("base_url = \"http://h/v1\"\nimages = true\n"), "{new}");
    assert_eq!(named_default(""), None);
}

#[test]
fn a_provider_is_written_and_comments_stay() {
    let old = "# mine\n[model]\n# which\ndefault = \"demo/demo\" # for now\n\n[limits]\nturns_max = 5\n";
    let new = edit(old, &args("local", Some("env:KEY"))).unwrap();
    assert_eq!(
        new,
        "# mine\n[model]\n# which\ndefault = \"local/small\"\n\n[limits]\nturns_max = 5\n\n\
         [providers.local]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\nkey = \"env:KEY\"\n"
    );
}

#[test]
fn an_empty_file_becomes_a_whole_one_and_a_second_time_changes_nothing() {
    let once = edit("", &args("local", None)).unwrap();
    assert_eq!(
        once,
        "[providers.local]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\n\
         [model]\ndefault = \"local/small\"\n"
    );
    assert_eq!(edit(&once, &args("local", None)).unwrap(), once);
    let older = once.replace("format = \"openai_chat\"", "kind = \"openai-chat\"");
    let messages = AddRequest { format: WireFormat::AnthropicMessages, ..args("local", None) };
    let expect = "[providers.local]\nbase_url = \"http://127.0.0.1:1/v1\"\nformat = \"anthropic_messages\"\n\n\
                  [model]\ndefault = \"local/small\"\n";
    assert_eq!(edit(&older, &messages).unwrap(), expect);
}

#[test]
fn what_cannot_be_edited_is_said() {
    assert!(edit("providers = 3", &args("local", None)).is_err());
    assert!(edit("[[", &args("local", None)).is_err());
}

#[test]
fn a_key_itself_is_refused_and_not_repeated() {
    let failure = check_arguments(&args("local", Some("sk-sesame"))).unwrap_err();
    assert_eq!(failure.exit(), Exit::Usage);
    assert!(!failure.lines().join("\n").contains("sesame"));
    assert!(check_arguments(&args("Local", None)).is_err());
    assert!(check_arguments(&args("demo", None)).is_err());
    assert!(check_arguments(&args("my-box-2", Some("file:/run/key"))).is_ok());
}
