//! From the text of a plan to expressions in which every name is resolved. All faults are told; a name whose own declaration has
//! a fault is known, and nothing more is said of what uses it.

use super::frame::{Readers, account};
use super::lets::{Spelled, spell_out};
use super::{
    Body, Cast, Dominant, Fact, FrameText, Phase, Plan, PlanFaults, PlanRule, PlanText, RuleText, View, ViewField,
    ViewText,
};
use crate::{Domain, KeyFault};
use benchwright_base::{EnumId, FieldId, RelationId, SetId};
use benchwright_expr::{
    Binder, Expr, FactSignature, Fault, FieldInfo, Names, Scope, Type, check_rule, check_truth, check_value, lowerable,
};
use std::{cell::Cell, collections::BTreeMap, collections::BTreeSet};

/// The types of facts, sets and fields that are no sorts.
const TYPES: [&str; 6] = ["int", "day", "units", "money", "text", "bool"];

/// What stands in the place of a table where members are known by a text and no table has them.
const BY_TEXT: &str = "text";

impl Plan {
    /// Resolves every name of a plan against a domain.
    pub fn compile(text: &PlanText, domain: &Domain) -> Result<Plan, PlanFaults> {
        let (plan, mut faults) = compile(text, domain);
        if faults.is_empty() {
            faults = account(text, &plan, domain, Readers::Views);
        }
        if faults.is_empty() { Ok(plan) } else { Err(PlanFaults(faults)) }
    }
}

/// A plan, as far as it could be resolved, and all that is wrong with it.
pub(super) fn compile(text: &PlanText, domain: &Domain) -> (Plan, Vec<KeyFault>) {
    let mut compiler = Compiler {
        text,
        domain,
        plan: Plan {
            sorts: Vec::new(),
            sets: Vec::new(),
            facts: Vec::new(),
            views: Vec::new(),
            rules: Vec::new(),
            objectives: BTreeMap::new(),
            ties: Vec::new(),
            dominant: Vec::new(),
            parts: Vec::new(),
            frame: FrameText::default(),
            tables: Vec::new(),
        },
        broken: Broken::default(),
        members_by_text: Vec::new(),
        faults: Vec::new(),
    };
    compiler.plan.frame = text.frame.clone();
    // In the order in which they name each other: types need sorts, views need types, rules need them all.
    compiler.sorts_and_sets();
    compiler.facts();
    compiler.views();
    compiler.frame();
    compiler.rules();
    compiler.objectives();
    super::parts::parts(text, &mut compiler.plan, &mut compiler.faults);
    compiler.faults.extend(super::slack::check(text, domain));
    let Compiler { plan, mut faults, .. } = compiler;
    // A rule's `per` is checked with its body and again with its `applies`, and would be told twice.
    let mut seen = BTreeSet::new();
    faults.retain(|fault| seen.insert(fault.clone()));
    (plan, faults)
}

/// Names whose own declaration has a fault.
#[derive(Default)]
pub(super) struct Broken {
    pub(super) sets: BTreeSet<String>,
    pub(super) facts: BTreeSet<String>,
    /// Views some of whose fields are not known.
    views: BTreeSet<usize>,
    /// Whether the expression at hand touched any of them.
    pub(super) touched: Cell<bool>,
}

pub(super) struct Compiler<'a> {
    pub(super) text: &'a PlanText,
    pub(super) domain: &'a Domain,
    pub(super) plan: Plan,
    pub(super) broken: Broken,
    /// The sorts whose members views know by a text.
    pub(super) members_by_text: Vec<usize>,
    pub(super) faults: Vec<KeyFault>,
}

