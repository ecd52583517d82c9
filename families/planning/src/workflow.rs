//! A workflow: what its folder declares, with what follows from it.

use crate::{
    bind, candidates,
    dial::Dial,
    dials::{ask, over, with_dial},
    forms::form_tables,
    layout::{self, Layout},
    records::{OWN, Records},
    stages::{
        self, Stages, lift,
        told::{STAGES, StagesText},
    },
    tokens::has_word,
    told::{self, Told},
    written::{self, TrapText, Written, traps_at},
};
use benchwright_base::Diagnostic;
use benchwright_project::{Case, Discard, Draw, FamilyError, Filler, Ready, Telling};
use benchwright_schema::{
    Domain, Folder, load,
    plan::{Bindings, FrameText, Plan, PlanText, RuleText},
};
use benchwright_spec::Candidates;
use std::collections::BTreeMap;

/// Nothing but the forms changes.
pub(crate) const UNCHANGED: &str = "planning/rest-unchanged";
/// The rules of a workflow.
const PLAN: &str = "plan.toml";

/// Reads a folder, or tells all that is wrong with what it says.
pub(crate) fn planning(telling: Telling<'_>) -> Result<Planning, Vec<Diagnostic>> {
    let folder = telling.folder;
    let text = |file: &str| folder.get(file).unwrap_or_default();
    let missing = [layout::DATA, layout::DRAW, PLAN, written::FILE, told::FILE]
        .into_iter()
        .filter(|file| folder.get(file).is_none())
        .map(|file| Diagnostic::at(file, "", 0, "this file is missing", None));
    let missing: Vec<Diagnostic> = missing.collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let forms = match telling.domain {
        Some(domain) => domain.clone(),
        None => load(folder)?,
    };
    let told = Told::read(text(told::FILE));
    let stages = folder.get(stages::told::FILE).map(StagesText::read).transpose()?;
    // Whoever brings records of their own plans once.
    let without: &[String] = stages.as_ref().filter(|_| folder.get(OWN).is_some()).map_or(&[], |stages| &stages.tables);
    let layout = Layout::read(folder).map(|layout| layout.without(without));
    let written = match &layout {
        Ok(layout) => Written::read(text(written::FILE), layout),
        Err(_) => Err(Vec::new()),
    };
    let plan = PlanText::from_toml(PLAN, text(PLAN));
    let (told, layout, written, plan) = match (told, layout, written, plan) {
        (Ok(told), Ok(layout), Ok(written), Ok(plan)) => (told, layout, written, plan),
        (told, layout, written, plan) => {
            let faults = [told.err(), layout.err(), written.err(), plan.err()];
            return Err(faults.into_iter().flatten().flatten().collect());
        }
    };
    let own = folder.get(OWN).map(|text| {
        let read = serde_json::from_str::<Records>(text).map_err(|error| error.to_string());
        let read = read.and_then(|records| records.check(&layout).map(|()| records));
        read.map_err(|why| vec![Diagnostic::at(OWN, "", 0, why, None)])
    });
    let own = own.transpose()?;
    let filler = telling.filler;
    let Some(stages) = stages.filter(|_| own.is_none()) else {
        let planning = Planning {
            layout,
            told,
            written,
            forms,
            plan,
            own,
            filler,
            stages: None,
            staged: None,
            dial: None,
            dials: BTreeMap::new(),
        };
        return turned(folder, planning);
    };
    let tables = stages.tables.clone();
    let apart = (layout.without(&tables), written.without(&layout, &tables));
    let fault = |why: String| vec![Diagnostic::at(stages::told::FILE, "", 0, why, None)];
    if !layout.tables.iter().map(|table| &table.name).rev().take(tables.len()).all(|name| tables.contains(name)) {
        return Err(fault("the tables of stages are the last ones of the records, in any order".to_owned()));
    }
    let (lifted, more, stages) = stages::lifted(&plan, &told, stages, &forms).map_err(fault)?;
    let mut staged = Planning {
        layout,
        told: more,
        written,
        forms: forms.clone(),
        plan: lifted,
        own: None,
        filler,
        stages: Some(stages),
        staged: None,
        dial: None,
        dials: BTreeMap::new(),
    };
    let (layout, written) = apart;
    let planning = Planning {
        layout,
        told,
        written,
        forms,
        plan,
        own,
        filler,
        stages: None,
        staged: None,
        dial: None,
        dials: BTreeMap::new(),
    };
    // What is wrong with the rules themselves is told of these.
    let mut planning = turned(folder, planning)?;
    staged.complete().map_err(fault)?;
    planning.staged = Some(Box::new(staged));
    Ok(planning)
}

