//! Words of one line: emphasis, program text and links become styles.
//!
//! Pure. Invariant: a construct without an end is shown with its signs. Begin at [`parse`].

use crate::palette::TextStyle;

/// Emphasis within emphasis that is looked for.
const NESTING_MAX: usize = 6;

/// Whether the line ends with the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextEnd {
    Yes,
    No,
}

/// Words with their styles.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StyledWords {
    pub(super) text: Vec<(char, TextStyle)>,
    /// Something began that did not end, so that more text would change what was read.
    pub(super) is_open: bool,
}

/// Reads words that are written in a style.
pub(super) fn parse(text: &str, style: TextStyle) -> StyledWords {
    let chars: Vec<char> = text.chars().collect();
    let mut parsed = StyledWords::default();
    read(&chars, style, 0, &mut parsed);
    parsed
}

fn read(chars: &[char], style: TextStyle, depth: usize, parsed: &mut StyledWords) {
    let mut at = 0;
    while at < chars.len() {
        at += match chars[at] {
            '\\' => escaped(&chars[at..], style, parsed),
            '`' => code(&chars[at..], style, parsed),
            '!' if chars.get(at + 1) == Some(&'[') && depth < NESTING_MAX => {
                let taken = link(&chars[at + 1..], style, depth, parsed);
                if taken > 0 { taken + 1 } else { as_it_is(&chars[at..=at], style, parsed) }
            }
            '[' if depth < NESTING_MAX => match link(&chars[at..], style, depth, parsed) {
                0 => as_it_is(&chars[at..=at], style, parsed),
                taken => taken,
            },
            '*' | '_' | '~' if depth < NESTING_MAX => emphasis(chars, at, style, depth, parsed),
            _ => as_it_is(&chars[at..=at], style, parsed),
        };
    }
}

fn as_it_is(chars: &[char], style: TextStyle, parsed: &mut StyledWords) -> usize {
    parsed.text.extend(chars.iter().map(|c| (*c, style)));
    chars.len()
}

fn escaped(chars: &[char], style: TextStyle, parsed: &mut StyledWords) -> usize {
    match chars.get(1) {
        Some(c) if c.is_ascii_punctuation() => as_it_is(&chars[1..2], style, parsed) + 1,
        _ => as_it_is(&chars[..1], style, parsed),
    }
}

fn run_length(chars: &[char]) -> usize {
    chars.iter().take_while(|c| Some(*c) == chars.first()).count()
}

/// Returns where program text ends that begins here, with the signs at both ends.
fn code_span(chars: &[char]) -> Option<(usize, usize)> {
    let signs = run_length(chars);
    let mut at = signs;
    while at < chars.len() {
        let run = if chars[at] == '`' { run_length(&chars[at..]) } else { 0 };
        if run == signs {
            return Some((signs, at));
        }
        at += run.max(1);
    }
    None
}

fn code(chars: &[char], style: TextStyle, parsed: &mut StyledWords) -> usize {
    let Some((signs, end)) = code_span(chars) else {
        parsed.is_open = true;
        return as_it_is(&chars[..run_length(chars)], style, parsed);
    };
    let inner = &chars[signs..end];
    let is_padded = inner.len() > 2 && inner.first() == Some(&' ') && inner.last() == Some(&' ');
    let inner = if is_padded && inner.iter().any(|c| *c != ' ') { &inner[1..inner.len() - 1] } else { inner };
    // Signs alone, such as `..`, look like a part of the sentence without their quotes.
    let is_signs = !inner.iter().any(|c| c.is_alphanumeric());
    let shown = if is_signs { &chars[..end + signs] } else { inner };
    as_it_is(shown, TextStyle { code: true, ..style }, parsed);
    end + signs
}

/// Reads `[words](address)`; returns its length, `None` without a link.
fn link(chars: &[char], style: TextStyle, depth: usize, parsed: &mut StyledWords) -> usize {
    let Some(end) = closing(chars, '[', ']') else {
        parsed.is_open = true;
        return 0;
    };
    let behind = &chars[end + 1..];
    match behind.first() {
        Some('(') => {}
        Some(_) => return 0,
        None => {
            parsed.is_open = true;
            return 0;
        }
    }
    let Some(address_end) = closing(behind, '(', ')') else {
        parsed.is_open = true;
        return 0;
    };
    let (words, address) = (&chars[1..end], &behind[1..address_end]);
    if !words.is_empty() {
        read(words, TextStyle { underlined: true, ..style }, depth + 1, parsed);
    }
    if words != address {
        let open = if words.is_empty() { "(" } else { " (" };
        let shown: Vec<char> = open.chars().chain(address.iter().copied()).chain([')']).collect();
        as_it_is(&shown, style, parsed);
    }
    end + 1 + address_end + 1
}

