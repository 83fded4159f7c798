//! The helper that stays, as it is asked to take blocks offline. A shell stands for it.

use super::*;
use crate::shell_helper::Rig;
use std::fs;

const LONG: Duration = Duration::from_secs(20);

/// Blocks 7 and 8, in use, and a kernel whose helper is a script. In it `offline N` takes a block offline, and `$starts`
/// says how often it has been started.
fn rig(script: &str) -> Rig {
    let memory = "sys/devices/system/memory";
    let files = [7, 8].map(|block| format!("{memory}/memory{block}/state"));
    let files: Vec<_> = files.iter().map(|path| (&**path, "online\n")).collect();
    let begin = format!(
        "echo >>$root/starts; starts=$(wc -l <$root/starts)
        offline() {{ echo offline >$root/{memory}/memory$1/state; }}"
    );
    crate::shell_helper::rig(&files, &format!("{begin}\n{script}"))
}

impl Rig {
    fn starts(&self) -> usize {
        fs::read_to_string(self.root.path().join("starts")).unwrap().lines().count()
    }
    fn state(&self, block: u64) -> BlockState {
        self.kernel.block(BlockId(block)).unwrap().unwrap().state
    }
}

#[test]
fn one_helper_takes_all_blocks_offline() {
    let rig = rig("while read what block; do $what $block; echo done; done");
    for block in [7, 8] {
        rig.kernel.offline(BlockId(block), LONG, &|| false).unwrap();
        assert_eq!(rig.state(block), BlockState::Offline);
    }
    assert_eq!(rig.starts(), 1);
}

#[test]
fn what_a_helper_did_before_it_was_ended_is_done() {
    let did = rig("read what block; $what $block; kill -9 $$");
    did.kernel.offline(BlockId(7), LONG, &|| false).unwrap();
    let hangs = rig("read what block; $what $block; exec sleep 1000");
    hangs.kernel.offline(BlockId(7), Duration::from_secs(1), &|| false).unwrap();
}

#[test]
fn a_helper_that_is_ended_or_hangs_is_followed_by_another() {
    let rest = "while read what block; do $what $block; echo done; done";
    let ended = rig(&format!("if [ $starts = 1 ]; then read line; kill -9 $$; fi; {rest}"));
    let fault = ended.kernel.offline(BlockId(7), LONG, &|| false).unwrap_err();
    assert_eq!(fault.to_string(), "cannot take block 7 offline: the helper ended");
    let hangs = rig(&format!("if [ $starts = 1 ]; then read line; exec sleep 1000; fi; {rest}"));
    let short = Duration::from_millis(50);
    let fault = hangs.kernel.offline(BlockId(7), short, &|| false).unwrap_err();
    assert_eq!(fault.why, Why::TimeUp(short));
    for rig in [ended, hangs] {
        assert_eq!(rig.state(7), BlockState::Online);
        rig.kernel.offline(BlockId(7), LONG, &|| false).unwrap();
        assert_eq!((rig.state(7), rig.starts()), (BlockState::Offline, 2));
    }
}

#[test]
fn a_block_goes_offline_for_as_long_as_nobody_wants_it_to_stop() {
    let rig = rig("while read what block; do sleep 1; $what $block; echo done; done");
    let since = Instant::now();
    let fault = rig.kernel.offline(BlockId(7), LONG, &|| true).unwrap_err();
    assert!(matches!(fault.why, Why::TimeUp(spent) if spent < LONG), "{fault}");
    assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
    rig.kernel.offline(BlockId(7), LONG, &|| false).unwrap();
    assert_eq!((rig.state(7), rig.starts()), (BlockState::Offline, 2));
}

#[test]
fn what_the_kernel_does_not_end_is_given_up() {
    let rest = "while read what path word; do echo $word >$path; echo done; done";
    let mut rig = rig(&format!("if [ $starts = 1 ]; then read line; exec sleep 1000; fi; {rest}"));
    rig.kernel.patience = Duration::from_millis(50);
    let fault = rig.kernel.online_movable(BlockId(7)).unwrap_err();
    assert_eq!(fault.why, Why::TimeUp(Duration::from_millis(50)));
    assert_eq!(rig.starts(), 1);
    rig.kernel.patience = LONG;
    rig.kernel.online_movable(BlockId(7)).unwrap();
    let path = rig.root.path().join("sys/devices/system/memory/memory7/state");
    assert_eq!((fs::read_to_string(path).unwrap().trim(), rig.starts()), ("online_movable", 2));
}

