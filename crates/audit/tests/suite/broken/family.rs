//! A family that is right but for one thing.

use benchwright_catalog::Catalog;
use benchwright_pack::{NativeCheck, Script};
use benchwright_project::Mutation;
use benchwright_project::{
    Breadth, Brief, Case, Discard, Draw, Family, FamilyError, FirstState, Mutator, Optimised, Reader,
};
use benchwright_schema::{
    Domain,
    plan::{Bindings, Bound, Plan, PlanText},
};
use benchwright_spec::{Candidates, NamedRows, Planner, Rows, Solved};
use serde_json::Value as Json;

/// What a compiler gets wrong: how the right answer is changed.
#[derive(Clone, Copy)]
pub(crate) enum Wrong {
    /// Nothing.
    Nothing,
    /// The rules, views, objectives or frame.
    Plan(fn(&mut PlanText)),
    /// What was drawn.
    Sample(fn(&mut Case)),
    /// The facts.
    Facts(fn(&mut Bindings)),
    /// The rows that are solved over.
    Tight(fn(&Plan, &mut Candidates)),
    /// The first state.
    World(fn(&Domain, &mut FirstState)),
    /// The calls of a plan.
    Script(fn(&mut Script)),
    /// The instruction.
    Brief(fn(&Draw<'_>, &mut Brief)),
    /// Rules and sentences at once.
    PlanAndBrief(fn(&mut PlanText), fn(&Draw<'_>, &mut Brief)),
    /// What follows from a case, whoever asks: facts, candidates, calls and near-misses are those of another case, and so are the
    /// facts of the case that the reader read. Text and world are right.
    Derived(fn(&mut Json)),
    /// The rows that are solved over, however widely they are asked for.
    AllCandidates(fn(&Plan, &mut Candidates)),
    /// The rows near a plan, among which near-misses are looked for.
    NearCandidates(fn(&Plan, &Rows, &mut Candidates)),
    /// The seed that is drawn from.
    Seed(fn(u64) -> u64),
}

/// The ERP family with one fault.
pub(crate) struct Broken {
    right: &'static dyn Family,
    wrong: Wrong,
    plan: PlanText,
}

impl Broken {
    /// Puts a fault into the family. It lives as long as the test.
    pub(crate) fn new(wrong: Wrong) -> &'static Broken {
        let right = Catalog::built_in().family("erp", "erp").unwrap();
        let mut plan = right.plan().clone();
        if let Wrong::Plan(change) | Wrong::PlanAndBrief(change, _) = wrong {
            change(&mut plan);
            assert!(&plan != right.plan(), "the fault changes nothing");
        }
        Box::leak(Box::new(Broken { right, wrong, plan }))
    }
}

impl Broken {
    /// The case that everything but text and world is derived from.
    fn derived(&self, case: &Case) -> Case {
        let mut case = case.clone();
        if let Wrong::Derived(change) = self.wrong {
            change(&mut case.data);
        }
        case
    }

    /// A fault in what follows from a case is no fault of a case for which the same follows.
    pub(crate) fn check_that_facts_differ(&self, case: &Case) {
        if let Wrong::Derived(_) | Wrong::Facts(_) = self.wrong {
            assert!(self.bindings(case) != self.right.bindings(case), "the fault changes nothing");
        }
    }

    /// The draw that a case comes of.
    fn drawn<'d>(&self, draw: &Draw<'d>) -> Draw<'d> {
        match self.wrong {
            Wrong::Seed(change) => Draw { seed: change(draw.seed), ..draw.clone() },
            _ => draw.clone(),
        }
    }
}

impl Family for Broken {
    fn plan(&self) -> &PlanText {
        &self.plan
    }
    fn sample(&self, draw: &Draw<'_>, domain: &Domain, planner: &mut dyn Planner) -> Result<Case, Discard> {
        let mut case = self.right.sample(&self.drawn(draw), domain, planner)?;
        if let Wrong::Sample(change) = self.wrong {
            change(&mut case);
        }
        Ok(case)
    }
    fn bindings(&self, case: &Case) -> Result<Bindings, FamilyError> {
        let mut facts = self.right.bindings(&self.derived(case))?;
        if let Wrong::Facts(change) = self.wrong {
            change(&mut facts);
        }
        Ok(facts)
    }
    fn world(&self, case: &Case, domain: &Domain) -> Result<FirstState, FamilyError> {
        let mut first = self.right.world(case, domain)?;
        if let Wrong::World(change) = self.wrong {
            let right = first.clone();
            change(domain, &mut first);
            assert!(right != first, "the fault changes nothing");
        }
        Ok(first)
    }
    fn script(&self, case: &Case, plan: &NamedRows) -> Result<Script, FamilyError> {
        let mut script = self.right.script(&self.derived(case), plan)?;
        if let Wrong::Script(change) = self.wrong {
            change(&mut script);
        }
        Ok(script)
    }
    fn brief(&self, draw: &Draw<'_>, case: &Case, plan: &PlanText) -> Result<Brief, FamilyError> {
        let mut brief = self.right.brief(&self.drawn(draw), case, plan)?;
        if let Wrong::Brief(change) | Wrong::PlanAndBrief(_, change) = self.wrong {
            let right = brief.clone();
            change(draw, &mut brief);
            assert!(right != brief, "the fault changes nothing");
        }
        Ok(brief)
    }
    fn gates(&self, case: &Case) -> Vec<String> {
        self.right.gates(&self.derived(case))
    }
    fn natives(&self) -> &'static [(&'static str, NativeCheck)] {
        self.right.natives()
    }
    fn optimised(&self) -> Option<&dyn Optimised> {
        Some(self)
    }
    fn reader(&self) -> Option<&dyn Reader> {
        self.right.reader()
    }
    fn mutator(&self) -> Option<&dyn Mutator> {
        Some(self)
    }
}

impl Mutator for Broken {
    fn mutate(
        &self,
        case: &Case,
        plan: &NamedRows,
        rule: &str,
        at: &[String],
    ) -> Result<Option<Mutation>, FamilyError> {
        self.right.mutator().unwrap().mutate(&self.derived(case), plan, rule, at)
    }
}

impl Broken {
    fn right_optimised(&self) -> &dyn Optimised {
        self.right.optimised().unwrap()
    }
}

impl Optimised for Broken {
    fn candidates(
        &self,
        case: &Case,
        plan: &Plan,
        bound: &Bound,
        breadth: Breadth<'_>,
    ) -> Result<Candidates, FamilyError> {
        let mut candidates = self.right_optimised().candidates(&self.derived(case), plan, bound, breadth)?;
        match (self.wrong, breadth) {
            (Wrong::Tight(change), Breadth::Tight) | (Wrong::AllCandidates(change), _) => change(plan, &mut candidates),
            (Wrong::NearCandidates(change), Breadth::Local(rows)) => change(plan, rows, &mut candidates),
            _ => {}
        }
        Ok(candidates)
    }
    fn greedy(&self, case: &Case) -> Result<NamedRows, FamilyError> {
        self.right_optimised().greedy(&self.derived(case))
    }
    fn accept(
        &self,
        draw: &Draw<'_>,
        case: &Case,
        solved: &Solved,
        domain: &Domain,
        planner: &mut dyn Planner,
    ) -> Result<(), Discard> {
        self.right_optimised().accept(&self.drawn(draw), &self.derived(case), solved, domain, planner)
    }
}
