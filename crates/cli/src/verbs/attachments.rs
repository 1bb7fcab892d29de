//! Files that go along with what is asked: read, measured and given a type before anything is sent.
//!
//! Invariant: a file's type is read from its bytes where they show it, so that a wrong extension has no effect.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use palyra_types::ErrorCode;
use palyra_types::attachment::{
    ATTACHMENT_BYTES_MAX, ATTACHMENT_NAME_CHARS_MAX, ATTACHMENTS_MAX, INPUT_ATTACHMENTS_BYTES_MAX,
};
use palyra_types::media_type::file_type;
use palyra_wire::v1;

use crate::failure::Failure;
use palyra_run_view::at_home;
use palyra_screen_text::bytes;

/// Reads files to send along.
pub(super) fn read(arguments: &[PathBuf]) -> Result<Vec<v1::Attachment>, Failure> {
    let files: Vec<PathBuf> = arguments.iter().flat_map(|argument| files_of(argument)).collect();
    if files.len() > ATTACHMENTS_MAX {
        let notice = format!("{} files are too many, at most {ATTACHMENTS_MAX} go along", files.len());
        return Err(refused(notice));
    }
    let mut attachments = Vec::new();
    for file in &files {
        attachments.push(read_one(file)?);
        check_together(&attachments)?;
    }
    Ok(attachments)
}

/// Returns the files that an argument names: several with commas between them, where none has the whole name.
fn files_of(argument: &Path) -> Vec<PathBuf> {
    // A shell replaces only a `~` at the beginning of a word.
    let home = std::env::home_dir();
    let part = |name| at_home(name, home.as_deref());
    let parts: Vec<PathBuf> =
        argument.to_str().map(|text| text.split(',').map(part).collect()).unwrap_or_default();
    let is_list = parts.len() > 1 && !argument.exists() && parts.iter().any(|part| part.is_file());
    if is_list { parts } else { vec![argument.to_owned()] }
}

/// Returns whether something is at each path that an argument names.
pub(super) fn is_there(argument: &Path) -> bool {
    files_of(argument).iter().all(|file| file.exists())
}

/// Refuses files that do not go together.
pub(super) fn check_together<'a>(files: impl IntoIterator<Item = &'a v1::Attachment>) -> Result<(), Failure> {
    let (mut number, mut total) = (0, 0);
    for file in files {
        number += 1;
        total += file.content.len();
    }
    if number > ATTACHMENTS_MAX {
        return Err(refused(format!("{number} files are too many, at most {ATTACHMENTS_MAX} go along")));
    }
    if total > INPUT_ATTACHMENTS_BYTES_MAX {
        let notice = format!("the files are larger than {} together", shown(INPUT_ATTACHMENTS_BYTES_MAX));
        return Err(refused(notice));
    }
    Ok(())
}

fn read_one(file: &Path) -> Result<v1::Attachment, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::unreadable_file(ErrorCode::AttachmentRefused, file, &error);
    // Asked before it is opened: opening a pipe waits for whoever writes to it.
    let kind = std::fs::metadata(file).map_err(unreadable)?;
    if kind.is_dir() {
        return Err(Failure::WithMend {
            code: ErrorCode::AttachmentRefused,
            message: format!("{} is a folder", file.display()),
            mend: "name files in it, or ask without attaching it: what is in the workspace can be read and searched"
                .to_owned(),
        });
    }
    if !kind.is_file() {
        return Err(refused(format!("{} is neither a file nor a folder", file.display())));
    }
    let opened = File::open(file).map_err(unreadable)?;
    let mut content = Vec::new();
    opened.take(ATTACHMENT_BYTES_MAX as u64 + 1).read_to_end(&mut content).map_err(unreadable)?;
    if content.len() > ATTACHMENT_BYTES_MAX {
        let notice = format!("{} is larger than {}", file.display(), shown(ATTACHMENT_BYTES_MAX));
        return Err(refused(notice));
    }
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    let media_type = file_type(&name, &content).to_owned();
    let name = name.chars().take(ATTACHMENT_NAME_CHARS_MAX).collect();
    Ok(v1::Attachment { name, media_type, bytes: content.len() as u64, content })
}

fn refused(notice: String) -> Failure {
    Failure::local(ErrorCode::AttachmentRefused, notice)
}

fn shown(limit: usize) -> String {
    bytes(limit as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_files_unless_a_file_has_the_whole_name() {
        let folder = tempfile::tempdir().unwrap();
        let named = |name: &str| folder.path().join(name).display().to_string();
        let names = |argument: &str| {
            let read = read(&[PathBuf::from(argument)]).map_err(|failure| failure.to_string());
            read.map(|files| files.into_iter().map(|file| file.name).collect::<Vec<_>>())
        };
        std::fs::write(named("a"), "1").unwrap();
        std::fs::write(named("b"), "2").unwrap();
        let list = format!("{},{}", named("a"), named("b"));
        assert_eq!(names(&list).unwrap(), ["a", "b"]);
        let missing = names(&format!("{},{}", named("a"), named("none"))).unwrap_err();
        assert!(missing.starts_with(&named("none")), "{missing}");
        std::fs::write(named("a,b"), "3").unwrap();
        assert_eq!(names(&named("a,b")).unwrap(), ["a,b"]);
        let no_list = names("/nowhere/c,d").unwrap_err();
        assert!(no_list.starts_with("/nowhere/c,d cannot be read"), "{no_list}");
    }

    #[test]
    fn what_does_not_go_is_refused_before_anything_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, size: usize| {
            let file = folder.path().join(name);
            File::create(&file).unwrap().set_len(size as u64).unwrap();
            file
        };
        let notice =
            |files: &[PathBuf]| read(files).map(|read| read.len()).map_err(|failure| failure.to_string());
        let small = file("small", 3);
        let read = read(std::slice::from_ref(&small)).unwrap();
        assert_eq!((read[0].name.as_str(), read[0].bytes), ("small", 3));
        assert!(notice(&vec![small; 33]).unwrap_err().starts_with("33 files are too many, at most 32"));
        assert!(
            notice(&[file("big", ATTACHMENT_BYTES_MAX + 1)]).unwrap_err().ends_with("is larger than 16.7 MB")
        );
        let half = file("half", INPUT_ATTACHMENTS_BYTES_MAX / 2 + 1);
        assert!(notice(&[half.clone(), half]).unwrap_err().contains("larger than 20.9 MB together"));
        assert!(notice(&[folder.path().to_owned()]).unwrap_err().ends_with("is a folder"));
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for file in [socket, "/dev/null".into()] {
            assert!(notice(&[file]).unwrap_err().ends_with(" is neither a file nor a folder"));
        }
        assert!(notice(&[folder.path().join("none")]).unwrap_err().contains("cannot be read"));
    }
}