/// The byte at which a part of a text begins.
fn byte_of(part: &str, whole: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

pub(super) fn keys(path: &[&str]) -> Vec<String> {
    path.iter().map(|key| (*key).to_owned()).collect()
}

impl Compiler<'_> {
    fn fault(&mut self, path: &[&str], byte: usize, message: impl Into<String>) {
        self.faults.push(KeyFault::new(path.iter().copied(), message).at_byte(byte));
    }

    fn sorts_and_sets(&mut self) {
        for (name, table) in &self.text.sorts {
            if table == BY_TEXT {
                self.members_by_text.push(self.plan.sorts.len());
                self.plan.sorts.push((name.clone(), None));
                continue;
            }
            let found = self.domain.table_named(table);
            if found.is_none() {
                let fault = KeyFault::new(["sorts", name], format!("there is no table `{table}`"));
                self.faults.push(fault.instead_of(table, self.domain.relation_names()));
            }
            self.plan.sorts.push((name.clone(), Some(found.unwrap_or(RelationId(0)))));
        }
        for (name, ty) in &self.text.sets {
            match self.ty(ty, &["sets", name], 0) {
                Some((ty, _)) => self.plan.sets.push((name.clone(), ty)),
                None => {
                    self.broken.sets.insert(name.clone());
                }
            }
        }
    }

    /// A type by its name, or a fault.
    fn ty(&mut self, name: &str, path: &[&str], byte: usize) -> Option<(Type, Cast)> {
        let found = self.plan.type_named(name);
        if found.is_none() {
            let fault = KeyFault::new(path.iter().copied(), format!("there is no type or sort `{name}`")).at_byte(byte);
            let known = self.plan.sorts.iter().map(|(sort, _)| &**sort).chain(TYPES);
            self.faults.push(fault.instead_of(name, known));
        }
        found
    }

    fn facts(&mut self) {
        for (name, signature) in &self.text.facts {
            match self.signature(name, signature) {
                Some(fact) => self.plan.facts.push(fact),
                None => {
                    self.broken.facts.insert(name.clone());
                }
            }
        }
    }

    /// `(order, product): money else 0 steps`
    fn signature(&mut self, name: &str, text: &str) -> Option<Fact> {
        let path = ["facts", name];
        let form = |byte: usize| {
            let fault = KeyFault::new(path, "this is no signature of a fact").at_byte(byte);
            fault.with_help("write `(sort, …): type`, and after it `else 0` or `steps`")
        };
        let Some((arguments, rest)) = text.strip_prefix('(').and_then(|text| text.split_once(')')) else {
            self.faults.push(form(0));
            return None;
        };
        let Some(rest) = rest.strip_prefix(':') else {
            self.faults.push(form(byte_of(rest, text)));
            return None;
        };
        let before = self.faults.len();
        let arguments = arguments.split(',').map(str::trim).filter(|name| !name.is_empty());
        let arguments: Vec<Type> =
            arguments.filter_map(|name| Some(self.ty(name, &path, byte_of(name, text))?.0)).collect();
        let mut words = rest.split_whitespace();
        let Some(value) = words.next() else {
            self.faults.push(form(text.len()));
            return None;
        };
        let value = self.ty(value, &path, byte_of(value, text)).map(|(ty, _)| ty);
        let (mut otherwise, mut steps) = (None, false);
        while let Some(word) = words.next() {
            match word {
                "steps" => steps = true,
                "else" => match words.next() {
                    Some(number) if number.parse::<i64>().is_ok() => otherwise = number.parse().ok(),
                    Some(other) => self.faults.push(form(byte_of(other, text))),
                    None => self.faults.push(form(text.len())),
                },
                other => self.faults.push(form(byte_of(other, text))),
            }
        }
        let fact = Fact { name: name.to_owned(), arguments, value: value?, otherwise, steps };
        (self.faults.len() == before).then_some(fact)
    }

    fn views(&mut self) {
        for (name, view) in &self.text.views {
            let before = self.faults.len();
            let known = self.view(name, view);
            if self.faults.len() > before {
                self.broken.views.insert(self.plan.views.len());
            }
            self.plan.views.push(known);
        }
    }

    /// A view with the fields that could be read.
    fn view(&mut self, name: &str, text: &ViewText) -> View {
        let mut view = View {
            name: name.to_owned(),
            from: RelationId(0),
            only: None,
            within: Vec::new(),
            key: Vec::new(),
            fields: Vec::new(),
        };
        let Some(from) = self.domain.table_named(&text.from) else {
            let fault = KeyFault::new(["views", name, "from"], format!("there is no table `{}`", text.from));
            self.faults.push(fault.instead_of(&text.from, self.domain.relation_names()));
            return view;
        };
        view.from = from;
        let scope = Scope::on(from);
        if let Some(condition) = &text.only {
            match check_truth(condition, self.domain, scope) {
                Ok(expr) => view.only = Some(expr),
                Err(faults) => self.expression(&["views", name, "where"], 0, faults),
            }
        }
        for (field, reads) in &text.fields {
            view.fields.extend(self.view_field(name, field, reads, scope));
        }
        for (what, list) in [("within", &text.within), ("key", &text.key)] {
            for (at, field) in list.iter().enumerate() {
                if let Some(place) = view.field_named(field) {
                    if what == "within" { &mut view.within } else { &mut view.key }.push(place);
                } else if !text.fields.contains_key(field) {
                    let at = at.to_string();
                    let fault = KeyFault::new(["views", name, what, &*at], format!("`{name}` has no field `{field}`"));
                    self.faults.push(fault.instead_of(field, text.fields.keys().map(|name| &**name)));
                }
            }
        }
        view
    }

    /// `units: product_qty`
    fn view_field(&mut self, view: &str, field: &str, reads: &str, scope: Scope<'_>) -> Option<ViewField> {
        let path = ["views", view, "fields", field];
        let Some((ty, expr)) = reads.split_once(':') else {
            self.faults.push(KeyFault::new(path, "this is not `type: expression`"));
            return None;
        };
        let known = self.ty(ty.trim(), &path, byte_of(ty.trim_start(), reads));
        match check_value(expr, self.domain, scope, None) {
            Ok((expr, read)) => {
                let (ty, cast) = known?;
                if !fits(read, ty, cast) {
                    let byte = byte_of(reads.split_once(':')?.1.trim_start(), reads);
                    let message = format!("{} cannot be read as {}", self.of_domain(read), self.of_plan(ty, cast));
                    self.fault(&path, byte, message);
                }
                if let (Type::Ref(sort), Cast::Member, Type::Text) = (ty, cast, read) {
                    self.members_by_text.push(sort.index());
                }
                Some(ViewField { name: field.to_owned(), ty, cast, reads: expr })
            }
            Err(faults) => {
                self.expression(&path, byte_of(expr, reads), faults);
                None
            }
        }
    }

    /// A type of the system of record as it stands in a sentence.
    fn of_domain(&self, ty: Type) -> String {
        match ty {
            Type::Ref(table) => format!("a row of {}", self.domain.relation_name(table)),
            Type::Enum(id) => format!("a word of {}", self.domain.enum_name(id)),
            other => plain(other).to_owned(),
        }
    }

    /// A type of rules as it stands in a sentence.
    fn of_plan(&self, ty: Type, cast: Cast) -> String {
        match (ty, cast) {
            (Type::Ref(relation), _) => format!("a member of `{}`", self.plan.relation_name(relation)),
            (_, Cast::Day) => "a day".to_owned(),
            (_, Cast::Units) => "units".to_owned(),
            (other, _) => plain(other).to_owned(),
        }
    }

    /// Faults of an expression that stands at a byte of a value.
    fn expression(&mut self, path: &[&str], byte: usize, faults: Vec<Fault>) {
        for fault in faults {
            let found = KeyFault::new(path.iter().copied(), fault.message).at_byte(byte + fault.offset);
            self.faults.push(KeyFault { help: fault.help, ..found });
        }
    }

    fn rules(&mut self) {
        for (id, rule) in &self.text.rules {
            if let Some(rule) = self.rule(id, rule) {
                self.plan.rules.push(rule);
            }
        }
    }

    fn rule(&mut self, id: &str, text: &RuleText) -> Option<PlanRule> {
        let judge = match (&text.require, &text.native, text.frame) {
            (Some(require), None, false) => require.as_str(),
            // Code and the frame judge without an expression, but their `per` and `applies` are checked like any other.
            (None, Some(_), false) | (None, None, true) => "true",
            _ => {
                let message = format!("`{id}` needs exactly one of `require`, `native` and `frame`");
                self.faults.push(KeyFault::new(["rules", id], message).at_key());
                return None;
            }
        };
        let checked = self.under_per(id, text, judge, "require");
        let applies = text.applies.as_ref().map(|when| self.under_per(id, text, when, "applies"));
        let (per, expr) = checked?;
        let applies = match applies {
            Some(applies) => Some(applies?.1),
            None => None,
        };
        let lowered = text.require.is_some() && !text.state_only;
        if lowered && let Err(obstacle) = lowerable(&expr) {
            let fault = KeyFault::new(["rules", id, "require"], format!("a solver cannot read {obstacle}"));
            self.faults.push(fault.with_help("say `state_only = true` if none has to"));
            return None;
        }
        let body = match &text.native {
            Some(name) => Body::Native(name.clone()),
            None if text.frame => Body::Frame,
            None => Body::Expr(expr),
        };
        Some(PlanRule { id: id.to_owned(), text: text.clone(), per, body, applies, lowered })
    }

    /// An expression of a rule under its `per`.
    fn under_per(&mut self, id: &str, text: &RuleText, body: &str, key: &str) -> Option<(Vec<Binder>, Expr)> {
        let mut spelled = Spelled::default();
        if let Some(per) = &text.per {
            let path = keys(&["rules", id, "per"]);
            spelled.push("per ", &path, 0);
            spelled.push(per, &path, 0);
            spelled.push(": ", &path, per.len());
        }
        let path = keys(&["rules", id, key]);
        if let Err(fault) = spell_out(&self.text.lets, body, &path, &mut Vec::new(), &mut spelled) {
            self.faults.push(fault);
            return None;
        }
        self.checked(&spelled, |text, names| check_rule(text, names, Scope::default()))
    }

    /// Checks an expression over views and facts; its faults are told unless it touches something broken.
    fn checked<T>(
        &mut self,
        spelled: &Spelled,
        check: impl FnOnce(&str, &dyn Names) -> Result<T, Vec<Fault>>,
    ) -> Option<T> {
        // The names note whether one with a fault of its own was asked for. Then what is wrong here may only follow from that.
        self.broken.touched.set(false);
        let names = Known { plan: &self.plan, broken: &self.broken };
        match check(&spelled.text, &names) {
            Ok(found) => Some(found),
            Err(faults) => {
                if !self.broken.touched.get() {
                    self.faults.extend(faults.into_iter().map(|fault| spelled.fault(fault)));
                }
                None
            }
        }
    }

    /// A number in terms of views and facts, or of a row.
    fn number(&mut self, text: &str, path: &[&str], scope: Scope<'_>) -> Option<Expr> {
        let path = keys(path);
        let mut spelled = Spelled::default();
        if let Err(fault) = spell_out(&self.text.lets, text, &path, &mut Vec::new(), &mut spelled) {
            self.faults.push(fault);
            return None;
        }
        let (expr, ty) = self.checked(&spelled, |text, names| check_value(text, names, scope, None))?;
        if !matches!(ty, Type::Int | Type::Money) {
            let message = format!("this is {}, not a number", self.of_plan(ty, Cast::Plain));
            self.faults.push(KeyFault::new(path.iter().map(|key| &**key), message));
            return None;
        }
        Some(expr)
    }

    fn objectives(&mut self) {
        for (name, objective) in &self.text.objectives {
            let mut phases = Vec::new();
            for (at, phase) in objective.phases.iter().enumerate() {
                let path = ["objectives", name, "phases", &*at.to_string(), "of"];
                let of = self.number(&phase.of, &path, Scope::default());
                phases.extend(of.map(|of| Phase { text: phase.clone(), of }));
                if phase.unit > 0 && phase.tolerance >= phase.unit {
                    let path = ["objectives", name, "phases", &*at.to_string(), "tolerance"];
                    let message = "`tolerance` is below `unit`: a plan that is worse by one unit is not best";
                    self.faults.push(KeyFault::new(path, message));
                }
            }
            self.plan.objectives.insert(name.clone(), phases);
        }
        for (at, tie) in self.text.ties.iter().enumerate() {
            let tie = self.number(tie, &["ties", &*at.to_string()], Scope::default());
            self.plan.ties.extend(tie);
        }
        for (at, line) in self.text.settled.iter().enumerate() {
            let field = self.dominant(line, &at.to_string());
            self.plan.dominant.extend(field);
        }
    }

    /// `buy.arrive = lead(vendor, product)`
    fn dominant(&mut self, line: &str, at: &str) -> Option<Dominant> {
        let path = ["settled", at];
        let parts = line.split_once('=').and_then(|(of, at)| Some((of.trim().split_once('.')?, at)));
        let Some(((view, field), value)) = parts else {
            self.faults.push(KeyFault::new(path, "this is not `view.field = value`"));
            return None;
        };
        let Some(view_at) = self.plan.view_named(view) else {
            let fault = KeyFault::new(path, format!("there is no view `{view}`"));
            self.faults.push(fault.instead_of(view, self.plan.relation_names()));
            return None;
        };
        let Some(field_at) = self.plan.views[view_at].field_named(field) else {
            if !self.broken.views.contains(&view_at) {
                let fault =
                    KeyFault::new(path, format!("`{view}` has no field `{field}`")).at_byte(byte_of(field, line));
                let known = self.plan.views[view_at].fields.iter().map(|field| &*field.name);
                self.faults.push(fault.instead_of(field, known));
            }
            return None;
        };
        let scope = Scope::on(self.plan.relation_of(view_at));
        let mut spelled = Spelled::default();
        spelled.push(value, &keys(&path), byte_of(value, line));
        let (expr, ty) = self.checked(&spelled, |text, names| check_value(text, names, scope, None))?;
        if !matches!(ty, Type::Int | Type::Money) {
            let message = format!("this is {}, not a number", self.of_plan(ty, Cast::Plain));
            self.fault(&path, byte_of(value.trim_start(), line), message);
            return None;
        }
        Some(Dominant { view: view_at, field: field_at, at: expr })
    }
}