#[test]
fn one_that_ended_while_nobody_asked_it_is_not_asked() {
    let rig =
        rig("while read what block; do $what $block; echo done; [ $starts = 1 ] && exit; done");
    rig.kernel.offline(BlockId(8), LONG, &|| false).unwrap();
    while !rig.kernel.helpers.has_ended() {
        std::thread::sleep(Duration::from_millis(5));
    }
    rig.kernel.offline(BlockId(7), LONG, &|| false).unwrap();
    assert_eq!(rig.starts(), 2);
}

#[test]
fn both_helpers_are_started_before_anybody_asks() {
    let rig = rig("while read what more; do echo done 5; done");
    rig.kernel.be_ready().unwrap();
    let folder = rig.root.path().join("sys/devices/system/memory/memory7");
    fs::write(folder.join("state"), "offline\n").unwrap();
    rig.kernel.offline(BlockId(7), LONG, &|| false).unwrap();
    rig.kernel.begin_zeroing(&device(&rig), 0).unwrap();
    assert_eq!(rig.kernel.zeroed(LONG, &|| false), Ok(Some(5)));
    assert_eq!(rig.starts(), 2);
}

/// A device that there is, for what is asked about its name and number.
fn device(rig: &Rig) -> DaxDevice {
    let folder = rig.root.path().join("dev");
    fs::create_dir_all(&folder).unwrap();
    // It may be there already.
    let _ = std::os::unix::fs::symlink("/dev/null", folder.join("dax1.1"));
    let dev = Some(pagetide_host::Dev { major: 1, minor: 3 });
    DaxDevice { dev, ..crate::simulated::device(1) }
}

#[test]
fn who_does_not_say_who_has_a_device_open_is_given_up_and_that_is_a_refusal() {
    let rest = r#"while read -r line; do echo 'done [[7,"db"]]'; done"#;
    let mut rig = rig(&format!("if [ $starts = 1 ]; then read line; exec sleep 1000; fi; {rest}"));
    rig.kernel.patience = Duration::from_millis(50);
    let device = device(&rig);
    let fault = rig.kernel.users(&device).unwrap_err();
    assert_eq!(fault.why, Why::TimeUp(Duration::from_millis(50)));
    rig.kernel.patience = LONG;
    // Nobody waits for it twice in a row, whatever the device.
    for number in [1, 2] {
        let device = DaxDevice { name: format!("dax1.{number}"), ..device.clone() };
        assert_eq!(rig.kernel.users(&device), Err(fault.clone()));
    }
    assert_eq!(rig.starts(), 1);
    rig.kernel.blind.take();
    assert_eq!(rig.kernel.users(&device).unwrap(), ["db (7)"]);
    assert_eq!(rig.starts(), 2);
}

#[test]
fn who_cannot_find_out_who_has_a_device_open_says_so() {
    let rig = rig("read line; echo cannot read /proc/7/maps; read line; echo done what; read line");
    for why in ["it cannot read /proc/7/maps", "the helper said \"what\""] {
        let fault = rig.kernel.users(&device(&rig)).unwrap_err().to_string();
        assert!(fault.contains("who has it open") && fault.contains(why), "{fault}");
    }
    assert_eq!(rig.starts(), 1);
}

#[test]
fn a_device_is_zeroed_beside_what_is_asked_meanwhile() {
    let rig = rig(
        "while read what more; do
            case $what in
            offline) offline $more; echo done ;;
            zero-and-read) set -- $more; until [ -e $root/go ]; do sleep 0.01; done; echo done $(($1 + $4)) ;;
            esac
        done",
    );
    let device = device(&rig);
    rig.kernel.begin_zeroing(&device, 7).unwrap();
    let short = Duration::from_millis(50);
    assert_eq!(rig.kernel.zeroed(short, &|| false), Ok(None));
    rig.kernel.offline(BlockId(7), LONG, &|| false).unwrap();
    assert_eq!(rig.kernel.zeroed(LONG, &|| true), Ok(None), "it goes on");
    fs::write(rig.root.path().join("go"), "").unwrap();
    assert_eq!(rig.kernel.zeroed(LONG, &|| false), Ok(Some(7 + device.size.0)));
    assert_eq!(rig.kernel.zeroed(LONG, &|| false), Ok(None), "nothing was begun");
    // The same helper is asked the next time.
    rig.kernel.begin_zeroing(&device, 0).unwrap();
    assert_eq!(rig.kernel.zeroed(LONG, &|| false), Ok(Some(device.size.0)));
    assert_eq!(rig.starts(), 2);
}

