//! The form that adds a server of models, for owners.
//!
//! Invariant: a page never has the key that was typed, nor what an address has before its host.

use maud::{Markup, html};
use palyra_screen_text::clean_text;
use palyra_wire::short_names::must_be;
use palyra_wire::v1;

use crate::forms::FormFields;
use crate::page_parts::FieldPresence::Required;
use crate::page_parts::{TextField, text_field};
use crate::paths::ADD_MODEL_PATH;

/// The formats that can be chosen.
const FORMATS: [(v1::ModelFormat, &str); 3] = [
    (v1::ModelFormat::OpenaiChat, "OpenAI Chat Completions, and servers compatible with it"),
    (v1::ModelFormat::AnthropicMessages, "Anthropic Messages"),
    (v1::ModelFormat::OpenaiResponses, "OpenAI Responses"),
];

/// What the fields of the form have in them.
pub(crate) struct AddModelForm {
    token: String,
    name: String,
    format: String,
    base_url: String,
    model: String,
    context_tokens: String,
    new_default: String,
    existing: String,
}

impl AddModelForm {
    /// Returns the form with what was typed before, but for the key and the code.
    pub(crate) fn filled(token: String, fields: &FormFields) -> Self {
        Self {
            token,
            name: fields.text("name"),
            format: fields.text("format"),
            base_url: without_credentials(&fields.text("base_url")),
            model: fields.text("model"),
            context_tokens: fields.text("context_tokens"),
            new_default: fields.text("new_default"),
            existing: fields.text("existing"),
        }
    }

    pub(crate) fn markup(&self) -> Markup {
        html! {
            h2 id="add" { "Add a server" }
            p {
                "The server answers a short question first, and is saved only then. Its key goes into the vault, bound to the "
                "host of its address; the configuration names the secret."
            }
            form.card method="post" action=(ADD_MODEL_PATH) autocomplete="off" {
                input type="hidden" name="token" value=(self.token);
                (text_field(&TextField {
                    name: "name", label: "Name", value: &self.name,
                    help: "A name of your own for the server: a-z, 0-9 and -.",
                    presence: Required,
                }))
                label for="format" { "Format" }
                select id="format" name="format" {
                    @for (format, text) in FORMATS { (option(format.short_name(), text, &self.format)) }
                }
                (text_field(&TextField {
                    name: "base_url", label: "Address", value: &self.base_url,
                    help: "Where its API begins, such as https://api.openai.com/v1.",
                    presence: Required,
                }))
                (text_field(&TextField {
                    name: "model", label: "Model", value: &self.model,
                    help: "The model to test, as the server names it.",
                    presence: Required,
                }))
                label for="key" { "Key" }
                input id="key" name="key" type="password" autocomplete="new-password" spellcheck="false" aria-describedby="key-help";
                p.muted id="key-help" { "Empty for a server that takes none. No page shows it again." }
                label for="context_tokens" { "Window in tokens" }
                input id="context_tokens" name="context_tokens" type="text" inputmode="numeric" value=(clean_text(&self.context_tokens))
                    aria-describedby="context_tokens-help";
                p.muted id="context_tokens-help" { "Empty for what the server says." }
                label for="new_default" { "Default model" }
                select id="new_default" name="new_default" {
                    (option("this_model", "Runs use this model from now on", &self.new_default))
                    (option("unchanged", "The default model stays", &self.new_default))
                }
                label for="existing" { "If there is a server of this name" }
                select id="existing" name="existing" {
                    (option("keep", "Keep it, and add nothing", &self.existing))
                    (option("replace", "Replace it", &self.existing))
                }
                label for="confirmation" { "Confirmation code" }
                input id="confirmation" name="confirmation" type="text" autocomplete="off" required
                    aria-describedby="confirmation-help";
                p.muted id="confirmation-help" {
                    "Run " code { "palyra admin confirm" } " on the daemon's machine. A code works once, within a minute."
                }
                div.actions { button.primary type="submit" { "Test and add" } }
            }
        }
    }
}

fn option(value: &str, text: &str, chosen: &str) -> Markup {
    html! { option value=(value) selected[value == chosen] { (text) } }
}

/// Returns an address without the user name and the password in it. A password may have any sign in it, and the address
/// need not be a URL, so everything between the scheme and the last `@` is taken out.
fn without_credentials(address: &str) -> String {
    let begins_with =
        |scheme: &&str| address.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    let scheme = ["http://", "https://"].into_iter().find(begins_with).unwrap_or_default();
    match address.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}{host}"),
        None => address.to_owned(),
    }
}

