//! Rules of projects as lines: the files of a folder, and those that are accepted.

use palyra_screen_text::clean_line;
use palyra_wire::v1;

use crate::{ERASED_MARK, date};

const PATH_CHARS_MAX: usize = 1_000;
/// Characters of a SHA-256.
const DIGEST_CHARS: usize = 64;
/// Characters of its beginning that name a file, at least.
const PREFIX_CHARS_MIN: usize = 8;

/// Says what a file of this folder is, with the command that accepts it.
pub fn project_file_lines(file: &v1::ProjectFile) -> String {
    let path = clean_line(&file.path, PATH_CHARS_MAX);
    match file.standing() {
        v1::ProjectFileStanding::Accepted => format!("{path} of this folder: rules"),
        v1::ProjectFileStanding::Data | v1::ProjectFileStanding::Unspecified => {
            format!("{path} of this folder: data\n        palyra approve rules --accept {}", file.sha256)
        }
    }
}

/// Returns the digest of the file that is to be accepted: named by its digest, by the beginning of it, or by its path.
///
/// # Errors
/// Why no file fits, or several do.
pub fn accepted_digest(named: &str, files: &[v1::ProjectFile]) -> Result<String, String> {
    let typed = named.trim().to_ascii_lowercase();
    let is_hex = typed.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Whether a file has it now, the daemon judges.
    if is_hex && typed.len() == DIGEST_CHARS {
        return Ok(typed);
    }
    let path = named.trim().trim_start_matches("./");
    let fits = |file: &&v1::ProjectFile| {
        file.path == path || (is_hex && typed.len() >= PREFIX_CHARS_MIN && file.sha256.starts_with(&typed))
    };
    let shown = clean_line(named, PATH_CHARS_MAX);
    match files.iter().filter(fits).collect::<Vec<_>>().as_slice() {
        [only] => Ok(only.sha256.clone()),
        [] => Err(format!(
            "--accept {shown}: no file of this folder has this path, or a SHA-256 that begins so (at least {PREFIX_CHARS_MIN} \
             characters); `palyra approve rules` lists the files"
        )),
        [_, ..] => Err(format!("--accept {shown}: several files fit; give more of the SHA-256, or the path")),
    }
}

/// Says which file is accepted, since when, and by which digest.
pub fn accepted_file_lines(one: &v1::AcceptedProjectRules) -> String {
    let place = match one.path.as_str() {
        "" => ERASED_MARK.to_owned(),
        path => clean_line(&format!("{}/{path}", one.workspace_root), PATH_CHARS_MAX),
    };
    format!("{}  {place}\n        accepted {}, {}", one.seq, date(one.accepted), one.sha256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_data_comes_with_the_command_that_accepts_it() {
        let mut file =
            v1::ProjectFile { path: "AGENTS.md".to_owned(), sha256: "ab".to_owned(), ..Default::default() };
        let data = "AGENTS.md of this folder: data\n        palyra approve rules --accept ab";
        assert_eq!(project_file_lines(&file), data);
        file.set_standing(v1::ProjectFileStanding::Accepted);
        assert_eq!(project_file_lines(&file), "AGENTS.md of this folder: rules");
    }

    #[test]
    fn a_file_is_accepted_by_its_digest_its_beginning_or_its_path() {
        let file = |path: &str, sha256: &str| v1::ProjectFile {
            path: path.to_owned(),
            sha256: sha256.repeat(16),
            ..Default::default()
        };
        let files = [file("AGENTS.md", "ab01"), file("docs/AGENTS.md", "cd23")];
        for named in ["AB01ab01", "./AGENTS.md", "AGENTS.md"] {
            assert_eq!(accepted_digest(named, &files).as_deref(), Ok(files[0].sha256.as_str()), "{named}");
        }
        assert_eq!(accepted_digest("docs/AGENTS.md", &files), Ok("cd23".repeat(16)));
        // The daemon refuses a digest that no file has.
        assert_eq!(accepted_digest(&"0".repeat(64), &files), Ok("0".repeat(64)));
        for named in ["ab01ab0", "README.md", ""] {
            let refused = accepted_digest(named, &files).unwrap_err();
            assert!(refused.starts_with(&format!("--accept {named}: no file")), "{refused}");
        }
        let twins = [files[0].clone(), file("b/AGENTS.md", "ab01")];
        assert!(accepted_digest("ab01ab01", &twins).unwrap_err().contains("several"));
    }

    #[test]
    fn an_accepted_file_has_its_number_and_its_place() {
        let mut accepted = v1::AcceptedProjectRules {
            seq: 41,
            workspace_root: "/work".to_owned(),
            path: "a/AGENTS.md".to_owned(),
            sha256: "ab".to_owned(),
            ..Default::default()
        };
        assert!(accepted_file_lines(&accepted).starts_with("41  /work/a/AGENTS.md\n"));
        accepted.path.clear();
        assert!(accepted_file_lines(&accepted).contains(ERASED_MARK));
    }
}
