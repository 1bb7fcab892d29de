//! Which models are known to take images, by their names: a catalogue in `image_models.txt`.

use palyra_types::model::ModelName;

const CATALOGUE: &str = include_str!("image_models.txt");

/// Returns whether a model takes images; `None` where the catalogue does not know it.
pub(crate) fn takes_images(model: &ModelName) -> Option<bool> {
    let name = model.as_str().to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let decides = |line: &str| match line.split_at_checked(1)? {
        ("+", beginning) if name.starts_with(beginning) => Some(true),
        ("-", beginning) if name.starts_with(beginning) => Some(false),
        _ => None,
    };
    CATALOGUE.lines().find_map(decides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_with_and_without_their_vendor() {
        for (name, expect) in [
            ("gpt-4o-mini", Some(true)),
            ("openai/GPT-4o", Some(true)),
            ("gpt-4o-audio-preview", Some(false)),
            ("o3-mini", Some(false)),
            ("o3", Some(true)),
            ("qwen/qwen2.5-vl-72b-instruct", Some(true)),
            ("qwen2.5-coder", None),
            ("gpt-4", None),
            ("", None),
        ] {
            assert_eq!(takes_images(&ModelName::new(name)), expect, "{name}");
        }
    }

    #[test]
    fn each_line_is_reached() {
        for line in CATALOGUE.lines().filter(|line| !line.starts_with('#')) {
            let expect = Some(line.starts_with('+'));
            assert_eq!(takes_images(&ModelName::new(&line[1..])), expect, "{line}");
        }
    }
}
