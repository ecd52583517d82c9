//! The order in which a brief says things.

/// A piece of a brief.
pub(super) enum Part {
    /// The sentence of a rule.
    Rule(&'static str),
    /// A sentence of `words`.
    Say(&'static str),
    /// A table or list of `words`.
    Block(&'static str),
}

/// A part under a heading.
pub(super) struct Heading {
    /// The heading.
    pub(super) title: &'static str,
    /// Sentences that belong together.
    pub(super) groups: &'static [&'static [Part]],
    /// The families whose other rules are told here.
    pub(super) families: &'static [&'static str],
}

use Part::{Block, Rule, Say};

/// All parts between the opening and the goal. What does not apply to a case is left out.
pub(super) const OUTLINE: &[Heading] = &[
    Heading {
        title: "What customers asked for",
        groups: &[
            &[Say("several-lines"), Say("listed"), Block("listed")],
            &[Say("drafts"), Block("drafts")],
            &[Rule("erp/standing-orders"), Say("standing"), Block("standing")],
        ],
        families: &[],
    },
    Heading {
        title: "What went wrong",
        groups: &[&[Rule("erp/broken-documents"), Rule("erp/eligible-supplier")], &[Say("old-plan")]],
        families: &[],
    },
    Heading {
        title: "Which requests we take",
        groups: &[
            &[Say("intake"), Block("intake")],
            &[Rule("erp/draft-confirmed"), Rule("erp/draft-cancelled")],
            &[Rule("erp/listed-request-entered"), Rule("erp/declined-not-entered")],
        ],
        families: &[],
    },
    Heading {
        title: "Time, and where things stand",
        groups: &[&[Say("calendar")], &[Say("records")], &[Say("notes")]],
        families: &[],
    },
    Heading {
        title: "Sales orders",
        groups: &[
            &[Rule("erp/order-quantity"), Rule("erp/one-promise"), Rule("erp/promised-day"), Say("order-fields")],
            &[Rule("erp/list-price"), Rule("erp/customer-limit"), Rule("erp/tax-free")],
            &[Rule("erp/orders-confirmed"), Rule("erp/one-order-each")],
        ],
        families: &["demand"],
    },
    Heading {
        title: "Supply and purchases",
        groups: &[
            &[Rule("erp/cover")],
            &[Rule("erp/never-bought"), Rule("erp/listed-supplier")],
            &[Rule("erp/min-order-quantity"), Rule("erp/max-finished"), Rule("erp/max-parts")],
            &[Rule("erp/one-line-per-offer"), Rule("erp/tier-price")],
            &[Rule("erp/supplier-lead"), Rule("erp/receipt-open"), Say("receipt-field")],
            &[Rule("erp/margin"), Rule("erp/budget")],
            &[Rule("erp/purchases-confirmed")],
        ],
        families: &["supply"],
    },
    Heading {
        title: "Builds",
        groups: &[
            &[Rule("erp/never-made")],
            &[Rule("erp/build-span"), Rule("erp/build-open"), Rule("erp/parts-on-hand")],
            &[Rule("erp/recipe"), Rule("erp/approved-centre")],
            &[Rule("erp/centre-minutes"), Rule("erp/day-minutes"), Rule("erp/centre-down")],
            &[Rule("erp/builds-confirmed"), Say("as-planned")],
        ],
        families: &["production"],
    },
    Heading {
        title: "Billing",
        groups: &[
            &[Rule("erp/invoice-flow"), Rule("erp/deposit-invoice"), Rule("erp/final-invoice")],
            &[Rule("erp/order-terms"), Rule("erp/invoice-customer")],
            &[Rule("erp/declined-not-billed")],
        ],
        families: &["billing"],
    },
    Heading {
        title: "Paper trail",
        groups: &[&[Rule("erp/purchase-origin")], &[Rule("erp/build-origin")]],
        families: &["trace"],
    },
    Heading {
        title: "What stays as it is",
        groups: &[&[Rule("erp/master-data"), Rule("erp/adjacent-records")], &[Rule("erp/nothing-booked")]],
        families: &["state", "frame"],
    },
];
