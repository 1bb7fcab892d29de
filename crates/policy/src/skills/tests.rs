//! Front matters as people write them, folders as attackers do, and what a skill leaves.

use std::collections::BTreeSet;

use palyra_types::tool::ToolName;
use proptest::prelude::*;

use super::*;
use crate::fixture;

fn check(text: &str, expect: &str) {
    let shown = match read_skill(text) {
        Ok(SkillText { manifest, body }) => {
            let tools = manifest
                .allowed_tools
                .map(|tools| tools.iter().map(ToString::to_string).collect::<Vec<_>>().join("+"));
            let tools = tools.unwrap_or_else(|| "all".to_owned());
            format!("{}: {} [{tools}] {}", manifest.name, manifest.description, body.trim())
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expect, "{:?}", text.chars().take(200).collect::<String>());
}

fn with(more: &str) -> String {
    format!("---\nname: notes\ndescription: Takes notes.\n{more}---\n# Notes\n")
}

#[test]
fn a_front_matter_is_read() {
    check(&with(""), "notes: Takes notes. [all] # Notes");
    check(&with("").replace('\n', "\r\n"), "notes: Takes notes. [all] # Notes");
    check(&format!("\u{feff}{}", with("")), "notes: Takes notes. [all] # Notes");
    check(
        &with("allowed-tools: read_file, write_file\n"),
        "notes: Takes notes. [read_file+write_file] # Notes",
    );
    check(&with("allowed-tools: [read_file, \"glob\"]\n"), "notes: Takes notes. [glob+read_file] # Notes");
    check(&with("allowed-tools:\n  - read_file\n- glob\n"), "notes: Takes notes. [glob+read_file] # Notes");
    check(&with("allowed-tools:\n"), "notes: Takes notes. [] # Notes");
    check(
        &with("license: MIT\nmetadata:\n  author: me\n  allowed-tools: x\n"),
        "notes: Takes notes. [all] # Notes",
    );
    check("---\nname: a\ndescription: 'b: c'\n---\nText\n---\nmore", "a: b: c [all] Text\n---\nmore");
}

#[test]
fn a_mistake_is_told_with_its_place_and_a_mend() {
    check(
        "name: x\n",
        "SKILL.md:1:1: it does not begin with a front matter; put its members between two lines of `---`",
    );
    check(
        "",
        "SKILL.md:1:1: it does not begin with a front matter; put its members between two lines of `---`",
    );
    check(
        "---\nname: x\n",
        "SKILL.md:2:1: the front matter does not end; put a line of `---` behind its members",
    );
    check(
        "---\nname: x\n---\n",
        "SKILL.md: `description` is missing; add `description: ...` to the front matter",
    );
    check(
        &with("allowed-tools: a\nallowed-tools: b\n"),
        "SKILL.md:5:1: the key is said twice; keep one of them",
    );
    check(
        &with("allowed-tools: *all\n"),
        "SKILL.md:4:16: the value could be read in two ways; put it in quotes",
    );
    check(
        &with("allowed-tools: &x a\n"),
        "SKILL.md:4:16: the value could be read in two ways; put it in quotes",
    );
    check(&with("x:  a: b\n"), "SKILL.md:4:5: the value could be read in two ways; put it in quotes");
    check(&with("x: a # b\n"), "SKILL.md:4:4: the value could be read in two ways; put it in quotes");
    check(
        &with("x: \"a\\n\"\n"),
        "SKILL.md:4:4: the quotes are not plain; use one pair, with no quote or `\\` in it",
    );
    check(&with("- read_file\n"), "SKILL.md:4:1: a list item belongs to no key; put it below `key:`");
    check(&with("  more\n"), "SKILL.md:4:3: a value goes on over several lines; write it on one line");
    check(&with("lonely\n"), "SKILL.md:4:1: it is not `key: value`; write it so, or remove it");
    let name = "the value does not fit; use 1 to 64 of `a-z`, `0-9` and single `-` between them";
    for bad in ["Notes", "-a", "a-", "a--b", "n\u{43e}tes", "../a", "a/b", "a b", &"a".repeat(65)] {
        check(&format!("---\nname: {bad}\ndescription: x\n---\n"), &format!("SKILL.md:2:7: {name}"));
    }
    let description = "SKILL.md:3:14: the value does not fit; use 1 to 1,024 visible characters";
    for bad in ["a\u{202e}b", "a\u{200b}", "a\u{1b}[31m", "\u{e0041}x", &"x".repeat(1_025)] {
        check(&format!("---\nname: a\ndescription: {bad}\n---\n"), description);
    }
    check(
        "---\nname: a\ndescription: >\n  long\n---\n",
        "SKILL.md:3:14: a text of several lines is not read; write it on one line",
    );
    check(
        "---\nname: a\ndescription:\n  - long\n---\n",
        "SKILL.md:4:5: the value does not fit; use 1 to 1,024 visible characters",
    );
    let long = format!("---\n{}---\n", "# filler\n".repeat(FRONT_MATTER_BYTES_MAX / 8));
    check(
        &long,
        "SKILL.md:1822:1: the front matter has more than 16384 bytes; say it behind the front matter",
    );
    let many: String = (0..=ALLOWED_TOOLS_MAX).map(|n| format!("t{n} ")).collect();
    check(
        &with(&format!("allowed-tools: {many}\n")),
        "SKILL.md:4:16: it names more than 64 tools; name those that it needs",
    );
}

#[test]
fn words_that_would_widen_are_names_of_no_tool() {
    let names =
        ["\"*\"", "all", "any", "Read_File", "READ_FILE", "read\u{5f}file\u{301}", "write_file(*)", "!glob"];
    for word in &names[..7] {
        let text = with(&format!("allowed-tools: {word}\n"));
        let tools = read_skill(&text).unwrap().manifest.allowed_tools;
        let skill =
            ActiveSkill { name: "x".to_owned(), allowed_tools: tools, standing: SkillStanding::Trusted };
        for tool in ["read_file", "write_file", "glob"] {
            assert_eq!(
                forbidding_skill(std::slice::from_ref(&skill), &ToolName::new(tool)),
                Some("x"),
                "{word}"
            );
        }
    }
    assert!(read_skill(&with(&format!("allowed-tools: {}\n", names[7]))).is_err());
    let pretending = "permitted-tools: write_file\npermissions: all\nalways-allow: true\n";
    let narrow = format!("allowed-tools: glob\n{pretending}");
    let tools = read_skill(&with(&narrow)).unwrap().manifest.allowed_tools.unwrap();
    assert_eq!(tools, BTreeSet::from([ToolName::new("glob")]));
}

#[test]
fn a_folder_holds_plain_names_and_no_twins() {
    let check = |paths: &[&str], expect: &str| {
        let shown = check_folder(paths.iter().copied())
            .map_or_else(|fault| fault.to_string(), |()| "fine".to_owned());
        assert_eq!(shown, expect, "{paths:?}");
    };
    check(&["SKILL.md", "scripts/run it.sh", "references/a.b-c_d+e.md"], "fine");
    check(&["a.md"], "it holds no `SKILL.md`");
    check(&["skill.md"], "it holds no `SKILL.md`; `skill.md` has to be called so");
    check(&["a/SKILL.md"], "it holds no `SKILL.md`");
    check(&["SKILL.md", "skill.md"], "`SKILL.md` and `skill.md` differ only in case; rename one of them");
    check(&["A/x", "SKILL.md", "a/y"], "`A` and `a` differ only in case; rename one of them");
    let odd = "has a part that is not a plain name; rename it";
    for bad in ["../x", "a/../b", "/etc/passwd", "a//b", "./a", "a/.", "a. ", "a.", " a", "a/ b", ""] {
        check(&["SKILL.md", bad], &format!("`{bad}` {odd}"));
    }
    let ascii =
        r#"has a character in its name that other systems read differently; use ASCII without \:*?"<>|"#;
    for bad in ["a\\b", "c:x", "a\u{301}", "\u{212a}", "a\nb", "a\0", "a\u{202e}b", "a|b"] {
        check(&["SKILL.md", bad], &format!("`{}` {ascii}", bad.escape_debug()));
    }
    check(
        &["SKILL.md", &"d/".repeat(8)],
        &format!("`{}` is more than 8 levels deep; move it up", "d/".repeat(8)),
    );
    let long = "x".repeat(241);
    check(&["SKILL.md", &long], &format!("`{long}` has a path of more than 240 bytes; shorten it"));
}

#[test]
fn the_text_of_a_folder_tells_every_difference() {
    let file = |path, mode, bytes, first| SkillFolderFile { path, mode, bytes, sha256: [first; 32] };
    let skill = file("SKILL.md", FileMode::Plain, 3, 1);
    let text = folder_text(&[skill, file("a", FileMode::Plain, 1, 2)]);
    assert_eq!(folder_text(&[file("a", FileMode::Plain, 1, 2), skill]), text, "the order does not matter");
    assert!(text.starts_with("palyra skill folder 1\nplain 3 0101"), "{text}");
    let others = [
        vec![skill],
        vec![skill, file("b", FileMode::Plain, 1, 2)],
        vec![skill, file("a", FileMode::Executable, 1, 2)],
        vec![skill, file("a", FileMode::Plain, 2, 2)],
        vec![skill, file("a", FileMode::Plain, 1, 3)],
        vec![skill, file("a", FileMode::Plain, 1, 2), file("c", FileMode::Plain, 0, 0)],
    ];
    for other in others {
        assert_ne!(folder_text(&other), text);
    }
}

fn skill(name: &str, tools: Option<&[&str]>, standing: SkillStanding) -> ActiveSkill {
    let allowed_tools = tools.map(|names| names.iter().map(|name| ToolName::new(name)).collect());
    ActiveSkill { name: name.to_owned(), allowed_tools, standing }
}

#[test]
fn a_skill_narrows_and_one_that_changed_takes_part_in_nothing() {
    let trusted = standing(&[1; 32], &[1; 32]);
    let changed = standing(&[1; 32], &[2; 32]);
    let forbids = |skills: &[ActiveSkill], tool: &str| {
        forbidding_skill(skills, &ToolName::new(tool)).unwrap_or("nobody").to_owned()
    };
    let (wide, narrow) = (skill("wide", None, trusted), skill("narrow", Some(&["glob"]), trusted));
    assert_eq!(forbids(&[], "glob"), "nobody");
    assert_eq!(forbids(std::slice::from_ref(&wide), "glob"), "nobody");
    assert_eq!(forbids(&[wide.clone(), narrow.clone()], "glob"), "nobody");
    assert_eq!(forbids(&[wide.clone(), narrow.clone()], "read_file"), "narrow");
    assert_eq!(forbids(&[narrow, skill("other", Some(&["read_file"]), trusted)], "glob"), "other");
    assert_eq!(forbids(&[wide, skill("changed", None, changed)], "glob"), "changed");
}

#[test]
fn tools_that_do_not_exist_are_named_with_what_was_meant() {
    let catalog = fixture::catalog();
    let named = ["Read-File", "read_file", "Bash(git:*)"].map(ToolName::new);
    let told: Vec<_> = unknown_tools(&named, &catalog)
        .into_iter()
        .map(|unknown| (unknown.name.to_string(), unknown.near.map(|near| near.to_string())))
        .collect();
    assert_eq!(
        told,
        [("Read-File".to_owned(), Some("read_file".to_owned())), ("Bash(git:*)".to_owned(), None)]
    );
}

const TOOLS: [&str; 5] = ["read_file", "glob", "write_file", "edit_file", "ask_user"];

fn any_skill() -> impl Strategy<Value = ActiveSkill> {
    let tools = proptest::option::of(proptest::sample::subsequence(TOOLS.to_vec(), 0..=TOOLS.len()));
    let standings = prop_oneof![4 => Just(SkillStanding::Trusted), 1 => Just(SkillStanding::Quarantined)];
    (tools, standings).prop_map(|(tools, standing)| skill("any", tools.as_deref(), standing))
}

fn left(skills: &[ActiveSkill]) -> BTreeSet<&'static str> {
    TOOLS.into_iter().filter(|tool| forbidding_skill(skills, &ToolName::new(tool)).is_none()).collect()
}

