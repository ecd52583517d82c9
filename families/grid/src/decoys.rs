//! Decoys: they meet their slot's conditions and break a requirement, whatever was chosen before them.
//!
//! The hard guarantee of a decoy holds over every combination of truth and decoys in the slots before it, with truth after
//! it. Combinations are not listed: it is enough to know the least and the most that the slots before can change each
//! total by, and to ask that one requirement is broken even then. As every choice other than the truth has a last decoy, no
//! such choice meets everything.
//!
//! A decoy should also look right while later slots are empty. As in the paper there are three levels of that: over all
//! combinations before it; over those that are true up to some slot and decoys from there on; with the truth before it. Each
//! is tried for a number of draws, then none is asked for; the last slot with decoys asks for none from the start.

use super::{board::Op, search::Gauge, setting::Setting, sketch::Sketch, words::Measure};
use benchwright_base::Stream;
use benchwright_project::Discard;

/// Draws at each level.
const DRAWS: usize = 25;
/// The levels of open prefixes, and none.
const LEVELS: usize = 4;

/// What the slots before change each total by.
struct Before {
    /// Over all combinations: the least and the most.
    span: Vec<(i64, i64)>,
    /// The most over truth up to some slot and decoys from there on.
    suffix: Vec<i64>,
}

/// The decoys of every open slot.
pub(super) fn draw(sketch: &Sketch<'_>, setting: &Setting, stream: &mut Stream) -> Result<Vec<Vec<Vec<i64>>>, Discard> {
    let slots = sketch.open.len();
    let mut found: Vec<Vec<Vec<i64>>> = vec![Vec::new(); slots];
    let shares = shares(setting, slots, stream);
    let Some(last) = shares.iter().rposition(|share| *share > 0) else { return Ok(found) };
    let unseen = match setting.unseen {
        Some((decoys, further)) => Some((unseen(&shares, decoys, further, stream)?, further)),
        None => None,
    };
    let width = sketch.gauges.len();
    let mut before = Before { span: vec![(0, 0); width], suffix: vec![0; width] };
    // What stands in the grid and in the open slots before this one, if all of it is true.
    let mut prefix: Vec<i64> = sketch.totals.clone();
    for slot in 0..slots {
        let (row, values) = (sketch.row(slot), sketch.true_values(slot));
        for (total, gauge) in prefix.iter_mut().zip(&sketch.gauges) {
            *total -= gauge.weight(row, values);
        }
    }
    for slot in 0..slots {
        let (row, truth) = (sketch.row(slot), sketch.true_values(slot));
        let maker = Maker { sketch, slot, row, before: &before, prefix: &prefix, last: slot == last };
        for nth in 0..shares[slot] {
            let wanted = unseen.as_ref().map(|(flags, further)| (flags[slot][nth], *further));
            let decoy = maker.decoy(wanted, &found[slot], stream);
            found[slot].push(decoy.ok_or_else(|| Discard::Because("no-decoy".to_owned()))?);
        }
        for (at, gauge) in sketch.gauges.iter().enumerate() {
            let own = gauge.weight(row, truth);
            prefix[at] += own;
            let changes = || found[slot].iter().map(|decoy| gauge.weight(row, decoy) - own);
            let Some(most) = changes().max() else { continue };
            let least = changes().min().unwrap_or(most);
            before.span[at].0 += least.min(0);
            before.span[at].1 += most.max(0);
            before.suffix[at] = (before.suffix[at] + most).max(0);
        }
    }
    Ok(found)
}

/// How many decoys each slot gets.
fn shares(setting: &Setting, slots: usize, stream: &mut Stream) -> Vec<usize> {
    let most = setting.candidates - 5;
    let mut shares = vec![0; slots];
    if setting.decoys == 0 {
        return shares;
    }
    let fewest = setting.decoys.div_ceil(most);
    let chosen = stream.between(fewest as i64, slots.min(setting.decoys) as i64) as usize;
    let mut order: Vec<usize> = (0..slots).collect();
    stream.shuffle(&mut order);
    order.truncate(chosen);
    order.iter().for_each(|slot| shares[*slot] = 1);
    for _ in chosen..setting.decoys {
        let open: Vec<usize> = order.iter().copied().filter(|slot| shares[*slot] < most).collect();
        if let Some(slot) = stream.pick(&open) {
            shares[*slot] += 1;
        }
    }
    shares
}

/// Which decoys of each slot are to stay unseen when so many further slots are filled.
fn unseen(shares: &[usize], decoys: usize, further: usize, stream: &mut Stream) -> Result<Vec<Vec<bool>>, Discard> {
    let mut flags: Vec<Vec<bool>> = shares.iter().map(|share| vec![false; *share]).collect();
    let places = shares.iter().enumerate().flat_map(|(slot, share)| (0..*share).map(move |nth| (slot, nth)));
    let mut places: Vec<(usize, usize)> = places.filter(|(slot, _)| slot + further < shares.len()).collect();
    if places.len() < decoys {
        return Err(Discard::Because("no-room-for-unseen".to_owned()));
    }
    stream.shuffle(&mut places);
    places.iter().take(decoys).for_each(|(slot, nth)| flags[*slot][*nth] = true);
    Ok(flags)
}

/// Makes decoys of one slot.
struct Maker<'s> {
    sketch: &'s Sketch<'s>,
    slot: usize,
    row: usize,
    before: &'s Before,
    prefix: &'s [i64],
    last: bool,
}

