//! Sections of small files.

use super::*;

fn check(section: FileSection, path: &str, text: &str, expect: &[&str]) {
    assert_eq!(section_lines(section, path, text), expect, "{path}");
}

#[test]
fn a_section_is_read_from_the_kinds_of_files_that_have_it() {
    use FileSection::{Dependencies, Headings, Scripts, Targets, Version};
    check(Headings, "a.md", "# A\n```\n# no\n```\n## B\n", &["# A", "## B"]);
    check(
        Targets,
        "Makefile",
        "X := 1\nY = a:b\n.PHONY: a\na b: c\n\techo d: e\n%.o: %.c\na:\n",
        &["a", "b"],
    );
    let json = r#"{"version": "2", "scripts": {"a": "b c"}, "devDependencies": {"d": "^1"}}"#;
    check(Scripts, "package.json", json, &["a: b c"]);
    check(Dependencies, "package.json", json, &["d: ^1"]);
    check(Version, "web/package.json", json, &["2"]);
    check(Version, "package.json", "{ broken", &[]);
    let toml = "[package]\nversion = \"1\"\n[dependencies]\na = \"1\"\n# no\n[dev-dependencies.b]\nversion = \"2\"\n[x]\ny = 1\n";
    check(Dependencies, "Cargo.toml", toml, &["a = \"1\"", "b"]);
    check(Version, "Cargo.toml", toml, &["version = \"1\""]);
    check(Dependencies, "pyproject.toml", "dependencies = [\"a>=1\", 'b']\n[x]\n", &["a>=1", "b"]);
    check(Dependencies, "pyproject.toml", "dependencies = [\n  \"a\",\n]\n", &["a"]);
    check(Dependencies, "requirements.txt", "# no\na==1\n-r other.txt\n", &["a==1"]);
    check(Dependencies, "go.mod", "module m\nrequire a v1\nrequire (\n\tb v2\n)\n", &["a v1", "b v2"]);
    check(Scripts, "pyproject.toml", "[project.scripts]\nrun = \"a:b\"\n", &["run = \"a:b\""]);
}

#[test]
fn lists_leave_out_what_is_git_s_own_and_say_when_they_are_cut() {
    let list = "[. holds 2 folders, 2 files]\n.git/\n.git/HEAD (9 bytes)\na/\na/b (2 bytes)\nc (10 bytes)\n";
    assert_eq!(files(list), "2 files:\n\n```\na/b\nc\n```");
    assert_eq!(largest(list, 1), "The largest file that the list shows is c, 10 bytes.");
    assert!(largest(list, 2).ends_with("- c, 10 bytes\n- a/b, 2 bytes"));
    let cut = format!("{list}[the list is cut here; name a folder in it as `path`, or use glob]\n");
    assert!(files(&cut).ends_with("The list is cut here; there are more."));
    assert!(files("[. is empty]\n").starts_with("I do not find a file"));
}
