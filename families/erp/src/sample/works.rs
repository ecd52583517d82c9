//! How things are built: recipes, work centres, who can build what, and for how many minutes.

use super::recipe::{Centres, Dice, Ranges, Recipe, Structure, Switch, leaning, share, within};
use benchwright_base::Stream;

/// Products, recipes and centres before they have names. Product 0 is the finished one; modules and parts follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Works {
    /// The number of modules.
    pub(super) modules: usize,
    /// The number of parts.
    pub(super) parts: usize,
    /// The number of finished products; those after the first stand behind the parts.
    pub(super) items: usize,
    /// Recipes: product, what it takes, units.
    pub(super) lines: Vec<(usize, usize, i64)>,
    /// Centres: dollars an hour, minutes.
    pub(super) centres: Vec<(i64, i64)>,
    /// Who can build what: product, centre, minutes per unit.
    pub(super) options: Vec<(usize, usize, i64)>,
    /// Days that a build of a finished product takes.
    pub(super) finished_days: i64,
    /// Days that a build of a module takes.
    pub(super) module_days: i64,
    /// The part that two modules take.
    pub(super) shared: Option<usize>,
    /// How many finished units the centres are sized for.
    pub(super) target: i64,
}

impl Works {
    /// The minutes per start day of each centre, where they are limited: a share of all its minutes that is enough for some
    /// units.
    pub(super) fn daily(&self, dice: &Dice<'_>, ranges: &Ranges) -> Vec<Option<i64>> {
        let mut stream = dice.stream("daily");
        let daily = |(centre, (_, minutes)): (usize, &(i64, i64))| {
            let part = share(*minutes, within(&mut stream, ranges.daily));
            let longest = self.options.iter().filter(|(_, at, _)| *at == centre).map(|(_, _, minutes)| *minutes).max();
            ranges.on(Switch::Daily).then(|| (part / 6 * 6).max(2 * longest.unwrap_or(60)))
        };
        self.centres.iter().enumerate().map(daily).collect()
    }

    /// The place of a finished product, by its number.
    pub(super) fn item(&self, number: usize) -> usize {
        if number == 0 { 0 } else { self.modules + self.parts + number }
    }

    /// The number of the finished product at a place, if one stands there.
    pub(super) fn item_at(&self, place: usize) -> Option<usize> {
        (0..self.items).find(|number| self.item(*number) == place)
    }

    /// How many products there are.
    pub(super) fn places(&self) -> usize {
        self.modules + self.parts + self.items
    }

    /// Days that a build of a product takes.
    pub(super) fn days(&self, product: usize) -> i64 {
        if self.item_at(product).is_some() { self.finished_days } else { self.module_days }
    }

    /// Days from the moment a part is there until the finished product is, at the least.
    pub(super) fn way(&self, part: usize) -> i64 {
        let parents = self.lines.iter().filter(|(_, child, _)| *child == part);
        parents.map(|(parent, _, _)| self.days(*parent) + self.way(*parent)).max().unwrap_or(0)
    }

    /// Units of a product in one unit of the first finished product.
    pub(super) fn per_unit(&self, product: usize) -> i64 {
        self.units_in(0, product)
    }

    /// Units of a product in one unit of another.
    fn units_in(&self, root: usize, product: usize) -> i64 {
        if product == root {
            return 1;
        }
        let parents = self.lines.iter().filter(|(_, child, _)| *child == product);
        parents.map(|(parent, _, units)| units * self.units_in(root, *parent)).sum()
    }

    /// Units of a product that so many units of each finished product take.
    pub(super) fn need(&self, product: usize, units: &[i64]) -> i64 {
        let items = units.iter().enumerate();
        items.map(|(number, units)| units * self.units_in(self.item(number), product)).sum()
    }
}

/// What the sizes follow from.
pub(super) struct Size<'a> {
    /// Units asked of each finished product.
    pub(super) units: &'a [i64],
    /// Units asked.
    pub(super) demand: i64,
    /// Units that stock cannot cover.
    pub(super) gap: i64,
    /// What a finished unit may cost, in cents.
    pub(super) cost: i64,
    /// Due days, ascending.
    pub(super) days: &'a [i64],
}

