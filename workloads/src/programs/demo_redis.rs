//! The demo's program: a real server under a real load with hot and cold data, in one process
//! tree, so that one recording holds both. About a minute and 1.3 GiB by default.

use crate::{
    error::Result,
    redis::{
        load::{Load, done},
        server::Server,
    },
    registry::Program,
    session::Session,
};
use clap::Args;

/// Starts a private redis-server, fills it, loads it with a zipf mix, and ends it again
#[derive(Args, Clone, Debug)]
pub struct DemoRedis {
    /// See [`Load`].
    #[command(flatten)]
    pub load: Load,
}

impl Program for DemoRedis {
    fn run(&self, session: &mut Session<'_>) -> Result<()> {
        self.load.check()?;
        let server = Server::start(&session.stop)?;
        let address = server.address();
        if session.stop.is_set() {
            return Ok(());
        }
        self.load.fill(session, &address)?;
        session.say(format_args!(
            "ready demo-redis pid={} server_pid={} keys={}",
            std::process::id(),
            server.pid(),
            self.load.keys
        ))?;
        let served = self.load.serve(session, &address)?;
        done("demo-redis", session, &served)
    }
}
