//! One world on both engines, and calls made on both: what each answers, and in what their states differ.

use super::{Done, known_answer};
use crate::error::{Error, Result};
use benchwright_base::{Date, Value};
use benchwright_calls::documents::Keyed;
use benchwright_catalog::Catalog;
use benchwright_odoo::{Answer, Difference, OdooEpisode, OdooError, OdooWorld, Site, compare, face};
use benchwright_pack::{BoundKeys, Snapshot, Step, Task};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::Domain;
use benchwright_workshop::tasks::Judged;
use benchwright_world::{Seat, bound_keys};
use serde_json::Value as Json;
use std::{collections::BTreeMap, sync::Arc};

/// The keys of rows, by table and id.
pub(crate) type Keys = BTreeMap<String, BTreeMap<u32, String>>;

/// A world that both engines hold.
pub(crate) struct Shared {
    pub(crate) domain: Arc<Domain>,
    pub(crate) first: Snapshot,
    pub(crate) keys: Keys,
    sandbox: Arc<Sandbox>,
    odoo: Arc<OdooWorld>,
    seat: Seat,
}

/// An episode on both engines, with what keys are bound to in each.
pub(crate) struct Pair<'s> {
    shared: &'s Shared,
    twin: Episode,
    odoo: OdooEpisode,
    pub(crate) twin_keys: BoundKeys,
    pub(crate) odoo_keys: BoundKeys,
    /// What calls have done that explains a difference.
    done: Done,
}

/// What both answered to a call.
#[derive(Debug)]
pub(crate) struct Both {
    pub(crate) twin: Answer,
    pub(crate) odoo: Answer,
}

impl Shared {
    /// Plants the world of a task without what lies around the job, so that states are read fast.
    pub(crate) fn plant(catalog: &Catalog, site: &Site, task: &Task) -> Result<Shared> {
        Shared::plant_with(catalog, site, task, |_, _, _| Ok(()))
    }

    /// The same, with a first state that was changed.
    pub(crate) fn plant_with(
        catalog: &Catalog,
        site: &Site,
        task: &Task,
        change: impl FnOnce(&Domain, &Keys, &mut Snapshot) -> Result<()>,
    ) -> Result<Shared> {
        let judged = Judged::open(catalog, task)?;
        let found = catalog.find(&task.open.domain)?;
        let keys: Keys = task.sealed.verifier.keys.clone();
        let mut first = without_surroundings(&judged.domain, &judged.first, &keys);
        change(&judged.domain, &keys, &mut first)?;
        let sandbox = Arc::new(Sandbox::from_snapshot(Arc::clone(&judged.domain), found.natives, &first)?);
        let odoo = OdooWorld::plant(site, Arc::clone(&judged.domain), first.clone())?;
        if let Some(difference) = odoo.planted().differences.first() {
            return Err(Error::Wrong(format!("the world was planted otherwise: {difference:?}")));
        }
        let keys = keys
            .into_iter()
            .map(|(table, rows)| (table, rows.into_iter().filter(|(_, key)| !key.starts_with("adj/")).collect()))
            .collect();
        let seat = sandbox.seat_of(&task.open);
        Ok(Shared { domain: judged.domain, first, keys, sandbox, odoo: Arc::new(odoo), seat })
    }

    /// Begins an episode on both.
    pub(crate) fn begin(&self) -> Result<Pair<'_>> {
        let twin = self.sandbox.begin(&self.seat, Conditions::default())?;
        let odoo = self.odoo.begin()?;
        let (twin_keys, odoo_keys) = (bound_keys(&self.keys, &twin), bound_keys(&self.keys, &odoo));
        Ok(Pair { shared: self, twin, odoo, twin_keys, odoo_keys, done: Done::default() })
    }

    /// The keys of a table that begin with a text, in order.
    pub(crate) fn keys_of(&self, table: &str, begin: &str) -> Vec<String> {
        let rows = self.keys.get(table).into_iter().flat_map(|rows| rows.values());
        rows.filter(|key| key.starts_with(begin)).cloned().collect()
    }
}

impl Keyed for Shared {
    fn keys(&self, table: &str, begin: &str) -> Vec<String> {
        self.keys_of(table, begin)
    }

