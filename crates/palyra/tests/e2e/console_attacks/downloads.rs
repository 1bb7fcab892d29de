//! Files that came with an input, opened in a browser that shows the person's token.

use serde_json::{Value, json};

use palyra_model_server::{Behaviour, Reply};

use crate::browser_visit::BrowserVisit;
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};
use crate::tcp::token;

/// A file with a script, the type by which a browser would run it, and the type as which a page could load it as a script.
const FILES: [(&str, &str, &str, Option<&str>); 3] = [
    ("page.html", "<!doctype html><script>canary=1</script><img src=x onerror=canary=1>", "text/html", None),
    (
        "picture.svg",
        "<svg xmlns='http://www.w3.org/2000/svg' onload='canary=1'><script>canary=1</script></svg>",
        "image/svg+xml",
        None,
    ),
    ("picture.gif", "GIF89a=1;canary=1;", "text/html", Some("text/javascript")),
];

/// Has the files brought along with an input; returns them as the script takes them.
fn attached(home: &Home) -> Value {
    let mut words = vec!["run"];
    for (name, content, ..) in FILES {
        home.write(name, content);
        words.extend(["--attach", name]);
    }
    words.push("look");
    home.palyra(&words).expect(0);
    let run = home.palyra(&["runs", "list", "--json"]).expect(0).json()[0]["run_id"].clone();
    let run = run.as_str().unwrap();
    let file = |(at, (name, _, media_type, script)): (usize, (&str, &str, &str, Option<&str>))| {
        let path = format!("/api/v1/runs/{run}/attachments/1/{at}/content");
        json!({ "name": name, "path": path, "type": media_type, "script": script })
    };
    FILES.into_iter().enumerate().map(file).collect()
}

/// The controls are the same answers without what protects them.
#[test]
fn an_attached_page_or_picture_runs_no_script() {
    let runtime = runtime();
    let model = serve(&runtime, Behaviour::always(Reply::text("seen")));
    let home = home_with(&model);
    let files = attached(&home).to_string();
    let bearer = token(&home, "user:local");
    let variables = [("PALYRA_TEST_FILES", files.as_str()), ("PALYRA_TEST_TOKEN", &bearer)];
    let mut visit = BrowserVisit::start("console_attacks/downloads.mjs", &home, &variables);
    let reports = visit.until("done");
    visit.end();

    let mut controls = 0;
    for (kind, report) in &reports {
        let is_control = report["layer"] == "control";
        let is_script = report["name"] == "picture.gif";
        // As a page the third file holds no script; only loaded as one it runs.
        let runs = is_control && (!is_script || kind == "loaded");
        assert_eq!(report["ran"], runs, "{kind}: {report}");
        controls += usize::from(runs);
        if kind == "opened" && report["layer"] == "as it is sent" {
            // An image whose bytes are one is shown where the client asks for that.
            let shown = is_script && report["query"] != "";
            assert_eq!(report["became"], if shown { "opened" } else { "saved" }, "{report}");
        }
        if report["layer"] == "as its own type, sandboxed" {
            assert_eq!(
                report["became"], "opened",
                "the sandbox alone keeps the script from running: {report}"
            );
        }
    }
    assert_eq!((reports.len(), controls), (3 * (8 + 2), 2 * 3 + 1), "{reports:?}");
}
