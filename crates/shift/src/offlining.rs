//! What the helper that stays does, in a process of its own ([`Worker`](crate::worker::Worker)): moves programs' pages off
//! memory blocks, takes blocks offline, finds who has a device open, and what any helper does: zeroes and reads devices,
//! writes to sysfs.

use crate::{
    emptying::Emptying,
    helper::{once, said, write_word},
    users,
};
use pagetide_host::{BlockId, Host};
use pagetide_types::Bytes;
use std::{io, time::Duration};

/// The helper, with what it remembers between two questions.
#[derive(Debug)]
pub(crate) struct Offlining {
    host: Host,
    emptying: Emptying,
}

impl Offlining {
    pub(crate) fn new(host: Host) -> Self {
        Self { emptying: Emptying::new(host.clone()), host }
    }

    /// Answers `empty BLOCK BYTES MILLISECONDS` with `done BYTES`, or `cannot` and the reason; `users` and a
    /// device as [`users`](crate::users) says; `offline BLOCK`, and whatever is done at [`once`], with `done` and a number if there is one, or `errno` and its number.
    pub(crate) fn answer(&mut self, question: &str) -> String {
        let words: Vec<&str> = question.split_whitespace().collect();
        let number = |word: &str| word.parse::<u64>().ok();
        let answer = match words[..] {
            ["empty", block, most, millis] => (|| {
                let limit = Duration::from_millis(number(millis)?);
                let moved =
                    self.emptying.step(BlockId(number(block)?), Bytes(number(most)?), limit);
                Some(match moved {
                    Ok(moved) => format!("done {}", moved.0),
                    Err(error) => format!("cannot {error}"),
                })
            })(),
            ["users", kind, device] => users::answer(&self.host, kind, device),
            ["offline", block] => {
                number(block).map(|block| said(self.offline(BlockId(block)).map(|()| None)))
            }
            _ => once(&words).map(said),
        };
        answer.unwrap_or_else(|| format!("cannot understand {question:?}"))
    }

    /// Takes a block out of use: the kernel moves what is left on it.
    fn offline(&mut self, block: BlockId) -> io::Result<()> {
        self.emptying.forget(block);
        write_word(&self.host.block_state_path(block), "offline")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_answered() {
        let mut offlining = Offlining::new(Host::new("/nonexistent"));
        for question in ["sing", "write x", "offline x", "empty 1 2"] {
            assert_eq!(offlining.answer(question), format!("cannot understand {question:?}"));
        }
        assert_eq!(offlining.answer("write /no/such/file 1"), format!("errno {}", libc::ENOENT));
        assert_eq!(offlining.answer("offline 7"), format!("errno {}", libc::ENOENT));
        assert!(offlining.answer("empty 7 100 100").starts_with("cannot find memory blocks"));
    }
}
