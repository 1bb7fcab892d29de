//! The folder of a run, as a person in a folder reads it.

use palyra_run_view::short_folder;
use palyra_screen_text::clean_line;

/// Characters of a folder in a line.
pub(crate) const FOLDER_CHARS_MAX: usize = 120;

/// Returns the folder that this process works in; empty where that is not known.
pub(crate) fn current_folder() -> String {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).ok();
    here.and_then(|folder| folder.into_os_string().into_string().ok()).unwrap_or_default()
}

/// Returns the folder of a run in short where that is another one than this process works in; empty otherwise.
pub(crate) fn elsewhere_of(folder: &str) -> String {
    if folder == current_folder() {
        return String::new();
    }
    clean_line(&short_folder(folder, &std::env::var("HOME").unwrap_or_default()), FOLDER_CHARS_MAX)
}
