//! oracleGeneral comes back as it was written; what is wrong is named with its record, nothing
//! panics, and no memory is taken on somebody's word.

#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use pagetide_access::{
    Accesses, Header, OracleError, OracleReader, OracleRecord, StreamWriter, open,
};
use pagetide_types::Bytes;
use proptest::prelude::*;
use std::io::Read;

fn bytes_of(records: &[OracleRecord]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        bytes.extend(record.time_s.to_le_bytes());
        bytes.extend(record.object.to_le_bytes());
        bytes.extend(record.bytes.to_le_bytes());
        bytes.extend(record.next.map_or(-1, u64::cast_signed).to_le_bytes());
    }
    bytes
}

fn record(time_s: u32, object: u64) -> OracleRecord {
    OracleRecord { time_s, object, bytes: 4096, next: None }
}

/// All records of an oracleGeneral file, however it comes in.
fn read<'a>(input: impl Read + Send + 'a) -> Result<Vec<OracleRecord>, OracleError> {
    let Ok(Accesses::Oracle(mut reader)) = open(input) else {
        return Err(OracleError::Empty);
    };
    let mut all = Vec::new();
    while let Some(batch) = reader.batch()? {
        assert_eq!(batch.first, all.len() as u64);
        all.extend(batch.records());
    }
    assert!(matches!(reader.batch(), Ok(None)), "nothing comes after the end");
    Ok(all)
}

/// Gives a few bytes at a time, as a pipe may.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(into.len());
        self.0.read(&mut into[..length])
    }
}

/// The same numbers as a machine of the other byte order writes them.
fn other_order(bytes: &[u8]) -> Vec<u8> {
    let mut swapped = bytes.to_vec();
    for record in swapped.chunks_exact_mut(24) {
        for (start, end) in [(0, 4), (4, 12), (12, 16), (16, 24)] {
            record[start..end].reverse();
        }
    }
    swapped
}

fn records(most: usize) -> impl Strategy<Value = Vec<OracleRecord>> {
    let next = prop::option::of(0..1u64 << 48);
    let one = (0..1000u32, any::<u64>(), any::<u32>(), next);
    prop::collection::vec(one, 1..most).prop_map(|mut all| {
        all.sort_by_key(|record| record.0);
        all.into_iter()
            .map(|(time_s, object, bytes, next)| OracleRecord { time_s, object, bytes, next })
            .collect()
    })
}

proptest! {
    #[test]
    fn what_was_written_comes_back(records in records(200), drop in 1..100usize) {
        let bytes = bytes_of(&records);
        prop_assert_eq!(&read(Drops(&bytes, drop)).unwrap(), &records);
        let packed = zstd::encode_all(bytes.as_slice(), 1).unwrap();
        prop_assert_eq!(&read(Drops(&packed, drop)).unwrap(), &records);
    }

    #[test]
    fn noise_is_an_error_or_records_and_never_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400)
    ) {
        if let Ok(records) = read(bytes.as_slice()) {
            prop_assert_eq!(records.len() * 24, bytes.len());
        }
    }

    #[test]
    fn a_changed_byte_never_makes_it_panic(records in records(50), at in any::<usize>(), byte in any::<u8>()) {
        let mut plain = bytes_of(&records);
        let mut packed = zstd::encode_all(plain.as_slice(), 1).unwrap();
        for bytes in [&mut plain, &mut packed] {
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = read(bytes.as_slice());
        }
    }

    #[test]
    fn a_cut_trace_is_named_with_its_record(records in records(50), cut in any::<usize>()) {
        let bytes = bytes_of(&records);
        let cut = cut % bytes.len();
        match read(&bytes[..cut]) {
            Ok(whole) => prop_assert_eq!(whole.len() * 24, cut),
            Err(OracleError::Empty) => prop_assert_eq!(cut, 0),
            Err(error) => {
                let said = format!("record {} has {} of its 24 bytes", cut / 24, cut % 24);
                prop_assert!(error.to_string().contains(&said), "{}", error);
            }
        }
        let packed = zstd::encode_all(bytes.as_slice(), 1).unwrap();
        let cut = cut % packed.len();
        prop_assert!(read(&packed[..cut]).is_err());
    }

    /// Longer than a batch: the place is counted from the start of the trace.
    #[test]
    fn a_time_that_goes_backwards_is_named(wrong in 1..12_000u64) {
        let mut records: Vec<_> = (0..12_000).map(|i| record(i + 5, 7)).collect();
        records[usize::try_from(wrong).unwrap()].time_s -= 2;
        let error = read(bytes_of(&records).as_slice()).unwrap_err();
        let named = matches!(error, OracleError::Backwards { record, .. } if record == wrong);
        prop_assert!(named, "{}", error);
    }

    /// A next request (not "none", which reads alike both ways) is absurd in the other order.
    #[test]
    fn the_other_byte_order_is_found(next in 1..1u64 << 40, after in prop::collection::vec(any::<u64>(), 0..9)) {
        let first = OracleRecord { next: Some(next), ..record(0, 3) };
        let mut records = vec![first];
        records.extend(after.iter().map(|object| record(0, *object)));
        let error = read(other_order(&bytes_of(&records)).as_slice()).unwrap_err().to_string();
        prop_assert!(error.starts_with("record 0 says") && error.contains("little-endian"), "{}", error);
    }
}

