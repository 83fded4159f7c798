//! How a terminal wants its text: width, and whether colour is welcome (`NO_COLOR`,
//! <https://no-color.org>). Also headings and wrapped paragraphs.

use std::io::IsTerminal;
use unicode_width::UnicodeWidthStr;

/// Width and colour of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    width: usize,
    colour: bool,
}

/// Reports are never narrower nor wider than this, whatever the terminal.
const NARROWEST: usize = 40;
const WIDEST: usize = 100;

impl Style {
    /// A style by hand; the width is kept between 40 and 100 columns.
    #[must_use]
    pub fn new(width: usize, colour: bool) -> Self {
        Self { width: width.clamp(NARROWEST, WIDEST), colour }
    }

    /// What standard output wants: colour and its own width on a terminal, unless `NO_COLOR` is
    /// set to something; else 80 columns of plain text.
    #[must_use]
    pub fn of_stdout() -> Self {
        let terminal = std::io::stdout().is_terminal();
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        Self::new(if terminal { width } else { 80 }, terminal && !refused)
    }

    /// Columns of the output.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Paints up to a newline at the end.
    fn paint(self, code: &str, text: &str) -> String {
        let (text, end) = text.strip_suffix('\n').map_or((text, ""), |text| (text, "\n"));
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m{end}") } else { format!("{text}{end}") }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Text in one of the 256 terminal colours.
    pub(crate) fn in_colour(self, colour: u8, text: &str) -> String {
        self.paint(&format!("38;5;{colour}"), text)
    }

    /// A paragraph, every line indented, the first with `first` (as wide as the indent).
    pub(crate) fn paragraph(self, first: &str, text: &str) -> String {
        let indent = first.width();
        let mut lines = vec![String::new()];
        let mut column = indent;
        for word in words(text) {
            let fresh = column == indent;
            if !fresh && column + 1 + word.width() > self.width {
                lines.push(" ".repeat(indent));
                column = indent;
            }
            let Some(line) = lines.last_mut() else { break };
            if column > indent {
                line.push(' ');
                column += 1;
            }
            line.push_str(&word);
            column += word.width();
        }
        format!("{first}{}\n", lines.join("\n"))
    }

    /// A heading, an empty line before it.
    pub(crate) fn heading(self, text: &str) -> String {
        format!("\n{}\n", self.bold(self.paragraph("", text).trim_end()))
    }

    /// `label` in a column of its own, `text` wrapped beside it.
    pub(crate) fn field(self, label: &str, text: &str) -> String {
        let plain = format!("  {label:<12}");
        let whole = self.paragraph(&plain, text);
        whole.replacen(&plain, &self.dim(&plain), 1)
    }
}

/// Words, a number and its unit being one.
fn words(text: &str) -> Vec<String> {
    const UNITS: [&str; 14] =
        ["%", "B", "KiB", "MiB", "GiB", "TiB", "GB/s", "ns", "us", "ms", "s", "min", "k", "M"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_end_matches([',', ';', '.', ':', ')']);
        match words.last_mut() {
            Some(last) if UNITS.contains(&bare) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// An area's name, without the kernel's `[anon:...]` around it; a file's last component if only
/// that fits (`/usr/lib/x/libc.so.6` may become `libc.so.6`); else cut in the middle.
pub(crate) fn short_name(name: &str, most: usize) -> String {
    let inner = name.strip_prefix("[anon:").and_then(|name| name.strip_suffix(']'));
    let name = inner.unwrap_or(name);
    match name.rsplit_once('/') {
        Some((_, last)) if name.chars().count() > most && !last.is_empty() => shortened(last, most),
        _ => shortened(name, most),
    }
}

/// Cuts in the middle to at most `most` columns: `/usr/lib/…/libc.so.6`.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= most {
        return text.to_owned();
    }
    let keep = most.saturating_sub(1);
    let head: String = chars[..keep / 3].iter().collect();
    let tail: String = chars[chars.len() - (keep - keep / 3)..].iter().collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_keep_to_the_width_and_lose_no_word() {
        let text = "the quick brown fox jumps over the lazy dog ".repeat(7);
        for width in [0, 40, 41, 63, 80, 500] {
            let style = Style::new(width, false);
            let out = style.paragraph("  - ", &text);
            assert!(out.lines().all(|line| line.width() <= style.width()), "{out}");
            assert_eq!(out.split_whitespace().skip(1).collect::<Vec<_>>().join(" "), text.trim());
            assert!(out.lines().skip(1).all(|line| line.starts_with("    ")));
        }
    }

    #[test]
    fn a_number_keeps_its_unit() {
        let out = Style::new(40, false).paragraph("", &"in all 12.5 GiB, or 5 %; ".repeat(9));
        assert!(
            out.lines().all(|line| !line.starts_with("GiB") && !line.starts_with('%')),
            "{out}"
        );
    }

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(shortened("[heap]", 10), "[heap]");
        assert_eq!(shortened("/usr/lib/x86_64-linux-gnu/libc.so.6", 14), "/usr…libc.so.6");
        assert_eq!(short_name("/usr/lib/x86_64-linux-gnu/libc.so.6", 14), "libc.so.6");
        assert_eq!(short_name("/dev/zero", 14), "/dev/zero");
        assert_eq!(short_name("[anon:arena]", 14), "arena");
    }

    #[test]
    fn colour_only_when_asked() {
        assert_eq!(Style::new(80, false).bold("x"), "x");
        assert_eq!(Style::new(80, true).bold("x"), "\x1b[1mx\x1b[0m");
    }
}
