//! Words that are misspelled, words of other languages, and what people say for a word of the tables.

use super::words::{WordToken, words};

/// Words of other languages in which people begin: German, French, Spanish, Italian, Portuguese, Dutch.
const FOREIGN: &str = "abre alle archivo archivos arquivo auf aus bestand bitte borra busca cancella carpeta ce che cherche \
     comment cosa crea crée cuántas cuántos cómo das datei dateien dem den der des diese dieser dieses \
     doet dossier du durch dónde een eine einen el em ersetze erstell erstelle est esta este fait favor \
     fichier fichiers finde führe gibt hace hay het ich il ist je kannst la las le lee leer leggi leia \
     les lese lies lire lis los líneas lösche mach mache macht mich mir montre montre-moi mostra mostre \
     muestra muéstrame nach o ordner ouvre où peux peux-tu plaît por pourquoi progetto projekt projet \
     projeto proyecto puedes qu'est-ce que quel quelle quels quoi qué s'il schreib schreibe sind sont \
     suche supprime toon tu un una und une vous warum wat welche welcher wer wie wo zeig zeige ändere \
     öffne";

/// Words in which a letter too many, a missing one or two exchanged ones are mended.
const SPELLED: &str = "file files folder folders directory line lines words which what where many have does there tests \
     test function functions class classes method methods defined called named mention mentions contain \
     contains contents content changed last first commit commits branch everything everywhere message \
     project readme license largest biggest replace with from into list show read open create delete \
     remove rename status changes python markdown about empty text comment explain print execute please \
     size long this that history todos uses calls";

/// Small words as they are often misspelled.
const SLIPS: &[(&str, &str)] = &[
    ("teh", "the"),
    ("hte", "the"),
    ("taht", "that"),
    ("wiht", "with"),
    ("thsi", "this"),
    ("wich", "which"),
    ("wat", "what"),
    ("wht", "what"),
    ("wher", "where"),
    ("hwo", "how"),
    ("dose", "does"),
    ("lins", "lines"),
    ("fils", "files"),
    ("fiel", "file"),
    ("flie", "file"),
    ("fle", "file"),
    ("foler", "folder"),
    ("u", "you"),
    ("ur", "your"),
    ("r", "are"),
    ("wats", "what is"),
    ("wheres", "where is"),
    ("gimme", "give me"),
    ("lemme", "let me"),
    ("readem", "readme"),
    ("raedme", "readme"),
    ("tets", "tests"),
    ("tsts", "tests"),
    ("funtion", "function"),
    ("funtions", "functions"),
    ("definied", "defined"),
    ("defnied", "defined"),
    ("cotents", "contents"),
    ("directroy", "directory"),
    ("shwo", "show"),
    ("hav", "have"),
    ("fo", "of"),
    ("ot", "to"),
    ("od", "do"),
    ("si", "is"),
    ("ti", "it"),
    ("ni", "in"),
    ("dont", "don't"),
    ("im", "i'm"),
    ("biggset", "biggest"),
    ("liness", "lines"),
    ("whta", "what"),
    ("waht", "what"),
    ("tot", "to"),
];

/// Returns whether a word is one of another language.
pub(super) fn is_foreign_word(word: &str) -> bool {
    FOREIGN.split(' ').any(|known| known == word)
}

/// Returns the word for a typing mistake.
pub(super) fn correction_of(typed: &str) -> Option<&'static str> {
    const CHARS_MIN: usize = 4;
    let known = SLIPS.iter().find(|(slip, _)| *slip == typed).map(|(_, meant)| *meant);
    known.or_else(|| {
        let is_word = typed.chars().count() >= CHARS_MIN && typed.chars().all(char::is_alphabetic);
        let mut spelled = SPELLED.split(' ');
        if !is_word || spelled.clone().any(|word| word == typed) {
            return None;
        }
        spelled.find(|meant| is_slip(typed, meant))
    })
}

