//! Which model a name means that is typed in a chat.

use palyra_screen_text::clean_line;

const NAME_CHARS_MAX: usize = 80;

/// Returns the model that a name means: a provider's name means the model of it that is listed, as for `palyra model use`.
///
/// # Errors
/// What is wrong with the name. Where the models are listed is for the caller to say: it differs between a chat and a shell.
pub fn chosen_model(name: &str, models: &[String]) -> Result<String, String> {
    let listed = models.iter().find(|model| model.split_once('/').is_some_and(|(of, _)| of == name));
    let name = listed.map_or(name, String::as_str);
    let Some((provider, _)) = name.split_once('/').filter(|(_, model)| *model != "*") else {
        let such = models.first().map(|model| format!(", such as {model}")).unwrap_or_default();
        return Err(format!("a model is named as provider/model{such}"));
    };
    if !models.iter().any(|model| model.split('/').next() == Some(provider)) {
        let provider = clean_line(provider, NAME_CHARS_MAX);
        return Err(format!("no provider `{provider}` is configured"));
    }
    Ok(name.to_owned())
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
    }
}
