//! Every mistake in the configuration, as the person sees it whose command would have started the daemon.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::home::{Ended, Home};

fn write(home: &Home, text: &[u8]) {
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), text).unwrap();
}

/// Expects the daemon not to start, with one error of this code whose words begin like that.
#[track_caller]
fn refused(home: &Home, code: &str, words: &str) -> Ended {
    let ended = home.palyra(&["run", "hello"]).expect(4);
    let begins = format!("error[{code}]: the daemon did not start: {words}");
    let lines: Vec<_> = ended.err.lines().collect();
    assert_eq!(lines.len(), 4, "a note, the error, its mend and its page:\n{}", ended.err);
    assert!(lines[1].starts_with(&begins), "wanted {begins}\nbut:\n{}", ended.err);
    let mends = [
        "  correct it, ",
        "  correct what ",
        "  correct or unset ",
        "  set it in this environment, ",
        "  put the key into that file, ",
        "  another program listens there ",
    ];
    assert!(mends.iter().any(|mend| lines[2].starts_with(mend)), "{}", ended.err);
    ended
}

#[test]
fn each_mistake_names_its_place_its_key_and_the_mend() {
    let home = Home::new();
    for (text, line, words) in [
        (
            "[limits]\nturns_mx = 1",
            2,
            "there is no setting `limits.turns_mx`; did you mean `limits.turns_max`?",
        ),
        ("\n\n[limits]\nturns_max = 0", 4, "`limits.turns_max` takes a whole number from 1 to 10000"),
        (
            "[model]\ndefault = \"demo/demo\"\negress.allow_private = []",
            3,
            "there is no setting `model.egress`; a line below `[model]` belongs to it; write it below `[egress]` (add \
             that line where there is none), as `allow_private = ...`",
        ),
        (
            "[providers.mine]\nbase_url = \"http://h\"\n[model]\ndefault = \"demo/demo\"\nproviders.mine.images = true",
            5,
            "there is no setting `model.providers`; a line below `[model]` belongs to it; write it below \
             `[providers.mine]` (add that line where there is none), as `images = ...`",
        ),
        (
            "[model]\ndefault = \"demo/demo\"\nallow_private = []",
            3,
            "there is no setting `model.allow_private`; a line below `[model]` belongs to it; write it below `[egress]` \
             (add that line where there is none), as `allow_private = ...`",
        ),
        ("limits = 3", 1, "`limits` is a section"),
        ("[nonsense]", 1, "there is no setting `nonsense`"),
        ("[limits", 1, "not valid TOML: "),
        ("[limits]\nturns_max = 5\nturns_max = 6", 3, "not valid TOML: duplicate key"),
        ("[listen]\ntcp = \"0.0.0.0:7070\"", 2, "`listen.tcp` takes a loopback address"),
        ("[listen]\ntcp = \"here\"", 2, "`listen.tcp` takes an address and a port, such as 127.0.0.1:7070"),
        ("[model]\ndefault = \"nope/m\"", 2, "`model.default` is `nope/m`; it takes provider/model"),
        ("[providers.x]\nbase_url = \"nonsense\"", 2, "provider `x` cannot be set up: the base URL"),
        (
            "[providers.x]\nkind = \"openai-chat\"",
            1,
            "`providers.x.base_url` is missing; for example `base_url = \"https://api.openai.com/v1\"` below `[providers.x]`",
        ),
        (
            "[providers.x]\nbase_url = \"http://h\"\nkey = \"env:UNSET\"\n\n[model]\ndefault = \"x/m\"",
            3,
            "no key for provider `x`",
        ),
        ("[providers.x]\nbase_url = \"http://h\"\nkey = \"file:/none\"", 3, "no key for provider `x`"),
        ("[providers.Big]\nbase_url = \"http://h\"", 1, "`providers.Big` names a provider `Big`"),
    ] {
        write(&home, text.as_bytes());
        let ended = refused(&home, "PLY-1301", &format!("{}:{line}:", home.config_file().display()));
        assert!(ended.err.contains(&format!(": {words}")), "wanted {words}\nbut:\n{}", ended.err);
    }
}

#[test]
fn a_secret_in_the_wrong_place_is_not_repeated() {
    let home = Home::new();
    for text in [
        "[providers.x]\nbase_url = \"http://h\"\nkey = \"sk-canary\"",
        "[providers.x]\nbase_url = \"http://user:sk-canary@h\"",
        "[providers.x]\nkye = \"sk-canary\"",
        "key = \"sk-canary",
    ] {
        write(&home, text.as_bytes());
        let ended = refused(&home, "PLY-1301", &home.config_file().display().to_string());
        assert!(!ended.err.contains("canary"), "{}", ended.err);
        let log = std::fs::read_to_string(home.state_dir().join("log/palyrad.log")).unwrap_or_default();
        assert!(!log.contains("canary"), "{log}");
    }
}

#[test]
fn what_is_not_a_file_of_text_is_refused_at_once_and_the_mend_works() {
    let home = Home::new();
    write(&home, b"# fine\n# caf\xe9\n");
    let file = home.config_file();
    refused(
        &home,
        "PLY-1302",
        &format!("{}: the configuration cannot be read: line 2 is not", file.display()),
    );
    std::fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    refused(
        &home,
        "PLY-1302",
        &format!("{}: the configuration cannot be read: it is not a file", file.display()),
    );
    std::fs::rename(&file, file.with_extension("old")).unwrap();
    home.palyra(&["init"]).expect(0);
    home.palyra(&["run", "hello"]).expect(0);
}

