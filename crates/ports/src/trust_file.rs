//! The file of certificate authorities that the environment names in place of those of the machine.
//!
//! Owns what is said where a server's certificate is not accepted because of that file. Reads no file: what came of opening
//! it is handed in.

use std::io;
use std::path::Path;

/// The variable that names the file.
pub const TRUST_FILE_VARIABLE: &str = "SSL_CERT_FILE";

/// Says what to check about the file; `opened` is what came of opening it.
pub fn trust_file_hint<T>(file: &Path, opened: &io::Result<T>) -> String {
    let file = file.display();
    match opened {
        Err(error) => format!(
            "{TRUST_FILE_VARIABLE} names {file}, which cannot be read ({}): name a file with certificates of authorities, in \
             PEM format, or unset the variable",
            error.kind()
        ),
        Ok(_) => format!(
            "{TRUST_FILE_VARIABLE} names {file}, and no authority in it signed the certificate of the server: that file has \
             to hold the certificate of the authority, not the one of the server"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_differs_from_one_with_another_authority() {
        let file = Path::new("/etc/my.pem");
        let unreadable = trust_file_hint::<()>(file, &Err(io::ErrorKind::NotFound.into()));
        assert!(
            unreadable.starts_with("SSL_CERT_FILE names /etc/my.pem, which cannot be read"),
            "{unreadable}"
        );
        let other = trust_file_hint(file, &Ok(()));
        assert!(other.ends_with("the certificate of the authority, not the one of the server"), "{other}");
    }
}
