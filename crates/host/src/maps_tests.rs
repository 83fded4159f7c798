//! Tests of the memory map parser: odd lines, and the procfs crate as an oracle.

use super::*;
use crate::fake::Fake;
use pagetide_types::AreaKind;
use procfs::{FromBufRead, process::MMapPath};
use proptest::prelude::*;

fn parse(text: impl AsRef<[u8]>) -> Result<Maps, Malformed> {
    let mut maps = Maps { text: text.as_ref().to_vec(), areas: Vec::new() };
    maps.parse().map(|()| maps)
}

/// Parses one line with this tail after the permissions.
fn one(perms: &str, tail: &str) -> (Area, String) {
    let maps = parse(format!("7f0000000000-7f0000200000 {perms} {tail}\n")).unwrap();
    let area = maps.areas()[0];
    (area, maps.name(&area).into_owned())
}

#[test]
fn kinds_and_reasons_to_skip() {
    use AreaKind::{Anonymous, File, Heap, Shared, Stack};
    for (perms, tail, kind, skip, name) in [
        ("rw-p", "00000000 00:00 0 ", Anonymous, None, ""),
        ("rw-p", "00000000 00:00 0", Anonymous, None, ""),
        ("rw-p", "00000000 00:00 0      [heap]", Heap, None, "[heap]"),
        ("rw-p", "00000000 00:00 0      [stack]", Stack, None, "[stack]"),
        ("rw-p", "00000000 00:00 0      [stack:77]", Stack, None, "[stack:77]"),
        ("rw-p", "00000000 00:00 0      [anon:a b]", Anonymous, None, "[anon:a b]"),
        ("rw-s", "00000000 00:01 9      [anon_shmem:x]", Shared, None, "[anon_shmem:x]"),
        ("r--p", "00000000 00:00 0      [vvar]", Anonymous, Some(Skip::Special), "[vvar]"),
        (
            "r--p",
            "00000000 00:00 0      [vvar_vclock]",
            Anonymous,
            Some(Skip::Special),
            "[vvar_vclock]",
        ),
        ("r-xp", "00000000 00:00 0      [vdso]", Anonymous, Some(Skip::Special), "[vdso]"),
        ("--xp", "00000000 00:00 0      [vsyscall]", Anonymous, Some(Skip::Special), "[vsyscall]"),
        ("rw-s", "00000000 00:01 1027   /dev/zero (deleted)", Shared, None, "/dev/zero"),
        ("rw-p", "00000000 00:05 5      /dev/zero", Anonymous, None, "/dev/zero"),
        ("rw-s", "00000000 00:01 32768  /SYSV00000000 (deleted)", Shared, None, "/SYSV00000000"),
        ("r--p", "00000000 fe:00 32768  /SYSV", File, None, "/SYSV"),
        (
            "rw-s",
            "00000000 00:01 99     /memfd:my buffer (deleted)",
            Shared,
            None,
            "/memfd:my buffer",
        ),
        ("rw-s", "00001000 00:1a 2      /dev/shm/pool", Shared, None, "/dev/shm/pool"),
        (
            "rw-p",
            "00000000 00:10 3      /anon_hugepage (deleted)",
            Anonymous,
            Some(Skip::Hugetlb),
            "/anon_hugepage",
        ),
        (
            "rw-s",
            "00000000 00:10 3      /dev/hugepages/pg",
            Shared,
            Some(Skip::Hugetlb),
            "/dev/hugepages/pg",
        ),
        ("rw-s", "00000000 00:06 3      /dev/dax0.0", File, Some(Skip::Device), "/dev/dax0.0"),
        (
            "rw-s",
            "00000000 00:0e 3      anon_inode:[perf_event]",
            File,
            Some(Skip::Device),
            "anon_inode:[perf_event]",
        ),
        ("rw-s", "00000000 00:08 3      socket:[123]", File, Some(Skip::Device), "socket:[123]"),
        ("rw-s", "00000000 00:0f 3      /[aio] (deleted)", File, Some(Skip::Device), "/[aio]"),
        (
            "rw-s",
            "00000000 00:0f 3      /sys/devices/pci0/resource0",
            File,
            Some(Skip::Device),
            "/sys/devices/pci0/resource0",
        ),
        ("r-xp", "00002000 fe:00 247278 /usr/bin/head", File, None, "/usr/bin/head"),
        ("r--p", "00000000 fe:00 3      /opt/two  words", File, None, "/opt/two  words"),
        ("r--p", "00000000 fe:00 3      /opt/line\\012end", File, None, "/opt/line\nend"),
        ("r--p", "00000000 fe:00 3      /old (deleted)", File, None, "/old"),
    ] {
        let (area, found) = one(perms, tail);
        assert_eq!((area.kind, area.skip, found.as_str()), (kind, skip, name), "{tail}");
        assert_eq!(area.deleted, tail.ends_with(" (deleted)"), "{tail}");
        assert_eq!(area.perms.to_string(), perms);
        assert_eq!(area.len(), 2 << 20);
    }
}

