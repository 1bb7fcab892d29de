//! Where a static log keeps its tiles (C2SP tlog-tiles).
//!
//! Owns the spelling of paths only. Begin at [`tile_path`].

use super::TILE_WIDTH;

/// Returns `tile/<L>/<N>[.p/<W>]` for a tile of `width` hashes, 1 to 256; 256 is a full one.
#[must_use]
pub fn tile_path(level: u8, index: u64, width: usize) -> String {
    format!("tile/{level}/{}", spelled(index, width))
}

/// Returns `tile/entries/<N>[.p/<W>]` for a bundle of `width` entries, 1 to 256; 256 is a full one.
#[must_use]
pub fn entries_path(index: u64, width: usize) -> String {
    format!("tile/entries/{}", spelled(index, width))
}

/// Spells 1234067 as `x001/x234/067`, so that no folder holds more than a thousand names.
fn spelled(index: u64, width: usize) -> String {
    let mut path = format!("{:03}", index % 1_000);
    let mut rest = index / 1_000;
    while rest > 0 {
        path = format!("x{:03}/{path}", rest % 1_000);
        rest /= 1_000;
    }
    if width < TILE_WIDTH {
        path.push_str(&format!(".p/{width}"));
    }
    path
}
