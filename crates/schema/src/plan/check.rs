//! Checks a whole `plan.toml` beyond its single expressions: that the rules which others name exist, that the judge has the
//! functions they ask for, that the shares of an objective come to 100, that the frame names tables, fields and rules that are
//! there, and that somebody answers for every field it licenses. A sealed verifier is not checked so: it holds only the rules that its own task brings in.

use super::{
    PlanText, RuleText, compile,
    frame::{Readers, account},
    lets::{Spelled, spell_out},
};
use crate::{Domain, KeyFault};
use benchwright_base::TableId;
use benchwright_expr::{Names as _, Scope, check_truth};
use std::collections::BTreeMap;

impl PlanText {
    /// All that is wrong with a plan on a domain. `natives` are the rules that the judge has functions for.
    pub fn check(&self, domain: &Domain, natives: &[&str]) -> Vec<KeyFault> {
        let (plan, faults) = compile::compile(self, domain);
        // A plan that is not whole may lack a reader of what nobody seems to read.
        let is_whole = faults.is_empty();
        let mut check = Check { text: self, domain, faults };
        check.lets();
        check.rules(natives);
        check.objectives();
        check.frame();
        check.harmless();
        check.void();
        if is_whole {
            check.faults.extend(plan.contradictions());
            check.faults.extend(account(self, &plan, domain, Readers::Rules));
        }
        super::parts::check(self, &mut check.faults);
        check.faults
    }
}

struct Check<'a> {
    text: &'a PlanText,
    domain: &'a Domain,
    faults: Vec<KeyFault>,
}

