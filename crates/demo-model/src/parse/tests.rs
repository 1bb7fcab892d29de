//! The table of sentences.

use super::super::intent::IntendedCall;
use super::*;

/// Shows each intent of a text in one line; of a goal its first calls.
fn read_text(input: &str) -> Vec<String> {
    parse(input).iter().flat_map(|clause| shown(&clause.intent)).collect()
}

fn shown(intent: &ClauseIntent) -> Vec<String> {
    let call = |call: &IntendedCall| {
        let mut values: Vec<_> = call.arguments.iter().collect();
        values.sort_by_key(|(name, _)| *name);
        let values: Vec<_> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {}", call.ability.tool(), values.join(" "))
    };
    match intent {
        ClauseIntent::Goal(ToolGoal::Calls(calls, _)) => calls.iter().map(call).collect(),
        ClauseIntent::Unclear(text) => vec![format!("unclear: {text}")],
        ClauseIntent::Incomplete(ability) => vec![format!("{} ?", ability.tool())],
        ClauseIntent::Goal(goal) => vec![format!("{goal:?}")],
        other => vec![format!("{other:?}").to_lowercase()],
    }
}

fn check(table: &[(&str, &[&str])]) {
    let wrong: Vec<String> = table
        .iter()
        .filter(|(input, expect)| read_text(input) != *expect)
        .map(|(input, expect)| format!("{input}\n  read as {:?}\n  expected {expect:?}", read_text(input)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const README: &[&str] = &[r#"read_file path="README.md""#];
const HERE: &[&str] = &[r#"list_dir path=".""#];
const SRC: &[&str] = &[r#"list_dir path="src""#];

#[test]
fn reading_is_asked_for_in_many_ways() {
    check(&[
        ("Read README.md and tell me what this project does", &[r#"read_file path="README.md""#, "project"]),
        ("read README.md", README),
        ("Please read `README.md`.", README),
        ("Could you please read the file \"README.md\"?", README),
        ("could you open ./README.md for me", README),
        ("Hi Palyra, can you read the readme?", &["greeting", README[0]]),
        ("I'd like you to read README.md!", README),
        ("show me README.md", README),
        ("cat README.md", README),
        ("Summarize README.md", README),
        ("what does README.md say?", README),
        ("What's in README.md?", README),
        ("What is README.md about", README),
        ("how many lines are in README.md?", README),
        ("tell me about README.md", README),
        ("take a look at README.md", README),
        ("README.md", README),
        ("read the file notes", &[r#"read_file path="notes""#]),
        ("read 'my notes.txt'", &[r#"read_file path="my notes.txt""#]),
        ("read “my notes.txt”.", &[r#"read_file path="my notes.txt""#]),
        ("read a.md and docs/b.md", &[r#"read_file path="a.md""#, r#"read_file path="docs/b.md""#]),
        ("read lines 10 to 20 of src/lib.rs", &[r#"read_file from=10 path="src/lib.rs" to=20"#]),
        ("show me the first 5 lines of LICENSE", &[r#"read_file from=1 path="LICENSE" to=5"#]),
        ("is there a file called foo.txt?", &[r#"glob pattern="**/foo.txt""#]),
        (
            "Read a.md, b.md and c.md",
            &[r#"read_file path="a.md""#, r#"read_file path="b.md""#, r#"read_file path="c.md""#],
        ),
        ("list files then read the first one", &[HERE[0], "unclear: read the first one"]),
        ("read", &["read_file ?"]),
        ("can you read files?", &["read_file ?"]),
    ]);
}

#[test]
fn listing_is_asked_for_in_many_ways() {
    check(&[
        ("list files", HERE),
        ("List the files in this folder, please.", HERE),
        ("what files are here?", HERE),
        ("what files are in this directory", HERE),
        ("show me all files", &[r#"list_dir depth=8 path=".""#]),
        ("ls", HERE),
        ("what's in this folder?", HERE),
        ("list src", SRC),
        ("ls src/", SRC),
        ("what files are in src", SRC),
        ("What files are in the src folder?", SRC),
        ("which files are there in `src`?", SRC),
        ("tell me what files are in src", SRC),
        ("What's in src?", SRC),
        ("show the files in src", SRC),
        ("list the contents of the directory src", SRC),
        ("list all rust files", &[r#"glob pattern="**/*.rs""#]),
        ("which markdown files are there?", &[r#"glob pattern="**/*.md""#]),
        ("How many Rust files are there?", &[r#"glob pattern="**/*.rs""#]),
        ("list all .md files in docs", &[r#"glob pattern="docs/**/*.md""#]),
        ("read a.md and list its headings", &[r#"read_file path="a.md""#, "unclear: list its headings"]),
    ]);
}

#[test]
fn finding_means_names_or_text() {
    check(&[
        ("find *.rs", &[r#"glob pattern="*.rs""#]),
        ("find all files matching src/**/*.rs", &[r#"glob pattern="src/**/*.rs""#]),
        ("glob '**/*.md'", &[r#"glob pattern="**/*.md""#]),
        ("find *.md in docs", &[r#"glob pattern="docs/*.md""#]),
        ("find all python files", &[r#"glob pattern="**/*.py""#]),
        ("find main.rs", &[r#"glob pattern="**/main.rs""#]),
        ("where is main.rs?", &[r#"glob pattern="**/main.rs""#]),
        ("find the file called notes", &[r#"glob pattern="**/notes""#]),
        ("find TODO in src", &[r#"search path="src" pattern="TODO""#]),
        ("find all files that contain \"TODO\"", &[r#"search pattern="TODO""#]),
        ("find out what this project does", &["project"]),
    ]);
}

#[test]
fn searching_is_asked_for_in_many_ways() {
    check(&[
        ("search for TODO", &[r#"search pattern="TODO""#]),
        ("Search for \"hello world\" in src.", &[r#"search path="src" pattern="hello world""#]),
        ("search for hello world in the docs folder", &[r#"search path="docs" pattern="hello world""#]),
        ("search the src folder for 'fn main'", &[r#"search path="src" pattern="fn main""#]),
        ("search src for TODO", &[r#"search path="src" pattern="TODO""#]),
        ("search \"TODO\"", &[r#"search pattern="TODO""#]),
        ("grep TODO src", &[r#"search path="src" pattern="TODO""#]),
        ("grep for count_words", &[r#"search pattern="count_words""#]),
        ("grep for TODO in src", &[r#"search path="src" pattern="TODO""#]),
        ("grep -rn \"TODO\" src/", &[r#"search path="src" pattern="TODO""#]),
        ("grep \"TODO\" in this project", &[r#"search pattern="TODO""#]),
        ("look for the word canary in README.md", &[r#"search path="README.md" pattern="canary""#]),
        ("which files mention Palyra?", &[r#"search pattern="Palyra""#]),
        ("which files mention bugs", &[r#"search pattern="bugs""#]),
        ("which files mention bugs and errors", &["unclear: which files mention bugs and errors"]),
        ("where is the function decide_tool_call?", &[r#"Define("decide_tool_call")"#]),
        ("where is the class Order", &[r#"Define("Order")"#]),
        ("where is the function that adds numbers", &["unclear: where is the function that adds numbers"]),
        ("where is main defined?", &[r#"Define("main")"#]),
        ("where is decide_tool_call defined?", &[r#"Define("decide_tool_call")"#]),
        ("where is decide_tool_call used?", &[r#"search pattern="decide_tool_call""#]),
        ("where is `ModelProvider` used in crates?", &[r#"search path="crates" pattern="ModelProvider""#]),
        ("search for foo(bar)", &[r#"search pattern="foo\\(bar\\)""#]),
        ("search for the regex `fn \\w+`", &[r#"search pattern="fn \\w+""#]),
        (
            "search for \"a then b\" then read a.md",
            &[r#"search pattern="a then b""#, r#"read_file path="a.md""#],
        ),
        ("search", &["search ?"]),
    ]);
}

#[test]
fn what_needs_other_tools_is_recognised() {
    check(&[
        ("create hello.txt with \"hello world\"", &[r#"write_file content="hello world" path="hello.txt""#]),
        ("create a file notes.md with the text hi", &[r#"write_file content="hi" path="notes.md""#]),
        ("write 'hello' to out.txt", &[r#"write_file content="hello" path="out.txt""#]),
        ("create a file", &["write_file ?"]),
        ("replace \"a\" with \"b\" in x.txt", &[r#"edit_file new="b" old="a" path="x.txt""#]),
        ("edit x.txt", &["edit_file ?"]),
        ("create notes.txt with hello", &[r#"write_file content="hello" path="notes.txt""#]),
        ("write hello world into notes.txt", &[r#"write_file content="hello world" path="notes.txt""#]),
        ("write \"a b\" into docs/x.md", &[r#"write_file content="a b" path="docs/x.md""#]),
        ("make a file empty.txt", &[r#"write_file content="" mode="create" path="empty.txt""#]),
        ("add a new file a.txt containing x", &[r#"write_file content="x" path="a.txt""#]),
        ("add x to a.txt", &[r#"Append { path: "a.txt", text: "x" }"#]),
        ("append \"x\" to a.txt", &[r#"Append { path: "a.txt", text: "x" }"#]),
        ("replace old by new in notes.txt", &[r#"edit_file new="new" old="old" path="notes.txt""#]),
        (
            "replace the word red with dark blue in a.md.",
            &[r#"Everywhere { old: "red", new: "dark blue", place: "a.md" }"#],
        ),
        ("in notes.txt change red to blue", &[r#"edit_file new="blue" old="red" path="notes.txt""#]),
        ("in notes.txt, change red to blue", &[r#"edit_file new="blue" old="red" path="notes.txt""#]),
        ("In `x` change a to b", &[r#"edit_file new="b" old="a" path="x""#]),
        (
            "change red to blue in notes.txt everywhere",
            &[r#"edit_file all=true new="blue" old="red" path="notes.txt""#],
        ),
        ("replace all \"a\" with \"b\" in x.txt", &[r#"edit_file all=true new="b" old="a" path="x.txt""#]),
        ("change red to blue", &["edit_file ?"]),
        (
            "delete the line \"two\" from notes.txt",
            &[r#"Remove { path: "notes.txt", lines: Holding("two") }"#],
        ),
        (
            "remove line old text from notes.txt",
            &[r#"Remove { path: "notes.txt", lines: Holding("old text") }"#],
        ),
        ("delete line 3 of notes.txt", &[r#"Remove { path: "notes.txt", lines: Numbered(3) }"#]),
        ("delete notes.txt", &[r#"Delete("notes.txt")"#]),
        ("ask me which colour I like", &[r#"ask_user question="Which colour you like?""#]),
        ("ask me for my name", &[r#"ask_user question="Please tell me your name.""#]),
        ("please ask me \"Red or blue?\"", &[r#"ask_user question="Red or blue?""#]),
        (
            "ask me to choose between \"red\" and \"blue\"",
            &[r#"ask_user choices=["red","blue"] question="Which one: red or blue?""#],
        ),
        ("ask me", &["ask_user ?"]),
        (
            "create a.txt with \"one\" then replace one by two in a.txt, then ask me what is next and read a.txt",
            &[
                r#"write_file content="one" path="a.txt""#,
                r#"edit_file new="two" old="one" path="a.txt""#,
                r#"ask_user question="What is next?""#,
                r#"read_file path="a.txt""#,
            ],
        ),
    ]);
}

#[test]
fn what_needs_a_program_or_the_network_is_recognised() {
    check(&[
        ("run `cargo test --all`", &[r#"run_command argv=["cargo","test","--all"]"#]),
        ("run the command ls -l", &[r#"run_command argv=["ls","-l"]"#]),
        ("fetch https://example.org/a", &[r#"http_fetch url="https://example.org/a""#]),
        (
            "fetch https://example.org/a with the secret forge",
            &[r#"http_fetch credential="forge" url="https://example.org/a""#],
        ),
        (
            "use my secret forge-2 to read https://example.org/a",
            &[r#"http_fetch credential="forge-2" url="https://example.org/a""#],
        ),
        (
            "get https://example.org/a using the forge token",
            &[r#"http_fetch credential="forge" url="https://example.org/a""#],
        ),
        ("remember that tests use port 0", &[r#"memory_write text="tests use port 0""#]),
        ("what do you remember about tests?", &[r#"memory_search query="tests""#]),
        ("what do you remember?", &["memory_search "]),
        ("what do you remember about me?", &["memory_search "]),
        ("what have you saved about me", &["memory_search "]),
        ("what is in your memory?", &["memory_search "]),
        ("forget that I prefer short answers", &[r#"Forget("I prefer short answers")"#]),
        ("forget what I told you about deploys", &[r#"Forget("deploys")"#]),
        ("please forget about the green boat.", &[r#"Forget("the green boat")"#]),
        ("remove the green boat from your memory", &[r#"Forget("the green boat")"#]),
    ]);
}

#[test]
fn talk_is_talk() {
    check(&[
        ("hello", &["greeting"]),
        ("Hi there!", &["greeting"]),
        ("good morning", &["greeting"]),
        ("what can you do?", &["abilities"]),
        ("Hello, what can you do?", &["greeting", "abilities"]),
        ("help", &["abilities"]),
        ("who are you", &["abilities"]),
        ("thanks", &["thanks"]),
        ("what is this project about?", &["project"]),
        ("describe this repository", &["project"]),
        ("describe the attached picture", &["attachments"]),
        ("What does this project do?", &["project"]),
        ("How does this work?", &["abilities"]),
        ("the moon is made of cheese", &["unclear: the moon is made of cheese"]),
        ("", &[]),
    ]);
}

#[test]
fn chains_keep_their_order() {
    check(&[
        (
            "read a.md then list src, then search for \"x\" in src and tell me about it",
            &[
                r#"read_file path="a.md""#,
                r#"list_dir path="src""#,
                r#"search path="src" pattern="x""#,
                "aside",
            ],
        ),
        (
            "1. read a.md\n2. find *.rs\n3. search for x",
            &[r#"read_file path="a.md""#, r#"glob pattern="*.rs""#, r#"search pattern="x""#],
        ),
        (
            "read a.md; read b.md; read c.md",
            &[r#"read_file path="a.md""#, r#"read_file path="b.md""#, r#"read_file path="c.md""#],
        ),
    ]);
}

#[test]
fn what_is_understood_in_part_is_not_understood() {
    check(&[
        ("read a.md backwards", &["unclear: read a.md backwards"]),
        ("delete a.md if it is empty", &["unclear: delete a.md if it is empty"]),
        ("don't delete a.md", &["unclear: don't delete a.md"]),
        ("list the files but not the folders", &["unclear: list the files but not the folders"]),
        ("create a.py that adds two numbers", &["cannot(compose)"]),
        ("create a.txt with a poem about tea", &["cannot(compose)"]),
        ("create a.py with some code", &["cannot(compose)"]),
        ("change the title to Tea in README.md", &["cannot(quotes)"]),
        ("find the bug", &["cannot(understand)"]),
    ]);
}

#[test]
fn commands_are_taken_as_they_are_typed() {
    check(&[
        ("make", &[r#"run_command argv=["make"]"#]),
        ("run make test please", &[r#"run_command argv=["make","test"]"#]),
        ("git add -A", &[r#"run_command argv=["git","add","-A"]"#]),
        ("git commit -m \"a b\"", &[r#"run_command argv=["git","commit","-m","a b"]"#]),
        ("git push", &["cannot(network)"]),
        ("git status", &[r#"git subcommand="status""#]),
        ("show me the difference", &[r#"git subcommand="diff""#]),
        ("python3 -c 'print(1)'", &[r#"run_command argv=["python3","-c","print(1)"]"#]),
        ("./build.sh", &[r#"run_command argv=["sh","./build.sh"]"#]),
        ("ls | wc -l", &[r#"Shell("ls | wc -l")"#]),
        ("run `echo hi > x`", &[r#"Shell("echo hi > x")"#]),
        ("make test && git commit -am x", &[r#"Shell("make test && git commit -am x")"#]),
        ("bash -c \"echo hi\"", &[r#"run_command argv=["bash","-c","echo hi"]"#]),
        ("rm -rf /", &["cannot(danger)"]),
        ("sudo ls", &["cannot(danger)"]),
        ("make it faster", &["cannot(understand)"]),
        ("make me a sandwich", &["unclear: make me a sandwich"]),
    ]);
}

#[test]
fn slips_of_the_keyboard_in_the_verb_are_mended() {
    check(&[
        ("raed README.md", README),
        ("serch for x1", &[r#"search pattern="x1""#]),
        ("delte a.md", &[r#"Delete("a.md")"#]),
        ("ride a.md", &["unclear: ride a.md"]),
    ]);
}

#[test]
fn it_is_the_file_that_was_named_last() {
    check(&[
        ("run it", &["run_command ?"]),
        ("delete it", &["unclear: delete it"]),
        ("read a.md then delete it", &[r#"read_file path="a.md""#, r#"Delete("a.md")"#]),
        (
            "create a.py with print('hi') and run it",
            &[r#"write_file content="print('hi')" path="a.py""#, r#"RunFile("a.py")"#],
        ),
    ]);
}

#[test]
fn what_is_not_understood_is_said_as_it_was_typed() {
    check(&[
        ("fold \"- third\" into TODO!", &["unclear: fold \"- third\" into TODO!"]),
        ("frobnicate  ('x') twice.", &["unclear: frobnicate  ('x') twice"]),
        ("Zeig mir die Datei README.md", &["cannot(language)"]),
    ]);
}

#[test]
fn a_list_is_a_line_for_each_item_or_a_question() {
    check(&[
        (
            "create a .gitignore with __pycache__/ and *.pyc",
            &["write_file content=\"__pycache__/\\n*.pyc\\n\" path=\".gitignore\""],
        ),
        (
            "create .dockerignore containing dist and build, one per line, please",
            &["write_file content=\"dist\\nbuild\\n\" path=\".dockerignore\""],
        ),
        ("add dist and build to .gitignore", &[r#"Append { path: ".gitignore", text: "dist\nbuild" }"#]),
        ("create a.txt with buy milk and eggs", &["cannot(quotes)"]),
        ("write hello and goodbye to a.txt", &["cannot(quotes)"]),
        ("create a.txt with the text saying hi", &["cannot(quotes)"]),
    ]);
}

#[test]
fn an_indirect_question_is_a_direct_one() {
    let license = &[r#"read_file path="LICENSE""#];
    check(&[
        ("Could you please tell me which licence this project uses?", license),
        ("i'd like to know how many lines a.py has", &[r#"read_file path="a.py""#]),
        ("do you know where farewell is defined?", &[r#"Define("farewell")"#]),
        ("append hello to a.txt please", &[r#"Append { path: "a.txt", text: "hello" }"#]),
    ]);
}

#[test]
fn a_name_without_an_ending_is_a_file_where_a_file_has_to_be() {
    check(&[
        ("how big is the logo", &[r#"read_file path="logo""#]),
        (
            "swap NAME from \"a\" to \"b\" in core",
            &[r#"Rewrite { path: "core", change: Swap { key: "NAME", old: "a", new: "b" } }"#],
        ),
        ("change the title to Tea in README.md", &["cannot(quotes)"]),
    ]);
}

#[test]
fn sections_targets_and_headers_are_added() {
    check(&[
        (
            "append a section \"Use\" to README.md saying \"Run it.\"",
            &[r###"Append { path: "README.md", text: "\n## Use\n\nRun it." }"###],
        ),
        (
            "add a make target lint that runs ruff check .",
            &[
                r#"Reshape { files: Named(["Makefile"]), change: Target { name: "lint", command: "ruff check ." } }"#,
            ],
        ),
        (
            "put \"# x\" at the top of every .py file under src",
            &[r##"Reshape { files: Matching("src/**/*.py"), change: Header("# x") }"##],
        ),
        (
            "add \"x\" to both a.txt and b.txt",
            &[r#"Reshape { files: Named(["a.txt", "b.txt"]), change: Footer("x") }"#],
        ),
    ]);
}

#[test]
fn a_text_is_written_as_given_or_asked_for_in_quotation_marks() {
    let quotes: &[&str] = &["cannot(quotes)"];
    check(&[
        ("create src/x.py with hello", &[r#"write_file content="hello" path="src/x.py""#]),
        ("create src/x.py with hello world", &[r#"write_file content="hello world" path="src/x.py""#]),
        ("write hello world into src/x.py", &[r#"write_file content="hello world" path="src/x.py""#]),
        ("create a.json with hello", &[r#"write_file content="hello" path="a.json""#]),
        // A part of a program may be meant, and not the word.
        ("create src/x.py with express routes", quotes),
        ("create index.html with login form", quotes),
        ("create src/x.txt with hello", &[r#"write_file content="hello" path="src/x.txt""#]),
        ("create src/x.txt with hello world", &[r#"write_file content="hello world" path="src/x.txt""#]),
        ("create src/x.py with \"hello\"", &[r#"write_file content="hello" path="src/x.py""#]),
        ("create src/x.py with x = 1", &[r#"write_file content="x = 1" path="src/x.py""#]),
        ("create docs/plan.md with # Plan", &[r##"write_file content="# Plan" path="docs/plan.md""##]),
        // The end of the text is not clear.
        ("create docs/plan.md with the text: # Plan, then - step one, then - step two", quotes),
        ("create a.txt with hello then frobnicate the gizmo", quotes),
        // The controls: a request that follows, and a program or a text that is only described.
        (
            "create a.txt with hello then list src",
            &[r#"write_file content="hello" path="a.txt""#, r#"list_dir path="src""#],
        ),
        (
            "create x.py with a hello world program",
            &[r#"write_file content="print(\"Hello, world!\")\n" path="x.py""#],
        ),
        ("create a.md with a plan", &["cannot(compose)"]),
    ]);
}

#[test]
fn a_request_to_see_the_output_adds_nothing_to_a_request_to_run() {
    for second in [
        "show me their output",
        "show me the output",
        "show the output",
        "show me its full output",
        "show me all of their output",
        "give me the output",
        "print the output",
        "show me the test results",
        "show me what they print",
        "show me what it prints",
        "tell me what they printed",
        "show me what the tests print",
    ] {
        check(&[(&format!("run the tests and {second}"), &["Project(Test)", "aside"])]);
    }
    // The controls: something else is asked for, and a file.
    check(&[
        ("run the tests and show me their colour", &["Project(Test)", "unclear: show me their colour"]),
        ("run the tests and show me output.txt", &["Project(Test)", r#"read_file path="output.txt""#]),
    ]);
}

#[test]
fn a_pattern_of_names_says_where_to_search() {
    let python: &[&str] = &[r#"search glob="*.py" pattern="currency""#];
    check(&[
        ("grep currency in *.py", python),
        ("grep currency *.py", python),
        ("search for \"currency\" in *.py", python),
        ("which *.py files mention currency?", python),
        ("find TODO in src/*.md", &[r#"search glob="src/*.md" pattern="TODO""#]),
        // The controls: a folder is no pattern, and a pattern of names in a folder asks for the names.
        ("search for \"currency\" in src", &[r#"search path="src" pattern="currency""#]),
        ("find *.md in docs", &[r#"glob pattern="docs/*.md""#]),
    ]);
}

#[test]
fn files_with_a_word_are_asked_for_in_more_ways() {
    let decimal: &[&str] = &[r#"search pattern="Decimal""#];
    check(&[
        ("in which files does Decimal appear?", decimal),
        ("in which files is Decimal used?", decimal),
        ("which files does Decimal appear in?", decimal),
        ("which files mention Decimal?", decimal),
    ]);
}

#[test]
fn a_request_to_keep_changes_is_none_to_remember_them() {
    let reset = r#"run_command argv=["git","reset","--soft","HEAD~1"]"#;
    check(&[
        ("undo the last commit but keep the changes", &[reset, "aside"]),
        ("undo my last commit, and keep my changes staged", &[reset, "aside"]),
        ("delete notes.txt but keep the changes", &[r#"Delete("notes.txt")"#, "unclear: keep the changes"]),
        ("show me README.md but keep it short", &[README[0], "unclear: keep it short"]),
        // The control.
        ("keep in mind that tests run on port 0", &[r#"memory_write text="that tests run on port 0""#]),
        ("remember that tests run on port 0", &[r#"memory_write text="tests run on port 0""#]),
    ]);
}
