//! The few functions of probability that tables of statistics are made of: the normal and Student's t distribution and
//! the tail of a binomial. Pure arithmetic, the same on every run.

use std::f64::consts::{PI, SQRT_2};

/// The natural logarithm of the gamma function, for `x > 0` (Lanczos, g = 7, about 15 digits).
pub fn ln_gamma(x: f64) -> f64 {
    const FIRST: f64 = 0.999_999_999_999_809_9;
    const REST: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = REST.iter().zip(1..).fold(FIRST, |sum, (part, at)| sum + part / (x + f64::from(at)));
    let t = x + 7.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// The regularised incomplete beta function, by its continued fraction.
pub fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on this side of the mean; the other side is its mirror.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by the modified method of Lentz.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut out = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        out *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        let turn = c * d;
        out *= turn;
        if (turn - 1.0).abs() < 1e-15 {
            break;
        }
    }
    out
}

/// The standard normal distribution function.
pub fn normal_cdf(z: f64) -> f64 {
    // erfc(x) is a tail of the gamma distribution; Student's t with endless degrees of freedom is too slow to reach it.
    0.5 * erfc(-z / SQRT_2)
}

/// The complementary error function: a series near 0, a continued fraction beyond.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.5 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while f64::abs(term) > 1e-17 * f64::abs(sum) {
            n += 1.0;
            term *= -x * x / n;
            sum += term / (2.0 * n + 1.0);
            if n > 200.0 {
                break;
            }
        }
        return 1.0 - 2.0 / PI.sqrt() * sum;
    }
    let mut tail = 0.0;
    for n in (1..=80).rev() {
        tail = f64::from(n) / 2.0 / (x + tail);
    }
    (-x * x).exp() / PI.sqrt() / (x + tail)
}

/// Student's t distribution function with `df` degrees of freedom.
pub fn t_cdf(t: f64, df: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(df / (df + t * t), df / 2.0, 0.5);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// The standard normal quantile of a probability in (0, 1).
pub fn normal_quantile(p: f64) -> f64 {
    if p < 0.5 {
        return -normal_quantile(1.0 - p);
    }
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    climb(p, 0.0, normal_cdf, density)
}

/// Student's t quantile of a probability in (0, 1).
pub fn t_quantile(p: f64, df: f64) -> f64 {
    if p < 0.5 {
        return -t_quantile(1.0 - p, df);
    }
    let scale = (ln_gamma((df + 1.0) / 2.0) - ln_gamma(df / 2.0)).exp() / (df * PI).sqrt();
    let density = |t: f64| scale * (1.0 + t * t / df).powf(-(df + 1.0) / 2.0);
    climb(p, normal_quantile(p), |t| t_cdf(t, df), density)
}

/// Newton's method from the left on a distribution function that bends down there: it never steps past the root.
fn climb(p: f64, start: f64, cdf: impl Fn(f64) -> f64, density: impl Fn(f64) -> f64) -> f64 {
    let mut at = start;
    for _ in 0..100 {
        let step = (p - cdf(at)) / density(at);
        at += step;
        if step.abs() < 1e-12 * (1.0 + at.abs()) {
            break;
        }
    }
    at
}

/// The probability of at most `k` successes in `n` trials that each succeed with probability `p`.
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n { 1.0 } else { incomplete_beta(1.0 - p, (n - k) as f64, k as f64 + 1.0) }
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
        near(normal_quantile(0.975), 1.959_963_985, 1e-8);
        near(normal_quantile(0.8), 0.841_621_234, 1e-8);
        near(normal_quantile(0.1), -1.281_551_566, 1e-8);
    }

    #[test]
    fn distribution_functions_are_those_of_the_printed_tables() {
        near(normal_cdf(1.0), 0.841_344_746, 1e-9);
        near(normal_cdf(-3.0), 0.001_349_898, 1e-9);
        near(normal_cdf(4.0), 0.999_968_329, 1e-9);
        near(t_cdf(2.0, 10.0), 0.963_306, 1e-6);
        near(t_cdf(0.0, 3.0), 0.5, 1e-12);
        // t with one degree of freedom is the Cauchy distribution.
        near(t_cdf(1.0, 1.0), 0.75, 1e-12);
    }

    #[test]
    fn gamma_and_binomial_are_exact_where_they_can_be_counted() {
        near(ln_gamma(5.0), 24f64.ln(), 1e-12);
        near(ln_gamma(0.5), PI.sqrt().ln(), 1e-12);
        // At most 2 of 10 fair coins: (1 + 10 + 45) / 1024.
        near(binomial_cdf(2, 10, 0.5), 56.0 / 1024.0, 1e-12);
        near(binomial_cdf(0, 3, 0.5), 0.125, 1e-12);
        near(binomial_cdf(3, 3, 0.5), 1.0, 1e-12);
    }
}
