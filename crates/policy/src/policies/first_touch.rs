//! First touch: what Linux does without tiering. A unit goes to fast memory while there is room
//! when it is born, and stays where it is.

use crate::{Class, Fixed, Needs, Policy, PolicyInfo};

pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "first-touch",
    summary: "fast while there is room at the first touch, then never moved",
    source: "Linux default; baseline of all papers",
    class: Class::Runnable,
    needs: Needs::NOTHING,
    options: &[],
    figures: &[],
    build: |_| Policy::Fixed(Fixed::Born),
};
