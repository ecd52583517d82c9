//! What a ledger has done, by whoever comes: trials of agents, tasks made, tasks audited. Whatever it is, it is items by number from 1, so that
//! one ledger gives out, fences and chains all of it.

use crate::{RunPlan, TrialKey};
use benchwright_base::Digest;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WorkPlan {
    /// Tasks are made; an item is a shard of them.
    Make {
        /// Which tasks.
        make: MakePlan,
    },
    /// Tasks of a folder of shards are audited; an item is some of a shard's tasks.
    Audit {
        /// Which tasks, and how.
        audit: AuditPlan,
    },
    /// Agents try tasks; an item is a trial.
    Run(RunPlan),
}

/// Which tasks are made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakePlan {
    /// The lock file, as it is written: all lines of it, or the first of seeds in a row.
    pub suite: String,
    /// How many tasks there are.
    pub tasks: u64,
    /// Tasks of a shard.
    pub per_shard: u32,
    /// The digest of what else decides what is made: patterns and domains as they were declared, and the program.
    pub ground: String,
}

/// Which tasks are audited, and how.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditPlan {
    /// The name of the folder of shards.
    pub tasks: String,
    /// Its shards, in order.
    pub shards: Vec<ShardLine>,
    /// Tasks of an item.
    pub per_item: u32,
    /// The trials; none for all of them.
    pub trials: Vec<String>,
    /// Whether the costly ones are run on drawn tasks alone.
    pub samples: bool,
    /// The drawn ones, by their digests, in order.
    pub drawn: Vec<String>,
    /// The patterns of its tasks.
    pub patterns: Vec<String>,
    /// The digest of what else decides what is found: patterns and domains as they were declared, and the program.
    pub ground: String,
}

/// A shard of tasks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardLine {
    /// Its name, in which the digest of its tasks' digests stands.
    pub name: String,
    /// How many tasks it has.
    pub tasks: u32,
}

impl MakePlan {
    /// The places of a shard's lines among all, from 0.
    pub fn lines(&self, number: i64) -> Option<Range<u64>> {
        let at = u64::try_from(number.checked_sub(1)?).ok()?;
        let from = at.checked_mul(u64::from(self.per_shard))?;
        (from < self.tasks).then(|| from..self.tasks.min(from + u64::from(self.per_shard)))
    }

    fn items(&self) -> u64 {
        self.tasks.div_ceil(u64::from(self.per_shard.max(1)))
    }
}

impl AuditPlan {
    /// The shard of an item, and which of its tasks.
    pub fn part(&self, number: i64) -> Option<(&ShardLine, Range<usize>)> {
        let mut at = u64::try_from(number.checked_sub(1)?).ok()?;
        let per_item = u64::from(self.per_item.max(1));
        for shard in &self.shards {
            let items = u64::from(shard.tasks).div_ceil(per_item);
            if at < items {
                let from = (at * per_item) as usize;
                return Some((shard, from..(shard.tasks as usize).min(from + per_item as usize)));
            }
            at -= items;
        }
        None
    }

    fn items(&self) -> u64 {
        let per_item = u64::from(self.per_item.max(1));
        self.shards.iter().map(|shard| u64::from(shard.tasks).div_ceil(per_item)).fold(0, u64::saturating_add)
    }
}

impl WorkPlan {
    /// The digest: two plans with the same one are the same work.
    pub fn digest(&self) -> Digest {
        match self {
            WorkPlan::Run(plan) => plan.digest(),
            _ => Digest::of(&serde_json::to_vec(self).unwrap_or_default()),
        }
    }

    /// How many items it has.
    pub fn items(&self) -> usize {
        match self {
            WorkPlan::Run(plan) => plan.trials(),
            WorkPlan::Make { make } => usize::try_from(make.items()).unwrap_or(usize::MAX),
            WorkPlan::Audit { audit } => usize::try_from(audit.items()).unwrap_or(usize::MAX),
        }
    }

    /// The trial of a number, where it is trials.
    pub fn key(&self, number: i64) -> Option<TrialKey> {
        match self {
            WorkPlan::Run(plan) => plan.key(number),
            WorkPlan::Make { .. } | WorkPlan::Audit { .. } => None,
        }
    }

    /// What is done, in words.
    pub fn what(&self) -> &'static str {
        match self {
            WorkPlan::Run(_) => "trials",
            WorkPlan::Make { .. } => "making tasks",
            WorkPlan::Audit { .. } => "auditing tasks",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_in_one_item_of_a_make() {
        let plan = MakePlan { suite: String::new(), tasks: 2_500, per_shard: 1_000, ground: String::new() };
        let parts: Vec<_> = (0..5).map(|number| plan.lines(number)).collect();
        assert_eq!(parts, [None, Some(0..1_000), Some(1_000..2_000), Some(2_000..2_500), None]);
        assert_eq!(WorkPlan::Make { make: plan }.items(), 3);
    }

    #[test]
    fn every_task_is_in_one_item_of_an_audit() {
        let shard = |name: &str, tasks| ShardLine { name: name.to_owned(), tasks };
        let plan = AuditPlan {
            tasks: "t".to_owned(),
            shards: vec![shard("a", 250), shard("b", 0), shard("c", 100)],
            per_item: 100,
            trials: Vec::new(),
            samples: false,
            drawn: Vec::new(),
            patterns: Vec::new(),
            ground: String::new(),
        };
        let parts: Vec<_> =
            (0..6).map(|number| plan.part(number).map(|(shard, range)| (&*shard.name, range))).collect();
        let all = [("a", 0..100), ("a", 100..200), ("a", 200..250), ("c", 0..100)].map(Some);
        assert_eq!(parts[1..5], all);
        assert_eq!((&parts[0], &parts[5]), (&None, &None));
        assert_eq!(WorkPlan::Audit { audit: plan }.items(), 4);
    }

    #[test]
    fn a_plan_is_read_back_as_what_it_was() {
        let make = WorkPlan::Make {
            make: MakePlan { suite: "format = 1".to_owned(), tasks: 3, per_shard: 2, ground: String::new() },
        };
        let text = serde_json::to_string(&make).unwrap();
        assert_eq!(serde_json::from_str::<WorkPlan>(&text).unwrap(), make);
    }
}
