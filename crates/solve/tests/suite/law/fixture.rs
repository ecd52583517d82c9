//! The world that random rules speak of: two views of decisions, one of settled rows, facts of every shape, sets.
//!
//! Fields have one letter each. `p` and `k` of `r`, and `p` and `k` of `t`, are always fixed; every other field of a
//! candidate is fixed or free as the draw has it.

use benchwright_base::Stream;
use benchwright_schema::{
    Domain, Folder, load,
    plan::{Bindings, Bound, Plan, PlanText, ViewText},
};
use benchwright_spec::{Candidate, Candidates, Cell, Rows};
use std::collections::BTreeMap;

/// A domain with tables of these names, of which only the form matters: no row of it is ever read.
pub(crate) fn domain(name: &str, tables: &str) -> Domain {
    let about = format!("name = '{name}'\ntitle = 'A fixture'\nrole = 'clerk'\nabout = 'Rows that rules speak of.'");
    let files = [
        ("domain.toml", &*about),
        ("tables.toml", tables),
        ("tools.toml", ""),
        ("policy.toml", "[access]\nclerk = ['any on *']"),
    ];
    let folder = Folder::new(name, files.map(|(path, text)| (path.to_owned(), text.to_owned())));
    load(&folder).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// The domain of the fixture.
pub(crate) fn things() -> Domain {
    domain(
        "things",
        "[part]\nname = 'text unique'\n[thing]\npart = '-> part'\nnumber = 'int'\ncost = 'money'\nflag = 'bool'",
    )
}

/// The members of the one sort.
pub(crate) const PARTS: [&str; 3] = ["a", "b", "c"];

/// The plan without rules.
pub(crate) fn plan_text() -> PlanText {
    let named = |list: &[(&str, &str)]| list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let view = |fields: &[(&str, &str)]| ViewText {
        key: Vec::new(),
        from: "thing".to_owned(),
        only: None,
        within: Vec::new(),
        fields: named(fields),
    };
    let (part, int, money, flag) = ("part: part", "int: number", "money: cost", "bool: flag");
    let views = [
        ("r", view(&[("p", part), ("q", part), ("k", int), ("x", int), ("n", int), ("b", flag)])),
        ("s", view(&[("p", part), ("z", int), ("m", money)])),
        ("t", view(&[("p", part), ("k", int), ("w", int)])),
    ];
    PlanText {
        sorts: named(&[("part", "part")]),
        sets: named(&[("parts", "part"), ("some", "part"), ("numbers", "int"), ("costs", "money"), ("nobody", "part")]),
        facts: named(&[
            ("pa", "(): part"),
            ("pb", "(): part"),
            ("pc", "(): part"),
            ("size", "(part): int"),
            ("worth", "(part): money"),
            ("next", "(part): part"),
            ("flag", "(part): bool"),
            ("limit", "(): int"),
            ("purse", "(): money"),
            ("pair", "(part, part): int else -1"),
            ("at", "(int): int else 0"),
            ("owner", "(int): part else 2"),
            ("step", "(part, int): int else 1 steps"),
            ("price", "(part, int): money else 0 steps"),
            ("turn", "(int): int else -4 steps"),
        ]),
        lets: named(&[("load", "sum r() of n"), ("busy", "exists s(z > 0)"), ("most", "max v0 in r of v0.x else -2")]),
        views: views.into_iter().map(|(name, view)| (name.to_owned(), view)).collect(),
        ..PlanText::default()
    }
}

/// The facts and sets.
pub(crate) fn bindings() -> Bindings {
    let mut bindings = Bindings { anchor: "2026-03-02".to_owned(), ..Bindings::default() };
    bindings.members.insert("part".to_owned(), PARTS.map(str::to_owned).into());
    bindings.set("parts", PARTS);
    bindings.set("some", ["c", "a"]);
    bindings.set("nobody", []);
    bindings.numbers("numbers", [-2, 0, 3, 7]);
    bindings.numbers("costs", [150, -200]);
    for (name, member) in [("pa", "a"), ("pb", "b"), ("pc", "c")] {
        bindings.fact_key(name, &[], member);
    }
    for (part, size, worth, next, flag) in [("a", 2, 350, "b", 2), ("b", 0, -125, "c", 0), ("c", -3, 200, "a", 1)] {
        bindings.fact("size", &[part], size);
        bindings.fact("worth", &[part], worth);
        bindings.fact_key("next", &[part], next);
        bindings.fact("flag", &[part], flag);
    }
    bindings.fact("limit", &[], 4);
    bindings.fact("purse", &[], 325);
    for (one, other, value) in [("a", "b", 3), ("b", "b", -2), ("c", "a", 5), ("c", "c", 0)] {
        bindings.fact("pair", &[one, other], value);
    }
    for (at, value) in [(-3, 4), (-1, -2), (0, 1), (2, 6), (3, 6), (5, -5)] {
        bindings.fact("at", &[&at.to_string()], value);
    }
    for (at, part) in [(-2, "c"), (0, "a"), (1, "a"), (4, "c")] {
        bindings.fact_key("owner", &[&at.to_string()], part);
    }
    for (part, from, value) in [("a", 2, 7), ("a", 4, -3), ("b", -2, 2), ("b", 0, 0), ("b", 3, -6), ("b", 6, 2)] {
        bindings.fact("step", &[part, &from.to_string()], value);
    }
    for (part, from, value) in [("a", 1, 250), ("a", 3, 225), ("b", 2, 400), ("b", 5, -50), ("c", 0, 100)] {
        bindings.fact("price", &[part, &from.to_string()], value);
    }
    for (from, value) in [(-3, -1), (0, 3), (4, 0), (8, -7)] {
        bindings.fact("turn", &[&from.to_string()], value);
    }
    bindings
}

/// The bound facts and sets of a plan.
pub(crate) fn bound(plan: &Plan) -> Bound {
    Bound::new(plan, &bindings()).unwrap_or_else(|faults| panic!("{faults}"))
}

/// Random candidates of the three views.
pub(crate) fn candidates(plan: &Plan, stream: &mut Stream) -> Candidates {
    let rows = |view: &str, stream: &mut Stream| match view {
        "r" => stream.between(2, 4),
        "s" => stream.between(1, 3),
        _ => stream.between(1, 2),
    };
    let mut candidates = Vec::new();
    for view in &plan.views {
        let mut list = Vec::new();
        for _ in 0..rows(&view.name, stream) {
            let must = view.name == "t" || stream.chance(1, 5);
            let fields = view.fields.iter().map(|field| cell(&view.name, &field.name, stream)).collect();
            list.push(Candidate::single(must, fields));
        }
        candidates.push(list);
    }
    candidates
}

/// Puts some of the candidates into bundles, over all views.
pub(crate) fn bundle(candidates: &mut Candidates, stream: &mut Stream) {
    for candidate in candidates.iter_mut().flatten() {
        candidate.bundle = stream.chance(1, 2).then(|| stream.between(1, 3) as u32);
    }
}

fn cell(view: &str, field: &str, stream: &mut Stream) -> Cell {
    let (low, high, widest) = match field {
        "p" | "q" => (1, PARTS.len() as i64, 2),
        "k" => (-2, 5, 0),
        "b" => (0, 1, 1),
        "n" => (0, 5, 4),
        "m" => (-200, 400, 250),
        _ => (-5, 6, 7),
    };
    let fixed = matches!((view, field), (_, "k") | ("r" | "t", "p")) || stream.chance(1, 5);
    let from = stream.between(low, high - widest / 2);
    let to = stream.between(from + widest / 3, (from + widest).min(high));
    if fixed { Cell::Fixed(from) } else { Cell::Free(from, to) }
}

/// A point: for every candidate its fields, or nothing where it is not used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Point(pub(crate) Vec<Vec<Option<Vec<i64>>>>);

impl Point {
    /// A random point, with so many percent of the optional rows.
    pub(crate) fn random(candidates: &Candidates, percent: u64, stream: &mut Stream) -> Point {
        let must = candidates.iter().flatten().filter(|candidate| candidate.must);
        let mut bundles: BTreeMap<u32, bool> = must.filter_map(|it| Some((it.bundle?, true))).collect();
        let mut row = |candidate: &Candidate, stream: &mut Stream| {
            let drawn_use = candidate.must || stream.chance(percent, 100);
            let used = candidate.bundle.map_or(drawn_use, |bundle| *bundles.entry(bundle).or_insert(drawn_use));
            used.then(|| drawn(candidate, stream))
        };
        let mut view = |view: &Vec<Candidate>, stream: &mut Stream| view.iter().map(|it| row(it, stream)).collect();
        Point(candidates.iter().map(|list| view(list, stream)).collect())
    }

    /// The same point with one row of a bundle taken out that has others, or put in alone; none if there is no such bundle.
    pub(crate) fn torn(&self, candidates: &Candidates, stream: &mut Stream) -> Option<Point> {
        let places = |bundle: Option<u32>| -> Vec<(usize, usize)> {
            let all = candidates.iter().enumerate();
            let of = all.flat_map(|(view, list)| list.iter().enumerate().map(move |(at, it)| (view, at, it)));
            of.filter(|(_, _, it)| it.bundle.is_some() && (bundle.is_none() || it.bundle == bundle))
                .map(|(view, at, _)| (view, at))
                .collect()
        };
        let of = |(view, at): (usize, usize)| &candidates[view][at];
        let torn: Vec<(usize, usize)> =
            places(None).into_iter().filter(|at| !of(*at).must && places(of(*at).bundle).len() > 1).collect();
        let &(view, at) = stream.pick(&torn)?;
        let mut point = self.clone();
        let row = &mut point.0[view][at];
        *row = if row.is_some() { None } else { Some(drawn(&candidates[view][at], stream)) };
        Some(point)
    }

    /// The point of rows that stand among the candidates.
    pub(crate) fn of(candidates: &Candidates, rows: &Rows) -> Option<Point> {
        let mut point = Point(candidates.iter().map(|view| vec![None; view.len()]).collect());
        for (view, rows) in rows.0.iter().enumerate() {
            for row in rows {
                let fits = |candidate: &Candidate| {
                    candidate.fields.iter().zip(row).all(|(cell, value)| match cell {
                        Cell::Fixed(fixed) => fixed == value,
                        Cell::Free(low, high) => (low..=high).contains(&value),
                    })
                };
                let mut places = (0..candidates[view].len()).filter(|at| point.0[view][*at].is_none());
                let place = places.find(|at| fits(&candidates[view][*at]))?;
                point.0[view][place] = Some(row.clone());
            }
        }
        Some(point)
    }

    /// The same point with some rows dropped, added or changed.
    pub(crate) fn mutated(&self, candidates: &Candidates, changes: u64, stream: &mut Stream) -> Point {
        let mut point = self.clone();
        let places: Vec<(usize, usize)> =
            candidates.iter().enumerate().flat_map(|(view, list)| (0..list.len()).map(move |at| (view, at))).collect();
        for _ in 0..changes {
            let Some(&(view, at)) = stream.pick(&places) else { break };
            let candidate = &candidates[view][at];
            let row = &mut point.0[view][at];
            match row {
                None => *row = Some(drawn(candidate, stream)),
                Some(_) if !candidate.must && stream.chance(1, 6) => *row = None,
                Some(values) => {
                    let free = |(at, cell): (usize, &Cell)| match cell {
                        Cell::Free(low, high) => Some((at, *low, *high)),
                        Cell::Fixed(_) => None,
                    };
                    let free: Vec<(usize, i64, i64)> = candidate.fields.iter().enumerate().filter_map(free).collect();
                    let Some(&(field, low, high)) = stream.pick(&free) else { continue };
                    values[field] = match stream.chance(1, 2) {
                        true => (values[field] + stream.between(-2, 2)).clamp(low, high),
                        false => stream.between(low, high),
                    };
                }
            }
        }
        point
    }

    /// The rows it stands for.
    pub(crate) fn rows(&self) -> Rows {
        Rows(self.0.iter().map(|view| view.iter().flatten().cloned().collect()).collect())
    }
}

fn drawn(candidate: &Candidate, stream: &mut Stream) -> Vec<i64> {
    let value = |cell: &Cell, stream: &mut Stream| match *cell {
        Cell::Fixed(value) => value,
        Cell::Free(low, high) => stream.between(low, high),
    };
    candidate.fields.iter().map(|cell| value(cell, stream)).collect()
}

/// How often each construct occurred.
pub(crate) type Counts = BTreeMap<&'static str, usize>;
