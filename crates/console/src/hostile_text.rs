//! Texts that would become markup, scripts or another reading order if they were not taken as text.

/// One text with everything that a model, a tool or a file name may try.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg/onload=alert(1)>\
     <a href=\"javascript:alert(1)\" ping=\"https://evil.example\">x</a>&lt;b&gt; <form id=main action=https://evil.example>\
     ]]></style></title></textarea><iframe srcdoc=\"<script>1</script>\"> \u{202e}gpj.exe\u{202c} \u{0}\u{8}\u{1b}[31m {{7*7}} `x`";

/// Checks that nothing of it became markup: the only tags are those that the templates write.
#[track_caller]
pub(crate) fn assert_inert(html: &str) {
    let lower = html.to_lowercase();
    for never in [
        "<script>",
        "<img",
        // The pages have drawings of their own.
        "<svg/",
        "<iframe",
        "onerror=alert(1)>",
        "href=\"javascript",
        "<form id=main",
        "ping=\"http",
        "\u{202e}",
        "\u{1b}",
        "\u{0}",
        "</style>",
    ] {
        assert!(!lower.contains(never), "{never:?} in {html}");
    }
    assert!(
        !lower.contains("<textarea")
            || lower.matches("</textarea>").count() == lower.matches("<textarea").count()
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screens::SCREENS;

    /// Names, texts, zones, reasons, quotations and subjects of these screens come from people and models. A place that is not
    /// filled here is not tried.
    #[test]
    fn every_place_of_schedules_learning_and_incidents_shows_the_text_as_text() {
        for (path, places) in [
            ("/console/schedules", 5),
            ("/console/schedules/new", 5),
            ("/console/schedules/{schedule_id}", 8),
            ("/console/schedules/{schedule_id}/edit", 10),
            ("/console/learning", 12),
            ("/console/incidents", 4),
        ] {
            let screen = SCREENS.iter().find(|screen| screen.path == path).unwrap();
            let html = (screen.fixture)(HOSTILE).into_string();
            assert_inert(&html);
            let shown = html.matches("&lt;script&gt;alert(1)&lt;/script&gt;").count();
            assert!(shown >= places, "{path}: {shown} of {places} places");
        }
    }
}
