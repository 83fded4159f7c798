//! Wrong names, and the known one that was probably meant.

/// Half a sentence for the nearest of `known`, or nothing when none is near.
///
/// ```
/// # use pagetide_types::nearest;
/// assert_eq!(nearest("lfuu", ["lru", "lfu"]), "did you mean 'lfu'? ");
/// assert_eq!(nearest("lfu", ["window"]), "");
/// ```
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, name)| format!("did you mean '{name}'? "))
}
