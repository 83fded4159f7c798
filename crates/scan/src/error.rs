//! What can go wrong when looking at another process's page tables, and what to do about it.

use pagetide_host::{Features, Host};
use pagetide_types::Pid;
use std::io;

/// Why a scan could not be made. The texts name the thing and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// Missing rights: which, and how to get them.
    #[error("not permitted to read page tables: {0}")]
    NotPermitted(String),
    /// No BTF in the kernel.
    #[error(
        "this kernel has no BTF (/sys/kernel/btf/vmlinux is missing); \
         use a kernel built with CONFIG_DEBUG_INFO_BTF, as those of all major distributions are"
    )]
    NoBtf,
    /// The verifier or the kernel refused the program.
    #[error(
        "the kernel refused the page-table scan (Linux 6.1 or newer is needed; \
         `pagetide doctor` shows what is missing): {0}"
    )]
    Refused(String),
    /// The kernel's direct map could not be found.
    #[error(
        "the kernel's direct map could not be located; kernel lockdown or memory encryption \
         prevents it (`pagetide doctor` shows which)"
    )]
    NoDirectMap,
    /// A guest whose memory its host cannot read: reading what was not accepted ends it.
    #[error(
        "this is a confidential guest ({0}): finding the kernel's direct map would read memory \
         that the guest may not have accepted, which can end it; nothing was loaded. Record on a \
         machine, or in a guest, without {0}"
    )]
    Confidential(&'static str),
    /// Not an x86-64 machine, or an odd one.
    #[error("the page-table scan knows the page tables of x86-64 only")]
    Architecture,
    /// The target is gone.
    #[error(
        "process {0} does not exist (any more); `pgrep NAME` prints the numbers of those that do"
    )]
    Gone(Pid),
    /// The target has no user memory.
    #[error("process {0} is a kernel thread or exiting: it has no memory of its own to watch")]
    NoMemory(Pid),
    /// The target is kept from us though we have every right that there is.
    #[error(
        "the kernel lets nobody look into process {0}, root included, though all rights for it are \
         there: a security module or a sandbox protects it; record another process"
    )]
    Protected(Pid),
    /// The target is a virtual machine monitor.
    #[error(
        "process {0} runs a virtual machine: its guest's accesses do not show in its page table, \
         so a recording would be blind; run pagetide inside the guest instead"
    )]
    VirtualMachine(Pid),
    /// The self test failed.
    #[error(
        "the self test failed: {0}. Heat read on this machine could not be trusted, so nothing \
         is recorded (`pagetide doctor` repeats the test)"
    )]
    Blind(String),
    /// Nothing can be followed.
    #[error("{0}")]
    Target(String),
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl ScanError {
    /// The kernel refused something for want of rights.
    pub(crate) fn not_permitted() -> Self {
        Self::lacking_rights(&Host::live().features())
    }

    /// [`Self::NotPermitted`] with what these features tell of our rights.
    pub(crate) fn lacking_rights(features: &Features) -> Self {
        let lacking = features.capabilities.lacking().join(", ");
        Self::NotPermitted(match (lacking.as_str(), features.uid) {
            ("", _) => "all capabilities are there, but hold only in a user namespace, as in a \
                        rootless container; record from the host"
                .to_owned(),
            (lacking, Some(0)) => format!(
                "root has no {lacking} here, as in most containers; start the container \
                 privileged, or record from the host"
            ),
            (lacking, _) => {
                format!("it takes {lacking}; run as root (sudo), or give the binary these")
            }
        })
    }

    /// Whether no further file may be opened, by us or by anybody.
    pub(crate) fn is_out_of_files(&self) -> bool {
        let Self::System { source, .. } = self else { return false };
        matches!(source.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
    }

    /// The last system error of a call that did `what`.
    pub(crate) fn last(what: impl Into<String>) -> Self {
        Self::system(what, io::Error::last_os_error())
    }

    /// A system error of a call that did `what`.
    pub(crate) fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System { what: what.into(), source: source.into() }
    }
}

impl From<libbpf_rs::Error> for ScanError {
    fn from(error: libbpf_rs::Error) -> Self {
        Self::Refused(format!("{error:#}"))
    }
}
