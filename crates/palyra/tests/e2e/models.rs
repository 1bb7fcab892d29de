//! Adding a model: tested first, saved then, taken on at once.

use palyra_model_server::{Behaviour, Reply};

use crate::home::{Home, ended};
use crate::openai_server::{runtime, serve};

#[test]
fn a_model_that_answers_is_saved_and_used_by_the_running_daemon() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("At your service.")).with_key("sesame"));
    let home = Home::new().with("BOX_KEY", "sesame");
    home.palyra(&["run", "hello"]).expect(0);
    let url = server.base_url();
    let add = ["model", "add", "box", "--base-url", &url, "--model", "test-model", "--key", "env:BOX_KEY"];
    let added = home.palyra(&add).expect(0);
    assert!(added.out.starts_with("ok: box/test-model answers"), "{}", added.out);
    assert!(added.err.contains("✓ the running daemon uses it"), "{}", added.err);
    let text = std::fs::read_to_string(home.config_file()).unwrap();
    assert!(text.contains("key = \"env:BOX_KEY\"") && !text.contains("sesame"), "{text}");
    assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "At your service.\n");
    home.palyra(&["model", "test", "box/test-model"]).expect(0);
    let listed = home.palyra(&["model", "list"]).expect(0);
    assert!(listed.out.contains("*  box/test-model"), "{}", listed.out);

    let only = home.palyra(&["model", "list", "box"]).expect(0);
    assert!(only.out.contains("box/test-model") && !only.out.contains("demo/demo"), "{}", only.out);
    let none = home.palyra(&["model", "list", "nowhere"]).expect(2);
    assert!(none.err.contains("`palyra model list` lists every server"), "{}", none.err);

    // While another model is the default, the list does not know the names of the server, and the chat asks it for them.
    home.palyra(&["model", "use", "demo"]).expect(0);
    assert!(home.palyra(&["model", "list"]).expect(0).out.contains("box/*"));
    let refused = home.palyra(&["run", "--model", "box/*", "hello"]).expect(2);
    assert!(refused.err.contains("palyra model list --ask"), "{}", refused.err);
    let talked = home.palyra_reading(&["chat"], "/model\n/model box\nhello\n");
    assert!(talked.out.contains("At your service."), "{talked:?}");
    assert!(talked.err.contains("box/test-model answers from now on"), "{talked:?}");
    // A model that the server does not have changes nothing: the line after it goes to the model of before.
    let talked = home.palyra_reading(&["chat"], "/model box/test-modle\nwhat can you do\n");
    assert!(talked.err.contains("no model box/test-modle: its server has box/test-model"), "{talked:?}");
    assert!(
        !talked.err.contains("answers from now on") && !talked.out.contains("At your service."),
        "{talked:?}"
    );
    home.palyra(&["model", "use", "box/*"]).expect(0);
    assert!(home.palyra(&["model", "list"]).expect(0).out.contains("*  box/test-model"));
}

#[test]
fn the_model_of_the_environment_is_added_without_arguments() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("here")).with_key("sesame"));
    let home = crate::openai_server::home_with(&server);
    let added = home.palyra(&["model", "add"]).expect(0);
    assert!(added.out.starts_with("ok: local/test-model answers"), "{}", added.out);
    let text = std::fs::read_to_string(home.config_file()).unwrap();
    assert!(text.contains("[providers.local]") && text.contains("key = \"env:OPENAI_API_KEY\""), "{text}");
    assert!(!text.contains("sesame"), "{text}");
    // The control: where the environment names none, one whole command is shown and nothing is started.
    let home = Home::new();
    let refused = home.palyra(&["model", "add"]).expect(2);
    let command = "`palyra model add local --base-url http://127.0.0.1:11434/v1 --model qwen3`";
    assert!(refused.err.contains(command), "{}", refused.err);
    assert!(!home.state_dir().exists() && !home.config_file().exists());
}

#[test]
fn a_model_that_does_not_answer_is_not_saved() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("hi")).with_key("sesame"));
    let home = Home::new();
    let url = server.base_url();
    let refused =
        home.palyra(&["model", "add", "box", "--base-url", &url, "--model", "test-model"]).expect(1);
    assert!(
        refused.err.contains("error[PLY-3001]") && refused.err.contains("stays as it was"),
        "{}",
        refused.err
    );
    assert!(
        refused.err.contains("the same command again") && !refused.err.contains("palyra model test"),
        "{}",
        refused.err
    );
    assert!(!home.config_file().exists());
    let key = home
        .palyra(&["model", "add", "box", "--base-url", &url, "--model", "m", "--key", "sk-sesame"])
        .expect(2);
    assert!(!key.err.contains("sesame"), "{}", key.err);
}

