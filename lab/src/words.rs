//! What a guest says about itself, a line at a time; `initramfs` has the other end.

use std::{
    io::{self, BufRead, BufReader},
    os::unix::net::{UnixListener, UnixStream},
    sync::mpsc::Sender,
};

/// What the guest says, and the way to answer.
#[derive(Debug)]
pub(crate) enum Word {
    /// It can be answered from now on.
    Connected(UnixStream),
    /// Its first process runs.
    Up,
    /// A line that a measurement wrote.
    Said(String),
    /// A measurement has ended.
    Measured,
    /// It waits for leave to run its command.
    Ready,
    /// The command ended with this code.
    Exit(i32),
    /// Its first process gave up, and why.
    Failed(String),
}

/// Reads what the guest says until it ends.
pub(crate) fn listen(listener: &UnixListener, words: &Sender<Word>) -> io::Result<()> {
    let (stream, _) = listener.accept()?;
    // Who listens no longer has given up on the guest.
    let _ = words.send(Word::Connected(stream.try_clone()?));
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { break };
        let _ = words.send(word(&line));
    }
    Ok(())
}

fn word(line: &str) -> Word {
    match line.split_once(' ').unwrap_or((line, "")) {
        ("said", line) => Word::Said(line.to_owned()),
        ("up", _) => Word::Up,
        ("measured", _) => Word::Measured,
        ("ready", _) => Word::Ready,
        ("failed", why) => Word::Failed(why.to_owned()),
        ("exit", code) if let Ok(code) = code.parse() => Word::Exit(code),
        _ => Word::Failed(format!("it said '{line}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_guest_says_is_understood() {
        assert!(matches!(word("ready"), Word::Ready));
        assert!(matches!(word("exit 130"), Word::Exit(130)));
        assert!(matches!(word("exit"), Word::Failed(why) if why.contains("'exit'")));
        assert!(matches!(word("said compute 1"), Word::Said(line) if line == "compute 1"));
        assert!(matches!(word("failed insmod x"), Word::Failed(why) if why == "insmod x"));
    }
}
