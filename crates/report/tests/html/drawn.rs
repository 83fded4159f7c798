//! Pages in a browser: every picture is drawn, nothing complains, nothing is fetched, in both
//! colour schemes, in a wide and a narrow window, and after zooming, choosing and printing.

use super::browser::Browser;
use super::{deciding, page, subject};
use crate::made;
use pagetide_report::Subject;
use serde_json::json;
use std::path::PathBuf;

/// Ids of the figures with how each was drawn: `chart`, `heat` or `words`.
const DRAWN: &str = "JSON.stringify(Object.fromEntries([...document.querySelectorAll('figure')]\
     .map(f => [f.id, f.dataset.drawn ?? 'not at all'])))";

/// How many colours the pixels of a picture have: one if nothing is drawn.
fn colours(figure: &str) -> String {
    format!(
        "(() => {{ const c = document.querySelector('#{figure} canvas'); const p = new Uint32Array(\
         c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer); \
         return new Set(p).size; }})()"
    )
}

struct Opened {
    browser: Browser,
    _folder: tempfile::TempDir,
    file: PathBuf,
}

#[expect(clippy::unwrap_used, reason = "a test's own page")]
fn opened(test: &str, subjects: &[Subject]) -> Option<Opened> {
    let browser = Browser::start(test)?;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page(subjects)).unwrap();
    Some(Opened { browser, _folder: folder, file })
}

impl Opened {
    #[track_caller]
    fn is_well(&mut self) {
        assert!(self.browser.complaints.is_empty(), "{:?}", self.browser.complaints);
        let own = format!("file://{}", self.file.display());
        self.browser.requests.retain(|url| *url != own && !url.starts_with("data:"));
        assert!(self.browser.requests.is_empty(), "{:?}", self.browser.requests);
        let overflow =
            "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(self.browser.value(overflow).as_i64(), Some(0));
    }
}

#[test]
fn every_picture_is_drawn_in_light_and_dark_wide_and_narrow() {
    let test = "every_picture_is_drawn_in_light_and_dark_wide_and_narrow";
    let Some(mut opened) = opened(test, &[deciding(subject(&made::zipf()))]) else { return };
    let mut papers = Vec::new();
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")] {
        let file = opened.file.clone();
        opened.browser.open(&file, width, scheme);
        let drawn = opened.browser.value(DRAWN);
        let drawn: serde_json::Value = serde_json::from_str(drawn.as_str().unwrap()).unwrap();
        let charts = [
            "slowdown",
            "hits",
            "moves",
            "ranked",
            "t-memory",
            "t-accesses",
            "t-hits",
            "t-moves",
            "choice-0-2",
            "told-0-2",
        ];
        for figure in charts {
            assert_eq!(drawn[figure], "chart", "{drawn}");
            let seen = opened.browser.value(&colours(figure)).as_u64();
            assert!(seen > Some(3), "{figure}: {seen:?} colours");
        }
        assert_eq!(drawn["heat-0"], "heat", "{drawn}");
        assert!(opened.browser.value(&colours("heat-0")).as_u64() > Some(20));
        let paper = "getComputedStyle(document.body).backgroundColor";
        papers.push(opened.browser.value(paper).to_string());
        opened.is_well();
    }
    assert!(papers[0] == papers[2] && papers[1] == papers[3] && papers[0] != papers[1]);
}

#[test]
fn what_nobody_knows_is_hatched_in_the_page_and_not_drawn_as_cold() {
    let test = "what_nobody_knows_is_hatched_in_the_page_and_not_drawn_as_cold";
    let first_area = |unknown| {
        let mut subject = subject(&made::zipf());
        for row in &mut subject.pictures.heat.areas[0].rows {
            row.rate_per_mib.fill(Some(0.0));
            row.unknown.fill(unknown);
        }
        subject
    };
    let Some(mut opened) = opened(test, &[first_area(false)]) else { return };
    let mut seen = Vec::new();
    for unknown in [false, true] {
        std::fs::write(&opened.file, page(&[first_area(unknown)])).unwrap();
        let file = opened.file.clone();
        opened.browser.open(&file, 1280, "light");
        seen.push(opened.browser.value(&colours("heat-0")).as_u64());
        let key = "document.querySelector('#heat-0 .scale').textContent.includes('unknown')";
        assert_eq!(opened.browser.value(key), unknown);
        opened.is_well();
    }
    // Lines over the colour of what was not accessed.
    assert!(seen[1] > seen[0], "{seen:?} colours");
}

#[test]
fn a_program_that_does_next_to_nothing_does_not_look_hot_in_the_page() {
    let test = "a_program_that_does_next_to_nothing_does_not_look_hot_in_the_page";
    let mut idle = subject(&made::zipf());
    for row in idle.pictures.heat.areas.iter_mut().flat_map(|area| &mut area.rows) {
        row.rate_per_mib.fill(Some(0.01));
    }
    let Some(mut opened) = opened(test, &[idle]) else { return };
    let file = opened.file.clone();
    opened.browser.open(&file, 1280, "light");
    let key = opened.browser.value("document.querySelector('#heat-0 .scale').textContent");
    let key = key.as_str().unwrap();
    assert!(key.contains("accesses per second and MiB: 0.010100r"), "{key}");
    let coolest = "(() => { const heat = Figures.find((f) => f instanceof Heat); \
         return heat.colour(0.01) === Theme.heat(0); })()";
    assert_eq!(opened.browser.value(coolest), true);
    opened.is_well();
}

