//! What an instruction has to say, given the job that it describes. The outsider plans by these sentences; where one is missing, or
//! says something else, it does not know how to plan and says so.

use super::{
    readings,
    text::{codes_where, sentences},
};
use crate::job::{Goal, Job, Offer, Place};

/// A sentence that matters for some jobs, by any of a few phrases.
struct Needed {
    about: &'static str,
    matters: fn(&Job) -> bool,
    phrases: &'static [&'static str],
    /// Another way to put it, which changes plans.
    or: &'static [&'static str],
}

/// Something that is put one way only.
const ONE_WAY: Needed = Needed { about: "", matters: always, phrases: &[], or: &[] };

fn always(_: &Job) -> bool {
    true
}

fn builds(job: &Job) -> bool {
    !job.ways.is_empty()
}

fn buys_sold(job: &Job) -> bool {
    may_be_bought(job).any(|offer| offer.most.is_some() && job.items[&offer.item].sold)
}

fn buys_parts(job: &Job) -> bool {
    may_be_bought(job).any(|offer| offer.most.is_some() && !job.items[&offer.item].sold)
}

fn may_be_bought(job: &Job) -> impl Iterator<Item = &Offer> {
    job.offers.iter().filter(|offer| !job.told.never_bought.contains(&offer.item))
}

fn screens(job: &Job) -> bool {
    let intake = &job.told.intake;
    intake.units.is_some() || intake.notice.is_some() || intake.money
}

fn pays_deposits(job: &Job) -> bool {
    job.told.billing.is_some_and(|billing| billing.deposit.is_some())
}

