//! Errors of tools as a person reads them: without the advice that is for the model.

/// How the last clause of such an error begins, where it tells the model what to do next.
const ADVICE: [&str; 28] = [
    "read the file again",
    "read it again",
    "read it, then change it",
    "give more ",
    "so write them ",
    "write them in several calls",
    "the call may be proposed again",
    "send it in parts",
    "send them again",
    "send less",
    "send one complete ",
    "send an object ",
    "use write_file",
    "use edit_file",
    "list_dir shows ",
    "try another way",
    "call it again later",
    "take it from the result",
    "write paths from ",
    "write the path from ",
    "write the new file instead",
    "write it like ",
    "name the file by its path",
    "name a smaller folder",
    "name a folder from the workspace root",
    "name the real folder",
    "change only the parts around it",
    "leave it out, or name where it is kept",
];
/// Said to a person instead.
const GIVEN: &str = "; the model was given the error";
/// Clauses that send the model to the person, and what the person does.
const FOR_PERSON: [(&str, &str); 5] = [
    (
        "has become a link and is not entered; tell the user",
        "has become a link and is not entered; put the folder back, or choose another with `--workspace DIR`",
    ),
    (
        "cannot be opened; tell the user",
        "cannot be opened; check its permissions, or choose another folder with `--workspace DIR`",
    ),
    (
        "is not at its path any more; tell the user",
        "is not at its path any more; put the folder back, or choose another with `--workspace DIR`",
    ),
    (
        "is write-protected; ask the user to lift that",
        "is write-protected; `chmod u+w` permits changes of it",
    ),
    (
        "it is not written into a file. Change another part of the file, or ask the user to write the secret",
        "it is not written into a file. Write the secret there yourself, where the file needs it",
    ),
];

/// Returns an error that a model got as a person reads it.
pub(crate) fn for_person(error: &str) -> String {
    let known = FOR_PERSON.iter().find(|(of_model, _)| error.contains(of_model));
    if let Some((of_model, of_person)) = known {
        return error.replace(of_model, of_person);
    }
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
            (
                "`src/a.rs` may have changed; read it again",
                "`src/a.rs` may have changed; the model was given the error",
            ),
            (
                "`a.py` is write-protected; ask the user to lift that",
                "`a.py` is write-protected; `chmod u+w` permits changes of it",
            ),
            (
                "the workspace folder itself cannot be opened; tell the user",
                "the workspace folder itself cannot be opened; check its permissions, or choose another folder with \
                 `--workspace DIR`",
            ),
            // What a person can do stays.
            (
                "there is no program `x`; name its folder in `commands.path` of palyra.toml",
                "there is no program `x`; name its folder in `commands.path` of palyra.toml",
            ),
            ("`a.py` is a folder", "`a.py` is a folder"),
            ("`x` is this machine; nothing was sent", "`x` is this machine; nothing was sent"),
        ] {
            assert_eq!(for_person(error), expect);
        }
    }
}