/// Completes a workflow, and adds what its dials make of it.
fn turned(folder: &Folder, mut planning: Planning) -> Result<Planning, Vec<Diagnostic>> {
    let fault = |file: &str, why: String| vec![Diagnostic::at(file, "", 0, why, None)];
    let mut dials = BTreeMap::new();
    for dial in Dial::ALL.into_iter().filter(|_| planning.own.is_none()) {
        let parts = (&planning.layout, &planning.told, &planning.written, &planning.plan, &planning.forms);
        let with = with_dial(folder, dial, parts).map_err(|why| fault(told::FILE, why))?;
        let Some((layout, told, written, plan)) = with else { continue };
        let with = Planning {
            layout,
            told,
            written,
            forms: planning.forms.clone(),
            plan,
            own: None,
            filler: planning.filler,
            stages: None,
            staged: None,
            dial: Some(dial),
            dials: BTreeMap::new(),
        };
        dials.insert(dial, with);
    }
    planning.complete().map_err(|why| fault(PLAN, why))?;
    for (dial, with) in &mut dials {
        with.complete().map_err(|why| fault(told::FILE, format!("with the dial `{}`: {why}", dial.word())))?;
    }
    planning.dials = dials;
    Ok(planning)
}

/// One workflow.
pub(crate) struct Planning {
    pub(crate) layout: Layout,
    pub(crate) told: Told,
    pub(crate) written: Written,
    /// The desk with the forms.
    pub(crate) forms: Domain,
    pub(crate) plan: PlanText,
    /// Records that are given; without them, they are drawn.
    pub(crate) own: Option<Records>,
    pub(crate) filler: Filler,
    /// What it knows of stages, where it is planned in stages.
    pub(crate) stages: Option<Stages>,
    /// The same workflow planned in stages, where it can be.
    pub(crate) staged: Option<Box<Planning>>,
    /// What is asked besides, where this is the workflow as a dial has it.
    pub(crate) dial: Option<Dial>,
    /// The same workflow with what its dials add.
    pub(crate) dials: BTreeMap<Dial, Planning>,
}

impl Planning {
    /// The workflow as cases with these switches have it.
    pub(crate) fn of(&self, switches: &[String]) -> &Planning {
        let is_on = |word: &str| switches.iter().any(|switch| switch == word);
        let with = self.dials.iter().find(|(dial, _)| is_on(dial.word())).map(|(_, with)| with);
        with.or(self.staged.as_deref().filter(|_| is_on(STAGES))).unwrap_or(self)
    }

    /// The tables that are handed in: those that rules speak of.
    pub(crate) fn form_tables(&self) -> impl Iterator<Item = &benchwright_schema::Table> {
        let is_read = |table: &&benchwright_schema::Table| self.plan.views.values().any(|view| view.from == table.name);
        form_tables(&self.forms, self.until()).filter(is_read)
    }

    /// What records bind.
    pub(crate) fn bindings_of(&self, records: &Records) -> Result<Bindings, String> {
        let mut bound = bind::bindings(&self.layout, &self.told, self.stages.as_ref(), records)?;
        match self.dial {
            Some(Dial::Ask) => ask::kept(records).into_iter().for_each(|(question, is)| {
                bound.fact(ask::REACHED, &[&question], is);
            }),
            Some(Dial::Over) => over::bind((&self.layout, &self.told, &self.written), records, &mut bound)?,
            Some(Dial::Twin | Dial::Front) | None => {}
        }
        Ok(bound)
    }

    /// Up to which stage forms are there: whoever plans once is at the first.
    pub(crate) fn until(&self) -> i64 {
        if self.stages.is_some() { i64::MAX } else { 1 }
    }

    /// Completes the rules, and holds what is told beside them to what there is.
    fn complete(&mut self) -> Result<(), String> {
        self.plan = self.completed(self.plan.clone())?;
        if let Some(stages) = &self.stages {
            let hindsight = self.completed(stages.hindsight.clone())?;
            Plan::compile(&hindsight, &self.forms).map_err(|faults| faults.to_string())?;
            self.stages.iter_mut().for_each(|stages| stages.hindsight.clone_from(&hindsight));
        }
        // A figure stands in a file, where it is read; a sentence that told it again would be a second place.
        let figure = |says: &String| says.contains(|c: char| c.is_ascii_digit() || c == '{');
        if let Some((id, _)) = self.plan.rules.iter().find(|(_, rule)| rule.says.iter().any(figure)) {
            return Err(format!("a sentence of `{id}` tells a figure; figures stand in files"));
        }
        let known = |table: &benchwright_schema::Table| self.form_tables().any(|form| form.name == table.name);
        let of_a_dial = |table: &benchwright_schema::Table| Dial::ALL.iter().any(|dial| dial.has_form(&table.name));
        let mut unread = form_tables(&self.forms, 1).filter(|table| !known(table) && !of_a_dial(table));
        // Forms of options stand in the place of the others.
        if let Some(unread) = unread.next().filter(|_| self.dial != Some(Dial::Front)) {
            return Err(format!("no view reads the form `{}`, so nothing in it would matter", unread.name));
        }
        if let Some(unknown) = self.told.headline.iter().find(|id| !self.plan.rules.contains_key(*id)) {
            return Err(format!("`{unknown}` in `headline` is no rule"));
        }
        if self.told.known.as_ref().is_some_and(|id| !self.plan.rules.contains_key(id)) {
            return Err("`known` is no rule".to_owned());
        }
        let plan = Plan::compile(&self.plan, &self.forms).map_err(|faults| faults.to_string())?;
        match plan.contradictions().first() {
            Some(fault) => Err(fault.to_string()),
            None => Ok(()),
        }
    }

