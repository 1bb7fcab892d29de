//! Pages for people, and pages that attack whoever reads them.

use std::time::Duration;

use proptest::prelude::*;

use super::{TextPage, read_page};
use crate::limits::{PageError, PageExtent, PageLimits};

fn read(source: &str) -> TextPage {
    read_page(source, &PageLimits::default()).unwrap()
}

fn markdown(body: &str) -> String {
    read(&format!("<!doctype html><html><head><title>T</title></head><body>{body}</body></html>")).markdown
}

#[test]
fn a_page_becomes_markdown() {
    let page = read(
        "<title> A  <!-- x --> title </title><body><h1>Head</h1><p>Some <b>bold</b> text, and \
         <a href='https://example.com/a'>a link</a>.</p><ul><li>one<li>two</ul><pre>code</pre>\
         <table><tr><th>a<th>b<tr><td>1<td>2</table>",
    );
    assert_eq!(page.whole, PageExtent::Whole);
    for part in
        ["# Head", "Some **bold** text", "[a link](https://example.com/a)", "- one", "code", "| 1 | 2 |"]
    {
        assert!(page.markdown.contains(part), "{part}: {}", page.markdown);
    }
}

#[test]
fn the_article_is_found_among_the_trimmings() {
    let paragraph = "<p>This is the story, told at some length, with commas, so that it counts as text.</p>";
    let source = format!(
        "<title>Story</title><body><nav><ul><li><a href=/>Home</a><li><a href=/b>Imprint</a></ul></nav>\
         <article><h2>Begin</h2>{}</article><footer>Imprint and so on</footer>",
        paragraph.repeat(12)
    );
    let page = read(&source);
    assert!(
        page.markdown.contains("This is the story") && !page.markdown.contains("Imprint"),
        "{}",
        page.markdown
    );
    assert_eq!(page.title, "Story");
}

#[test]
fn text_that_people_do_not_see_is_left_out() {
    for hidden in [
        "<p hidden>CANARY</p>",
        "<p style='display: none'>CANARY</p>",
        "<p style='color:red; DISPLAY : NONE !important'>CANARY</p>",
        "<p style='visibility:hidden'>CANARY</p>",
        "<p style='opacity:0'>CANARY</p>",
        "<p style='font-size:0'>CANARY</p>",
        "<p style='font-size:0px'>CANARY</p>",
        "<p style='position:absolute;left:-9999px'>CANARY</p>",
        "<p style='text-indent:-9999px'>CANARY</p>",
        "<p style='color:#fff;background-color:#fff'>CANARY</p>",
        "<p style='color:transparent'>CANARY</p>",
        "<p style='height:0;overflow:hidden'>CANARY</p>",
        "<div aria-hidden=true><p>CANARY</p></div>",
        "<span class='x sr-only'>CANARY</span>",
        "<!-- CANARY -->",
        "<script>CANARY</script>",
        "<style>CANARY</style>",
        "<template>CANARY</template>",
        "<noscript>CANARY</noscript>",
        "<textarea>CANARY</textarea>",
        "<input value=CANARY>",
        "<select><option>CANARY</select>",
        "<svg><text>CANARY</text></svg>",
        "<math><annotation>CANARY</annotation></math>",
        "<iframe srcdoc='CANARY'>CANARY</iframe>",
        "<object>CANARY</object>",
        "<dialog>CANARY</dialog>",
        "<meta name=description content=CANARY>",
        "<meta http-equiv=refresh content='0;url=http://CANARY/'>",
        "<p title=CANARY data-x=CANARY>x</p>",
        "<a href='javascript:CANARY'>x</a>",
        "<a href=' java\tscript:CANARY'>x</a>",
        "<a href='data:text/html,CANARY'>x</a>",
        "<img src='https://evil.example/?CANARY'>",
        "<base href='http://CANARY/'>",
        "<![CDATA[CANARY]]>",
        "<?xml CANARY?>",
    ] {
        let text = markdown(&format!("<p>before</p>{hidden}<p>after</p>"));
        assert!(text.contains("before") && text.contains("after"), "{hidden}: {text}");
        assert!(!text.contains("CANARY"), "{hidden}: {text}");
    }
    // The control: what people do see stays, though it looks alike.
    for seen in [
        "<p style='max-height:100px;line-height:0.5'>CANARY</p>",
        "<p style='display:block'>CANARY</p>",
        "<p style='opacity:0.9'>CANARY</p>",
        "<p style='font-size:0.9em'>CANARY</p>",
        "<p style='color:#000;background-color:#fff'>CANARY</p>",
        "<p aria-hidden=false>CANARY</p>",
        "<p class='hidden-gem'>CANARY</p>",
        "<img alt=CANARY>",
        "<a href='/CANARY'>x</a>",
    ] {
        assert!(markdown(seen).contains("CANARY"), "{seen}");
    }
}

