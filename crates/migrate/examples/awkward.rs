//! Moves pages that do not want to be moved, on a machine with two nodes: pinned, shared,
//! unmapped meanwhile, into a full node, into a node without free huge pages. Prints what was
//! counted, a line per case, and checks the contents of its memory after each. Run in the lab
//! (`make test-lab`); arguments: fast node, slow node.

use pagetide_host::Host;
use pagetide_migrate::bench::BenchMemory;
use pagetide_migrate::{
    Kernel, LiveKernel, Mapping, Mover, Options, Order, Refusal, Report, Sharing, Work,
};
use pagetide_types::{Bytes, NodeId, Pid, UnitSize};
use std::collections::BTreeMap;
use std::error::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, thread};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const PAGE: usize = 4096;
/// linux/mman.h: what is not there is not fetched.
const MLOCK_ONFAULT: libc::c_uint = 1;

struct Machine {
    fast: NodeId,
    slow: NodeId,
}

fn main() -> Result {
    let node = |i| -> Result<NodeId> {
        let text = std::env::args().nth(i).ok_or("usage: awkward FAST_NODE SLOW_NODE")?;
        Ok(NodeId(text.parse()?))
    };
    let machine = Machine { fast: node(1)?, slow: node(2)? };
    machine.pinned()?;
    machine.shared()?;
    machine.unmapped()?;
    machine.full()?;
    machine.fragmented()
}

impl Machine {
    fn mover(&self, options: Options) -> Mover<LiveKernel> {
        Mover::new(LiveKernel::new(Host::live()), options)
    }

    fn memory(&self, node: NodeId, size: Bytes, page: UnitSize) -> Result<BenchMemory> {
        Ok(BenchMemory::new(&LiveKernel::new(Host::live()), node, size, page)?)
    }

    fn up(&self, memory: &BenchMemory) -> Work {
        Work { promote: vec![memory.order(0, self.slow, self.fast)], demote: Vec::new() }
    }

    /// Pages in a pipe have a reference more: the kernel cannot move them until they are read.
    fn pinned(&self) -> Result {
        let memory = self.memory(self.slow, Bytes::mib(2), UnitSize::Base)?;
        let (reader, writer) = pipe()?;
        let slice =
            libc::iovec { iov_base: memory.bytes().as_ptr().cast_mut().cast(), iov_len: 8 * PAGE };
        // SAFETY: the pages named are ours, and stay mapped and unchanged until they are read.
        let put = unsafe { libc::vmsplice(writer.as_raw_fd(), &raw const slice, 1, 0) };
        if usize::try_from(put) != Ok(8 * PAGE) {
            return Err(io::Error::last_os_error().into());
        }
        let mut mover = self.mover(Options::default());
        let report = mover.run(&self.up(&memory), &|| false);
        say("pinned", &report, &memory)?;
        drop((reader, writer));
        // After its time of waiting.
        mover.run(&self.up(&memory), &|| false);
        let report = mover.run(&self.up(&memory), &|| false);
        say("unpinned", &report, &memory)
    }

    /// After a fork two processes map each page. Who manages both moves them.
    fn shared(&self) -> Result {
        let memory = self.memory(self.slow, Bytes::mib(2), UnitSize::Base)?;
        let (reader, writer) = pipe()?;
        // SAFETY: one thread only; the child does nothing but wait and exit.
        let child = unsafe { libc::fork() };
        if child == 0 {
            drop(writer);
            let mut nothing = [0u8; 1];
            // SAFETY: a valid buffer; ends when the parent closes its end.
            unsafe {
                libc::read(reader.as_raw_fd(), nothing.as_mut_ptr().cast(), 1);
                libc::_exit(0);
            }
        }
        let mut mover = self.mover(Options::default());
        let report = mover.run(&self.up(&memory), &|| false);
        say("shared", &report, &memory)?;
        let order = memory.order(0, self.slow, self.fast);
        let of = |pid| Mapping { pid, start: order.start, end: order.end };
        let sharing = |of: &[Mapping]| LiveKernel::new(Host::live()).sharing(of);
        let alone = sharing(&[of(order.pid)]);
        let both = sharing(&[of(order.pid), of(Pid(child))]);
        if (alone, both) != (Sharing::Outside, Sharing::Among) {
            return Err(format!("one is {alone:?}, both are {both:?}").into());
        }
        let work = Work { promote: vec![Order { shared: true, ..order }], ..Work::default() };
        let report = self.mover(Options::default()).run(&work, &|| false);
        drop(writer);
        // SAFETY: collects the child made above.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
        say("managed", &report, &memory)
    }

    /// A thread throws pages away and writes them anew all the while.
    fn unmapped(&self) -> Result {
        let steady = self.memory(self.slow, Bytes::mib(8), UnitSize::Base)?;
        let mut churned = self.memory(self.slow, Bytes::mib(8), UnitSize::Base)?;
        let up = Work {
            promote: vec![
                steady.order(0, self.slow, self.fast),
                churned.order(1, self.slow, self.fast),
            ],
            demote: Vec::new(),
        };
        let down = Work {
            promote: Vec::new(),
            demote: vec![
                steady.order(0, self.fast, self.slow),
                churned.order(1, self.fast, self.slow),
            ],
        };
        let mut mover = self.mover(Options { threads: 2, ..Options::default() });
        let mut all = Report::default();
        let over = AtomicBool::new(false);
        let churn = &mut churned;
        let rounds = thread::scope(|scope| -> Result<u64> {
            let churner = scope.spawn(|| churn_until(churn, &over));
            for _ in 0..6 {
                all.add(&mover.run(&up, &|| false));
                all.add(&mover.run(&down, &|| false));
            }
            over.store(true, Ordering::Relaxed);
            let rounds = churner.join().map_err(|_| "the churning thread panicked")?;
            rounds.map_err(Into::into)
        })?;
        churned.fill();
        churned.verify()?;
        say("unmapped", &all, &steady)?;
        println!("unmapped: pages were thrown away {rounds} times");
        Ok(())
    }

