//! Names, references and codes, and the records around the job.

use super::super::shop::{Adjacent, AdjacentProduct, Calendar, Party, Role};
use super::goods::{Line, Names, numbers, shuffled};
use super::recipe::{Dice, Ranges, Switch, within};
use benchwright_base::{Date, Stream};

/// How many customers, suppliers and products surround a job, and how many of the products are built.
const AROUND: (usize, usize) = (50, 10);

/// Words that make a second product of a name.
const VARIANTS: [&str; 6] = ["Compact", "Heavy Duty", "Mark II", "Wide Format", "Export", "Low Profile"];

/// Parties and codes, handed out one after the other. The job's own and those around it come from the same lists, so that
/// a reference does not tell which is which.
pub(super) struct Register {
    customers: std::vec::IntoIter<Party>,
    vendors: std::vec::IntoIter<Party>,
    prefix: &'static str,
    numbers: [std::vec::IntoIter<i64>; 3],
    words: [std::vec::IntoIter<&'static str>; 3],
}

impl Register {
    /// The register of a draw.
    pub(super) fn new(dice: &Dice<'_>, line: &'static Line, names: &'static Names) -> Register {
        let party = |stream: &mut Stream, letter: char, first: i64, words: &'static [String]| {
            let references = numbers(stream, first, first + 98);
            let named = references.into_iter().zip(shuffled(stream, words));
            let party = |(n, name): (i64, &str)| Party { reference: format!("{letter}-{n}"), name: name.to_owned() };
            named.map(party).collect::<Vec<_>>().into_iter()
        };
        let stream = &mut dice.stream("codes");
        let codes = [(); 3].map(|()| numbers(stream, 101, 199).into_iter());
        let stream = &mut dice.stream("products");
        let words = [&line.finished, &line.modules, &line.parts].map(|words| shuffled(stream, words).into_iter());
        Register {
            customers: party(&mut dice.stream("customers"), 'C', 101, &names.customers),
            vendors: party(&mut dice.stream("vendors"), 'V', 201, &names.vendors),
            prefix: &line.prefix,
            numbers: codes,
            words,
        }
    }

    /// The next customer.
    pub(super) fn customer(&mut self) -> Option<Party> {
        self.customers.next()
    }

    /// The next supplier.
    pub(super) fn vendor(&mut self) -> Option<Party> {
        self.vendors.next()
    }

    /// The code and the name of the next product of a role.
    pub(super) fn product(&mut self, role: Role) -> Option<(String, String)> {
        let (at, _) = kind(role);
        let name = self.words[at].next()?.to_owned();
        Some((self.code(role)?, name))
    }

    fn code(&mut self, role: Role) -> Option<String> {
        let (at, letter) = kind(role);
        Some(format!("{}-{letter}{}", self.prefix, self.numbers[at].next()?))
    }

