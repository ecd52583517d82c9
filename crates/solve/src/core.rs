//! Why nothing fits: the smallest set of constraint groups that no point satisfies together. Groups are taken away one by
//! one, and the result is solved again from both sides before it is believed.

use crate::{Constraint, Engine, EngineError, Limits, Model, Status};

/// Why there is no core.
#[derive(Debug, thiserror::Error)]
pub enum CoreError {
    /// The work ran out.
    #[error("the work ran out before the conflict was known")]
    WorkRanOut,
    /// Two solves contradict each other.
    #[error("the solver contradicts itself: {0}")]
    Contradiction(String),
    /// The engine failed, so nothing is known of the groups.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The names of a smallest set of groups that conflict on top of the base model: together they leave no point, and
/// without any one of them there is one. None if all of them fit together; an empty set if the base fits nothing.
/// `limits.work` is the work of all solves together.
pub fn core(
    base: &Model,
    groups: &[(String, Vec<Constraint>)],
    engine: &dyn Engine,
    limits: &Limits,
) -> Result<Option<Vec<String>>, CoreError> {
    let base = Model { minimise: None, ..base.clone() };
    let mut search = Search { base, groups, engine, left: limits.clone() };
    let mut kept: Vec<usize> = (0..groups.len()).collect();
    if search.fits(&kept)? {
        return Ok(None);
    }
    let mut at = 0;
    while at < kept.len() {
        let without = all_but(&kept, at);
        if search.fits(&without)? {
            at += 1;
        } else {
            kept = without;
        }
    }
    if search.fits(&kept)? {
        return Err(CoreError::Contradiction("the conflict can be satisfied".to_owned()));
    }
    for at in 0..kept.len() {
        if !search.fits(&all_but(&kept, at))? {
            let name = &groups[kept[at]].0;
            return Err(CoreError::Contradiction(format!("the conflict remains without {name}")));
        }
    }
    Ok(Some(kept.iter().map(|group| groups[*group].0.clone()).collect()))
}

fn all_but(groups: &[usize], at: usize) -> Vec<usize> {
    groups.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, group)| *group).collect()
}

struct Search<'a> {
    base: Model,
    groups: &'a [(String, Vec<Constraint>)],
    engine: &'a dyn Engine,
    left: Limits,
}

impl Search<'_> {
    /// Whether some point satisfies the base and these groups.
    fn fits(&mut self, groups: &[usize]) -> Result<bool, CoreError> {
        if self.left.work <= 0.0 {
            return Err(CoreError::WorkRanOut);
        }
        let mut model = self.base.clone();
        model.constraints.extend(groups.iter().flat_map(|group| &self.groups[*group].1).cloned());
        let answer = self.engine.solve(&model, &self.left)?;
        self.left.work -= answer.work;
        match answer.status {
            Status::Optimal | Status::Feasible => Ok(true),
            Status::Infeasible => Ok(false),
            Status::Unknown => Err(CoreError::WorkRanOut),
        }
    }
}
