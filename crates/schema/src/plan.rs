//! A plan: what rules may speak of and what they require. Views name records whatever the system of record calls them,
//! facts and sets are bound by each task, rules and objectives are expressions over them.
//!
//! A plan has one form on disk, the text of its expressions ([`PlanText`]), so that a sealed verifier carries its rules in
//! the words they were written in. [`Plan::compile`] resolves it against a domain.

mod bound;
mod rows;
mod text;

pub use bound::{Binding, Bindings, Bound, FactTable};
pub use rows::ViewRows;
pub use text::{FrameText, ObjectiveText, PhaseText, PlanText, RuleText, ViewText};

use crate::Domain;
use benchwright_base::{EnumId, FactId, FieldId, RelationId, SetId, TableId};
use benchwright_expr::{
    Binder, Expr, FactSignature, FieldInfo, Names, Scope, Type, check_rule, check_truth, check_value, lowerable,
};
use std::collections::BTreeMap;

/// How a value of the system of record is read into a field of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cast {
    /// As it is.
    Plain,
    /// A date or an instant as days from the anchor.
    Day,
    /// A quantity as whole units; a broken one is null.
    Units,
    /// An enum word or a text as text.
    Word,
    /// A row or a text as a member of a sort.
    Member,
}

/// A field of a view.
#[derive(Clone, Debug)]
pub struct ViewField {
    /// Its name.
    pub name: String,
    /// Its type in rules.
    pub ty: Type,
    /// How it is read from the system of record.
    pub cast: Cast,
    /// What is read.
    pub reads: Expr,
}

/// A view: records that rules speak of.
#[derive(Clone, Debug)]
pub struct View {
    /// Its name.
    pub name: String,
    /// The table its rows come from.
    pub from: TableId,
    /// Which rows.
    pub only: Option<Expr>,
    /// The fields that must be members of their sort, or the row is none of ours.
    pub within: Vec<usize>,
    /// The fields in which no two rows can be alike, whatever anybody writes.
    pub key: Vec<usize>,
    /// Its fields, by name.
    pub fields: Vec<ViewField>,
}

impl View {
    /// The place of a field.
    pub fn field_named(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

/// A fact as declared.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// The types of its arguments.
    pub arguments: Vec<Type>,
    /// The type of its value.
    pub value: Type,
    /// Its value where none is stated.
    pub otherwise: Option<i64>,
    /// Whether it is a step function of its last argument: the value stated at the greatest step not above it.
    pub steps: bool,
}

/// What judges a rule.
#[derive(Clone, Debug)]
pub enum Body {
    /// An expression.
    Expr(Expr),
    /// A function of the judge, by name.
    Native(String),
    /// The frame: what nobody was asked to change.
    Frame,
}

/// A rule of a plan.
#[derive(Clone, Debug)]
pub struct PlanRule {
    /// Its id.
    pub id: String,
    /// What it was written as.
    pub text: RuleText,
    /// The variables that split it into instances.
    pub per: Vec<Binder>,
    /// What must hold of each instance.
    pub body: Body,
    /// When an instance counts at all.
    pub applies: Option<Expr>,
    /// Whether a solver reads it too.
    pub lowered: bool,
}

/// One thing to make small.
#[derive(Clone, Debug)]
pub struct Phase {
    /// What it was written as.
    pub text: PhaseText,
    /// The expression.
    pub of: Expr,
}

/// A field of a view that has one best value whatever else is decided.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The view.
    pub view: usize,
    /// The field.
    pub field: usize,
    /// The value, in terms of the row.
    pub at: Expr,
}

/// A compiled plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The sorts, by name, with the table of their rows.
    pub sorts: Vec<(String, TableId)>,
    /// The sets, by name, with the type of their members.
    pub sets: Vec<(String, Type)>,
    /// The facts, by name.
    pub facts: Vec<Fact>,
    /// The views, by name.
    pub views: Vec<View>,
    /// The rules, by id.
    pub rules: Vec<PlanRule>,
    /// The objectives: ordered phases, by name.
    pub objectives: BTreeMap<String, Vec<Phase>>,
    /// Unscored phases that choose one plan among equals.
    pub ties: Vec<Expr>,
    /// Fields that have one best value whatever else is decided.
    pub settled: Vec<Settled>,
    /// What may change, and who answers for the rest.
    pub frame: FrameText,
}