#[test]
fn an_address_without_a_scheme_is_tried_and_mistakes_name_the_option() {
    let runtime = runtime();
    let chat = serve(&runtime, Behaviour::always(Reply::text("here")));
    let home = Home::new();
    for (name, format, address) in [
        ("one", "openai_chat", chat.base_url().replace("http://", "")),
        ("two", "anthropic_messages", chat.origin().replace("http://", "")),
    ] {
        let add = [
            "model",
            "add",
            name,
            "--format",
            format,
            "--base-url",
            &address,
            "--model",
            "test-model",
            "--yes",
        ];
        home.palyra(&add).expect(0);
        let text = std::fs::read_to_string(home.config_file()).unwrap();
        assert!(text.contains(&format!("base_url = \"http://{address}\"")), "{text}");
        assert_eq!(home.palyra(&["run", "hello"]).expect(0).out, "here\n");
    }
    let before = std::fs::read_to_string(home.config_file()).unwrap();
    let url = chat.base_url();
    for (option, value, told) in [
        ("--base-url", "ftp://h/v1", "error: --base-url: the base URL is not an http or https URL"),
        (
            "--base-url",
            "http://u:sesame@h/v1",
            "error: --base-url: the base URL holds a user name or password",
        ),
        ("--key", "env:NOPE_KEY", "error: --key env:NOPE_KEY: NOPE_KEY is not set in this environment"),
        ("--key", "file:/nope/key", "error: --key: "),
    ] {
        for format in ["openai_chat", "anthropic_messages"] {
            let mut add = vec!["model", "add", "bad", "--model", "m", "--format", format, option, value];
            if option != "--base-url" {
                add.extend(["--base-url", &url]);
            }
            let refused = home.palyra(&add).expect(2);
            assert!(refused.err.contains(told), "{value}: {}", refused.err);
            assert!(
                !refused.err.contains("palyra-model-") && !refused.err.contains("sesame"),
                "{}",
                refused.err
            );
        }
    }
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), before);
}

#[test]
fn a_default_that_somebody_named_changes_only_with_a_yes() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("here")));
    let home = Home::new();
    let url = server.base_url();
    let add = |name: &'static str, more: &[&'static str]| {
        let add = ["model", "add", name, "--base-url", &url, "--model", "test-model"];
        [&add[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |arguments: &[String]| {
        home.palyra(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).expect(0).err
    };
    let default = || {
        let listed = home.palyra(&["model", "list", "--json"]).expect(0).json();
        listed[0]["default_model"].as_str().unwrap().to_owned()
    };
    let first = run(&add("one", &[]));
    assert!(first.contains("the default model is now one/test-model (was demo/demo)"), "{first}");
    let kept = run(&add("two", &[]));
    assert!(
        kept.contains("the default model stays one/test-model") && kept.contains("--yes replaces it"),
        "{kept}"
    );
    assert_eq!(default(), "one/test-model");
    for (typed, expect) in [("n\r", "one/test-model"), ("y\r", "two/test-model")] {
        let arguments = add("two", &[]);
        let command = home.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let mut pty = crate::pty::Pty::spawn(&command, 100);
        pty.expect("? make two/test-model the default model instead of one/test-model? [y/N]");
        assert_eq!(pty.ended_after(typed), 0, "{}", pty.text());
        assert_eq!(default(), expect);
    }
    let changed = run(&add("one", &["--yes"]));
    assert!(changed.contains("the default model is now one/test-model (was two/test-model)"), "{changed}");
}

#[test]
fn a_server_that_wants_a_key_where_none_is_configured_names_the_setting() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("hi")).with_key("another"));
    let home = Home::new();
    let url = server.base_url();
    let refused =
        home.palyra(&["model", "add", "box", "--base-url", &url, "--model", "test-model"]).expect(1);
    let told = "no key is configured for `box`: `providers.box.key = \"env:NAME\"`";
    let shown = refused.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(shown.matches(told).count(), 1, "{}", refused.err);
    let mut keyed = home.command(&["run", "hello"]);
    keyed.env("OPENAI_BASE_URL", &url).env("OPENAI_API_KEY", "sesame").env("PALYRA_MODEL", "m");
    let wrong = ended(keyed.spawn().unwrap()).expect(1);
    assert!(wrong.err.contains("PLY-3001") && !wrong.err.contains("no key is configured"), "{}", wrong.err);
}

