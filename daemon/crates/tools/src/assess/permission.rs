use abide_protocol::{record::Permission, task::Approvals, transcript::Tier};

/// Whether a call may run, if nothing forbids it before. `remembered` is the rule for this very call.
///
/// The order: deny, allow, the task's approvals, the tier. The permission `Yes` is only for calls that would ask otherwise.
pub(super) fn decide(remembered: Option<bool>, approvals: Approvals, tier: Tier) -> Permission {
    match (remembered, tier, approvals) {
        (Some(false), ..) => Permission::Denied(
            "a remembered decision of the user forbids this call; do not try it again".to_owned(),
        ),
        (Some(true), ..) => Permission::Rule,
        (None, Tier::Allow, _) => Permission::Tier,
        (None, Tier::Ask, Approvals::Allow) => Permission::Yes,
        (None, Tier::Ask, Approvals::Ask) => Permission::Ask,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_by_rule_tier_and_approvals() {
        use Approvals::{Allow as Yes, Ask as No};
        let denied = decide(Some(false), Yes, Tier::Allow);
        assert!(matches!(denied, Permission::Denied(_)));
        for (remembered, approvals, tier, expected) in [
            (Some(false), No, Tier::Allow, denied.clone()),
            (Some(false), Yes, Tier::Ask, denied.clone()),
            (Some(false), No, Tier::Ask, denied),
            (Some(true), No, Tier::Ask, Permission::Rule),
            (Some(true), Yes, Tier::Ask, Permission::Rule),
            (Some(true), No, Tier::Allow, Permission::Rule),
            (Some(true), Yes, Tier::Allow, Permission::Rule),
            (None, No, Tier::Allow, Permission::Tier),
            (None, Yes, Tier::Allow, Permission::Tier),
            (None, Yes, Tier::Ask, Permission::Yes),
            (None, No, Tier::Ask, Permission::Ask),
        ] {
            assert_eq!(
                decide(remembered, approvals, tier),
                expected,
                "{remembered:?} {approvals:?} {tier:?}"
            );
        }
    }
}
