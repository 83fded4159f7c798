//! What a guest's kernel has said, in the file of its console.

use std::{fs, path::Path};

/// Lines of it that errors show.
const LAST_LINES: usize = 15;
/// And of a kernel that panicked, before that: what was wrong, and where.
const BEFORE_PANIC: usize = 40;

/// The last lines, or, if the kernel panicked, those around it; indented.
pub(crate) fn last_lines(console: &Path) -> String {
    last_lines_of(&read(console))
}

/// What the kernel said when it killed a process for want of memory.
pub(crate) fn out_of_memory(console: &Path) -> Option<String> {
    let text = read(console);
    Some(text.lines().find(|line| line.contains("Out of memory: "))?.trim_end().to_owned())
}

/// All of it, or nothing before there is any.
fn read(console: &Path) -> String {
    String::from_utf8_lossy(&fs::read(console).unwrap_or_default()).into_owned()
}

fn last_lines_of(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let panic = lines.iter().position(|line| line.contains("Kernel panic"));
    let (before, last) = match panic {
        Some(line) => (line.min(BEFORE_PANIC), line + LAST_LINES),
        None => (LAST_LINES, lines.len()),
    };
    let last = last.min(lines.len());
    let from = panic.unwrap_or(last).saturating_sub(before);
    lines[from..last].iter().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown_or_the_panic() {
        let many: String = (0..100).map(|number| format!("line {number}\r\n\n")).collect();
        let shown = last_lines_of(&many);
        assert!(shown.starts_with("  line 85\n") && shown.ends_with("  line 99\n"), "{shown}");
        let shown = last_lines_of(&many.replace("line 50", "Kernel panic - not syncing"));
        assert!(shown.starts_with("  line 10\n  line 11\n"), "{shown}");
        assert!(shown.contains("  line 49\n  Kernel panic - not syncing\n"), "{shown}");
        assert!(shown.ends_with("  line 64\n"), "{shown}");
        assert_eq!(last_lines_of(""), "");
    }
}
