//! Memory that is filled with a pattern, bit by bit, and read again; and looking for that pattern where it
//! must not be.

use clap::Args;
use memmap2::MmapOptions;
use pagetide_types::Bytes;
use std::{
    fs::OpenOptions,
    io,
    os::fd::AsRawFd,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

/// At the beginning of every page.
const SIGNATURE: u64 = 0x7061_6765_7469_6465;
const WORDS_OF_A_PAGE: usize = 512;
/// Pages between two looks at the clock.
const STEP: usize = 64;

/// How often a file is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// What to fill.
#[derive(Debug, Args)]
pub(crate) struct Fill {
    /// How much memory
    #[arg(long)]
    size: Bytes,
    /// At most so much a second (default: as fast as it goes)
    #[arg(long)]
    rate: Option<Bytes>,
    /// How long to keep it, in seconds
    #[arg(long, default_value_t = 0.0)]
    hold: f64,
    /// Keep it until this file is there
    #[arg(long, value_name = "FILE")]
    until: Option<PathBuf>,
    /// How many pages of it a pipe refers to meanwhile (16 at most): the kernel cannot move these
    #[arg(long, default_value_t = 0)]
    pinned: usize,
    /// How often to read all of it again
    #[arg(long, default_value_t = 1)]
    rounds: u32,
    /// Begins the pattern
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Where to look.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The device, such as /dev/dax0.0
    device: PathBuf,
    /// How much of it
    size: Bytes,
}

/// The word number `at` of the pattern: `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014), but for the signatures.
fn word(seed: u64, at: usize) -> u64 {
    if at.is_multiple_of(WORDS_OF_A_PAGE) {
        return SIGNATURE;
    }
    let mut mixed = seed.wrapping_add((at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Fills memory and verifies it: `filled`, then `verified` per round.
///
/// # Errors
/// A word that is not what was written.
pub(crate) fn fill(of: &Fill) -> io::Result<()> {
    let words = usize::try_from(of.size.0).map_err(io::Error::other)? / 8;
    let mut memory: Vec<u64> = Vec::new();
    memory.try_reserve_exact(words).map_err(io::Error::other)?;
    let since = Instant::now();
    while memory.len() < words {
        let from = memory.len();
        let to = (from + STEP * WORDS_OF_A_PAGE).min(words);
        memory.extend((from..to).map(|at| word(of.seed, at)));
        if let Some(rate) = of.rate {
            #[expect(clippy::cast_precision_loss, reason = "amounts of memory")]
            let due = Duration::from_secs_f64((to * 8) as f64 / rate.0 as f64);
            thread::sleep(due.saturating_sub(since.elapsed()));
        }
    }
    let most = memory.len() / WORDS_OF_A_PAGE;
    let _pipe = pinned(&memory, of.pinned.min(most.saturating_sub(1)))?;
    println!("filled {} in {:.1} s", of.size, since.elapsed().as_secs_f64());
    thread::sleep(Duration::from_secs_f64(of.hold));
    while of.until.as_ref().is_some_and(|file| !file.exists()) {
        thread::sleep(LOOK);
    }
    for round in 1..=of.rounds {
        if let Some(at) = (0..words).find(|at| memory[*at] != word(of.seed, *at)) {
            return Err(io::Error::other(format!("word {at} is not what was written")));
        }
        println!("verified {round}");
    }
    Ok(())
}

/// A pipe that refers to so many pages of this memory.
fn pinned(memory: &[u64], pages: usize) -> io::Result<Option<(io::PipeReader, io::PipeWriter)>> {
    if pages == 0 {
        return Ok(None);
    }
    let length = pages * WORDS_OF_A_PAGE * 8;
    let begin = memory.as_ptr().cast_mut().cast::<libc::c_void>();
    let begin = begin.wrapping_byte_add(begin.align_offset(WORDS_OF_A_PAGE * 8));
    let (reader, writer) = io::pipe()?;
    let slice = libc::iovec { iov_base: begin, iov_len: length };
    // SAFETY: these pages are of `memory`, which its owner keeps unchanged until the pipe is dropped.
    let put = unsafe { libc::vmsplice(writer.as_raw_fd(), &raw const slice, 1, 0) };
    if usize::try_from(put) != Ok(length) {
        return Err(io::Error::last_os_error());
    }
    Ok(Some((reader, writer)))
}

/// Counts the signatures of the pattern on a device.
///
/// # Errors
/// No such device.
pub(crate) fn search(of: &Search) -> io::Result<()> {
    let file = OpenOptions::new().read(true).open(&of.device)?;
    let size = usize::try_from(of.size.0).map_err(io::Error::other)?;
    // SAFETY: it is only read, word by word, and nothing is concluded from a word but that it is there.
    let map = unsafe { MmapOptions::new().len(size).map(&file) }?;
    let (words, _) = map.as_chunks::<8>();
    let found = words.iter().filter(|word| u64::from_ne_bytes(**word) == SIGNATURE).count();
    let others = words.iter().filter(|word| **word != [0; 8]).count();
    println!("signatures {found} nonzero {others}");
    Ok(())
}