#[test]
fn a_variable_and_an_address_in_use_are_named() {
    let home = Home::new().with("PALYRA__LIMITS__TURN_MAX", "3");
    refused(
        &home,
        "PLY-1301",
        "environment variable PALYRA__LIMITS__TURN_MAX: there is no setting `limits.turn_max`",
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let home = Home::new().with("PALYRA__LISTEN__TCP", &address);
    let words =
        format!("environment variable PALYRA__LISTEN__TCP: `listen.tcp` is {address}, which cannot be bound");
    refused(&home, "PLY-1301", &words);
    let home = Home::new().with("OPENAI_BASE_URL", "nonsense");
    refused(&home, "PLY-1301", "OPENAI_BASE_URL cannot be used");
}

fn set(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn settings_that_others_may_write_are_refused_with_the_path_and_the_mend() {
    let home = Home::new();
    write(&home, b"[limits]\nturns_max = 5\n");
    let (file, folder) = (home.config_file(), home.config_file().parent().unwrap().to_owned());
    for path in [file.clone(), folder.clone(), folder.parent().unwrap().to_owned()] {
        let before = std::fs::metadata(&path).unwrap().permissions().mode();
        set(&path, 0o777);
        let refused = home.palyra(&["run", "hello"]).expect(4);
        assert!(refused.err.contains("error[PLY-1302]"), "{}", refused.err);
        assert!(refused.err.contains(&format!("chmod go-w {}", path.display())), "{}", refused.err);
        let checked = home.palyra(&["config", "check"]);
        assert!(
            checked.code != 0 && format!("{}{}", checked.out, checked.err).contains("chmod go-w"),
            "{checked:?}"
        );
        set(&path, before);
    }
    // The control: the same files, which only their owner may write.
    home.palyra(&["run", "hello"]).expect(0);
}

#[test]
fn places_of_programs_and_keys_that_others_may_write_are_refused_with_the_path_and_the_mend() {
    let home = Home::new();
    let tools = home.config_file().with_file_name("tools");
    std::fs::create_dir_all(tools.join("bin")).unwrap();
    let (program, key) = (tools.join("bin/lantern"), tools.join("key"));
    for (file, text) in [(&program, "#!/bin/sh\n"), (&key, "sesame\n")] {
        std::fs::write(file, text).unwrap();
        set(file, 0o700);
    }
    std::os::unix::fs::symlink("bin", tools.join("way")).unwrap();
    let (bin, way) = (tools.join("bin"), tools.join("way"));
    let provider = |key: &Path| {
        format!("[providers.lantern]\nbase_url = \"http://127.0.0.1:1\"\nkey = \"file:{}\"\n", key.display())
    };
    for (text, place, line, setting) in [
        (format!("[commands]\npath = [{:?}]\n", bin.display().to_string()), &bin, 2, "commands.path"),
        (format!("[commands]\nreadable = [\"/usr\", {:?}]\n", bin), &tools, 2, "commands.readable"),
        (format!("[commands]\nreadable = [{:?}]\n", program), &program, 2, "commands.readable"),
        (format!("[commands]\nreadable = [{:?}]\n", way), &bin, 2, "commands.readable"),
        (provider(&key), &key, 3, "providers.lantern.key"),
    ] {
        write(&home, text.as_bytes());
        // The control: only their owner may write them.
        home.palyra(&["config", "check"]).expect(0);
        home.palyra(&["run", "hello"]).expect(0);
        home.palyra(&["admin", "stop"]).expect(0);
        let before = std::fs::metadata(place).unwrap().permissions().mode();
        set(place, 0o777);
        let words = format!("{}:{line}", home.config_file().display());
        let told = refused(&home, "PLY-1301", &words).err;
        let mend = format!("chmod go-w {}", place.display());
        assert!(told.contains(&format!("`{setting}` names ")) && told.contains(&mend), "{told}");
        let checked = home.palyra(&["config", "check"]);
        assert!(
            checked.code != 0 && format!("{}{}", checked.out, checked.err).contains(&mend),
            "{checked:?}"
        );
        set(place, before);
    }
}

#[test]
fn policies_that_others_may_write_deny_every_call_and_the_doctor_names_them() {
    let home = Home::new();
    let policies = home.config_file().with_file_name("policies");
    std::fs::create_dir_all(&policies).unwrap();
    let file = policies.join("mine.cedar");
    std::fs::write(
        &file,
        "@id(\"mine\") @reason(\"r\") forbid (principal, action, resource == Tool::\"glob\");",
    )
    .unwrap();
    let found = || {
        let checks = home.palyra(&["doctor", "--json"]).json();
        let found = checks.iter().find(|check| check["name"] == "policy").unwrap().clone();
        home.palyra(&["admin", "stop"]).expect(0);
        (found["level"].as_str().unwrap().to_owned(), found["found"].as_str().unwrap().to_owned())
    };
    // The control.
    let (level, told) = found();
    assert!(level == "ok" && told.contains(" policies in "), "{told}");
    for path in [&file, &policies] {
        let before = std::fs::metadata(path).unwrap().permissions().mode();
        set(path, 0o777);
        let (level, told) = found();
        assert_eq!(level, "error", "{told}");
        assert!(
            told.contains("every tool call is denied")
                && told.contains(&format!("chmod go-w {}", path.display())),
            "{told}"
        );
        set(path, before);
    }
}
