//! Rules of projects as lines: the files of a folder, and those that are accepted.

use palyra_screen_text::clean_line;
use palyra_wire::v1;

use crate::{ERASED_MARK, date};

const PATH_CHARS_MAX: usize = 1_000;

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