    /// The records around the job; `own` are the job's own products. `None` if the lists are too short.
    pub(super) fn around(&mut self, dice: &Dice<'_>, own: &[(Role, String)]) -> Option<Adjacent> {
        let stream = &mut dice.stream("adjacent");
        let (count, built) = AROUND;
        // Names of the same trade: what the job leaves over, and variants of names, its own first.
        let mut names: Vec<(Role, String)> = Vec::new();
        let roles = [Role::Finished, Role::Module, Role::Part];
        for (at, role) in roles.into_iter().enumerate() {
            names.extend(self.words[at].by_ref().map(|name| (role, name.to_owned())));
        }
        names.truncate(count - own.len().min(10));
        let variant = |stream: &mut Stream, name: &str| match stream.pick(&VARIANTS) {
            Some(variant) => format!("{name}, {variant}"),
            None => name.to_owned(),
        };
        let doubled: Vec<(Role, String)> = own.iter().chain(&names).cloned().collect();
        for (role, name) in doubled.into_iter().cycle().take(8 * count) {
            let name = variant(stream, &name);
            if names.len() < count && names.iter().all(|(_, known)| *known != name) {
                names.push((role, name));
            }
        }
        stream.shuffle(&mut names);
        // Finished products and modules are built first, from parts that are not.
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_key(|at| names[*at].0 == Role::Part);
        let (made, bought) = order.split_at(built.min(order.len()));
        let mut vendors: Vec<Party> = (0..count).map(|_| self.vendor()).collect::<Option<_>>()?;
        let mut products = Vec::new();
        for ((role, name), vendor) in names.iter().zip(&vendors) {
            let list = stream.between(180, 420) * 100;
            let cost = list * stream.between(52, 72) / 100;
            products.push(AdjacentProduct {
                code: self.code(*role)?,
                name: name.clone(),
                list,
                cost,
                stock: stream.between(4, 15),
                vendor: vendor.reference.clone(),
                price: cost * stream.between(95, 108) / 100 / 10 * 10,
                lead: stream.between(3, 8),
                most: 24,
                bom: Vec::new(),
            });
        }
        for at in made {
            let mut parts = bought.to_vec();
            stream.shuffle(&mut parts);
            let lines = stream.between(1, 2) as usize;
            let line = |part: &usize| (products[*part].code.clone(), stream.between(1, 3));
            let bom = parts.iter().take(lines).map(line).collect();
            products[*at].bom = bom;
        }
        products.sort_by(|a, b| a.code.cmp(&b.code));
        let mut customers: Vec<Party> = (0..count).map(|_| self.customer()).collect::<Option<_>>()?;
        customers.sort_by(|a, b| a.reference.cmp(&b.reference));
        vendors.sort_by(|a, b| a.reference.cmp(&b.reference));
        Some(Adjacent { customers, vendors, products })
    }
}

/// Who makes each request, by the place of a customer: with regulars, some are made by one who has made another.
pub(super) fn regulars(dice: &Dice<'_>, ranges: &Ranges, requests: usize) -> Vec<usize> {
    let mut stream = dice.stream("regulars");
    let mut asking: Vec<usize> = Vec::new();
    for nth in 0..requests {
        // The second request is the first customer's, so that there is always a regular.
        let again =
            ranges.on(Switch::Regulars) && nth > 0 && (nth == 1 || stream.between(1, 10_000) <= ranges.regulars);
        let known = stream.pick(&asking).copied().filter(|_| again);
        asking.push(known.unwrap_or(nth));
    }
    asking
}

/// Who makes each quote, by the place of a supplier: with baskets, some are made by one who quotes other items too.
pub(super) fn baskets(dice: &Dice<'_>, ranges: &Ranges, products: &[usize]) -> Vec<usize> {
    let mut stream = dice.stream("baskets");
    let mut sellers: Vec<usize> = Vec::new();
    for (nth, product) in products.iter().enumerate() {
        let sells =
            |seller: usize| products.iter().zip(&sellers).filter(move |(_, of)| **of == seller).map(|(p, _)| *p);
        let may = |seller: &usize| sells(*seller).count() < MOST && sells(*seller).all(|known| known != *product);
        let open: Vec<usize> = (0..nth).filter(|seller| sellers[*seller] == *seller && may(seller)).collect();
        let again = ranges.on(Switch::Basket) && stream.between(1, 10_000) <= ranges.basket;
        sellers.push(stream.pick(&open).copied().filter(|_| again).unwrap_or(nth));
    }
    sellers
}

/// Items that one supplier sells at the most.
const MOST: usize = 4;

/// The closed days of a case: weekends, and some dates of the plan's time on which one would otherwise work.
pub(super) fn calendar(dice: &Dice<'_>, ranges: &Ranges, today: Date, last: i64) -> Calendar {
    let mut stream = dice.stream("holidays");
    let weekdays = vec![5, 6];
    let working = (1..last).filter_map(|day| today.add_days(day)).filter(|date| !weekdays.contains(&date.weekday()));
    let mut working: Vec<Date> = working.collect();
    stream.shuffle(&mut working);
    working.truncate(within(&mut stream, ranges.holidays).max(1) as usize);
    working.sort();
    Calendar { weekdays, dates: working.iter().map(Date::to_string).collect() }
}

fn kind(role: Role) -> (usize, char) {
    match role {
        Role::Finished => (0, 'F'),
        Role::Module => (1, 'M'),
        Role::Part => (2, 'P'),
    }
}
