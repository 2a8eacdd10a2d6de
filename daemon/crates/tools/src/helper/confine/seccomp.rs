//! The filter of system calls, as a program for the kernel (seccomp(2), BPF).
//!
//! When the filter is installed, the kernel runs it once for each call number, and never again for the calls
//! that are always allowed. So the filter's time counts when a sandbox is made, and the filter finds its
//! answer by bisection.

use super::Failure;
use seccompiler::{BpfProgram, apply_filter, sock_filter};
use std::{collections::BTreeMap, env::consts::ARCH, io};

/// Calls into parts of the kernel that no command of an agent needs, and in which many faults have been
/// found. (Landlock and missing capabilities refuse mounts as well.)
const REFUSED: &[i64] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_mount_setattr,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
];

/// Of Linux 6.15, the same number on all machines; libc does not name it.
const OPEN_TREE_ATTR: i64 = 467;

/// On x86-64 the calls of the x32 interface have numbers from here on. No other machine has such numbers.
const X32: i64 = 0x4000_0000;

/// Where the kernel puts what a filter reads (`struct seccomp_data`): the number of the call, the machine,
/// and the lower half of the first argument.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

/// What the kernel does at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Allow,
    /// The call fails with this error number.
    Fail(i32),
    /// The call fails with EPERM if its first argument compares so (`BPF_J*`) with this value.
    RefuseIf(u32, u32),
}

const REFUSE: Answer = Answer::Fail(libc::EPERM);

/// The filters of both levels.
pub(in super::super) struct Filters {
    /// For commands in namespaces, which confine sockets.
    with_sockets: Result<BpfProgram, &'static str>,
    /// For commands without namespaces: this filter refuses sockets.
    without_sockets: Result<BpfProgram, &'static str>,
}

impl Filters {
    pub(super) fn compile() -> Self {
        let vsock = Answer::RefuseIf(libc::BPF_JEQ, libc::AF_VSOCK.unsigned_abs());
        // (The level that has namespaces forbids more of them otherwise.)
        let new_users = Answer::RefuseIf(libc::BPF_JSET, libc::CLONE_NEWUSER.unsigned_abs());
        Self {
            with_sockets: program(&[(libc::SYS_socket, vsock)]),
            without_sockets: program(&[
                // `socketpair` is another call.
                (libc::SYS_socket, REFUSE),
                (libc::SYS_unshare, REFUSE),
                (libc::SYS_clone, new_users),
                // A filter cannot read the flags of `clone3`; without it, programs use `clone`.
                (libc::SYS_clone3, Answer::Fail(libc::ENOSYS)),
            ]),
        }
    }

    pub(super) fn with_sockets(&self) -> Result<(), Failure> {
        apply(&self.with_sockets)
    }

    pub(super) fn without_sockets(&self) -> Result<(), Failure> {
        apply(&self.without_sockets)
    }
}

/// The filter with these further answers.
fn program(further: &[(i64, Answer)]) -> Result<BpfProgram, &'static str> {
    let mut answers = BTreeMap::from([(0, Answer::Allow), (X32, REFUSE)]);
    for (call, answer) in REFUSED.iter().map(|call| (*call, REFUSE)).chain(further.iter().copied()) {
        answers.insert(call, answer);
        answers.entry(call + 1).or_insert(Answer::Allow);
    }
    let mut ranges: Vec<(i64, Answer)> = answers.into_iter().collect();
    ranges.dedup_by_key(|(_, answer)| *answer);
    Ok([
        vec![
            load(MACHINE),
            jump(libc::BPF_JEQ, machine()?, 1, 0),
            // A call of another machine's interface has other numbers.
            answer(libc::SECCOMP_RET_KILL_PROCESS),
            load(NUMBER),
        ],
        bisect(&ranges)?,
    ]
    .concat())
}

/// Instructions that find the range of the loaded number and give the range's answer. Each range begins with
/// a number.
fn bisect(ranges: &[(i64, Answer)]) -> Result<Vec<sock_filter>, &'static str> {
    let (below, above) = ranges.split_at(ranges.len() / 2);
    let ([_, ..], [(first, _), ..]) = (below, above) else {
        return Ok(above.iter().flat_map(|(_, answer)| answer.instructions()).collect());
    };
    let below = bisect(below)?;
    let first = u32::try_from(*first).map_err(|_| "a system call's number is too large")?;
    let skipped = u8::try_from(below.len()).map_err(|_| "the filter has too many rules")?;
    Ok([vec![jump(libc::BPF_JGE, first, skipped, 0)], below, bisect(above)?].concat())
}

