//! Words for a line that is copied into a shell (POSIX.1-2024, Shell Command Language, 2.2
//! "Quoting"). Names in such lines come from programs that are not trusted: a mapping may be called
//! `; rm -rf ~`. Quoted they are one word; names that cannot be shown as they are make no line.

use crate::printable::acts;

/// A word as a shell reads it back. None for what cannot be written on one line as it is: a
/// character that [`acts`] on the terminal (a line end, an escape, a mark of direction).
#[must_use]
pub fn quote(word: &str) -> Option<String> {
    if word.chars().any(acts) {
        return None;
    }
    if !word.is_empty() && word.bytes().all(plain) && !word.starts_with('=') {
        return Some(word.to_owned());
    }
    Some(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Several words as one line; none if one of them cannot be written.
#[must_use]
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let quoted: Option<Vec<String>> = words.into_iter().map(quote).collect();
    quoted.map(|words| words.join(" "))
}

/// The words of a line as [`line()`] writes it; none of any other text, so that what is not of our
/// making is not taken for harmless.
#[must_use]
pub fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut in_word) = (Vec::new(), String::new(), false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            ' ' => {
                words.push(std::mem::take(&mut word));
                in_word = false;
                continue;
            }
            '\'' => {
                let (quoted, after) = rest.split_once('\'')?;
                word += quoted;
                rest = after;
            }
            '\\' => {
                rest = rest.strip_prefix('\'')?;
                word.push('\'');
            }
            _ => word.push(c),
        }
        in_word = true;
    }
    if in_word {
        words.push(word);
    }
    (line(words.iter().map(String::as_str)).as_deref() == Some(text) && !words.is_empty())
        .then_some(words)
}

/// A name to copy: quoted where it must be, escaped and so marked as no word where it cannot be.
#[must_use]
pub fn shown(word: &str) -> String {
    quote(word).unwrap_or_else(|| crate::printable(word).into_owned())
}

/// Means nothing to any shell, wherever it stands in a word.
fn plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./:,=@%+".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    /// What a real shell makes of a line: its words, each ended by a zero.
    fn by_sh(line: &str) -> Vec<u8> {
        let script = format!("for word in {line}; do printf '%s\\0' \"$word\"; done");
        Command::new("sh").arg("-c").arg(script).output().unwrap().stdout
    }

    #[test]
    fn what_means_something_to_a_shell_is_quoted() {
        for plain in ["/dev/shm/x", "a=b", "--size", "2M,4K", "x@y:1"] {
            assert_eq!(quote(plain).unwrap(), plain);
        }
        for (odd, quoted) in [
            ("", "''"),
            ("a b", "'a b'"),
            ("; rm -rf ~", "'; rm -rf ~'"),
            ("$(id)", "'$(id)'"),
            ("it's", r"'it'\''s'"),
            ("~root", "'~root'"),
            ("=ls", "'=ls'"),
            ("#x", "'#x'"),
            ("{a,b}", "'{a,b}'"),
        ] {
            assert_eq!(quote(odd).unwrap(), quoted);
        }
        for never in ["a\nb", "\x1b[2J", "\u{202e}x", "a\0b"] {
            assert_eq!(quote(never), None);
        }
    }

    #[test]
    fn only_our_own_lines_are_taken_apart() {
        let line = super::line(["sh", "-c", "echo 'a'; b", ""]).unwrap();
        assert_eq!(words(&line).unwrap(), ["sh", "-c", "echo 'a'; b", ""]);
        for foreign in ["", "a; b", "$(id)", "a  b", "'a", "\"a\"", "a\\ b", "'plain'", "a\nb"] {
            assert_eq!(words(foreign), None, "{foreign:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn a_real_shell_reads_the_same_words(words in prop::collection::vec("[^\\x00]{0,12}", 1..4)) {
            if let Some(line) = line(words.iter().map(String::as_str)) {
                let due: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
                prop_assert_eq!(by_sh(&line), due, "{}", line);
            }
        }

        #[test]
        fn metacharacters_in_any_mixture(words in prop::collection::vec("[ ;$()`'\"\\\\|&<>*?~#!={}a-]{0,10}", 1..4)) {
            let line = line(words.iter().map(String::as_str)).unwrap();
            let due: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
            prop_assert_eq!(by_sh(&line), due, "{}", line);
            prop_assert_eq!(super::words(&line), Some(words));
        }
    }
}