#[test]
fn numbers() {
    let (area, _) = one("rwxs", "deadbeef000 103:1f 18446744073709551615 /x");
    assert_eq!(area.offset, 0x0dea_dbee_f000);
    assert_eq!(area.dev, Dev { major: 0x103, minor: 0x1f });
    assert_eq!(area.backing(), Some((area.dev, u64::MAX)));
    let maps = parse("ffffffffff600000-ffffffffffffffff --xp 00000000 00:00 0 [vsyscall]").unwrap();
    assert_eq!(maps.areas()[0].end, VirtAddr(u64::MAX));
    assert_eq!(maps.areas()[0].backing(), None);
    // The first System V segment since boot has the number 0.
    let (area, _) = one("rw-s", "00000000 00:01 0 /SYSV00000000 (deleted)");
    assert_eq!(area.backing(), Some((Dev { major: 0, minor: 1 }, 0)));
}

#[test]
fn names_that_are_not_text_keep_their_bytes() {
    let maps = parse(b"1000-2000 r--p 00000000 fe:00 3   /\xff\\012\xfe (deleted)\n").unwrap();
    let area = maps.areas()[0];
    assert_eq!(maps.path(&area).as_bytes(), b"/\xff\n\xfe");
    assert_eq!(maps.name(&area), "/\u{fffd}\n\u{fffd}");
}

#[test]
fn an_area_listed_twice_is_cut() {
    let maps = parse(
        "1000-3000 rw-p 0 00:00 0 \n2000-5000 rw-p 0 00:00 0 \n4000-5000 rw-p 0 00:00 0\n\
         4000-7000 r--s 00010000 fe:00 7 /f\n",
    )
    .unwrap();
    let spans: Vec<_> = maps.areas().iter().map(|a| (a.start.0, a.end.0, a.offset)).collect();
    assert_eq!(spans, [(0x1000, 0x3000, 0), (0x3000, 0x5000, 0), (0x5000, 0x7000, 0x11000)]);
}

#[test]
fn malformed_lines_are_named() {
    let good = "1000-3000 rw-p 00000000 00:00 0 \n";
    for bad in [
        "x",
        "1000-3000",
        "1000 3000 rw-p 0 00:00 0",
        "3000-1000 rw-p 0 00:00 0",
        "1000-1000 rw-p 0 00:00 0",
        "1000-3000 rw-q 0 00:00 0",
        "1000-3000 wr-p 0 00:00 0",
        "1000-3000 rw-p 0 00:00 7f",
        "10000000000000000-3000 rw-p 0 00:00 0",
        "1000-3000 rw-p 0 100000000:00 0",
        "",
    ] {
        let error = parse(format!("{good}{bad}\n{good}")).unwrap_err();
        assert_eq!(error.line, 2, "{bad}");
        assert!(error.what.contains(bad), "{error:?}");
    }
}

#[test]
fn reads_into_the_same_storage_and_names_the_file() {
    let fake = Fake::new();
    fake.file("proc/5/maps", "1000-3000 rw-p 00000000 00:00 0 \n");
    fake.file("proc/6/maps", "1000-3000 rw-p 00000000 00:00 0 \nbroken\n");
    fake.file("proc/7/maps", "");
    let (host, mut maps) = (fake.host(), Maps::new());
    host.read_maps(Pid(5), &mut maps).unwrap();
    assert_eq!(maps.areas().len(), 1);
    let message = host.read_maps(Pid(6), &mut maps).unwrap_err().to_string();
    assert!(message.contains("proc/6/maps:2: expected an area"), "{message}");
    assert!(maps.areas().is_empty());
    host.read_maps(Pid(7), &mut maps).unwrap();
    assert!(maps.areas().is_empty());
    assert!(matches!(host.read_maps(Pid(8), &mut maps), Err(Error::NoProcess(Pid(8)))));
}

#[test]
fn hugetlb_by_device() {
    let mut maps =
        parse("1000-3000 rw-s 0 00:2b 4 /mnt/huge/a\n4000-5000 rw-p 0 00:00 0\n").unwrap();
    maps.mark_hugetlb(&[Dev { major: 0, minor: 0x2b }, Dev::default()]);
    assert_eq!(maps.areas()[0].skip, Some(Skip::Hugetlb));
    assert_eq!(maps.areas()[1].skip, None);
}