    /// The fast node has no more than its reserve, and half of a batch.
    fn full(&self) -> Result {
        let kernel = LiveKernel::new(Host::live());
        let cold = self.memory(self.fast, Bytes::mib(32), UnitSize::Huge)?;
        let hot = self.memory(self.slow, Bytes::mib(32), UnitSize::Huge)?;
        let room = kernel.room(self.fast);
        // As if it were full: all but 8 MiB of what is free is reserved.
        let reserve = BTreeMap::from([(self.fast, Bytes(room.free.0 - Bytes::mib(8).0))]);
        let mut mover = self.mover(Options { reserve, ..Options::default() });
        let report = mover.run(&self.up(&hot), &|| false);
        say("full", &report, &hot)?;
        let room = kernel.room(self.fast);
        let reserve = BTreeMap::from([(self.fast, room.free)]);
        mover.options_mut().reserve = reserve;
        let mut work = self.up(&hot);
        work.demote.push(cold.order(1, self.fast, self.slow));
        let report = mover.run(&work, &|| false);
        cold.verify()?;
        say("exchanged", &report, &hot)
    }

    /// Every free block of 2 MiB of the fast node has a page in it.
    fn fragmented(&self) -> Result {
        let kernel = LiveKernel::new(Host::live());
        let room = kernel.room(self.fast);
        let size = Bytes(room.free.0 - room.floor.0 - Bytes::mib(48).0);
        let mut crumbs = self.memory(self.fast, size, UnitSize::Base)?;
        let all = crumbs.bytes_mut();
        for piece in all.chunks_mut(4 * PAGE) {
            // SAFETY: whole pages of our own, which nobody refers to; they read as zeros after.
            let done = unsafe {
                let rest = &mut piece[PAGE..];
                libc::madvise(rest.as_mut_ptr().cast(), rest.len(), libc::MADV_DONTNEED)
            };
            if done != 0 {
                return Err(io::Error::last_os_error().into());
            }
        }
        // What is locked stays where it is if vm.compact_unevictable_allowed is 0.
        // SAFETY: names memory of our own, and changes nothing in it.
        let locked = unsafe { libc::mlock2(all.as_ptr().cast(), all.len(), MLOCK_ONFAULT) };
        if locked != 0 {
            return Err(io::Error::last_os_error().into());
        }
        // What was freed goes through lists of each CPU.
        thread::sleep(std::time::Duration::from_secs(2));
        let blocks = kernel.room(self.fast).huge_blocks;
        // Lists of each CPU hold some more.
        let size = Bytes((2 << 20) * (blocks + 64));
        let memory = self.memory(self.slow, size, UnitSize::Huge)?;
        println!("fragmented: {blocks} free blocks for {} huge pages", blocks + 64);
        let mut mover = self.mover(Options::default());
        let report = mover.run(&self.up(&memory), &|| false);
        say("fragmented", &report, &memory)?;
        mover.options_mut().split = true;
        let report = mover.run(&self.up(&memory), &|| false);
        say("in pieces", &report, &memory)
    }
}

/// Throws pages away and writes them anew, and reads back what it wrote.
fn churn_until(memory: &mut BenchMemory, over: &AtomicBool) -> io::Result<u64> {
    let mut rounds = 0;
    while !over.load(Ordering::Relaxed) {
        for (number, page) in memory.bytes_mut().chunks_mut(PAGE).enumerate() {
            if number % 3 == usize::try_from(rounds % 3).unwrap_or(0) {
                // SAFETY: a whole page of our own; it reads as zeros after.
                let done = unsafe {
                    libc::madvise(page.as_mut_ptr().cast(), page.len(), libc::MADV_DONTNEED)
                };
                if done != 0 {
                    return Err(io::Error::last_os_error());
                }
                let wrote = (number as u64).to_le_bytes();
                page[100..108].copy_from_slice(&wrote);
                if page[..100] != [0; 100] || page[100..108] != wrote {
                    return Err(io::Error::other(format!("page {number} lost what was written")));
                }
            }
        }
        rounds += 1;
    }
    Ok(rounds)
}

/// What was counted; the memory still holds what it held.
fn say(case: &str, report: &Report, memory: &BenchMemory) -> Result {
    let moved = report.moved();
    let mut line = format!("{case}: base={} huge={}", moved.base_pages, moved.huge_pages);
    for (why, amount) in &report.refused {
        line += &format!(" {why}={}", amount.base_pages + amount.huge_pages);
    }
    let back = report.moved_back.base_pages + report.moved_back.huge_pages;
    line += &format!(" back={back} splits={} pieces={}", report.splits, report.found_split);
    if report.refused.contains_key(&Refusal::NotPermitted) {
        return Err("not permitted; run as root".into());
    }
    memory.verify()?;
    println!("{line} verified");
    Ok(())
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the array holds two descriptors, which are ours from then on.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}
