//! The nearest name that exists to one that does not.

/// Returns the name among `names` that `given` was likely meant to be.
pub(crate) fn suggest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LIKENESS_MIN: f64 = 0.7;
    const GIVEN_CHARS_MAX: usize = 80;
    let given = given.rsplit(['.', '/', ':']).next().unwrap_or(given);
    let plain: String = given
        .chars()
        .take(GIVEN_CHARS_MAX)
        .filter(|c| c.is_alphanumeric() || *c == '_')
        .flat_map(char::to_lowercase)
        .collect();
    let likeness = |name: &str| strsim::jaro_winkler(&plain, name);
    names
        .into_iter()
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|(a, left), (b, right)| a.total_cmp(b).then(right.cmp(left)))
        .map(|(_, name)| name)
}
