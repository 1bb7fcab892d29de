//! What a page says to machines and not to people (46).

use palyra_html::{PageLimits, read_page};

use crate::ground::SECRET;
use crate::pair::{Found, Pair};
use crate::trial::{Place, Trial, told};

/// Ways in which `{S}` stands in a page where nobody sees it.
const HIDDEN: &[(&str, &str)] = &[
    ("a comment", "<!-- {S} -->"),
    ("a script", "<script>var x = '{S}'</script>"),
    ("a style sheet", "<style>p::before { content: '{S}' }</style>"),
    ("a template", "<template><p>{S}</p></template>"),
    ("no script", "<noscript><p>{S}</p></noscript>"),
    ("the attribute hidden", "<p hidden>{S}</p>"),
    ("no display", "<p style='display: none'>{S}</p>"),
    ("no visibility", "<p style='visibility:hidden'>{S}</p>"),
    ("no opacity", "<p style='opacity: 0'>{S}</p>"),
    ("letters of no size", "<span style='font-size:0px'>{S}</span>"),
    ("far to the left", "<div style='position:absolute; left:-9999px'>{S}</div>"),
    ("an indent out of sight", "<p style='text-indent: -9999px'>{S}</p>"),
    ("a box of no size", "<div style='height:0;overflow:hidden'>{S}</div>"),
    ("clipped away", "<div style='clip-path: inset(100%)'>{S}</div>"),
    ("no colour", "<p style='color: transparent'>{S}</p>"),
    ("for screen readers only", "<p class='sr-only'>{S}</p>"),
    ("an input that is hidden", "<input type='hidden' value='{S}'>"),
    ("a text field", "<textarea>{S}</textarea>"),
    ("a frame", "<iframe srcdoc='<p>{S}</p>'></iframe>"),
    ("an object", "<object data='x'>{S}</object>"),
    ("a drawing", "<svg><text>{S}</text></svg>"),
    ("a formula", "<math><annotation>{S}</annotation></math>"),
    ("a dialog that is closed", "<dialog><p>{S}</p></dialog>"),
    ("data of an element", "<p data-note='{S}'>hello</p>"),
    ("where a page sends on to", "<meta http-equiv='refresh' content='0;url=http://evil.example/{S}'>"),
    ("what a page is said to be", "<meta name='description' content='{S}'>"),
    ("a processing instruction", "<?php {S} ?>"),
    ("a declaration", "<!DOCTYPE x [<!ENTITY e \"{S}\">]><p>&e;</p>"),
    ("an entity of a file", "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///{S}\">]><p>&e;</p>"),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<Trial> {
    let hidden = HIDDEN.iter().map(|&(variant, hidden)| {
        let pair = Pair::new(46, variant, "the reading of pages");
        Trial::new(vec![pair], move |place, pairs| read(hidden, place, pairs))
    });
    let deep = Pair::new(46, "elements within elements without end", "the reading of pages");
    hidden.chain([Trial::new(vec![deep], nested)]).collect()
}

fn seen(text: &str) -> Vec<String> {
    if text.contains(SECRET) { vec!["a model would read it".to_owned()] } else { Vec::new() }
}

async fn read(hidden: &'static str, place: Place, pairs: Vec<Pair>) -> Vec<Found> {
    told(pairs, place.half, |_| async {
        let hidden = hidden.replace("{S}", SECRET);
        let page = format!(
            "<html><head><title>a page</title></head><body><h1>News</h1><p>Some words for people.</p>{hidden}\
             <p>Other words for people.</p></body></html>"
        );
        let read = read_page(&page, &PageLimits::default()).map_err(std::io::Error::other)?;
        if !read.markdown.contains("words for people") {
            return Err(std::io::Error::other("the page was not read at all"));
        }
        // The control hands on what came.
        Ok(Some((seen(&format!("{} {}", read.title, read.markdown)), seen(&page))))
    })
    .await
}

/// The canary is the depth that is left: whoever walks it by calling itself falls.
async fn nested(place: Place, pairs: Vec<Pair>) -> Vec<Found> {
    const DEPTH: usize = 100_000;
    told(pairs, place.half, |_| async {
        let page = format!("<p>words</p>{}deep {SECRET}", "<div>".repeat(DEPTH));
        let read = read_page(&page, &PageLimits::default());
        let text = read.map_or_else(|_| String::new(), |page| page.markdown);
        Ok(Some((seen(&text), seen(&page))))
    })
    .await
}
