//! The list of all workloads, from which the command line and its help come. A new workload is a
//! file in `programs/` (and its `mod` line there) and one line here.

use crate::{error::Result, programs, session::Session, stop::Stop};
use clap::Subcommand;
use std::{io, process::ExitCode};

/// What a workload's arguments can do: run.
pub(crate) trait Program {
    /// Runs to the end, or until the session is asked to stop.
    fn run(&self, session: &mut Session<'_>) -> Result<()>;
}

macro_rules! workloads {
    ($($file:ident::$name:ident),* $(,)?) => {
        /// Programs with known access patterns.
        #[derive(Subcommand, Clone, Debug)]
        #[expect(missing_docs, reason = "each one's help is the comment on its arguments")]
        pub enum Workload {
            $($name(programs::$file::$name),)*
        }

        impl Workload {
            pub(crate) fn program(&self) -> &dyn Program {
                match self {
                    $(Self::$name(program) => program,)*
                }
            }
        }
    };
}

workloads! {
    strided::Strided,
    hot_cold::HotCold,
    uniform::Uniform,
    zipf::Zipf,
    phases::Phases,
    newest::Newest,
    amp::Amp,
    gups::Gups,
    pointer_chase::PointerChase,
    graph::Graph,
    spin::Spin,
    redis_load::RedisLoad,
    demo_redis::DemoRedis,
}

/// Runs a workload: prints `ready ...` when its memory is populated and `done ...` at the end.
///
/// SIGTERM and SIGINT end it early and cleanly, the truth written; that is a success, too.
pub fn run(workload: &Workload) -> Result<ExitCode> {
    let stop = Stop::on_signals()?;
    let mut out = io::stdout();
    workload.program().run(&mut Session { out: &mut out, stop })?;
    Ok(ExitCode::SUCCESS)
}
