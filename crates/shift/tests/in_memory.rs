//! Locks all memory of its process, so it has one of its own.

#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

fn locked_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn what_is_there_is_locked_and_so_is_what_comes() {
    let test = "what_is_there_is_locked_and_so_is_what_comes";
    if !pagetide_shift::is_root() {
        eprintln!("SKIPPED {test}: only root may lock so much");
        return;
    }
    pagetide_shift::stay_in_memory().unwrap();
    let before = locked_kib();
    assert!(before > 1024, "{before}");
    let much = vec![1_u8; 16 << 20];
    assert!(locked_kib() >= before + (16 << 10), "{before}, and {} bytes", much.len());
}
