//! The specification of a recording, one file per question.

#[cfg(test)]
mod by_process;
#[cfg(test)]
mod common;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod diff;
#[cfg(test)]
mod export;
#[cfg(test)]
mod foreign;
#[cfg(test)]
mod hostile;
mod info;
#[cfg(test)]
mod owner;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod window;
#[cfg(test)]
mod writer;
