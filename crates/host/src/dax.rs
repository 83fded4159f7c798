//! Devices of direct access: memory that the kernel does not use by itself, such as persistent
//! memory and CXL memory (drivers/dax/bus.c, Documentation/ABI/testing/sysfs-bus-dax; for the
//! namespaces under them drivers/nvdimm/).

use crate::{BlockId, Dev, Error, Host, files::decimal};
use pagetide_types::{Bytes, NodeId, PhysAddr};
use serde::Serialize;
use std::{os::unix::fs::MetadataExt, path::PathBuf};

pub(crate) const DEVICES: &str = "sys/bus/dax/devices";

/// What drives a dax device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DaxDriver {
    /// `device_dax`: programs map it as storage.
    Storage,
    /// `kmem`: it is memory, or ready to be.
    Memory,
    /// Nothing.
    None,
    /// Another driver.
    Other(String),
}

/// A dax device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaxDevice {
    /// Its name, such as `dax0.0`. Names may change from boot to boot.
    pub name: String,
    /// Its first byte.
    pub start: PhysAddr,
    /// Its size, of all ranges together.
    pub size: Bytes,
    /// How many ranges of addresses it has: more than one where its region was in pieces when it was made. Then where it
    /// begins says nothing of where the rest lies.
    pub ranges: usize,
    /// The node that its memory would belong to; none where the firmware does not say.
    pub target: Option<NodeId>,
    /// The online node that is nearest to it, as the firmware says.
    pub near: Option<NodeId>,
    /// What drives it.
    pub driver: DaxDriver,
    /// The number of `/dev/NAME`.
    pub dev: Option<Dev>,
    /// The UUID of its namespace; none for devices without labels (CXL, `efi_fake_mem`).
    pub uuid: Option<String>,
    /// The name of its namespace, such as `namespace0.0`.
    pub namespace: Option<String>,
    /// Whether its page structures are to lie on itself once it is memory; none where the kernel
    /// cannot be told (before 6.8).
    pub memmap_on_memory: Option<bool>,
    /// What changes when a device is made anew, at the same place or another: the number of its folder in sysfs.
    pub made: Option<u64>,
}

impl DaxDevice {
    /// The memory blocks that lie in it whole: what it has as memory. `kmem` leaves the ends out. Of a device of several
    /// ranges they are not known.
    #[must_use]
    pub fn blocks(&self, block_size: Bytes) -> Vec<BlockId> {
        if self.ranges > 1 {
            return Vec::new();
        }
        let size = block_size.0.max(1);
        let end = self.start.0.saturating_add(self.size.0) / size;
        (self.start.0.div_ceil(size)..end).map(BlockId).collect()
    }
}

impl Host {
    /// The dax devices, by address.
    ///
    /// # Errors
    /// When one of them has no address or no size that can be read.
    pub fn dax_devices(&self) -> Result<Vec<DaxDevice>, Error> {
        let names = self.entries(DEVICES).unwrap_or_default();
        let mut all = Vec::new();
        for name in names {
            // One that goes away while it is read is not there.
            if let Some(device) = self.dax_device(&name.to_string_lossy())? {
                all.push(device);
            }
        }
        all.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
        Ok(all)
    }

    /// A dax device by its name; none where there is none.
    ///
    /// # Errors
    /// When its address or its size cannot be read.
    pub fn dax_device(&self, name: &str) -> Result<Option<DaxDevice>, Error> {
        let dir = format!("{DEVICES}/{name}");
        if !self.path(&dir).exists() {
            return Ok(None);
        }
        let size = self.number(&dir, "size")?;
        let start = self.number(&dir, "resource")?;
        Ok(Some(DaxDevice {
            name: name.to_owned(),
            start: PhysAddr(start),
            size: Bytes(size),
            ranges: self.dax_ranges(name),
            target: self.dax_node(name, "target_node"),
            near: self.dax_node(name, "numa_node"),
            driver: self.dax_driver(name),
            dev: self.text(format!("{dir}/dev")).and_then(|text| {
                let (major, minor) = text.split_once(':')?;
                Some(Dev { major: major.parse().ok()?, minor: minor.parse().ok()? })
            }),
            uuid: self.of_dax_parent(name, "uuid"),
            namespace: self.of_dax_parent(name, "namespace"),
            memmap_on_memory: self
                .text(format!("{dir}/memmap_on_memory"))
                .map(|text| text == "1" || text == "Y"),
            made: std::fs::metadata(self.path(&dir)).ok().map(|folder| folder.ino()),
        }))
    }