    fn today(&self) -> Date {
        self.first.now.date()
    }
}

/// The rows of a first state that belong to the job.
fn without_surroundings(domain: &Domain, first: &Snapshot, keys: &Keys) -> Snapshot {
    let mut kept = first.clone();
    for (table, rows) in domain.tables.iter().zip(&mut kept.tables) {
        let apart =
            |id: u32| keys.get(&table.name).and_then(|keys| keys.get(&id)).is_some_and(|key| key.starts_with("adj/"));
        rows.rows.retain(|cells| !cells.first().and_then(Value::as_ref_id).is_some_and(apart));
    }
    kept
}

impl Pair<'_> {
    /// Makes a call on both. `None` if a key is not bound on both.
    pub(crate) fn step(&mut self, step: &Step) -> Result<Option<Both>, OdooError> {
        let (Ok(here), Ok(there)) = (self.twin_keys.fill(&step.args), self.odoo_keys.fill(&step.args)) else {
            return Ok(None);
        };
        let before = self.bought(step, &here);
        let twin = &mut self.twin;
        let mut call = |tool: &str, arguments: &str| twin.call(tool, arguments);
        let twin = face::answer(&self.shared.domain, &step.model, &step.method, &here.to_string(), &mut call);
        let odoo = self.odoo.post(&step.model, &step.method, &there.to_string())?;
        if twin.status == 200 && odoo.status == 200 {
            let vals = &step.args["vals"];
            self.done.goods_moved |=
                matches!(&*step.method, "action_apply_inventory" | "button_mark_done" | "button_validate");
            let written = |model: &str, field: &str| step.model == model && vals.get(field).is_some();
            self.done.posted |= step.method == "action_post";
            self.done.begun |= written("mrp.production", "qty_producing");
            self.done.work_dated |= ["date_start", "date_finished"].iter().any(|field| written("mrp.workorder", field));
            self.done.bought_otherwise |= before.is_some_and(|before| self.bought(step, &here) != Some(before));
            let parsed = |answer: &Answer| serde_json::from_str::<Json>(&answer.body).unwrap_or_default();
            // What only one side has is bound on neither.
            let (mut here, mut there) = (self.twin_keys.clone(), self.odoo_keys.clone());
            if here.note(step, &parsed(&twin)).is_ok() && there.note(step, &parsed(&odoo)).is_ok() {
                (self.twin_keys, self.odoo_keys) = (here, there);
            }
        }
        Ok(Some(Both { twin, odoo }))
    }

    /// What calls have done that explains a difference.
    pub(crate) fn done(&self) -> Done {
        self.done
    }

    /// The price and the day of a confirmed purchase line whose units a call writes.
    fn bought(&mut self, step: &Step, args: &Json) -> Option<Json> {
        if step.model != "purchase.order.line" || step.args["vals"].get("product_qty").is_none() {
            return None;
        }
        let asked = serde_json::json!({ "ids": args["ids"], "fields": ["state", "price_unit", "date_planned"] });
        let said = self.twin.call("purchase_order_line_read", &asked.to_string()).ok()?;
        let line = serde_json::from_str::<Json>(&said).ok()?.get(0)?.clone();
        (line["state"] == "purchase").then(|| serde_json::json!([line["price_unit"], line["date_planned"]]))
    }

    /// In what the states differ.
    pub(crate) fn differences(&self) -> Result<Vec<Difference>, OdooError> {
        let (here, there) = (self.twin.snapshot(), self.odoo.read()?);
        let shared = self.shared;
        Ok(compare(&shared.domain, &shared.first, &here, &there, &|difference| {
            super::known(difference, self.done).is_some()
        }))
    }
}