#[test]
fn zooming_choosing_and_printing_change_what_they_should() {
    let test = "zooming_choosing_and_printing_change_what_they_should";
    let Some(mut opened) = opened(test, &[subject(&made::zipf())]) else { return };
    let file = opened.file.clone();
    opened.browser.open(&file, 1280, "dark");
    // A sum over the picture without the axis below it.
    let pixels = |figure: &str| {
        format!(
            "(() => {{ const c = document.querySelector('#{figure} canvas'); return c.getContext('2d')\
             .getImageData(0, 0, c.width, c.height - 32).data\
             .reduce((sum, byte) => (sum * 31 + byte) % 1000003, 7); }})()"
        )
    };
    let press = |figure: &str, nth: u32| {
        format!("document.querySelectorAll('#{figure} .tools button')[{nth}].click()")
    };
    for figure in ["slowdown", "heat-0"] {
        let whole = opened.browser.value(&pixels(figure));
        opened.browser.value(&press(figure, 0));
        opened.browser.until(&pixels(figure), |zoomed| *zoomed != whole);
        opened.browser.value(&press(figure, 2));
        opened.browser.until(&pixels(figure), |again| *again == whole);
    }
    let chosen = "document.querySelector('#hits .legend [aria-pressed=true]').firstChild\
         .nextSibling.textContent";
    assert_eq!(opened.browser.value(chosen), "lfu");
    let first = "document.querySelector('#slowdown .legend button').click()";
    opened.browser.value(first);
    assert_eq!(opened.browser.value(chosen), "first-touch");
    opened.browser.value("document.querySelector('#hits details.data').open = true");
    let rows = "document.querySelectorAll('#hits details tbody tr').length";
    opened.browser.until(rows, |rows| rows.as_u64() > Some(100));
    opened.is_well();
    let printed = opened.browser.ask("Page.printToPDF", &json!({ "printBackground": false }));
    assert!(printed["data"].as_str().is_some_and(|pdf| pdf.starts_with("JVBERi0")));
    opened.is_well();
}

#[test]
fn a_table_that_is_too_wide_says_what_lies_to_the_right() {
    let test = "a_table_that_is_too_wide_says_what_lies_to_the_right";
    let two = [subject(&made::zipf()), subject(&made::saturated())];
    for subjects in [&two[..1], &two[..]] {
        let Some(mut opened) = opened(test, subjects) else { return };
        let hints = "[...document.querySelectorAll('.hint')].filter(h => !h.hidden)\
             .map(h => h.textContent).join('; ')";
        // Tables that are cut off at their right edge (by more than the room behind a column), and say nothing about it.
        let silent = "[...document.querySelectorAll('.wide')].filter(w => w.scrollWidth > \
             w.clientWidth + 25 && w.nextElementSibling.hidden).length";
        // Heads of columns that are said to be out of sight and are not.
        let in_sight = "[...document.querySelectorAll('.wide')].flatMap(w => { \
             const hint = w.nextElementSibling, names = hint.textContent.split(': ')[1]?.split(', ') ?? []; \
             return [...w.querySelectorAll('thead tr:first-child > *')].filter(head => { \
                 const text = document.createRange(); \
                 text.selectNodeContents(head); \
                 return text.getBoundingClientRect().right <= w.getBoundingClientRect().right \
                     && !hint.hidden && names.includes(head.textContent.trim()); \
             }).map(head => head.textContent); }).join('; ')";
        let file = opened.file.clone();
        for width in [390, 320] {
            opened.browser.open(&file, width, "light");
            assert_eq!(opened.browser.value(silent), 0, "at {width} pixels");
            let said = opened.browser.value(hints);
            let said = said.as_str().unwrap();
            assert!(said.contains("more column") && said.contains("per second"), "{said}");
            assert_eq!(opened.browser.value(in_sight), "", "at {width} pixels");
            opened.is_well();
        }
        // Scrolled to its end nothing is out of sight any more.
        opened.browser.value("document.querySelectorAll('.wide').forEach(w => w.scrollLeft = 1e4)");
        opened.browser.until(hints, |said| said == "");
        let left = "[...document.querySelectorAll('.wide')].every(w => \
             [...w.querySelectorAll('tbody th')].every(h => h.getBoundingClientRect().left >= \
             w.getBoundingClientRect().left - 1))";
        assert_eq!(opened.browser.value(left), true, "names stay in sight");
        opened.browser.open(&file, 1600, "light");
        assert_eq!(opened.browser.value(hints), "");
    }
}

#[test]
fn little_and_much_are_drawn_or_answered_in_words() {
    let test = "little_and_much_are_drawn_or_answered_in_words";
    let Some(mut opened) = opened(test, &[subject(&[(10.0, false)])]) else { return };
    for units in [made::idle(), Vec::new(), vec![(10.0, false)], made::saturated()] {
        std::fs::write(&opened.file, page(&[subject(&units)])).unwrap();
        let file = opened.file.clone();
        opened.browser.open(&file, 800, "light");
        let drawn = opened.browser.value(DRAWN);
        assert!(!drawn.as_str().unwrap().contains("not at all"), "{drawn}");
        opened.is_well();
    }
    let three = [made::zipf(), made::idle(), made::partly_saturated()].map(|units| subject(&units));
    std::fs::write(&opened.file, page(&three)).unwrap();
    for width in [1280, 360] {
        let file = opened.file.clone();
        opened.browser.open(&file, width, "light");
        let drawn = opened.browser.value(DRAWN);
        let drawn: serde_json::Value = serde_json::from_str(drawn.as_str().unwrap()).unwrap();
        assert_eq!(drawn["heat-2"], "heat", "{drawn}");
        assert!(opened.browser.value(&colours("slowdown")).as_u64() > Some(5));
        opened.is_well();
    }
}
