//! What watching a target may bring.

/// Seconds a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MayBring {
    /// What the best placement is sure to bring beyond the present one.
    pub more_s: f64,
    /// What the present one brings over any: so much is lost while the target has become another one and nobody has seen it.
    pub at_stake_s: f64,
}
