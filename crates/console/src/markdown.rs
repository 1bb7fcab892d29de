//! Markdown of models as markup in which nothing is foreign: every tag is one that this file writes.
//!
//! HTML in the text stays text, links lead to the web only and show their host, and no image is loaded.

use maud::{Markup, PreEscaped};
use palyra_screen_text::clean_text;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

/// Longer texts are shown as they are.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Deeper nesting is flattened.
const DEPTH_MAX: usize = 24;

/// Returns text of a model as markup.
pub(crate) fn markdown(text: &str) -> Markup {
    let text = clean_text(text);
    let mut writer = MarkupWriter::default();
    if text.len() > TEXT_BYTES_MAX {
        writer.out.push_str("<pre>");
        writer.text(&text);
        writer.out.push_str("</pre>");
        return PreEscaped(writer.out);
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    for event in Parser::new_ext(&text, options) {
        writer.event(event);
    }
    PreEscaped(writer.out)
}

/// Writes events as markup; what was opened is closed in order.
#[derive(Default)]
struct MarkupWriter {
    out: String,
    closings: Vec<String>,
}

impl MarkupWriter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(_) => {
                let closing = self.closings.pop().unwrap_or_default();
                self.out.push_str(&closing);
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::FootnoteReference(text) => {
                self.text(&text);
            }
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out.push_str("<code>");
                self.text(&text);
                self.out.push_str("</code>");
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(done) => self.out.push_str(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        if self.closings.len() >= DEPTH_MAX {
            self.closings.push(String::new());
            return;
        }
        let (opening, closing) = match tag {
            Tag::Paragraph => ("<p>", "</p>"),
            Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. } => ("<h3>", "</h3>"),
            Tag::Heading { .. } => ("<h4>", "</h4>"),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(kind) => {
                self.code_block(kind);
                return;
            }
            Tag::List(Some(_)) => ("<ol>", "</ol>"),
            Tag::List(None) => ("<ul>", "</ul>"),
            Tag::Item => ("<li>", "</li>"),
            Tag::Table(_) => ("<div class=\"scroll\"><table>", "</table></div>"),
            Tag::TableHead | Tag::TableRow => ("<tr>", "</tr>"),
            Tag::TableCell => ("<td>", "</td>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<s>", "</s>"),
            Tag::Link { dest_url, .. } => {
                self.link(dest_url, "");
                return;
            }
            Tag::Image { dest_url, .. } => {
                self.link(dest_url, "image: ");
                return;
            }
            Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => ("", ""),
        };
        self.out.push_str(opening);
        self.closings.push(closing.to_owned());
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'_>) {
        if let CodeBlockKind::Fenced(language) = kind
            && !language.is_empty()
        {
            self.out.push_str("<div class=\"muted\">");
            self.text(language);
            self.out.push_str("</div>");
        }
        self.out.push_str("<pre><code>");
        self.closings.push("</code></pre>".to_owned());
    }

    /// Opens a link to the web; any other target leaves its words alone.
    fn link(&mut self, target: &str, before: &str) {
        let Some(host) = web_host(target) else {
            self.out.push_str(before);
            self.closings.push(String::new());
            return;
        };
        self.out.push_str("<a rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"");
        self.text(target);
        self.out.push_str("\">");
        self.out.push_str(before);
        let mut after = Self::default();
        after.text(host);
        self.closings.push(format!("</a> <span class=\"muted\">({})</span>", after.out));
    }

    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                c => self.out.push(c),
            }
        }
    }
}

/// Returns the host of a URL of the web.
pub(crate) fn web_host(url: &str) -> Option<&str> {
    let lower = url.get(..8)?.to_ascii_lowercase();
    let rest = if lower == "https://" {
        &url[8..]
    } else {
        url.get(7..).filter(|_| lower.starts_with("http://"))?
    };
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    if host.is_empty() { None } else { Some(host) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostile_text::{HOSTILE, assert_inert};

    #[test]
    fn markdown_has_its_usual_forms() {
        let shown =
            markdown("# A\n\ntwo *words* and `code`\n\n- x\n- y\n\n```sh\nls <dir>\n```\n").into_string();
        for part in
            ["<h3>A</h3>", "<em>words</em>", "<code>code</code>", "<li>x</li>", "<pre><code>ls &lt;dir&gt;\n"]
        {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        let table = markdown("| a | b |\n|---|---|\n| 1 | 2 |\n").into_string();
        assert!(table.contains("<tr><td>1</td><td>2</td></tr>"), "{table}");
    }

    #[test]
    fn a_link_leads_to_the_web_and_shows_where() {
        let link = markdown("[click](https://user@a.example/x?q=\"1\")").into_string();
        assert!(
            link.contains("rel=\"noopener noreferrer nofollow\"") && link.contains(">click</a>"),
            "{link}"
        );
        assert!(link.contains("(a.example)") && !link.contains("?q=\"1"), "{link}");
        for target in
            ["javascript:alert(1)", "data:text/html,x", "//a.example", "/console", "vbscript:x", "https://"]
        {
            let shown = markdown(&format!("[click]({target})")).into_string();
            assert!(!shown.contains("<a ") && shown.contains("click"), "{shown}");
        }
        let image = markdown("![cat](https://a.example/cat.png)").into_string();
        assert!(!image.contains("<img") && image.contains("image: cat</a>"), "{image}");
    }

    #[test]
    fn html_and_deep_nesting_stay_harmless() {
        assert_inert(&markdown(HOSTILE).into_string());
        for wrapped in
            [format!("# {HOSTILE}"), format!("- {HOSTILE}"), format!("```{HOSTILE}\n{HOSTILE}\n```")]
        {
            assert_inert(&markdown(&wrapped).into_string());
        }
        let deep = markdown(&format!("{} x", ">".repeat(5_000))).into_string();
        assert!(deep.matches("<blockquote>").count() <= DEPTH_MAX);
        let long = markdown(&"*a* ".repeat(TEXT_BYTES_MAX)).into_string();
        assert!(long.starts_with("<pre>*a*"));
    }

    /// Every tag that is opened is closed, for any text.
    #[test]
    fn what_is_opened_is_closed() {
        for text in ["> - **a", "1. x\n   - [y](https://a.example", "| a\n|--\n| *b", HOSTILE] {
            let shown = markdown(text).into_string();
            for tag in ["p", "ul", "ol", "li", "blockquote", "strong", "em", "a", "table"] {
                let opened =
                    shown.matches(&format!("<{tag}>")).count() + shown.matches(&format!("<{tag} ")).count();
                assert_eq!(opened, shown.matches(&format!("</{tag}>")).count(), "{tag} in {shown}");
            }
        }
    }
}
