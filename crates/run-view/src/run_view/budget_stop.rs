//! What raises the limit that a run waits for, read from the explanation of the stop.

use palyra_screen_text::shell_word;

/// Names of measures as a stop has them behind an amount, and as `palyra budget top-up` takes them.
const MEASURES: [(&str, &str); 3] = [(" in money", "money"), (" token", "tokens"), (" request", "requests")];

/// Returns the command that raises the limit which an explanation names first.
pub(super) fn top_up_of(explanation: &str) -> String {
    let named = explanation.split_once("budget `").and_then(|(_, rest)| rest.split_once('`'));
    let Some((name, rest)) = named else { return "palyra budget top-up NAME tokens=N".to_owned() };
    let allowed = rest.split_once(" allows ").map_or("", |(_, rest)| rest);
    let allowed = allowed.split(';').next().unwrap_or_default();
    let measure =
        MEASURES.iter().find(|(phrase, _)| allowed.contains(phrase)).map_or("tokens", |(_, name)| name);
    let amount = if measure == "money" { "AMOUNT" } else { "N" };
    format!("palyra budget top-up {} {measure}={amount}", shell_word(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_budget_and_what_it_limits() {
        let stop = |limit: &str| {
            top_up_of(&format!(
                "model `a/b` was not asked: budget `cap` (total, window day) allows {limit}; spent: 0 tokens, reserved: 0"
            ))
        };
        assert_eq!(stop("0.000001 in money"), "palyra budget top-up cap money=AMOUNT");
        assert_eq!(stop("500 tokens"), "palyra budget top-up cap tokens=N");
        assert_eq!(stop("1 request"), "palyra budget top-up cap requests=N");
        assert_eq!(top_up_of("erased"), "palyra budget top-up NAME tokens=N");
    }
}
