//! Answers that have to fit a schema: they do, are asked for once more, or the run says what does not fit.

use palyra_model_server::{Behaviour, Reply};

use crate::openai_server::{home_with, runtime, serve};

const CITY: &str = "{\"type\":\"object\",\"required\":[\"city\"],\"additionalProperties\":false,\
    \"properties\":{\"city\":{\"type\":\"string\"}}}";

#[test]
fn an_answer_fits_or_the_run_says_where_it_does_not() {
    let runtime = runtime();
    let (good, bad) = ("{\"city\":\"Łódź\"}", "{\"city\":7}");
    for (answers, code, out, asked) in [
        ([good, good], 0, format!("{good}\n"), 1),
        ([bad, good], 0, format!("{good}\n"), 2),
        ([bad, bad], 1, String::new(), 2),
    ] {
        let server = serve(&runtime, Behaviour::each(answers.map(Reply::text).into()));
        let home = home_with(&server);
        home.write("city.json", CITY);
        let ended = home.palyra(&["run", "--schema", "city.json", "Which city?"]).expect(code);
        assert_eq!(ended.out, out, "{}", ended.err);
        let told = ended.err.contains("the answer does not fit the schema: `/city`: must be of type string");
        // In between it is told where the pause is long enough to name.
        assert!(told || code == 0, "{}", ended.err);
        assert!(!ended.err.contains("broke off"), "it was whole: {}", ended.err);
        assert_eq!(server.asked().len(), asked);
        for request in server.asked() {
            let wanted: serde_json::Value = serde_json::from_str(CITY).unwrap();
            assert_eq!(request.body["response_format"]["json_schema"]["schema"], wanted);
        }
    }
}

#[test]
fn a_file_that_is_no_schema_is_refused_before_anything_is_recorded() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("never")));
    let home = home_with(&server);
    home.write("cut.json", "{\"type\":");
    home.write("list.json", "[]");
    home.write("odd.json", "{\"type\":\"nonsense\"}");
    home.write("far.json", "{\"$ref\":\"https://example.org/schema.json\"}");
    for (file, told) in [
        ("cut.json", "the schema cut.json: is not JSON"),
        ("list.json", "the schema list.json: is not a JSON object"),
        ("odd.json", "the schema cannot be applied: "),
        ("far.json", "the schema cannot be applied: "),
        ("none.json", "none.json cannot be read: nothing is there"),
    ] {
        let refused = home.palyra(&["run", "--schema", file, "Which city?"]).expect(2);
        assert!(refused.err.contains(&format!("error[PLY-1004]: {told}")), "{}", refused.err);
    }
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).out, "");
    assert!(server.asked().is_empty());
}