#[test]
fn entities_are_signs_and_never_files() {
    let source = "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY x SYSTEM 'file:///etc/passwd'>\
        <!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]><body><p>[&x;] [&b;] &amp; &lt;</p>";
    let text = read(source).markdown;
    assert!(!text.contains("root:") && !text.contains("hahaha") && text.contains("& \\<"), "{text}");
}

#[test]
fn words_of_markdown_in_a_page_stay_words() {
    let text = markdown("<p># not a head</p><p>![x](https://evil.example/) `a` &lt;script&gt;</p>");
    assert!(text.contains("\\# not a head") && text.contains("\\!\\[x\\]"), "{text}");
}

/// Pages that a parser without limits reads for minutes, or dies of.
fn hostile_pages() -> Vec<(&'static str, String)> {
    let size = 256 << 10;
    let fill = |piece: &str| piece.repeat(size / piece.len());
    let formatting: String = (0..5_000).map(|index| format!("<b a={index}>")).collect();
    vec![
        ("nested", fill("<div>")),
        ("nested quotes", fill("<blockquote>")),
        ("nested lists", fill("<ul><li>x")),
        ("nested links", fill("<a href=/x>y")),
        ("nested tables", fill("<table><tr><td>")),
        ("formatting", fill("<b>")),
        ("formatting opened anew", format!("<p>{formatting}</p>{}", fill("<p>x</p>"))),
        ("misnested", fill("<b><p></b>")),
        ("adoption", fill("<a><b><i></a>")),
        ("misplaced in tables", format!("<table>{}", fill("<b>x"))),
        ("attributes", format!("<p {}>x", fill("a=b "))),
        ("many attributes", format!("<p {}>x", (0..100_000).map(|n| format!("a{n} ")).collect::<String>())),
        ("an unclosed comment", format!("<!--{}", fill("-"))),
        ("an unclosed tag", format!("<p a='{}", fill("x"))),
        ("entities", fill("&amp")),
        ("ends", fill("</p>")),
        ("texts", fill("<p>x")),
        ("line breaks", fill("<br>")),
        ("NUL", fill("\0")),
        ("selects", fill("<select><option>")),
        ("templates", fill("<template>")),
        ("svg", fill("<svg><foreignObject>")),
        (
            "an article of many parts",
            "<div><p>some text, with commas, that counts, as words do</p></div>".repeat(4_500),
        ),
        (
            "an article in the depth",
            format!("{}{}", "<div>".repeat(180), "<p>some text, with commas, that counts</p>".repeat(9_000)),
        ),
        (
            "an article of links",
            "<p>text, text, text, text, <a href=/x>link, and more of it</a></p>".repeat(4_500),
        ),
    ]
}

#[test]
fn hostile_pages_stay_within_their_limits() {
    let limits = PageLimits {
        markdown_bytes_max: 200_000,
        nodes_max: 20_000,
        time_max: Duration::from_millis(500),
        ..PageLimits::default()
    };
    // As little as a thread usually has.
    let reading = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for (name, source) in hostile_pages() {
            if let Ok(page) = read_page(&source, &limits) {
                assert!(page.markdown.len() <= limits.markdown_bytes_max, "{name}");
            }
        }
    });
    reading.unwrap().join().unwrap();
}

#[test]
fn what_a_limit_leaves_out_is_told() {
    let deep = format!("<body>{}deep", "<div>".repeat(1000));
    let page = read(&deep);
    assert!(page.whole == PageExtent::Cut && !page.markdown.contains("deep"));
    let long = format!("<body><p>{}</p>", "é".repeat(3 << 20));
    assert_eq!(read(&long).whole, PageExtent::Cut);
    let none = PageLimits { time_max: Duration::ZERO, ..PageLimits::default() };
    assert_eq!(read_page(&deep, &none), Err(PageError::TimedOut));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_page_makes_the_reader_panic(
        source in r#"(<(/)?(p|div|b|a|ul|li|table|tr|td|pre|code|h1|svg|select|template|body|head)( href="x"| hidden)?>|&amp;|[a-z*_\[\]<>"'é ]){0,60}"#,
    ) {
        let page = read_page(&source, &PageLimits { time_max: Duration::from_secs(60), ..PageLimits::default() });
        prop_assert!(page.is_ok());
    }
}
