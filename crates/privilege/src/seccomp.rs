//! A filter of system calls for who only computes (seccomp(2)): what reads recordings of others
//! executes nothing, touches no process, opens no socket. A list of what is refused and not of what
//! is allowed: libraries and the C library may use any other call.

use std::io;

/// What a replay never does, and what would make the most of a reader that was taken over.
const REFUSED: [libc::c_long; 45] = [
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
];

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

/// Classic BPF: another architecture or x32: refused; a number of the list: refused; else allowed.
fn program() -> Vec<libc::sock_filter> {
    #[expect(clippy::cast_possible_truncation, reason = "codes have 16 bits")]
    let code = |bits: u32| bits as u16;
    let load = |at: u32| libc::sock_filter {
        code: code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS),
        jt: 0,
        jf: 0,
        k: at,
    };
    let answer =
        |k: u32| libc::sock_filter { code: code(libc::BPF_RET | libc::BPF_K), jt: 0, jf: 0, k };
    let jump = |how: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: code(libc::BPF_JMP | how | libc::BPF_K),
        jt,
        jf,
        k,
    };
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    // struct seccomp_data: the number at 0, the architecture at 4.
    let mut program = vec![load(4), jump(libc::BPF_JEQ, ARCH, 1, 0), answer(refused), load(0)];
    program.extend([jump(libc::BPF_JGE, X32, 0, 1), answer(refused)]);
    for number in REFUSED {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        program.extend([jump(libc::BPF_JEQ, number, 0, 1), answer(refused)]);
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program
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
}
