//! Streams come back as they were written; what is damaged is named with its place.

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
        |(pages, accesses)| std::iter::once(Block::Pages(pages)).chain(accesses).collect(),
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

#[test]
fn accesses_need_pages() {
    let mut writer = StreamWriter::new(Vec::new(), &header()).unwrap();
    let access = Access { page: 0, line: 0, kind: Kind::Read, gap: 0 };
    let error = writer.accesses(0, 0, &[access]).unwrap_err().to_string();
    assert!(error.contains("page 0") && error.contains("0 pages"), "{error}");
}
