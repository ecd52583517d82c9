//! Carries out plans of small cases in the real sandbox and judges what is left, for tests.

use super::shop::Shop;
use super::{PLAN, calls, facts, pegs, records};
use benchwright_base::{Digest, Value};
use benchwright_catalog::Catalog;
use benchwright_grade::Grader;
use benchwright_pack::{BoundKeys, Script, Snapshot, Verdict, Verifier};
use benchwright_project::{FirstState, scoring};
use benchwright_sandbox::{Conditions, Sandbox};
use benchwright_schema::Domain;
use benchwright_schema::plan::{Bound, Plan};
use benchwright_spec::{NamedRows, Rows};
use benchwright_world::{Seat, replay};
use std::sync::Arc;

/// A case in its world.
pub(crate) struct MicroWorld {
    pub(crate) shop: Shop,
    pub(crate) domain: Arc<Domain>,
    pub(crate) first: FirstState,
    sandbox: Arc<Sandbox>,
    verifier: Verifier,
}

impl MicroWorld {
    /// A case whose best values are known.
    pub(crate) fn new(shop: &Shop, best: &[i64]) -> MicroWorld {
        let found = Catalog::built_in().find("erp").unwrap();
        let first = records::first_state(shop, &found.domain).unwrap();
        let sandbox = Sandbox::from_snapshot(Arc::clone(&found.domain), found.natives, &first.snapshot).unwrap();
        let plan = PLAN.for_switches(&shop.switches());
        // Most tests ask about rules, and the rest of the certificate is nothing to them.
        let phases = plan.objectives[&shop.objective].phases.len();
        let best = (0..phases).map(|at| best.get(at).copied().unwrap_or_default()).collect();
        let verifier = Verifier {
            version: Verifier::VERSION,
            world: Digest::of(&first.snapshot.to_bytes(&found.domain)).to_string(),
            scoring: scoring(&plan),
            plan,
            bindings: facts::bindings(shop),
            keys: first.keys.clone(),
            objective: shop.objective.clone(),
            best,
            anchors: None,
            gates: if shop.repair.is_some() { vec!["erp/broken-documents".into()] } else { Vec::new() },
            answer: std::collections::BTreeMap::new(),
        };
        MicroWorld { shop: shop.clone(), domain: found.domain, first, sandbox: Arc::new(sandbox), verifier }
    }

    /// The state that calls leave.
    pub(crate) fn play(&self, script: &Script) -> Snapshot {
        let seat = Seat { role: "planner".into(), actor: self.sandbox.person_for("planner") };
        let mut episode = self.sandbox.begin(&seat, Conditions::default()).unwrap();
        let ids = self.first.keys.values().flatten().map(|(id, key)| (key.clone(), *id));
        replay(script, &mut BoundKeys::new(ids), &mut episode).unwrap();
        episode.snapshot()
    }

    /// The state that a plan leaves when it is carried out.
    pub(crate) fn carry_out(&self, plan: &NamedRows) -> Snapshot {
        self.play(&calls::script(&self.shop, plan).unwrap())
    }

    /// The verdict on a state.
    pub(crate) fn judge(&self, state: &Snapshot) -> Verdict {
        Grader::new(&self.domain, &self.verifier, &self.first.snapshot, pegs::NATIVES).unwrap().grade(state).unwrap()
    }

    /// The rows of the decisions found in a state, in words.
    pub(crate) fn read(&self, state: &Snapshot) -> NamedRows {
        let grader = Grader::new(&self.domain, &self.verifier, &self.first.snapshot, pegs::NATIVES).unwrap();
        let found = grader.rows(state);
        let (plan, bound): (&Plan, &Bound) = (grader.plan(), grader.bound());
        let mut rows = Rows::empty(plan);
        for view in ["sell", "buy", "build"] {
            let at = plan.view_named(view).unwrap();
            let cell = |value: &Value| value.as_ref_id().map(i64::from).or(value.as_number()).unwrap_or(-1);
            rows.0[at] = found.views[at].iter().map(|row| row.iter().map(cell).collect()).collect();
        }
        NamedRows::of(&rows, plan, bound)
    }

    /// The cells of one field in a table of a state.
    pub(crate) fn column(&self, state: &Snapshot, table: &str, field: &str) -> Vec<String> {
        let at = self.domain.table_named(table).unwrap();
        let declared = self.domain.table(at);
        let field = declared.field_named(field).unwrap();
        let shown = |row: &Vec<Value>| {
            benchwright_schema::codec::show_value(&self.domain, declared.field(field).ty, &row[field.index()])
        };
        state.tables[at.index()].rows.iter().map(shown).collect()
    }
}