#[test]
fn finds_our_own_memory() {
    let mut maps = Maps::new();
    let pid = Pid(i32::try_from(std::process::id()).unwrap());
    Host::live().read_maps(pid, &mut maps).unwrap();
    let on_stack = 0u8;
    let address = std::ptr::from_ref(&on_stack).addr() as u64;
    let holds = |a: &&Area| (a.start.0..a.end.0).contains(&address);
    let area = maps.areas().iter().find(holds).unwrap();
    assert!(area.perms.has(Perms::READ) && area.perms.has(Perms::WRITE) && area.skip.is_none());
    let exe = std::env::current_exe().unwrap();
    assert!(maps.areas().iter().any(|a| *maps.path(a) == *exe.as_os_str()));
    compare(&std::fs::read("/proc/self/maps").unwrap());
}

/// Both parsers agree on everything that both report.
fn compare(text: &[u8]) {
    let ours = parse(text).unwrap();
    let theirs = procfs::process::MemoryMaps::from_buf_read(text).unwrap();
    assert_eq!(ours.areas().len(), theirs.0.len());
    for (area, their) in ours.areas().iter().zip(&theirs.0) {
        assert_eq!((area.start.0, area.end.0), their.address);
        assert_eq!((area.offset, area.inode), (their.offset, their.inode));
        assert_eq!(
            (i64::from(area.dev.major), i64::from(area.dev.minor)),
            (their.dev.0.into(), their.dev.1.into())
        );
        assert_eq!(area.perms.to_string(), their.perms.as_str());
        let name = ours.name(area);
        match &their.pathname {
            MMapPath::Heap => assert_eq!(area.kind, AreaKind::Heap),
            MMapPath::Stack | MMapPath::TStack(_) => assert_eq!(area.kind, AreaKind::Stack),
            MMapPath::Anonymous => assert_eq!(name, ""),
            MMapPath::Vdso | MMapPath::Vvar | MMapPath::Vsyscall => {
                assert_eq!(area.skip, Some(Skip::Special));
            }
            MMapPath::Vsys(_) => assert!(name.starts_with("/SYSV")),
            MMapPath::Other(inner) => assert_eq!(name, format!("[{inner}]")),
            MMapPath::Path(path) => {
                let deleted = if area.deleted { " (deleted)" } else { "" };
                assert_eq!(format!("{name}{deleted}"), path.to_string_lossy());
            }
            MMapPath::Rollup => unreachable!("only in smaps_rollup"),
        }
    }
}

/// What the kernel could write: ascending areas with any name.
fn kernel_text() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just(String::new()),
        Just("[heap]".into()),
        Just("[vdso]".into()),
        Just("/SYSV000000ff (deleted)".into()),
        "\\[anon:[a-z ]{1,9}\\]",
        "/[a-zA-Z0-9/._-]{1,30}( \\(deleted\\))?",
        "/[a-z]{1,5} [a-z]{1,5}",
    ];
    let perms = "[r-][w-][x-][ps]";
    let area =
        (1u64..1000, 1u64..1000, perms, 0..1u64 << 40, 0..256u32, 0..256u32, 0..1u64 << 40, name);
    proptest::collection::vec(area, 0..40).prop_map(|areas| {
        let mut at = 0x1000u64;
        let mut text = String::new();
        for (gap, len, perms, offset, major, minor, inode, name) in areas {
            let start = at + (gap << 12);
            at = start + (len << 12);
            let head = format!(
                "{start:08x}-{at:08x} {perms} {:08x} {major:02x}:{minor:02x} {inode} ",
                offset << 12
            );
            text += &format!("{head:<73}{name}\n");
        }
        text
    })
}

proptest! {
    #[test]
    fn agrees_with_the_procfs_crate(text in kernel_text()) {
        compare(text.as_bytes());
    }
    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(bytes);
    }
    #[test]
    fn damaged_lines_never_panic_and_areas_stay_ordered(
        text in kernel_text(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut bytes = text.into_bytes();
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        if let Ok(maps) = parse(bytes) {
            prop_assert!(maps.areas().iter().all(|a| a.start < a.end));
            prop_assert!(maps.areas().windows(2).all(|w| w[0].end <= w[1].start));
            for area in maps.areas() {
                let _ = (maps.name(area), maps.path(area));
            }
        }
    }
}
