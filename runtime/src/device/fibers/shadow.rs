//! Who touched which byte last: enough of it to see every race when its second access comes.

use std::mem::size_of;

/// An access: when, by which thread of the block, at which place of the program; in 8 bytes, as there is one for every
/// byte or word many times over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Number of the time between two barriers of a block, counted over all blocks and launches; 0 is never.
    pub(super) interval: u32,
    who: u32,
}

const SITE_BITS: u32 = 21;

/// The most places of a program.
pub(super) const MOST_SITES: usize = 1 << SITE_BITS;

/// The most threads of a block.
pub(super) const MOST_THREADS: u32 = 1 << (32 - SITE_BITS);

impl Record {
    const NONE: Self = Self { interval: 0, who: 0 };

    /// `thread` and `site` are below what is the most of them.
    pub(super) fn new(interval: u32, thread: u32, site: u32) -> Self {
        Self { interval, who: thread << SITE_BITS | site }
    }

    pub(super) fn thread(self) -> u32 {
        self.who >> SITE_BITS
    }

    pub(super) fn site(self) -> u32 {
        self.who & (MOST_SITES as u32 - 1)
    }
}

/// What is known of a word or byte.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The last write.
    write: Record,
    /// The first read of the last launch that read it. Blocks run one after the other, so a later block that writes
    /// has to look at the first reader only.
    first: Record,
    /// The first read of the last interval with reads, and the first of another thread: of two threads one is not the
    /// writer.
    reads: [Record; 2],
}

const EMPTY: Cell = Cell { write: Record::NONE, first: Record::NONE, reads: [Record::NONE; 2] };

/// Bytes that a cell stands for as long as accesses are of whole words.
const WORD: u64 = 4;

/// Bytes of a page.
const PAGE: u64 = 1024;

/// The cells of a page: one a word until an access is of less, then one a byte.
type Page = Vec<Cell>;

/// The records of a piece of memory that begins at a multiple of [`WORD`].
#[derive(Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Page>>,
}

/// When accesses count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// First interval of the launch. For memory of a block, which others do not see, that of the block.
    pub(super) launch: u32,
    /// First interval of the block.
    pub(super) block: u32,
}

/// An earlier access that the present one races with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Race {
    pub(super) earlier: Record,
    pub(super) earlier_writes: bool,
    /// The first byte that both touch.
    pub(super) offset: u64,
}

impl Shadow {
    /// For memory of so many bytes; takes no room until it is used.
    pub(super) fn new(bytes: u64) -> Self {
        Self { pages: (0..bytes.div_ceil(PAGE)).map(|_| None).collect() }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.pages.iter_mut().for_each(|page| *page = None);
    }

    /// Notes an access of bytes inside the memory, or says what it races with.
    pub(super) fn access(
        &mut self,
        offset: u64,
        bytes: u64,
        record: Record,
        writes: bool,
        window: Window,
    ) -> Result<(), Race> {
        let mut at = offset;
        while at < offset + bytes {
            let end = (offset + bytes).min((at / PAGE + 1) * PAGE);
            let page = self.pages[(at / PAGE) as usize].get_or_insert_with(|| vec![EMPTY; (PAGE / WORD) as usize]);
            if !(at.is_multiple_of(WORD) && end.is_multiple_of(WORD)) && page.len() < PAGE as usize {
                *page = page.iter().flat_map(|cell| [*cell; WORD as usize]).collect();
            }
            let size = PAGE / page.len() as u64;
            let cells = ((at % PAGE) / size) as usize..((end - 1) % PAGE / size) as usize + 1;
            for (number, cell) in page[cells].iter_mut().enumerate() {
                let race = if writes { cell.write(record, window) } else { cell.read(record, window) };
                if let Some((earlier, earlier_writes)) = race {
                    return Err(Race { earlier, earlier_writes, offset: at + number as u64 * size });
                }
            }
            at = end;
        }
        Ok(())
    }

    /// The first of the bytes that was not written in the window's launch.
    pub(super) fn first_unwritten(&self, offset: u64, bytes: u64, window: Window) -> Option<u64> {
        (offset..offset + bytes).find(|at| {
            let cell = self.pages[(at / PAGE) as usize].as_ref().map(|page| {
                let size = PAGE / page.len() as u64;
                page[((at % PAGE) / size) as usize]
            });
            cell.is_none_or(|cell| cell.write.interval < window.launch)
        })
    }
}

impl Cell {
    /// The write that an access by `record` races with.
    fn raced_write(&self, record: Record, window: Window) -> Option<(Record, bool)> {
        let write = self.write;
        let of_launch = write.interval >= window.launch;
        let of_other_block = write.interval < window.block;
        let at_once = write.interval == record.interval && write.thread() != record.thread();
        (of_launch && (of_other_block || at_once)).then_some((write, true))
    }