#[test]
fn times_of_the_other_byte_order_go_backwards() {
    let records: Vec<_> = (0..1000).map(|second| record(second, 1)).collect();
    let error = read(other_order(&bytes_of(&records)).as_slice()).unwrap_err().to_string();
    assert!(error.starts_with("record 256 is of second 65536"), "{error}");
}

#[test]
fn an_empty_trace_says_so() {
    let packed = zstd::encode_all(&[][..], 1).unwrap();
    for bytes in [&[][..], &packed] {
        let error = read(bytes).unwrap_err().to_string();
        assert!(error.contains("empty"), "{error}");
    }
}

#[test]
fn text_is_no_trace() {
    let text = b"time,object,size\n1,5,4096\n2,6,4096\n3,9,4096\n4,8,4096\n";
    let error = read(&text[..48]).unwrap_err().to_string();
    assert!(error.contains("not oracleGeneral"), "{error}");
}

#[test]
fn no_next_request_is_written_in_three_ways() {
    let mut bytes = bytes_of(&[record(1, 1), record(1, 1), record(1, 1)]);
    bytes[24 + 16..48].copy_from_slice(&i64::MAX.to_le_bytes());
    bytes[48 + 16..].copy_from_slice(&(-2i64).to_le_bytes());
    assert!(read(bytes.as_slice()).unwrap().iter().all(|record| record.next.is_none()));
}

/// A device, a hole in a file, a few compressed bytes.
#[test]
fn zeros_are_no_trace_however_many() {
    let mut reader = OracleReader::new(std::io::repeat(0));
    let error = std::iter::from_fn(|| {
        reader.batch().map(|_| ()).err().map_or(Some(None), |e| Some(Some(e)))
    });
    let error = error.take(5000).flatten().next().unwrap().to_string();
    assert!(error.contains("begins with 167") && error.contains("records"), "{error}");
    let mut some = bytes_of(&[record(0, 1)]);
    some.resize(24 * 5000, 0);
    assert_eq!(read(some.as_slice()).unwrap().len(), 5000);
}

/// As pzstd writes them: each frame behind one that says how long it is.
#[test]
fn zstd_frames_to_be_skipped_are_skipped() {
    let records: Vec<_> = (0..5000).map(|second| record(second, 1)).collect();
    let bytes = bytes_of(&records);
    let mut packed = Vec::new();
    for part in bytes.chunks(40_000) {
        packed.extend([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);
        packed.extend(zstd::encode_all(part, 1).unwrap());
    }
    assert_eq!(read(packed.as_slice()).unwrap(), records);
}

/// Frames whose heads ask for windows of 2 GiB and contents of 4 GiB.
#[test]
fn what_a_zstd_frame_asks_for_is_not_taken() {
    let window = [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0];
    let contents = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 255, 255, 255, 255, 1, 0, 0];
    for bytes in [&window[..], &contents] {
        let error = open(bytes).err().unwrap().to_string();
        assert!(error.contains("at byte 0") && error.contains("too much memory"), "{error}");
    }
}