/// Returns whether two letters were exchanged, or one is missing or too many.
pub(super) fn is_slip(typed: &str, verb: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (typed.chars().collect(), verb.chars().collect());
    if a.len() == b.len() {
        let differing: Vec<usize> = (0..a.len()).filter(|at| a[*at] != b[*at]).collect();
        return matches!(differing.as_slice(), [i, j] if j - i == 1 && a[*i] == b[*j] && a[*j] == b[*i]);
    }
    let (long, short) = if a.len() > b.len() { (&a, &b) } else { (&b, &a) };
    // Short words have too many neighbours.
    let is_near = long.len() == short.len() + 1
        && short.len() >= 3
        && long[0] == short[0]
        && long.last() == short.last();
    is_near && (1..long.len()).any(|at| long[..at].iter().chain(&long[at + 1..]).eq(short.iter()))
}

/// What people say for a word of the tables; compared word by word, the longest first.
const PHRASES: &[(&str, &str)] = &[
    ("i want to see", "show"),
    ("i would like to see", "show"),
    ("i'd like to see", "show"),
    ("walk me through", "read"),
    ("have a peek at", "show"),
    ("run a search for", "search for"),
    ("do a search for", "search for"),
    ("a list of", "all"),
    ("let me see", "show"),
    ("let me know", "tell me"),
    ("can i see", "show"),
    ("get rid of", "delete"),
    ("is there any", "are there any"),
    ("i need", "show"),
    ("print out", "print"),
    ("list out", "list"),
    ("read out", "read"),
    ("open up", "open"),
    ("pull up", "open"),
    ("bring up", "open"),
    ("get me", "show me"),
    ("give me", "show me"),
    ("hand me", "show me"),
    ("spit out", "print"),
    ("throw away", "delete"),
    ("throw out", "delete"),
    ("look up", "search for"),
    ("hunt for", "search for"),
    ("scan for", "search for"),
    ("fire up", "run"),
    ("kick off", "run"),
    ("go through", "read"),
    ("look through", "read"),
    ("peek at", "show"),
    ("peek into", "show"),
    ("glance at", "show"),
    ("the thing", "it"),
    ("this thing", "it"),
    ("set up", "create"),
    ("spin up", "create"),
    ("turn up", "occur"),
    ("loc of", "lines of"),
    ("stick", "put"),
    ("tack", "add"),
    ("chuck", "put"),
    ("nuke", "delete"),
    ("trash", "delete"),
    ("ditch", "delete"),
    ("dump", "print"),
    ("launch", "run"),
    ("display", "show"),
    ("present", "show"),
    ("reveal", "show"),
    ("fetch me", "show me"),
    ("dir", "folder"),
    ("dirs", "folders"),
    ("directories", "folders"),
    ("subfolders", "folders"),
    ("doc", "file"),
    ("testsuite", "tests"),
    ("occurrences", "uses"),
    ("usage", "uses"),
    ("usages", "uses"),
    ("references", "uses"),
    ("calling", "calls"),
    ("amend", "edit"),
    ("alter", "change"),
    ("substitute", "replace"),
    ("produce", "create"),
    ("tell", "show"),
];

/// Says a sentence with the words of the tables.
pub(super) fn rephrased(clause: &[WordToken]) -> Option<Vec<WordToken>> {
    let mut out: Vec<WordToken> = Vec::new();
    let mut changed = false;
    let mut at = 0;
    while let Some(word) = clause.get(at) {
        let fits = |phrase: &str| {
            let mut count = 0;
            phrase
                .split(' ')
                .all(|part| {
                    count += 1;
                    clause.get(at + count - 1).is_some_and(|word| word.lower() == part)
                })
                .then_some(count)
        };
        let said = PHRASES.iter().find_map(|(phrase, meant)| Some((fits(phrase)?, *meant)));
        match said {
            Some((count, meant)) => {
                changed = true;
                out.extend(words(meant));
                at += count;
            }
            None => {
                out.push(word.clone());
                at += 1;
            }
        }
    }
    changed.then_some(out)
}