/// Everything that is wrong with a plan.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct PlanFaults(pub Vec<String>);

impl Plan {
    /// Resolves every name of a plan against a domain.
    pub fn compile(text: &PlanText, domain: &Domain) -> Result<Plan, PlanFaults> {
        let mut faults = Vec::new();
        let mut plan = Plan {
            sorts: Vec::new(),
            sets: Vec::new(),
            facts: Vec::new(),
            views: Vec::new(),
            rules: Vec::new(),
            objectives: BTreeMap::new(),
            ties: Vec::new(),
            settled: Vec::new(),
            frame: text.frame.clone(),
        };
        for (name, table) in &text.sorts {
            match domain.table_named(table) {
                Some(table) => plan.sorts.push((name.clone(), table)),
                None => faults.push(format!("sort {name}: there is no table `{table}`")),
            }
        }
        for (name, ty) in &text.sets {
            match plan.type_named(ty) {
                Some((ty, _)) => plan.sets.push((name.clone(), ty)),
                None => faults.push(format!("set {name}: there is no sort `{ty}`")),
            }
        }
        for (name, signature) in &text.facts {
            match plan.signature(name, signature) {
                Ok(fact) => plan.facts.push(fact),
                Err(why) => faults.push(format!("fact {name}: {why}")),
            }
        }
        for (name, view) in &text.views {
            match plan.view(name, view, domain) {
                Ok(view) => plan.views.push(view),
                Err(whys) => faults.extend(whys.into_iter().map(|why| format!("view {name}{why}"))),
            }
        }
        if !faults.is_empty() {
            return Err(PlanFaults(faults));
        }
        for (id, rule) in &text.rules {
            match plan.rule(id, rule, text) {
                Ok(rule) => plan.rules.push(rule),
                Err(whys) => faults.extend(whys.into_iter().map(|why| format!("rule {id}: {why}"))),
            }
        }
        for (name, objective) in &text.objectives {
            let phases = objective.phases.iter().filter_map(|phase| {
                let of = plan.number(&phase.of, text).map_err(|why| faults.push(format!("objective {name}: {why}")));
                Some(Phase { text: phase.clone(), of: of.ok()? })
            });
            let phases = phases.collect();
            plan.objectives.insert(name.clone(), phases);
        }
        for tie in &text.ties {
            match plan.number(tie, text) {
                Ok(tie) => plan.ties.push(tie),
                Err(why) => faults.push(format!("ties: {why}")),
            }
        }
        for line in &text.settled {
            match plan.settled(line) {
                Ok(settled) => plan.settled.push(settled),
                Err(why) => faults.push(format!("settled `{line}`: {why}")),
            }
        }
        if faults.is_empty() { Ok(plan) } else { Err(PlanFaults(faults)) }
    }

    /// The relation of a view.
    pub fn relation_of(&self, view: usize) -> RelationId {
        RelationId((self.sorts.len() + view) as u16)
    }

    /// The view of a relation.
    pub fn view_of(&self, relation: RelationId) -> Option<usize> {
        relation.index().checked_sub(self.sorts.len()).filter(|view| *view < self.views.len())
    }

    /// A view by its name.
    pub fn view_named(&self, name: &str) -> Option<usize> {
        self.views.iter().position(|view| view.name == name)
    }

    /// A sort by its name.
    pub fn sort_named(&self, name: &str) -> Option<usize> {
        self.sorts.iter().position(|(known, _)| known == name)
    }

    fn type_named(&self, name: &str) -> Option<(Type, Cast)> {
        Some(match name {
            "int" => (Type::Int, Cast::Plain),
            "day" => (Type::Int, Cast::Day),
            "units" => (Type::Int, Cast::Units),
            "money" => (Type::Money, Cast::Plain),
            "text" => (Type::Text, Cast::Word),
            "bool" => (Type::Bool, Cast::Plain),
            sort => (Type::Ref(RelationId(self.sort_named(sort)? as u16)), Cast::Member),
        })
    }

