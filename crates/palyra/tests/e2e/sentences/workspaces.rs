//! The folders in which sentences are said.

use std::fs;
use std::path::Path;
use std::process::Command;

pub(super) fn git(folder: &Path, words: &[&str]) -> String {
    let done = Command::new("git")
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A. Stranger")
        .env("GIT_COMMITTER_NAME", "A. Stranger")
        .env("EMAIL", "a@b.example")
        .output()
        .unwrap();
    String::from_utf8_lossy(&done.stdout).into_owned()
}

const HOUSE: &[(&str, &str)] = &[
    ("README.md", "# Tea House\n\nHow teh teas are brewed.\n\n## Use\n\nRun make test.\n"),
    ("notes.txt", "buy milk\ncall bob\nold\n"),
    ("my notes.txt", "spaces are fine\n"),
    ("data.csv", "name,price\nassam,3\nsencha,4\n"),
    ("src/tea.py", "# TODO: more teas\nprint('tea 4711')\n"),
    ("src/util.py", "def brew():\n    return 'tea'\n"),
    (
        "src/hello.c",
        "/* Says hello, and nothing else at all. */\n#include <stdio.h>\n\nint main(void) {\n    puts(\"hello 4712\");\n    \
         return 0;\n}\n",
    ),
    ("docs/guide.md", "# Guide\n\nBoil water first.\n"),
    ("Makefile", "build:\n\t@echo built > built.txt\ntest:\n\t@echo all teas passed\n"),
];
const PY: &[(&str, &str)] = &[
    ("calc.py", "def product():\n    return 6 * 7\n\nif __name__ == '__main__':\n    print(product())\n"),
    (
        "test_calc.py",
        "import unittest\nimport calc\n\nclass Tests(unittest.TestCase):\n    def test_product(self):\n        \
         self.assertEqual(calc.product(), 42)\n",
    ),
];
const NODE: &[(&str, &str)] = &[
    (
        "package.json",
        "{\"name\": \"tea\", \"scripts\": {\"test\": \"node test.js\", \"build\": \"node build.js\"}}\n",
    ),
    ("test.js", "console.log('passed')\n"),
];
const RUST: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"tea\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
    ("src/main.rs", "fn main() {\n    println!(\"tea\");\n}\n"),
];

/// A project with names in capitals, files that lie deep, and one that is no text.
const LIB: &[(&str, &str)] = &[
    ("README.md", "# Greeter\n\nSays hello.\n\n## Use\n\nRun make test.\n"),
    ("TODO", "# To do\n\n- check the licence\n"),
    ("LICENSE", "The Plain License\n\nUse it as you like.\n"),
    ("NOTICE", "by A. Stranger\n"),
    (".gitignore", "*.pyc\n"),
    ("Makefile", "test:\n\t@echo all greetings passed\n"),
    (
        "src/greeter/core.py",
        "GREETINGS = {\"en\": \"Hello\", \"de\": \"Hallo\"}\n\ndef greet(name, lang=\"en\"):\n    \
         # TODO: fall back to English\n    return GREETINGS[lang] + \", \" + name\n\n\
         def languages():\n    return sorted(GREETINGS)\n",
    ),
    ("src/greeter/__init__.py", "from .core import greet, languages\n"),
    ("src/greeter/helper.py", "HELP = 1\n"),
    ("tests/helper.py", "HELP = 2\n"),
    (
        "tests/test_core.py",
        "import unittest\nfrom greeter.core import greet\n\nclass Tests(unittest.TestCase):\n    \
         def test_english(self):\n        self.assertEqual(greet(\"Ann\"), \"Hello, Ann\")\n",
    ),
    ("tools/hello.py", "print('hi from a tool')\n"),
    ("img/logo.png", "\u{89}PNG\r\n\u{1a}\n\0\0\0\rIHDR"),
];

