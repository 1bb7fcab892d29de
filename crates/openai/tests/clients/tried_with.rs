//! The table of clients in the documentation is true to the programs: each cell has words of them.

use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../../../docs/openai.md");

/// Where programs are, below the crate.
const FOLDERS: [&str; 3] =
    ["tests/clients/programs", "../palyra/tests/e2e/openai_clients", "../palyra/tests/e2e"];

/// The texts between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The rows of the table that begins with this head, as cells.
fn table(head: &str) -> Vec<Vec<&'static str>> {
    let (_, behind) = PAGE.split_once(head).expect("the table is there");
    let rows = behind.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The programs of one client, joined.
fn programs(names: &[&str]) -> String {
    let mut texts = String::new();
    for name in names {
        let places = FOLDERS.map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name));
        let found: Vec<PathBuf> = places.into_iter().filter(|path| path.is_file()).collect();
        assert!(!found.is_empty(), "{name} is not there");
        for path in found {
            texts.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    texts
}

#[test]
fn each_cell_of_the_table_of_clients_has_words_of_their_programs() {
    let clients = table("| client | programs of the tests |");
    let texts: Vec<String> = clients.iter().map(|row| programs(&quoted(row[1]))).collect();
    assert_eq!(texts.len(), 5);
    let scenarios = table("| | Python | Node | LangChain | AI SDK | Codex |");
    assert_eq!(scenarios.len(), 10);
    for scenario in scenarios {
        assert_eq!(scenario.len(), 6, "{scenario:?}");
        for (cell, text) in scenario[1..].iter().zip(&texts) {
            let words = quoted(cell);
            assert!(!words.is_empty(), "{}: an empty cell", scenario[0]);
            for words in words {
                assert!(text.contains(words), "{}: no program has `{words}`", scenario[0]);
            }
        }
    }
}
