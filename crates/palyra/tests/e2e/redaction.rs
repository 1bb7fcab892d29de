//! Secrets come in by every door, and none of them is anywhere afterwards: not in a file, not in the log, not on a
//! tape, not in what the model is sent. What no rule knows is found by the same search, so the search works.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use palyra_model_server::{Behaviour, Reply};

use crate::home::Home;
use crate::openai_server::{runtime, serve};

/// What no rule knows, said wherever a secret is.
const CONTROL: &str = "zebra umbrella by the northern harbour";

/// Secrets that stand nowhere in this file.
struct Planted {
    provider_key: String,
    github: String,
    slack: String,
    database: String,
    aws: String,
}

impl Planted {
    fn new() -> Self {
        let drawn = "q7Xv2Lk9ZrT4mWb8NcY3pDs6HgJ5fAe1uR0t";
        Self {
            provider_key: ["lantern", drawn].join("/").replace('Z', "+"),
            github: ["gh", "p_", drawn].concat(),
            slack: ["xo", "xb-", "123456789012-", "210987654321-", &drawn[..24]].concat(),
            database: drawn.chars().rev().take(18).collect(),
            aws: ["AK", "IA", "Q7XV2LK5ZRT4MWB3"].concat(),
        }
    }

    fn all(&self) -> [&String; 5] {
        [&self.provider_key, &self.github, &self.slack, &self.database, &self.aws]
    }

    /// Every value in every form that is searched for.
    fn forms(&self) -> Vec<(String, Vec<u8>)> {
        self.all().into_iter().flat_map(|value| forms(value)).collect()
    }
}

pub(crate) fn forms(value: &str) -> Vec<(String, Vec<u8>)> {
    let hex = value.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let utf16 = |order: fn(u16) -> [u8; 2]| value.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    vec![
        ("raw".to_owned(), value.as_bytes().to_vec()),
        ("base64".to_owned(), base64(value.as_bytes()).trim_end_matches('=').as_bytes().to_vec()),
        ("hex".to_owned(), hex.clone().into_bytes()),
        ("upper hex".to_owned(), hex.to_uppercase().into_bytes()),
        ("UTF-16LE".to_owned(), utf16(u16::to_le_bytes)),
        ("UTF-16BE".to_owned(), utf16(u16::to_be_bytes)),
    ]
}

/// The digits of base64, RFC 4648.
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn unbase64(text: &str) -> Vec<u8> {
    let digit = |c: &u8| BASE64.iter().position(|known| known == c).unwrap_or(0) as u32;
    let words = text.as_bytes().chunks(4).map(|chunk| chunk.iter().fold(0, |word, c| word << 6 | digit(c)));
    let mut bytes: Vec<u8> = words.flat_map(|word: u32| word.to_be_bytes().into_iter().skip(1)).collect();
    bytes.truncate(text.trim_end_matches('=').len() * 3 / 4);
    bytes
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            text.push(char::from(BASE64[(word >> (18 - 6 * at)) as usize & 63]));
        }
        text.push_str(&"=".repeat(3 - chunk.len()));
    }
    text
}

pub(crate) fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|part| part == wanted)
}

/// Every file below a folder: database, WAL, log, keys.
pub(crate) fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path(), found);
        } else if kind.is_file() {
            found.push((entry.path().display().to_string(), std::fs::read(entry.path()).unwrap()));
        }
    }
}

