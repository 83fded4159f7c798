//! Lays a region of persistent memory out in devices of one size: what can be shifted one by one.
//!
//! The granule of storage is a namespace: a device that `kmem` has is memory as a whole, and offline blocks of
//! it are no storage. Labels are written by ndctl(1), which knows their formats; what is there already
//! is read from sysfs. Only free space becomes new namespaces. A region without labels has one namespace that
//! is all of it, whether anybody made it or not: labels are written if nothing but zeros is on it (`unlabelled`).

use crate::{Fault, Kernel, LiveKernel, Refusal, Shifter, tool::run, unlabelled::is_empty};
use pagetide_host::{DaxDevice, Region};
use pagetide_types::Bytes;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Sizes of namespaces are multiples of this (drivers/nvdimm/region_devs.c, `nd_region->align`).
const ALIGN: Bytes = Bytes::mib(16);

/// What a namespace begins with.
const INFORMATION: Bytes = Bytes::kib(8);

/// What its data begin at a multiple of.
const DATA_ALIGN: Bytes = Bytes::mib(2);

/// What ndctl is given; the daemon cannot convert meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// And it takes what it is about from a driver, or gives it to one, at least at this speed, in bytes per second: page
/// structures are written for all of it.
const LAID_OUT: u64 = 1 << 30;

/// Why a region cannot be laid out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// No such region.
    #[error("there is no region '{name}' of persistent memory here; {}", listed(known))]
    NoRegion {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// What is there may be wanted.
    #[error("{region} has no labels, and {namespace} on it {why}; nothing was changed")]
    Occupied {
        /// The region.
        region: String,
        /// Its namespace.
        namespace: String,
        /// What is there, and what to do.
        why: String,
    },
    /// It is full.
    #[error("{region} has {free} free in one piece, less than {size}; {}", holders(namespaces))]
    NoSpace {
        /// The region.
        region: String,
        /// What is free in one piece.
        free: Bytes,
        /// What a device was to have.
        size: Bytes,
        /// What is in it.
        namespaces: Vec<String>,
    },
    /// A device of that size would be no use.
    #[error(
        "--size {size} makes no devices: a multiple of {ALIGN} is needed, of at least {least}, for a device loses the memory blocks \
         ({block}) that its own data and page structures lie in"
    )]
    BadSize {
        /// What was asked for.
        size: Bytes,
        /// The least that makes sense.
        least: Bytes,
        /// Size of a memory block.
        block: Bytes,
    },
    /// A tool is missing, or did not do it.
    #[error("{what}: {why}")]
    Tool {
        /// The command.
        what: String,
        /// Its answer.
        why: String,
    },
    /// The machine does not say what it is asked.
    #[error(transparent)]
    Host(#[from] pagetide_host::Error),
    /// A device cannot be offered.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The kernel did not do something.
    #[error(transparent)]
    Kernel(#[from] Fault),
}

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        return "this machine has none (CXL memory is a dax device already: --device NAME)".into();
    }
    format!("there is {}", known.join(", "))
}

fn holders(namespaces: &[String]) -> String {
    if namespaces.is_empty() {
        return "it is too small".into();
    }
    format!("it holds {}", namespaces.join(", "))
}

/// What a preparation did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Prepared {
    /// The devices that may become memory now.
    pub devices: Vec<String>,
    /// Size of each as storage.
    pub size: Bytes,
    /// What each has as memory at least.
    pub memory: Bytes,
    /// How many there are, or would be.
    pub count: u64,
}

impl Prepared {
    /// One more is, of a machine with memory blocks of such a size.
    fn add(&mut self, device: DaxDevice, block: Bytes) {
        let memory = Bytes(block.0 * device.blocks(block).len() as u64);
        self.memory = if self.count == 0 { memory } else { self.memory.min(memory) };
        self.count += 1;
        self.devices.push(device.name);
    }
}

/// What ndctl says of a namespace that it made.
#[derive(Deserialize)]
struct Made {
    uuid: String,
}

/// Where the data of a namespace of mode devdax begin whose page structures lie on it: behind its information and 64
/// bytes for each page (drivers/nvdimm/pfn_devs.c, `nd_pfn_init`).
fn data_of(size: Bytes) -> Bytes {
    let pages = size.0.saturating_sub(INFORMATION.0) / 4096;
    Bytes((INFORMATION.0 + pages * 64).next_multiple_of(DATA_ALIGN.0))
}

/// What a namespace of such a size has as memory: the blocks that lie whole in its data, if it begins where a block does.
fn memory_of(size: Bytes, block: Bytes) -> Bytes {
    let lost = data_of(size).0.div_ceil(block.0);
    Bytes((size.0 / block.0).saturating_sub(lost) * block.0)
}