/// Returns where a bracket closes that opens here.
fn closing(chars: &[char], open: char, close: char) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 1,
            '`' => {
                at +=
                    code_span(&chars[at..]).map_or(run_length(&chars[at..]), |(signs, end)| end + signs) - 1;
            }
            c if c == open => depth += 1,
            c if c == close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn emphasis(chars: &[char], at: usize, style: TextStyle, depth: usize, parsed: &mut StyledWords) -> usize {
    let (sign, signs) = (chars[at], run_length(&chars[at..]));
    let run = &chars[at..at + signs];
    let kinds = if sign == '~' { 2..=2 } else { 1..=3 };
    if !kinds.contains(&signs) || !opens(chars, at, signs) {
        return as_it_is(run, style, parsed);
    }
    let Some(end) = emphasis_end(chars, at, signs) else {
        parsed.is_open = true;
        return as_it_is(run, style, parsed);
    };
    if sign == '_' && is_name(&chars[at..end + signs], signs) {
        return as_it_is(&chars[at..end + signs], style, parsed);
    }
    let within = match (sign, signs) {
        ('~', _) => TextStyle { struck: true, ..style },
        (_, 1) => TextStyle { italic: true, ..style },
        (_, 2) => TextStyle { bold: true, ..style },
        _ => TextStyle { bold: true, italic: true, ..style },
    };
    read(&chars[at + signs..end], within, depth + 1, parsed);
    end + signs - at
}

/// Returns whether two signs on both sides belong to a name in program text, such as `__init__`.
fn is_name(chars: &[char], signs: usize) -> bool {
    let inner = &chars[signs..chars.len() - signs];
    signs == 2 && inner.len() > 1 && inner.iter().all(|c| c.is_ascii_alphanumeric() || *c == '_')
}

/// Returns whether signs can begin an emphasis: a word follows, and they are not inside a word.
fn opens(chars: &[char], at: usize, signs: usize) -> bool {
    let before = at.checked_sub(1).map(|at| chars[at]);
    let Some(after) = chars.get(at + signs) else { return false };
    let follows_word = before.is_some_and(char::is_alphanumeric);
    let within = chars[at] == '_' || after.is_ascii_punctuation();
    let in_path = chars[at] == '_' && before.is_some_and(|c| matches!(c, '/' | '.'));
    !(after.is_whitespace() || in_path || follows_word && within)
}

/// Returns where the signs begin that end an emphasis.
fn emphasis_end(chars: &[char], begin: usize, signs: usize) -> Option<usize> {
    let sign = chars[begin];
    let mut at = begin + signs;
    while at < chars.len() {
        at += match chars[at] {
            '\\' => 2,
            '`' => code_span(&chars[at..]).map_or(run_length(&chars[at..]), |(signs, end)| end + signs),
            c if c == sign => {
                let run = run_length(&chars[at..]);
                let after = chars.get(at + run);
                let within = sign == '_' && after.is_some_and(|c| c.is_alphanumeric());
                let closes = !(chars[at - 1].is_whitespace() || within);
                if closes && (run == signs || run > 2 && run > signs) {
                    return Some(at + run - signs);
                }
                run
            }
            _ => 1,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns words with a letter before each change of style.
    fn shown(text: &str) -> String {
        let (mut shown, mut last) = (String::new(), TextStyle::default());
        for (c, style) in parse(text, TextStyle::default()).text {
            if style != last {
                let letters = [
                    (style.bold, 'B'),
                    (style.italic, 'I'),
                    (style.underlined, 'U'),
                    (style.struck, 'S'),
                    (style.code, 'C'),
                ];
                let letters: String =
                    letters.into_iter().filter(|(is_on, _)| *is_on).map(|(_, letter)| letter).collect();
                shown.push_str(&format!("<{letters}>"));
                last = style;
            }
            shown.push(c);
        }
        shown
    }

    #[test]
    fn words_have_their_styles_and_what_is_open_keeps_its_signs() {
        for (text, expect, is_open) in [
            ("plain", "plain", false),
            ("a **b c** d", "a <B>b c<> d", false),
            ("*b* _c_ __d__ ***e***", "<I>b<> <I>c<> <B>d<> <BI>e", false),
            ("**a *b* c**", "<B>a <BI>b<B> c", false),
            ("**a *b***", "<B>a <BI>b", false),
            ("*a **b** c*", "<I>a <BI>b<I> c", false),
            ("~~a~~ ~b~", "<S>a<> ~b~", false),
            ("`a *b*` c", "<C>a *b*<> c", false),
            ("without `..`. And `/` or `` ` ``", "without <C>`..`<>. And <C>`/`<> or <C>`` ` ``", false),
            ("`` a`b `` c", "<C>a`b<> c", false),
            (
                "src/__init__.py:1: if __name__ == \"__main__\":",
                "src/__init__.py:1: if __name__ == \"__main__\":",
                false,
            ),
            ("__pycache__/ src/_old_/a a._b_", "__pycache__/ src/_old_/a a._b_", false),
            ("__so it is__ (_so_)", "<B>so it is<> (<I>so<>)", false),
            ("2 * 3 * 4, a_b_c, 5*(3)", "2 * 3 * 4, a_b_c, 5*(3)", false),
            ("**a", "**a", true),
            ("`a", "`a", true),
            ("[a", "[a", true),
            ("[a](b", "[a](b", true),
            ("[a] [1] x[0] = y[i](z)", "[a] [1] x[0] = y<U>i<> (z)", false),
            ("[a *b*](http://c) d", "<U>a <IU>b<> (http://c) d", false),
            ("[http://c](http://c)", "<U>http://c", false),
            ("![a](b.png)", "<U>a<> (b.png)", false),
            ("[](b)", "(b)", false),
            ("\\*a\\* \\[b\\](c) \\d", "*a* [b](c) \\d", false),
            ("**`a`**: b", "<BC>a<>: b", false),
            ("****", "****", false),
        ] {
            assert_eq!(
                (shown(text).as_str(), parse(text, TextStyle::default()).is_open),
                (expect, is_open),
                "{text}"
            );
        }
    }
}
