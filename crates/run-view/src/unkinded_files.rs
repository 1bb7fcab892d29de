//! Files that an input names with `@` and without a kind, as other programs take them.

use palyra_screen_text::{clean_line, shell_word};

/// Notes about one input, at most.
const NOTES_MAX: usize = 3;
const NAME_CHARS_MAX: usize = 120;
/// How names of pictures end that a model can be shown.
const PICTURE_ENDS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];
/// What may follow a name in a sentence.
const BEHIND_NAME: [char; 9] = ['.', ',', ';', ':', '?', '!', ')', '"', '\''];

/// Where an input is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputPlace {
    /// On the command line of a run.
    Run,
    /// In a chat.
    Chat,
}

/// Says how files are referred to that an input names as `@PATH`, which is sent as plain text; `is_file` knows the files of
/// the folder to work in.
pub fn unkinded_files(input: &str, place: InputPlace, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let named = input.split_whitespace().filter_map(|word| word.strip_prefix('@'));
    let files = named.filter_map(|name| {
        let bare = name.trim_end_matches(BEHIND_NAME);
        [name, bare].into_iter().find(|path| is_inside(path) && is_file(path))
    });
    files.take(NOTES_MAX).map(|path| note(path, place)).collect()
}

/// Returns whether a path stays in the folder that it begins in.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && path.split('/').all(|part| part != "..")
}

fn note(path: &str, place: InputPlace) -> String {
    let is_picture = PICTURE_ENDS.iter().any(|end| path.to_lowercase().ends_with(end));
    let path = clean_line(path, NAME_CHARS_MAX);
    let form = match (is_picture, place) {
        (true, InputPlace::Run) => {
            format!("the picture is sent along with `--attach {}`", shell_word(&path))
        }
        (true, InputPlace::Chat) => {
            format!("`/attach {path}` sends the picture along with what is said next")
        }
        (false, InputPlace::Run | InputPlace::Chat) => {
            format!("`@file:{path}` puts the text of the file into the question")
        }
    };
    format!("`@{path}` is sent as plain text: {form}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_named_without_a_kind_has_a_note_with_the_form() {
        let is_file = |path: &str| ["logo.PNG", "src/a.py", "../b.txt", "/etc/hosts"].contains(&path);
        for (input, place, wanted) in [
            (
                "look at @src/a.py.",
                InputPlace::Run,
                "`@src/a.py` is sent as plain text: `@file:src/a.py` puts",
            ),
            (
                "look at @src/a.py",
                InputPlace::Chat,
                "`@src/a.py` is sent as plain text: `@file:src/a.py` puts",
            ),
            (
                "what is @logo.PNG?",
                InputPlace::Run,
                "`@logo.PNG` is sent as plain text: the picture is sent along with `--attach logo.PNG`",
            ),
            (
                "what is @logo.PNG?",
                InputPlace::Chat,
                "`@logo.PNG` is sent as plain text: `/attach logo.PNG` sends",
            ),
        ] {
            let notes = unkinded_files(input, place, is_file);
            assert!(notes.len() == 1 && notes[0].starts_with(wanted), "{input}: {notes:?}");
        }
        for input in [
            "read @file:src/a.py",
            "me@src/a.py",
            "@media is a word",
            "@../b.txt",
            "@/etc/hosts",
            "@",
            "src/a.py",
        ] {
            assert!(unkinded_files(input, InputPlace::Run, is_file).is_empty(), "{input}");
        }
        let many = "@src/a.py ".repeat(9);
        assert_eq!(unkinded_files(&many, InputPlace::Run, is_file).len(), NOTES_MAX);
    }
}
