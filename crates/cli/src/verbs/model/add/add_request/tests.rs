//! What a command line and an environment name together.

use super::*;
use clap::Parser;

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    args: AddArgs,
}

fn complete(words: &[&str], environment: &[(&str, &str)]) -> Result<AddRequest, String> {
    let words = ["add"].iter().chain(words);
    let CommandLine { args } = CommandLine::try_parse_from(words).map_err(|error| error.to_string())?;
    let variable = |name: &str| {
        environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    AddRequest::complete(args, variable).map_err(|failure| failure.to_string())
}

const URL: (&str, &str) = ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
const MODEL: (&str, &str) = ("PALYRA_MODEL", "some-model");
const KEY: (&str, &str) = ("OPENAI_API_KEY", "canary-sesame");

#[test]
fn what_the_command_line_does_not_name_is_what_the_environment_names() {
    let added = complete(&[], &[URL, MODEL, KEY]).unwrap();
    assert_eq!(added.model_name(), "local/some-model");
    assert_eq!(added.base_url, URL.1);
    assert_eq!(added.key.as_deref(), Some("env:OPENAI_API_KEY"));
    assert_eq!(added.variables, ["OPENAI_BASE_URL", "PALYRA_MODEL", "OPENAI_API_KEY"]);
    let hosted = complete(&[], &[("OPENAI_BASE_URL", "https://api.openai.com/v1"), MODEL]).unwrap();
    assert_eq!((hosted.name.as_str(), hosted.key), ("openai", None));
    let named = complete(&["mine", "--model", "m", "--key", "env:OWN"], &[URL, MODEL, KEY]).unwrap();
    assert_eq!((named.model_name().as_str(), named.key.as_deref()), ("mine/m", Some("env:OWN")));
    // The control: nothing of the environment goes along to a server that the command line names.
    let other = complete(&["x", "--base-url", "http://h/v1", "--model", "m"], &[URL, MODEL, KEY]).unwrap();
    assert_eq!((other.base_url.as_str(), other.key), ("http://h/v1", None));
    assert!(other.variables.is_empty());
}

#[test]
fn what_is_named_nowhere_is_shown_as_a_whole_command() {
    let options = "--base-url http://127.0.0.1:11434/v1 --model qwen3`";
    for (words, wanted) in [
        (&[][..], format!("`palyra model add local {options}")),
        (&["my own"], format!("`palyra model add my-own {options}")),
        (&["Ähem!"], format!("`palyra model add hem {options}")),
        (&["--format", "anthropic_messages"], format!("`palyra model add local {options}")),
    ] {
        let message = complete(words, &[MODEL]).unwrap_err();
        assert!(
            message.contains("--base-url is missing") && message.contains(&wanted),
            "{words:?}: {message}"
        );
    }
    let added = complete(&["--format", "openai_responses"], &[URL, MODEL, KEY]).unwrap();
    assert_eq!((added.format, added.variables.len()), (WireFormat::OpenAiResponses, 3));
    let message = complete(&[], &[("OPENAI_BASE_URL", "http://a:canary@h/v1")]).unwrap_err();
    assert!(
        message.contains("PALYRA_MODEL is not set")
            && message.contains("`palyra model add local --model MODEL`"),
        "{message}"
    );
    assert!(!message.contains("canary"), "{message}");
}

#[test]
fn an_address_in_the_place_of_the_name_is_the_address() {
    let address = "http://127.0.0.1:11434/v1";
    let added = complete(&[address, "--model", "qwen3"], &[URL, MODEL, KEY]).unwrap();
    assert_eq!((added.model_name().as_str(), added.base_url.as_str()), ("local/qwen3", address));
    // Nothing of the environment goes along to it.
    assert!(added.key.is_none() && added.variables.is_empty());
    let hosted = complete(&["https://api.example.org/v1", "--model", "m"], &[]).unwrap();
    assert_eq!(hosted.model_name(), "example/m");
    let message = complete(&[address], &[]).unwrap_err();
    let command = format!("`palyra model add local --base-url {address} --model MODEL`");
    assert!(message.contains("--model is missing") && message.contains(&command), "{message}");
    let message = complete(&["http://a:canary@h/v1"], &[]).unwrap_err();
    assert!(message.contains("--base-url URL") && !message.contains("canary"), "{message}");
    let message = complete(&["api.example.org", "--base-url", address, "--model", "m"], &[]).unwrap_err();
    assert!(message.ends_with("`palyra model add local --base-url URL`"), "{message}");
}
