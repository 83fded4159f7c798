//! Text of others made harmless before it is shown: names of memory, commands, cgroups and what
//! recordings say come from programs that are not trusted. A control character of theirs can move
//! the cursor, clear the screen or answer a prompt (ECMA-48); one that turns the direction of
//! writing makes a line read as another one (Unicode Technical Report 36, "bidirectional text
//! spoofing"). All are shown as escapes. Every sink goes through here.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character acts on what shows it rather than being shown: controls (C0, C1, DEL), line
/// and paragraph separators, marks of direction, characters without width, tags.
#[must_use]
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A name on one line: whatever [`acts`] as an escape (`\n`, `\x1b`, `\u{202e}`).
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    replaced(text, |c| !acts(c), rust_escape)
}

/// The same of a text of several lines: line ends stay.
#[must_use]
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c == '\n' || !acts(c), rust_escape)
}

/// JSON whose strings hold no character that [`acts`]: the same values, written as `\u` escapes.
/// Line ends between values stay.
#[must_use]
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let escape = |out: &mut String, c: char| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    };
    replaced(json, |c| c == '\n' || !acts(c), escape)
}

/// A report of ours for a terminal: line ends stay, and the colours that `Style` of crates/report
/// gives (bold, dim, one of 256 colours, and their end); all else that [`acts`] becomes an escape.
#[must_use]
pub fn printable_report(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return printable_lines(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        out += &printable_lines(&rest[..at]);
        let (colour, after) = match our_colour(&rest[at..]) {
            0 => ("\\x1b", &rest[at + 1..]),
            length => rest[at..].split_at(length),
        };
        out += colour;
        rest = after;
    }
    out += &printable_lines(rest);
    Cow::Owned(out)
}

/// The length of one of our colour codes at the start of `text`; 0 if there is none.
fn our_colour(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\x1b[") else { return 0 };
    let Some((code, _)) = rest.split_once('m') else { return 0 };
    let number =
        |text: &str| (1..=3).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let ours = matches!(code, "0" | "1" | "2") || code.strip_prefix("38;5;").is_some_and(number);
    if ours { code.len() + 3 } else { 0 }
}

fn rust_escape(out: &mut String, c: char) {
    match c {
        '\u{0}'..='\u{7f}' if !matches!(c, '\n' | '\r' | '\t') => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        '\n' | '\r' | '\t' => out.extend(c.escape_default()),
        _ => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

fn replaced(
    text: &str,
    stays: impl Fn(char) -> bool,
    escape: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    if text.chars().all(&stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if stays(c) {
            out.push(c);
        } else {
            escape(&mut out, c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_acts_is_shown_as_an_escape() {
        assert_eq!(printable("\x1b[2J\x1b[Hroot# \r"), "\\x1b[2J\\x1b[Hroot# \\r");
        assert_eq!(printable("a\nb\u{9b}2J\u{7f}"), "a\\nb\\u{9b}2J\\x7f");
        assert_eq!(printable("safe\u{202e}exe.txt\u{2066}"), "safe\\u{202e}exe.txt\\u{2066}");
        assert_eq!(printable("größe, 大きさ, 🗿"), "größe, 大きさ, 🗿");
        assert_eq!(printable_lines("one\ntwo\x07\n"), "one\ntwo\\x07\n");
    }

    #[test]
    fn json_keeps_its_values() {
        let json = "{\n  \"a\u{9b}\": \"\u{202e}\u{e0041}x\"\n}";
        let shown = printable_json(json);
        assert_eq!(shown, "{\n  \"a\\u009b\": \"\\u202e\\udb40\\udc41x\"\n}");
    }

    #[test]
    fn our_colours_stay_and_no_others() {
        let ours = "\x1b[1mbold\x1b[0m \x1b[2mdim\x1b[0m \x1b[38;5;214mwarm\x1b[0m\n";
        assert_eq!(printable_report(ours), ours);
        for bad in ["\x1b[2J", "\x1b[8m", "\x1b]0;title\x07", "\x1b[38;5;9999m", "\x1b[31", "\x1b"]
        {
            let shown = printable_report(bad);
            assert!(!shown.contains('\x1b') && shown.starts_with("\\x1b"), "{shown:?}");
        }
    }

    /// Any text, half of it what acts. (`any::<String>()` holds no control character.)
    fn acting() -> impl Strategy<Value = String> {
        let acts = prop::sample::select(
            "\0\x07\x1b\r\t\n\x7f\u{9b}\u{202e}\u{2066}\u{200b}\u{e0041}[2Jm"
                .chars()
                .collect::<Vec<_>>(),
        );
        let any = prop_oneof![acts, any::<char>()];
        prop::collection::vec(any, 0..24).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn nothing_that_acts_is_left(text in acting()) {
            prop_assert!(!printable(&text).chars().any(acts));
            prop_assert!(!printable_lines(&text).chars().any(|c| c != '\n' && acts(c)));
            prop_assert!(!printable_json(&text).chars().any(|c| c != '\n' && acts(c)));
            let colourless = printable_report(&text).replace("\x1b[0m", "").replace("\x1b[1m", "");
            let colourless = colourless.replace("\x1b[2m", "").replace("\x1b[38;5;", "");
            prop_assert!(!colourless.chars().any(|c| c != '\n' && acts(c)));
        }

        #[test]
        fn what_is_harmless_stays_as_it_is(text in "[ -~äöü€]*") {
            prop_assert_eq!(printable(&text), text.as_str());
        }
    }
}
