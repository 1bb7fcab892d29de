//! A call that other rules judge otherwise, as a line.

use palyra_screen_text::clean_line;
use palyra_wire::v1;

/// Returns the line of a call: its run and number, its tool, both decisions and the reason of the second one.
pub fn difference_line(difference: &v1::DecisionDifference) -> String {
    format!(
        "{} {}  {}: {} -> {} ({})",
        difference.run_id,
        difference.effect_id,
        clean_line(&difference.tool, 64),
        difference.was_name(),
        difference.would_be_name(),
        clean_line(&difference.explanation, 200),
    )
}