const NEEDED: &[Needed] = &[
    Needed {
        about: "which days count",
        matters: |job| !job.told.closes,
        phrases: &["ll calendar days count"],
        ..ONE_WAY
    },
    Needed {
        about: "how days are counted",
        matters: |job| job.told.closes,
        phrases: &[
            "elivery and manufacturing days are calendar days",
            "Count delivery and manufacturing days as calendar days",
        ],
        ..ONE_WAY
    },
    Needed {
        about: "when goods are received",
        matters: |job| job.told.closes && buys(job),
        phrases: &["received on a closed day"],
        ..ONE_WAY
    },
    Needed {
        about: "when builds start and end",
        matters: |job| job.told.closes && builds(job),
        phrases: &[
            "Neither the start nor the deadline of a build may fall on a closed day",
            "The start and the deadline of a build are open days",
            "Put no start and no deadline of a build on a closed day",
        ],
        ..ONE_WAY
    },
    Needed {
        about: "when goods can be used",
        matters: always,
        phrases: readings::USED_AT_ONCE,
        or: readings::USED_NEXT_DAY,
    },
    Needed {
        about: "when parts can be used",
        matters: |job| builds(job) && job.told.readings.wait > 0,
        phrases: &[
            "what comes in on a day is there from the day after",
            "hatever comes in",
            "what comes in can be used",
        ],
        ..ONE_WAY
    },
    Needed {
        about: "how many units an order is for",
        matters: |job| job.requests.iter().any(|request| request.place != Place::Standing),
        phrases: &["exactly the number of units asked"],
        ..ONE_WAY
    },
    Needed {
        about: "until when goods are promised",
        matters: always,
        phrases: &["needed-by date or earlier"],
        ..ONE_WAY
    },
    Needed { about: "what we sell at", matters: always, phrases: &["at list price"], ..ONE_WAY },
    Needed { about: "whom we buy from", matters: buys, phrases: &["suppliers that list it"], ..ONE_WAY },
    Needed { about: "smallest orders", matters: buys, phrases: &["smallest order"], ..ONE_WAY },
    Needed { about: "the number of order lines", matters: buys, phrases: &["at most one order line"], ..ONE_WAY },
    Needed { about: "price steps", matters: buys, phrases: readings::PRICE_OF_ALL, or: readings::PRICE_ABOVE },
    Needed {
        about: "delivery days",
        matters: buys,
        phrases: &["today plus the supplier's delivery days", "Count the supplier's delivery days from today"],
        ..ONE_WAY
    },
    Needed {
        about: "the most of what we sell that a supplier delivers",
        matters: buys_sold,
        phrases: &[
            "For the finished item, the maximum in",
            "For the finished item, do not order more than the maximum in",
            "For a finished item, the maximum in",
            "For a finished item, do not order more than the maximum in",
        ],
        ..ONE_WAY
    },
    Needed {
        about: "the most of a part that a supplier delivers",
        matters: buys_parts,
        phrases: &["For parts, the maximum in", "For parts, do not order more than the maximum in"],
        ..ONE_WAY
    },
    Needed {
        about: "how long a build takes",
        matters: builds,
        phrases: &[
            "its manufacturing days after the start",
            "its manufacturing days, or more, after the start",
            "at least the manufacturing days of the recipe",
        ],
        ..ONE_WAY
    },
    Needed { about: "when a build may start", matters: builds, phrases: &["all its parts are there"], ..ONE_WAY },
    Needed { about: "what a build takes", matters: builds, phrases: &["recipe on file"], ..ONE_WAY },
    Needed { about: "where an item is built", matters: builds, phrases: &["approved for the item"], ..ONE_WAY },
    Needed {
        about: "what minutes are",
        matters: |job| job.pools.iter().any(|pool| !pool.daily),
        phrases: &["one total for the whole plan"],
        ..ONE_WAY
    },
    Needed {
        about: "what minutes of a group are",
        matters: |job| job.pools.iter().any(|pool| pool.centres.len() > 1),
        phrases: &["its minutes hold for all of them together"],
        ..ONE_WAY
    },
    Needed {
        about: "what minutes of a day are",
        matters: |job| job.pools.iter().any(|pool| pool.daily),
        phrases: &["minutes per start day"],
        ..ONE_WAY
    },
    Needed { about: "values on a bound", matters: screens, phrases: readings::BOUND_PASSES, or: readings::BOUND_FAILS },
    Needed {
        about: "what a customer's limit is for",
        matters: |job| job.taken().any(|request| request.limit.is_some()),
        phrases: &[
            "he value of an order before tax may not exceed",
            "the order's value before tax must stay within it",
            "No order may come to more than the customer's pre-tax limit",
            "percent tax may not exceed",
        ],
        ..ONE_WAY
    },
    Needed {
        about: "how many tests a request must pass",
        matters: screens,
        phrases: &["all of these tests"],
        ..ONE_WAY
    },
    Needed {
        about: "what spending is",
        matters: |job| job.told.share.is_some() || job.told.budget.is_some(),
        phrases: &["all purchases at their listed prices", "all purchases, kept ones included, at their listed prices"],
        ..ONE_WAY
    },
    Needed {
        about: "what builds cost",
        matters: |job| builds(job) && (job.told.share.is_some() || job.told.budget.is_some()),
        phrases: &[
            "plus all builds at their minutes times the hourly cost of the centre",
            "plus all builds, kept ones included, at their minutes times the hourly cost of the centre",
        ],
        ..ONE_WAY
    },
    Needed {
        about: "what the final invoice is for",
        matters: |job| job.told.billing.is_some(),
        phrases: &["the order's full value"],
        ..ONE_WAY
    },
    Needed {
        about: "what becomes of a deposit",
        matters: pays_deposits,
        phrases: &["less the deposit where one was billed"],
        ..ONE_WAY
    },
    Needed {
        about: "where the reference of a request is entered",
        matters: |job| job.requests.iter().any(|request| request.place == Place::Listed),
        phrases: &["(client_order_ref)"],
        ..ONE_WAY
    },
    Needed { about: "where the promise is entered", matters: always, phrases: &["(commitment_date)"], ..ONE_WAY },
    Needed { about: "where the receipt is entered", matters: buys, phrases: &["(date_planned)"], ..ONE_WAY },
    Needed { about: "where the start of a build is entered", matters: builds, phrases: &["(date_start)"], ..ONE_WAY },
    Needed { about: "where the end of a build is entered", matters: builds, phrases: &["(date_deadline)"], ..ONE_WAY },
    Needed {
        about: "that suppliers have notes",
        matters: |job| job.offers.iter().any(|offer| offer.most.is_some()),
        phrases: &["n a supplier's contact", "is on its contact"],
        ..ONE_WAY
    },
    Needed {
        about: "how sources are written",
        matters: |job| buys(job) || builds(job),
        phrases: &["separated by commas"],
        ..ONE_WAY
    },
    Needed {
        about: "what parts are bought for",
        matters: |job| job.offers.iter().any(|offer| !job.items[&offer.item].sold),
        phrases: &["the builds that take them", "the builds that take the parts"],
        ..ONE_WAY
    },
    Needed {
        about: "what becomes of the plan that stood",
        matters: |job| job.told.goal == Goal::Change,
        phrases: &[
            "The plan as it was is in the system",
            "Everything else of the plan as it was is still in the system",
            "The confirmed purchases and builds in the system are the plan as it was",
        ],
        ..ONE_WAY
    },
    Needed {
        about: "what counts as a change",
        matters: |job| job.told.goal == Goal::Change,
        phrases: &["of the finished product", "in finished units", "of a finished product"],
        ..ONE_WAY
    },
];

fn buys(job: &Job) -> bool {
    !job.offers.is_empty()
}

/// The first thing that a text does not say of a job.
pub(super) fn check(text: &str, job: &Job) -> Result<(), String> {
    let silent = NEEDED.iter().filter(|needed| (needed.matters)(job));
    for needed in silent {
        if !needed.phrases.iter().chain(needed.or).any(|phrase| text.contains(phrase)) {
            return Err(format!("the text does not say, in words that are understood, {}", needed.about));
        }
    }
    let told = codes_where(&sentences(text), &["o build may start", "down"]);
    if !told.iter().eq(job.down.keys()) {
        return Err(format!("centres are down by their notes, {:?}, and by the text, {told:?}", job.down.keys()));
    }
    Ok(())
}
