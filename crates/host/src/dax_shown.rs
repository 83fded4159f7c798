//! Dax devices as anybody may see them: where one lies the kernel tells root alone (`resource` has mode 0400).

use crate::{DaxDevice, DaxDriver, Error, Host, dax::DEVICES};
use pagetide_types::{Bytes, NodeId};

/// A dax device as anybody may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaxShown {
    /// Its name, such as `dax0.0`.
    pub name: String,
    /// Its size.
    pub size: Bytes,
    /// The node that its memory would belong to.
    pub target: Option<NodeId>,
    /// What drives it.
    pub driver: DaxDriver,
    /// The UUID of its namespace.
    pub uuid: Option<String>,
    /// All of it; none where its address may not be read.
    pub whole: Option<DaxDevice>,
}

impl Host {
    /// The dax devices, by address, or by name where that is not told.
    ///
    /// # Errors
    /// When one of them has no size that can be read, or an address that is none.
    pub fn dax_devices_shown(&self) -> Result<Vec<DaxShown>, Error> {
        let mut all = Vec::new();
        for name in self.entries(DEVICES).unwrap_or_default() {
            let name = name.to_string_lossy();
            let whole = match self.dax_device(&name) {
                Ok(None) => continue,
                Ok(whole) => whole,
                Err(Error::Denied { .. } | Error::Read { .. }) => None,
                Err(error) => return Err(error),
            };
            all.push(DaxShown {
                size: Bytes(self.number(&format!("{DEVICES}/{name}"), "size")?),
                target: self.dax_node(&name, "target_node"),
                driver: self.dax_driver(&name),
                uuid: self.of_dax_parent(&name, "uuid"),
                name: name.into_owned(),
                whole,
            });
        }
        let start = |it: &DaxShown| it.whole.as_ref().map(|device| device.start);
        all.sort_by(|a, b| (start(a), &a.name).cmp(&(start(b), &b.name)));
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dax::tests::with_a_namespace, fake::Fake};

    #[test]
    fn a_device_whose_address_may_not_be_read_is_shown_without_it() {
        let fake = Fake::new();
        with_a_namespace(&fake);
        let seen = fake.host().dax_devices_shown().unwrap().remove(0);
        assert_eq!(seen.whole, fake.host().dax_device("dax1.0").unwrap());
        // Root may read every file, so it is not there.
        let device = "sys/devices/ndbus0/region1/dax1.0/dax1.0";
        std::fs::remove_file(fake.path(format!("{device}/resource"))).unwrap();
        let shown = fake.host().dax_devices_shown().unwrap();
        assert_eq!(shown, [DaxShown { whole: None, ..seen }]);
        assert_eq!((&shown[0].driver, shown[0].size), (&DaxDriver::Storage, Bytes(526_385_152)));
        assert!(shown[0].uuid.is_some() && shown[0].target == Some(NodeId(1)));
        assert!(fake.host().dax_devices().is_err(), "who changes anything must know where it lies");
        fake.file(format!("{device}/size"), "big\n");
        assert!(fake.host().dax_devices_shown().is_err());
    }
}