/// Returns the request of a form.
pub(crate) fn request(fields: &FormFields) -> Result<v1::AddModelRequest, String> {
    let format = v1::ModelFormat::from_short_name(&fields.text("format"))
        .ok_or_else(|| must_be("format", v1::ModelFormat::SHORT_NAMES))?;
    let tokens = fields.text("context_tokens");
    let context_tokens = match tokens.trim() {
        "" => 0,
        tokens => tokens.parse().map_err(|_| "the window is a number of tokens, or empty".to_owned())?,
    };
    Ok(v1::AddModelRequest {
        name: fields.text("name"),
        format: format.into(),
        base_url: fields.text("base_url"),
        model: fields.text("model"),
        key: fields.text("key"),
        context_tokens,
        make_default: fields.text("new_default") != "unchanged",
        replace: fields.text("existing") == "replace",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_kept_but_for_the_key_and_the_code() {
        let typed = "name=box&format=anthropic_messages&base_url=https%3A%2F%2Fh%2Fv1&model=m%2F1&key=canary-lantern&\
                     context_tokens=8192&new_default=unchanged&existing=replace&confirmation=CANARYCODE";
        let fields = FormFields::parse(typed).unwrap();
        let shown = AddModelForm::filled("token".to_owned(), &fields).markup().into_string();
        for kept in [
            "\"box\"",
            "\"https://h/v1\"",
            "\"m/1\"",
            "\"8192\"",
            "\"replace\" selected",
            "\"unchanged\" selected",
        ] {
            assert!(shown.contains(kept), "{kept} in {shown}");
        }
        assert!(!shown.to_lowercase().contains("canary"), "{shown}");
        assert!(shown.contains("type=\"password\" autocomplete=\"new-password\""), "{shown}");
        let request = request(&fields).unwrap();
        assert_eq!((request.context_tokens, request.make_default, request.replace), (8_192, false, true));
        assert_eq!(request.format(), v1::ModelFormat::AnthropicMessages);
    }

    #[test]
    fn a_password_in_an_address_is_not_shown_again() {
        for (typed, kept) in [
            ("http://user:canary-1@host/v1", "http://host/v1"),
            ("https://canary-2@host:8080/v1", "https://host:8080/v1"),
            ("https://user:canary/3?x#y@z@host/v1", "https://host/v1"),
            ("user:canary-4@host/v1", "host/v1"),
            ("http:/user:canary-5@host", "host"),
            ("user:canary://6@host", "host"),
            ("HTTPS://canary-7@host", "https://host"),
            ("@", ""),
            ("https://host/v1", "https://host/v1"),
        ] {
            let shown = without_credentials(typed);
            assert_eq!(shown, kept, "{typed}");
        }
        let typed = "name=box&base_url=http%3A%2F%2Fuser%3Acanary-lantern%40host%2Fv1";
        let fields = FormFields::parse(typed).unwrap();
        assert!(fields.text("base_url").contains("canary"), "the control: it was typed");
        let shown = AddModelForm::filled("token".to_owned(), &fields).markup().into_string();
        assert!(shown.contains("value=\"http://host/v1\"") && !shown.contains("canary"), "{shown}");
    }

    #[test]
    fn each_format_can_be_chosen_and_another_one_is_refused_as_the_operation_refuses_it() {
        assert_eq!(FORMATS.map(|(format, _)| format.short_name())[..], *v1::ModelFormat::SHORT_NAMES);
        for name in v1::ModelFormat::SHORT_NAMES {
            let fields = FormFields::parse(&format!("format={name}")).unwrap();
            assert_eq!(request(&fields).unwrap().format().short_name(), *name);
        }
        let refused = request(&FormFields::parse("format=gemini").unwrap()).unwrap_err();
        assert_eq!(refused, must_be("format", v1::ModelFormat::SHORT_NAMES));
    }

    #[test]
    fn a_window_takes_a_number() {
        for (typed, fits) in [("", true), ("8192", true), ("8k", false), ("-1", false)] {
            let fields = FormFields::parse(&format!("context_tokens={typed}")).unwrap();
            assert_eq!(request(&fields).is_ok(), fits, "{typed}");
        }
    }
}
