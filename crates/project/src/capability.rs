//! What a family may offer beyond its core, one trait each.
//!
//! A family that has nothing to optimise offers no optimiser, and nobody writes an empty one for it: whoever needs a capability
//! asks the family for it and says what is missing where there is none. A trial of the audit names the capability that it
//! needs, and is not applicable without it.

use crate::{Case, Discard, Draw, Family, FamilyError};
use benchwright_pack::{Anchors, Script};
use benchwright_schema::{
    Domain,
    plan::{Bound, Plan},
};
use benchwright_spec::{Candidates, NamedRows, Outcome, Planner, Rows, Solved};
use benchwright_world::ToolAccess;
use std::{collections::BTreeMap, fmt};

/// A capability by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Capability {
    /// [`Optimised`].
    Optimised,
    /// [`Reader`].
    Reader,
    /// [`Mutator`].
    Mutator,
    /// [`Proof`].
    Proof,
    /// [`Players`].
    Players,
    /// [`Faults`].
    Faults,
    /// [`Readings`].
    Readings,
    /// [`OwnFiles`].
    OwnFiles,
}

impl Capability {
    /// Every capability, in the order in which they are listed.
    pub const ALL: [Capability; 8] = [
        Capability::Optimised,
        Capability::Reader,
        Capability::Mutator,
        Capability::Proof,
        Capability::Players,
        Capability::Faults,
        Capability::Readings,
        Capability::OwnFiles,
    ];

    /// Whether a family offers it.
    pub fn is_offered(self, family: &dyn Family) -> bool {
        match self {
            Capability::Optimised => family.optimised().is_some(),
            Capability::Reader => family.reader().is_some(),
            Capability::Mutator => family.mutator().is_some(),
            Capability::Proof => family.proof().is_some(),
            Capability::Players => family.players().is_some(),
            Capability::Faults => family.faults().is_some(),
            Capability::Readings => family.readings().is_some(),
            Capability::OwnFiles => family.own_files().is_some(),
        }
    }
}

/// What a family without it lacks, in words that follow "no".
impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Capability::Optimised => "optimiser",
            Capability::Reader => "reader of its briefs",
            Capability::Mutator => "mutator",
            Capability::Proof => "proof of its own",
            Capability::Players => "scripted agents",
            Capability::Faults => "injected faults",
            Capability::Readings => "clauses that can be read in two ways",
            Capability::OwnFiles => "way in for one's own files",
        })
    }
}

/// Which candidates are wanted.
#[derive(Clone, Copy, Debug)]
pub enum Breadth<'a> {
    /// For optimising: dates by dominance, one row per price tier.
    Tight,
    /// Whatever an agent could write: two rows of each kind, every date and quantity free.
    Wide,
    /// What is left of that when dominant fields have their values: every quantity, as many rows as there are
    /// other values.
    Dominant,
    /// The rows of a plan with every field free, and a few spare ones.
    Local(&'a Rows),
}

/// How somebody reads a task who plans with a solver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eyes {
    /// Everything, and as it is meant.
    Careful,
    /// The files as they stand, without what the text says of them.
    Hurried,
    /// Everything but one rule that is easily missed, chosen by this number.
    Forgetful(u64),
}

/// The plan of a case is a choice among candidate rows, and a solver can look for the best one.
pub trait Optimised {
    /// The candidate rows of a case.
    fn candidates(
        &self,
        case: &Case,
        plan: &Plan,
        bound: &Bound,
        breadth: Breadth<'_>,
    ) -> Result<Candidates, FamilyError>;
    /// Looks for the best plan. Who has to ask more than one question for it asks them here.
    fn solve(&self, case: &Case, plan: &Plan, bound: &Bound, planner: &mut dyn Planner) -> Result<Outcome, Discard> {
        let candidates = self.candidates(case, plan, bound, Breadth::Tight)?;
        Ok(planner.solve(plan, bound, &candidates, &case.objective)?)
    }
    /// In how many stages a case is planned, each of which knows more than the one before.
    fn stages(&self, _case: &Case) -> i64 {
        1
    }
    /// What there is to decide at a stage, with what was decided `before` it held: the facts as far as they are known then, and the
    /// candidates of this stage beside the rows of those before.
    fn stage(
        &self,
        case: &Case,
        plan: &Plan,
        bound: &Bound,
        _stage: i64,
        _before: &Rows,
        breadth: Breadth<'_>,
    ) -> Result<(Bound, Candidates), FamilyError> {
        Ok((bound.clone(), self.candidates(case, plan, bound, breadth)?))
    }
    /// The question by which a plan in stages is bounded: what could be planned at the last of them by somebody who knew everything from
    /// the first on. Nothing for a case that is planned once, which is bounded by itself.
    fn hindsight(&self, _case: &Case, _breadth: Breadth<'_>) -> Result<Option<(Plan, Bound, Candidates)>, FamilyError> {
        Ok(None)
    }
    /// Facts that no file and no sentence tells, by name: whoever plans has to work them out, and [`Optimised::weigh`] does so again.
    fn worked_out(&self) -> &'static [&'static str] {
        &[]
    }
    /// A plan made without a solver: the cheapest feasible offer first.
    fn greedy(&self, case: &Case) -> Result<NamedRows, FamilyError>;
    /// What somebody hands in who reads a task so and has a planner; nothing where it could not be read or no plan was found.
    fn planned(
        &self,
        _eyes: Eyes,
        _text: &str,
        _access: &mut dyn ToolAccess,
        _planner: &mut dyn Planner,
    ) -> Result<Option<Script>, FamilyError> {
        Err("nobody plans its tasks with a solver".into())
    }
    /// The same plan with the names that it gives to things of its own put in order, as somebody would write it down.
    fn tidied(&self, plan: NamedRows) -> NamedRows {
        plan
    }
    /// How far the value of a plan may be from its bound at a tier, in thousandths of the value. A family that says so is solved by
    /// several provers; without it every value is proved by one.
    fn admits(&self, _tier: &str) -> Option<i64> {
        None
    }
    /// The values by which the quality of a plan is told, where that is the whole reward.
    fn anchors(
        &self,
        _tier: &str,
        _case: &Case,
        _plan: &Plan,
        _bound: &Bound,
        _solved: &Solved,
    ) -> Result<Option<Anchors>, FamilyError> {
        Ok(None)
    }
    /// What each rule and whatever else makes a task hard is worth in it, in words by name; or why it is no good task.
    fn weigh(
        &self,
        _tier: &str,
        _case: &Case,
        _plan: &Plan,
        _bound: &Bound,
        _solved: &Solved,
        _planner: &mut dyn Planner,
    ) -> Result<BTreeMap<String, String>, Discard> {
        Ok(BTreeMap::new())
    }
    /// Whether what was solved makes a good task. Without more to say, it does.
    fn accept(
        &self,
        _draw: &Draw<'_>,
        _case: &Case,
        _solved: &Solved,
        _domain: &Domain,
        _planner: &mut dyn Planner,
    ) -> Result<(), Discard> {
        Ok(())
    }
}

