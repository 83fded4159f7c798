//! The one way to standard error and standard output. What others named (memory, files, commands,
//! recordings) cannot act on the terminal, and a reader that went away is no panic.

use std::io::{self, Write};

/// A line, or several, for the user.
pub(crate) fn line(text: &str) {
    // Nobody is left to be told that it could not be said.
    let _ = writeln!(io::stderr().lock(), "{}", pagetide_types::printable_lines(text));
}

/// A report, with our colours.
///
/// # Errors
/// When it cannot be written; a reader that went away is [`io::ErrorKind::BrokenPipe`].
pub(crate) fn report(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(pagetide_types::printable_report(text).as_bytes())?;
    out.flush()
}

/// JSON with a final line end.
///
/// # Errors
/// As [`report`].
pub(crate) fn json(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", pagetide_types::printable_json(text))?;
    out.flush()
}

/// Says something to the user, formatted as by `format!`.
macro_rules! tell {
    ($($argument:tt)*) => {
        $crate::tell::line(&format!($($argument)*))
    };
}
pub(crate) use tell;

/// Where log lines go: whole ones, escaped.
pub(crate) struct Log<W>(pub(crate) W);

impl<W: Write> Write for Log<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(pagetide_types::printable_lines(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_in_a_log_line_acts() {
        let mut shown = Vec::new();
        let line = "WARN refused: /tmp/\x1b[2J\u{202e}x\n";
        Log(&mut shown).write_all(line.as_bytes()).unwrap();
        assert_eq!(String::from_utf8_lossy(&shown), "WARN refused: /tmp/\\x1b[2J\\u{202e}x\n");
    }
}
