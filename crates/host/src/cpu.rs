//! `/proc/cpuinfo`: what matters for reading page tables.

use crate::Host;

/// The processor, as far as it decides how memory is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Its model name.
    pub model: String,
    /// Online logical CPUs.
    pub count: usize,
    /// Bits of a physical address, where the kernel says so.
    pub physical_bits: Option<u32>,
    /// Page tables have five levels, not four (`la57`: the CPU can, and the kernel does).
    pub five_levels: bool,
    /// It is the CPU of a virtual machine.
    pub hypervisor: bool,
    /// Memory encryption in the flags: `sme`, `sev`, `sev_es`, `sev_snp`, `tdx_guest`, `tme`...
    pub encryption: Vec<String>,
}

const ENCRYPTION: [&str; 7] =
    ["sme", "sev", "sev_es", "sev_snp", "tdx_guest", "tdx_host_platform", "tme"];

impl Host {
    /// The processor; empty fields where the kernel says nothing.
    #[must_use]
    pub fn cpu(&self) -> Cpu {
        parse(&self.text("proc/cpuinfo").unwrap_or_default())
    }
}

impl Cpu {
    /// What makes this machine a confidential guest, if it is one: memory that its kernel has not
    /// accepted must not be touched (Intel TDX; AMD SEV-SNP, whose flag a host's CPU has as well).
    #[must_use]
    pub fn confidential_guest(&self) -> Option<&'static str> {
        let has = |flag: &str| self.encryption.iter().any(|known| known == flag);
        match () {
            () if has("tdx_guest") => Some("Intel TDX"),
            () if self.hypervisor && has("sev_snp") => Some("AMD SEV-SNP"),
            () => None,
        }
    }
}

/// The first CPU's block speaks for all.
fn parse(text: &str) -> Cpu {
    let mut cpu = Cpu::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key.trim() {
            "processor" => cpu.count += 1,
            "model name" if cpu.count <= 1 => value.clone_into(&mut cpu.model),
            // `46 bits physical, 48 bits virtual`
            "address sizes" if cpu.count <= 1 => {
                cpu.physical_bits = value.split(' ').next().and_then(|bits| bits.parse().ok());
            }
            "flags" if cpu.count <= 1 => {
                for flag in value.split(' ') {
                    match flag {
                        "la57" => cpu.five_levels = true,
                        "hypervisor" => cpu.hypervisor = true,
                        _ if ENCRYPTION.contains(&flag) => cpu.encryption.push(flag.to_owned()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    cpu
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_flags_and_sizes() {
        let cpu = parse(
            "processor\t: 0\nmodel name\t: A CPU: 9\nflags\t\t: fpu la57 hypervisor sev sev_es\n\
             address sizes\t: 52 bits physical, 57 bits virtual\n\nprocessor\t: 1\n\
             model name\t: B\nflags\t\t: fpu\naddress sizes\t: 1 bits physical\n",
        );
        assert_eq!((cpu.model.as_str(), cpu.count, cpu.physical_bits), ("A CPU: 9", 2, Some(52)));
        assert!(cpu.five_levels && cpu.hypervisor);
        assert_eq!(cpu.encryption, ["sev", "sev_es"]);
        // What the CPU could do is not what the kernel does.
        assert!(!parse("flags: fpu\naddress sizes: 48 bits physical, 57 bits virtual").five_levels);
        assert_eq!(parse(""), Cpu::default());
    }

    #[test]
    fn confidential_guests_are_told_from_their_hosts() {
        let of =
            |flags: &str| parse(&format!("processor: 0\nflags: fpu {flags}")).confidential_guest();
        assert_eq!(of("hypervisor tdx_guest"), Some("Intel TDX"));
        assert_eq!(of("hypervisor sev sev_es sev_snp"), Some("AMD SEV-SNP"));
        for other in ["sme sev sev_es sev_snp", "tdx_host_platform tme", "hypervisor sev", ""] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn this_machine_has_a_cpu() {
        let cpu = Host::live().cpu();
        assert!(cpu.count > 0);
        if cfg!(target_arch = "x86_64") {
            assert!(cpu.physical_bits.is_some_and(|bits| (36..=52).contains(&bits)), "{cpu:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "((processor|flags|address sizes)?[:a-z0-9 ]{0,20}\n?){0,9}") {
            let _ = parse(&text);
        }
    }
}
