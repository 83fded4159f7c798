//! What the user sees while a recording runs: the time, second by second, and what is known of the
//! epochs so far, as far as it fits into the terminal; nothing when nobody looks.

use crate::tell::tell;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::stderr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Cells of the bar.
const BAR: usize = 12;

pub(crate) struct Progress {
    bar: ProgressBar,
    parts: Arc<Mutex<Vec<String>>>,
}

impl Progress {
    /// A line with what is being done and the time, of `total` where that is known. `parts` are what to say before the
    /// first epoch is over.
    pub(crate) fn new(
        doing: &'static str,
        total: Option<Duration>,
        quiet: bool,
        parts: Vec<String>,
    ) -> Self {
        let (bar, parts) = (ProgressBar::new_spinner(), Arc::new(Mutex::new(parts)));
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{line}") {
            let shown = Arc::clone(&parts);
            let draw = move |state: &ProgressState, out: &mut dyn fmt::Write| {
                let parts = shown.lock().unwrap_or_else(PoisonError::into_inner);
                let width = terminal_size::terminal_size_of(stderr())
                    .map_or(80, |(width, _)| usize::from(width.0));
                // What cannot be drawn now is drawn at the next tick.
                let _ = out.write_str(&line(doing, state.elapsed(), total, &parts, width));
            };
            bar.set_style(style.with_key("line", draw));
        }
        tick(&bar);
        Self { bar, parts }
    }

    /// What is known by now, the most important part first.
    pub(crate) fn update(&self, parts: Vec<String>) {
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) = parts;
        self.bar.tick();
    }

    /// The same, shown at the next tick: for who knows more many times a second.
    pub(crate) fn note(&self, parts: Vec<String>) {
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) = parts;
    }

    /// A line that stays.
    pub(crate) fn say(&self, line: &str) {
        self.bar.suspend(|| tell!("{line}"));
    }

    /// Does something else with the terminal meanwhile, such as printing a table.
    pub(crate) fn aside<T>(&self, what: impl FnOnce() -> T) -> T {
        self.bar.suspend(what)
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Has the line drawn again twice a second. Who draws has neither the precedence nor the rights of
/// who records: a thread has those of the one that starts it.
fn tick(bar: &ProgressBar) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pagetide_privilege::ordinary();
            if let Err(error) = pagetide_privilege::Capabilities::NONE.keep() {
                tracing::warn!(%error, "the drawing thread keeps our capabilities");
            }
            bar.enable_steady_tick(Duration::from_millis(500));
        });
    });
}

/// The line for a terminal of `width` columns: parts that do not fit are left out from the end, and the
/// bar where it would take the room of a part.
fn line(
    doing: &str,
    elapsed: Duration,
    total: Option<Duration>,
    parts: &[String],
    width: usize,
) -> String {
    let seconds = elapsed.as_secs();
    let (mut bar, mut line) = (String::new(), format!("{seconds} s"));
    if let Some(total) = total.map(|total| total.as_secs().max(1)) {
        let done = usize::try_from(seconds * BAR as u64 / total).unwrap_or(BAR).min(BAR);
        bar = format!("{}{} ", "█".repeat(done), "░".repeat(BAR - done));
        line = format!("{}/{total} s", seconds.min(total));
    }
    // The last column stays free: some terminals wrap when it is written.
    let fits = |line: &str, more: usize| doing.len() + 1 + line.chars().count() + more < width;
    let mut joint = "  ";
    for part in parts {
        if !fits(&line, joint.len() + part.chars().count()) {
            break;
        }
        line = line + joint + &pagetide_types::printable(part);
        joint = ", ";
    }
    if !fits(&line, bar.chars().count()) {
        bar.clear();
    }
    format!("{doing} {bar}{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<String> {
        ["3 epochs", "100 % watched", "1.31 GiB in 2 processes", "cost 0.8 % of a core"]
            .map(str::to_owned)
            .into()
    }

    #[test]
    fn every_second_is_shown_whatever_the_epoch() {
        let at = |ms| {
            line(
                "recording",
                Duration::from_millis(ms),
                Some(Duration::from_secs(60)),
                &parts(),
                120,
            )
        };
        assert!(
            at(7_000).starts_with("recording █░░░░░░░░░░░ 7/60 s  3 epochs, "),
            "{}",
            at(7_000)
        );
        assert!(at(8_100).contains(" 8/60 s "), "{}", at(8_100));
        assert!(at(61_000).contains("████████████ 60/60 s"), "{}", at(61_000));
        let endless = line("recording", Duration::from_secs(7), None, &[], 80);
        assert_eq!(endless, "recording 7 s");
    }

    #[test]
    fn no_line_is_cut_in_the_middle_of_a_part() {
        for width in 20..140 {
            let line = line(
                "recording",
                Duration::from_secs(7),
                Some(Duration::from_secs(60)),
                &parts(),
                width,
            );
            assert!(line.chars().count() < width || width < 18, "{width}: {line}");
            let said = line.split_once(" s").map_or("", |(_, said)| said.trim_start());
            let whole = parts().join(", ");
            assert!(whole.starts_with(said), "{line}");
            let end = whole[said.len()..].chars().next();
            assert!(matches!(end, None | Some(',')) || said.is_empty(), "{width}: {line}");
        }
        assert!(
            line("recording", Duration::ZERO, None, &parts(), 120)
                .ends_with("cost 0.8 % of a core")
        );
    }
}
