//! Fills a redis server with keys and loads it with a zipf mix of reads and writes.

use crate::{
    error::{Result, bad},
    redis::{
        address::Address,
        client::{Answer, Client},
    },
    session::Session,
    stop::Stop,
};
use clap::{Args, ValueEnum};
use pagetide_access::{
    generators::{Rng, Shuffle, Zipf, threshold},
    parameter::{TEN_YEARS, positive, share},
};
use std::{
    io::Write as _,
    thread,
    time::{Duration, Instant},
};

/// What the load consists of; each doc comment is the help text.
#[derive(Args, Clone, Debug)]
pub struct Load {
    /// Keys to fill the server with
    #[arg(long, value_name = "N", default_value_t = 400_000)]
    pub keys: u64,
    /// Bytes of each value
    #[arg(long, value_name = "BYTES", default_value_t = 1000)]
    pub value_size: u32,
    /// Seconds of load after the keys are filled in
    #[arg(long, value_name = "S", default_value_t = 45.0)]
    pub seconds: f64,
    /// Exponent of the zipf distribution of requests over keys. Most of Twitter's clusters of caches
    /// show 1 to 2.5 (Yang, Yue, Rashmi, OSDI 2020)
    #[arg(long, value_name = "X", default_value_t = 1.2)]
    pub exponent: f64,
    /// Which keys are popular
    #[arg(long, value_enum, default_value_t = Popular::Latest)]
    pub popular: Popular,
    /// Share of reads; the others are writes
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub reads: f64,
    /// How a write is made
    #[arg(long, value_enum, default_value_t = Writes::InPlace)]
    pub writes: Writes,
    /// Connections, each with a thread of its own
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub clients: u32,
    /// Requests that a connection sends before it waits for the answers
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub pipeline: u32,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Which keys are popular.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Popular {
    /// Those filled in last, as in feeds and sessions: hot keys lie near each other in memory.
    Latest,
    /// Chosen by the seed, all over the memory.
    Scattered,
}

/// How a write is made.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Over the old value, with SETRANGE: what is hot stays where it is.
    InPlace,
    /// With SET, which puts the new value where the allocator has room: hot values wander, and
    /// within a minute mix with cold ones.
    Replace,
}

/// What a load did.
#[derive(Debug, Default)]
pub(crate) struct Served {
    /// Requests answered.
    pub(crate) requests: u64,
    /// Reads that found no key.
    pub(crate) missing: u64,
    /// How long it took.
    pub(crate) seconds: f64,
}

impl Load {
    /// Refuses values that make no sense, naming the argument.
    pub(crate) fn check(&self) -> Result<()> {
        positive("seconds", self.seconds, TEN_YEARS)?;
        share("reads", self.reads)?;
        if !(0.0..=20.0).contains(&self.exponent) {
            return bad("exponent", &self.exponent, "give a number from 0 (uniform) to 20");
        }
        let limits: [(&'static str, u64, u64); 4] = [
            ("keys", self.keys, 1_000_000_000),
            ("value-size", self.value_size.into(), 512 << 20),
            ("clients", self.clients.into(), 1000),
            ("pipeline", self.pipeline.into(), 10_000),
        ];
        for (argument, value, most) in limits {
            if !(1..=most).contains(&value) {
                return bad(argument, &value, format!("give 1 to {most}"));
            }
        }
        Ok(())
    }

    /// Fills in all keys, oldest first, by one connection.
    pub(crate) fn fill(&self, session: &mut Session<'_>, server: &Address) -> Result<()> {
        let mut client = Client::connect(server)?;
        let value = vec![b'v'; self.value_size as usize];
        // Large values go in smaller batches, so that our own buffer stays small.
        let batch = ((256 << 10) / (u64::from(self.value_size) + 64)).clamp(1, 256);
        let mut key = Key::default();
        let mut next = 0;
        while next < self.keys && !session.stop.is_set() {
            let end = self.keys.min(next + batch);
            for number in next..end {
                client.queue(&[b"SET", key.of(number), &value]);
            }
            client.send()?;
            for _ in next..end {
                client.answer()?;
            }
            next = end;
        }
        Ok(())
    }

    /// Loads the server for the given time or until the session is asked to stop.
    pub(crate) fn serve(&self, session: &Session<'_>, server: &Address) -> Result<Served> {
        let zipf = Zipf::new(self.keys, self.exponent);
        let start = Instant::now();
        let until = start + Duration::from_secs_f64(self.seconds);
        let mut served = thread::scope(|scope| -> Result<Served> {
            let clients: Vec<_> = (0..self.clients)
                .map(|n| {
                    let (zipf, stop) = (&zipf, session.stop.clone());
                    scope.spawn(move || self.client(n, server, zipf, until, &stop))
                })
                .collect();
            let mut sum = Served::default();
            for client in clients {
                let one = match client.join() {
                    Ok(one) => one?,
                    Err(panic) => std::panic::resume_unwind(panic),
                };
                sum.requests += one.requests;
                sum.missing += one.missing;
            }
            Ok(sum)
        })?;
        served.seconds = start.elapsed().as_secs_f64();
        Ok(served)
    }

    fn client(
        &self,
        number: u32,
        server: &Address,
        zipf: &Zipf,
        until: Instant,
        stop: &Stop,
    ) -> Result<Served> {
        let mut client = Client::connect(server)?;
        let mut rng = Rng::new(self.seed, u64::from(number));
        let shuffle = Shuffle::new(self.keys, self.seed);
        let value = vec![b'w'; self.value_size as usize];
        let reads = threshold(self.reads);
        let mut key = Key::default();
        let mut served = Served::default();
        while Instant::now() < until && !stop.is_set() {
            for _ in 0..self.pipeline {
                let rank = zipf.rank(&mut rng) - 1;
                let chosen = match self.popular {
                    Popular::Latest => self.keys - 1 - rank,
                    Popular::Scattered => shuffle.at(rank),
                };
                if rng.word() < reads {
                    client.queue(&[b"GET", key.of(chosen)]);
                } else {
                    match self.writes {
                        Writes::InPlace => {
                            client.queue(&[b"SETRANGE", key.of(chosen), b"0", &value]);
                        }
                        Writes::Replace => client.queue(&[b"SET", key.of(chosen), &value]),
                    }
                }
            }
            client.send()?;
            for _ in 0..self.pipeline {
                if client.answer()? == Answer::Nil {
                    served.missing += 1;
                }
                served.requests += 1;
            }
        }
        Ok(served)
    }
}

/// A key's name, written into a buffer that is used again.
#[derive(Default)]
struct Key([u8; 16]);

impl Key {
    fn of(&mut self, number: u64) -> &[u8] {
        // Twelve digits fit: there are at most a billion keys.
        let _ = write!(&mut self.0[..], "key:{number:012}");
        &self.0
    }
}

/// The last line of a load.
pub(crate) fn done(name: &str, session: &mut Session<'_>, served: &Served) -> Result<()> {
    let rate = served.requests as f64 / served.seconds.max(1e-9);
    session.say(format_args!(
        "done {name} requests={} seconds={:.3} per_second={rate:.0} missing={}",
        served.requests, served.seconds, served.missing
    ))
}
