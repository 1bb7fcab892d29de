//! Chooses which pieces a request holds, within the model's window.
//!
//! Pure and total: equal pieces give an equal plan. The plan fails without room for the pieces that a request must have; the
//! rules of their sources choose among the others, and the plan says why one is left out. Begin at [`choose`].

use palyra_types::Seq;
use palyra_types::event::{ContextSource, DropReason, PlannedSource};
use palyra_types::model::BYTES_PER_TOKEN_ESTIMATED;

/// A piece that may be part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestPiece {
    /// Where it comes from.
    pub source: ContextSource,
    /// What it counts as in the plan: messages, or one for a text.
    pub items: u32,
    /// Its size in the request.
    pub bytes: u64,
    /// The journal seq of its first entry, where it is of the journal.
    pub from: Option<Seq>,
    /// What its own limits leave out of it already.
    pub left_out: LeftOut,
}

/// What the limits of a source leave out of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Items of which all or a part is left out.
    pub items: u32,
    /// Their size.
    pub bytes: u64,
}

/// Bytes that the pieces may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRoom {
    /// The limit for pieces that may be left out.
    pub wished: u64,
    /// The window: the limit for pieces that must stay.
    pub at_most: u64,
}

/// What becomes of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceFate {
    /// It is in the request.
    Kept,
    /// It is not.
    Dropped(DropReason),
}

/// What must be in the request is larger than the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the input is larger than the model's window")]
pub struct ContextTooLarge;

/// What becomes of the pieces of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceRule {
    /// The source.
    pub source: ContextSource,
    /// How they go when there is too little room.
    pub drop: DropRule,
    /// They take at most one part in so many of a request together, beside what is left for them.
    pub share: Option<u64>,
}

/// How the pieces of a source go when there is too little room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropRule {
    /// Never.
    Never,
    /// From the oldest on, so that what is kept has no gap.
    OldestFirst {
        /// Sources with a higher one are served first.
        priority: u8,
    },
}

fn rule_of(rules: &[SourceRule], source: ContextSource) -> Option<&SourceRule> {
    rules.iter().find(|rule| rule.source == source)
}

fn drop_rule(rules: &[SourceRule], source: ContextSource) -> DropRule {
    rule_of(rules, source).map_or(DropRule::Never, |rule| rule.drop)
}

/// Says for each piece, in their order, whether it is in the request. Pieces of a source without a rule stay.
///
/// # Errors
/// [`ContextTooLarge`] when what must stay does not fit.
pub fn choose(
    pieces: &[RequestPiece],
    rules: &[SourceRule],
    room: RequestRoom,
) -> Result<Vec<PieceFate>, ContextTooLarge> {
    let stays = |piece: &&RequestPiece| drop_rule(rules, piece.source) == DropRule::Never;
    let mut used: u64 = pieces.iter().filter(stays).map(|piece| piece.bytes).sum();
    if used > room.at_most {
        return Err(ContextTooLarge);
    }
    let mut fates = vec![PieceFate::Kept; pieces.len()];
    let mut sources: Vec<(u8, ContextSource)> = Vec::new();
    for piece in pieces {
        if let DropRule::OldestFirst { priority } = drop_rule(rules, piece.source)
            && !sources.contains(&(priority, piece.source))
        {
            sources.push((priority, piece.source));
        }
    }
    sources.sort_by(|a, b| b.cmp(a));
    for (_, source) in sources {
        let mut fate = PieceFate::Kept;
        let share = rule_of(rules, source).and_then(|rule| rule.share);
        let mut left = share.map_or(room.wished, |share| room.at_most / share);
        for at in (0..pieces.len()).rev().filter(|at| pieces[*at].source == source) {
            if used.saturating_add(pieces[at].bytes) > room.wished || pieces[at].bytes > left {
                fate = PieceFate::Dropped(DropReason::Window);
            }
            if fate == PieceFate::Kept {
                used += pieces[at].bytes;
                left -= pieces[at].bytes;
            }
            fates[at] = fate;
        }
    }
    Ok(fates)
}

