//! Errors of tools as a person reads them: without the advice that is for the model.

/// How the last clause of such an error begins, where it tells the model what to do next.
const ADVICE: [&str; 4] =
    ["read the file again", "give more ", "so write them ", "the call may be proposed again"];
/// ShownLine to a person instead.
const GIVEN: &str = "; the model was given the error";

/// Returns an error that a model got as a person reads it.
pub(crate) fn for_person(error: &str) -> String {
    let advised = ADVICE.iter().filter_map(|advice| error.rfind(&format!("; {advice}"))).min();
    match advised {
        Some(at) => format!("{}{GIVEN}", &error[..at]),
        None => error.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_for_the_model_is_left_out_for_a_person() {
        for (error, expect) in [
            (
                "the text to replace is not in `a.py`; read the file again and copy the text exactly, spaces and line \
                 ends included",
                "the text to replace is not in `a.py`; the model was given the error",
            ),
            (
                "the text to replace is 3 times in `a.py`; give more of the text around the one you mean, or set `all`",
                "the text to replace is 3 times in `a.py`; the model was given the error",
            ),
            ("`a.py` is a folder", "`a.py` is a folder"),
            ("`x` is this machine; nothing was sent", "`x` is this machine; nothing was sent"),
        ] {
            assert_eq!(for_person(error), expect);
        }
    }
}
