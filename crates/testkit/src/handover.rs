//! A family as small as one can be, in a joined world: customers' cases that a fault of our own services has caused are handed
//! over to IT services. It has the core of a family and a mutator. Nothing is optimised, so nobody asks a solver.

use crate::planting::World;
use benchwright_base::Value;
use benchwright_catalog::Catalog;
use benchwright_pack::{Clause, Script, Step, script::at};
use benchwright_project::{Brief, Case, Discard, Draw, Family, FamilyError, FirstState, Mutation, Mutator};
use benchwright_schema::{
    Domain,
    plan::{Bindings, PlanText},
};
use benchwright_spec::{NamedRows, Planner};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{collections::BTreeMap, sync::LazyLock};

const OPENED: &str = "handover/incident-opened";
const GROUP: &str = "handover/to-the-group";
const WAITS: &str = "handover/case-waits";
const FRAME: &str = "handover/nothing-else";
const CASE: &str = "csm.customer_case";
const SERVICE: &str = "itsm.service";
const GROUPS: &str = "itsm.user_group";
const PERSON: &str = "itsm.user";
/// Services that no seeded world has.
const SERVICES: [&str; 5] = ["Claims Intake", "Fleet Tracking", "Loyalty Points", "Parcel Labels", "Quote Desk"];

static PLAN: LazyLock<PlanText> =
    LazyLock::new(|| PlanText::from_toml("plan.toml", include_str!("../handover/plan.toml")).unwrap_or_default());

/// Cases of one desk that become incidents of another.
pub struct Handover;

/// The domains of the program, with this family and its one pattern.
pub fn catalog() -> Catalog {
    let patterns = concat!(env!("CARGO_MANIFEST_DIR"), "/handover/patterns");
    Catalog::built_in().with_patterns(patterns).with_family("handover", &Handover)
}

/// What was drawn: the seed of the world, and the cases that are handed over.
#[derive(Serialize, Deserialize)]
struct Situation {
    seed: u64,
    jobs: Vec<Job>,
}

/// A case that is planted, the service at fault, and where it goes. Rows of the seeded world are told by their ids.
#[derive(Serialize, Deserialize)]
struct Job {
    number: String,
    like_case: u32,
    service: String,
    like_service: u32,
    group: u32,
    group_name: String,
    org: u32,
    caller: u32,
}

fn key(kind: &str, nth: usize) -> String {
    format!("{kind}/{}", nth + 1)
}

fn situation(case: &Case) -> Result<Situation, FamilyError> {
    serde_json::from_value(case.data.clone()).map_err(|error| FamilyError(format!("this is no handover: {error}")))
}

impl Family for Handover {
    fn plan(&self) -> &PlanText {
        &PLAN
    }

    fn sample(&self, draw: &Draw<'_>, domain: &Domain, _: &mut dyn Planner) -> Result<Case, Discard> {
        let (world, yes) = (World::seeded(domain, draw.seed)?, Value::Bool(true));
        let mut stream = draw.stream("jobs");
        let (mut groups, mut services) = (world.having(GROUPS, "active", &yes)?, SERVICES);
        stream.shuffle(&mut groups);
        stream.shuffle(&mut services);
        // The first word of the states of a case is `new`.
        let cases = world.having(CASE, "state", &Value::Enum(0))?;
        let next = world.state.tables[world.at(CASE, "id")?.0].next_number;
        let (orgs, names) = (world.rows(GROUPS, "org")?, world.rows(GROUPS, "name")?);
        let none = || Discard::Because("nobody-there".to_owned());
        let count = draw.pattern.head.recipe[draw.tier].as_u64().unwrap_or(1) as usize;
        let mut jobs = Vec::new();
        for ((group, service), number) in groups.into_iter().zip(services).zip(next..).take(count) {
            let org = orgs.iter().find(|(id, _)| *id == group).ok_or_else(none)?.1;
            let name = names.iter().find(|(id, _)| *id == group).and_then(|(_, name)| name.as_text());
            let mut people = world.having(PERSON, "org", org)?;
            let active = world.having(PERSON, "active", &yes)?;
            people.retain(|person| active.contains(person));
            jobs.push(Job {
                number: format!("CS{number:07}"),
                like_case: *stream.pick(&cases).ok_or_else(none)?,
                service: service.to_owned(),
                like_service: *stream.pick(&world.having(SERVICE, "org", org)?).ok_or_else(none)?,
                group,
                group_name: name.unwrap_or_default().to_owned(),
                org: org.as_ref_id().ok_or_else(none)?,
                caller: *stream.pick(&people).ok_or_else(none)?,
            });
        }
        let data = serde_json::to_value(Situation { seed: draw.seed, jobs }).unwrap_or_default();
        Ok(Case { objective: draw.objective.to_owned(), switches: Vec::new(), data })
    }

