//! `/proc/PID/mountinfo`: what is mounted where (proc_pid_mountinfo(5)).

use crate::{Dev, Error, Host, error::Malformed, files::lines};
use pagetide_types::Pid;
use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

/// One mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Its device number.
    pub dev: Dev,
    /// Which directory of the file system is mounted.
    pub root: PathBuf,
    /// Where.
    pub point: PathBuf,
    /// What, e.g. `cgroup2`.
    pub kind: String,
    /// Options of the file system, e.g. the controllers of a version 1 cgroup.
    pub options: Vec<String>,
}

impl Host {
    /// What a process sees mounted.
    ///
    /// # Errors
    /// When the process is gone, or the file has an unknown format.
    pub fn mounts_of(&self, pid: Pid) -> Result<Vec<Mount>, Error> {
        let bytes = self.read_proc(pid, "mountinfo")?;
        parse(&bytes).map_err(|bad| bad.at(self.proc(pid, "mountinfo")))
    }

    /// What we see mounted.
    ///
    /// # Errors
    /// When `/proc/self/mountinfo` cannot be read or has an unknown format.
    pub fn mounts(&self) -> Result<Vec<Mount>, Error> {
        let path = "proc/self/mountinfo";
        parse(&self.read(path)?).map_err(|bad| bad.at(self.path(path)))
    }

    /// Devices of the hugetlb file systems that a process sees, for
    /// [`Maps::mark_hugetlb`](crate::Maps::mark_hugetlb).
    ///
    /// # Errors
    /// As [`mounts_of`](Self::mounts_of).
    pub fn hugetlb_devices(&self, pid: Pid) -> Result<Vec<Dev>, Error> {
        let mounts = self.mounts_of(pid)?;
        Ok(mounts.iter().filter(|m| m.kind == "hugetlbfs").map(|m| m.dev).collect())
    }
}

fn parse(bytes: &[u8]) -> Result<Vec<Mount>, Malformed> {
    lines(bytes)
        .map(|(number, line)| {
            mount(line).ok_or_else(|| Malformed::new(number, "a mounted file system", line))
        })
        .collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn mount(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|&b| b == b' ').collect();
    let dash = fields.iter().skip(6).position(|field| *field == b"-")? + 6;
    let (major, minor) = std::str::from_utf8(fields[2]).ok()?.split_once(':')?;
    let options = String::from_utf8_lossy(fields.get(dash + 3)?).into_owned();
    Some(Mount {
        dev: Dev { major: major.parse().ok()?, minor: minor.parse().ok()? },
        root: unescape(fields[3]),
        point: unescape(fields[4]),
        kind: String::from_utf8_lossy(fields.get(dash + 1)?).into_owned(),
        options: options.split(',').map(str::to_owned).collect(),
    })
}

/// Blanks and backslashes are written as `\` and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut plain = Vec::with_capacity(field.len());
    let mut at = 0;
    while at < field.len() {
        let code = match field.get(at..at + 4) {
            Some([b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7']) => {
                Some((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'))
            }
            _ => None,
        };
        plain.push(code.unwrap_or(field[at]));
        at += if code.is_some() { 4 } else { 1 };
    }
    OsString::from_vec(plain).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use proptest::prelude::*;

    const TEXT: &str = "\
36 35 98:0 / / rw,noatime - ext4 /dev/root rw
37 36 0:29 /a /mnt/two\\040words\\134 rw master:1 shared:2 - cgroup none rw,memory,name=x
38 36 0:43 / /mnt/huge rw - hugetlbfs none rw,pagesize=2M
39 36 0:44 / /mnt/empty rw -  none rw
";

    #[test]
    fn reads_mounts() {
        let fake = Fake::new();
        fake.file("proc/self/mountinfo", TEXT).file("proc/7/mountinfo", TEXT);
        let mounts = fake.host().mounts().unwrap();
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[1].point, PathBuf::from("/mnt/two words\\"));
        assert_eq!(mounts[1].options, ["rw", "memory", "name=x"]);
        assert_eq!((mounts[1].kind.as_str(), mounts[1].root.to_str()), ("cgroup", Some("/a")));
        assert_eq!(fake.host().hugetlb_devices(Pid(7)).unwrap(), [Dev { major: 0, minor: 43 }]);
        assert!(matches!(fake.host().hugetlb_devices(Pid(8)), Err(Error::NoProcess(_))));
    }

    #[test]
    fn names_the_line_at_fault() {
        let fake = Fake::new();
        fake.file("proc/self/mountinfo", format!("{TEXT}40 36 x / /y rw - tmpfs none rw\n"));
        let message = fake.host().mounts().unwrap_err().to_string();
        assert!(message.contains("proc/self/mountinfo:5: expected a mounted"), "{message}");
    }

    #[test]
    fn reads_our_own() {
        assert!(Host::live().mounts().unwrap().iter().any(|m| m.kind == "proc"));
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }
        #[test]
        fn never_panics_on_almost_right(text in "([0-9:/a-z\\\\ -]{0,12}[ -]){0,12}") {
            let _ = parse(text.as_bytes());
        }
    }
}
