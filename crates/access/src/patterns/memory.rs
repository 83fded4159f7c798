//! What a pattern touches.

/// One thread's view of a program's memory: real in a workload, a list of what was touched in a
/// simulator. Offsets are bytes from the memory's start; an access is to the word of 8 bytes that
/// holds the byte.
///
/// Implementations must not touch anything else, nor change what is yielded: all that a pattern
/// learns from memory is the pointer that [`follow`](Self::follow) returns, which is the computed one.
pub trait Memory {
    /// Reads a word.
    fn read(&mut self, offset: u64);

    /// Writes a word.
    fn write(&mut self, offset: u64, value: u64);

    /// Reads a word, changes it by an exclusive or, and writes it back: one access.
    fn update(&mut self, offset: u64, change: u64);

    /// Reads the word at `offset`, which came with the thread's access before: this one cannot
    /// begin until that one's value is there. Returns the pointer in the word: what lies there,
    /// as [`Pattern::fill`](super::Pattern::fill) wrote it, or what is computed where no memory is.
    fn follow(&mut self, offset: u64, computed: impl FnOnce() -> u64) -> u64;
}
