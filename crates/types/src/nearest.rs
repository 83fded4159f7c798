//! Wrong names, and the known one that was probably meant.

/// Half a sentence for the nearest of `known`, or nothing when none is near.
///
/// ```
/// # use pagetide_types::nearest;
/// assert_eq!(nearest("lfuu", ["lru", "lfu"]), "did you mean 'lfu'? ");
/// assert_eq!(nearest("CLX", ["hbm", "cxl"]), "did you mean 'cxl'? ");
/// assert_eq!(nearest("lfu", ["window"]), "");
/// assert_eq!(nearest("99", ["9"]), "", "a number is not mistyped");
/// ```
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let wrong = wrong.to_lowercase();
    let is_number = wrong.parse::<f64>().is_ok();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        let one_slip = strsim::damerau_levenshtein(&wrong, &name) <= 1 && wrong.len() > 2;
        strsim::jaro_winkler(&wrong, &name).max(if one_slip { 0.9 } else { 0.0 })
    };
    known
        .into_iter()
        .filter(|_| !is_number)
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, name)| format!("did you mean '{name}'? "))
}
