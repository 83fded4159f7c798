//! Reads an input as `pagetide curve` does, and says what must not be.

use crate::counted::peak;
use pagetide_access::{Accesses, OracleError, open};
use std::io::{self, Read};
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

/// Memory that reading may take: so much, and so many times the file, bytes.
const MEMORY: usize = 48 << 20;
const TIMES_FILE: usize = 20;
/// Time that it may take.
const TIME: Duration = Duration::from_secs(20);
/// An error is one line, characters at most.
const LINE: usize = 500;
/// Pages of requests that are looked at in a batch.
const PAGES: usize = 10_000;

/// Gives some bytes at a time, as a pipe may.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(into.len());
        self.0.read(&mut into[..length])
    }
}

/// How many accesses or records there are, or the error.
pub(crate) fn read(bytes: &[u8], drop: usize) -> Result<u64, String> {
    match open(Drops(bytes, drop)).map_err(|error| error.to_string())? {
        Accesses::Stream(stream) => {
            let mut blocks = 0;
            for block in stream {
                block.map_err(|error| error.to_string())?;
                blocks += 1;
            }
            Ok(blocks)
        }
        Accesses::Oracle(mut trace) => {
            let (mut objects, mut records) = (Vec::new(), 0);
            let text = |error: OracleError| error.to_string();
            while let Some(batch) = trace.batch().map_err(text)? {
                objects.clear();
                let nothing = batch.objects(&mut objects);
                records += (objects.len() + nothing) as u64;
                for page in batch.pages(512).take(PAGES) {
                    if let Err(error) = page {
                        is_named(&error.to_string())?;
                    }
                }
            }
            Ok(records)
        }
    }
}

/// An error's text says where it is, in a line.
fn is_named(text: &str) -> Result<(), String> {
    if !text.contains("record") && !text.contains("byte ") {
        return Err(format!("no record or byte is named: {text}"));
    }
    if text.chars().any(char::is_control) || text.chars().count() > LINE {
        return Err(format!("this is no line to be read: {text}"));
    }
    Ok(())
}

/// What must not be, if it was.
pub(crate) fn judge(bytes: &[u8]) -> Result<(), String> {
    let start = Instant::now();
    let (read_whole, most) = peak(|| catch_unwind(|| read(bytes, usize::MAX)));
    let took = start.elapsed();
    let result = read_whole.map_err(|_| "it panicked".to_owned())?;
    if most > MEMORY + TIMES_FILE * bytes.len() {
        return Err(format!("{most} bytes of memory for {} bytes", bytes.len()));
    }
    if took > TIME {
        return Err(format!("it took {took:?}"));
    }
    if let Err(text) = &result {
        is_named(text)?;
    }
    if bytes.len() < 1000 && took < Duration::from_millis(1) {
        let dropped = catch_unwind(|| read(bytes, 3)).map_err(|_| "it panicked".to_owned())?;
        // How much comes out in front of what zstd finds damaged depends on how much went in at a time.
        let places = bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || bytes.get(1) == Some(&0x2a);
        if dropped.is_ok() != result.is_ok() || dropped != result && !places {
            return Err(format!("{result:?}, and in pieces of 3 bytes {dropped:?}"));
        }
    }
    Ok(())
}
