//! The next step after a call that failed, where the failure alone names none.

use palyra_screen_text::{clean_line, shell_word};
use palyra_types::ErrorCode;

/// Errors that programs print when they write where they may not: `EROFS`, `EACCES`, and that of a shell below a folder
/// which does not exist in the sandbox.
const CLOSED_SIGNS: [&str; 3] = ["Read-only file system", "Permission denied", "Directory nonexistent"];
/// Such a sign about something else: a key that a server refuses, and a file that may not be run.
const OTHER_SIGNS: [&str; 2] = ["Permission denied (publickey", "Permission denied, please try again"];
/// The exit code of a shell for a file that may not be run.
const NOT_EXECUTABLE: &str = "exit code 126";
const HOST_CHARS_MAX: usize = 200;

/// Returns what to do after a call failed with a code, and with what the tool said.
pub(super) fn next_step(code: &str, output: &str) -> Option<String> {
    let is = |wanted: ErrorCode| wanted.to_string() == code;
    let is_closed = has_sign(output, &CLOSED_SIGNS) && !has_sign(output, &OTHER_SIGNS);
    if is(ErrorCode::CommandFailed) && is_closed && output.starts_with(NOT_EXECUTABLE) {
        return Some(
            "a file that is not marked as a program cannot be run: `chmod +x FILE` marks it, or ask for its interpreter, such as \
             `sh FILE`"
                .to_owned(),
        );
    }
    if is(ErrorCode::CommandFailed) && is_closed {
        return Some(
            "programs reach the workspace of the run and the system's programs, and write there and in a `/tmp` of their own only; `--workspace DIR` of `palyra run` \
             and `palyra chat` chooses another folder"
                .to_owned(),
        );
    }
    if is(ErrorCode::SecretNotFound) {
        return Some(
            "`palyra admin vault list` lists your secrets, `palyra admin vault put NAME` saves one; then ask again with its name"
                .to_owned(),
        );
    }
    if is(ErrorCode::FetchStatus) { after_status(output) } else { None }
}

fn has_sign(output: &str, signs: &[&str]) -> bool {
    signs.iter().any(|sign| output.contains(sign))
}

/// Returns what to do after the status of an answer, which begins with `HTTP STATUS from ADDRESS`.
fn after_status(output: &str) -> Option<String> {
    let head = output.lines().find(|line| line.contains("HTTP "))?;
    let head = head.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(head);
    let (_, said) = head.split_once("HTTP ")?;
    let mut words = said.split(' ');
    let status: u16 = words.next()?.parse().ok()?;
    let address = words.nth(1).unwrap_or_default().trim_end_matches([';', ',']);
    Some(match (status, address.split_once("://")) {
        (401 | 403, Some(("https", rest))) => {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let host = shell_word(&clean_line(host.trim_end_matches(":443"), HOST_CHARS_MAX));
            format!(
                "the server wants to know who asks: `palyra admin vault list` shows your secrets, `palyra admin vault put NAME \
                 --host {host}` saves one for it; then ask again and name the secret"
            )
        }
        (401 | 403, _) => {
            "the server wants to know who asks, and secrets are sent over https:// only: name its https:// address if it has one; a \
             server that speaks http:// alone gets none"
                .to_owned()
        }
        (408 | 429 | 500.., _) => "the server may answer later: ask again in a while".to_owned(),
        (404 | 410, _) => "the server has nothing at that address: check it, then ask again".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_writes_elsewhere_leads_to_another_workspace() {
        for sign in CLOSED_SIGNS {
            let output = format!("exit code 1\n\nsh: 1: cannot create /etc/a: {sign}");
            let step = next_step("PLY-4501", &output).unwrap();
            assert!(step.contains("`--workspace DIR`"), "{step}");
            assert_eq!(next_step("PLY-4502", &output), None);
        }
        assert_eq!(next_step("PLY-4501", "exit code 1\n\n2 tests failed"), None);
        let script = next_step("PLY-4501", "exit code 126\n\nsh: 1: ./t.sh: Permission denied").unwrap();
        assert!(script.contains("`chmod +x FILE`") && !script.contains("--workspace"), "{script}");
        let key = "exit code 255\n\ngit@forge: Permission denied (publickey).";
        assert_eq!(next_step("PLY-4501", key), None);
    }

    #[test]
    fn a_secret_that_is_not_there_leads_to_the_list_of_secrets() {
        let output = "the credential `tied` is not available: there is no secret `tied`; nothing was sent";
        let step = next_step("PLY-4601", output).unwrap();
        for command in ["`palyra admin vault list`", "`palyra admin vault put NAME`"] {
            assert!(step.contains(command), "{step}");
        }
        assert_eq!(next_step("PLY-4602", output), None);
    }

    #[test]
    fn a_status_leads_to_what_may_change_it() {
        for (head, wanted) in [
            ("HTTP 401 from https://api.example/a?b", "palyra admin vault put NAME --host api.example`"),
            (
                "HTTP 403 from https://api.example:8443/",
                "palyra admin vault put NAME --host api.example:8443`",
            ),
            ("HTTP 401 from http://127.0.0.1:8080/", "https:// only"),
            ("HTTP 404 from https://api.example/a; redirected", "check it"),
            ("HTTP 503 from https://api.example/", "in a while"),
        ] {
            let step = next_step("PLY-4704", &format!("{head}\n\nno")).unwrap();
            assert!(step.contains(wanted), "{head}: {step}");
        }
        for output in ["HTTP 418 from https://h/", "no status", "HTTP many from https://h/"] {
            assert_eq!(next_step("PLY-4704", output), None, "{output}");
        }
    }
}
