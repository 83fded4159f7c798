//! Streams come back as they were written; what is damaged is named with its place.

#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use pagetide_access::{Access, Block, Header, Kind, Page, StreamError, StreamReader, StreamWriter};
use pagetide_types::{Bytes, ObjectId};
use proptest::prelude::*;

fn header() -> Header {
    Header {
        tool: "test".to_owned(),
        target: "a b".to_owned(),
        cache: Bytes::mib(2),
        ways: 16,
        dilation: 5.5,
        facts: [("emulator".to_owned(), "none".to_owned())].into(),
    }
}

fn write(blocks: &[Block]) -> Vec<u8> {
    let mut writer = StreamWriter::new(Vec::new(), &header()).unwrap();
    for block in blocks {
        match block {
            Block::Pages(pages) => writer.pages(pages).unwrap(),
            Block::Accesses { thread, time_us, accesses } => {
                writer.accesses(*thread, *time_us, accesses).unwrap();
            }
        }
    }
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> Result<Vec<Block>, StreamError> {
    StreamReader::new(bytes)?.collect()
}

fn example() -> Vec<Block> {
    let page = |object, number| Page { object: ObjectId(object), number };
    let access = |page, line, kind, gap| Access { page, line, kind, gap };
    let accesses = vec![
        access(1, 63, Kind::Read, 0),
        access(0, 0, Kind::Write, u64::MAX),
        access(1, 5, Kind::WriteBack, 7),
    ];
    vec![
        Block::Pages(vec![page(0, u64::MAX), page(7, 0)]),
        Block::Accesses { thread: 3, time_us: 1_000_000, accesses },
    ]
}

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    let page = (any::<u32>(), any::<u64>())
        .prop_map(|(object, number)| Page { object: ObjectId(object), number });
    let kind = prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::WriteBack)];
    let access = (0..20u32, 0..64u8, kind, any::<u64>())
        .prop_map(|(page, line, kind, gap)| Access { page, line, kind, gap });
    let accesses = (any::<u32>(), any::<u64>(), prop::collection::vec(access, 1..300))
        .prop_map(|(thread, time_us, accesses)| Block::Accesses { thread, time_us, accesses });
    (prop::collection::vec(page, 20..40), prop::collection::vec(accesses, 0..6)).prop_map(
        |(pages, mut accesses)| {
            // Times do not go backwards.
            accesses.sort_by_key(|block| match block {
                Block::Accesses { time_us, .. } => *time_us,
                Block::Pages(_) => 0,
            });
            std::iter::once(Block::Pages(pages)).chain(accesses).collect()
        },
    )
}

