//! Effects as rows of a table.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::age;

const CALL_CHARS_MAX: usize = 160;

/// Returns run, number, state, age, tool and call of an effect.
pub fn effect_row(effect: &v1::EffectInfo) -> [String; 6] {
    let state = if effect.error_code.is_empty() {
        effect.state_name().replace('_', " ")
    } else {
        format!("{} ({})", effect.state_name(), effect.error_code)
    };
    [
        short_id(&effect.run_id),
        effect.effect_id.to_string(),
        state,
        age(effect.started),
        clean_line(&effect.tool, 32),
        clean_line(&effect.summary, CALL_CHARS_MAX),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_one_row() {
        let effect = v1::EffectInfo {
            run_id: "R".to_owned(),
            effect_id: 3,
            tool: "write_file".to_owned(),
            summary: "creates `a`".to_owned(),
            state: v1::EffectState::Failed.into(),
            error_code: "PLY-4014".to_owned(),
            ..Default::default()
        };
        assert_eq!(effect_row(&effect), ["R", "3", "failed (PLY-4014)", "", "write_file", "creates `a`"]);
        let resolved = v1::EffectInfo { state: v1::EffectState::DidNotHappen.into(), ..Default::default() };
        assert_eq!(effect_row(&resolved)[2], "did not happen");
    }
}
