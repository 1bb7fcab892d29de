//! Taking out what nobody sees, and what lies too deep.
//!
//! Owns the signs by which a page hides text from people but not from machines: those in the element itself. A style
//! sheet is not read, so text that only a sheet hides stays. Invariant: the walk is a loop, and the tree that is left
//! is no deeper than asked for.
//! Begin at [`strip`].

use dom_query::{Document, NodeRef};

use crate::limits::PageExtent;

/// Elements that hold no text for people, or that steer a browser.
const NO_TEXT: &[&str] = &[
    "applet", "audio", "base", "canvas", "datalist", "dialog", "embed", "frame", "frameset", "iframe",
    "input", "link", "map", "math", "meta", "noembed", "noframes", "noscript", "object", "param", "script",
    "select", "source", "style", "svg", "template", "textarea", "track", "video",
];

/// Declarations that hide, without white space.
const HIDING_STYLES: &[&str] = &[
    "display:none",
    "visibility:hidden",
    "visibility:collapse",
    "content-visibility:hidden",
    "opacity:0;",
    "opacity:0.0",
    "opacity:0%",
    "opacity:.0",
    "font-size:0;",
    "font-size:0p",
    "font-size:0e",
    "font-size:0r",
    "font-size:0%",
    "font-size:1px",
    "max-height:0;",
    "max-height:0px",
    "max-width:0;",
    "max-width:0px",
    "height:0;",
    "height:0px",
    "width:0;",
    "width:0px",
    "height:1px",
    "width:1px",
    "text-indent:-",
    "left:-",
    "right:-",
    "top:-",
    "margin-left:-",
    "clip:rect(0",
    "clip:rect(1px",
    "clip-path:inset(50%",
    "clip-path:inset(100%",
    "clip-path:circle(0",
    "transform:scale(0)",
    "color:transparent",
    "color:rgba(0,0,0,0)",
    "-webkit-text-fill-color:transparent",
];

/// Classes by which common style sheets hide text from people who see.
const HIDING_CLASSES: &[&str] = &[
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
    "screen-reader-only",
    "hidden",
    "d-none",
    "invisible",
    "offscreen",
    "u-hidden",
    "is-hidden",
    "display-none",
];

/// Takes out hidden elements, comments, pictures and forms, links to anything but the web, and what lies deeper than
/// `depth_max`; says whether anything was too deep.
pub(crate) fn strip(document: &Document, depth_max: usize) -> PageExtent {
    let mut whole = PageExtent::Whole;
    let mut open: Vec<(NodeRef<'_>, usize)> = vec![(document.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        let mut next = node.first_child();
        while let Some(child) = next {
            next = child.next_sibling();
            if depth >= depth_max {
                whole = PageExtent::Cut;
                child.remove_from_parent();
            } else if child.is_comment() || is_hidden(&child) {
                child.remove_from_parent();
            } else if child.has_name("img") {
                replace_with_words(document, &child);
            } else if child.is_element() {
                keep_only_web_links(&child);
                open.push((child, depth + 1));
            }
        }
    }
    whole
}

/// A picture is its description: its address could carry off what was read.
fn replace_with_words(document: &Document, picture: &NodeRef<'_>) {
    if let Some(words) = picture.attr("alt").filter(|words| !words.trim().is_empty()) {
        let text = document.tree.new_text(words);
        picture.insert_before(&text);
    }
    picture.remove_from_parent();
}

fn keep_only_web_links(node: &NodeRef<'_>) {
    let Some(link) = node.attr("href") else { return };
    let scheme: String = link.chars().filter(|c| !c.is_control() && !c.is_whitespace()).take(16).collect();
    let scheme = scheme.to_ascii_lowercase();
    let front = scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let is_web = scheme.starts_with("http:") || scheme.starts_with("https:") || !front.contains(':');
    if !is_web {
        node.remove_attr("href");
    }
}

fn is_hidden(node: &NodeRef<'_>) -> bool {
    let Some(name) = node.node_name().filter(|_| node.is_element()) else { return false };
    if NO_TEXT.contains(&&*name) || node.has_attr("hidden") || node.has_attr("inert") {
        return true;
    }
    let is = |attribute: &str, value: &str| {
        node.attr(attribute).is_some_and(|found| found.trim().eq_ignore_ascii_case(value))
    };
    is("aria-hidden", "true") || hides_by_style(node) || hides_by_class(node)
}

fn hides_by_style(node: &NodeRef<'_>) -> bool {
    let Some(style) = node.attr("style") else { return false };
    let mut plain: String = style.chars().filter(|c| !c.is_whitespace()).collect();
    plain.make_ascii_lowercase();
    plain = plain.replace("!important", "");
    plain.push(';');
    let declared = |hiding: &str| {
        // A declaration begins at the front or behind another one: `max-height` is no `height`.
        plain.match_indices(hiding).any(|(at, _)| at == 0 || plain.as_bytes()[at - 1] == b';')
    };
    HIDING_STYLES.iter().any(|hiding| declared(hiding)) || same_colours(&plain)
}

/// Text in the colour of its ground.
fn same_colours(style: &str) -> bool {
    let value = |names: &[&str]| {
        style.split(';').find_map(|declaration| {
            let (name, value) = declaration.split_once(':')?;
            names.contains(&name).then_some(value)
        })
    };
    let (text, ground) = (value(&["color"]), value(&["background-color", "background"]));
    text.is_some() && text == ground
}

fn hides_by_class(node: &NodeRef<'_>) -> bool {
    node.attr("class").is_some_and(|classes| {
        classes
            .split_ascii_whitespace()
            .any(|class| HIDING_CLASSES.contains(&class.to_ascii_lowercase().as_str()))
    })
}