#[test]
fn secrets_are_nowhere_whatever_door_they_come_by() {
    let planted = Planted::new();
    let Planted { provider_key, github, slack, database, aws } = &planted;
    let (first, second) = github.split_at(11);
    let (key_first, key_second) = provider_key.split_at(9);
    let encoded = base64(format!("xy{provider_key}zz").as_bytes());
    let calling = Reply::empty()
        .piece(&format!("Here it is ({CONTROL}): {first}"))
        .piece(second)
        .piece(&format!(" and {key_first}"))
        .piece(&format!("{key_second} and {encoded} end. "))
        .call("read_file", "{\"path\":\"settings.conf\"}");
    let refusal = format!("bad key {provider_key}, you sent {slack}; {CONTROL}");
    let behaviour = Behaviour::each(vec![calling, Reply::text("Read."), Reply::error(400, "odd", &refusal)]);
    let runtime = runtime();
    let server = serve(&runtime, behaviour);
    let home = Home::new()
        .with("OPENAI_BASE_URL", &server.base_url())
        .with("OPENAI_API_KEY", provider_key)
        .with("PALYRA_MODEL", "test-model")
        .with("PALYRA_LOG", "trace");
    let settings =
        format!("AWS_ACCESS_KEY_ID={aws}\nDATABASE_URL=postgres://app:{database}@db/x\nNOTE={CONTROL}\n");
    home.write("settings.conf", &settings);

    let asked = format!("use {slack} and password=\"{database}\", {CONTROL}, max_tokens: 5");
    let ran = home.palyra(&["run", "--session", "s", &asked]).expect(0);
    let failed = home.palyra(&["run", &format!("and {aws}?")]).expect(1);
    let tapes = home.palyra(&["runs", "tail", "last", "--json"]).expect(1);
    let sessions = home.palyra(&["sessions", "list", "--json"]).expect(0);
    home.palyra(&["journal", "verify"]).expect(0);
    assert!(ran.out.contains("<secret:github-token> and <secret:vault> and "), "{}", ran.out);

    let mut places = vec![
        ("standard output".to_owned(), ran.out.into_bytes()),
        ("standard error".to_owned(), ran.err.into_bytes()),
        ("a failure".to_owned(), [failed.out, failed.err].concat().into_bytes()),
        ("a tape".to_owned(), tapes.out.into_bytes()),
        ("the sessions".to_owned(), sessions.out.into_bytes()),
    ];
    let sent: Vec<_> = server.asked().iter().map(|asked| asked.body.to_string()).collect();
    assert!(sent[1].contains("max_tokens: 5") && sent[1].contains(CONTROL), "{}", sent[1]);
    assert!(sent[1].contains("AWS_ACCESS_KEY_ID=<secret:aws-access-key>"), "{}", sent[1]);
    places.push(("what the model was sent".to_owned(), sent.concat().into_bytes()));
    files(&home.state_dir(), &mut places);
    for (place, bytes) in &places {
        for (form, wanted) in planted.forms() {
            assert!(!holds(bytes, &wanted), "{place} holds a secret: {form}");
        }
    }
    // The same search finds what nobody hides.
    let found = |wanted: &str| {
        places
            .iter()
            .filter(|(place, bytes)| place.contains(wanted) && holds(bytes, CONTROL.as_bytes()))
            .count()
    };
    assert!(found("a failure") == 1 && found("what the model was sent") == 1, "the control was not found");
    let database_holds =
        places.iter().any(|(place, bytes)| place.contains("journal.db") && holds(bytes, CONTROL.as_bytes()));
    assert!(database_holds, "the control is not in the database or its WAL");
    independent_scan(&places, &planted);
}

#[test]
fn names_are_cleaned_and_the_journal_says_where_something_was_replaced() {
    let planted = Planted::new();
    let Planted { github, slack, .. } = &planted;
    let home = Home::new().with("PALYRA_LOG", "trace");
    let file = format!("{github}.txt");
    home.write(&file, "nothing to hide\n");
    home.palyra(&["run", "--session", "s", "what can you do"]).expect(0);
    home.palyra(&["run", "--session", "s", "--attach", &file, "what can you do"]).expect(0);
    home.palyra(&["sessions", "branch", "last", "--label", &format!("for {slack}")]).expect(0);
    home.palyra(&["sessions", "rename", "s", &format!("of {slack}")]).expect(0);
    let sessions = home.palyra(&["sessions", "list", "--json"]).expect(0).out;
    assert!(sessions.contains("for <secret:slack-") && sessions.contains("of <secret:slack-"), "{sessions}");
    let shown = home.palyra(&["runs", "tail", "last", "--json"]).expect(0).out;
    assert!(shown.contains("<secret:github-token>.txt"), "{shown}");
    let mut places = vec![("the sessions".to_owned(), sessions.into_bytes())];
    files(&home.state_dir(), &mut places);
    for (place, bytes) in &places {
        for (form, wanted) in [github, slack].into_iter().flat_map(|value| forms(value)) {
            assert!(!holds(bytes, &wanted), "{place} holds a secret: {form}");
        }
    }
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let [with_file, without] = [0, 1].map(|at| marks(&home, runs[at]["run_id"].as_str().unwrap()));
    assert_eq!((with_file[0], without[0]), ((true, 1), (false, 1)), "the first entry has the input");
    assert!(
        with_file[1..].iter().chain(&without).all(|mark| *mark == (false, 1)),
        "{with_file:?} {without:?}"
    );
}