impl Maker<'_> {
    /// A decoy; `wanted` says whether it is to be unseen after so many further slots.
    fn decoy(&self, wanted: Option<(bool, usize)>, others: &[Vec<i64>], stream: &mut Stream) -> Option<Vec<i64>> {
        let draws = if wanted.is_some() { DRAWS * 20 } else { DRAWS };
        for level in 0..LEVELS {
            for _ in 0..draws {
                let Some(target) = stream.pick(&self.sketch.gauges) else { continue };
                let Some(values) = self.aimed(target, stream) else { continue };
                let right = self.sketch.fits(self.slot, &values)
                    && !others.contains(&values)
                    && self.is_caught(&values)
                    && (self.last || self.looks_right(level, &values))
                    && wanted.is_none_or(|(unseen, further)| self.is_unseen(further, &values) == unseen);
                if right {
                    return Some(values);
                }
            }
        }
        None
    }

    /// What a choice changes a total by.
    fn change(&self, gauge: &Gauge, values: &[i64]) -> i64 {
        gauge.weight(self.row, values) - gauge.weight(self.row, self.sketch.true_values(self.slot))
    }

    /// Whether one requirement is broken over all that can stand before, with the truth after.
    fn is_caught(&self, values: &[i64]) -> bool {
        self.sketch.gauges.iter().zip(&self.sketch.totals).zip(&self.before.span).any(|((gauge, total), span)| {
            let best = if gauge.is_upper() { span.0 } else { span.1 };
            !gauge.holds(total + best + self.change(gauge, values))
        })
    }

    /// Whether no upper bound is exceeded while later slots are empty.
    fn looks_right(&self, level: usize, values: &[i64]) -> bool {
        let gauges = self.sketch.gauges.iter().zip(self.prefix).enumerate();
        gauges.filter(|(_, (gauge, _))| gauge.is_upper()).all(|(at, (gauge, prefix))| {
            let before = match level {
                0 => self.before.span[at].1,
                1 => self.before.suffix[at],
                2 => 0,
                _ => return true,
            };
            gauge.holds(prefix + before + gauge.weight(self.row, values))
        })
    }

    /// Whether no upper bound is exceeded when so many further slots are filled rightly; false where there are not so many.
    fn is_unseen(&self, further: usize, values: &[i64]) -> bool {
        let sketch = self.sketch;
        let next = self.slot + 1..self.slot + 1 + further;
        next.end <= sketch.open.len()
            && sketch.gauges.iter().zip(self.prefix).filter(|(gauge, _)| gauge.is_upper()).all(|(gauge, prefix)| {
                let filled: i64 =
                    next.clone().map(|slot| gauge.weight(sketch.row(slot), sketch.true_values(slot))).sum();
                gauge.holds(prefix + gauge.weight(self.row, values) + filled)
            })
    }

    /// Attributes near the truth that go too far for one requirement.
    fn aimed(&self, target: &Gauge, stream: &mut Stream) -> Option<Vec<i64>> {
        let sketch = self.sketch;
        let truth = sketch.true_values(self.slot);
        let mut values = Vec::with_capacity(truth.len());
        for (field, own) in truth.iter().enumerate() {
            let on_it = || sketch.gauges.iter().zip(&sketch.totals).filter(|(gauge, _)| gauge.field == field);
            let (low, high) = sketch.admitted(self.slot, field);
            let bounded = on_it().next().is_some();
            let value = if sketch.words.label_at(field).is_some() {
                let settled = sketch.asked(self.slot).any(|c| c.field == field && c.op == Op::Is);
                if bounded || settled { *own } else { stream.between(low, high) }
            } else if bounded {
                // As far as the looser side of the bounds lets it, and never the other way.
                let room = on_it().filter(|(gauge, _)| self.counts(gauge)).map(|(gauge, total)| match gauge.measure {
                    Measure::ManyAtMost if *own < gauge.least => gauge.least - 1 - own,
                    Measure::ManyAtMost => high - own,
                    _ => (gauge.bound - total).abs(),
                });
                let room = room.min().unwrap_or(0).max(0);
                let falls = on_it().any(|(gauge, _)| !gauge.is_upper());
                if falls {
                    stream.between((own - room).max(low), *own)
                } else {
                    stream.between(*own, (own + room).min(high))
                }
            } else {
                stream.between(low, high)
            };
            values.push(value);
        }
        let at = sketch.gauges.iter().position(|gauge| std::ptr::eq(gauge, target))?;
        let (total, span) = (sketch.totals[at], self.before.span[at]);
        let (low, high) = sketch.admitted(self.slot, target.field);
        let own = truth[target.field];
        let width = sketch.words.range(target.field);
        let reach = ((width.1 - width.0) / 4).max(1);
        let value = match target.measure {
            Measure::TotalAtMost | Measure::RowAtMost => {
                if !self.counts(target) {
                    return None;
                }
                let need = (own + target.bound - total - span.0 + 1).max(low);
                (need <= high).then(|| stream.between(need, high.min(need + reach)))?
            }
            Measure::TotalAtLeast => {
                let need = (own + target.bound - total - span.1 - 1).min(high);
                (need >= low).then(|| stream.between(low.max(need - reach), need))?
            }
            Measure::WordAtMost => target.at as i64,
            Measure::ManyAtMost => {
                let need = target.least.max(low);
                (need <= high).then(|| stream.between(need, high))?
            }
        };
        values[target.field] = value;
        Some(values)
    }

    /// Whether a requirement concerns this slot at all.
    fn counts(&self, gauge: &Gauge) -> bool {
        gauge.measure != Measure::RowAtMost || gauge.at == self.row
    }
}
