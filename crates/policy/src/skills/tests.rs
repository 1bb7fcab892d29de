//! Front matters as people write them, and what a skill leaves.

use super::*;

fn check(text: &str, expect: &str) {
    let shown = match read_manifest(text) {
        Ok(manifest) => {
            let tools = manifest
                .allowed_tools
                .map(|tools| tools.iter().map(ToString::to_string).collect::<Vec<_>>().join("+"));
            format!(
                "{}: {} [{}]",
                manifest.name,
                manifest.description,
                tools.unwrap_or_else(|| "all".to_owned())
            )
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expect, "{text:?}");
}

#[test]
fn a_front_matter_is_read_or_refused() {
    let with = |more: &str| format!("---\nname: notes\ndescription: Takes notes.\n{more}---\n# Notes\n");
    check(&with(""), "notes: Takes notes. [all]");
    check(&with("allowed-tools: read_file, write_file\n"), "notes: Takes notes. [read_file+write_file]");
    check(&with("allowed-tools: [read_file, \"glob\"]\n"), "notes: Takes notes. [glob+read_file]");
    check(&with("allowed-tools:\n  - read_file\n  - glob\n"), "notes: Takes notes. [glob+read_file]");
    check(&with("allowed-tools:\n"), "notes: Takes notes. []");
    check(&with("license: MIT\nmetadata:\n  author: me\n"), "notes: Takes notes. [all]");
    check("name: x\n", "it does not begin with a front matter between two lines of `---`");
    check("---\nname: x\n", "it does not begin with a front matter between two lines of `---`");
    check("---\nname: x\n---\n", "`description` is missing");
    check(&with("allowed-tools: a\nallowed-tools: b\n"), "line 5 cannot be read: the key is said twice");
    check(&with("allowed-tools: *all\n"), "line 4 cannot be read: the value is not plain text");
    check(&with("allowed-tools: &x a\n"), "line 4 cannot be read: the value is not plain text");
    check(&with("- read_file\n"), "line 4 cannot be read: a list item belongs to no key");
    check(
        "---\nname: Notes\ndescription: x\n---\n",
        "`name` has to be lower-case letters, digits and `-`, at most 64",
    );
    check(
        "---\nname: a\ndescription: >\n  long\n---\n",
        "line 3 cannot be read: the value is not plain text",
    );
    let long = format!("---\n{}---\n", "# filler\n".repeat(FRONT_MATTER_BYTES_MAX / 8));
    check(&long, "its front matter has more than 16384 bytes");
}

#[test]
fn a_skill_narrows_and_one_that_changed_takes_part_in_nothing() {
    let tools = |names: &[&str]| Some(names.iter().map(|name| ToolName::new(name)).collect());
    let skill =
        |name: &str, allowed_tools, standing| ActiveSkill { name: name.to_owned(), allowed_tools, standing };
    let trusted = standing(&[1; 32], &[1; 32]);
    let changed = standing(&[1; 32], &[2; 32]);
    let forbids = |skills: &[ActiveSkill], tool: &str| {
        forbidding_skill(skills, &ToolName::new(tool)).unwrap_or("nobody").to_owned()
    };
    let (wide, narrow) = (skill("wide", None, trusted), skill("narrow", tools(&["glob"]), trusted));
    assert_eq!(forbids(&[], "glob"), "nobody");
    assert_eq!(forbids(std::slice::from_ref(&wide), "glob"), "nobody");
    assert_eq!(forbids(&[wide.clone(), narrow.clone()], "glob"), "nobody");
    assert_eq!(forbids(&[wide.clone(), narrow.clone()], "read_file"), "narrow");
    assert_eq!(forbids(&[narrow, skill("other", tools(&["read_file"]), trusted)], "glob"), "other");
    assert_eq!(forbids(&[wide, skill("changed", None, changed)], "glob"), "changed");
}
