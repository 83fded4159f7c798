//! The binary as its users meet it: what it answers, with which exit code, and what it leaves.
//! Tests that record need root and a machine whose accessed bits can be read; elsewhere they say
//! `SKIPPED` and why.

mod arguments;
mod ends;
mod kills;
mod plan;
mod record;
mod run;
mod target;