/// In what two answers to a call differ; only what is no id and no name of a document is compared.
pub(crate) fn answers_differ(step: &Step, both: &Both, done: Done) -> Vec<String> {
    let call = format!("{}/{}", step.model, step.method);
    let (here, there) = (both.twin.status, both.odoo.status);
    if here != there {
        return vec![format!("{call}: status {here} and {there}")];
    }
    if here != 200 {
        return Vec::new();
    }
    let parsed = |answer: &Answer| serde_json::from_str::<Json>(&answer.body).unwrap_or_default();
    let (a, b) = (parsed(&both.twin), parsed(&both.odoo));
    let mut found = Vec::new();
    match &*step.method {
        "create" | "search" => {
            let length = |json: &Json| json.as_array().map(Vec::len);
            if length(&a) != length(&b) {
                found.push(format!("{call}: {:?} and {:?} ids", length(&a), length(&b)));
            }
        }
        "search_read" | "read" => {
            let rows = |json: &Json| json.as_array().cloned().unwrap_or_default();
            let (a, b) = (rows(&a), rows(&b));
            if a.len() != b.len() {
                found.push(format!("{call}: {} and {} rows", a.len(), b.len()));
            }
            for (a, b) in a.iter().zip(&b) {
                for (field, x) in a.as_object().into_iter().flatten() {
                    let y = &b[field];
                    if !alike(field, x, y) && known_answer(field, done).is_none() {
                        found.push(format!("{call}: {field} is {x} and {y}"));
                    }
                }
            }
        }
        "search_count" if a != b => found.push(format!("{call}: {a} and {b}")),
        "fields_get" => {
            for (field, about) in a.as_object().into_iter().flatten() {
                let (x, y) =
                    (about["type"].as_str().unwrap_or_default(), b[field]["type"].as_str().unwrap_or_default());
                if kind(x) != kind(y) {
                    found.push(format!("{call}: {field} is a {x} and a {y}"));
                }
            }
        }
        // A dialog is an answer that leaves something open.
        _ if a["res_model"] != b["res_model"] => {
            found.push(format!("{call}: opens {} and {}", a["res_model"], b["res_model"]));
        }
        _ => {}
    }
    found
}

/// Kinds of fields that carry the same values.
fn kind(name: &str) -> &str {
    match name {
        "monetary" => "float",
        "html" | "text" => "char",
        "many2one_reference" => "integer",
        other => other,
    }
}

/// Whether two texts are instants that each side took from its own clock.
fn by_clock(x: &str, y: &str) -> bool {
    let year = |text: &str| text.get(..4)?.parse::<i32>().ok().filter(|_| text.get(4..5) == Some("-"));
    matches!((year(x), year(y)), (Some(x), Some(y)) if (x - y).abs() > 2)
}

fn alike(field: &str, x: &Json, y: &Json) -> bool {
    match (x, y) {
        _ if field == "id" || field.ends_with("name") || field == "origin" || field == "invoice_origin" => true,
        (Json::Number(x), Json::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap_or(0.0), y.as_f64().unwrap_or(1.0));
            // Line 6: a half cent is rounded by binary fractions there and exactly here.
            let is_amount =
                field.starts_with("amount") || matches!(field, "price_subtotal" | "price_tax" | "price_total");
            let least = if is_amount { 0.0101 } else { 0.0005 };
            (x - y).abs() < least
        }
        // The two clocks are years apart.
        (Json::String(x), Json::String(y)) if by_clock(x, y) => true,
        // References and lists: whether there are as many.
        (Json::Array(x), Json::Array(y)) => x.len() == y.len(),
        _ => x == y,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn line_6_half_cents_of_amounts_and_of_nothing_else() {
        assert!(alike("amount_total", &json!(10.02), &json!(10.01)));
        assert!(alike("price_subtotal", &json!(10.02), &json!(10.01)));
        assert!(!alike("amount_total", &json!(10.03), &json!(10.01)));
        for field in ["price_unit", "product_qty", "fixed_amount"] {
            assert!(!alike(field, &json!(10.02), &json!(10.01)), "{field}");
        }
    }

    #[test]
    fn line_11_instants_of_two_clocks_are_years_apart() {
        assert!(alike("date_order", &json!("2032-03-01 08:00:00"), &json!("2026-01-01 09:00:00")));
        assert!(!alike("date_order", &json!("2032-03-01 08:00:00"), &json!("2032-03-02 08:00:00")));
        assert!(!alike("date_order", &json!("2032-03-01 08:00:00"), &json!(false)));
    }
}
