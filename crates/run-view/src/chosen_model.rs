//! Which model a name means that is typed in a chat, and how large its window is.

use palyra_screen_text::clean_line;
use palyra_types::spelling::nearest_name;

const NAME_CHARS_MAX: usize = 80;
/// Models of a server that a message names.
const MODELS_NAMED_MAX: usize = 8;
/// What a server adds to the name of a model of which it has versions.
const NEWEST_VERSION: &str = ":latest";

/// Returns a model's window; the provider may not say it.
#[must_use]
pub fn model_window(tokens: u64) -> String {
    if tokens == 0 { "-".to_owned() } else { tokens.to_string() }
}

/// Returns the model that a name means: a provider's name means the model of it that is listed, as for `palyra model use`.
///
/// # Errors
/// What is wrong with the name. Where the models are listed is for the caller to say: it differs between a chat and a shell.
pub fn chosen_model(name: &str, models: &[String]) -> Result<String, String> {
    let listed = models.iter().find(|model| model.split_once('/').is_some_and(|(of, _)| of == name));
    let name = listed.map_or(name, String::as_str);
    let Some((provider, _)) = name.split_once('/').filter(|(_, model)| *model != "*") else {
        let meant = models.iter().find(|model| model.split_once('/').is_some_and(|(_, model)| model == name));
        let such = meant.or(models.first()).map(|model| format!(", such as {model}")).unwrap_or_default();
        return Err(format!("a model is named as provider/model{such}"));
    };
    if !models.iter().any(|model| model.split('/').next() == Some(provider)) {
        let provider = clean_line(provider, NAME_CHARS_MAX);
        return Err(format!("no provider `{provider}` is configured"));
    }
    Ok(name.to_owned())
}

/// What is known of a model before it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelStanding {
    /// Its server lists it.
    Listed,
    /// Its server does not say which models it has.
    Unchecked,
}

/// Returns what is known of a model that is named whole, by the list of all models that servers name.
///
/// # Errors
/// The server has no such model, with those that it has, the nearest one first. Where the models are listed is for the caller
/// to say.
pub fn model_standing(name: &str, models: &[String]) -> Result<ModelStanding, String> {
    let server = name.split('/').next();
    let known = models.iter().map(String::as_str).filter(|known| known.split('/').next() == server);
    let known: Vec<&str> = known.collect();
    if known.iter().any(|known| *known == name || known.strip_suffix(NEWEST_VERSION) == Some(name)) {
        return Ok(ModelStanding::Listed);
    }
    if known.is_empty() || known.iter().any(|model| model.ends_with("/*")) {
        return Ok(ModelStanding::Unchecked);
    }
    let near = nearest_name(name, known.iter().copied());
    let others = known.iter().copied().filter(|model| Some(*model) != near);
    let named: Vec<String> = near
        .into_iter()
        .chain(others)
        .take(MODELS_NAMED_MAX)
        .map(|model| clean_line(model, NAME_CHARS_MAX))
        .collect();
    let more = match known.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = clean_line(name, NAME_CHARS_MAX);
    Err(format!("there is no model {shown}: its server has {}{more}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_whole_or_by_its_provider() {
        let models = ["demo/demo", "late/*", "mine/qwen3"].map(str::to_owned);
        for (name, expect) in [
            ("mine", Some("mine/qwen3")),
            ("mine/other", Some("mine/other")),
            ("demo", Some("demo/demo")),
            ("late/m", Some("late/m")),
            ("late", None),
            ("nope", None),
            ("nope/m", None),
        ] {
            assert_eq!(chosen_model(name, &models).ok().as_deref(), expect, "{name}");
        }
        for name in ["late", "nope/m"] {
            let refused = chosen_model(name, &models).unwrap_err();
            assert!(!refused.contains("/model lists") && !refused.contains("palyra"), "{refused}");
        }
        let bare = chosen_model("qwen3", &models).unwrap_err();
        assert!(bare.ends_with("such as mine/qwen3"), "{bare}");
    }

    #[test]
    fn a_model_that_its_server_does_not_list_is_refused_with_near_names() {
        let models =
            ["demo/demo", "late/*", "mine/llama3", "mine/qwen3", "mine/tiny:latest"].map(str::to_owned);
        for (name, expect) in [
            ("mine/qwen3", Ok(ModelStanding::Listed)),
            ("mine/tiny", Ok(ModelStanding::Listed)),
            ("late/m", Ok(ModelStanding::Unchecked)),
            (
                "mine/qwen4",
                Err("there is no model mine/qwen4: its server has mine/qwen3, mine/llama3, mine/tiny:latest"),
            ),
            ("demo/x", Err("there is no model demo/x: its server has demo/demo")),
        ] {
            assert_eq!(
                model_standing(name, &models).as_ref().map_err(String::as_str),
                expect.as_ref().map_err(|e| *e)
            );
        }
        let many: Vec<String> = (0..12).map(|n| format!("mine/m{n}")).collect();
        assert!(model_standing("mine/other", &many).unwrap_err().ends_with(" and 4 more"));
    }
}
