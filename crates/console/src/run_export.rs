//! A run as one HTML file that needs nothing else: to keep, or to send to a person without a console.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use palyra_api::ApiError;
use palyra_screen_text::short_id;
use palyra_usage_view::run_cost_words;
use palyra_wire::v1;

use crate::assets::STYLE;
use crate::screen_call::ScreenCall;
use crate::tape_row::tape_rows;
use crate::wording::{exact_time, line, line_or, run_mark};

/// Entries that are read at once.
const ENTRIES_READ_MAX: u32 = 500;
/// Bytes of rows in a file, at most; it says what it leaves out.
const BYTES_MAX: usize = 32 << 20;
/// A file loads nothing and runs nothing, wherever it is opened.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// Links to the console lead nowhere from a file.
const FILE_STYLE: &str = "a[href^=\"/console\"] { display: none; }";

/// Answers with the file.
pub(crate) async fn run_export(call: &ScreenCall) -> Result<Response, ApiError> {
    let run_id = call.param("run_id");
    let run = call.call(v1::GetRunRequest { run_id: run_id.clone() }).await?.run.unwrap_or_default();
    let mut rows = TapeRows::default();
    loop {
        let read = v1::ReadTapeRequest {
            run_id: run_id.clone(),
            after_tape_seq: rows.last,
            limit: ENTRIES_READ_MAX,
        };
        let read = call.call(read).await?;
        rows.add(&read.entries);
        if !read.more || read.entries.is_empty() || rows.is_full() {
            rows.is_whole = !read.more;
            break;
        }
    }
    Ok(file_response(&run, &document(&run, &rows)))
}

/// The rows of a file, as far as they were read.
#[derive(Default)]
struct TapeRows {
    html: String,
    last: u32,
    is_whole: bool,
}

impl TapeRows {
    fn add(&mut self, entries: &[v1::TapeEntry]) {
        self.html.push_str(&tape_rows(entries).into_string());
        self.last = entries.last().map_or(self.last, |entry| entry.tape_seq);
    }

    fn is_full(&self) -> bool {
        self.html.len() > BYTES_MAX
    }
}

fn document(run: &v1::Run, rows: &TapeRows) -> Markup {
    let title = line_or(&run.input_preview, "A run whose input was erased");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) " - Palyra" }
                style { (PreEscaped(STYLE)) (PreEscaped(FILE_STYLE)) }
            }
            body {
                main {
                    h1 { (title) }
                    (facts(run))
                    @if !rows.is_whole {
                        p.caution { "This file ends at entry " (rows.last) "; the console shows the rest." }
                    }
                    ol.tape { (PreEscaped(&rows.html)) }
                }
            }
        }
    }
}

fn facts(run: &v1::Run) -> Markup {
    let usage = run.usage.unwrap_or_default();
    html! {
        dl.facts {
            dt { "State" } dd { (run_mark(run).markup()) }
            dt { "Run" } dd { code { (run.run_id) } }
            dt { "Started" } dd { (exact_time(run.created.as_ref())) }
            dt { "Last entry" } dd { (exact_time(run.updated.as_ref())) }
            dt { "Tokens" } dd { (usage.input_tokens) " in, " (usage.output_tokens) " out" }
            @if let Some(cost) = run.cost.as_ref().and_then(run_cost_words) { dt { "Cost" } dd { (line(&cost)) } }
        }
    }
}

fn file_response(run: &v1::Run, document: &Markup) -> Response {
    let name = format!("attachment; filename=\"run-{}.html\"", short_id(&run.run_id));
    let mut response = Response::new(Body::from(document.0.clone()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    let name = HeaderValue::from_str(&name);
    headers.insert(CONTENT_DISPOSITION, name.unwrap_or(HeaderValue::from_static("attachment")));
    response
}

#[cfg(test)]
mod tests {
    use palyra_wire::v1::tape_entry::Event;

    use super::*;
    use crate::hostile_text::{HOSTILE, assert_inert};

    #[test]
    fn a_file_needs_nothing_else_and_hostile_text_stays_text() {
        let run =
            v1::Run { run_id: "01RUN".to_owned(), input_preview: HOSTILE.to_owned(), ..Default::default() };
        let started = Event::RunStarted(v1::RunStarted { input: HOSTILE.to_owned(), ..Default::default() });
        let mut rows = TapeRows::default();
        rows.add(&[v1::TapeEntry { tape_seq: 3, event: Some(started), ..Default::default() }]);
        let text = document(&run, &rows).into_string();
        assert!(text.contains("ends at entry 3") && text.contains("id=\"seq-3\"") && text.contains("01RUN"));
        let (head, body) = text.split_once("</head>").unwrap();
        assert_inert(body);
        for never in ["<script", "<link", "url("] {
            assert!(!head.contains(never) && !body.contains(never), "{never}");
        }
        assert_eq!(head.matches("</style>").count(), 1, "{head}");
        let whole = TapeRows { is_whole: true, ..rows };
        assert!(!document(&run, &whole).into_string().contains("ends at entry"));
    }
}
