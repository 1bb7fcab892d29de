//! Building a page's tree, in small bites.
//!
//! Owns the limits of the parser, which has none of its own: a few thousand bytes can ask for billions of nodes
//! (formatting that is opened anew in each paragraph), or be read in quadratic time (unclosed elements). Invariant:
//! between two bites of [`BITE_BYTES`] the tree's size and the clock are looked at.

use std::time::Instant;

use dom_query::Document;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

use crate::limits::{PageError, PageExtent, PageLimits};

/// How much is parsed between two looks.
const BITE_BYTES: usize = 512;

/// A tree, and whether it is all of the page.
pub(crate) struct ParsedTree {
    pub(crate) document: Document,
    pub(crate) whole: PageExtent,
}

/// Parses as much of a source as the limits allow.
pub(crate) fn parse(source: &str, limits: &PageLimits, deadline: Instant) -> Result<ParsedTree, PageError> {
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, drop_doctype: true, ..Default::default() },
        ..Default::default()
    };
    let mut parser = parse_document(Document::default(), options);
    let mut rest = &source[..source.floor_char_boundary(limits.source_bytes_max)];
    let mut whole = if rest.len() < source.len() { PageExtent::Cut } else { PageExtent::Whole };
    while !rest.is_empty() {
        let (bite, behind) = rest.split_at(rest.ceil_char_boundary(BITE_BYTES));
        parser.process(StrTendril::from_slice(bite));
        rest = behind;
        if Instant::now() > deadline {
            return Err(PageError::TimedOut);
        }
        if parser.tokenizer.sink.sink.tree.len() > limits.nodes_max {
            whole = PageExtent::Cut;
            break;
        }
    }
    Ok(ParsedTree { document: parser.finish(), whole })
}
