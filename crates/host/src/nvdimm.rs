//! Regions of persistent memory and the namespaces in them (drivers/nvdimm/, Documentation/driver-api/nvdimm/nvdimm.rst).

use crate::{Error, Host, files::decimal};
use pagetide_types::Bytes;

const DIR: &str = "sys/bus/nd/devices";

/// `ND_DEVICE_NAMESPACE_IO` (include/uapi/linux/ndctl.h): all of a region without labels.
const WITHOUT_LABELS: u64 = 4;

/// A namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its name, such as `namespace0.0`.
    pub name: String,
    /// Its size.
    pub size: Bytes,
    /// `raw`, `safe` (sectors), `memory` (file systems) or `dax`.
    pub mode: String,
    /// Its UUID; none without labels.
    pub uuid: Option<String>,
    /// Its block device, such as `pmem0`, where it has one.
    pub block_device: Option<String>,
    /// It is all of its region because that has no labels: it is there whether anybody made it or not.
    pub unlabelled: bool,
}

/// A region of persistent memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its name, such as `region0`.
    pub name: String,
    /// Its size.
    pub size: Bytes,
    /// The most that one new namespace could have.
    pub largest_free: Bytes,
    /// Its modules, such as `nmem0`.
    pub modules: Vec<String>,
    /// Namespaces that have a size.
    pub namespaces: Vec<Namespace>,
}

impl Host {
    /// Names of the regions of persistent memory.
    #[must_use]
    pub fn nvdimm_regions(&self) -> Vec<String> {
        let names = self.entries(DIR).unwrap_or_default();
        let mut regions: Vec<String> = names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .filter(|name| {
                name.strip_prefix("region").is_some_and(|rest| decimal(rest.as_bytes()).is_some())
            })
            .collect();
        regions.sort();
        regions
    }

    /// A region of persistent memory; none where there is none by that name.
    ///
    /// # Errors
    /// When a size cannot be read.
    pub fn nvdimm_region(&self, name: &str) -> Result<Option<Region>, Error> {
        let dir = format!("{DIR}/{name}");
        if !name.starts_with("region") || !self.path(&dir).exists() {
            return Ok(None);
        }
        let mut modules = Vec::new();
        let mut namespaces = Vec::new();
        let mut entries: Vec<String> =
            self.entries(&dir)?.into_iter().filter_map(|name| name.into_string().ok()).collect();
        entries.sort();
        for entry in entries {
            let mapping = entry.strip_prefix("mapping").and_then(|rest| decimal(rest.as_bytes()));
            if mapping.is_some() {
                let text = self.text(format!("{dir}/{entry}")).unwrap_or_default();
                modules.extend(text.split(',').next().map(str::to_owned));
            } else if entry.strip_prefix("namespace").is_some_and(|rest| rest.contains('.')) {
                namespaces.push(self.namespace(&dir, entry)?);
            }
        }
        namespaces.retain(|it| it.size > Bytes(0));
        Ok(Some(Region {
            name: name.to_owned(),
            size: self.bytes(&format!("{dir}/size"))?,
            largest_free: self.bytes(&format!("{dir}/max_available_extent"))?,
            modules,
            namespaces,
        }))
    }

    fn namespace(&self, region: &str, name: String) -> Result<Namespace, Error> {
        let dir = format!("{region}/{name}");
        let text = |file: &str| self.text(format!("{dir}/{file}")).unwrap_or_default();
        Ok(Namespace {
            size: self.bytes(&format!("{dir}/size"))?,
            mode: text("mode"),
            uuid: Some(text("uuid")).filter(|uuid| !uuid.is_empty()),
            block_device: self
                .entries(format!("{dir}/block"))
                .unwrap_or_default()
                .into_iter()
                .find_map(|name| name.into_string().ok()),
            unlabelled: decimal(text("nstype").as_bytes()) == Some(WITHOUT_LABELS),
            name,
        })
    }

    fn bytes(&self, path: &str) -> Result<Bytes, Error> {
        let bytes = self.read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let number = decimal(text.trim().as_bytes());
        number.map(Bytes).ok_or_else(|| Error::Parse {
            path: self.path(path),
            line: 1,
            what: format!("expected a number of bytes, found {:?}", text.trim()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_region_tells_its_modules_and_namespaces() {
        let fake = Fake::new();
        let dir = format!("{DIR}/region1");
        fake.file(format!("{dir}/size"), "2147483648\n");
        fake.file(format!("{dir}/max_available_extent"), "1073741824\n");
        fake.file(format!("{dir}/mapping0"), "nmem0,0,2147483648,0\n")
            .file(format!("{dir}/mappings"), "1\n");
        for (name, size, mode, nstype) in
            [("1.0", "1073741824", "dax", "5"), ("1.1", "0", "", "5"), ("_seed", "", "", "")]
        {
            let dir = format!("{dir}/namespace{name}");
            fake.file(format!("{dir}/size"), size).file(format!("{dir}/mode"), mode);
            fake.file(format!("{dir}/nstype"), nstype).file(format!("{dir}/uuid"), "0be1\n");
        }
        let region = fake.host().nvdimm_region("region1").unwrap().unwrap();
        assert_eq!((region.size, region.largest_free), (Bytes::gib(2), Bytes::gib(1)));
        assert_eq!(
            (region.modules.as_slice(), region.namespaces.len()),
            (&["nmem0".to_owned()][..], 1)
        );
        let namespace = &region.namespaces[0];
        assert_eq!((namespace.mode.as_str(), namespace.unlabelled), ("dax", false));
        assert_eq!(namespace.uuid.as_deref(), Some("0be1"));
        assert_eq!(fake.host().nvdimm_regions(), ["region1"]);
        assert_eq!(fake.host().nvdimm_region("region2").unwrap(), None);
    }

    #[test]
    fn a_namespace_without_labels_is_told_with_its_block_device() {
        let fake = Fake::new();
        let dir = format!("{DIR}/region0");
        fake.file(format!("{dir}/size"), "4096\n")
            .file(format!("{dir}/max_available_extent"), "0\n");
        fake.file(format!("{dir}/namespace0.0/size"), "4096\n");
        fake.file(format!("{dir}/namespace0.0/nstype"), "4\n")
            .dir(format!("{dir}/namespace0.0/block/pmem0"));
        let region = fake.host().nvdimm_region("region0").unwrap().unwrap();
        let it = &region.namespaces[0];
        assert_eq!((it.unlabelled, it.block_device.as_deref()), (true, Some("pmem0")));
        fake.file(format!("{dir}/size"), "much\n");
        let error = fake.host().nvdimm_region("region0").unwrap_err().to_string();
        assert!(error.contains("region0/size:1"), "{error}");
    }
}
