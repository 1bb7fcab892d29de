//! Files that go along: they arrive as they are, stay with the session, and what does not go leaves no trace.

use std::os::unix::ffi::OsStrExt;

use palyra_model_server::{Behaviour, ModelServer, Reply};

use crate::home::{Home, ended};
use crate::openai_server::{runtime, serve};

/// A picture of one dot.
const DOT: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\
    \x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";

/// The same, as the formats write it.
const DOT_BASE64: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

fn home_of(server: &ModelServer) -> Home {
    let home = Home::new();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "model.default = \"claude/test-model\"\n\
         [providers.claude]\nformat = \"anthropic_messages\"\nbase_url = \"{}\"\n\
         [providers.eyes]\nbase_url = \"{url}\"\nimages = true\n\
         [providers.blind]\nbase_url = \"{url}\"\n",
        server.origin(),
        url = server.base_url()
    );
    std::fs::write(home.config_file(), text).unwrap();
    home
}

#[test]
fn files_arrive_as_they_are_and_are_there_again_after_a_restart() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("seen")));
    let home = home_of(&server);
    std::fs::write(home.work().join("dot.txt"), DOT).unwrap();
    home.write("notes.md", "# Notes\n[end of attached file]\n");
    home.write("empty.txt", "");
    std::fs::copy("/proc/self/exe", home.work().join("program")).unwrap();
    std::fs::write(home.work().join("a.png"), b"\x7fELF\0\x01").unwrap();
    let image = serde_json::json!({"type": "base64", "media_type": "image/png", "data": DOT_BASE64});
    let asks = |arguments: &[&str]| {
        let ended = home.palyra(&[&["run"], arguments].concat()).expect(0);
        let unseen = ended.err.contains("! the model learns only name, type and size of a.png: ");
        assert_eq!(unseen, arguments.contains(&"a.png"), "{}", ended.err);
        server.asked().pop().unwrap().body["messages"].clone()
    };

    // The extension lies, the bytes do not.
    let files = ["--attach", "dot.txt", "--attach", "a.png", "--attach", "notes.md", "--attach", "empty.txt"];
    let sent = asks(&[&["--session", "s", "look"], &files[..]].concat());
    let parts = sent[0]["content"].as_array().unwrap();
    let pictures: Vec<_> = parts.iter().filter(|part| part["type"] == "image").collect();
    assert_eq!((pictures.len(), &pictures[0]["source"]), (1, &image), "{sent}");
    let words = sent.to_string();
    assert!(words.contains("a.png") && words.contains("6 bytes") && words.contains("# Notes"), "{words}");
    assert!(words.contains("empty.txt"), "{words}");

    home.palyra(&["admin", "stop"]).expect(0);
    let later = asks(&["--session", "s", "again"]);
    assert_eq!(later[0]["content"].as_array().unwrap()[..parts.len() - 1], parts[..parts.len() - 1]);

    let url = format!("data:image/png;base64,{DOT_BASE64}");
    let sent = asks(&["--model", "eyes/test-model", "--attach", "dot.txt", "look"]).to_string();
    assert!(sent.contains(&url), "{sent}");
    let sent = asks(&["--model", "blind/test-model", "--attach", "dot.txt", "look"]).to_string();
    assert!(
        sent.contains("dot.txt") && sent.contains("image/png, 69 bytes") && !sent.contains(DOT_BASE64),
        "{sent}"
    );
    assert_eq!(server.counts().invalid, 0);
    home.palyra(&["journal", "verify"]).expect(0);
}

#[test]
fn what_does_not_go_along_is_named_and_leaves_no_trace() {
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::always(Reply::text("never")));
    let home = home_of(&server);
    home.write("small", "x");
    std::fs::File::create(home.work().join("large")).unwrap().set_len(17 << 20).unwrap();
    std::fs::File::create(home.work().join("half")).unwrap().set_len(11 << 20).unwrap();
    std::fs::create_dir(home.work().join("folder")).unwrap();
    let pipe = home.work().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"ev\x1b[31mil");
    std::fs::write(home.work().join(odd), "x").unwrap();
    let many = ["small"; 33];
    for (files, told) in [
        (&["large"][..], "large is larger than 16.7 MB"),
        (&["half", "half"], "the files are larger than 20.9 MB together"),
        (&many, "33 files are too many, at most 32 go along"),
        (&["folder"], "folder is a folder"),
        (&["pipe"], "pipe is neither a file nor a folder"),
        (&["/dev/null"], "/dev/null is neither a file nor a folder"),
        (&["none"], "none cannot be read: nothing is there"),
        (&[odd.to_str().unwrap()], "file 1 needs a name: "),
    ] {
        let arguments: Vec<&str> = files.iter().flat_map(|file| ["--attach", file]).collect();
        // A path that does not exist is a mistake of the command line.
        let code = if files[0] == "none" { 2 } else { 1 };
        let refused = home.palyra(&[&["run", "look"], &arguments[..]].concat()).expect(code);
        assert!(refused.err.contains(&format!("error[PLY-1112]: {told}")), "{told}\nbut:\n{}", refused.err);
        assert!(refused.out.is_empty() && !refused.err.contains('\u{1b}'), "{}", refused.err);
    }
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).out, "");
    assert_eq!(home.palyra(&["sessions", "list", "--all", "--json"]).expect(0).out, "");
    assert!(server.asked().is_empty());
}

