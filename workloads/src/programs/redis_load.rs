//! A load for a redis server that already runs on this machine.

use crate::{
    error::Result,
    redis::{
        address::Address,
        load::{Load, done},
    },
    registry::Program,
    session::Session,
};
use clap::Args;

/// Fills a running redis server with keys (overwriting its own) and loads it with a zipf mix
#[derive(Args, Clone, Debug)]
pub struct RedisLoad {
    /// The server: a loopback port, or the path of a unix socket
    #[arg(long, value_name = "ADDRESS", default_value = "6379")]
    pub server: Address,
    /// See [`Load`].
    #[command(flatten)]
    pub load: Load,
}

impl Program for RedisLoad {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.load.check()?;
        self.load.fill(session, &self.server)?;
        session.say(format_args!(
            "ready redis-load pid={} server={} keys={}",
            std::process::id(),
            self.server,
            self.load.keys
        ))?;
        let served = self.load.serve(session, &self.server)?;
        done("redis-load", session, &served)
    }
}
