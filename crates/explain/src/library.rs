//! The texts, taken from the files of `docs/` when the program is built.
//!
//! Invariant: every error code has its page here; a test compares this table with the codes and the files.

use palyra_types::ErrorCode;

macro_rules! pages {
    ($($number:literal)*) => {
        /// The number and the page of every error code, in order.
        pub(crate) const CODES: &[(u16, &str)] = &[$((
            $number,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors/PLY-", $number, ".md")),
        )),*];
    };
}

macro_rules! documents {
    ($($name:literal)*) => {
        /// The name, without its ending, and the text of every document that is part of the program.
        pub(crate) const DOCUMENTS: &[(&str, &str)] = &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/", $name, ".md")),
        )),*];
    };
}

pages! {
    1001 1002 1003 1004 1005 1006 1007 1008 1009 1010 1101 1102 1103 1104 1105 1106
    1107 1108 1109 1110 1111 1112 1113 1114 1115 1116 1117 1121 1122 1123 1124 1131 1132 1201 1202 1203 1204 1211 1212 1301 1302
    1401 1402 1403 1404 1405 1406 1407 1408 1411 1412 1413 2001 2002 2003 2004 2005 2006 2007 2008
    2009 2010 2011 2012 2013 2014 2015 3001 3002 3003 3004 3005 3006 3007 3008 3009
    3010 3011 3012 4001 4002 4003 4004 4005 4006 4007 4008 4009 4010 4011 4012 4013
    4014 4015 4016 4017 4018 4019 4101 4102 4103 4104 4105 4106 4107 4108 4109 4110
    4111 4112 4201 4202 4301 4302 4303 4304 4305 4501 4502 4503 4504 4601 4602 4603 4604
    4605 4606 4607 4701 4702 4703 4704 4705 4801 4802 4803 4804 4805 4806 4901 4902 4911 4912 4913 4921 5001
    5002 5003 5004 5005 5006 5007 5008 9001
}

documents! {
    "approvals"
    "background"
    "backup"
    "budgets"
    "cli"
    "components"
    "configuration"
    "console"
    "context"
    "demo-model"
    "erasure"
    "grpc"
    "http"
    "http-fetch"
    "learning"
    "memory"
    "model-failures"
    "notifications"
    "openai"
    "people"
    "policy"
    "providers"
    "redaction"
    "sandbox"
    "schedules"
    "self-healing"
    "service"
    "skills"
    "support-bundle"
    "tools"
    "usage"
    "vault"
    "verify"
}

/// Returns the page of an error code.
pub(crate) fn page_of(code: ErrorCode) -> &'static str {
    CODES.iter().find(|(number, _)| *number == code.number()).map_or(code.summary(), |(_, page)| page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_page_and_no_page_is_left_over() {
        let numbers: Vec<u16> = CODES.iter().map(|(number, _)| *number).collect();
        let codes: Vec<u16> = ErrorCode::ALL.iter().map(|code| code.number()).collect();
        assert_eq!(numbers, codes);
        for code in ErrorCode::ALL {
            let title = format!("# {code} {}\n", code.slug());
            assert!(page_of(*code).starts_with(&title), "{code}");
        }
    }

    #[test]
    fn the_texts_stay_small() {
        let bytes =
            CODES.iter().map(|(_, page)| page.len()).chain(DOCUMENTS.iter().map(|(_, text)| text.len()));
        assert!(bytes.sum::<usize>() < 512 * 1024);
    }

    /// Finds the documents that a text refers to as `docs/NAME.md`.
    fn named_in(text: &str) -> impl Iterator<Item = &str> {
        text.split("docs/")
            .skip(1)
            .filter_map(|rest| rest.split_once(".md").map(|(name, _)| name))
            .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
    }

    #[test]
    fn every_document_that_a_page_or_a_message_names_is_part_of_the_program() {
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut texts: Vec<(String, String)> = CODES
            .iter()
            .map(|(number, page)| (number.to_string(), page.replace("](../", "](docs/")))
            .collect();
        // The mends and the settings, whose texts people read.
        for file in ["types/src/error_code.rs", "daemon/src/config/schema.rs", "daemon/src/host_sandbox.rs"] {
            texts.push((file.to_owned(), std::fs::read_to_string(crates.join(file)).unwrap()));
        }
        let mut found = 0;
        for (place, text) in &texts {
            for name in named_in(text) {
                found += 1;
                assert!(DOCUMENTS.iter().any(|(known, _)| *known == name), "{place} names docs/{name}.md");
            }
        }
        assert!(found > 10, "{found}");
    }
}
