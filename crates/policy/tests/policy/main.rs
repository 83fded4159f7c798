//! Policies and governors from the outside, in one test program: each by examples computed by hand,
//! and all of the registry by what every policy must be and do.

mod adaptive;
mod amp;
mod dice;
mod foresight;
mod gain;
mod governed;
mod heats;
mod memtis;
mod moves_bring;
mod orders;
mod policies;
mod posterior;
mod rate;
mod registry;
mod shadow;
mod stopped;
mod three_phases;
mod two_lists;