    fn read(&mut self, record: Record, window: Window) -> Option<(Record, bool)> {
        let race = self.raced_write(record, window);
        if self.first.interval < window.launch {
            self.first = record;
        }
        if self.reads[0].interval != record.interval {
            self.reads = [record, Record::NONE];
        } else if self.reads[0].thread() != record.thread() && self.reads[1].interval == 0 {
            self.reads[1] = record;
        }
        race
    }

    fn write(&mut self, record: Record, window: Window) -> Option<(Record, bool)> {
        let race = self.raced_write(record, window);
        if race.is_some() {
            return race;
        }
        if self.first.interval >= window.launch && self.first.interval < window.block {
            return Some((self.first, false));
        }
        let at_once = |read: &&Record| read.interval == record.interval && read.thread() != record.thread();
        if let Some(read) = self.reads.iter().find(at_once) {
            return Some((*read, false));
        }
        self.write = record;
        None
    }
}

const _: () = assert!(size_of::<Cell>() == 32);

#[cfg(test)]
mod tests {
    use super::*;

    /// Window of a block that began at interval 10, in a launch that began at 5.
    const WINDOW: Window = Window { launch: 5, block: 10 };

    fn by(interval: u32, thread: u32) -> Record {
        Record::new(interval, thread, 7)
    }

    #[test]
    fn records_keep_everything() {
        let record = Record::new(u32::MAX, MOST_THREADS - 1, MOST_SITES as u32 - 1);
        assert_eq!((record.thread(), record.site()), (MOST_THREADS - 1, MOST_SITES as u32 - 1));
        let record = Record::new(1, 0, 5);
        assert_eq!((record.thread(), record.site()), (0, 5));
    }

    #[test]
    fn threads_race_within_an_interval_only() {
        let mut shadow = Shadow::new(64);
        let mut touch = |at, bytes, record, writes| shadow.access(at, bytes, record, writes, WINDOW);
        touch(0, 4, by(10, 1), true).unwrap();
        touch(0, 4, by(10, 1), false).unwrap();
        touch(0, 4, by(10, 1), true).unwrap();
        let race = touch(0, 8, by(10, 2), false).unwrap_err();
        assert_eq!(race, Race { earlier: by(10, 1), earlier_writes: true, offset: 0 });
        touch(0, 4, by(11, 2), false).unwrap();
        touch(0, 4, by(11, 3), false).unwrap();
        // Neither of the two readers may be forgotten.
        for writer in [2, 3] {
            let race = touch(0, 4, by(11, writer), true).unwrap_err();
            assert_eq!((race.earlier.thread(), race.earlier_writes), (5 - writer, false));
        }
        touch(0, 4, by(12, 2), true).unwrap();
    }

    #[test]
    fn blocks_race_within_a_launch_only() {
        let mut shadow = Shadow::new(64);
        let mut touch = |at, record, writes| shadow.access(at, 4, record, writes, WINDOW);
        touch(0, by(4, 1), true).unwrap();
        touch(0, by(10, 2), false).unwrap();
        touch(4, by(6, 1), true).unwrap();
        assert_eq!(touch(4, by(10, 1), false).unwrap_err().earlier, by(6, 1));
        assert_eq!(touch(4, by(10, 1), true).unwrap_err().earlier, by(6, 1));
        touch(8, by(6, 1), false).unwrap();
        touch(8, by(10, 1), false).unwrap();
        let race = touch(8, by(11, 1), true).unwrap_err();
        assert_eq!((race.earlier, race.earlier_writes), (by(6, 1), false));
    }

    #[test]
    fn bytes_of_a_word_are_told_apart() {
        let mut shadow = Shadow::new(4096);
        shadow.access(1020, 8, by(10, 9), false, WINDOW).unwrap();
        shadow.access(100, 1, by(10, 1), true, WINDOW).unwrap();
        shadow.access(101, 1, by(10, 2), true, WINDOW).unwrap();
        let race = shadow.access(100, 4, by(10, 1), false, WINDOW).unwrap_err();
        assert_eq!((race.offset, race.earlier), (101, by(10, 2)));
        // What was known of the words before is known of their bytes.
        let race = shadow.access(1021, 1, by(10, 3), true, WINDOW).unwrap_err();
        assert_eq!((race.offset, race.earlier), (1021, by(10, 9)));
        let race = shadow.access(1023, 4, by(10, 3), true, WINDOW).unwrap_err();
        assert_eq!(race.offset, 1023);
    }

    #[test]
    fn what_was_not_written_is_known() {
        let mut shadow = Shadow::new(2048);
        assert_eq!(shadow.first_unwritten(0, 4, WINDOW), Some(0));
        shadow.access(1020, 8, by(10, 1), true, WINDOW).unwrap();
        assert_eq!(shadow.first_unwritten(1020, 8, WINDOW), None);
        assert_eq!(shadow.first_unwritten(1020, 9, WINDOW), Some(1028));
        assert_eq!(shadow.first_unwritten(1020, 4, Window { launch: 11, block: 11 }), Some(1020));
        shadow.clear();
        assert_eq!(shadow.first_unwritten(1020, 4, WINDOW), Some(1020));
    }
}
