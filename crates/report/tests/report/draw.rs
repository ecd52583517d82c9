//! Draws of distributions over a stream.

use benchwright_base::Stream;

/// Draws of distributions over a stream.
pub(crate) struct Draw(pub(crate) Stream);

impl Draw {
    /// Between 0 and 1, neither reached.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.0.draw() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// The standard normal distribution, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
