//! Two providers of two formats, and a first one that cannot: which one answers, and what is shown of it.

use std::time::Duration;

use palyra_model_server::{Behaviour, Fault, ModelServer, Reply, RetryAfter, Tear};
use palyra_testkit::Gate;
use serde_json::Value;

use crate::home::{Home, ended};
use crate::openai_server::{runtime, serve};

/// Two providers, `first` (Chat Completions) and `second` (Messages), the second as the fallback.
fn home_of(first: &ModelServer, second: &ModelServer) -> Home {
    let home = Home::new().with("KEY", "sesame");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "[model]\ndefault = \"first/test-model\"\nfallbacks = [\"second/test-model\"]\n\
         [providers.first]\nbase_url = \"{}\"\nkey = \"env:KEY\"\n\
         [providers.second]\nformat = \"anthropic_messages\"\nbase_url = \"{}\"\nkey = \"env:KEY\"\n",
        first.base_url(),
        second.origin()
    );
    std::fs::write(home.config_file(), text).unwrap();
    home
}

#[test]
fn the_model_that_lately_began_first_is_asked_first_where_the_configuration_says_so() {
    let runtime = runtime();
    let slow = Reply::empty().pause(Duration::from_millis(700)).piece("slowly");
    let (slow, fast) = (Behaviour::always(slow), Behaviour::always(Reply::text("at once")));
    let (first, second) =
        (serve(&runtime, slow.with_key("sesame")), serve(&runtime, fast.with_key("sesame")));
    let home = home_of(&first, &second).with("PALYRA__MODEL__ORDER", "fastest");
    let said = |session: &str| home.palyra(&["run", "--session", session, "hello"]).expect(0).out;
    assert_eq!(said("one"), "slowly\n", "nothing is measured, so the configured order decides");
    assert_eq!(said("two"), "at once\n", "the other one is measured as well");
    assert_eq!(said("three"), "at once\n", "it is the faster one");
    let asked = of_last_run(&home, "model_requested");
    let reasons = asked[0]["routing"].as_array().unwrap();
    assert!(reasons.contains(&"fastest".into()), "{asked:?}");
    assert_eq!((first.asked().len(), second.asked().len()), (1, 2));
    let named = home.palyra(&["run", "--model", "first/test-model", "hello"]).expect(0);
    assert_eq!(named.out, "slowly\n", "who names a model means that one");
}

/// Returns what the last run's tape holds under a name, oldest first.
fn of_last_run(home: &Home, event: &str) -> Vec<Value> {
    let tape = home.palyra(&["runs", "tail", "last", "--json"]).json();
    tape.iter().map(|entry| entry[event].clone()).filter(|event| !event.is_null()).collect()
}

#[test]
fn the_second_provider_answers_once_where_the_first_cannot() {
    let runtime = runtime();
    let said = || Behaviour::always(Reply::text("from the second")).with_key("sesame");
    let limited = Fault::RateLimit(RetryAfter::Seconds(3_600));
    let text = || Reply::text("never");
    for (behaviour, down, attempts, cause) in [
        (Behaviour::always(limited), false, 1, "rate_limit"),
        (Behaviour::always(text()).with_key("another"), false, 1, "auth"),
        (Behaviour::always(text()), true, 3, "network"),
    ] {
        let (first, second) = (serve(&runtime, behaviour), serve(&runtime, said()));
        if down {
            runtime.block_on(first.shut());
        }
        let home = home_of(&first, &second);
        let ended = home.palyra(&["run", "hello"]).expect(0);
        assert_eq!(ended.out, "from the second\n");
        let told: Vec<&str> = ended.err.lines().filter(|line| line.starts_with("! no answer")).collect();
        assert_eq!(told.len(), attempts, "{}", ended.err);
        assert!(told[0].starts_with(&format!("! no answer ({cause}: ")), "{}", ended.err);
        assert!(told[attempts - 1].ends_with("; asking the next model"), "{}", ended.err);
        assert!(ended.err.contains("· asking second/test-model instead\n"), "{}", ended.err);

        let abandoned = of_last_run(&home, "model_attempt_abandoned");
        assert_eq!(abandoned.len(), attempts, "{abandoned:?}");
        assert!(abandoned.iter().all(|attempt| attempt["cause"] == cause), "{abandoned:?}");
        assert_eq!(abandoned[attempts - 1]["next"], "next_model");
        let requested = of_last_run(&home, "model_requested");
        assert_eq!(requested.last().unwrap()["model"], "second/test-model");
        let switched = of_last_run(&home, "model_switched");
        assert_eq!(switched.len(), 1, "{switched:?}");
        assert_eq!(
            (&switched[0]["model"], &switched[0]["attempt"]),
            (&requested.last().unwrap()["model"], &requested.last().unwrap()["attempt"])
        );
        let tail = home.palyra(&["runs", "tail", "last"]).expect(0);
        assert_eq!(tail.out.matches(" asking second/test-model instead\n").count(), 1, "{tail:?}");
        let shown = home.palyra(&["runs", "show", "last"]).expect(0);
        assert!(shown.out.contains(", model second/test-model (a fallback)\n"), "{}", shown.out);
        assert_eq!(of_last_run(&home, "model_message")[0]["model"], "second/test-model");

        // Who names a model means that one, and gets its failure; one that is down is left alone for a while first.
        if !down {
            let named = home.palyra(&["run", "--model", "first/test-model", "hello"]).expect(1);
            assert!(named.out.is_empty() && !named.err.contains("next model"), "{}", named.err);
        }
        assert_eq!((second.asked().len(), second.counts().invalid), (1, 0));
        home.palyra(&["journal", "verify"]).expect(0);
    }
}