    /// Adds to rules what follows from the records and from the desk.
    fn completed(&self, mut plan: PlanText) -> Result<PlanText, String> {
        self.layout.declare(&self.told.sets, &mut plan);
        bind::declare(&self.layout, &self.told, &mut plan)?;
        if let Some(stages) = &self.stages {
            stages.declare(&self.told, &mut plan)?;
        }
        let unchanged =
            RuleText { code: "DESK.FRAME".to_owned(), family: "frame".to_owned(), frame: true, ..RuleText::default() };
        plan.rules.insert(UNCHANGED.to_owned(), unchanged);
        let always = |name: &str| (name.to_owned(), "true".to_owned());
        plan.frame = FrameText {
            new: self.form_tables().map(|table| always(&table.name)).collect(),
            system: BTreeMap::from([always("handed")]),
            ignore: BTreeMap::from([("stage".to_owned(), vec!["current".to_owned()])]),
            rule: UNCHANGED.to_owned(),
            ..FrameText::default()
        };
        let columns = |table: &str, columns: &[&str]| {
            (table.to_owned(), columns.iter().map(|column| (*column).to_owned()).collect::<Vec<String>>())
        };
        // What the desk writes down by itself.
        plan.stamped =
            BTreeMap::from([columns("handed", &["form", "stage", "revision"]), columns("stage", &["current"])]);
        // Who plans once has no use for the stage of a row.
        let with_stage = self.form_tables().filter(|table| table.field_named(lift::FIELD).is_some());
        if self.stages.is_none() {
            plan.stamped.extend(with_stage.map(|table| columns(&table.name, &[lift::FIELD])));
        }
        Ok(plan)
    }

    /// A case of records, with the traps of its tier.
    pub(crate) fn case(&self, draw: &Draw<'_>, records: &Records) -> Case {
        let traps = self.written.traps.iter().take(traps_at(draw.tier)).map(TrapText::switch);
        self.case_of(draw.objective, traps.chain(self.switches()).collect(), records)
    }

    /// The switches of its cases, beside those of traps.
    pub(crate) fn switches(&self) -> impl Iterator<Item = String> {
        let dial = self.dial.map(|dial| dial.word().to_owned());
        self.stages.iter().map(|_| STAGES.to_owned()).chain(dial)
    }

    pub(crate) fn case_of(&self, objective: &str, switches: Vec<String>, records: &Records) -> Case {
        Case { objective: objective.to_owned(), switches, data: serde_json::to_value(records).unwrap_or_default() }
    }

    pub(crate) fn records(case: &Case) -> Result<Records, FamilyError> {
        serde_json::from_value(case.data.clone()).map_err(|error| FamilyError(format!("the case: {error}")))
    }

    /// The traps of a case.
    pub(crate) fn traps(&self, case: &Case) -> Vec<&TrapText> {
        self.written.traps.iter().filter(|trap| case.switches.contains(&trap.switch())).collect()
    }

    /// The candidates of a case that is put together with its rules.
    pub(crate) fn candidates_of(&self, ready: &Ready) -> Result<Candidates, Discard> {
        candidates::candidates(&self.told, &ready.text, &ready.plan, &ready.bound, None).map_err(Discard::Fault)
    }

    /// Whether a rule that is often missed speaks of a column.
    pub(crate) fn is_of_headline(&self, column: &str) -> bool {
        let fact = over::fact(column);
        let rules = self.told.headline.iter().filter_map(|id| self.plan.rules.get(id));
        let mut texts = rules.flat_map(|rule| [&rule.per, &rule.applies, &rule.require]).flatten();
        texts.any(|text| has_word(&self.plan.spelled_out(text), fact))
    }

    /// 1 where the objective is to be small, -1 where it is to be large.
    pub(crate) fn sign(&self) -> i64 {
        let phase = self.plan.objectives.values().next().and_then(|objective| objective.phases.first());
        phase.map_or(1, |phase| phase.sign())
    }
}
