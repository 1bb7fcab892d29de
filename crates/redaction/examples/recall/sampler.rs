//! Text that a regular expression matches, drawn from its syntax tree.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// Repetitions beyond the least, where there is no most.
const BEYOND_MAX: u32 = 12;
/// Characters that would have to be escaped in a carrier, and are drawn only where nothing else fits.
const AWKWARD: &str = "\"'`\\";

/// Numbers that look like chance and are the same for the same seed.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        let mixed = name.bytes().fold(seed ^ 0x9E37_79B9_7F4A_7C15, |mixed, byte| {
            (mixed ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        Self(mixed | 1)
    }

    /// Returns a number below `bound` (xorshift64*).
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(drawn).unwrap_or(0) % bound.max(1)
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// What was drawn.
pub(crate) struct DrawnText {
    pub(crate) text: String,
}

/// Draws a text that matches, but for its borders.
pub(crate) fn generate(hir: &Hir, draw: &mut Draw) -> DrawnText {
    let mut text = String::new();
    write(hir, draw, &mut text);
    DrawnText { text }
}

fn write(hir: &Hir, draw: &mut Draw, text: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.push(character(class, draw)),
        HirKind::Repetition(repetition) => {
            for _ in 0..times(repetition, draw) {
                write(&repetition.sub, draw, text);
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, draw, text),
        HirKind::Concat(parts) => {
            for part in parts {
                match part.kind() {
                    // A dot that nobody escaped is meant as one.
                    HirKind::Class(class) if printed(class).len() > 90 => text.push('.'),
                    _ => write(part, draw, text),
                }
            }
        }
        HirKind::Alternation(ways) => write(draw.pick(ways), draw, text),
    }
}

fn times(repetition: &Repetition, draw: &mut Draw) -> usize {
    let most = repetition.max.unwrap_or(repetition.min + BEYOND_MAX).min(repetition.min + 40);
    let more = usize::try_from(most - repetition.min).unwrap_or(0);
    usize::try_from(repetition.min).unwrap_or(0) + draw.below(more + 1)
}

fn character(class: &Class, draw: &mut Draw) -> char {
    let printed = printed(class);
    // A class of everything stands for whatever people write.
    let wide = printed.len() > 80;
    let plain: Vec<char> = printed
        .iter()
        .copied()
        .filter(|c| !AWKWARD.contains(*c) && (!wide || c.is_ascii_alphanumeric() || "-_.!*+ ".contains(*c)))
        .collect();
    if !plain.is_empty() {
        return *draw.pick(&plain);
    }
    printed.first().copied().unwrap_or('\n')
}

/// Returns what of a class is printed, in order.
fn printed(class: &Class) -> Vec<char> {
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect()
        }
        Class::Bytes(class) => {
            class.ranges().iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect()
        }
    };
    let inside = |c: &char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&u32::from(*c)));
    (' '..='~').filter(inside).collect()
}