#[test]
fn nobody_goes_on_in_the_voice_of_another_model() {
    let runtime = runtime();
    let first = serve(&runtime, Behaviour::always(Reply::text("half a word").torn(Tear::MidFrame)));
    let second = serve(&runtime, Behaviour::always(Reply::text("never")));
    let home = home_of(&first, &second);
    let ended = home.palyra(&["run", "hello"]).expect(1);
    assert_eq!(ended.out, "");
    assert!(ended.err.contains("error[PLY-3010]: "), "{}", ended.err);
    assert_eq!((first.asked().len(), second.asked().len()), (2, 0));
    let abandoned = of_last_run(&home, "model_attempt_abandoned");
    assert!(abandoned.iter().all(|attempt| attempt["text_from"].as_u64() > Some(0)), "{abandoned:?}");
}

#[test]
fn a_provider_that_is_left_alone_holds_no_run_up_that_may_ask_another() {
    let runtime = runtime();
    let first = serve(&runtime, Behaviour::always(Fault::Server(503)));
    let second = serve(&runtime, Behaviour::always(Reply::text("from the second")));
    let home = home_of(&first, &second);
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "from the second\n");
    assert_eq!(first.asked().len(), 3);
    let next = home.palyra(&["run", "hello"]).expect(0);
    assert_eq!((next.out.as_str(), first.asked().len()), ("from the second\n", 3));
    assert!(of_last_run(&home, "model_attempt_abandoned").is_empty());
    let asked = of_last_run(&home, "model_requested");
    assert_eq!(
        (asked.len(), &asked[0]["passed_over"][0]["model"]),
        (1, &"first/test-model".into()),
        "{asked:?}"
    );
    assert!(
        next.err.contains("passed over first/test-model: its provider does not answer at present"),
        "{}",
        next.err
    );
}

#[test]
fn a_provider_that_is_taken_out_while_a_run_streams_ends_its_answer_and_is_asked_no_more() {
    let runtime = runtime();
    let gate = Gate::closed();
    let calling = Reply::empty().piece("Let me look. ").hold(&gate).call("read_file", "{\"path\":\"a.md\"}");
    let first = serve(&runtime, Behaviour::each(vec![calling, Reply::text("Lantern.")]));
    let second = serve(&runtime, Behaviour::always(Reply::text("from the second")));
    let home = home_of(&first, &second);
    home.write("a.md", "# Lantern\n");
    let running = home.command(&["run", "--session", "old", "read a.md"]).spawn().unwrap();
    runtime.block_on(gate.reached());
    let only_second = format!(
        "model.default = \"second/test-model\"\n[providers.second]\nformat = \"anthropic_messages\"\n\
         base_url = \"{}\"\n",
        second.origin()
    );
    std::fs::write(home.config_file(), &only_second).unwrap();
    let reloaded = home.palyra(&["config", "reload"]).expect(0);
    assert!(
        reloaded.err.contains("changed: model.default, model.fallbacks, providers.first."),
        "{}",
        reloaded.err
    );
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "from the second\n");
    gate.open();
    let ended = ended(running).expect(0);
    assert_eq!(ended.out, "Let me look. \nfrom the second\n", "{}", ended.err);
    assert!(
        ended.err.contains("the run's model is no longer configured); asking the next model"),
        "{}",
        ended.err
    );
    assert_eq!((first.asked().len(), second.asked().len(), second.counts().invalid), (1, 2, 0));
    // The session of old goes on with what is there now.
    assert_eq!(home.palyra(&["run", "--session", "old", "hello"]).expect(0).out, "from the second\n");
    home.palyra(&["journal", "verify"]).expect(0);
}
