//! What a state has achieved although it breaks a rule: the parts of the job that are whole and were not in the first state, less
//! those that were whole and are not any more. A part is checks that count only together; where the family proves that there is
//! one plan only, a part is a row of it.
//!
//! What held before anything was done is no achievement, and a part without a check that applies is not whole.

use crate::GradeError;
use benchwright_base::Value;
use benchwright_pack::{AnswerRows, CheckStatus, PartScore};
use benchwright_schema::plan::{Bound, PartCounts, Plan, ViewRows};

/// The parts of a job made ready to be counted in many states.
pub(crate) struct Parts {
    groups: Vec<Group>,
    /// For each rule the group that counts it, and the place of the variable that names the member.
    of_rule: Vec<Option<(usize, Option<usize>)>>,
    /// What is counted of each part.
    slots: usize,
}

/// Parts of one name.
struct Group {
    name: String,
    share: i64,
    kind: Kind,
}

enum Kind {
    /// Some slots in a row, which have one part each.
    Checks { from: usize, to: usize, per_member: bool },
    /// A view, and the rows that belong there.
    Rows { view: usize, answer: Vec<Vec<Option<Value>>> },
}

/// What was counted in one state.
pub(crate) struct Tally {
    slots: Vec<Slot>,
    rows: Vec<(i64, i64)>,
}

/// The checks of one part.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// Checks that are about this part alone, whether they apply or not.
    own: u32,
    own_passed: u32,
    own_failed: u32,
    /// Checks that every part of the group shares.
    shared_failed: u32,
}

impl Slot {
    /// Whether what is about this part alone holds.
    fn is_done(self) -> bool {
        self.own_passed > 0 && self.own_failed == 0
    }

    fn is_whole(self) -> bool {
        self.is_done() && self.shared_failed == 0
    }
}

impl Parts {
    pub(crate) fn new(plan: &Plan, bound: &Bound, answer: &AnswerRows) -> Result<Parts, GradeError> {
        let mut parts = Parts { groups: Vec::new(), of_rule: vec![None; plan.rules.len()], slots: 0 };
        for part in &plan.parts {
            let kind = match &part.counts {
                PartCounts::Checks { per, rules } => {
                    for (rule, member) in rules {
                        parts.of_rule[*rule] = Some((parts.groups.len(), *member));
                    }
                    let from = parts.slots;
                    parts.slots += per.map_or(1, |sort| bound.members[sort].len());
                    Kind::Checks { from, to: parts.slots, per_member: per.is_some() }
                }
                PartCounts::Rows(view) => {
                    let name = &plan.views[*view].name;
                    let missing = || GradeError::Answer { part: part.name.clone(), view: name.clone() };
                    let rows = answer.get(name).filter(|rows| !rows.is_empty()).ok_or_else(missing)?;
                    let mut known = Vec::new();
                    for row in rows {
                        let cell = |field: &benchwright_schema::plan::ViewField| match row.get(&field.name) {
                            None => Ok(None),
                            Some(binding) => bound.value(binding, field.ty).map(Some).ok_or_else(missing),
                        };
                        known.push(plan.views[*view].fields.iter().map(cell).collect::<Result<Vec<_>, _>>()?);
                    }
                    Kind::Rows { view: *view, answer: known }
                }
            };
            parts.groups.push(Group { name: part.name.clone(), share: part.share, kind });
        }
        Ok(parts)
    }

    /// Nothing counted yet but the rows of a state.
    pub(crate) fn begin(&self, rows: &ViewRows) -> Tally {
        let of_group = |group: &Group| match &group.kind {
            Kind::Checks { .. } => (0, 0),
            Kind::Rows { view, answer } => count(answer, &rows.views[*view]),
        };
        Tally { slots: vec![Slot::default(); self.slots], rows: self.groups.iter().map(of_group).collect() }
    }

    /// Counts a check of a rule; `at` is what its variables are bound to.
    pub(crate) fn note(&self, tally: &mut Tally, rule: usize, at: &[Value], status: CheckStatus) {
        let Some((group, member)) = self.of_rule[rule] else { return };
        let Kind::Checks { from, to, per_member } = self.groups[group].kind else { return };
        let (slots, own) = match member.and_then(|place| at.get(place)) {
            Some(Value::Ref(member)) => {
                // A row that is no member of the task has no part.
                let slot = (from + (*member as usize).saturating_sub(1)).min(to);
                (slot..(slot + 1).min(to), true)
            }
            _ => (from..to, !per_member),
        };
        for slot in &mut tally.slots[slots] {
            let failed = matches!(status, CheckStatus::Fail | CheckStatus::NoVerdict);
            if own {
                slot.own += 1;
                slot.own_passed += u32::from(status == CheckStatus::Pass);
                slot.own_failed += u32::from(failed);
            } else {
                slot.shared_failed += u32::from(failed);
            }
        }
    }

    /// How far a state has come from the first one.
    pub(crate) fn scores(&self, first: &Tally, now: &Tally) -> Vec<PartScore> {
        let mut scores = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            let (right, wrong, open, all) = match &group.kind {
                Kind::Checks { from, to, .. } => {
                    let (mut right, mut wrong, mut open, mut all) = (0, 0, 0, 0);
                    for slot in (*from..*to).filter(|slot| first.slots[*slot].own > 0) {
                        let (before, is_whole) = (first.slots[slot], now.slots[slot].is_whole());
                        // What was done before anything was done is not earned by mending what all parts share.
                        let is_open = !before.is_done();
                        all += 1;
                        open += i64::from(is_open);
                        right += i64::from(is_whole && is_open);
                        wrong += i64::from(before.is_whole() && !is_whole);
                    }
                    (right, wrong, open, all)
                }
                Kind::Rows { answer, .. } => {
                    let ((was_right, was_wrong), (right, wrong)) = (first.rows[at], now.rows[at]);
                    let all = answer.len() as i64;
                    (right - was_right, wrong - was_wrong, all - was_right, all)
                }
            };
            if all > 0 {
                let of = if open > 0 { open } else { all };
                scores.push(PartScore { name: group.name.clone(), share: group.share, right, wrong, of });
            }
        }
        scores
    }
}

/// How many rows are right and how many are wrong. A row that is there twice is right once.
fn count(answer: &[Vec<Option<Value>>], rows: &[Vec<Value>]) -> (i64, i64) {
    let mut left: Vec<&Vec<Option<Value>>> = answer.iter().collect();
    let mut right = 0;
    for row in rows {
        let same = |wanted: &&Vec<Option<Value>>| {
            wanted.iter().zip(row).all(|(wanted, found)| wanted.as_ref().is_none_or(|wanted| wanted == found))
        };
        if let Some(at) = left.iter().position(same) {
            left.swap_remove(at);
            right += 1;
        }
    }
    (right, rows.len() as i64 - right)
}
