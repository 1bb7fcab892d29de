//! Lists that are read page by page, up to a limit, with a count of what follows.

use palyra_client::ClientError;

use crate::failure::Failure;
use palyra_terminal::{NoteKind, Output};

const PAGE_SIZE_MAX: u32 = 500;
/// Items that a search looks at, at most.
const LOOKED_AT_MAX: usize = 10_000;

/// The first items of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedItems<T> {
    pub(super) items: Vec<T>,
    /// Items after those that were counted.
    further: usize,
    /// The list ends there.
    is_whole: bool,
}

/// Which items of a list are taken.
pub(super) enum ItemSelection<'a, T> {
    All,
    /// Those that fit, searched for.
    Fitting(&'a dyn Fn(&T) -> bool),
}

/// Reads a list; `read` returns a page of so many items at most after a token, and the token of the next page.
///
/// # Errors
/// Those of `read`.
pub(super) async fn read_list<T, R>(
    limit: u32,
    taken: ItemSelection<'_, T>,
    mut read: impl FnMut(u32, String) -> R,
) -> Result<ListedItems<T>, Failure>
where
    R: Future<Output = Result<(Vec<T>, String), ClientError>>,
{
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut listed = ListedItems { items: Vec::new(), further: 0, is_whole: false };
    let (mut token, mut looked_at) = (String::new(), 0);
    loop {
        let left = limit - listed.items.len();
        let size = match taken {
            ItemSelection::All if left > 0 => u32::try_from(left).unwrap_or(u32::MAX).min(PAGE_SIZE_MAX),
            // What follows is counted, or searched.
            ItemSelection::All | ItemSelection::Fitting(_) => PAGE_SIZE_MAX,
        };
        let (page, next) = read(size, token).await?;
        looked_at += page.len();
        for item in page {
            let fits = match taken {
                ItemSelection::All => true,
                ItemSelection::Fitting(fits) => fits(&item),
            };
            if fits && listed.items.len() < limit {
                listed.items.push(item);
            } else if fits {
                listed.further += 1;
            }
        }
        listed.is_whole = next.is_empty();
        if listed.is_whole || left == 0 || looked_at >= LOOKED_AT_MAX {
            return Ok(listed);
        }
        token = next;
    }
}

impl<T> ListedItems<T> {
    /// Says on standard error how many items follow, and how they are shown.
    pub(super) fn note_further(&self, output: &Output) {
        if let Some(note) = self.further_note() {
            output.note(NoteKind::Info, &note);
        }
    }

    fn further_note(&self) -> Option<String> {
        match (self.further, self.is_whole) {
            (0, true) => None,
            (0, false) => Some(format!("only the newest {LOOKED_AT_MAX} were searched")),
            (further, true) => {
                Some(format!("{further} more; `--limit {}` shows them", self.items.len() + further))
            }
            (further, false) => Some(format!("more than {further} more; `--limit N` shows the newest N")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn listed(count: u32, limit: u32, taken: ItemSelection<'_, u32>) -> ListedItems<u32> {
        let read = |size: u32, token: String| async move {
            let from: u32 = token.parse().unwrap_or(0);
            let end = count.min(from + size);
            let next = if end < count { end.to_string() } else { String::new() };
            Ok(((from..end).collect(), next))
        };
        read_list(limit, taken, read).await.unwrap()
    }

    #[tokio::test]
    async fn a_list_that_goes_on_says_how_much_follows() {
        for (count, limit, shown, note) in [
            (3, 20, 3, None),
            (20, 20, 20, None),
            (64, 20, 20, Some("44 more; `--limit 64` shows them")),
            (600, 20, 20, Some("more than 500 more; `--limit N` shows the newest N")),
            (1_200, 700, 700, Some("500 more; `--limit 1200` shows them")),
            (0, 20, 0, None),
        ] {
            let listed = listed(count, limit, ItemSelection::All).await;
            assert_eq!(
                (listed.items.len(), listed.further_note().as_deref()),
                (shown, note),
                "{count} {limit}"
            );
        }
    }

    #[tokio::test]
    async fn a_search_looks_at_every_page_up_to_a_limit() {
        let found = listed(2_000, 3, ItemSelection::Fitting(&|item| item % 400 == 0)).await;
        assert_eq!(found.items, [0, 400, 800]);
        let last = listed(2_000, 3, ItemSelection::Fitting(&|item| *item == 1_999)).await;
        assert_eq!((last.items.as_slice(), last.further_note()), (&[1_999][..], None));
        let far = listed(90_000, 3, ItemSelection::Fitting(&|_| false)).await;
        assert_eq!(far.further_note().as_deref(), Some("only the newest 10000 were searched"));
    }
}
