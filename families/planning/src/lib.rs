//! The planning family: an office's records become files, and a plan is handed in as forms. A workflow is one folder of declarations:
//! its records and how they are drawn, its forms, the rules between the two, its files and what is odd about them.
//!
//! One case is the [`records::Records`]. From them follow the facts that rules are bound to (`bind`), the rows that a plan may have
//! (`candidates`), the files with their traps (`render`), and back from the files the records again (`reader`, which shares no code with
//! what renders). Limits are set around a plan that is possible (`sample`), and the worth of a plan is told by anchors (`quality`).

mod baseline;
mod beyond;
mod bind;
mod brief;
mod bundles;
mod candidates;
mod dial;
mod dials;
mod forms;
mod layout;
mod own;
mod quality;
mod reader;
mod reckon;
mod records;
mod render;
mod sample;
mod stages;
#[cfg(test)]
mod tests;
mod tokens;
mod told;
mod weigh;
mod workflow;
mod world;
mod written;

use benchwright_base::Diagnostic;
use benchwright_pack::{Anchors, Script, Step, run::Problem};
use benchwright_project::{
    Breadth, Brief, Case, Discard, Draw, Eyes, Family, FamilyError, FirstState, Heed, Mutation, Mutator, Optimised,
    OwnFiles, Passage, Reader, Telling, ToolAccess,
};
use benchwright_schema::{
    Domain,
    plan::{Binding, Bindings, Bound, Plan, PlanText},
};
use benchwright_spec::{Candidates, NamedRows, Outcome, Planner, Rows, Solved};
use beyond::ask;
use dial::Dial;
use dials::ask::REACHED;
use forms::{form_columns, from_stage};
use records::Records;
use render::Source;
use serde_json::{Value as Json, json};
use stages::{lift::FIELD, roll, told::has_stages};
use std::collections::BTreeMap;
use workflow::{Planning, UNCHANGED, planning};
use written::TrapText;

/// The family of a workflow, from its folder, or all faults of what the folder says.
pub fn family(telling: Telling<'_>) -> Result<Box<dyn Family>, Vec<Diagnostic>> {
    Ok(Box::new(planning(telling)?))
}

impl Family for Planning {
    fn plan(&self) -> &PlanText {
        &self.plan
    }

    fn plan_of(&self, switches: &[String]) -> &PlanText {
        &self.of(switches).plan
    }

    fn tiers(&self) -> Option<Vec<String>> {
        Some(self.difficulty().map(|(tier, _)| tier.clone()).collect())
    }

    fn problem(&self, tier: &str) -> Option<Problem> {
        let figures = self.difficulty().find(|(known, _)| *known == tier).map(|(_, figures)| figures);
        let respects = told::RESPECTS.iter().zip(figures.into_iter().flatten());
        Some(Problem {
            class: self.told.class.clone(),
            trade: self.told.family.clone(),
            difficulty: respects.map(|(respect, figure)| ((*respect).to_owned(), *figure)).collect(),
        })
    }

    fn sample(&self, draw: &Draw<'_>, domain: &Domain, planner: &mut dyn Planner) -> Result<Case, Discard> {
        sample::sample(self, draw, domain, planner)
    }

    fn bindings(&self, case: &Case) -> Result<Bindings, FamilyError> {
        let it = self.of(&case.switches);
        Ok(it.bindings_of(&Planning::records(case)?)?)
    }

    fn world(&self, case: &Case, domain: &Domain) -> Result<FirstState, FamilyError> {
        let it = self.of(&case.switches);
        let forms: Vec<&str> = it.form_tables().map(|table| &*table.name).collect();
        Ok(world::first_state(domain, &it.files(case)?, &forms, self.stages(case))?)
    }

    /// Every form is handed in with the rows of the views that are read from it, those of one key together; at each stage those of it.
    fn script(&self, case: &Case, plan: &NamedRows) -> Result<Script, FamilyError> {
        let it = self.of(&case.switches);
        let mut script = Script::default();
        if it.stages.is_none() {
            it.hand_in(&self.tidied(plan.clone()), 1, &mut script)?;
            return Ok(script);
        }
        let stages = roll::numbers(it, case);
        for (nth, stage) in stages.iter().enumerate() {
            let mut now = plan.clone();
            now.0.values_mut().for_each(|rows| rows.retain(|row| row.get(FIELD) == Some(&Binding::Number(*stage))));
            it.hand_in(&now, *stage, &mut script)?;
            if nth + 1 < stages.len() {
                script.steps.push(Step::call("stage", "next", json!({})));
            }
        }
        Ok(script)
    }