impl Check<'_> {
    /// A fault if no rule has this id.
    fn rule(&mut self, id: &str, path: &[&str]) {
        if !self.text.rules.contains_key(id) {
            let fault = KeyFault::new(path.iter().copied(), format!("there is no rule `{id}`"));
            self.faults.push(fault.instead_of(id, self.text.rules.keys().map(|id| &**id)));
        }
    }

    /// Calls that do no harm are of tools that there are and that write, and each has its reason.
    fn harmless(&mut self) {
        for (calls, why) in &self.text.harmless {
            let fault = |message: String| KeyFault::new(["harmless", calls], message).at_key();
            for name in calls.split(", ") {
                let found = match self.domain.tool_named(name) {
                    None => {
                        let known = self.domain.tools.iter().map(|tool| &*tool.name);
                        fault(format!("there is no tool `{name}`")).instead_of(name, known)
                    }
                    Some(at) if self.domain.tools[at].reads_only() => fault(format!("`{name}` changes nothing")),
                    Some(_) => continue,
                };
                self.faults.push(found);
            }
            if why.trim().is_empty() {
                self.faults.push(fault(format!("nothing says why `{calls}` does no harm")));
            }
        }
    }

    /// Rows that promise nothing are of tables that there are, known by a condition that can be read, and each has its reason.
    fn void(&mut self) {
        for (table, void) in &self.text.void {
            let Some(at) = self.domain.table_named(table) else {
                let fault = KeyFault::new(["void", table], format!("there is no table `{table}`")).at_key();
                self.faults.push(fault.instead_of(table, self.domain.relation_names()));
                continue;
            };
            for fault in check_truth(&void.when, self.domain, Scope::on(at)).err().into_iter().flatten() {
                let found = KeyFault::new(["void", table, "when"], fault.message).at_byte(fault.offset);
                self.faults.push(KeyFault { help: fault.help, ..found });
            }
            if void.why.trim().is_empty() {
                let message = format!("nothing says why such a row of `{table}` promises nothing");
                self.faults.push(KeyFault::new(["void", table, "why"], message));
            }
        }
    }

    /// Lets that nothing uses are spelled out too, so that one that goes round or names another that is not there is told.
    fn lets(&mut self) {
        for (name, text) in &self.text.lets {
            let path = ["lets".to_owned(), name.clone()];
            let spelled = spell_out(&self.text.lets, text, &path, &mut vec![name], &mut Spelled::default());
            self.faults.extend(spelled.err().filter(|fault| !self.faults.contains(fault)));
        }
    }

    fn rules(&mut self, natives: &[&str]) {
        for (id, rule) in &self.text.rules {
            for (at, twin) in rule.twins.iter().enumerate() {
                self.rule(twin, &["rules", id, "twins", &*at.to_string()]);
            }
            if let Some(other) = &rule.told_with {
                self.rule(other, &["rules", id, "told_with"]);
            }
            // `erp/cover and erp/never-bought`: ids among words.
            for other in rule.implied_by.iter().flat_map(|text| text.split(" and ")) {
                self.rule(other.trim(), &["rules", id, "implied_by"]);
            }
            if let Some(by) = rule.told_by.as_deref().filter(|by| *by != "world") {
                let fault = KeyFault::new(["rules", id, "told_by"], format!("a rule is not told by `{by}`"));
                self.faults
                    .push(fault.with_help("write `world` if it can be read from the world, or give it a sentence"));
            }
            for (at, says) in rule.says.iter().enumerate() {
                for phrase in rule.keeps.iter().filter(|phrase| !says.contains(&***phrase)) {
                    let path = ["rules", id, "says", &*at.to_string()];
                    self.faults.push(KeyFault::new(path, format!("`{phrase}` is missing, which this rule keeps")));
                }
            }
            if let Some(native) = rule.native.as_deref().filter(|native| !natives.contains(native)) {
                let fault = KeyFault::new(["rules", id, "native"], format!("the judge has no function `{native}`"));
                self.faults.push(fault.instead_of(native, natives.iter().copied()));
            }
        }
    }

    fn objectives(&mut self) {
        for (name, objective) in &self.text.objectives {
            let shares: i64 = objective.phases.iter().map(|phase| phase.share).sum();
            if !matches!(shares, 0 | 100) {
                let message = format!("the shares of `{name}` come to {shares}, not to 100");
                self.faults.push(KeyFault::new(["objectives", name], message).at_key());
            }
            let mut seen = Vec::new();
            for (at, phase) in objective.phases.iter().enumerate() {
                let at = at.to_string();
                let path = |key| ["objectives", &**name, "phases", &*at, key];
                if seen.contains(&&*phase.name) {
                    self.faults.push(KeyFault::new(path("name"), format!("`{}` is here twice", phase.name)));
                }
                seen.push(&*phase.name);
                let bounds = [
                    ("unit", phase.unit, 1),
                    ("share", phase.share, 0),
                    ("decay", phase.decay, 0),
                    ("tolerance", phase.tolerance, 0),
                ];
                for (key, found, least) in bounds {
                    if found < least {
                        self.faults.push(KeyFault::new(path(key), format!("`{key}` is at least {least}")));
                    }
                }
            }
        }
    }

    fn table(&mut self, name: &str, path: &[&str]) -> Option<TableId> {
        let found = self.domain.table_named(name);
        if found.is_none() {
            let fault = KeyFault::new(path.iter().copied(), format!("there is no table `{name}`")).at_key();
            self.faults.push(fault.instead_of(name, self.domain.relation_names()));
        }
        found
    }

    fn frame(&mut self) {
        let frame = &self.text.frame;
        if *frame == super::FrameText::default() {
            return;
        }
        let (change, ignore) = (frame.change.clone(), frame.ignore.clone());
        self.fields("change", &change);
        self.fields("ignore", &ignore);
        for (name, rule) in &frame.answers {
            let path = ["frame", "answers", name];
            self.table(name, &path);
            self.frame_rule(rule, &path);
        }
        if let Some(rule) = &frame.apart_rule {
            self.frame_rule(rule, &["frame", "apart_rule"]);
        }
        self.frame_rule(&frame.rule, &["frame", "rule"]);
        let named: Vec<&String> = frame.answers.values().chain(&frame.apart_rule).chain([&frame.rule]).collect();
        // A name that is not there may be meant for a rule that nothing names.
        let all_known = named.iter().all(|id| self.text.rules.contains_key(*id));
        let is_framed = |rule: &RuleText| rule.frame && rule.require.is_none() && rule.native.is_none();
        let unnamed = self.text.rules.iter().filter(|(id, rule)| all_known && is_framed(rule) && !named.contains(id));
        for (id, _) in unnamed {
            let fault =
                KeyFault::new(["rules", id, "frame"], format!("the frame never names `{id}`, so it cannot fail"));
            self.faults.push(fault.with_help("name it as `rule`, `apart_rule` or under `frame.answers`"));
        }
    }

    /// A rule that answers for the frame is judged by it, or a breach would be told by nobody.
    fn frame_rule(&mut self, id: &str, path: &[&str]) {
        self.rule(id, path);
        if self.text.rules.get(id).is_some_and(|rule| !rule.frame) {
            let fault = KeyFault::new(path.iter().copied(), format!("`{id}` is not judged by the frame"));
            self.faults.push(fault.with_help("name a rule that says `frame = true`"));
        }
    }

    fn fields(&mut self, key: &str, lists: &BTreeMap<String, Vec<String>>) {
        for (name, fields) in lists {
            let Some(table) = self.table(name, &["frame", key, name]) else { continue };
            for (at, field) in fields.iter().enumerate() {
                if self.domain.table(table).field_named(field).is_none() {
                    let at = at.to_string();
                    let fault = KeyFault::new(["frame", key, name, &*at], format!("`{name}` has no field `{field}`"));
                    self.faults.push(fault.instead_of(field, self.domain.field_names(table)));
                }
            }
        }
    }
}
