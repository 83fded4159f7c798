//! Which machine this is, and which boot of it.

use crate::Host;

impl Host {
    /// What names this machine over reboots: `/etc/machine-id` (machine-id(5)), else the firmware's
    /// UUID; none where there is neither.
    #[must_use]
    pub fn machine_id(&self) -> Option<String> {
        ["etc/machine-id", "sys/class/dmi/id/product_uuid"]
            .iter()
            .find_map(|path| self.text(path))
            // A firmware that knows no UUID says zeros.
            .filter(|id| id.chars().any(|c| c.is_ascii_alphanumeric() && c != '0'))
    }

    /// What names this boot.
    #[must_use]
    pub fn boot_id(&self) -> Option<String> {
        self.text("proc/sys/kernel/random/boot_id")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_machine_is_named_by_its_system_or_its_firmware() {
        let fake = Fake::new();
        assert_eq!(fake.host().machine_id(), None);
        let dmi = "sys/class/dmi/id/product_uuid";
        fake.file(dmi, "00000000-0000-0000-0000-000000000000\n");
        assert_eq!(fake.host().machine_id(), None);
        fake.file(dmi, "4c4c4544-0042\n");
        assert_eq!(fake.host().machine_id().as_deref(), Some("4c4c4544-0042"));
        fake.file("etc/machine-id", "08a1b2\n");
        assert_eq!(fake.host().machine_id().as_deref(), Some("08a1b2"));
        assert!(Host::live().boot_id().is_some_and(|id| id.len() == 36));
    }
}
