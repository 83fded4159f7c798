//! Streams of ours in parts, so that damage gets behind checksums and compression.

use pagetide_testing::Mutator;

/// Longest part that is decompressed to be damaged, bytes.
const LONGEST: usize = 1 << 16;

/// A block before compression.
#[derive(Clone)]
struct Block {
    kind: u8,
    entries: u32,
    payload: Vec<u8>,
}

/// A stream.
struct Parts {
    header: Vec<u8>,
    blocks: Vec<Block>,
}

/// Takes off that many bytes.
fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn word(bytes: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*take(bytes, 4)?.first_chunk()?))
}

/// What there is of a stream; none if it is none.
fn apart(mut bytes: &[u8]) -> Option<Parts> {
    let bytes = &mut bytes;
    take(bytes, 8).filter(|magic| *magic == b"PTACCESS")?;
    let _version = word(bytes)?;
    let length = word(bytes)?;
    let header = take(bytes, length as usize)?.to_vec();
    Some(Parts { header, blocks: std::iter::from_fn(|| block(bytes)).collect() })
}

fn block(bytes: &mut &[u8]) -> Option<Block> {
    let kind = *take(bytes, 1)?.first()?;
    let (entries, _raw, stored, _sum) = (word(bytes)?, word(bytes)?, word(bytes)?, word(bytes)?);
    let payload = zstd::bulk::decompress(take(bytes, stored as usize)?, LONGEST).ok()?;
    Some(Block { kind, entries, payload })
}

fn together(parts: &Parts) -> Vec<u8> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut bytes = b"PTACCESS\x01\0\0\0".to_vec();
    bytes.extend(length(&parts.header).to_le_bytes());
    bytes.extend(&parts.header);
    for block in &parts.blocks {
        let packed = zstd::bulk::compress(&block.payload, 1).unwrap_or_default();
        bytes.push(block.kind);
        for word in
            [block.entries, length(&block.payload), length(&packed), crc32fast::hash(&packed)]
        {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(packed);
    }
    bytes
}

/// Damages a stream within a part: every length and checksum is right afterwards. What is none stays.
pub(crate) fn damage(mutator: &mut Mutator, bytes: &mut Vec<u8>, others: &[Vec<u8>]) {
    let Some(mut parts) = apart(bytes) else { return };
    let at = mutator.below(parts.blocks.len());
    match (mutator.below(8), parts.blocks.get_mut(at)) {
        (0, _) | (_, None) => mutator.mutate(&mut parts.header, others),
        (1, Some(block)) => {
            let mut entries = block.entries.to_le_bytes().to_vec();
            mutator.mutate(&mut entries, others);
            block.entries = entries.first_chunk().map_or(0, |four| u32::from_le_bytes(*four));
        }
        (2, Some(block)) => block.kind = mutator.bits().to_le_bytes()[0] % 5,
        (3, Some(block)) => {
            let again = block.clone();
            parts.blocks.insert(at, again);
        }
        (4, Some(_)) => {
            parts.blocks.remove(at);
        }
        (_, Some(block)) => mutator.mutate(&mut block.payload, others),
    }
    *bytes = together(&parts);
}

/// What is in a file compressed by zstd, as far as it goes; none if it is not or too long.
pub(crate) fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    zstd::bulk::decompress(bytes, LONGEST).ok()
}