#[test]
fn images_go_to_models_that_are_known_or_found_to_see_them_else_one_line_says_so() {
    let runtime = runtime();
    let sees = Behaviour::by(|body| {
        let asked = body.to_string().contains("Which colour is this picture?");
        Reply::text(if asked && body.to_string().contains("data:image/png;base64,") {
            "Orange."
        } else {
            "seen"
        })
    });
    let (seeing, blind) = (serve(&runtime, sees), serve(&runtime, Behaviour::always(Reply::text("red"))));
    let home = Home::new();
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "[providers.seeing]\nbase_url = \"{}\"\n[providers.blind]\nbase_url = \"{}\"\n",
        seeing.base_url(),
        blind.base_url()
    );
    std::fs::write(home.config_file(), &text).unwrap();
    std::fs::write(home.work().join("plan.png"), DOT).unwrap();
    let attach = |model: &str, server: &ModelServer| {
        let asked =
            home.palyra(&["run", "--model", model, "--attach", "plan.png", "what is wrong?"]).expect(0);
        let sent = server.asked().last().map(|request| request.body.to_string()).unwrap_or_default();
        (sent.contains(DOT_BASE64), asked.err)
    };
    let noted =
        |model: &str| format!("{model} is not known to take images, so only the name of plan.png was sent");
    let (sent, err) = attach("seeing/local", &seeing);
    assert!(!sent && err.matches(&noted("seeing/local")).count() == 1, "{err}");
    let line = "`images = true` below `[providers.seeing]`";
    assert!(err.find(line).is_some_and(|at| at < err.find("`palyra model test").unwrap()), "{err}");
    // The catalogue knows the name.
    let (sent, err) = attach("seeing/gpt-4o-mini", &seeing);
    assert!(sent && !err.contains("plan.png"), "{err}");
    // A test finds out: one model names the colour, the other guesses.
    let tested = home.palyra(&["model", "test", "seeing/local"]).expect(0);
    assert!(tested.err.contains("images are sent to it from now on"), "{}", tested.err);
    assert!(attach("seeing/local", &seeing).0);
    let tested = home.palyra(&["model", "test", "blind/local"]).expect(0);
    let written = format!(
        "a test picture was not understood, so pictures will not be sent to it; `images = true` below \
         `[providers.blind]` in {}, then `palyra config reload`, sends them",
        home.config_file().display()
    );
    assert!(tested.err.contains(&written), "{}", tested.err);
    let (sent, err) = attach("blind/local", &blind);
    let known = "blind/local did not understand the test picture, so only the name of plan.png was sent; \
                 `images = true` below `[providers.blind]` in the configuration file, then `palyra config reload`, \
                 sends it";
    assert!(!sent && err.contains(known) && !err.contains("model test"), "{err}");
    let (_, err) = attach("demo/demo", &blind);
    assert!(err.contains("demo/demo takes no images"), "{err}");
    // What is added is remembered in the file.
    let url = seeing.base_url();
    home.palyra(&["model", "add", "kept", "--base-url", &url, "--model", "local"]).expect(0);
    let text = std::fs::read_to_string(home.config_file()).unwrap();
    assert!(text.contains("[providers.kept]") && text.contains("images = true"), "{text}");
}

/// The mends of a model that the environment selects work as they are written: no configuration has a place for it.
#[test]
fn a_model_of_the_environment_can_be_sent_images() {
    let runtime = runtime();
    let model = serve(&runtime, Behaviour::always(Reply::text("red")));
    let url = model.base_url();
    let home = Home::new().with("OPENAI_BASE_URL", &url).with("PALYRA_MODEL", "local");
    std::fs::write(home.work().join("plan.png"), DOT).unwrap();
    // A server of that name is there already, and stays.
    let other = "[providers.mine]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), other).unwrap();
    let attach = || {
        let asked = home.palyra(&["run", "--attach", "plan.png", "what is wrong?"]).expect(0);
        let sent = model.asked().last().map(|request| request.body.to_string()).unwrap_or_default();
        (sent.contains(DOT_BASE64), asked.err)
    };
    let mend = format!("palyra model add mine-2 --base-url {url} --model local --images");
    let mend = mend.as_str();
    let (sent, err) = attach();
    assert!(!sent && err.contains("openai/local is not known to take images"), "{err}");
    assert!(err.contains(mend) && !err.contains("[providers."), "{err}");
    let tested = home.palyra(&["model", "test", "openai/local"]).expect(0).err;
    assert!(tested.contains(mend) && !tested.contains("[providers."), "{tested}");
    let (sent, err) = attach();
    assert!(!sent && err.contains("openai/local did not understand the test picture"), "{err}");
    assert!(err.contains(mend) && !err.contains("[providers."), "{err}");

    // It works in a terminal that does not have the variables.
    let mut terminal = home.command(&mend.split(' ').skip(1).collect::<Vec<_>>());
    terminal.env_remove("OPENAI_BASE_URL").env_remove("PALYRA_MODEL");
    let added = ended(terminal.spawn().unwrap()).expect(0).err;
    assert!(added.contains("images are sent all the same") && !added.contains("images = true"), "{added}");
    let text = std::fs::read_to_string(home.config_file()).unwrap();
    assert!(text.contains(other) && text.contains("[providers.mine-2]"), "{text}");
    let (sent, err) = attach();
    assert!(sent && !err.contains("only the name"), "{err}");
}
