//! Offers of vendors: at which price, from which quantity and in how many days a product can be bought.

use crate::{
    hooks::Model,
    names::{c, t},
    record::{Call, Cells, plain_name_of},
};
use benchwright_base::{DateTime, RowId, Value, date::DAY};
use benchwright_pack::Refusal;
use benchwright_sandbox::{Row, RowView, cell};

/// `product.supplierinfo`
pub(crate) struct ProductSupplierinfo;

impl Model for ProductSupplierinfo {
    type Of = t::product_supplierinfo;
    const ORDER: &'static str = "sequence, min_qty desc, price, id";

    fn display(call: &Call<'_, '_>, row: &Row) -> Result<Option<String>, Refusal> {
        let vendor = row.get(call.field(t::product_supplierinfo, c::partner_id)).as_ref_id();
        plain_name_of(call, t::res_partner, vendor).map(Some)
    }

    fn before_create(
        call: &mut Call<'_, '_>,
        cells: &mut Cells<t::product_supplierinfo>,
    ) -> Result<Option<RowId>, Refusal> {
        fill_offer(call, cells);
        Ok(None)
    }
}

/// What a new offer has unless it says otherwise: the one product of its template.
fn fill_offer(call: &Call<'_, '_>, cells: &mut Cells<t::product_supplierinfo>) {
    if let Some(product) = cells.link(call, c::product_tmpl_id)
        && cells.get(call, c::product_id).is_none()
    {
        cells.set(call, c::product_id, Value::Ref(product));
    }
}

/// One tier of an offer.
pub(crate) struct Offer {
    id: RowId,
    sequence: i64,
    min_qty: i64,
    /// After its discount, for comparison only.
    net: i64,
    price: Value,
    discount: Value,
    delay: i64,
}

/// The tiers that a vendor offers a product at, on a day.
pub(crate) fn offers(call: &Call<'_, '_>, product: RowId, vendor: RowId, on: DateTime) -> Result<Vec<Offer>, Refusal> {
    let day = Value::Date(on.date());
    let rows = call.rows(t::product_supplierinfo, &[cell(c::product_tmpl_id, Value::Ref(product))])?;
    let fits = |row: &RowView<t::product_supplierinfo>| {
        let (start, end) = (row.get(c::date_start), row.get(c::date_end));
        row.link(c::partner_id) == Some(vendor)
            && (start.is_null() || start <= day)
            && (end.is_null() || end >= day)
            && row.link(c::product_id).is_none_or(|only| only == product)
    };
    let offer = |row: &RowView<t::product_supplierinfo>| Offer {
        id: row.id(),
        sequence: row.number(c::sequence),
        min_qty: row.number(c::min_qty),
        net: row.number(c::price) * (100_000 - row.number(c::discount)),
        price: row.get(c::price),
        discount: row.get(c::discount),
        delay: row.number(c::delay),
    };
    Ok(rows.iter().filter(|row| fits(row)).map(offer).collect())
}

/// The tier that a quantity is bought at: of those it reaches, the cheapest.
fn select(offers: &[Offer], units: i64) -> Option<&Offer> {
    let reached = offers.iter().filter(|offer| offer.min_qty <= units);
    reached.min_by_key(|offer| (offer.net, offer.sequence, offer.id))
}

/// Price, discount and date of a line from the offer for so many units; `None` for what the offer does not say.
pub(crate) struct Terms {
    pub(crate) price: Value,
    pub(crate) discount: Value,
    pub(crate) date: Option<DateTime>,
}

/// Price, discount and date of a line of an order, for so many units of a product.
pub(crate) fn terms(
    call: &Call<'_, '_>,
    order: &RowView<t::purchase_order>,
    product: RowId,
    units: Option<i64>,
) -> Result<Terms, Refusal> {
    let on = order.instant(c::date_order).unwrap_or_else(|| call.now());
    let vendor = order.link(c::partner_id).unwrap_or_default();
    let offers = offers(call, product, vendor, on)?;
    // A line without a price is first given the least quantity that the vendor sells, and that quantity's price.
    let least = offers.iter().map(|offer| offer.min_qty).min().map(|least| if least == 0 { 1000 } else { least });
    let units = units.or(least).unwrap_or(1000);
    Ok(match select(&offers, units) {
        Some(offer) => Terms {
            price: offer.price.clone(),
            discount: offer.discount.clone(),
            date: Some(DateTime(on.0 + offer.delay * DAY)),
        },
        None => Terms {
            price: call.row(t::product_product, product)?.get(c::standard_price),
            discount: Value::Quantity(0),
            date: None,
        },
    })
}

/// A vendor without an offer for a product of the order gets one at the order's price.
pub(crate) fn add_offers(call: &mut Call<'_, '_>, order: &RowView<t::purchase_order>) -> Result<(), Refusal> {
    let Some(vendor) = order.link(c::partner_id) else { return Ok(()) };
    for line in call.rows(t::purchase_order_line, &[cell(c::order_id, Value::Ref(order.id()))])? {
        let Some(product) = line.link(c::product_id) else { continue };
        let known = call.rows(t::product_supplierinfo, &[cell(c::product_tmpl_id, Value::Ref(product))])?;
        if known.len() > MOST_OFFERS || known.iter().any(|offer| offer.link(c::partner_id) == Some(vendor)) {
            continue;
        }
        let sequence = known.iter().map(|offer| offer.number(c::sequence)).max().unwrap_or(0) + 1;
        call.create(
            t::product_supplierinfo,
            &[
                cell(c::partner_id, Value::Ref(vendor)),
                cell(c::product_tmpl_id, Value::Ref(product)),
                cell(c::product_id, Value::Ref(product)),
                cell(c::sequence, Value::Int(sequence)),
                cell(c::min_qty, Value::Quantity(1000)),
                cell(c::price, Value::Money(line.number(c::price_unit).max(0))),
                cell(c::discount, line.get(c::discount)),
                cell(c::delay, Value::Int(0)),
            ],
        )?;
    }
    Ok(())
}

/// Confirming adds no offer to a product that has more than this many.
const MOST_OFFERS: usize = 10;
