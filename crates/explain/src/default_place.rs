//! What names the default model, and how another one is named.

use std::ffi::OsStr;
use std::path::Path;

use palyra_screen_text::shell_word;

use crate::kept_daemon::ENVIRONMENT_PROVIDER;

/// The setting of the configuration file.
const DEFAULT_KEY: &str = "model.default";
/// The variable that counts more than the file.
const DEFAULT_VARIABLE: &str = "PALYRA__MODEL__DEFAULT";

/// Says what names the default model. `file` is the configuration file that does, `place` where a running daemon has it from
/// (empty without one), `variable` what this environment names.
#[must_use]
pub fn default_model_place(file: Option<&Path>, place: &str, variable: Option<&OsStr>) -> String {
    match (file, place) {
        (_, place) if place.contains(DEFAULT_VARIABLE) => format!(
            "the running daemon uses it, by {DEFAULT_VARIABLE}, which counts more than the file: unset it, `palyra admin stop`, then \
             `palyra model use NAME` names another"
        ),
        (_, "") if variable.is_some() => {
            format!(
                "{DEFAULT_VARIABLE} names it and counts more than the file; unset it, then `palyra model use NAME` names another"
            )
        }
        (_, place) if !place.is_empty() => {
            format!("the running daemon uses it, by {place}; `palyra model use NAME` names another")
        }
        (Some(file), _) => {
            format!("{DEFAULT_KEY} of {} names it; `palyra model use NAME` names another", file.display())
        }
        (None, _) => "no configuration names it; `palyra model use NAME` does".to_owned(),
    }
}

/// Says which daemons can use a default model of the server that a variable names; `None` for another model.
#[must_use]
pub fn place_of_environment_model(name: &str) -> Option<&'static str> {
    name.starts_with(ENVIRONMENT_PROVIDER).then_some(
        "that server is the one of OPENAI_BASE_URL, so a daemon starts with this model only where OPENAI_BASE_URL is set; `palyra model \
         add` saves the server itself",
    )
}

/// Says what to do about the name of a server that there is not; `servers` are those for which a model of that name is set.
#[must_use]
pub fn mend_of_server(servers: &[String], model: &str) -> String {
    match servers {
        [only] => {
            let name = shell_word(&format!("{only}/{model}"));
            format!("did you mean {name}? `palyra model use {name}` makes it the default model")
        }
        _ => "`palyra model list --ask` shows the models there are, `palyra model add` adds a server"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_most_is_named() {
        let file = Some(Path::new("/a/palyra.toml"));
        let variable = Some(OsStr::new("a/b"));
        let in_force = "PALYRA__MODEL__DEFAULT of its environment";
        for (file, place, variable, begins) in [
            (
                file,
                in_force,
                variable,
                "the running daemon uses it, by PALYRA__MODEL__DEFAULT, which counts more",
            ),
            (file, "", variable, "PALYRA__MODEL__DEFAULT names it and counts more"),
            (None, "OPENAI_BASE_URL", None, "the running daemon uses it, by OPENAI_BASE_URL"),
            (file, "", None, "model.default of /a/palyra.toml names it"),
            (None, "", None, "no configuration names it"),
        ] {
            let said = default_model_place(file, place, variable);
            assert!(said.starts_with(begins), "{said}");
        }
    }

    #[test]
    fn a_model_of_the_server_of_a_variable_says_where_it_can_be_used() {
        assert!(
            place_of_environment_model("openai/m")
                .is_some_and(|place| place.contains("OPENAI_BASE_URL is set"))
        );
        assert_eq!(place_of_environment_model("box/m"), None);
    }

    #[test]
    fn a_model_without_its_server_is_named_with_the_only_one_that_has_it() {
        let servers = ["harbour".to_owned(), "two".to_owned()];
        let mend = mend_of_server(&servers[..1], "harbour-large");
        let wanted = "did you mean harbour/harbour-large? `palyra model use harbour/harbour-large` makes";
        assert!(mend.starts_with(wanted), "{mend}");
        for servers in [&servers[..], &[]] {
            assert!(mend_of_server(servers, "harbour-large").starts_with("`palyra model list --ask`"));
        }
    }
}
