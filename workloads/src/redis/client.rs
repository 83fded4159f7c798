//! A connection to a redis server that sends many commands at once and counts the answers.
//!
//! About 100 lines of RESP (redis.io, "Redis serialization protocol", version 2) instead of the
//! `redis` crate: that brings about 60 further crates (url, idna, icu) into a binary that needs
//! three commands, and allocates a value per answer, which would make the load's own memory and
//! time show in the recording.

use crate::{
    error::{Result, WorkloadError},
    redis::address::Address,
};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    time::Duration,
};

/// A server that says nothing for this long hangs.
const PATIENCE: Duration = Duration::from_secs(20);

trait Stream: Read + Write + Send {}
impl Stream for TcpStream {}
impl Stream for UnixStream {}

/// One connection.
pub(crate) struct Client {
    stream: BufReader<Box<dyn Stream>>,
    address: String,
    /// Commands not yet sent.
    out: Vec<u8>,
    line: Vec<u8>,
}

/// What a server answered to one command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// `OK`, or another word.
    Word,
    /// A value of so many bytes.
    Value(u64),
    /// No such key.
    Nil,
    /// A number.
    Number(i64),
}

impl Client {
    /// Connects; the message of a failure says what to do.
    pub(crate) fn connect(address: &Address) -> Result<Self> {
        let connected: io::Result<Box<dyn Stream>> = match address {
            Address::Tcp(address) => TcpStream::connect_timeout(address, PATIENCE).and_then(|s| {
                s.set_nodelay(true)?;
                s.set_read_timeout(Some(PATIENCE))?;
                Ok(Box::new(s) as Box<dyn Stream>)
            }),
            Address::Unix(path) => UnixStream::connect(path).and_then(|s| {
                s.set_read_timeout(Some(PATIENCE))?;
                Ok(Box::new(s) as Box<dyn Stream>)
            }),
        };
        let address = address.to_string();
        match connected {
            Ok(stream) => Ok(Self {
                stream: BufReader::with_capacity(64 << 10, stream),
                address,
                out: Vec::with_capacity(64 << 10),
                line: vec![],
            }),
            Err(error) => Err(WorkloadError::Redis {
                address,
                reason: format!("{error}; is redis-server running there?"),
            }),
        }
    }

    fn error(&self, reason: impl Into<String>) -> WorkloadError {
        WorkloadError::Redis { address: self.address.clone(), reason: reason.into() }
    }

    /// Adds a command to those to be sent.
    pub(crate) fn queue(&mut self, words: &[&[u8]]) {
        // Writing to a vector does not fail.
        let _ = write!(self.out, "*{}\r\n", words.len());
        for word in words {
            let _ = write!(self.out, "${}\r\n", word.len());
            self.out.extend_from_slice(word);
            self.out.extend_from_slice(b"\r\n");
        }
    }

    /// Sends what was queued.
    pub(crate) fn send(&mut self) -> Result<()> {
        let sent = self.stream.get_mut().write_all(&self.out);
        self.out.clear();
        sent.map_err(|e| self.error(e.to_string()))
    }

    /// Reads the answer to one command.
    pub(crate) fn answer(&mut self) -> Result<Answer> {
        self.line.clear();
        let read = self.stream.by_ref().take(4096).read_until(b'\n', &mut self.line);
        match read {
            Ok(0) => return Err(self.error("the server closed the connection")),
            Err(error) => return Err(self.error(error.to_string())),
            Ok(_) => {}
        }
        let Some((kind, rest)) = self.line.split_first() else {
            return Err(self.error("an empty answer"));
        };
        let text = std::str::from_utf8(rest).unwrap_or_default().trim_end();
        let strange = || self.error(format!("not an answer of a redis server: '{text}'"));
        match kind {
            b'+' => Ok(Answer::Word),
            b':' => text.parse().map(Answer::Number).map_err(|_| strange()),
            b'-' => Err(self.error(format!("the server says '{text}'"))),
            b'$' if text == "-1" => Ok(Answer::Nil),
            b'$' => {
                let bytes: u64 = text.parse().map_err(|_| strange())?;
                let skipped = io::copy(&mut self.stream.by_ref().take(bytes + 2), &mut io::sink());
                match skipped {
                    Ok(n) if n == bytes + 2 => Ok(Answer::Value(bytes)),
                    Ok(_) => Err(self.error("the server closed the connection")),
                    Err(error) => Err(self.error(error.to_string())),
                }
            }
            _ => Err(strange()),
        }
    }

    /// Sends one command and reads its answer.
    pub(crate) fn ask(&mut self, words: &[&[u8]]) -> Result<Answer> {
        self.queue(words);
        self.send()?;
        self.answer()
    }
}