    fn brief(&self, draw: &Draw<'_>, case: &Case, plan: &PlanText) -> Result<Brief, FamilyError> {
        let it = self.of(&case.switches);
        Ok(brief::write(it, &Dial::plain(draw), &it.traps(case), plan)?)
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

    fn own_files(&self) -> Option<&dyn OwnFiles> {
        Some(self)
    }
}

impl OwnFiles for Planning {
    fn taken(&self, files: &BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, String>, Vec<String>> {
        own::taken(self, files)
    }
}

impl Optimised for Planning {
    fn candidates(
        &self,
        case: &Case,
        plan: &Plan,
        bound: &Bound,
        wanted: Breadth<'_>,
    ) -> Result<Candidates, FamilyError> {
        let it = self.of(&case.switches);
        if it.stages.is_some() {
            return Ok(roll::all(it, plan, bound, wanted, None)?);
        }
        if matches!(wanted, Breadth::Wide | Breadth::Local(_)) {
            let mut candidates = candidates::single(&it.told, &it.plan, plan, bound)?;
            candidates::widen(&it.forms, &it.plan, plan, &mut candidates);
            if let Breadth::Local(rows) = wanted {
                candidates::near(&it.told, plan, rows, &mut candidates);
            }
            return Ok(candidates);
        }
        if matches!(wanted, Breadth::Dominant) {
            return Ok(candidates::single(&it.told, &it.plan, plan, bound)?);
        }
        Ok(candidates::candidates(&it.told, &it.plan, plan, bound, None)?)
    }

    fn planned(
        &self,
        eyes: Eyes,
        text: &str,
        access: &mut dyn ToolAccess,
        planner: &mut dyn Planner,
    ) -> Result<Option<Script>, FamilyError> {
        let it = reader::of_text(self, text);
        // Who plans with a solver here plans once: what comes later is not there yet, and nobody says what to do then.
        if it.stages.is_some() {
            return Ok(None);
        }
        let (traps, workspace) = it.seen(text, access)?;
        let heeded = if eyes == Eyes::Hurried { &[][..] } else { &traps };
        // Who cannot make sense of the files hands in nothing.
        let Ok(mut records) = reader::records(&it.layout, &it.written, heeded, &workspace) else { return Ok(None) };
        if it.dial == Some(Dial::Ask) {
            let mut reached = |records: &Records| {
                let Ok((plan, bound)) = self.compiled(&it.case_read(&traps, records)) else { return Ok(None) };
                let rows = candidates::candidates(&it.told, &it.plan, &plan, &bound, None).map_err(Discard::Fault)?;
                let Outcome::Solved(solved) = planner.best(&plan, &bound, &rows, it.objective())? else {
                    return Ok(None);
                };
                Ok(solved.phases.first().map(|phase| phase.value))
            };
            let Ok(Some(answered)) = ask::answered(it, &records, &mut reached) else { return Ok(None) };
            records = answered;
        }
        let case = it.case_read(&traps, &records);
        let Ok((mut plan, bound)) = self.compiled(&case) else { return Ok(None) };
        let forgotten = match eyes {
            Eyes::Forgetful(draw) => it.told.headline.get(draw as usize % it.told.headline.len().max(1)),
            Eyes::Careful | Eyes::Hurried => None,
        };
        for rule in plan.rules.iter_mut().filter(|rule| Some(&rule.id) == forgotten) {
            rule.lowered = false;
        }
        let without = forgotten.map(|id| &**id);
        let Ok(rows) = candidates::candidates(&it.told, &it.plan, &plan, &bound, without) else { return Ok(None) };
        let Ok(Outcome::Solved(solved)) = planner.solve(&plan, &bound, &rows, &case.objective) else { return Ok(None) };
        self.script(&case, &NamedRows::of(&solved.rows, &plan, &bound)).map(Some)
    }

