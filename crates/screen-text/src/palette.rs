//! The colours and weights of everything that is written to a terminal.
//!
//! Owns the escape codes. Invariant: words that people read are never dim and never yellow, and a code that colours
//! words reads on black and on white.

/// Ends every style.
pub const PLAIN: &str = "\u{1b}[0m";
/// Something wants attention, or an answer.
pub const ATTENTION: &str = "\u{1b}[1;35m";
/// Something went well: for signs, since green words fade on white.
pub const GOOD: &str = "\u{1b}[32m";
/// Something went wrong.
pub const BAD: &str = "\u{1b}[31m";
/// As the terminal writes by itself.
pub const USUAL: &str = "";

/// How a piece of a model's text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextStyle {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) underlined: bool,
    pub(crate) struck: bool,
    pub(crate) code: bool,
}

impl TextStyle {
    /// Program text.
    pub(crate) const CODE: Self =
        Self { bold: false, italic: false, underlined: false, struck: false, code: true };

    /// Returns the escape code that begins this style after [`PLAIN`]; nothing for plain text.
    pub(crate) fn begin(self) -> String {
        let codes = [
            (self.bold, "1"),
            (self.italic, "3"),
            (self.underlined, "4"),
            (self.struck, "9"),
            (self.code, "35"),
        ];
        let codes: Vec<&str> = codes.into_iter().filter(|(is_on, _)| *is_on).map(|(_, code)| code).collect();
        if codes.is_empty() { String::new() } else { format!("\u{1b}[{}m", codes.join(";")) }
    }
}
