use super::Failure;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};
use std::{collections::BTreeMap, env::consts::ARCH, io};

/// Calls that reach parts of the kernel no command of an agent needs, and where many of its faults have been found. Those that
/// mount are refused by Landlock and for want of capabilities as well.
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

/// On x86-64 the calls of the x32 interface have this bit, and the filter's numbers do not.
const X32: i64 = 0x4000_0000;

/// The filters of both levels.
pub(in super::super) struct Filters {
    /// Namespaces confine its sockets.
    with_sockets: Result<BpfProgram, String>,
    /// Nothing else would.
    without_sockets: Result<BpfProgram, String>,
}

impl Filters {
    pub(super) fn compile() -> Self {
        let vsock = SeccompCondition::new(
            0,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Eq,
            u64::from(libc::AF_VSOCK.unsigned_abs()),
        );
        let vsock = vsock.and_then(|condition| SeccompRule::new(vec![condition]));
        let words = |error: seccompiler::BackendError| error.to_string();
        Self {
            with_sockets: vsock.map_err(words).and_then(|rule| program([(libc::SYS_socket, vec![rule])])),
            without_sockets: new_users().map_err(words).and_then(|rule| {
                let further = [
                    (libc::SYS_socket, Vec::new()),
                    (libc::SYS_unshare, Vec::new()),
                    (libc::SYS_clone, vec![rule]),
                ];
                // A filter cannot read the flags of `clone3`; without it, programs use `clone`.
                let no_clone3 = answer_calls(libc::BPF_JEQ, libc::SYS_clone3, libc::ENOSYS);
                program(further).map(|program| [no_clone3.as_slice(), &program].concat())
            }),
        }
    }

    pub(super) fn with_sockets(&self) -> Result<(), Failure> {
        apply(&self.with_sockets)
    }

    pub(super) fn without_sockets(&self) -> Result<(), Failure> {
        apply(&self.without_sockets)
    }
}

/// Matches a `clone` into a new namespace of users. (The level that has namespaces forbids more of them otherwise.)
fn new_users() -> Result<SeccompRule, seccompiler::BackendError> {
    let flag = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
    let compared = SeccompCmpOp::MaskedEq(flag);
    SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Qword, compared, flag)?])
}

/// The filter that refuses these calls besides, each where one of its rules matches, or always if it has none. (`socketpair` is
/// another call than `socket`.)
fn program<const N: usize>(further: [(i64, Vec<SeccompRule>); N]) -> Result<BpfProgram, String> {
    let mut calls: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    calls.extend(further);
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let compiled: BpfProgram = TargetArch::try_from(ARCH)
        .and_then(|arch| SeccompFilter::new(calls, SeccompAction::Allow, refuse, arch))
        .and_then(TryInto::try_into)
        .map_err(|error| error.to_string())?;
    let no_x32 = answer_calls(libc::BPF_JGE, X32, libc::EPERM);
    Ok(if ARCH == "x86_64" { [no_x32.as_slice(), &compiled].concat() } else { compiled })
}

/// Instructions that answer the calls whose numbers compare so (`BPF_J*`) with this error.
fn answer_calls(compare: u32, number: i64, error: i32) -> [sock_filter; 3] {
    let instruction = |code: u32, k: u32, (jt, jf): (u8, u8)| sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt,
        jf,
        k,
    };
    let number = u32::try_from(number).unwrap_or_default();
    [
        // The number of the call is at 0.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, (0, 0)),
        instruction(libc::BPF_JMP | compare | libc::BPF_K, number, (0, 1)),
        instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | error.unsigned_abs(), (0, 0)),
    ]
}

fn apply(program: &Result<BpfProgram, String>) -> Result<(), Failure> {
    let fail = |words: String| Failure::new("filter the system calls", io::Error::other(words));
    let program = program.as_ref().map_err(|words| fail(words.clone()))?;
    apply_filter(program).map_err(|error| fail(error.to_string()))
}