proptest! {
    #[test]
    fn what_was_written_comes_back(blocks in blocks()) {
        let bytes = write(&blocks);
        let reader = StreamReader::new(bytes.as_slice()).unwrap();
        prop_assert_eq!(reader.header(), &header());
        prop_assert_eq!(read(&bytes).unwrap(), blocks);
    }

    #[test]
    fn no_bytes_make_it_panic(at in 0..400usize, byte in any::<u8>()) {
        let mut bytes = write(&example());
        let at = at % bytes.len();
        let before = bytes[at];
        bytes[at] = byte;
        let after = read(&bytes);
        // The header is text without a checksum: there, other words may be as good.
        let head = StreamReader::new(write(&[]).as_slice()).is_ok() && at < 200;
        prop_assert!(byte == before || head || after.is_err());
    }

    #[test]
    fn noise_is_no_stream(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn a_cut_stream_says_so(cut in 0..1000usize) {
        let bytes = write(&example());
        let cut = cut % bytes.len();
        let error = read(&bytes[..cut]).unwrap_err();
        let cut_or_none = matches!(error, StreamError::Cut { .. } | StreamError::NotAStream);
        prop_assert!(cut_or_none, "{}", error);
    }
}

#[test]
fn large_writes_are_several_blocks() {
    let accesses: Vec<Access> = (0..200_000u32)
        .map(|i| Access { page: i % 100, line: 1, kind: Kind::Read, gap: 3 })
        .collect();
    let pages = (0..100).map(|number| Page { object: ObjectId(0), number }).collect();
    let thread = Block::Accesses { thread: 0, time_us: 5, accesses: accesses.clone() };
    let bytes = write(&[Block::Pages(pages), thread]);
    assert!(bytes.len() < 20_000, "{}", bytes.len());
    let read = read(&bytes).unwrap();
    let back: Vec<Access> = read
        .into_iter()
        .flat_map(|block| match block {
            Block::Accesses { accesses, .. } => accesses,
            Block::Pages(_) => Vec::new(),
        })
        .collect();
    assert_eq!(back, accesses);
}

#[test]
fn damage_is_named_with_its_place() {
    let mut bytes = write(&example());
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let text = read(&bytes).unwrap_err().to_string();
    assert!(text.contains("checksum") && text.contains("byte"), "{text}");
    assert!(read(b"PTACCESS\x02\0\0\0\0\0\0\0").unwrap_err().to_string().contains("version 2"));
    assert!(matches!(read(b"not"), Err(StreamError::NotAStream)));
}

/// A block as it is written, whatever is in it.
fn block(kind: u8, entries: u32, payload: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(payload, 1).unwrap();
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap();
    let mut bytes = vec![kind];
    for word in [entries, length(payload), length(&packed), crc32fast::hash(&packed)] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(packed);
    bytes
}

/// A stream of such blocks, behind a header.
fn stream(blocks: &[Vec<u8>]) -> Vec<u8> {
    let text = serde_json::to_vec(&header()).unwrap();
    let length = u32::try_from(text.len()).unwrap();
    let head = [b"PTACCESS\x01\0\0\0", &length.to_le_bytes()[..], &text].concat();
    [head, blocks.concat()].concat()
}

#[track_caller]
fn fails(bytes: &[u8], said: &[&str]) {
    let text = read(bytes).unwrap_err().to_string();
    for word in said {
        assert!(text.contains(word), "no '{word}' in: {text}");
    }
    assert!(text.contains("byte") && text.len() < 400, "{text}");
}

#[test]
fn blocks_that_contradict_themselves_are_named() {
    let end = block(3, 0, &[1, 1]);
    let (pages, accesses) = (block(1, 1, &[0, 0]), block(2, 1, &[0, 0, 0, 0]));
    let good = [pages.clone(), accesses.clone(), end.clone()];
    assert_eq!(read(&stream(&good)).unwrap().len(), 2);
    let start = stream(&[]).len();
    let at = |blocks: &[Vec<u8>]| format!("block at byte {}", start + blocks.concat().len());
    for (wrong, said) in [
        (block(1, 1, &[0]), "in the middle of a number"),
        (block(1, 1, &[0, 0, 0]), "1 bytes are left over"),
        (
            block(1, 1, &[0x80, 0x80, 0x80, 0x80, 0x10, 0]),
            "page 0 is of object 4294967296, and none",
        ),
        (block(2, 1, &[0, 0, 0, 0, 7]), "1 bytes are left over"),
        (block(2, 1, &[0, 0, 3, 0]), "access 0 is of no known kind"),
        (block(2, 1, &[0, 0, 0x80, 0x08, 0]), "access 0 goes to a page without a number"),
        (block(2, 1, &[0, 0, 4, 0]), "access 0 goes to a page without a number"),
        (block(2, 1, &[0x80, 0x80, 0x80, 0x80, 0x10, 0, 0, 0]), "too large"),
        (block(3, 0, &[1, 2]), "1 pages and 1 accesses came before it"),
        (block(3, 0, &[1, 1, 0]), "1 bytes are left over"),
        (block(3, 0, &[1]), "in the middle of a number"),
        (block(3, 5, &[1, 1]), "is of kind 3 and has 5 entries"),
        (block(1, 0, &[]), "is of kind 1 and has 0 entries"),
        (block(2, 0, &[0, 0]), "is of kind 2 and has 0 entries"),
        (block(9, 1, &[0, 0]), "of kind 9, which is unknown"),
        (block(2, u32::MAX, &[0, 0, 0, 0]), "4294967295 entries"),
    ] {
        let before = &good[..2];
        fails(&stream(&[before.concat(), wrong, end.clone()]), &[&at(before), said]);
    }
}

#[test]
fn a_thread_whose_time_goes_backwards_is_named() {
    let of = |thread: u8, time: u8| block(2, 1, &[thread, time, 0, 0]);
    let before = [block(1, 1, &[0, 0]), of(0, 9), of(1, 3), of(0, 9)];
    let all = |last: Vec<u8>, end: &[u8]| stream(&[before.concat(), last, block(3, 0, end)]);
    assert!(read(&all(of(1, 4), &[1, 4])).is_ok(), "threads have no order but their times");
    let start = stream(&before).len();
    fails(
        &all(of(0, 8), &[1, 4]),
        &[&format!("byte {start} "), "microsecond 8 of thread 0", "of 9"],
    );

    let mut writer = StreamWriter::new(Vec::new(), &header()).unwrap();
    writer.pages(&[Page { object: ObjectId(0), number: 0 }]).unwrap();
    let access = [Access { page: 0, line: 0, kind: Kind::Read, gap: 0 }];
    writer.accesses(0, 9, &access).unwrap();
    writer.accesses(1, 3, &access).unwrap();
    let error = writer.accesses(0, 8, &access).unwrap_err().to_string();
    assert!(error.contains("microsecond 8 of thread 0"), "{error}");
}

#[test]
fn what_follows_the_end_is_named() {
    let stream = write(&example());
    let end = format!("follows at byte {}", stream.len());
    fails(&[stream.clone(), stream.clone()].concat(), &[&end]);
    fails(&[stream, vec![0]].concat(), &[&end]);
}

#[test]
fn an_end_is_told_where_it_is() {
    let stream = write(&example());
    for cut in 8..stream.len() {
        fails(&stream[..cut], &[&format!("ends at byte {cut},")]);
    }
}

#[test]
fn no_more_of_a_header_is_taken_or_told_than_there_is() {
    let headed = |length: u32, text: &str| {
        [b"PTACCESS\x01\0\0\0", &length.to_le_bytes()[..], text.as_bytes()].concat()
    };
    fails(&headed(u32::MAX, "{}"), &["byte 16", "4294967295 bytes long"]);
    fails(&headed(8 << 20, "{}"), &["ends at byte 18"]);
    fails(&headed(2, "{}"), &["byte 16", "missing field"]);
    let long =
        format!("{{\"tool\":\"\",\"target\":\"\",\"cache\":\"{}\"}}", "a\u{1b}".repeat(50_000));
    let long = long.replace('\u{1b}', "\\u001b");
    fails(&headed(u32::try_from(long.len()).unwrap(), &long), &["byte 16", "column"]);
    let target = "\u{1}".repeat(3 << 20);
    let error = StreamWriter::new(Vec::new(), &Header { target, ..header() }).err().unwrap();
    assert!(error.to_string().contains("8388608 bytes at most"), "{error}");
}

/// What the system says is passed on, not taken for a file of another kind.
#[test]
fn an_input_that_cannot_be_read_says_so() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no disk"))
        }
    }
    let error = StreamReader::new(Broken).err().unwrap().to_string();
    assert!(error.contains("at byte 0") && error.contains("no disk"), "{error}");
}

#[test]
fn accesses_need_pages() {
    let mut writer = StreamWriter::new(Vec::new(), &header()).unwrap();
    let access = Access { page: 0, line: 0, kind: Kind::Read, gap: 0 };
    let error = writer.accesses(0, 0, &[access]).unwrap_err().to_string();
    assert!(error.contains("page 0") && error.contains("0 pages"), "{error}");
}
