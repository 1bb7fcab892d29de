//! Items of memory as rows of a table.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::date;

const TEXT_CHARS_MAX: usize = 300;

/// Returns id, day, source and text of an item.
pub fn memory_row(item: &v1::Memory) -> [String; 4] {
    let from = match (item.run_id.as_str(), item.taints.as_slice()) {
        ("", _) => "you".to_owned(),
        (run, []) => format!("run {}", short_id(run)),
        (run, taints) => format!("run {}, read {}", short_id(run), taints.join("+")),
    };
    let text = clean_line(&item.text, TEXT_CHARS_MAX);
    let text = match item.superseded_by.as_str() {
        "" => text,
        newer => format!("(superseded by {}) {text}", short_id(newer)),
    };
    [short_id(&item.memory_id), date(item.created), from, text]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_the_source_and_the_newer_item() {
        let mut item =
            v1::Memory { memory_id: "M".to_owned(), text: "short\nanswers".to_owned(), ..Default::default() };
        assert_eq!(memory_row(&item)[2], "you");
        item.run_id = "R".to_owned();
        assert_eq!(memory_row(&item)[2], "run R");
        item.taints = vec!["web".to_owned(), "file".to_owned()];
        item.superseded_by = "N".to_owned();
        let [id, _, from, text] = memory_row(&item);
        assert_eq!((id.as_str(), from.as_str()), ("M", "run R, read web+file"));
        assert_eq!(text, format!("(superseded by N) {}", clean_line(&item.text, TEXT_CHARS_MAX)));
    }
}