#[test]
fn a_chat_with_the_demo_model_alone_leads_to_the_command_that_adds_another() {
    let home = Home::new();
    for (line, said) in [
        ("/model", "`palyra model add` in another terminal adds a server of models"),
        ("/model harbour-large", "`palyra model add` in another terminal adds a server of models"),
        (
            "/model box/m",
            "no provider `box` is configured; /model lists the models there are, `palyra model add` in another",
        ),
        (
            "/model add http://127.0.0.1:1/v1",
            "type `palyra model add http://127.0.0.1:1/v1` in another terminal",
        ),
    ] {
        let talked = home.palyra_reading(&["chat"], &format!("{line}\n"));
        assert!(talked.err.contains(said), "{line}: {talked:?}");
    }
}

#[test]
fn a_server_that_is_named_without_a_model_means_its_only_one() {
    let runtime = runtime();
    let here = || Behaviour::always(Reply::text("here"));
    let one = serve(&runtime, here().with_models(&["small"]));
    let two = serve(&runtime, here().with_models(&["small", "large"]));
    let home = Home::new();
    for (name, server) in [("one", &one), ("two", &two)] {
        let url = server.base_url();
        home.palyra(&["model", "add", name, "--base-url", &url, "--model", "small", "--yes"]).expect(0);
    }
    let used = home.palyra(&["model", "use", "one"]).expect(0);
    assert!(used.err.contains("the default model is now one/small (was two/small)"), "{}", used.err);
    let kept = home.palyra(&["model", "use", "two"]).expect(0);
    assert!(kept.err.contains("the default model is now two/small"), "it was added with it: {}", kept.err);
    let mut settings = std::fs::read_to_string(home.config_file()).unwrap();
    let unnamed =
        format!("\n[providers.many]\nformat = \"openai_chat\"\nbase_url = \"{}\"\n", two.base_url());
    settings.push_str(&unnamed);
    std::fs::write(home.config_file(), settings).unwrap();
    home.palyra(&["config", "reload"]).expect(0);
    let several = home.palyra(&["model", "use", "many"]).expect(2);
    for told in ["`many` is a server with 2 models", "`palyra model use many/", "many/small", "many/large"] {
        assert!(several.err.contains(told), "{told}: {}", several.err);
    }
    // A server may take a model that it does not list, so the default is saved, with a warning.
    let unlisted = home.palyra(&["model", "use", "two/medium"]).expect(0);
    for part in
        ["the default model is now two/medium", "does not list the model medium", "two/small", "two/large"]
    {
        assert!(unlisted.err.contains(part), "{part}: {}", unlisted.err);
    }
    assert!(unlisted.err.contains("`palyra model use two/small` goes back\n"), "{}", unlisted.err);
    let left = home.palyra(&["model", "use", "one/small"]).expect(0);
    let back = "`palyra model use two/medium` goes back, to a model that its server does not list";
    assert!(left.err.contains(back), "{}", left.err);
    let unknown = home.palyra(&["model", "use", "three"]).expect(2);
    assert!(
        unknown.err.contains("has no server `three`") && !unknown.err.contains("toml:"),
        "no place in a file that was never written: {}",
        unknown.err
    );
    // The same server again, with another model that is not to be the default one.
    let url = one.base_url();
    let add = ["model", "add", "one", "--base-url", &url, "--model", "other", "--no-default"];
    let before = std::fs::read_to_string(home.config_file()).unwrap();
    let again = home.palyra(&add).expect(0);
    assert!(
        again.err.contains("one is there already, with the same settings; nothing to save"),
        "{}",
        again.err
    );
    assert!(!again.err.contains("saved in") && again.err.contains("`--model one/other` asks this one"));
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), before);
    // Another server under its name would replace it: refused, and with --yes done.
    let other = two.base_url();
    let replace = ["model", "add", "one", "--base-url", &other, "--model", "small"];
    let refused = home.palyra(&replace).expect(2);
    let (taken, mend) = (format!("one is the name of the server at {url} already"), "--yes replaces one");
    assert!(refused.err.contains(&taken) && refused.err.contains(mend), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), before);
    home.palyra(&[&replace[..], &["--yes"]].concat()).expect(0);
    let after = std::fs::read_to_string(home.config_file()).unwrap();
    assert!(after.contains(&other) && !after.contains(&url), "{after}");
}
