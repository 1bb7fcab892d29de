//! Numbers with their nouns, in the words of tools.

/// Returns "1 file", "2 files", "3 matches".
pub(crate) fn quantity(number: u64, noun: &str) -> String {
    let plural = match number {
        1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_a_match_has_matches() {
        assert_eq!(quantity(1, "match"), "1 match");
        assert_eq!(quantity(0, "match"), "0 matches");
        assert_eq!(quantity(2, "binary file"), "2 binary files");
    }
}
