//! Files of accesses: our streams, and oracleGeneral, plain or compressed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pagetide_access::{Accesses, open};

fuzz_target!(|data: &[u8]| {
    match open(data) {
        Ok(Accesses::Stream(stream)) => stream.map_while(Result::ok).for_each(drop),
        Ok(Accesses::Oracle(mut oracle)) => {
            while let Ok(Some(batch)) = oracle.batch() {
                for record in batch.records() {
                    std::hint::black_box(record);
                }
            }
        }
        Err(_) => {}
    }
});