/// Sums up a plan by source, in the order of the request.
#[must_use]
pub fn by_source(pieces: &[RequestPiece], fates: &[PieceFate]) -> Vec<PlannedSource> {
    let mut rows: Vec<PlannedSource> = Vec::new();
    let mut bytes: Vec<[u64; 2]> = Vec::new();
    for (piece, fate) in pieces.iter().zip(fates) {
        let at = rows.iter().position(|row| row.source == piece.source).unwrap_or_else(|| {
            rows.push(PlannedSource {
                source: piece.source,
                kept: 0,
                dropped: 0,
                tokens_kept: 0,
                tokens_dropped: 0,
                dropped_because: None,
            });
            bytes.push([0; 2]);
            rows.len() - 1
        });
        match fate {
            PieceFate::Kept => {
                rows[at].kept = rows[at].kept.saturating_add(piece.items);
                bytes[at][0] += piece.bytes;
                if piece.left_out.items > 0 {
                    rows[at].dropped = rows[at].dropped.saturating_add(piece.left_out.items);
                    rows[at].dropped_because.get_or_insert(DropReason::Limit);
                    bytes[at][1] += piece.left_out.bytes;
                }
            }
            PieceFate::Dropped(reason) => {
                rows[at].dropped = rows[at].dropped.saturating_add(piece.items);
                rows[at].dropped_because.get_or_insert(*reason);
                bytes[at][1] += piece.bytes;
            }
        }
    }
    for (row, bytes) in rows.iter_mut().zip(bytes) {
        [row.tokens_kept, row.tokens_dropped] = bytes.map(|bytes| bytes.div_ceil(BYTES_PER_TOKEN_ESTIMATED));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(source: ContextSource, bytes: u64) -> RequestPiece {
        RequestPiece { source, items: 1, bytes, from: None, left_out: LeftOut::default() }
    }

    const RULES: [SourceRule; 3] = [
        SourceRule {
            source: ContextSource::Rounds,
            drop: DropRule::OldestFirst { priority: 90 },
            share: None,
        },
        SourceRule {
            source: ContextSource::Memory,
            drop: DropRule::OldestFirst { priority: 50 },
            share: Some(10),
        },
        SourceRule {
            source: ContextSource::History,
            drop: DropRule::OldestFirst { priority: 30 },
            share: None,
        },
    ];

    fn kept(pieces: &[RequestPiece], wished: u64, at_most: u64) -> Option<Vec<u64>> {
        let fates = choose(pieces, &RULES, RequestRoom { wished, at_most }).ok()?;
        let kept = pieces.iter().zip(fates).filter(|(_, fate)| *fate == PieceFate::Kept);
        Some(kept.map(|(piece, _)| piece.bytes).collect())
    }

    #[test]
    fn each_source_goes_by_its_rule() {
        use ContextSource::{History, Input, Instructions, Rounds};
        let pieces = [
            piece(Instructions, 100),
            piece(History, 31),
            piece(History, 32),
            piece(History, 33),
            piece(Rounds, 41),
            piece(Rounds, 42),
            piece(Input, 10),
        ];
        let cases: [(u64, u64, Option<&[u64]>); 8] = [
            (1_000, 1_000, Some(&[100, 31, 32, 33, 41, 42, 10])),
            (288, 1_000, Some(&[100, 32, 33, 41, 42, 10])),
            (226, 1_000, Some(&[100, 33, 41, 42, 10])),
            (193, 1_000, Some(&[100, 41, 42, 10])),
            // What rounds leave over goes to earlier runs.
            (192, 1_000, Some(&[100, 33, 42, 10])),
            // A smaller piece of the same source behind one that does not fit goes as well: no gaps.
            (150, 1_000, Some(&[100, 33, 10])),
            (0, 110, Some(&[100, 10])),
            (0, 109, None),
        ];
        for (wished, at_most, expected) in cases {
            assert_eq!(kept(&pieces, wished, at_most).as_deref(), expected, "{wished} of {at_most}");
        }
    }

    #[test]
    fn items_of_memory_take_a_tenth_at_most_and_the_last_ones_stay() {
        use ContextSource::{History, Input, Memory};
        let pieces =
            [piece(History, 20), piece(Memory, 50), piece(Memory, 51), piece(Memory, 49), piece(Input, 10)];
        let cases: [(u64, u64, &[u64]); 4] = [
            (1_000, 1_000, &[20, 51, 49, 10]),
            (1_000, 999, &[20, 49, 10]),
            // Earlier runs go before items of memory.
            (79, 1_000, &[49, 10, 20]),
            (78, 1_000, &[49, 10]),
        ];
        for (wished, at_most, expected) in cases {
            let mut expected = expected.to_vec();
            let mut kept = kept(&pieces, wished, at_most).expect("the input fits");
            expected.sort_unstable();
            kept.sort_unstable();
            assert_eq!(kept, expected, "{wished} of {at_most}");
        }
    }

    #[test]
    fn a_plan_is_summed_up_by_source() {
        let pieces = [
            piece(ContextSource::History, 400),
            RequestPiece { items: 3, ..piece(ContextSource::History, 401) },
            piece(ContextSource::Input, 4),
        ];
        let fates =
            choose(&pieces, &RULES, RequestRoom { wished: 500, at_most: 500 }).expect("the input fits");
        let [history, input] = by_source(&pieces, &fates)[..] else { panic!("two sources") };
        assert_eq!((history.kept, history.dropped, history.tokens_kept), (3, 1, 101));
        assert_eq!((history.tokens_dropped, history.dropped_because), (100, Some(DropReason::Window)));
        assert_eq!((input.kept, input.tokens_kept, input.dropped_because), (1, 1, None));
    }

    #[test]
    fn what_a_source_leaves_out_by_itself_is_in_its_row() {
        let left_out = LeftOut { items: 2, bytes: 4_000 };
        let pieces = [RequestPiece { items: 3, left_out, ..piece(ContextSource::References, 400) }];
        let fates = choose(&pieces, &RULES, RequestRoom { wished: 500, at_most: 500 }).expect("it fits");
        let [row] = by_source(&pieces, &fates)[..] else { panic!("one source") };
        assert_eq!((row.kept, row.dropped, row.tokens_kept, row.tokens_dropped), (3, 2, 100, 1_000));
        assert_eq!(row.dropped_because, Some(DropReason::Limit));
    }
}
