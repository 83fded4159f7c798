//! The binary as its users meet it: what it answers, with which exit code, and what it leaves.
//! Tests that record need root and a machine whose accessed bits can be read; elsewhere they say
//! `SKIPPED` and why.

mod arguments;
mod blind;
mod cgroup;
mod curve;
mod curve_damage;
mod damage;
mod disk;
mod ends;
mod exact;
mod hostile;
mod identity;
mod json;
mod kills;
mod live;
mod monitor;
mod owner;
mod pages;
mod plan;
mod pool;
mod progress;
mod record;
mod reproduce;
mod run;
mod shell;
mod shift;
mod sim;
mod sweep;
mod systemd;
mod target;
mod truths;
mod uncleared;
