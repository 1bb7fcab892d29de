//! What belongs to the daemon itself, also where links have put it elsewhere: a folder of settings that is kept in a
//! repository is still nothing that a model may change.

use std::iter;
use std::path::PathBuf;

/// Adds places as they are named and as they really lie; what lies below another place is there already.
pub(crate) fn add(own: &mut Vec<String>, places: impl IntoIterator<Item = PathBuf>) {
    for place in places {
        let real = place.canonicalize().ok();
        for path in iter::once(place).chain(real) {
            if !own.iter().any(|known| path.starts_with(known)) {
                own.push(path.display().to_string());
            }
        }
    }
}
