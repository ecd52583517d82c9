//! A family that is right but for one thing.

use benchwright_catalog::Catalog;
use benchwright_pack::{NativeCheck, Script};
use benchwright_project::{
    Breadth, Brief, Case, Discard, Draw, Family, FamilyError, FirstState, Mutator, Optimised, Reader,
};
use benchwright_schema::{
    Domain,
    plan::{Bindings, Bound, Plan, PlanText},
};
use benchwright_spec::{Candidates, NamedRows, Planner, Solved};

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

impl Family for Broken {
    fn plan(&self) -> &PlanText {
        &self.plan
    }
    fn sample(&self, draw: &Draw<'_>, domain: &Domain, planner: &mut dyn Planner) -> Result<Case, Discard> {
        let mut case = self.right.sample(draw, domain, planner)?;
        if let Wrong::Sample(change) = self.wrong {
            change(&mut case);
        }
        Ok(case)
    }
    fn bindings(&self, case: &Case) -> Result<Bindings, FamilyError> {
        let mut facts = self.right.bindings(case)?;
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
        let mut script = self.right.script(case, plan)?;
        if let Wrong::Script(change) = self.wrong {
            change(&mut script);
        }
        Ok(script)
    }
    fn brief(&self, draw: &Draw<'_>, case: &Case, plan: &PlanText) -> Result<Brief, FamilyError> {
        let mut brief = self.right.brief(draw, case, plan)?;
        if let Wrong::Brief(change) | Wrong::PlanAndBrief(_, change) = self.wrong {
            let right = brief.clone();
            change(draw, &mut brief);
            assert!(right != brief, "the fault changes nothing");
        }
        Ok(brief)
    }
    fn gates(&self, case: &Case) -> Vec<String> {
        self.right.gates(case)
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
        self.right.mutator()
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
        let mut candidates = self.right_optimised().candidates(case, plan, bound, breadth)?;
        if let (Wrong::Tight(change), Breadth::Tight) = (self.wrong, breadth) {
            change(plan, &mut candidates);
        }
        Ok(candidates)
    }
    fn greedy(&self, case: &Case) -> Result<NamedRows, FamilyError> {
        self.right_optimised().greedy(case)
    }
    fn accept(
        &self,
        draw: &Draw<'_>,
        case: &Case,
        solved: &Solved,
        domain: &Domain,
        planner: &mut dyn Planner,
    ) -> Result<(), Discard> {
        self.right_optimised().accept(draw, case, solved, domain, planner)
    }
}