/// Reads a task as an agent would, with code of its own: it shares the types of a case with the writer, and nothing else.
pub trait Reader {
    /// The case rebuilt from the instruction and from what the world answers, and from nothing else.
    fn read_back(&self, text: &str, access: &mut dyn ToolAccess) -> Result<Case, FamilyError>;
    /// The ids of the records that calls on a case name, by key, from what the world answers and from nothing else. None,
    /// where calls name no record that was there before.
    fn addresses(&self, _case: &Case, _access: &mut dyn ToolAccess) -> Result<BTreeMap<String, u32>, FamilyError> {
        Ok(BTreeMap::new())
    }
    /// The passages of an instruction that it does not read word by word, each with the reason. It reads all others, and refuses
    /// a sentence that it does not know.
    fn passages(&self, _text: &str) -> Vec<Passage> {
        Vec::new()
    }
}

/// A passage of an instruction that its reader does not read word by word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passage {
    /// Where it stands, in bytes.
    pub range: std::ops::Range<usize>,
    /// What of it is read all the same.
    pub heed: Heed,
    /// Why that is enough.
    pub why: &'static str,
}

/// What a reader takes from a passage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Heed {
    /// Nothing: it carries no meaning.
    Nothing,
    /// Its dates, numbers, codes and names: the words around them set the scene.
    Figures,
    /// The phrase by which its meaning is known, because its words are a pattern's own.
    KeyPhrase,
}

/// A near-miss that is made by changing calls or records instead of by a solver.
#[derive(Clone, PartialEq, Debug)]
pub enum Mutation {
    /// These calls break the rule.
    Script(Script),
    /// No call can produce the breach on this task, for a declared reason.
    None(String),
}

/// Breaks rules on purpose, one at a time.
pub trait Mutator {
    /// Calls that break one instance of a rule which no solver reads; `None` where it knows none.
    fn mutate(&self, case: &Case, plan: &NamedRows, rule: &str, at: &[String])
    -> Result<Option<Mutation>, FamilyError>;
}

/// Proves that a case has exactly one plan, where a draw brings its plan and nobody has to search for one.
pub trait Proof {
    /// What it is proved by, for the certificate.
    fn name(&self) -> &'static str;
    /// The one plan; a case that has another is discarded.
    fn prove(&self, case: &Case, plan: &Plan, bound: &Bound) -> Result<Solved, Discard>;
}

/// Scripted agents that a family brings along, to measure how hard its tasks are.
pub trait Players {
    /// Their names, from the least able on.
    fn names(&self) -> &'static [&'static str];
    /// Lets one of them play: it sees the instruction and what tools answer, and nothing else.
    fn play(&self, name: &str, text: &str, access: &mut dyn ToolAccess) -> Result<(), FamilyError>;
}

/// Calls that fail without having done anything.
pub trait Faults {
    /// The share of calls that fail, in millionths, which a case lays on its episodes.
    fn per_million(&self, case: &Case) -> u32;
}

/// Tasks of somebody's own data instead of drawn ones.
pub trait OwnFiles {
    /// The files that take the place of those in the domain's folder, so that its tasks are of the data in these files; or everything
    /// that is wrong with them, each with its file, row and column.
    fn taken(&self, files: &BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, String>, Vec<String>>;
}

/// Clauses that can be put in two ways, each with a best plan of its own. Two tasks that are alike but for such a clause are
/// twins: whoever works by habit instead of by the text fails one of them.
pub trait Readings {
    /// The clauses, each with its two readings. A reading is written `CLAUSE/WORD`.
    fn clauses(&self) -> &'static [[&'static str; 2]];
    /// A drawn case under a reading. One that the clause does not concern is discarded.
    fn read_as(&self, case: &Case, reading: &str) -> Result<Case, Discard>;

    /// The other reading of the same clause.
    fn other(&self, reading: &str) -> Option<&'static str> {
        self.clauses().iter().find_map(|[one, two]| match reading {
            of if of == *one => Some(*two),
            of if of == *two => Some(*one),
            _ => None,
        })
    }
}
