//! A load for a redis server, and a server of one's own for the demo.

pub(crate) mod address;
pub(crate) mod client;
pub(crate) mod load;
pub(crate) mod server;
