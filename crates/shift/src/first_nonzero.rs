//! What is on a device: read whole, for the first byte that is not zero.

use crate::{alone::Alone, zero_bytes::CHUNK};
use memmap2::MmapOptions;
use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// What memory for direct reads is aligned to.
const ALIGNED: usize = 4096;

/// Offset of the first byte of a device that is not zero. Every byte is looked at, up to that one.
pub(crate) fn first_nonzero(path: &Path, bytes: usize, threads: usize) -> io::Result<Option<u64>> {
    first_nonzero_in(&OpenOptions::new().read(true).open(path)?, bytes, threads)
}

/// The same.
///
/// # Errors
/// `EBUSY` when another opens or closes it meanwhile, besides those of reading.
pub(crate) fn first_nonzero_alone(
    path: &Path,
    bytes: usize,
    threads: usize,
) -> io::Result<Option<u64>> {
    let alone = Alone::open(path)?;
    let first = first_nonzero_in(alone.file(), bytes, threads)?;
    alone.check()?;
    Ok(first)
}

fn first_nonzero_in(file: &File, bytes: usize, threads: usize) -> io::Result<Option<u64>> {
    // SAFETY: as in `zero`; it is only read.
    let map = unsafe { MmapOptions::new().len(bytes).map(file)? };
    let (next, first) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let look = || {
        loop {
            let from = next.fetch_add(CHUNK, Ordering::Relaxed);
            // What lies behind a byte that was found need not be looked at.
            if from >= first.load(Ordering::Relaxed).min(bytes) {
                return;
            }
            if let Some(at) = nonzero_in(&map[from..(from + CHUNK).min(bytes)]) {
                first.fetch_min(from + at, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(look);
        }
        look();
    });
    let first = first.into_inner();
    Ok((first != usize::MAX).then_some(first as u64))
}

/// Where the first byte is that is not zero. Whole words first: that is as fast as memory is.
fn nonzero_in(chunk: &[u8]) -> Option<usize> {
    let (words, rest) = chunk.as_chunks::<8>();
    let clear = words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word)) == 0;
    if clear && rest.iter().all(|byte| *byte == 0) {
        return None;
    }
    chunk.iter().position(|byte| *byte != 0)
}

/// The same of a block device that is open, from where it is read. Opened for direct reads, nothing of it stays in the
/// page cache, for which other programs' memory would be swapped.
pub(crate) fn first_nonzero_of_blocks(mut file: &File, bytes: usize) -> io::Result<Option<u64>> {
    // Direct reads need aligned memory.
    let mut memory = vec![0; CHUNK + ALIGNED];
    let from = memory.as_ptr().align_offset(ALIGNED);
    let chunk = &mut memory[from..from + CHUNK];
    let mut at = 0;
    while at < bytes {
        let length = CHUNK.min(bytes - at);
        file.read_exact(&mut chunk[..length])?;
        if let Some(found) = nonzero_in(&chunk[..length]) {
            return Ok(Some((at + found) as u64));
        }
        at += length;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_bytes_the_first_is_told_however_many_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let size = CHUNK * 9 + 100;
        let mut bytes = vec![0; size];
        for at in (0..9).rev() {
            bytes[CHUNK * at + 77] = 1;
            std::fs::write(file.path(), &bytes).unwrap();
            for threads in [1, 2, 7, 20] {
                let first = first_nonzero(file.path(), size, threads).unwrap();
                assert_eq!(first, Some((CHUNK * at + 77) as u64));
            }
        }
    }
}
