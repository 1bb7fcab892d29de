//! Schedules, learning and incidents on the pages of the console, by forms without scripts.

use serde_json::Value;

use crate::console::{PageAnswer, Visitor, signed_in};
use crate::home::Home;

const NEW: &str = "/console/schedules/new";
const MODE: &str = "/console/incidents/mode";

/// The fields of a form, as a browser sends them.
fn encoded(fields: &[(String, String)]) -> String {
    let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let pairs: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    pairs.join("&")
}

/// Returns the fields of the first form that is sent to a path, as they are when nothing is typed.
#[track_caller]
fn fields_of(page: &PageAnswer, path: &str) -> Vec<(String, String)> {
    let form = format!("action=\"{path}\"");
    let (_, after) = page.body.split_once(&form).unwrap_or_else(|| panic!("no form for {path}: {page:?}"));
    let form = after.split("</form>").next().unwrap();
    let attribute = |tag: &str, name: &str| {
        let (_, value) = tag.split_once(&format!("{name}=\""))?;
        let value = value.split('"').next()?;
        Some(value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
    };
    let inputs = form.split("<input").skip(1).map(|tag| tag.split('>').next().unwrap());
    inputs
        .map(|tag| (attribute(tag, " name").unwrap(), attribute(tag, " value").unwrap_or_default()))
        .collect()
}

fn set(fields: &mut Vec<(String, String)>, name: &str, value: &str) {
    fields.retain(|(known, _)| known != name);
    fields.push((name.to_owned(), value.to_owned()));
}

/// Fills the form of a new schedule, and returns the page that shows what it means.
#[track_caller]
fn previewed(visitor: &Visitor, when: &str, text: &str) -> PageAnswer {
    let mut fields = fields_of(&visitor.get(NEW), NEW);
    for (name, value) in [("when", when), ("text", text), ("times", "words"), ("does", "prompt")] {
        set(&mut fields, name, value);
    }
    visitor.post(&format!("{NEW}/preview"), &encoded(&fields))
}

/// Presses the button of the form that is sent to a path, and returns where it leads.
#[track_caller]
fn pressed(visitor: &Visitor, page: &str, path: &str) -> PageAnswer {
    let fields = fields_of(&visitor.get(page), path);
    let answer = visitor.post(path, &encoded(&fields));
    assert_eq!(answer.status, 303, "{path}: {answer:?}");
    visitor.get(answer.header("location").unwrap())
}

fn schedules(home: &Home) -> Vec<Value> {
    home.palyra(&["admin", "schedules", "list", "--json"]).expect(0).json()
}

/// The controls are the page of before and the answers of the command line.
#[test]
fn schedules_learning_and_incidents_are_worked_with_by_forms() {
    let home = Home::new();
    let visitor = signed_in(&home);
    assert!(visitor.get("/console/schedules").body.contains("No schedule is made yet."));
    for example in ["1", "2", "3"] {
        let page = visitor.get(&format!("{NEW}?example={example}"));
        let when = fields_of(&page, NEW).into_iter().find(|(name, _)| name == "when").unwrap().1;
        let shown = previewed(&visitor, &when, "hello");
        assert!(shown.status == 200 && shown.body.contains("Save this schedule"), "{when}: {shown:?}");
    }

    let wrong = previewed(&visitor, "when the moon is blue", "keep <b>these</b> words");
    assert!(wrong.status == 400 && wrong.body.contains("value=\"when the moon is blue\""), "{wrong:?}");
    assert!(wrong.body.contains("keep &lt;b&gt;these&lt;/b&gt; words"), "{wrong:?}");
    let preview = previewed(&visitor, "every weekday at 8", "Sum up <my> mail & \"more\"");
    assert!(
        preview.body.contains("every weekday at 08:00") && preview.body.contains("<code>0 8 * * 1-5</code>")
    );
    assert_eq!(preview.body.matches("<time ").count(), 5, "the next five times: {}", preview.body);
    assert!(schedules(&home).is_empty(), "nothing is saved by then");
    let saved = visitor.post(NEW, &encoded(&fields_of(&preview, NEW)));
    let page = saved.header("location").unwrap_or_else(|| panic!("{saved:?}")).to_owned();
    let known = schedules(&home);
    assert_eq!(known.len(), 1, "{known:?}");
    assert_eq!(page, format!("/console/schedules/{}", known[0]["schedule_id"].as_str().unwrap()));
    assert_eq!(known[0]["text"], "Sum up <my> mail & \"more\"", "{}", known[0]);
    assert!(visitor.get(&format!("{page}/edit")).body.contains("value=\"0 8 * * 1-5\""));

    let paused = pressed(&visitor, &page, &format!("{page}/pause"));
    assert!(
        paused.body.contains("It is paused") && !paused.body.contains(&format!("{page}/pause")),
        "{paused:?}"
    );
    assert!(
        schedules(&home)[0]["paused"]
            .as_str()
            .is_some_and(|cause| cause.to_ascii_uppercase().ends_with("PERSON"))
    );
    let resumed = pressed(&visitor, &page, &format!("{page}/resume"));
    assert!(!resumed.body.contains("It is paused"), "{resumed:?}");
    let run = pressed(&visitor, &page, &format!("{page}/run-now"));
    assert!(run.body.contains("a person started it"), "{run:?}");
    let all = pressed(&visitor, "/console/schedules", "/console/schedules/pause");
    assert!(all.body.contains("paused with all"), "{all:?}");
    let all = pressed(&visitor, "/console/schedules", "/console/schedules/resume");
    assert!(!all.body.contains("paused with all"), "{all:?}");
    let removed = pressed(&visitor, &page, &format!("{page}/remove"));
    assert!(removed.body.contains("No schedule is made yet.") && schedules(&home).is_empty(), "{removed:?}");

    learning_decides_only_about_what_is_there(&visitor);
    a_mode_of_self_healing_is_set_with_a_code(&home, &visitor);
}

fn learning_decides_only_about_what_is_there(visitor: &Visitor) {
    let page = visitor.get("/console/learning");
    assert!(page.body.contains("Nothing waits for your review."), "{page:?}");
    let unknown = visitor.get("/console/learning?show=01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert!(unknown.status == 400 && unknown.body.contains("PLY-"), "{unknown:?}");
    let review = "/console/learning/01ARZ3NDEKTSV4RRFFQ69G5FAV/review";
    let refused = visitor.post(review, "token=0&review=accept");
    assert!(refused.status == 403 && refused.body.contains("PLY-1212"), "{refused:?}");
}

fn a_mode_of_self_healing_is_set_with_a_code(home: &Home, visitor: &Visitor) {
    let page = visitor.get("/console/incidents");
    assert!(page.body.contains("Nothing is wrong.") && !page.body.contains("<td>a person</td>"), "{page:?}");
    let mut fields = fields_of(&page, MODE);
    for (name, value) in [("domain", "tasks"), ("mode", "auto"), ("confirmation", "WRONGCODE0")] {
        set(&mut fields, name, value);
    }
    let refused = visitor.post(MODE, &encoded(&fields));
    assert!(refused.status == 403 && refused.body.contains("PLY-1204"), "{refused:?}");
    assert!(refused.body.contains("value=\"tasks\" selected"), "{refused:?}");
    let code = home.palyra(&["admin", "confirm"]).expect(0).out.trim().to_owned();
    set(&mut fields, "confirmation", &code);
    assert_eq!(visitor.post(MODE, &encoded(&fields)).status, 303);
    let page = visitor.get("/console/incidents");
    let row = "<td>background tasks</td><td>auto: remedies are performed</td><td>a person</td>";
    assert!(page.body.contains(row), "{page:?}");
}