    fn solve(&self, case: &Case, plan: &Plan, bound: &Bound, planner: &mut dyn Planner) -> Result<Outcome, Discard> {
        let it = self.of(&case.switches);
        if it.stages.is_none() {
            let candidates = self.candidates(case, plan, bound, Breadth::Tight)?;
            return Ok(planner.solve(plan, bound, &candidates, &case.objective)?);
        }
        let stages = roll::numbers(it, case);
        roll::solve(it, &case.objective, (plan, bound), &self.bindings(case)?, &stages, planner)
    }

    fn stages(&self, case: &Case) -> i64 {
        let it = self.of(&case.switches);
        if it.stages.is_some() { roll::numbers(it, case).into_iter().max().unwrap_or(1) } else { 1 }
    }

    fn stage(
        &self,
        case: &Case,
        plan: &Plan,
        bound: &Bound,
        stage: i64,
        before: &Rows,
        breadth: Breadth<'_>,
    ) -> Result<(Bound, Candidates), FamilyError> {
        let it = self.of(&case.switches);
        if it.stages.is_none() {
            return Ok((bound.clone(), self.candidates(case, plan, bound, breadth)?));
        }
        let known = roll::known_at(plan, bound, stage);
        let mut candidates = roll::all(it, plan, &known, breadth, None)?;
        roll::held(plan, &mut candidates, before, stage);
        Ok((known, candidates))
    }

    fn hindsight(&self, case: &Case, breadth: Breadth<'_>) -> Result<Option<(Plan, Bound, Candidates)>, FamilyError> {
        let it = self.of(&case.switches);
        if it.stages.is_none() {
            return Ok(None);
        }
        roll::hindsight(it, &self.bindings(case)?, self.stages(case), breadth).map(Some)
    }

    fn tidied(&self, mut plan: NamedRows) -> NamedRows {
        self.told.bundle.values().for_each(|bundle| bundles::counted(bundle, &mut plan));
        plan
    }

    fn worked_out(&self) -> &'static [&'static str] {
        &[REACHED]
    }

    fn greedy(&self, case: &Case) -> Result<NamedRows, FamilyError> {
        let (plan, bound) = self.compiled(case)?;
        let it = self.of(&case.switches);
        let rows = baseline::plan(&it.told, &it.plan, &plan, &bound)?;
        Ok(NamedRows::of(&rows, &plan, &bound))
    }

    fn admits(&self, tier: &str) -> Option<i64> {
        // Of a plan in stages, whose worth is told by hindsight, no stage need be proved nearer than what hindsight may be away.
        if has_stages(tier) {
            return Some(MOST_OF_A_STAGE);
        }
        Some(match tier.split('-').next() {
            Some("easy") => 0,
            Some("medium") => 30,
            _ => 50,
        })
    }

    fn anchors(
        &self,
        tier: &str,
        case: &Case,
        plan: &Plan,
        bound: &Bound,
        solved: &Solved,
    ) -> Result<Option<Anchors>, FamilyError> {
        let phase = solved.phases.first().ok_or("there is no phase to anchor")?;
        let it = self.of(&case.switches);
        let baseline = baseline::plan(&it.told, &it.plan, plan, bound)?;
        let baseline = baseline.worth(plan, bound, &case.objective);
        let anchors = quality::anchors(tier, self.sign(), phase.value, phase.bound, baseline);
        Ok(Some(anchors.ok_or("the value is too large to anchor")?))
    }

    fn accept(
        &self,
        draw: &Draw<'_>,
        case: &Case,
        solved: &Solved,
        domain: &Domain,
        _: &mut dyn Planner,
    ) -> Result<(), Discard> {
        let ready = benchwright_project::ready(self, draw.pattern, domain, case.clone())?;
        let anchors = self.anchors(draw.tier, case, &ready.plan, &ready.bound, solved)?;
        let value = solved.phases.first().map_or(0, |phase| phase.value);
        if value.abs() < LEAST_VALUE {
            return Err(Discard::Because("too small".to_owned()));
        }
        let it = self.of(&case.switches);
        let gap = solved.phases.first().map_or(0, |phase| phase.value.abs_diff(phase.bound));
        if it.stages.is_some() && u128::from(gap) * 100 > u128::from(value.unsigned_abs()) * MOST_OF_HINDSIGHT {
            return Err(Discard::Because("hindsight is too far".to_owned()));
        }
        let baseline = baseline::plan(&it.told, &it.plan, &ready.plan, &ready.bound).map_err(Discard::Fault)?;
        let passes = baseline
            .worth(&ready.plan, &ready.bound, &case.objective)
            .zip(anchors)
            .is_some_and(|(worth, anchors)| quality::passes(worth, &anchors, self.sign()));
        if passes && !draw.tier.starts_with("easy") && self.own.is_none() {
            return Err(Discard::Because("the baseline passes".to_owned()));
        }
        Ok(())
    }

