//! Where the kernel maps all physical memory. The base is random per boot and not always in
//! kallsyms, so it is found by looking for a page of our own (docs/design.md, "Reading bits").

use crate::error::ScanError;
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;

const PAGE: usize = 4096;
const FRAME_MASK: u64 = (1 << 55) - 1;

/// A locked page of this process that holds a random value; unmapped on drop.
pub(crate) struct Beacon {
    page: *mut u64,
    /// The value that it holds.
    pub(crate) value: u64,
    /// Its physical address.
    pub(crate) physical: u64,
}

impl Beacon {
    pub(crate) fn new() -> Result<Self, ScanError> {
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_LOCKED | libc::MAP_POPULATE,
                -1,
                0,
            )
        };
        if page == libc::MAP_FAILED {
            return Err(ScanError::last("mapping a locked page"));
        }
        let mut beacon = Self { page: page.cast(), value: random()?, physical: 0 };
        // SAFETY: the mapping is ours, writable, and aligned to a page.
        unsafe { beacon.page.write_volatile(black_box(beacon.value)) };
        beacon.physical = physical_address(beacon.page as u64)?;
        Ok(beacon)
    }
}

impl Drop for Beacon {
    fn drop(&mut self) {
        // SAFETY: maps exactly what `new` mapped, and nobody keeps a pointer into it.
        unsafe { libc::munmap(self.page.cast(), PAGE) };
    }
}

fn random() -> Result<u64, ScanError> {
    let mut bytes = [0u8; 8];
    // SAFETY: the buffer is 8 bytes long.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got != 8 {
        return Err(ScanError::last("getrandom"));
    }
    Ok(u64::from_ne_bytes(bytes) | 1)
}

fn physical_address(address: u64) -> Result<u64, ScanError> {
    let mut entry = [0u8; 8];
    File::open("/proc/self/pagemap")
        .and_then(|file| file.read_exact_at(&mut entry, address / PAGE as u64 * 8))
        .map_err(|error| ScanError::system("reading /proc/self/pagemap", error))?;
    match u64::from_ne_bytes(entry) & FRAME_MASK {
        // Frames are hidden from processes without CAP_SYS_ADMIN.
        0 => Err(ScanError::not_permitted()),
        frame => Ok(frame * PAGE as u64),
    }
}

/// Levels of this CPU's page tables and the mask of the frame number in an entry, from cpuinfo
/// (memory encryption takes bits off the physical address; the kernel reports the reduced width).
pub(crate) fn paging() -> Result<(u32, u64), ScanError> {
    let info = std::fs::read_to_string("/proc/cpuinfo")
        .map_err(|error| ScanError::system("reading /proc/cpuinfo", error))?;
    parse_paging(&info).ok_or(ScanError::Architecture)
}

fn parse_paging(cpuinfo: &str) -> Option<(u32, u64)> {
    let field = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim())
    };
    let sizes = field("address sizes")?;
    let physical: u32 = sizes.split_once(" bits physical")?.0.parse().ok()?;
    // "57 bits virtual" is what the CPU could do; the flag says what the kernel uses.
    let five = field("flags")?.split_whitespace().any(|flag| flag == "la57");
    let levels = if five { 5 } else { 4 };
    if !(32..=52).contains(&physical) {
        return None;
    }
    Some((levels, ((1u64 << physical) - 1) & !(PAGE as u64 - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paging_follows_cpuinfo() {
        let info = |sizes: &str, flags: &str| {
            parse_paging(&format!("processor : 0\naddress sizes\t: {sizes}\nflags\t\t: {flags}\n"))
        };
        let four = info("46 bits physical, 57 bits virtual", "fpu pge");
        assert_eq!(four, Some((4, (1 << 46) - 4096)));
        let five = info("52 bits physical, 57 bits virtual", "fpu la57 pge");
        assert_eq!(five, Some((5, (1 << 52) - 4096)));
        assert_eq!(parse_paging("processor : 0\nBogoMIPS : 50\n"), None);
        assert_eq!(info("99 bits physical, 48 bits virtual", "fpu"), None);
    }
}
