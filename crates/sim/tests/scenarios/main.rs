//! Scenarios as files: what the documentation says of them, and what becomes of damaged ones.

mod damage;
mod documented;
mod pool;
