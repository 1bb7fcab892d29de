//! Ids as tables show them.

/// Characters of an id that tables show: its end, since ids that were made at about the same time begin alike.
const SHORT_ID_CHARS: usize = 6;

/// Returns as much of an id as tables show.
#[must_use]
pub fn short_id(id: &str) -> String {
    let begin = id.len().saturating_sub(SHORT_ID_CHARS);
    id.get(begin..).unwrap_or(id).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_id_is_shown() {
        assert_eq!(short_id("01ARZ3NDEKTSV4RRFFQ69G5FAV"), "9G5FAV");
        assert_eq!(short_id("AB"), "AB");
    }
}