    fn weigh(
        &self,
        tier: &str,
        case: &Case,
        plan: &Plan,
        bound: &Bound,
        solved: &Solved,
        planner: &mut dyn Planner,
    ) -> Result<BTreeMap<String, String>, Discard> {
        let anchors = self.anchors(tier, case, plan, bound, solved)?;
        let anchors = anchors.ok_or_else(|| Discard::Fault("there are no anchors".to_owned()))?;
        weigh::weigh(self.of(&case.switches), &weigh::Weighed { tier, case, plan, bound, solved, anchors }, planner)
    }
}

/// How far a plan made stage by stage may be from the best in hindsight, in percent of it.
const MOST_OF_HINDSIGHT: u128 = 25;
/// How far the plan of a stage may be from what is proved of it, in thousandths.
const MOST_OF_A_STAGE: i64 = 250;
/// The least value that is told apart by thousandths.
const LEAST_VALUE: i64 = 1_000;

impl Reader for Planning {
    fn read_back(&self, text: &str, access: &mut dyn ToolAccess) -> Result<Case, FamilyError> {
        let it = reader::of_text(self, text);
        let (traps, workspace) = it.seen(text, access)?;
        let records = reader::records(&it.layout, &it.written, &traps, &workspace)?;
        Ok(it.case_read(&traps, &records))
    }

    fn passages(&self, text: &str) -> Vec<Passage> {
        let others = reader::read_brief(reader::of_text(self, text), text).map(|said| said.others).unwrap_or_default();
        let passage =
            |range| Passage { range, heed: Heed::Nothing, why: "the pattern's own words, alike for every workflow" };
        others.into_iter().map(passage).collect()
    }
}

impl Planning {
    /// How hard it is, by tier: those that are planned once, then those in stages.
    fn difficulty(&self) -> impl Iterator<Item = (&String, &[u8; 6])> {
        let staged = self.staged.iter().filter_map(|staged| staged.stages.as_ref());
        self.told.difficulty.iter().chain(staged.flat_map(|stages| &stages.text.difficulty))
    }

    /// The files of a case.
    pub(crate) fn files(&self, case: &Case) -> Result<Vec<render::Rendered>, FamilyError> {
        let records = Planning::records(case)?;
        let before = records.original(self);
        let source = Source {
            layout: &self.layout,
            written: &self.written,
            forms: self.form_tables().collect(),
            records: &records,
            before: before.as_ref().unwrap_or(&records),
            traps: self.traps(case),
        };
        Ok(render::files(&source)?)
    }

    /// The same by their paths, as they are read.
    pub(crate) fn workspace(&self, case: &Case) -> Result<reader::Workspace, FamilyError> {
        let files = self.files(case)?.into_iter();
        Ok(files.map(|file| (file.path, (file.media.to_owned(), file.body))).collect())
    }

    /// The rules of a case with what they are bound to, without what a pattern adds.
    fn compiled(&self, case: &Case) -> Result<(Plan, Bound), FamilyError> {
        let text = self.of(&case.switches).plan.for_switches(&case.switches);
        let plan = Plan::compile(&text, &self.forms);
        let plan = plan.map_err(|faults| faults.to_string())?;
        let bound = Bound::new(&plan, &self.bindings(case)?).map_err(|faults| faults.to_string())?;
        Ok((plan, bound))
    }

    /// The traps that a brief tells of, and the files.
    fn seen(
        &self,
        text: &str,
        access: &mut dyn ToolAccess,
    ) -> Result<(Vec<&TrapText>, reader::Workspace), FamilyError> {
        let traps = reader::read_brief(self, text)?.traps;
        let mut workspace = reader::Workspace::new();
        let list = access.ask("workspace_list", json!({})).map_err(|why| why.0)?;
        for file in list["files"].as_array().into_iter().flatten() {
            let (Some(path), Some(media)) = (file["path"].as_str(), file["media"].as_str()) else { continue };
            // A workbook is answered as the CSV of its sheet.
            let media = if media.starts_with("text/") || media == "application/json" { media } else { "text/csv" };
            workspace.insert(path.to_owned(), (media.to_owned(), whole(path, access)?));
        }
        Ok((traps, workspace))
    }

