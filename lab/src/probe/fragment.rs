//! A program that fragments memory: it fills nearly all of it with base pages, gives some back, anywhere, lets pipes
//! have pages between them, which cannot be moved, and gives more back.

use clap::Args;
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous};
use pagetide_types::Bytes;
use std::{
    fs,
    io::{self, Write as _},
    num::NonZeroUsize,
    os::fd::AsRawFd as _,
    ptr::NonNull,
    thread,
};

const PAGE: usize = 4096;
/// Pages of a pipe, if the kernel lets it have so many (`/proc/sys/fs/pipe-max-size`).
const PIPE: usize = 256;
/// Pages between two looks at what is free.
const STEP: usize = 256;

/// How to fragment.
#[derive(Debug, Args)]
pub(crate) struct Fragment {
    /// What stays free while memory is filled
    #[arg(long, default_value = "24M")]
    leave: Bytes,
    /// Percent of the pages that are given back before the pipes are filled
    #[arg(long, default_value_t = 10)]
    first: u8,
    /// Memory in pipes
    #[arg(long, default_value = "0")]
    pipes: Bytes,
    /// Percent of the pages that are given back in all
    #[arg(long, default_value_t = 50)]
    free: u8,
    /// Give back by blocks of 2 MiB: of each another share, from none to twice as much
    #[arg(long)]
    uneven: bool,
    /// The same number, the same pages
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Fragments memory, says `ready` with what was done, and holds it until it is ended.
///
/// # Errors
/// Memory or pipes that the kernel does not give.
pub(crate) fn fragment(of: &Fragment) -> io::Result<()> {
    let (start, pages) = filled(of.leave)?;
    let mut chance = of.seed;
    let mut given = give_back(start, pages, of, of.first, &mut chance)?;
    let (pipes, held) = filled_pipes(of.pipes)?;
    given += give_back(start, pages, of, of.free, &mut chance)?;
    println!("ready pages={pages} given_back={given} pipe_pages={held} pipes={}", pipes.len());
    io::stdout().flush()?;
    loop {
        thread::park();
    }
}

/// Base pages until no more than `leave` is free.
fn filled(leave: Bytes) -> io::Result<(NonNull<u8>, usize)> {
    let length = usize::try_from(meminfo("MemTotal:")?).map_err(io::Error::other)?;
    let size = NonZeroUsize::new(length).ok_or(io::ErrorKind::InvalidInput)?;
    let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
    // SAFETY: a fresh mapping at a place that the kernel chooses.
    let start = unsafe { mmap_anonymous(None, size, protection, flags) }?.cast::<u8>();
    // SAFETY: advice about our own fresh mapping.
    unsafe { madvise(start.cast(), length, MmapAdvise::MADV_NOHUGEPAGE) }?;
    let mut pages = 0;
    while (pages + STEP) * PAGE <= length && meminfo("MemFree:")? > leave.0 {
        for page in pages..pages + STEP {
            // SAFETY: inside the mapping, which stays.
            unsafe { start.add(page * PAGE).write_volatile(1) };
        }
        pages += STEP;
    }
    Ok((start, pages))
}

/// Gives pages back until about so many percent are; how many. A page that was given back before counts again and
/// costs nothing.
fn give_back(
    start: NonNull<u8>,
    pages: usize,
    of: &Fragment,
    percent: u8,
    chance: &mut u64,
) -> io::Result<usize> {
    let mut given = 0;
    let mut share = u64::from(percent);
    for page in 0..pages {
        if of.uneven && page.is_multiple_of(512) {
            share = random(chance) % (2 * u64::from(percent) + 1);
        }
        if random(chance) % 100 < share {
            // SAFETY: a page of our own mapping, which nobody reads again.
            unsafe { madvise(start.add(page * PAGE).cast(), PAGE, MmapAdvise::MADV_DONTNEED) }?;
            given += 1;
        }
    }
    Ok(given)
}

/// Pipes that hold so much, and how many pages that is.
fn filled_pipes(of: Bytes) -> io::Result<(Vec<(io::PipeReader, io::PipeWriter)>, usize)> {
    let needed = usize::try_from(of.0).map_err(io::Error::other)? / PAGE;
    let (mut pipes, mut held) = (Vec::new(), 0);
    while held < needed {
        let (reader, mut writer) = io::pipe()?;
        let size = libc::c_int::try_from(PIPE * PAGE).map_err(io::Error::other)?;
        // SAFETY: a pipe of our own.
        let got = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, size) };
        let room = usize::try_from(got).map_err(|_| io::Error::last_os_error())? / PAGE;
        for _ in 0..room.min(needed - held) {
            writer.write_all(&[1; PAGE])?;
            held += 1;
        }
        pipes.push((reader, writer));
    }
    Ok((pipes, held))
}

/// A line of `/proc/meminfo`, in bytes.
fn meminfo(key: &str) -> io::Result<u64> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    number.map(|kib| kib << 10).ok_or_else(|| io::Error::other(format!("no {key} in meminfo")))
}

/// The next number of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