    fn bindings(&self, case: &Case) -> Result<Bindings, FamilyError> {
        let mut facts = Bindings { anchor: "2026-03-02".to_owned(), ..Bindings::default() };
        for nth in 0..situation(case)?.jobs.len() {
            let [case, service, group] = ["case", "service", "group"].map(|kind| {
                facts.members.entry(kind.to_owned()).or_default().push(key(kind, nth));
                key(kind, nth)
            });
            facts.fact_key("service_of", &[&case], &service);
            facts.fact_key("group_of", &[&case], &group);
        }
        let cases = facts.members["case"].clone();
        facts.set("cases", cases.iter().map(|key| &**key));
        Ok(facts)
    }

    fn world(&self, case: &Case, domain: &Domain) -> Result<FirstState, FamilyError> {
        let situation = situation(case)?;
        let mut world = World::seeded(domain, situation.seed)?;
        // While such a notice runs, nobody may write.
        let (notices, _) = world.at("csm.service_notice", "id")?;
        world.state.tables[notices].rows.clear();
        let mut keys: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
        for table in [CASE, SERVICE] {
            let others = world.rows(table, "id")?.into_iter().map(|(id, _)| (id, format!("other/{id}")));
            keys.insert(table.to_owned(), others.collect());
        }
        for (nth, job) in situation.jobs.iter().enumerate() {
            let about = format!("Our people see errors whenever they use {}", job.service);
            let told = [("number", job.number.clone()), ("short_description", about)];
            let planted = world.plant(CASE, job.like_case, &told)?;
            let service = world.plant(SERVICE, job.like_service, &[("name", job.service.clone())])?;
            for (table, row, kind) in
                [(CASE, planted, "case"), (SERVICE, service, "service"), (GROUPS, job.group, "group")]
            {
                keys.entry(table.to_owned()).or_default().insert(row, key(kind, nth));
            }
        }
        Ok(FirstState { snapshot: world.state, keys })
    }

    fn script(&self, case: &Case, _: &NamedRows) -> Result<Script, FamilyError> {
        Ok(calls(&situation(case)?, "", ""))
    }

    fn brief(&self, draw: &Draw<'_>, case: &Case, plan: &PlanText) -> Result<Brief, FamilyError> {
        let (mut stream, text) = (draw.stream("words"), &draw.pattern.text);
        let mut say = |texts: &[String]| stream.pick(texts).cloned().unwrap_or_default();
        let mut out = format!("# {}\n\n{}\n\n", text.title, say(&text.opening));
        for Job { number, service, group_name, .. } in situation(case)?.jobs {
            out.push_str(&format!("- Case {number}: the fault is in {service}; the group is {group_name}.\n"));
        }
        out.push_str(&format!("\n{}\n\n", say(&text.goal[draw.objective])));
        let mut clauses = Vec::new();
        for (id, rule) in &plan.rules {
            clauses.push(Clause { tells: vec![id.clone()], text: say(&rule.says) });
            out.push_str(&format!("- {}\n", clauses[clauses.len() - 1].text));
        }
        out.push_str(&format!("\n{}\n", say(&text.closing)));
        Ok(Brief { text: out, clauses })
    }

    fn gates(&self, _: &Case) -> Vec<String> {
        vec![OPENED.to_owned()]
    }

    fn mutator(&self) -> Option<&dyn Mutator> {
        Some(self)
    }
}

impl Mutator for Handover {
    fn mutate(&self, case: &Case, _: &NamedRows, rule: &str, at: &[String]) -> Result<Option<Mutation>, FamilyError> {
        Ok(Some(Mutation::Script(calls(&situation(case)?, rule, at.first().map_or("", |key| key)))))
    }
}

/// The calls that hand every case over, but for what would keep a rule at a case.
fn calls(situation: &Situation, broken: &str, broken_at: &str) -> Script {
    let mut script = Script::default();
    for (nth, job) in situation.jobs.iter().enumerate() {
        let case = key("case", nth);
        let keeps = |rule: &str| rule != broken || case != broken_at;
        let about = format!("{} fails for customers", job.service);
        let service = at(&key("service", nth));
        let mut incident =
            json!({ "org": job.org, "caller": job.caller, "service": service, "short_description": about });
        if keeps(GROUP) {
            incident["assignment_group"] = at(&key("group", nth));
        }
        let waits = json!({ "id": at(&case), "state": "pending" });
        let steps = [(OPENED, "create_incident", incident), (WAITS, "update_case", waits)];
        let kept = steps.into_iter().filter(|(rule, ..)| keeps(rule));
        script.steps.extend(kept.map(|(_, tool, arguments)| Step::call(tool, "", arguments)));
    }
    if broken == FRAME {
        script.steps.push(Step::call("update_case", "", json!({ "id": at("case/1"), "cause": "not known" })));
    }
    script
}