impl Answer {
    fn instructions(self) -> Vec<sock_filter> {
        let fail = |error: i32| answer(libc::SECCOMP_RET_ERRNO | error.unsigned_abs());
        let allow = answer(libc::SECCOMP_RET_ALLOW);
        match self {
            Self::Allow => vec![allow],
            Self::Fail(error) => vec![fail(error)],
            Self::RefuseIf(compare, value) => {
                vec![load(FIRST_ARGUMENT), jump(compare, value, 0, 1), fail(libc::EPERM), allow]
            }
        }
    }
}

/// How the kernel calls this machine (`AUDIT_ARCH_*`).
fn machine() -> Result<u32, &'static str> {
    match ARCH {
        "x86_64" => Ok(0xC000_003E),
        "aarch64" => Ok(0xC000_00B7),
        "riscv64" => Ok(0xC000_00F3),
        _ => Err("the system calls of this processor are not known"),
    }
}

fn load(at: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0, 0)
}

/// Skips so many instructions if the loaded value compares so with this one, and so many if not.
fn jump(compare: u32, value: u32, if_so: u8, if_not: u8) -> sock_filter {
    instruction(libc::BPF_JMP | compare | libc::BPF_K, value, if_so, if_not)
}

fn answer(answer: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, answer, 0, 0)
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k }
}

fn apply(program: &Result<BpfProgram, &'static str>) -> Result<(), Failure> {
    let fail = |words: String| Failure::new("filter the system calls", io::Error::other(words));
    let program = program.as_ref().map_err(|words| fail((*words).to_owned()))?;
    apply_filter(program).map_err(|error| fail(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel does with a call, and after how many instructions.
    fn run(program: &[sock_filter], machine: u32, number: u32, argument: u32) -> (u32, usize) {
        let (mut at, mut loaded) = (0, 0);
        for done in 1.. {
            let sock_filter { code, jt, jf, k } = program[at];
            let jump = |compares: bool| at + 1 + usize::from(if compares { jt } else { jf });
            const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
            const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
            const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
            const AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
            const ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
            at = match u32::from(code) {
                RETURN => return (k, done),
                LOAD => {
                    loaded = match k {
                        NUMBER => number,
                        MACHINE => machine,
                        FIRST_ARGUMENT => argument,
                        _ => panic!("nothing is at {k}"),
                    };
                    at + 1
                }
                EQUAL => jump(loaded == k),
                AT_LEAST => jump(loaded >= k),
                ANY_BIT => jump(loaded & k != 0),
                _ => panic!("no instruction of ours: {code}"),
            };
        }
        unreachable!()
    }

    #[test]
    fn each_call_has_its_answer_and_none_takes_long() {
        let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
        let absent = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
        let vsock = libc::AF_VSOCK.unsigned_abs();
        let new_users = (libc::CLONE_NEWUSER | libc::SIGCHLD).unsigned_abs();
        let Filters { with_sockets, without_sockets } = Filters::compile();
        for (program, is_with) in [(with_sockets.unwrap(), true), (without_sockets.unwrap(), false)] {
            for number in (0..1000).chain([0x3fff_ffff, 0x4000_0000, 0x4000_0027, u32::MAX]) {
                for argument in [0, 2, vsock, new_users] {
                    let expected = match i64::from(number) {
                        call if REFUSED.contains(&call) || call >= X32 => refuse,
                        libc::SYS_socket if !is_with || argument == vsock => refuse,
                        libc::SYS_unshare if !is_with => refuse,
                        libc::SYS_clone if !is_with && argument == new_users => refuse,
                        libc::SYS_clone3 if !is_with => absent,
                        _ => libc::SECCOMP_RET_ALLOW,
                    };
                    let (answer, instructions) = run(&program, machine().unwrap(), number, argument);
                    assert_eq!(answer, expected, "call {number}, argument {argument}, {is_with}");
                    assert!(instructions <= 12, "call {number} takes {instructions} instructions");
                }
                assert_eq!(run(&program, 0x4000_0003, number, 0), (libc::SECCOMP_RET_KILL_PROCESS, 3));
            }
        }
    }
}
