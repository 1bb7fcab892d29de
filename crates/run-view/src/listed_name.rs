//! Names of things that one list holds whole: a part of an id, or the newest.

use palyra_screen_text::clean_line;
use palyra_types::id_name::IdName;

const ABOUT_CHARS_MAX: usize = 80;

/// What a name fits in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedName {
    /// One thing, by its id.
    One(String),
    /// Nothing.
    Nothing,
    /// Several; holds what to say.
    Several(String),
}

/// Finds what a name fits among things given by their ids and what they are about; `kind` is the word for one of them. Ids
/// begin with the time at which they were made, and `last` is the newest.
#[must_use]
pub fn listed_name(
    kind: &str,
    name: &IdName,
    things: impl IntoIterator<Item = (String, String)>,
) -> ListedName {
    let mut things: Vec<(String, String)> = things.into_iter().collect();
    things.sort_by(|a, b| b.0.cmp(&a.0));
    let (fits, shown) = match name {
        IdName::Last(back) => {
            let at = usize::try_from(*back).unwrap_or(usize::MAX);
            (things.into_iter().nth(at).into_iter().collect::<Vec<_>>(), "last")
        }
        IdName::Fragment(fragment) => {
            things.retain(|(id, _)| fragment.matches_text(id));
            (things, fragment.as_str())
        }
    };
    match fits.as_slice() {
        [] => ListedName::Nothing,
        [(id, _)] => ListedName::One(id.clone()),
        several => {
            let rows =
                several.iter().map(|(id, about)| format!("\n{id}  {}", clean_line(about, ABOUT_CHARS_MAX)));
            ListedName::Several(format!(
                "`{shown}` is not clear, since it fits more than one {kind}; name one by its id, newest first:{}",
                rows.collect::<String>()
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_an_id_or_the_newest_is_found_in_a_list_and_several_are_named() {
        let things = || {
            [("01JGFJJZ00FE6VV7Z4V1SP3JT5", "tea"), ("01JGFJJZ01FE6VV7Z4V1T99YEW", "mail\n")]
                .map(|(id, about)| (id.to_owned(), about.to_owned()))
        };
        let found = |name: &str| listed_name("schedule", &name.parse().expect("a name"), things());
        for (name, id) in [
            ("T99YEW", "01JGFJJZ01FE6VV7Z4V1T99YEW"),
            ("t99y", "01JGFJJZ01FE6VV7Z4V1T99YEW"),
            ("3JT5", "01JGFJJZ00FE6VV7Z4V1SP3JT5"),
            ("01JGFJJZ00", "01JGFJJZ00FE6VV7Z4V1SP3JT5"),
            ("last", "01JGFJJZ01FE6VV7Z4V1T99YEW"),
            ("last~1", "01JGFJJZ00FE6VV7Z4V1SP3JT5"),
        ] {
            assert_eq!(found(name), ListedName::One(id.to_owned()), "{name}");
        }
        for name in ["AAAA", "last~2"] {
            assert_eq!(found(name), ListedName::Nothing, "{name}");
        }
        let ListedName::Several(told) = found("01JG") else { panic!("two schedules begin so") };
        let rows = "more than one schedule; name one by its id, newest first:\n01JGFJJZ01FE6VV7Z4V1T99YEW  mail\n01JGFJJZ00";
        assert!(told.contains(rows), "{told}");
    }
}
