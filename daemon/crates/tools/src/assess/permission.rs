use super::Ruling;
use abide_protocol::{record::Permission, task::Approvals, transcript::Tier};

/// Whether a call may run, if nothing forbids it before. `remembered` is the decision on this very call.
///
/// The order: deny, ask, allow, the task's approvals, the tier. The permission `Yes` is only for calls that would ask otherwise.
pub(super) fn decide(
    remembered: Option<bool>,
    ruling: &Ruling,
    approvals: Approvals,
    tier: Tier,
) -> Permission {
    match (remembered, ruling, tier, approvals) {
        (Some(false), ..) => Permission::Denied(
            "a remembered decision of the user forbids this call; do not try it again".to_owned(),
        ),
        (_, Ruling::Denied { rule }, ..) => {
            Permission::Denied(format!("the user's rule `{rule}` forbids this call; do not try it again"))
        }
        (_, Ruling::Asks { may_be_denied: true, .. }, ..) => Permission::Ask,
        (_, Ruling::Asks { .. }, _, Approvals::Allow) => Permission::Yes,
        (_, Ruling::Asks { .. }, _, Approvals::Ask) => Permission::Ask,
        (Some(true), ..) | (None, Ruling::Allowed { .. }, ..) => Permission::Rule,
        (None, Ruling::None, Tier::Allow, _) => Permission::Tier,
        (None, Ruling::None, Tier::Ask, Approvals::Allow) => Permission::Yes,
        (None, Ruling::None, Tier::Ask, Approvals::Ask) => Permission::Ask,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_by_rule_tier_and_approvals() {
        use Approvals::{Allow as Yes, Ask as No};
        let denied = decide(Some(false), &Ruling::None, Yes, Tier::Allow);
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
                decide(remembered, &Ruling::None, approvals, tier),
                expected,
                "{remembered:?} {approvals:?} {tier:?}"
            );
        }
    }

    #[test]
    fn deny_comes_before_ask_before_allow_before_the_tier() {
        use Approvals::{Allow as Yes, Ask as No};
        let rule = || "shell(x)".to_owned();
        let denied = Ruling::Denied { rule: rule() };
        let asks = Ruling::Asks { rule: rule(), may_be_denied: false };
        let may_be_denied = Ruling::Asks { rule: rule(), may_be_denied: true };
        let allowed = Ruling::Allowed { rule: rule(), direct: None };
        for tier in [Tier::Allow, Tier::Ask] {
            for approvals in [Yes, No] {
                for remembered in [None, Some(true), Some(false)] {
                    let decided = |ruling: &Ruling| decide(remembered, ruling, approvals, tier);
                    assert!(matches!(decided(&denied), Permission::Denied(_)));
                    if remembered == Some(false) {
                        assert!(matches!(decided(&allowed), Permission::Denied(_)));
                        continue;
                    }
                    assert_eq!(decided(&allowed), Permission::Rule);
                    assert_eq!(decided(&may_be_denied), Permission::Ask);
                    assert_eq!(
                        decided(&asks),
                        if approvals == Yes { Permission::Yes } else { Permission::Ask }
                    );
                }
            }
        }
    }
}