/// A type as it stands in a sentence.
fn plain(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "a condition",
        Type::Int => "a whole number",
        Type::Money => "money",
        Type::Quantity => "a quantity",
        Type::Text => "text",
        Type::Date => "a date",
        Type::DateTime => "an instant",
        Type::Time => "a time of day",
        Type::Duration => "a duration",
        Type::Months => "a number of months",
        Type::Enum(_) => "a word",
        Type::Ref(_) => "a row",
        Type::Null => "null",
    }
}

fn fits(read: Type, ty: Type, cast: Cast) -> bool {
    match cast {
        Cast::Plain => read == ty || (ty == Type::Int && read == Type::Quantity),
        Cast::Day => matches!(read, Type::Date | Type::DateTime),
        Cast::Units => matches!(read, Type::Quantity | Type::Int),
        Cast::Word => matches!(read, Type::Text | Type::Enum(_)),
        Cast::Member => matches!(read, Type::Ref(_) | Type::Text),
    }
}

/// The names of a plan in the making; it notes whether a broken one was asked for.
struct Known<'c> {
    plan: &'c Plan,
    broken: &'c Broken,
}

impl Names for Known<'_> {
    fn relation(&self, name: &str) -> Option<RelationId> {
        self.plan.relation(name)
    }
    fn relation_name(&self, relation: RelationId) -> &str {
        self.plan.relation_name(relation)
    }
    fn relation_names(&self) -> Vec<&str> {
        self.plan.relation_names()
    }
    fn field(&self, relation: RelationId, name: &str) -> Option<FieldInfo> {
        let found = Names::field(self.plan, relation, name);
        let view = self.plan.view_of(relation);
        if found.is_none() && view.is_some_and(|view| self.broken.views.contains(&view)) {
            self.broken.touched.set(true);
        }
        found
    }
    fn field_name(&self, relation: RelationId, field: FieldId) -> &str {
        self.plan.field_name(relation, field)
    }
    fn field_names(&self, relation: RelationId) -> Vec<&str> {
        self.plan.field_names(relation)
    }
    fn enum_name(&self, id: EnumId) -> &str {
        self.plan.enum_name(id)
    }
    fn enum_words(&self, id: EnumId) -> Vec<&str> {
        self.plan.enum_words(id)
    }
    fn actor(&self) -> Option<RelationId> {
        self.plan.actor()
    }
    fn fact(&self, name: &str) -> Option<FactSignature> {
        if self.broken.facts.contains(name) {
            self.broken.touched.set(true);
        }
        self.plan.fact(name)
    }
    fn fact_names(&self) -> Vec<&str> {
        self.plan.fact_names()
    }
    fn set(&self, name: &str) -> Option<(SetId, Type)> {
        if self.broken.sets.contains(name) {
            self.broken.touched.set(true);
        }
        self.plan.set(name)
    }
    fn set_names(&self) -> Vec<&str> {
        self.plan.set_names()
    }
}