    /// `(order, product): money else 0 steps`
    fn signature(&self, name: &str, text: &str) -> Result<Fact, String> {
        let form = || format!("`{text}` is not `(sort, …): type [else n] [steps]`");
        let (arguments, rest) = text.strip_prefix('(').and_then(|text| text.split_once(')')).ok_or_else(form)?;
        let mut rest = rest.strip_prefix(':').ok_or_else(form)?.split_whitespace();
        let ty = |name: &str| {
            self.type_named(name).map(|(ty, _)| ty).ok_or_else(|| format!("there is no type or sort `{name}`"))
        };
        let arguments = arguments.split(',').map(str::trim).filter(|name| !name.is_empty());
        let arguments = arguments.map(ty).collect::<Result<Vec<_>, _>>()?;
        let value = ty(rest.next().ok_or_else(form)?)?;
        let (mut otherwise, mut steps) = (None, false);
        while let Some(word) = rest.next() {
            match word {
                "else" => otherwise = Some(rest.next().and_then(|n| n.parse().ok()).ok_or_else(form)?),
                "steps" => steps = true,
                _ => return Err(form()),
            }
        }
        Ok(Fact { name: name.to_owned(), arguments, value, otherwise, steps })
    }

    fn view(&self, name: &str, text: &ViewText, domain: &Domain) -> Result<View, Vec<String>> {
        let Some(from) = domain.table_named(&text.from) else {
            return Err(vec![format!(": there is no table `{}`", text.from)]);
        };
        let scope = Scope { subject: Some(from) };
        let mut faults = Vec::new();
        let mut only = None;
        if let Some(condition) = &text.only {
            match check_truth(condition, domain, scope) {
                Ok(expr) => only = Some(expr),
                Err(found) => faults.extend(found.into_iter().map(|fault| format!(": {fault} in `{condition}`"))),
            }
        }
        let mut fields = Vec::new();
        for (field, reads) in &text.fields {
            let Some((ty, expr)) = reads.split_once(':') else {
                faults.push(format!(".{field}: `{reads}` is not `type: expression`"));
                continue;
            };
            let Some((ty, cast)) = self.type_named(ty.trim()) else {
                faults.push(format!(".{field}: there is no type or sort `{}`", ty.trim()));
                continue;
            };
            match check_value(expr, domain, scope, None) {
                Ok((expr, read)) if fits(read, ty, cast) => {
                    fields.push(ViewField { name: field.clone(), ty, cast, reads: expr });
                }
                Ok((_, read)) => faults.push(format!(".{field}: {read:?} cannot be read as `{reads}`")),
                Err(found) => faults.extend(found.into_iter().map(|fault| format!(".{field}: {fault} in `{expr}`"))),
            }
        }
        let mut places = |list: &[String], what: &str| {
            let mut places = Vec::new();
            for field in list {
                match fields.iter().position(|known: &ViewField| known.name == *field) {
                    Some(at) => places.push(at),
                    None => faults.push(format!(": `{what}` names `{field}`, which is no field")),
                }
            }
            places
        };
        let (within, key) = (places(&text.within, "within"), places(&text.key, "key"));
        let name = name.to_owned();
        if faults.is_empty() { Ok(View { name, from, only, within, key, fields }) } else { Err(faults) }
    }

    fn rule(&self, id: &str, text: &RuleText, plan: &PlanText) -> Result<PlanRule, Vec<String>> {
        let told = |faults: Vec<benchwright_expr::Fault>, of: &str| -> Vec<String> {
            faults.into_iter().map(|fault| format!("{fault} at {} in `{of}`", fault.offset)).collect()
        };
        let prefix = text.per.as_ref().map_or(String::new(), |per| format!("per {per}: "));
        let with_per = |body: &str| format!("{prefix}{}", plan.spelled_out(body));
        let scope = Scope::default();
        let judge = match (&text.require, &text.native, text.frame) {
            (Some(require), None, false) => require.as_str(),
            (None, Some(_), false) | (None, None, true) => "true",
            _ => return Err(vec!["a rule has one of `require`, `native` and `frame`".to_owned()]),
        };
        let source = with_per(judge);
        let (per, expr) = check_rule(&source, self, scope).map_err(|faults| told(faults, &source))?;
        let mut applies = None;
        if let Some(when) = &text.applies {
            let source = with_per(when);
            applies = Some(check_rule(&source, self, scope).map_err(|faults| told(faults, &source))?.1);
        }
        let lowered = text.require.is_some() && !text.state_only;
        if lowered && let Err(obstacle) = lowerable(&expr) {
            return Err(vec![format!("a solver cannot read it: {obstacle}; say `state_only = true` if none has to")]);
        }
        let body = match &text.native {
            Some(name) => Body::Native(name.clone()),
            None if text.frame => Body::Frame,
            None => Body::Expr(expr),
        };
        Ok(PlanRule { id: id.to_owned(), text: text.clone(), per, body, applies, lowered })
    }