proptest! {
    #[test]
    fn one_skill_more_never_leaves_more(skills in proptest::collection::vec(any_skill(), 0..6), more in any_skill()) {
        let before = left(&skills);
        for place in 0..=skills.len() {
            let mut with = skills.clone();
            with.insert(place, more.clone());
            prop_assert!(left(&with).is_subset(&before));
        }
    }

    #[test]
    fn reading_never_panics_and_what_is_read_keeps_its_bounds(text in "(---\n)?(name: ?[a-z-]{0,70}\n)?([ -~\u{e9}\u{202e}\t]{0,40}\n){0,6}(---\n)?.{0,20}") {
        if let Ok(SkillText { manifest, body }) = read_skill(&text) {
            prop_assert!(text.ends_with(body));
            prop_assert!(!manifest.name.is_empty() && manifest.name.len() <= 64);
            prop_assert!(!manifest.description.contains(char::is_control));
            prop_assert!(manifest.allowed_tools.is_none_or(|tools| tools.len() <= ALLOWED_TOOLS_MAX));
        }
    }

    #[test]
    fn an_allowed_path_leads_nowhere_else(path in "[a.A/ \\\\~\u{e9}-]{0,12}") {
        if check_folder([path.as_str(), SKILL_FILE_NAME]).is_ok() {
            let plain = |part| matches!(part, std::path::Component::Normal(_));
            prop_assert!(std::path::Path::new(&path).components().all(plain));
            prop_assert_eq!(std::path::Path::new(&path).components().count(), path.split('/').count());
        }
    }
}