/// Draws how things are built.
pub(super) fn draw(dice: &Dice<'_>, recipe: &Recipe, ranges: &Ranges, size: &Size<'_>) -> Works {
    let mut works = shape(&mut dice.stream("recipe"), recipe.structure, ranges);
    works.items = size.units.len();
    if recipe.structure == Structure::None {
        return works;
    }
    let median = size.days.get(size.days.len() / 2).copied().unwrap_or(4);
    let base =
        if recipe.structure == Structure::Single && !recipe.factory_only() { (median / 2).clamp(2, 5) } else { 1 };
    (works.finished_days, works.module_days) = (ranges.build_days.unwrap_or((base + 1).max(2)), base.max(1));
    let several = if dice.draw.tier == "hard" { 3 } else { 2 };
    let builders = builders(recipe.structure, recipe.centres, several);
    let stream = &mut dice.stream("minutes");
    for (product, centres) in builders.iter().enumerate() {
        let first = 6 * stream.between(8, 30);
        let first = if product == 0 { first } else { (first - 6 * stream.between(2, 3)).max(30) };
        for (nth, centre) in centres.iter().enumerate() {
            let more = if nth == 0 { 0 } else { 6 * stream.between(2, 3) };
            works.options.push((product, *centre, first + more));
        }
    }
    let stream = &mut dice.stream("pools");
    let drawn = share(size.demand, leaning(stream, ranges.build_capacity, ranges.tightness)).max(1);
    works.target = if recipe.factory_only() { drawn.max(size.gap * stream.between(100, 112) / 100) } else { drawn };
    more_items(&mut dice.stream("items recipe"), &mut works);
    let hours = hourly(&mut dice.stream("hourly"), recipe.centres, &works, size.cost);
    let minutes = pools(stream, recipe, ranges, &works, size);
    works.centres = hours.into_iter().zip(minutes).collect();
    works
}

/// Finished products beside the first: each takes much the same as it, from the same centres.
fn more_items(stream: &mut Stream, works: &mut Works) {
    let (modules, first): (usize, Vec<_>) =
        (works.modules, works.lines.iter().filter(|(product, _, _)| *product == 0).copied().collect());
    let options: Vec<_> = works.options.iter().filter(|(product, _, _)| *product == 0).copied().collect();
    for number in 1..works.items {
        let place = works.item(number);
        // The first line stays, so that there is a recipe; others may fall.
        for (nth, (_, child, units)) in first.iter().enumerate() {
            let (kept, change) = (stream.chance(3, 4), stream.between(-1, 1));
            if nth == 0 || *child <= modules || kept {
                let units = if *child <= modules { *units } else { (units + change).max(1) };
                works.lines.push((place, *child, units));
            }
        }
        let faster = stream.between(0, 4);
        for (_, centre, minutes) in &options {
            works.options.push((place, *centre, (minutes - 6 * faster).max(30)));
        }
    }
}