/// Lays out what is free of a region in devices of `size`, at most `count` of them, and offers them. `stop` is asked
/// between two of them.
///
/// # Errors
/// When the region does not exist, is full, or holds something; when ndctl fails.
pub fn prepare(
    shifter: &mut Shifter<&LiveKernel>,
    name: &str,
    size: Bytes,
    count: u64,
    dry_run: bool,
    stop: impl Fn() -> bool,
) -> Result<Prepared, PrepareError> {
    let kernel = *shifter.kernel();
    let host = kernel.host();
    let block = kernel.block_size()?.ok_or(Refusal::NoHotplug)?;
    let memory = memory_of(size, block);
    if !size.0.is_multiple_of(ALIGN.0) || memory == Bytes(0) {
        return Err(PrepareError::BadSize { size, least: Bytes(2 * block.0), block });
    }
    let known = || PrepareError::NoRegion { name: name.to_owned(), known: host.nvdimm_regions() };
    let mut region = host.nvdimm_region(name)?.ok_or_else(known)?;
    let unlabelled = region.namespaces.iter().find(|it| it.unlabelled).cloned();
    let unclaimed = unlabelled.map(|it| is_empty(kernel, &region, &it)).transpose()?;
    let free = if unclaimed.is_some() { region.size } else { region.largest_free };
    let no_space = |region: &Region, free| PrepareError::NoSpace {
        region: region.name.clone(),
        free,
        size,
        namespaces: region
            .namespaces
            .iter()
            .map(|it| format!("{} ({})", it.name, it.size))
            .collect(),
    };
    if free < size {
        return Err(no_space(&region, free));
    }
    let fits = (free.0 / size.0).min(count);
    let mut prepared = Prepared { size, memory, count: fits, ..Prepared::default() };
    if dry_run {
        return Ok(prepared);
    }
    if let Some(unclaimed) = unclaimed {
        // ndctl takes it for itself.
        unclaimed.let_go()?;
        ndctl(&["disable-region", name], region.size)?;
        let modules: Vec<&str> = region.modules.iter().map(String::as_str).collect();
        let labelled = ndctl(&[&["init-labels"], modules.as_slice()].concat(), Bytes(0));
        ndctl(&["enable-region", name], region.size)?;
        labelled?;
        region = host.nvdimm_region(name)?.ok_or_else(known)?;
    }
    prepared.count = 0;
    while prepared.count < count && region.largest_free >= size && !stop() {
        let device = create(kernel, name, size)?;
        kernel.zero(&device, 0, None)?;
        shifter.offer(&device.name)?;
        prepared.add(device, block);
        region = host.nvdimm_region(name)?.ok_or_else(known)?;
    }
    if prepared.count == 0 && !stop() {
        return Err(no_space(&region, region.largest_free));
    }
    Ok(prepared)
}

/// A new namespace; page structures that it needs as storage lie on it, in the blocks that are lost anyhow.
fn create(kernel: &LiveKernel, region: &str, size: Bytes) -> Result<DaxDevice, PrepareError> {
    let bytes = size.0.to_string();
    let words =
        ["create-namespace", "-r", region, "-m", "devdax", "-M", "dev", "-a", "2M", "-s", &bytes];
    let said = ndctl(&words, size)?;
    let wrong =
        |why: String| PrepareError::Tool { what: format!("ndctl {}", words.join(" ")), why };
    let made: Made = serde_json::from_str(&said)
        .map_err(|error| wrong(format!("said what is not understood ({error}): {said}")))?;
    let devices = kernel.devices()?;
    devices
        .into_iter()
        .find(|device| device.uuid.as_ref() == Some(&made.uuid))
        .ok_or_else(|| wrong(format!("made {}, which is no dax device", made.uuid)))
}

/// Runs ndctl about so much storage; what it said.
fn ndctl(arguments: &[&str], about: Bytes) -> Result<String, PrepareError> {
    run("ndctl", arguments, PATIENCE + Duration::from_secs(about.0 / LAID_OUT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::PhysAddr;

    #[test]
    fn a_device_loses_the_blocks_that_its_page_structures_lie_in() {
        let block = Bytes::mib(128);
        // As the kernel lays out 512 MiB in a guest of the lab.
        assert_eq!(data_of(Bytes::mib(512)), Bytes::mib(10));
        assert_eq!(memory_of(Bytes::mib(512), block), Bytes::mib(384));
        assert_eq!(memory_of(Bytes::mib(256), block), block);
        assert_eq!(memory_of(Bytes::mib(255), block), Bytes(0));
        assert_eq!(data_of(Bytes::gib(8)), Bytes::mib(130));
        assert_eq!(memory_of(Bytes::gib(8), block), Bytes(62 * block.0));
        assert_eq!(memory_of(Bytes::gib(16), block), Bytes(125 * block.0));
        let block = Bytes::gib(2);
        assert_eq!(memory_of(Bytes::gib(8), block), Bytes::gib(6));
        assert_eq!(memory_of(Bytes::gib(64), block), Bytes::gib(62));
        assert_eq!(memory_of(Bytes::gib(128), block), Bytes::gib(124));
    }

    #[test]
    fn what_devices_have_as_memory_is_told_of_those_that_there_are() {
        let block = Bytes::mib(128);
        let mut prepared = Prepared { memory: Bytes::gib(1), ..Prepared::default() };
        // This one begins eight megabytes before a place where it would have as many.
        let start = PhysAddr((1024 + 2) << 20);
        prepared.add(crate::simulated::device(1), block);
        assert_eq!((prepared.count, prepared.memory), (1, Bytes::mib(384)));
        prepared.add(DaxDevice { start, ..crate::simulated::device(2) }, block);
        assert_eq!((prepared.count, prepared.memory), (2, Bytes::mib(256)));
        assert_eq!(prepared.devices, ["dax1.1", "dax1.2"]);
    }

    #[test]
    fn what_stands_in_the_way_is_told_with_what_there_is() {
        let known = vec!["region0".to_owned(), "region1".to_owned()];
        let error = PrepareError::NoRegion { name: "region7".into(), known };
        assert!(error.to_string().contains("there is region0, region1"), "{error}");
        let error = PrepareError::NoSpace {
            region: "region0".into(),
            free: Bytes(0),
            size: Bytes::mib(512),
            namespaces: vec!["namespace0.0 (1.00 GiB)".into()],
        };
        assert!(error.to_string().contains("it holds namespace0.0"), "{error}");
    }
}
