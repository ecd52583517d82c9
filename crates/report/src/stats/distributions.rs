//! The three distribution functions that intervals and tests are made of. They answer NaN outside their range, which no
//! comparison takes for a finding.

use statrs::distribution::{Binomial, ContinuousCDF as _, DiscreteCDF as _, Normal, StudentsT};

/// Beyond so many degrees of freedom the library's inverse of Student's t loses digits: it answers 1.83 instead of 1.96 at ten
/// million.
const MANY: f64 = 20_000.0;

/// Student's t distribution function with `df` degrees of freedom.
pub(super) fn t_cdf(t: f64, df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |student| student.cdf(t))
}

/// Student's t quantile of a probability in (0, 1).
pub(super) fn t_quantile(p: f64, df: f64) -> f64 {
    if df > MANY {
        // The first term of the expansion around the normal quantile; the next is below 1e-8 here.
        let z = Normal::standard().inverse_cdf(p);
        return z + (z.powi(3) + z) / (4.0 * df);
    }
    StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |student| student.inverse_cdf(p))
}

/// The probability of at most `k` successes in `n` trials that each succeed with probability `p`.
pub(super) fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    Binomial::new(p, n).map_or(f64::NAN, |binomial| binomial.cdf(k))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, tabulated: f64, by: f64) {
        assert!((found - tabulated).abs() < by, "{found} is not {tabulated}");
    }

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        for (df, t) in [(1, 12.7062), (2, 4.3027), (5, 2.5706), (7, 2.3646), (14, 2.1448), (28, 2.0484), (120, 1.9799)]
        {
            near(t_quantile(0.975, f64::from(df)), t, 6e-5);
        }
        near(t_quantile(0.95, 10.0), 1.8125, 6e-5);
        near(t_quantile(0.025, 5.0), -2.5706, 6e-5);
        // Endless degrees of freedom are a normal distribution, and there is no step on the way to it.
        near(t_quantile(0.975, 1e7), 1.959_964_2, 1e-7);
        near(t_quantile(0.975, MANY + 1.0), t_quantile(0.975, MANY), 3e-8);
    }

    #[test]
    fn distribution_functions_are_those_of_the_printed_tables() {
        near(t_cdf(2.0, 10.0), 0.963_306, 1e-6);
        near(t_cdf(0.0, 3.0), 0.5, 1e-12);
        // t with one degree of freedom is the Cauchy distribution.
        near(t_cdf(1.0, 1.0), 0.75, 1e-12);
        // At most 2 of 10 fair coins: (1 + 10 + 45) / 1024.
        near(binomial_cdf(2, 10, 0.5), 56.0 / 1024.0, 1e-12);
        near(binomial_cdf(0, 3, 0.5), 0.125, 1e-12);
        near(binomial_cdf(3, 3, 0.5), 1.0, 1e-12);
    }

    #[test]
    fn what_is_no_distribution_is_no_finding() {
        assert!(t_quantile(0.975, 0.0).is_nan() && t_cdf(1.0, f64::NAN).is_nan() && binomial_cdf(1, 2, 1.5).is_nan());
    }
}
