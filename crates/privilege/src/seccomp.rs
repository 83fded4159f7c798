//! A filter of system calls for who only computes (seccomp(2)): what reads recordings of others
//! executes nothing, touches no process, opens no socket. A list of what is refused and not of what
//! is allowed: libraries and the C library may use any other call.

use std::io;

/// What a replay never does, and what would make the most of a reader that was taken over.
const REFUSED: [libc::c_long; 68] = [
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kill,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_swapon,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_ioprio_set,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
];

/// Calls that are about ourselves with this in one of their arguments, and else about others: refused then.
const OURSELVES_ONLY: [(libc::c_long, u32); 2] = [
    // prlimit64(pid, ...)
    (libc::SYS_prlimit64, 0),
    // setpriority(which, who, ...)
    (libc::SYS_setpriority, 1),
];

/// Flags of clone(2) that make namespaces; in a user namespace of its own a process has every capability.
const NAMESPACES: u32 = 0x7e02_0000;

/// `AUDIT_ARCH_X86_64`.
const ARCH: u32 = 0xc000_003e;
/// Calls of the x32 ABI have this bit in their number.
const X32: u32 = 0x4000_0000;

/// From now on this thread, and all that it starts, get EPERM for them. Needs `no_new_privs`. Where
/// the kernel has no filters nothing happens.
pub(crate) fn forbid_what_replay_never_does() -> io::Result<()> {
    let mut program = program();
    let filter = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: the program lives through the call, which copies it.
    let set = unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter, 0, 0)
    };
    match io::Error::last_os_error() {
        _ if set == 0 => Ok(()),
        // Built without it.
        error if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
        error => Err(error),
    }
}

/// Classic BPF: another architecture or x32: refused; a number of the list: refused; a signal or a limit of somebody
/// else: refused; else allowed.
fn program() -> Vec<libc::sock_filter> {
    // struct seccomp_data: the number at 0, the architecture at 4.
    let mut program = vec![load(4), jump(libc::BPF_JEQ, ARCH, 1, 0), answer(refused()), load(0)];
    program.extend([jump(libc::BPF_JGE, X32, 0, 1), answer(refused())]);
    for call in REFUSED {
        program.extend([jump(libc::BPF_JEQ, number(call), 0, 1), answer(refused())]);
    }
    // Its flags lie in memory, where no filter looks. Who is told that there is none uses clone(2).
    program.extend([jump(libc::BPF_JEQ, number(libc::SYS_clone3), 0, 1), answer(lacking())]);
    program.extend(unless(libc::SYS_clone, 0, jump(libc::BPF_JSET, NAMESPACES, 0, 1)));
    for (call, argument) in OURSELVES_ONLY {
        program.extend(unless(call, argument, jump(libc::BPF_JEQ, 0, 1, 0)));
    }
    // abort(3) ends itself by a signal to a thread of its own.
    let us = std::process::id();
    program.extend(unless(libc::SYS_tgkill, 0, jump(libc::BPF_JEQ, us, 1, 0)));
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program
}

/// Refuses a call, unless `allowed` of the low half of its argument jumps on.
fn unless(call: libc::c_long, argument: u32, allowed: libc::sock_filter) -> [libc::sock_filter; 5] {
    // The arguments begin at 16, eight bytes each. Whatever the number is, it is loaded again for what follows.
    let [is_it, low] = [jump(libc::BPF_JEQ, number(call), 0, 3), load(16 + 8 * argument)];
    [is_it, low, allowed, answer(refused()), load(0)]
}

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn refused() -> u32 {
    libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()
}

fn lacking() -> u32 {
    libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()
}

#[expect(clippy::cast_possible_truncation, reason = "codes have 16 bits")]
fn code(bits: u32) -> u16 {
    bits as u16
}

fn load(at: u32) -> libc::sock_filter {
    let code = code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS);
    libc::sock_filter { code, jt: 0, jf: 0, k: at }
}

fn answer(k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code(libc::BPF_RET | libc::BPF_K), jt: 0, jf: 0, k }
}

fn jump(how: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: code(libc::BPF_JMP | how | libc::BPF_K), jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::thread;

    #[test]
    fn nothing_is_executed_and_no_socket_opened_but_files_are_read() {
        thread::spawn(|| {
            assert!(Command::new("true").status().is_ok(), "before");
            // SAFETY: plain system call; only this thread is affected.
            assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
            forbid_what_replay_never_does().unwrap();
            let refused = Command::new("true").status().unwrap_err();
            assert_eq!(refused.raw_os_error(), Some(libc::EPERM));
            let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap_err();
            assert_eq!(socket.raw_os_error(), Some(libc::EPERM));
            assert!(std::fs::read("/proc/self/status").is_ok());
            assert_eq!(thread::spawn(|| 7).join().unwrap(), 7, "threads are no programs");
            let of_a_thread = thread::spawn(|| Command::new("true").status().is_err());
            assert!(of_a_thread.join().unwrap(), "threads are bound as well");
        })
        .join()
        .unwrap();
    }

    /// What a plain system call of four arguments answers: 0, or the error.
    fn call(number: libc::c_long, arguments: [libc::c_long; 4]) -> i32 {
        let [a, b, c, d] = arguments;
        // SAFETY: each caller names a call that is refused, or changes nothing.
        let done = unsafe { libc::syscall(number, a, b, c, d) };
        if done < 0 { io::Error::last_os_error().raw_os_error().unwrap() } else { 0 }
    }

    #[test]
    fn signals_limits_and_namespaces_of_others_are_refused_and_our_own_are_not() {
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = libc::c_long::from(other.id());
        thread::spawn(move || {
            let us = libc::c_long::from(std::process::id());
            // SAFETY: plain system call.
            let thread = unsafe { libc::syscall(libc::SYS_gettid) };
            // Signal 0 only asks whether it could be sent.
            assert_eq!(call(libc::SYS_tgkill, [pid, pid, 0, 0]), 0, "before");
            // SAFETY: plain system call; only this thread is affected.
            assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
            forbid_what_replay_never_does().unwrap();
            for (number, arguments) in [
                (libc::SYS_tgkill, [pid, pid, 0, 0]),
                (libc::SYS_tkill, [pid, 0, 0, 0]),
                (libc::SYS_rt_sigqueueinfo, [pid, 0, 0, 0]),
                (libc::SYS_prlimit64, [pid, 7, 0, 0]),
                (libc::SYS_setpriority, [0, pid, 19, 0]),
                (libc::SYS_sched_setaffinity, [pid, 0, 0, 0]),
                (libc::SYS_clone, [libc::c_long::from(libc::CLONE_NEWUSER), 0, 0, 0]),
            ] {
                assert_eq!(call(number, arguments), libc::EPERM, "{number} {arguments:?}");
            }
            assert_eq!(call(libc::SYS_clone3, [0; 4]), libc::ENOSYS);
            assert_eq!(call(libc::SYS_tgkill, [us, thread, 0, 0]), 0, "how abort ends us");
            assert_eq!(call(libc::SYS_prlimit64, [0, 7, 0, 0]), 0);
            let nice = libc::c_long::from(super::super::precedence::ordinary_nice());
            assert_eq!(call(libc::SYS_setpriority, [0, 0, nice, 0]), 0);
            assert_eq!(thread::spawn(|| 7).join().unwrap(), 7);
        })
        .join()
        .unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
