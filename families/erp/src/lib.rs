//! The ERP family: sourcing, building, selling and billing finished goods, in 29 workflows.
//!
//! One case is a [`shop::Shop`]. From it and nothing else come the facts that rules speak of (`facts`), the records of the
//! world (`records`), the calls that make a plan come true (`calls`) and the brief (`brief`). The reader of the brief
//! (`reader`) goes the other way and shares only the types of a case.

mod brief;
mod calls;
mod case;
mod facts;
mod greedy;
#[cfg(test)]
#[path = "tests/micro.rs"]
mod micro;
#[cfg(test)]
#[path = "tests/micro_world.rs"]
mod micro_world;
mod mutate;
mod notes;
mod peg_plan;
mod pegs;
mod reader;
mod readings;
mod records;
mod rows;
mod sample;
mod shop;

use benchwright_pack::{NativeCheck, Script};
use benchwright_project::{
    Authoring, Breadth, Brief, Case, Discard, Draw, Family, FamilyError, FirstState, Mutation, Mutator, Optimised,
    Passage, PatternHead, Placeholder, Reader, Readings, ToolAccess,
};
use benchwright_schema::{
    Domain, Section,
    plan::{Bindings, Bound, Plan, PlanText},
};
use benchwright_spec::{Candidates, NamedRows, Planner, Solved};
use case::{PLAN, case_of, shop};
use std::collections::BTreeMap;

/// The family.
pub static FAMILY: Erp = Erp;

/// Sourcing, building, selling and billing.
pub struct Erp;

impl Family for Erp {
    fn plan(&self) -> &PlanText {
        &PLAN
    }
    fn sample(&self, draw: &Draw<'_>, domain: &Domain, planner: &mut dyn Planner) -> Result<Case, Discard> {
        Ok(case_of(&sample::draw(self, draw, domain, planner)?))
    }
    fn bindings(&self, case: &Case) -> Result<Bindings, FamilyError> {
        Ok(facts::bindings(&shop(case)?))
    }
    fn world(&self, case: &Case, domain: &Domain) -> Result<FirstState, FamilyError> {
        Ok(records::first_state(&shop(case)?, domain)?)
    }
    fn script(&self, case: &Case, plan: &NamedRows) -> Result<Script, FamilyError> {
        Ok(calls::script(&shop(case)?, plan)?)
    }
    fn brief(&self, draw: &Draw<'_>, case: &Case, plan: &PlanText) -> Result<Brief, FamilyError> {
        Ok(brief::write(draw, &shop(case)?, plan)?)
    }
    fn gates(&self, case: &Case) -> Vec<String> {
        let repair = case.switches.iter().any(|switch| switch == "repair");
        if repair { vec!["erp/broken-documents".to_owned()] } else { Vec::new() }
    }
    fn natives(&self) -> &'static [(&'static str, NativeCheck)] {
        pegs::NATIVES
    }
    fn optimised(&self) -> Option<&dyn Optimised> {
        Some(self)
    }
    fn reader(&self) -> Option<&dyn Reader> {
        Some(self)
    }
    fn mutator(&self) -> Option<&dyn Mutator> {
        Some(self)
    }
    fn readings(&self) -> Option<&dyn Readings> {
        Some(&readings::ErpReadings)
    }
    fn authoring(&self) -> Option<&dyn Authoring> {
        Some(self)
    }
}

impl Authoring for Erp {
    fn check_head(&self, head: &PatternHead, file: &Section<'_>) {
        sample::check(head, file);
    }
    fn placeholders(&self) -> Vec<Placeholder> {
        brief::placeholders()
    }
}

impl Optimised for Erp {
    fn candidates(
        &self,
        case: &Case,
        plan: &Plan,
        bound: &Bound,
        breadth: Breadth<'_>,
    ) -> Result<Candidates, FamilyError> {
        Ok(facts::candidates(&shop(case)?, plan, bound, breadth)?)
    }
    fn greedy(&self, case: &Case) -> Result<NamedRows, FamilyError> {
        Ok(greedy::rows(&shop(case)?))
    }
    fn accept(
        &self,
        draw: &Draw<'_>,
        case: &Case,
        solved: &Solved,
        domain: &Domain,
        planner: &mut dyn Planner,
    ) -> Result<(), Discard> {
        sample::accept(self, draw, &shop(case).map_err(Discard::Fault)?, solved, domain, planner)
    }
}

impl Reader for Erp {
    fn read_back(&self, text: &str, access: &mut dyn ToolAccess) -> Result<Case, FamilyError> {
        Ok(reader::read_back(text, access)?)
    }
    fn passages(&self, text: &str) -> Vec<Passage> {
        reader::passages(text)
    }
    fn addresses(&self, case: &Case, access: &mut dyn ToolAccess) -> Result<BTreeMap<String, u32>, FamilyError> {
        Ok(reader::addresses(&shop(case)?, access)?)
    }
}

impl Mutator for Erp {
    fn mutate(
        &self,
        case: &Case,
        plan: &NamedRows,
        rule: &str,
        at: &[String],
    ) -> Result<Option<Mutation>, FamilyError> {
        Ok(mutate::mutate(&shop(case)?, plan, rule, at)?)
    }
}
