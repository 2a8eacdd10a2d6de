use super::{Ruling, bounds::Bounds};
use abide_protocol::{record::Permission, task::Approvals, transcript::Tier};

/// Whether a call may run. `remembered` is the decision on exactly this call.
///
/// The order: deny, ask, allow, the sandbox, the task's approvals, the tier. The permission `Yes` is only for
/// calls that would ask otherwise.
pub(super) fn decide(
    remembered: Option<bool>,
    ruling: &Ruling,
    approvals: Approvals,
    tier: Tier,
    bounds: &Bounds,
) -> Permission {
    match (remembered, ruling) {
        (Some(false), _) => Permission::Denied(
            "a remembered decision of the user forbids this call; do not try it again".to_owned(),
        ),
        (_, Ruling::Denied { rule }) => {
            Permission::Denied(format!("the user's rule `{rule}` forbids this call; do not try it again"))
        }
        (_, Ruling::Asks { may_be_denied: true, .. }) => Permission::Ask,
        (_, Ruling::Asks { .. }) => asked(approvals, bounds),
        (Some(true), _) => Permission::Rule,
        // A rule that allows a command does not allow it to leave the sandbox.
        (None, Ruling::Allowed { .. }) if !matches!(bounds, Bounds::Leaves(_)) => Permission::Rule,
        (None, Ruling::Allowed { .. } | Ruling::NotAllowed { .. } | Ruling::None) => match (tier, bounds) {
            (Tier::Allow, _) => Permission::Tier,
            (Tier::Ask, Bounds::Contained) => Permission::Sandbox,
            (Tier::Ask, _) => asked(approvals, bounds),
        },
    }
}

/// The permission of a call that asks, unless the task's approvals answer the question.
fn asked(approvals: Approvals, bounds: &Bounds) -> Permission {
    match (bounds, approvals) {
        (Bounds::Insufficient(_), _)
        | (_, Approvals::Ask | Approvals::AllowEdits)
        | (Bounds::Leaves(_), Approvals::Allow) => Permission::Ask,
        (Bounds::Leaves(_), Approvals::AllowAll)
        | (
            Bounds::Reads | Bounds::Contained | Bounds::Asks(_) | Bounds::CannotUndo(_),
            Approvals::Allow | Approvals::AllowAll,
        ) => Permission::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Approvals::{Allow as Yes, AllowAll as YesAll, Ask as No};

    const ALL_APPROVALS: [Approvals; 3] = [No, Yes, YesAll];

    fn all_bounds() -> [Bounds; 6] {
        let why = || "why".to_owned();
        [
            Bounds::Reads,
            Bounds::Contained,
            Bounds::Asks(why()),
            Bounds::CannotUndo(why()),
            Bounds::Leaves(why()),
            Bounds::Insufficient(why()),
        ]
    }

    #[test]
    fn what_is_denied_stays_denied() {
        let denied = Ruling::Denied { rule: "shell(x)".to_owned() };
        for approvals in ALL_APPROVALS {
            for bounds in all_bounds() {
                for tier in [Tier::Allow, Tier::Ask] {
                    for (remembered, ruling) in
                        [(Some(false), &Ruling::None), (None, &denied), (Some(true), &denied)]
                    {
                        let decided = decide(remembered, ruling, approvals, tier, &bounds);
                        assert!(matches!(decided, Permission::Denied(_)), "{approvals:?} {bounds:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_rules_bounds_and_approvals_decide() {
        let expected = [
            // A case, then its permission under the approvals ask, allow and allow all.
            (Bounds::Reads, [Permission::Ask, Permission::Yes, Permission::Yes]),
            (Bounds::Contained, [Permission::Sandbox, Permission::Sandbox, Permission::Sandbox]),
            (Bounds::Asks(String::new()), [Permission::Ask, Permission::Yes, Permission::Yes]),
            (Bounds::CannotUndo(String::new()), [Permission::Ask, Permission::Yes, Permission::Yes]),
            (Bounds::Leaves(String::new()), [Permission::Ask, Permission::Ask, Permission::Yes]),
            (Bounds::Insufficient(String::new()), [Permission::Ask, Permission::Ask, Permission::Ask]),
        ];
        for (bounds, permissions) in expected {
            for (approvals, permission) in ALL_APPROVALS.into_iter().zip(permissions) {
                let decided = decide(None, &Ruling::None, approvals, Tier::Ask, &bounds);
                assert_eq!(decided, permission, "{bounds:?} {approvals:?}");
            }
        }
        for bounds in all_bounds() {
            for approvals in ALL_APPROVALS {
                assert_eq!(decide(None, &Ruling::None, approvals, Tier::Allow, &bounds), Permission::Tier);
            }
        }
    }

    #[test]
    fn a_rule_that_asks_is_answered_like_the_call_itself() {
        let asks =
            |may_be_denied| Ruling::Asks { rule: "shell(x)".to_owned(), why: String::new(), may_be_denied };
        for bounds in all_bounds() {
            for approvals in ALL_APPROVALS {
                for tier in [Tier::Allow, Tier::Ask] {
                    assert_eq!(decide(None, &asks(true), approvals, tier, &bounds), Permission::Ask);
                    let decided = decide(None, &asks(false), approvals, tier, &bounds);
                    assert_eq!(decided, asked(approvals, &bounds), "{bounds:?} {approvals:?}");
                }
            }
        }
        assert_eq!(decide(None, &asks(false), No, Tier::Allow, &Bounds::Contained), Permission::Ask);
        assert_eq!(decide(None, &asks(false), Yes, Tier::Allow, &Bounds::Contained), Permission::Yes);
    }

    #[test]
    fn a_rule_that_allows_does_not_let_out_of_the_sandbox() {
        let allowed = Ruling::Allowed { rule: "shell(x)".to_owned(), direct: None };
        for bounds in all_bounds() {
            let leaves = matches!(bounds, Bounds::Leaves(_));
            for approvals in ALL_APPROVALS {
                let decided = decide(None, &allowed, approvals, Tier::Ask, &bounds);
                assert_eq!(decided == Permission::Rule, !leaves, "{bounds:?} {approvals:?}");
                // The decision on exactly this call covers leaving the sandbox.
                assert_eq!(
                    decide(Some(true), &Ruling::None, approvals, Tier::Ask, &bounds),
                    Permission::Rule
                );
            }
            assert_eq!(
                decide(None, &allowed, Yes, Tier::Ask, &Bounds::Leaves(String::new())),
                Permission::Ask
            );
        }
    }
}
