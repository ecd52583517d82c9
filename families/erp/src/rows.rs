//! A plan's rows with names instead of maps: what is sold, bought and built.

use benchwright_schema::plan::Binding;
use benchwright_spec::NamedRows;
use std::collections::BTreeMap;

/// A sales order of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SellRow {
    /// The request it answers, by its reference.
    pub(crate) order: String,
    /// The key of the customer.
    pub(crate) customer: String,
    /// The key of the product.
    pub(crate) product: String,
    /// How many.
    pub(crate) units: i64,
    /// The day that is promised.
    pub(crate) promised: i64,
    /// The price of a unit.
    pub(crate) price: i64,
    /// The discount, in percent.
    pub(crate) discount: i64,
}

/// A purchase of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BuyRow {
    /// The key of the supplier.
    pub(crate) vendor: String,
    /// The key of the product.
    pub(crate) product: String,
    /// How many.
    pub(crate) units: i64,
    /// The day of receipt.
    pub(crate) arrive: i64,
    /// The price of a unit.
    pub(crate) price: i64,
    /// The discount, in percent.
    pub(crate) discount: i64,
}

/// A build of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BuildRow {
    /// The key of the product.
    pub(crate) product: String,
    /// The key of the work centre.
    pub(crate) centre: String,
    /// How many.
    pub(crate) units: i64,
    /// The day it starts.
    pub(crate) start: i64,
    /// The day it is finished.
    pub(crate) due: i64,
    /// How many work orders it has.
    pub(crate) orders: i64,
}

/// The rows of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PlanRows {
    /// What is sold.
    pub(crate) sells: Vec<SellRow>,
    /// What is bought.
    pub(crate) buys: Vec<BuyRow>,
    /// What is built.
    pub(crate) builds: Vec<BuildRow>,
}

/// One row with its fields by name.
struct Fields<'a>(&'a str, &'a BTreeMap<String, Binding>);

impl Fields<'_> {
    fn key(&self, field: &str) -> Result<String, String> {
        match self.1.get(field) {
            Some(Binding::Key(key)) => Ok(key.clone()),
            _ => Err(format!("a row of `{}` has no member in `{field}`", self.0)),
        }
    }

    fn number(&self, field: &str) -> Result<i64, String> {
        match self.1.get(field) {
            Some(Binding::Number(number)) => Ok(*number),
            _ => Err(format!("a row of `{}` has no number in `{field}`", self.0)),
        }
    }

    fn number_or(&self, field: &str, otherwise: i64) -> Result<i64, String> {
        if self.1.contains_key(field) { self.number(field) } else { Ok(otherwise) }
    }
}

impl PlanRows {
    /// The rows of a plan in words. Views that no call writes are left out.
    pub(crate) fn read(plan: &NamedRows) -> Result<PlanRows, String> {
        let of = |view: &'static str| plan.0.get(view).into_iter().flatten().map(move |row| Fields(view, row));
        let sell = |row: Fields<'_>| {
            Ok::<_, String>(SellRow {
                order: row.key("order")?,
                customer: row.key("customer")?,
                product: row.key("product")?,
                units: row.number("qty")?,
                promised: row.number("promised")?,
                price: row.number("price")?,
                discount: row.number_or("discount", 0)?,
            })
        };
        let buy = |row: Fields<'_>| {
            Ok::<_, String>(BuyRow {
                vendor: row.key("vendor")?,
                product: row.key("product")?,
                units: row.number("qty")?,
                arrive: row.number("arrive")?,
                price: row.number("price")?,
                discount: row.number_or("discount", 0)?,
            })
        };
        let build = |row: Fields<'_>| {
            Ok::<_, String>(BuildRow {
                product: row.key("product")?,
                centre: row.key("centre")?,
                units: row.number("qty")?,
                start: row.number("start")?,
                due: row.number("due")?,
                orders: row.number_or("orders", 1)?,
            })
        };
        Ok(PlanRows {
            sells: of("sell").map(sell).collect::<Result<_, _>>()?,
            buys: of("buy").map(buy).collect::<Result<_, _>>()?,
            builds: of("build").map(build).collect::<Result<_, _>>()?,
        })
    }
}
