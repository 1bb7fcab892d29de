//! What a failure says, from the shapes servers put it in.

use super::*;

const ROWS: Rows = &[FailureRow(429, 429, FailureSign::Any, ModelFailureClass::RateLimit)];

fn detail(status: u16, body: &str) -> String {
    status_failure(ROWS, status, body.as_bytes(), None).detail.into_exposed()
}

#[test]
fn details_are_told_in_every_shape() {
    let check = |status, body: &str, expect: &str| assert_eq!(detail(status, body), expect, "{body}");
    check(400, r#"{"error":{"message":"bad","code":"x"}}"#, "HTTP 400: bad (x)");
    check(500, "", "HTTP 500");
    check(422, r#"{"detail":"field required"}"#, "HTTP 422: field required");
    check(400, r#"[{"error":{"message":"m","status":"INVALID"}}]"#, "HTTP 400: m (INVALID)");
    check(400, r#"{"error":"plain"}"#, "HTTP 400: plain");
    check(
        429,
        r#"{"type":"error","error":{"type":"t","message":"m","details":{"error_code":"spend"}}}"#,
        "HTTP 429: m (t spend)",
    );
    check(
        502,
        r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"too long"}}}"#,
        "HTTP 502: Provider returned error: too long",
    );
    check(307, "x", "HTTP 307: the server answers with a redirect, and redirects are not followed");
    let unnamed = stream_failure(ROWS, &serde_json::json!({"error": {}}));
    assert_eq!(unnamed.detail.expose(), "the server broke off with an error it does not name");
}

#[test]
fn a_pause_is_told() {
    let pause = Some(Duration::from_millis(6_500));
    let failure = status_failure(ROWS, 429, b"{\"message\":\"slow\"}", pause);
    assert_eq!(failure.detail.expose(), "HTTP 429: slow; it asks to wait 7 s");
    assert_eq!((failure.retry_after, failure.class), (pause, ModelFailureClass::RateLimit));
}

#[test]
fn details_are_bounded_between_characters() {
    let long = detail(500, &"\u{e9}".repeat(50_000));
    assert!(long.len() <= DETAIL_RAW_BYTES_MAX && long.len() > DETAIL_RAW_BYTES_MAX - 4);
    assert_eq!(bounded("\u{e9}\u{e9}", 3), "\u{e9}");
}

#[test]
fn a_web_page_is_named_by_its_title_and_is_of_another_format() {
    let page = "<!DOCTYPE HTML>\n<html><head><title>Error\n response</title></head><body><p>Unsupported</p></body></html>";
    for (status, class) in [
        (404, ModelFailureClass::Malformed),
        (405, ModelFailureClass::Malformed),
        (501, ModelFailureClass::Malformed),
        (429, ModelFailureClass::RateLimit),
    ] {
        let failure = status_failure(ROWS, status, page.as_bytes(), None);
        assert_eq!(failure.class, class, "{status}");
        let expect = format!("HTTP {status}: the server answers with a web page (\"Error response\")");
        assert_eq!(failure.detail.into_exposed(), expect);
    }
    let text =
        detail(404, &format!("<html><body><h1>Not \u{e9} found</h1>{}</body></html>", "x ".repeat(500)));
    assert!(text.contains("(\"Not \u{e9} found x x") && text.len() < 150 && !text.contains('<'), "{text}");
    // The controls.
    assert_eq!(detail(404, "404 page not found"), "HTTP 404: 404 page not found");
    assert_eq!(status_failure(ROWS, 404, b"404 page not found", None).class, ModelFailureClass::Permanent);
}
