//! Takes from this process what a sandbox is made of, as machines without it do.

use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// Calls that make a namespace of users fail, as in most containers.
pub(crate) fn without_namespaces() -> Result<(), Error> {
    let new_user = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
    let compared = SeccompCmpOp::MaskedEq(new_user);
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Qword, compared, new_user)?;
    let rule = SeccompRule::new(vec![condition])?;
    refuse(libc::SYS_clone, vec![rule.clone()], libc::EPERM)?;
    refuse(libc::SYS_unshare, vec![rule], libc::EPERM)
}

/// The kernel does not know Landlock.
pub(crate) fn without_landlock() -> Result<(), Error> {
    refuse(libc::SYS_landlock_create_ruleset, Vec::new(), libc::ENOSYS)
}

fn refuse(call: i64, rules: Vec<SeccompRule>, error: i32) -> Result<(), Error> {
    let filter = SeccompFilter::new(
        BTreeMap::from([(call, rules)]),
        SeccompAction::Allow,
        SeccompAction::Errno(error.unsigned_abs()),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    apply_filter(&program)
}
