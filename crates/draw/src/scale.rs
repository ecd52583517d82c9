//! Scales: where on an axis a value lies, and which round values are written along it.

/// What a scale shows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scale {
    /// Shares from 0 to 1, in percent.
    Percent,
    /// Shares from 0 to a largest one, in percent.
    PercentTo(f64),
    /// Correlations from -1 to 1.
    Correlation,
    /// Amounts from 0 to a largest one.
    Amount(f64),
}

impl Scale {
    /// The ends.
    pub(crate) fn ends(self) -> (f64, f64) {
        match self {
            Scale::Percent => (0.0, 1.0),
            Scale::Correlation => (-1.0, 1.0),
            Scale::PercentTo(most) | Scale::Amount(most) => (0.0, if most > 0.0 { most } else { 1.0 }),
        }
    }

    /// The places with a line, and what is written there.
    pub(crate) fn ticks(self) -> Vec<(f64, String)> {
        match self {
            Scale::Percent => vec![(0.0, "0".into()), (0.5, "50".into()), (1.0, "100 %".into())],
            Scale::Correlation => vec![(-1.0, "−1".into()), (0.0, "0".into()), (1.0, "1".into())],
            Scale::PercentTo(_) => {
                let most = self.ends().1;
                vec![(0.0, "0".into()), (most, format!("{:.0} %", most * 100.0))]
            }
            Scale::Amount(_) => {
                let most = self.ends().1;
                let step = nice(most / 4.0);
                let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
                (0..=(most / step + 1e-9) as usize)
                    .map(|n| (n as f64 * step, format!("{:.decimals$}", n as f64 * step)))
                    .collect()
            }
        }
    }

    /// The same where there is room for more: shares by quarters.
    pub(crate) fn fine_ticks(self) -> Vec<(f64, String)> {
        match self {
            Scale::Percent => (0..=4).map(|n| (f64::from(n) / 4.0, format!("{} %", 25 * n))).collect(),
            other => other.ticks(),
        }
    }

    /// An amount up to the next tick, so that nothing stands above the last one.
    pub(crate) fn whole(self) -> Scale {
        match self {
            Scale::Amount(most) if most > 0.0 => {
                let step = nice(most / 4.0);
                Scale::Amount((most / step - 1e-9).ceil() * step)
            }
            other => other,
        }
    }

    /// Where a value lies between two places.
    pub(crate) fn place(self, value: f64, from: f64, to: f64) -> f64 {
        let (low, high) = self.ends();
        from + (value.clamp(low, high) - low) / (high - low) * (to - from)
    }

    /// Room at the right of a panel for the number of a row.
    pub(crate) fn gutter(self) -> f64 {
        if self == Scale::Correlation { 42.0 } else { 32.0 }
    }

    /// A value as it is written beside its mark.
    pub(crate) fn write(self, value: f64) -> String {
        match self {
            Scale::Percent | Scale::PercentTo(_) => format!("{:.0}", value * 100.0),
            Scale::Correlation => format!("{value:+.2}").replace('-', "−"),
            Scale::Amount(_) => format!("{value:.2}"),
        }
    }
}

/// The next of 1, 2 or 5 times a power of ten.
fn nice(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= value * 0.999).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        let names = |most| Scale::Amount(most).ticks().into_iter().map(|tick| tick.1).collect::<Vec<_>>();
        assert_eq!(names(0.23), ["0.0", "0.1", "0.2"]);
        assert_eq!(names(41.0), ["0", "20", "40"]);
        assert_eq!(names(0.0), ["0.0", "0.5", "1.0"]);
        assert_eq!(Scale::Amount(41.0).whole(), Scale::Amount(60.0));
        assert_eq!(Scale::Amount(40.0).whole(), Scale::Amount(40.0));
    }

    #[test]
    fn a_value_stands_where_it_belongs_and_never_outside() {
        assert_eq!(Scale::Percent.place(0.25, 100.0, 200.0), 125.0);
        assert_eq!(Scale::Correlation.place(0.0, 100.0, 200.0), 150.0);
        assert_eq!(Scale::Percent.place(7.0, 100.0, 200.0), 200.0);
    }
}
