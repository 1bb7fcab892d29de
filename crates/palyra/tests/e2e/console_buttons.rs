//! Every button of every screen does something that a person can see.

use std::collections::BTreeSet;

use crate::asked::writer;
use crate::browser_visit::BrowserVisit;
use crate::console_screens::prepared_paths;
use crate::openai_server::{home_with, runtime, serve};

/// Different buttons that are pressed, at least: fewer are a fault of this test.
const BUTTONS_MIN: usize = 8;

#[test]
fn every_button_changes_something_that_is_seen() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let paths = prepared_paths(&home).join(",");
    let mut visit =
        BrowserVisit::start("console_buttons/browser.mjs", &home, &[("PALYRA_TEST_PATHS", &paths)]);
    let pressed: Vec<_> = visit.until("end").into_iter().map(|(_, data)| data).collect();
    visit.end();
    let dead: Vec<_> = pressed.iter().filter(|press| press["changed"] != true).collect();
    assert!(dead.is_empty(), "{dead:#?}");
    let buttons: BTreeSet<String> = pressed.iter().map(|press| press["button"].to_string()).collect();
    assert!(buttons.len() >= BUTTONS_MIN, "{buttons:#?}");
}