#[test]
fn names_that_hold_a_secret_are_refused_and_recorded_nowhere() {
    let planted = Planted::new();
    let Planted { github, slack, aws, .. } = &planted;
    let calls = Reply::empty().call(github, "{}").call("write_file", r#"{"path":"a.txt","content":"x"}"#);
    let runtime = runtime();
    let server = serve(&runtime, Behaviour::each(vec![Reply::text("Yes."), calls, Reply::text("Done.")]));
    let home = Home::new()
        .with("OPENAI_BASE_URL", &server.base_url())
        .with("PALYRA_MODEL", "test-model")
        .with("PALYRA_LOG", "trace");
    let folder = home.work().join(slack);
    std::fs::create_dir(&folder).unwrap();
    home.write("schema.json", &format!(r#"{{"type":"object","description":"{github}"}}"#));
    std::fs::create_dir(home.work().join("skill")).unwrap();
    home.write(
        "skill/SKILL.md",
        &format!("---\nname: plain\ndescription: d\nallowed-tools: {aws}\n---\nRead.\n"),
    );
    // The control: the same with another name is taken.
    home.palyra(&["run", "--session", "plain", "hello"]).expect(0);

    let folder_text = folder.to_str().unwrap();
    let refused = [
        (vec!["run", "--session", github, "hello"], "the session key"),
        (vec!["run", "--schema", "schema.json", "hello"], "the schema of the answer"),
        (vec!["admin", "tokens", "create", github], "the principal's name"),
        (
            vec!["policy", "posture", "set", "write_file", "ask", "--workspace", folder_text],
            "the path of the workspace",
        ),
    ];
    for (arguments, field) in refused {
        let ended = home.palyra(&arguments);
        assert!(
            ended.err.contains(field) && ended.err.contains("use another one"),
            "{arguments:?}: {}",
            ended.err
        );
    }
    let skill = home.work().join("skill");
    home.palyra(&["tools", "skills", "install", skill.to_str().unwrap(), "--yes"]);
    // What a model calls a tool is cleaned; a rule for an argument that the call does not have is refused.
    home.palyra(&["run", "write it"]);
    let always = home.palyra(&["approve", "always", "last", "--any", aws]);
    assert!(!always.err.contains("without asking"), "{}", always.err);
    home.palyra(&["approve", "yes", "last"]);

    let mut places = Vec::new();
    files(&home.state_dir(), &mut places);
    for (place, bytes) in &places {
        for (form, wanted) in [github, slack, aws].into_iter().flat_map(|value| forms(value)) {
            assert!(!holds(bytes, &wanted), "{place} holds a secret: {form}");
        }
    }
    assert!(places.iter().any(|(place, bytes)| place.contains("journal.db") && holds(bytes, b"plain")));
}

/// Returns of each entry of a run's tape whether something was replaced in it, and by which rule set
/// (docs/journal-format.md, section 2).
fn marks(home: &Home, run: &str) -> Vec<(bool, u32)> {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join(run);
    home.palyra(&["journal", "export", "--run", run, bundle.to_str().unwrap()]).expect(0);
    let lines = std::fs::read_to_string(bundle.join("entries.jsonl")).unwrap();
    let envelopes = lines.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        unbase64(line["envelope"].as_str().unwrap())
    });
    let of_tape = envelopes.filter(|envelope| envelope[88..92] != [0; 4]);
    of_tape.map(|of| (of[1] & 2 != 0, u32::from_be_bytes(of[92..96].try_into().unwrap()))).collect()
}

/// Lets another scanner, written by other people, look for what it knows.
fn independent_scan(places: &[(String, Vec<u8>)], planted: &Planted) {
    let Some(python) = std::env::var_os("PALYRA_TEST_PYTHON") else { return };
    let has_it = Command::new(&python).args(["-c", "import detect_secrets"]).stderr(Stdio::null()).status();
    if !has_it.is_ok_and(|status| status.success()) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The WAL repeats pages; each text is looked at once.
    let lines: BTreeSet<String> = places.iter().flat_map(|(_, bytes)| printed(bytes)).collect();
    let text = lines.into_iter().collect::<Vec<_>>().join("\n");
    let (dump, control) = (folder.path().join("dump.txt"), folder.path().join("control.txt"));
    std::fs::write(&dump, &text).unwrap();
    let known = format!("{}\n{}\n{}\n", planted.github, planted.slack, planted.aws);
    std::fs::write(&control, known).unwrap();
    let program = "import sys\n\
        from detect_secrets.core.scan import scan_file\n\
        from detect_secrets.settings import transient_settings\n\
        names = ['AWSKeyDetector', 'GitHubTokenDetector', 'SlackDetector', 'StripeDetector', 'JwtTokenDetector',\n\
        \x20        'PrivateKeyDetector', 'BasicAuthDetector', 'SendGridDetector', 'NpmDetector']\n\
        with transient_settings({'plugins_used': [{'name': name} for name in names]}):\n\
        \x20   for path in sys.argv[1:]:\n\
        \x20       print(sorted(found.type for found in scan_file(path)))\n";
    let output = Command::new(&python).args(["-c", program]).args([&dump, &control]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(lines[0], "[]", "another scanner found something");
    assert!(lines[1].contains("AWS") && lines[1].contains("GitHub") && lines[1].contains("Slack"), "{said}");
}

/// The parts of a file that are text, each on a line of its own.
fn printed(bytes: &[u8]) -> Vec<String> {
    let runs = bytes.split(|byte| !(byte.is_ascii_graphic() || *byte == b' ')).filter(|run| run.len() >= 6);
    runs.map(|run| String::from_utf8_lossy(run).into_owned()).collect()
}