    fn settled(&self, line: &str) -> Result<Settled, String> {
        let (of, at) = line.split_once('=').ok_or("it is not `view.field = value`")?;
        let place = || {
            let (view, field) = of.trim().split_once('.')?;
            let view = self.view_named(view)?;
            Some((view, self.views[view].field_named(field)?))
        };
        let (view, field) = place().ok_or("there is no such field of a view")?;
        match check_value(at, self, Scope { subject: Some(self.relation_of(view)) }, None) {
            Ok((expr, Type::Int | Type::Money)) => Ok(Settled { view, field, at: expr }),
            Ok((_, ty)) => Err(format!("`{at}` is {ty:?}, not a number")),
            Err(faults) => Err(faults.iter().map(|fault| format!("{fault} in `{at}`")).collect::<Vec<_>>().join("; ")),
        }
    }

    fn number(&self, text: &str, plan: &PlanText) -> Result<Expr, String> {
        let text = plan.spelled_out(text);
        match check_value(&text, self, Scope::default(), None) {
            Ok((expr, Type::Int | Type::Money)) => Ok(expr),
            Ok((_, ty)) => Err(format!("`{text}` is {ty:?}, not a number")),
            Err(faults) => {
                Err(faults.iter().map(|fault| format!("{fault} in `{text}`")).collect::<Vec<_>>().join("; "))
            }
        }
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

impl Names for Plan {
    fn relation(&self, name: &str) -> Option<RelationId> {
        self.view_named(name).map(|view| self.relation_of(view))
    }
    fn relation_name(&self, relation: RelationId) -> &str {
        match self.view_of(relation) {
            Some(view) => &self.views[view].name,
            None => &self.sorts[relation.index()].0,
        }
    }
    fn relation_names(&self) -> Vec<&str> {
        self.views.iter().map(|view| &*view.name).collect()
    }
    fn field(&self, relation: RelationId, name: &str) -> Option<FieldInfo> {
        if name == "id" {
            return Some(FieldInfo { id: FieldId::ID, ty: Type::Ref(relation), nullable: false });
        }
        let view = &self.views[self.view_of(relation)?];
        let at = view.field_named(name)?;
        Some(FieldInfo { id: FieldId(at as u16 + 1), ty: view.fields[at].ty, nullable: false })
    }
    fn field_name(&self, relation: RelationId, field: FieldId) -> &str {
        match (self.view_of(relation), field.index().checked_sub(1)) {
            (Some(view), Some(at)) => &self.views[view].fields[at].name,
            _ => "id",
        }
    }
    fn field_names(&self, relation: RelationId) -> Vec<&str> {
        let fields = self.view_of(relation).map_or(&[][..], |view| &self.views[view].fields);
        fields.iter().map(|field| &*field.name).collect()
    }
    fn enum_name(&self, _: EnumId) -> &str {
        ""
    }
    fn enum_words(&self, _: EnumId) -> Vec<&str> {
        Vec::new()
    }
    fn actor(&self) -> Option<RelationId> {
        None
    }
    fn fact(&self, name: &str) -> Option<FactSignature> {
        let at = self.facts.iter().position(|fact| fact.name == name)?;
        let fact = &self.facts[at];
        Some(FactSignature { id: FactId(at as u16), arguments: fact.arguments.clone(), value: fact.value })
    }
    fn fact_names(&self) -> Vec<&str> {
        self.facts.iter().map(|fact| &*fact.name).collect()
    }
    fn set(&self, name: &str) -> Option<(SetId, Type)> {
        let at = self.sets.iter().position(|(known, _)| known == name)?;
        Some((SetId(at as u16), self.sets[at].1))
    }
    fn set_names(&self) -> Vec<&str> {
        self.sets.iter().map(|(name, _)| &**name).collect()
    }
}