#[test]
fn nobody_zeroes_any_more_when_that_was_ended() {
    let rig = rig("read line; echo $$ >$root/pid.new; mv $root/pid.new $root/pid; exec sleep 1000");
    rig.kernel.begin_zeroing(&device(&rig), 0).unwrap();
    let path = rig.root.path().join("pid");
    while !path.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = fs::read_to_string(path).unwrap();
    let process = std::path::PathBuf::from(format!("/proc/{}", pid.trim()));
    assert!(process.exists());
    rig.kernel.end_zeroing().unwrap();
    assert!(!process.exists());
    assert_eq!(rig.kernel.zeroed(LONG, &|| false), Ok(None));
}

/// A helper that writes as the kernel would with a device that is for kmem by its type, as `takes` says of a driver that was
/// told of it or was not, and keeps what it was asked.
fn drivers(takes: &str) -> Rig {
    let rig = rig(&format!(
        "device=$root/sys/bus/dax/devices/dax1.1
        told() {{ [ -e $root/told.$1 ]; }}
        take() {{ if {takes}; then ln -s ../drivers/$1 $device/driver; fi; }}
        while read what path name; do
            driver=$(basename $(dirname $path)) file=$(basename $path) answer=done
            echo $driver $file >>$root/asked
            case $file in
            new_id) touch $root/told.$driver; take $driver ;;
            remove_id) rm $root/told.$driver 2>/dev/null || answer='errno 22' ;;
            bind) take $driver; [ -h $device/driver ] || answer='errno 19' ;;
            unbind) rm $device/driver ;;
            esac
            echo $answer
        done"
    ));
    fs::create_dir_all(rig.root.path().join("sys/bus/dax/devices/dax1.1")).unwrap();
    rig
}

impl Rig {
    /// What was asked since the last time.
    fn asked(&self) -> String {
        let path = self.root.path().join("asked");
        let asked = fs::read_to_string(&path).unwrap();
        fs::remove_file(path).unwrap();
        asked.trim().replace('\n', ", ")
    }
    fn driver(&self) -> DaxDriver {
        self.kernel.host().dax_driver("dax1.1")
    }
}

#[test]
fn memory_of_cxl_is_given_to_the_driver_of_storage_by_its_name() {
    let rig = drivers("[ $1 = kmem ] || told $1");
    let device = crate::simulated::device(1);
    rig.kernel.bind(&device, Driver::Storage).unwrap();
    assert_eq!(rig.driver(), DaxDriver::Storage);
    assert_eq!(rig.asked(), "device_dax bind, device_dax new_id");
    rig.kernel.unbind(&device, Driver::Storage).unwrap();
    assert_eq!(rig.asked(), "device_dax unbind, device_dax remove_id");
    assert!(!rig.root.path().join("told.device_dax").exists(), "it would take it again by itself");
    rig.kernel.bind(&device, Driver::Memory).unwrap();
    assert_eq!((rig.driver(), rig.asked().as_str()), (DaxDriver::Memory, "kmem new_id"));
}

#[test]
fn persistent_memory_needs_no_name_to_be_storage() {
    let rig = drivers("[ $1 = device_dax ] || told $1");
    let device = crate::simulated::device(1);
    rig.kernel.bind(&device, Driver::Storage).unwrap();
    assert_eq!((rig.driver(), rig.asked().as_str()), (DaxDriver::Storage, "device_dax bind"));
}

#[test]
fn a_driver_that_does_not_take_a_device_forgets_its_name() {
    let rig = drivers("false");
    let device = crate::simulated::device(1);
    for (driver, name) in [(Driver::Storage, "device_dax"), (Driver::Memory, "kmem")] {
        let fault = rig.kernel.bind(&device, driver).unwrap_err();
        assert_eq!(fault.why, Why::Errno(libc::ENODEV));
        assert!(rig.asked().ends_with(&format!("{name} new_id, {name} bind, {name} remove_id")));
        assert!(!rig.root.path().join(format!("told.{name}")).exists());
    }
}
