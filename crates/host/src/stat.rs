//! `/proc/PID/stat`: one line about a process (proc_pid_stat(5)).

use crate::{error::Malformed, files::decimal};
use pagetide_types::Pid;

/// The fields that we use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) name: String,
    pub(crate) state: char,
    pub(crate) parent: Pid,
    pub(crate) flags: u64,
    /// utime + stime.
    pub(crate) cpu_ticks: u64,
    /// cutime + cstime: of children that were waited for.
    pub(crate) waited_ticks: u64,
    /// Since boot.
    pub(crate) start_ticks: u64,
}

impl Stat {
    /// The name may hold anything, parentheses and line ends included: it ends at the last `)`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let bad = |what: &str| Malformed::new(1, what, bytes);
        let open = bytes.iter().position(|&b| b == b'(').ok_or_else(|| bad("a name in ( )"))?;
        let close = bytes.iter().rposition(|&b| b == b')').ok_or_else(|| bad("a name in ( )"))?;
        let name = bytes.get(open + 1..close).ok_or_else(|| bad("a name in ( )"))?;
        let fields: Vec<&[u8]> =
            bytes[close + 1..].split(u8::is_ascii_whitespace).filter(|f| !f.is_empty()).collect();
        // Fields are numbered as in the manual; the state is number 3.
        let number = |field: usize| {
            fields
                .get(field - 3)
                .and_then(|text| decimal(text))
                .ok_or_else(|| bad(&format!("a number in field {field}")))
        };
        let state = fields.first().and_then(|f| f.first()).ok_or_else(|| bad("a state"))?;
        Ok(Self {
            name: String::from_utf8_lossy(name).into_owned(),
            state: char::from(*state),
            parent: Pid(i32::try_from(number(4)?).map_err(|_| bad("a parent in field 4"))?),
            flags: number(9)?,
            cpu_ticks: number(14)?.saturating_add(number(15)?),
            // Signed in the kernel, and never negative in practice.
            waited_ticks: number(16).unwrap_or(0).saturating_add(number(17).unwrap_or(0)),
            start_ticks: number(22)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REST: &str = "S 1 7747 4841 0 -1 4194304 97 0 0 0 11 5 7 3 20 0 1 0 122103 3133440 382";

    #[test]
    fn odd_names() {
        for name in ["cat", "a b", "x) R 1 (y", "", "two\nlines", "ü"] {
            let stat = Stat::parse(format!("42 ({name}) {REST}\n").as_bytes()).unwrap();
            assert_eq!(stat.name, name);
            assert_eq!((stat.state, stat.parent), ('S', Pid(1)));
            assert_eq!((stat.cpu_ticks, stat.waited_ticks, stat.start_ticks), (16, 10, 122_103));
        }
        let stat = Stat::parse(&[b"1 (\xff\xfe) ", REST.as_bytes()].concat()).unwrap();
        assert_eq!(stat.name, "\u{fffd}\u{fffd}");
    }

    #[test]
    fn refuses_what_is_cut_short() {
        for text in ["", "1", "1 (cat", "1 )(", "1 (cat)", "1 (cat) S 1 2 3", "1 (cat) S x 2 3"] {
            assert_eq!(Stat::parse(text.as_bytes()).unwrap_err().line, 1, "{text}");
        }
    }

    #[test]
    fn agrees_with_the_procfs_crate_on_ourselves() {
        use procfs::FromRead;
        let bytes = std::fs::read("/proc/self/stat").unwrap();
        let ours = Stat::parse(&bytes).unwrap();
        let theirs = procfs::process::Stat::from_read(&bytes[..]).unwrap();
        assert_eq!(ours.name, theirs.comm);
        assert_eq!(ours.parent.0, theirs.ppid);
        assert_eq!(ours.flags, u64::from(theirs.flags));
        assert_eq!(ours.cpu_ticks, theirs.utime + theirs.stime);
        assert_eq!(ours.start_ticks, theirs.starttime);
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Stat::parse(&bytes);
        }
        #[test]
        fn never_panics_on_almost_right(text in "[0-9]{0,3} ?[()a-z \n-]{0,12} [SRZ0-9 -]{0,80}") {
            let _ = Stat::parse(text.as_bytes());
        }
    }
}
