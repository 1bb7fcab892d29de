//! The run that a person means after runs that only answered.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use super::times::age;

/// Characters of an input that are shown.
const INPUT_CHARS_MAX: usize = 60;

/// Says which run takes the place of the last one.
pub fn instead_of_last(run: &v1::Run) -> String {
    let input = clean_line(&run.input_preview, INPUT_CHARS_MAX);
    format!(
        "the last run called no tool; this is about run {} ({} ago: {input})",
        short_id(&run.run_id),
        age(run.created)
    )
}