/// A project of several languages, with the files that people ask about, tags, branches and two authors.
const SHOP: &[(&str, &str)] = &[
    (
        "README.md",
        "# Shop\n\nSells tea.\n\n## Install\n\n```sh\n# no heading\npip install shop\n```\n\n## License\n\nMIT\n",
    ),
    (
        "Makefile",
        ".PHONY: test lint clean\n\ntest:\n\t@echo all orders passed\n\nlint: Makefile\n\t@echo no complaints\n\nclean:\n\trm -rf build\n",
    ),
    (
        "package.json",
        "{\n  \"name\": \"shop\",\n  \"version\": \"1.2.0\",\n  \"scripts\": {\n    \"start\": \"node server.js\",\n    \
         \"lint\": \"eslint .\"\n  },\n  \"dependencies\": {\n    \"express\": \"^4.0.0\"\n  }\n}\n",
    ),
    (
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.4.0\"\nedition = \"2024\"\n\n[dependencies]\nserde = \"1\"\ntokio = { version = \"1\" }\n",
    ),
    ("requirements.txt", "flask==2.0\nrequests>=2.1\n"),
    (
        "pyproject.toml",
        "[project]\nname = \"shop\"\nversion = \"0.4.0\"\ndependencies = [\n    \"click\",\n    \"rich\",\n]\n",
    ),
    ("src/shop/__init__.py", "__version__ = \"0.4.0\"\nfrom .core import total\n"),
    (
        "src/shop/core.py",
        "\"\"\"Totals of orders.\"\"\"\n\nDEFAULT_NAME = \"world\"\nTAX = 19\n# DEBUG = True\n\ndef total(prices):\n    \
         # TODO: add shipping\n    return sum(prices)\n\ndef hello(name=DEFAULT_NAME):\n    \
         # FIXME: handle empty names\n    greeting = \"Hello, \"\n    return greeting + name\n\n\
         class Order:\n    def __init__(self, prices):\n        self.prices = prices\n        self.is_paid = False\n",
    ),
    (
        "tests/test_core.py",
        "from shop.core import hello, total\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\
         def test_hello():\n    assert hello() == \"Hello, world\"\n",
    ),
    ("scripts/report.py", "print('report ready')\n"),
    ("scripts/setup.sh", "echo set up\n"),
    ("config/settings.toml", "[server]\nport = 8000\nhost = \"localhost\"\ndebug = true\n"),
    ("docs/intro.md", "# About the Shop\n\nWords.\n\n## First steps\n\nMore words.\n"),
    ("notes.txt", "one\ntwo\nthree\ntwo again\n"),
    (".gitignore", "*.pyc\n"),
    ("img/logo.png", "\u{89}PNG\r\n\u{1a}\n\0\0\0\rIHDR"),
    ("server.js", "console.log('open')\n"),
];

/// Gives the shop a second commit by somebody else, a tag, and a branch that has one file more.
fn with_history(folder: &Path, workspace: &str) {
    git(folder, &["commit", "-q", "--amend", "-m", "add the shop"]);
    git(folder, &["tag", "v0.4.0"]);
    git(folder, &["checkout", "-q", "-b", "feature/cart"]);
    fs::write(folder.join("cart.py"), "CART = []\n").unwrap();
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "add a cart"]);
    git(folder, &["checkout", "-q", "main"]);
    let readme = fs::read_to_string(folder.join("README.md")).unwrap() + "It can sum.\n";
    fs::write(folder.join("README.md"), &readme).unwrap();
    git(folder, &["commit", "-q", "-a", "-m", "describe usage", "--author=B. Second <b@b.example>"]);
    if workspace == "desk" {
        fs::write(folder.join("notes.txt"), "one\ntwo\nthree\ntwo again\nstaged\n").unwrap();
        git(folder, &["add", "notes.txt"]);
        fs::write(folder.join("README.md"), readme + "Changed here.\n").unwrap();
        fs::write(folder.join("fresh.txt"), "fresh\n").unwrap();
    }
}

pub(super) fn furnish(folder: &Path, workspace: &str) {
    fs::create_dir_all(folder).unwrap();
    let files = match workspace {
        "house" => HOUSE,
        "py" => PY,
        "node" => NODE,
        "rust" => RUST,
        "lib" => LIB,
        "shop" | "desk" => SHOP,
        "repo" => &[("README.md", "# Tea House\n"), ("notes.txt", "one\n")],
        "empty" => &[],
        other => panic!("{other}"),
    };
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    if matches!(workspace, "repo" | "lib" | "shop" | "desk") {
        git(folder, &["init", "-q", "-b", "main"]);
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", "first"]);
    }
    if workspace == "repo" {
        fs::write(folder.join("notes.txt"), "one\nchanged line\n").unwrap();
        fs::write(folder.join("new.txt"), "new\n").unwrap();
    }
    if matches!(workspace, "shop" | "desk") {
        with_history(folder, workspace);
    }
}