    /// How many ranges a device has: `mapping0`, `mapping1` and so on (Linux 5.10; before it there was one).
    fn dax_ranges(&self, name: &str) -> usize {
        let files = self.entries(format!("{DEVICES}/{name}")).unwrap_or_default();
        let is_range = |file: &str| {
            file.strip_prefix("mapping").is_some_and(|number| decimal(number.as_bytes()).is_some())
        };
        files.iter().filter(|file| is_range(&file.to_string_lossy())).count().max(1)
    }

    /// A node that a device names.
    pub(crate) fn dax_node(&self, name: &str, file: &str) -> Option<NodeId> {
        self.text(format!("{DEVICES}/{name}/{file}"))?.parse::<u16>().ok().map(NodeId)
    }

    /// A file of what a device was made of, such as `.../region0/dax0.0/dax0.0`: its parent knows the namespace.
    pub(crate) fn of_dax_parent(&self, name: &str, file: &str) -> Option<String> {
        let device = self.path(format!("{DEVICES}/{name}")).canonicalize().ok()?;
        let text = std::fs::read_to_string(device.parent()?.join(file)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// What drives a dax device.
    #[must_use]
    pub fn dax_driver(&self, name: &str) -> DaxDriver {
        let Ok(link) = self.link(format!("{DEVICES}/{name}/driver")) else {
            return DaxDriver::None;
        };
        match link.file_name().map(|name| name.to_string_lossy()) {
            Some(name) if name == "device_dax" => DaxDriver::Storage,
            Some(name) if name == "kmem" => DaxDriver::Memory,
            Some(name) => DaxDriver::Other(name.into_owned()),
            None => DaxDriver::None,
        }
    }

    /// Whether the kernel has this dax driver (its module is loaded, or built in).
    #[must_use]
    pub fn has_dax_driver(&self, driver: &str) -> bool {
        self.path(format!("sys/bus/dax/drivers/{driver}")).exists()
    }

    /// A file of a dax driver: `bind`, `unbind`, `new_id` or `remove_id`.
    #[must_use]
    pub fn dax_driver_path(&self, driver: &str, file: &str) -> PathBuf {
        self.path(format!("sys/bus/dax/drivers/{driver}/{file}"))
    }

    /// The file of a dax device that says where its page structures shall lie.
    #[must_use]
    pub fn dax_memmap_path(&self, name: &str) -> PathBuf {
        self.path(format!("{DEVICES}/{name}/memmap_on_memory"))
    }

    /// A number of a device, decimal or with `0x`.
    pub(crate) fn number(&self, dir: &str, file: &str) -> Result<u64, Error> {
        let path = format!("{dir}/{file}");
        let bytes = self.read(&path)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        let number = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => decimal(text.as_bytes()),
        };
        number.ok_or_else(|| Error::Parse {
            path: self.path(path),
            line: 1,
            what: format!("expected a number, found {text:?}"),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::fake::Fake;
    use proptest::prelude::*;

    /// A namespace of 512 MiB at 4 GiB as Linux 6.12 shows it in a guest of the lab.
    pub(crate) fn with_a_namespace(fake: &Fake) {
        let region = "sys/devices/ndbus0/region1/dax1.0";
        fake.file(format!("{region}/uuid"), "0be193f2-b41c-4f6f-9906-f7f2e58f42bb\n");
        fake.file(format!("{region}/namespace"), "namespace1.0\n");
        let device = format!("{region}/dax1.0");
        fake.file(format!("{device}/resource"), "0x100a00000\n");
        fake.file(format!("{device}/size"), "526385152\n");
        fake.file(format!("{device}/target_node"), "1\n");
        fake.file(format!("{device}/numa_node"), "0\n");
        fake.file(format!("{device}/dev"), "253:1\n");
        fake.file(format!("{device}/memmap_on_memory"), "0\n");
        fake.file(format!("{device}/mapping0/page_offset"), "0x0\n");
        fake.link(format!("{device}/driver"), "../../../../../bus/dax/drivers/device_dax");
        fake.link(format!("{DEVICES}/dax1.0"), "../../../devices/ndbus0/region1/dax1.0/dax1.0");
    }

    #[test]
    fn a_device_is_told_with_its_namespace() {
        let fake = Fake::new();
        with_a_namespace(&fake);
        let all = fake.host().dax_devices().unwrap();
        assert_eq!(all.len(), 1);
        let it = &all[0];
        assert_eq!((it.start, it.size), (PhysAddr(0x1_00a0_0000), Bytes(526_385_152)));
        assert_eq!((it.target, &it.driver), (Some(NodeId(1)), &DaxDriver::Storage));
        assert_eq!(it.near, Some(NodeId(0)));
        assert_eq!(it.dev, Some(Dev { major: 253, minor: 1 }));
        assert_eq!(it.uuid.as_deref(), Some("0be193f2-b41c-4f6f-9906-f7f2e58f42bb"));
        assert_eq!(it.namespace.as_deref(), Some("namespace1.0"));
        assert_eq!(it.memmap_on_memory, Some(false));
    }

    #[test]
    fn of_a_device_of_several_ranges_no_blocks_are_known() {
        let fake = Fake::new();
        with_a_namespace(&fake);
        let device = "sys/devices/ndbus0/region1/dax1.0/dax1.0";
        for other in ["mapping", "mappings", "mapping_0"] {
            fake.dir(format!("{device}/{other}"));
        }
        let it = fake.host().dax_device("dax1.0").unwrap().unwrap();
        assert_eq!((it.ranges, it.blocks(Bytes::mib(128)).len()), (1, 3));
        fake.file(format!("{device}/mapping1/page_offset"), "0x5fa00\n");
        let it = fake.host().dax_device("dax1.0").unwrap().unwrap();
        assert_eq!((it.ranges, it.blocks(Bytes::mib(128))), (2, vec![]));
    }

    #[test]
    fn a_device_that_is_made_anew_is_told_from_the_one_before() {
        let fake = Fake::new();
        with_a_namespace(&fake);
        let made = || fake.host().dax_device("dax1.0").unwrap().unwrap().made.unwrap();
        let before = made();
        std::fs::remove_file(fake.path("sys/devices/ndbus0/region1/dax1.0/dax1.0/driver")).unwrap();
        assert_eq!(made(), before, "without a driver it is the same");
        let region = fake.path("sys/devices/ndbus0/region1/dax1.0");
        std::fs::rename(region.join("dax1.0"), region.join("old")).unwrap();
        std::fs::create_dir(region.join("dax1.0")).unwrap();
        for file in ["resource", "size"] {
            std::fs::copy(region.join("old").join(file), region.join("dax1.0").join(file)).unwrap();
        }
        assert_ne!(made(), before);
    }

    #[test]
    fn of_a_device_whole_blocks_are_memory() {
        let fake = Fake::new();
        with_a_namespace(&fake);
        let it = fake.host().dax_device("dax1.0").unwrap().unwrap();
        // As `System RAM (kmem)` stood in /proc/iomem: 0x108000000 to 0x11fffffff.
        assert_eq!(it.blocks(Bytes::mib(128)), [33, 34, 35].map(BlockId));
        assert_eq!(it.blocks(Bytes::gib(2)), []);
    }

    #[test]
    fn no_dax_bus_is_no_devices_and_a_broken_one_is_named() {
        let fake = Fake::new();
        assert_eq!(fake.host().dax_devices().unwrap(), []);
        assert!(!fake.host().has_dax_driver("kmem"));
        fake.file(format!("{DEVICES}/dax0.0/size"), "big\n");
        let error = fake.host().dax_devices().unwrap_err().to_string();
        assert!(error.contains("dax0.0/size:1"), "{error}");
    }

    proptest! {
        #[test]
        fn blocks_lie_in_the_device(start: u64, size: u64, shift in 12_u32..40) {
            let device = DaxDevice {
                name: "dax0.0".into(),
                start: PhysAddr(start),
                size: Bytes(size % (1 << 45)),
                ranges: 1,
                target: None,
                near: None,
                driver: DaxDriver::None,
                dev: None,
                uuid: None,
                namespace: None,
                memmap_on_memory: None,
                made: None,
            };
            let block = 1_u64 << shift.max(27);
            for id in device.blocks(Bytes(block)).iter().take(8) {
                prop_assert!(id.0 * block >= start);
                prop_assert!((id.0 + 1).saturating_mul(block) <= start.saturating_add(device.size.0));
            }
        }
    }
}