    /// The one objective that there is.
    fn objective(&self) -> &str {
        self.plan.objectives.keys().next().map_or("", |name| name)
    }

    /// The case of records that were read.
    fn case_read(&self, traps: &[&TrapText], records: &Records) -> Case {
        self.case_of(self.objective(), traps.iter().map(|trap| trap.switch()).chain(self.switches()).collect(), records)
    }

    /// The calls that hand in a plan at a stage.
    fn hand_in(&self, plan: &NamedRows, stage: i64, script: &mut Script) -> Result<(), FamilyError> {
        for table in self.form_tables().filter(|table| from_stage(table) <= stage) {
            let mut rows: BTreeMap<String, serde_json::Map<String, Json>> = BTreeMap::new();
            for (name, view) in self.plan.views.iter().filter(|(_, view)| view.from == table.name) {
                for row in plan.0.get(name).into_iter().flatten() {
                    // Without a key, every row is one of its own.
                    let told = view.key.iter().chain(view.fields.keys().filter(|_| view.key.is_empty()));
                    let key: Vec<String> = told.map(|field| format!("{:?}", row.get(field))).collect();
                    let written = rows.entry(key.join("|")).or_default();
                    for (field, reads) in &view.fields {
                        let column = reads.split_once(':').map_or("", |(_, column)| column.trim());
                        if !form_columns(table).any(|known| known.name == column) {
                            continue;
                        }
                        let cell = match row.get(field) {
                            Some(Binding::Number(number)) => json!(number),
                            Some(Binding::Key(key)) => json!(key),
                            None => return Err(format!("a row of `{name}` has no `{field}`").into()),
                        };
                        written.insert(column.to_owned(), cell);
                    }
                }
            }
            let mut rows: Vec<Json> = rows.into_values().map(Json::Object).collect();
            rows.sort_by_cached_key(Json::to_string);
            script.steps.push(Step::call("form", "submit", json!({ "form": table.name, "rows": rows })));
        }
        Ok(())
    }
}

/// The whole text of a file, page by page.
fn whole(path: &str, access: &mut dyn ToolAccess) -> Result<String, FamilyError> {
    let mut text = String::new();
    let mut offset = 0;
    loop {
        let page = access.ask("workspace_read", json!({ "path": path, "offset": offset })).map_err(|why| why.0)?;
        text.push_str(page["text"].as_str().unwrap_or_default());
        match page["next_offset"].as_u64() {
            Some(next) if next > offset => offset = next,
            _ => return Ok(text),
        }
    }
}

impl Mutator for Planning {
    fn mutate(&self, case: &Case, plan: &NamedRows, rule: &str, _: &[String]) -> Result<Option<Mutation>, FamilyError> {
        if rule == UNCHANGED {
            return Ok(Some(Mutation::None("no tool changes anything but forms".to_owned())));
        }
        let it = self.of(&case.switches);
        if it.told.known.as_deref() != Some(rule) {
            return Ok(None);
        }
        // One more row, which names something that nobody has; or the last one, where two cannot be alike in the rest.
        let mut script = self.script(case, plan)?;
        for step in &mut script.steps {
            let table = it.form_tables().find(|table| step.args["form"] == *table.name);
            let Some((rows, table)) = step.args["rows"].as_array_mut().zip(table) else { continue };
            let Some(mut row) = rows.last().cloned() else { continue };
            let code = row.as_object_mut().and_then(|row| row.iter_mut().find(|(_, cell)| cell.is_string()));
            let Some((column, code)) = code else { continue };
            *code = json!(NOBODYS);
            let names = |key: &benchwright_schema::Key| {
                key.fields.iter().any(|field| table.fields[field.index()].name == *column)
            };
            if !table.keys.iter().all(names) {
                rows.pop();
            }
            rows.push(row);
            return Ok(Some(Mutation::Script(script)));
        }
        Ok(None)
    }
}

/// A code that no record has.
const NOBODYS: &str = "ZZ";
