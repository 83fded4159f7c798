//! Zeros over a device, or a part of it, so that they last.

use memmap2::MmapOptions;
use std::{
    fs::OpenOptions,
    io,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Pieces in which devices are read and cleared.
pub(crate) const CHUNK: usize = 2 << 20;
/// Most threads that read or clear a device.
const READERS: usize = 4;

/// Writes zeros over a device of so many bytes from an offset on, and sees them to it, until the limit is over; where
/// it ended.
pub(crate) fn zero(
    path: &Path,
    (from, bytes): (usize, usize),
    limit: Duration,
    threads: usize,
) -> io::Result<usize> {
    let since = Instant::now();
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    // SAFETY: the device is ours alone: the caller holds the lock on it, and has looked that nobody
    // has it open. Should somebody write to it all the same, no reference to its contents outlives
    // a chunk, and nothing is concluded from them.
    let mut map = unsafe { MmapOptions::new().len(bytes).map_mut(&file)? };
    let from = from.min(bytes);
    let chunks = Mutex::new(map[from..].chunks_mut(CHUNK));
    let ended = AtomicUsize::new(from);
    let clear_all = || {
        loop {
            let Some(chunk) = chunks.lock().ok().and_then(|mut left| left.next()) else { return };
            clear(chunk);
            ended.fetch_add(chunk.len(), Ordering::Relaxed);
            // Whoever has taken a piece ends it: there are no gaps.
            if since.elapsed() >= limit {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(clear_all);
        }
        clear_all();
    });
    Ok(ended.into_inner())
}

/// Clears memory past the CPU's caches, where a device cannot be flushed by msync(2); it is there afterwards.
#[cfg(target_arch = "x86_64")]
fn clear(memory: &mut [u8]) {
    use core::arch::x86_64::{__m128i, _mm_setzero_si128, _mm_sfence, _mm_stream_si128};
    // SAFETY: any bytes are such words, and any such words bytes.
    let (before, words, after) = unsafe { memory.align_to_mut::<__m128i>() };
    debug_assert!(before.is_empty() && after.is_empty(), "pages are whole words");
    for word in words {
        // SAFETY: every x86-64 has the instruction; the word is ours, and aligned.
        unsafe { _mm_stream_si128(word, _mm_setzero_si128()) };
    }
    before.fill(0);
    after.fill(0);
    // SAFETY: every x86-64 has it; it only orders what was done.
    unsafe { _mm_sfence() };
}

#[cfg(not(target_arch = "x86_64"))]
fn clear(memory: &mut [u8]) {
    memory.fill(0);
    std::sync::atomic::fence(Ordering::SeqCst);
}

/// Threads that read or clear a device: more than one CPU's loads are needed to read as fast as memory is.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, |cpus| cpus.get().min(READERS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::first_nonzero::{first_nonzero, first_nonzero_of_blocks};
    use std::fs::File;

    #[test]
    fn a_device_is_cleared_and_every_byte_of_it_is_looked_at() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let size = CHUNK * 2 + 4096;
        file.as_file().set_len(size as u64).unwrap();
        let of_blocks = || first_nonzero_of_blocks(&File::open(file.path()).unwrap(), size);
        for at in [0, 4095, CHUNK - 1, CHUNK, size - 1] {
            let mut bytes = vec![0; size];
            bytes[at] = 1;
            std::fs::write(file.path(), bytes).unwrap();
            for threads in [1, 3] {
                assert_eq!(first_nonzero(file.path(), size, threads).unwrap(), Some(at as u64));
            }
            assert_eq!(of_blocks().unwrap(), Some(at as u64));
            assert_eq!(zero(file.path(), (0, size), Duration::MAX, 2).unwrap(), size);
            for threads in [1, 3] {
                assert_eq!(first_nonzero(file.path(), size, threads).unwrap(), None);
            }
            assert_eq!(of_blocks().unwrap(), None);
        }
        assert_eq!(std::fs::read(file.path()).unwrap(), vec![0; size]);
    }

    #[test]
    fn a_device_is_cleared_in_as_many_pieces_as_there_is_time_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let size = CHUNK * 9 + 4096;
        for threads in [1, 3] {
            std::fs::write(file.path(), vec![1; size]).unwrap();
            let mut ends = vec![0];
            while ends.last() != Some(&size) {
                let from = ends[ends.len() - 1];
                let end = zero(file.path(), (from, size), Duration::ZERO, threads).unwrap();
                let first = first_nonzero(file.path(), size, 1).unwrap();
                assert_eq!(first, (end < size).then_some(end as u64), "no gaps");
                // A thread that comes late finds the time over, but has a piece already.
                let pieces = (end - from).div_ceil(CHUNK);
                assert!((1..=threads).contains(&pieces), "{pieces} pieces by {threads}");
                ends.push(end);
            }
        }
    }
}