/// Recipes of a structure.
fn shape(stream: &mut Stream, structure: Structure, ranges: &Ranges) -> Works {
    // Parent and child by place: 0 is the finished product, then modules, then parts.
    let (modules, parts, pairs): (usize, usize, Vec<(usize, usize)>) = match structure {
        Structure::None => (0, 0, vec![]),
        Structure::Single => {
            let parts = within(stream, ranges.parts) as usize;
            (0, parts, (1..=parts).map(|part| (0, part)).collect())
        }
        Structure::Restricted | Structure::TwoStage => (1, 4, vec![(0, 1), (0, 2), (0, 3), (1, 4), (1, 5)]),
        Structure::Parallel => (2, 5, vec![(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (2, 7)]),
        Structure::Serial => (2, 3, vec![(0, 1), (0, 3), (1, 2), (2, 4), (2, 5)]),
        Structure::Shared => (2, 3, vec![(0, 1), (0, 2), (1, 3), (1, 4), (2, 3), (2, 5)]),
    };
    let units = |stream: &mut Stream, child: usize| {
        let drawn = stream.weighted(&[30, 32, 20, 10, 5, 3]).unwrap_or(0) as i64 + 1;
        if child <= modules { 1 } else { drawn }
    };
    let lines = pairs.into_iter().map(|(parent, child)| (parent, child, units(stream, child))).collect();
    Works { modules, parts, lines, shared: (structure == Structure::Shared).then_some(3), ..Works::default() }
}

/// The centres that can build each made product, the usual one first.
fn builders(structure: Structure, centres: Centres, several: usize) -> Vec<Vec<usize>> {
    match (structure, centres) {
        (Structure::None, _) => vec![],
        (Structure::Single, Centres::One) => vec![vec![0]],
        (Structure::Single, _) => vec![(0..several).collect()],
        (Structure::Restricted, _) => vec![(0..several).collect(), vec![0]],
        (Structure::TwoStage, Centres::Qualified) => vec![vec![1, 2], vec![0]],
        (Structure::TwoStage, Centres::Overflow) => vec![vec![1, 2], vec![0, 2]],
        (Structure::TwoStage, _) => vec![vec![1], vec![0, 1]],
        (Structure::Serial, _) => vec![vec![2], vec![1], vec![0]],
        (Structure::Parallel | Structure::Shared, _) => vec![vec![0], vec![1], vec![2]],
    }
}

/// What an hour costs at each centre, in whole dollars.
fn hourly(stream: &mut Stream, centres: Centres, works: &Works, cost: i64) -> Vec<i64> {
    let steps = 1 + works.modules as i64;
    let unit = cost * stream.between(8, 20) / 100 / steps;
    let count = works.options.iter().map(|(_, centre, _)| centre + 1).max().unwrap_or(0);
    // In percent of the first centre's cost of a unit.
    let factors = match centres {
        Centres::Cheapest => [100, stream.between(128, 138), stream.between(165, 185)],
        Centres::One | Centres::Split => [100, stream.between(106, 118), stream.between(112, 130)],
        Centres::Qualified => [stream.between(120, 140), 100, stream.between(104, 115)],
        Centres::Overflow => [100, stream.between(90, 110), stream.between(125, 145)],
        Centres::Branch => [100, stream.between(85, 115), stream.between(85, 115)],
    };
    let minutes = |centre: usize| {
        let minutes = works.options.iter().filter(|(_, at, _)| *at == centre).map(|(_, _, minutes)| *minutes);
        minutes.max().unwrap_or(60)
    };
    // Cents per unit and minutes to whole dollars per hour, in a range that looks like wages and machines.
    let base = (unit * 60 / minutes(0) / 100).clamp(20, 240);
    let rate = |centre: usize| base * minutes(0) * factors.get(centre).unwrap_or(&100) / 100 / minutes(centre);
    (0..count).map(|centre| rate(centre).max(15)).collect()
}

/// Minutes of each centre.
fn pools(stream: &mut Stream, recipe: &Recipe, ranges: &Ranges, works: &Works, size: &Size<'_>) -> Vec<i64> {
    let minutes = |product: usize, centre: usize| {
        let found = works.options.iter().find(|(made, at, _)| *made == product && *at == centre);
        found.map_or(0, |(_, _, minutes)| *minutes)
    };
    let count = works.options.iter().map(|(_, centre, _)| centre + 1).max().unwrap_or(0);
    let target = works.target;
    // Units of each product that a centre is sized for, in ten-thousandths of the target or of the gap.
    let of = |units: i64, shares: &[(usize, usize, i64)]| {
        let mut pools = vec![0; count];
        for (product, centre, part) in shares {
            if let Some(pool) = pools.get_mut(*centre) {
                *pool += share(units, *part).max(1) * minutes(*product, *centre);
            }
        }
        pools
    };
    match (recipe.structure, recipe.centres) {
        (Structure::None, _) => vec![],
        (Structure::Single, Centres::Split) => {
            let split = ranges.pools.clone().unwrap_or_else(|| vec![5500, 6000, 3500]);
            let shares: Vec<_> = split.into_iter().enumerate().map(|(centre, part)| (0, centre, part)).collect();
            of(size.gap, &shares)
        }
        (Structure::Single, Centres::One) => of(target, &[(0, 0, 10_000)]),
        (Structure::Single, _) => {
            let mut next = || share(size.demand, leaning(stream, ranges.build_capacity, ranges.tightness)).max(1);
            (0..count).map(|centre| if centre == 0 { target } else { next() } * minutes(0, centre)).collect()
        }
        (Structure::Restricted, _) => of(size.gap, &[(1, 0, 10_000), (0, 0, 3000), (0, 1, 8000), (0, 2, 8000)]),
        (Structure::TwoStage, Centres::Qualified) => of(target, &[(1, 0, 10_500), (0, 1, 6000), (0, 2, 6000)]),
        (Structure::TwoStage, Centres::Overflow) => {
            of(target, &[(1, 0, 7000), (0, 1, 7000), (1, 2, 2500), (0, 2, 3500)])
        }
        (Structure::TwoStage, _) => of(target, &[(1, 0, 6000), (0, 1, 10_500), (1, 1, 4500)]),
        (Structure::Serial, _) => of(target, &[(2, 0, 10_500), (1, 1, 10_500), (0, 2, 10_000)]),
        (Structure::Parallel | Structure::Shared, _) => of(target, &[(0, 0, 10_000), (1, 1, 10_500), (2, 2, 10_500)]),
    }
}