/// An input that never ends costs no more memory than another: the reader gives batches.
#[test]
fn an_endless_input_is_read_in_batches() {
    let mut reader = OracleReader::new(std::io::repeat(0));
    for _ in 0..100 {
        let batch = reader.batch().unwrap().unwrap();
        assert!(batch.records().len() <= 4096);
    }
}

#[test]
fn files_are_told_apart_by_their_first_bytes() {
    let header = Header {
        tool: "test".to_owned(),
        target: "none".to_owned(),
        cache: Bytes(0),
        ways: 1,
        dilation: 1.0,
        facts: [].into(),
    };
    let stream = StreamWriter::new(Vec::new(), &header).unwrap().finish().unwrap();
    let packed = zstd::encode_all(stream.as_slice(), 1).unwrap();
    for bytes in [&stream, &packed] {
        assert!(matches!(open(bytes.as_slice()), Ok(Accesses::Stream(_))));
    }
    let newer = b"PTACCESS\x09\0\0\0\0\0\0\0".as_slice();
    assert!(open(newer).err().unwrap().to_string().contains("version 9"));
}

/// All pages of an oracleGeneral file.
fn pages(records: &[OracleRecord], id_bytes: u64) -> Result<Vec<u64>, OracleError> {
    let bytes = bytes_of(records);
    let mut reader = OracleReader::new(bytes.as_slice());
    reader.batch()?.unwrap().pages(id_bytes).collect()
}

#[test]
fn a_request_goes_to_every_page_that_it_touches() {
    let of = |object, bytes| OracleRecord { bytes, ..record(0, object) };
    let touched = |object, bytes, id_bytes| pages(&[of(object, bytes)], id_bytes).unwrap();
    assert_eq!(touched(4096, 4096, 1), [1]);
    assert_eq!(touched(4095, 2, 1), [0, 1]);
    assert!(touched(5000, 0, 1).is_empty());
    assert_eq!(touched(7, 512, 512), [0]);
    assert_eq!(touched(7, 1024, 512), [0, 1]);
    assert_eq!(touched(0, 16 << 20, 1).len(), 4096);
    // A request for nothing goes nowhere, whatever its address.
    assert!(touched(u64::MAX, 0, 512).is_empty());
}

#[test]
fn requests_for_nothing_are_left_out() {
    let of = |object, bytes| OracleRecord { bytes, ..record(0, object) };
    let bytes = bytes_of(&[of(5, 1), of(6, 0), of(7, u32::MAX), of(5, 0)]);
    for (length, left_out, expected) in [(24, 0, &[5][..]), (96, 2, &[5, 7])] {
        let mut reader = OracleReader::new(&bytes[..length]);
        let mut objects = Vec::new();
        assert_eq!(reader.batch().unwrap().unwrap().objects(&mut objects), left_out);
        assert_eq!(objects, expected);
    }
}

#[test]
fn a_request_that_is_none_to_pages_is_named() {
    let of = |object, bytes| OracleRecord { bytes, ..record(0, object) };
    for (wrong, id_bytes) in [(of(0, u32::MAX), 1), (of(u64::MAX - 5, 7), 1), (of(1 << 60, 1), 512)]
    {
        let error = pages(&[of(0, 1), of(4096, 1), wrong], id_bytes).unwrap_err().to_string();
        assert!(error.starts_with("record 2 is of ") && error.contains("--by object"), "{error}");
    }
}

proptest! {
    #[test]
    fn no_request_makes_many_pages(records in records(5), id_bytes in 1..10_000u64) {
        let most = records.len() * 4097;
        if let Ok(pages) = pages(&records, id_bytes) {
            prop_assert!(pages.len() <= most);
        }
    }
}
