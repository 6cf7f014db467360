//! Matching with back-references: a depth-first search with a limit.

use super::RegexError;
use super::program::{Inst, Program};
use super::search::Match;

/// Steps one search may take. Back-references make matching NP-hard, so some
/// pattern would take for ever without a limit.
pub(super) const MAX_STEPS: u64 = 10_000_000;

const UNSET: usize = usize::MAX;

/// What to do when the current path ends.
enum Job {
    Try { pc: usize, at: usize },
    Restore { slot: usize, value: usize },
}

/// The longest match of `program` in `text` from `start`, not beyond `limit`.
/// Of two ways to match the same text, the first in order of preference (more
/// repetitions, earlier alternatives) gives the captures.
pub(super) fn longest(
    program: &Program,
    text: &[u8],
    start: usize,
    limit: usize,
    groups: &[u32],
    steps: &mut u64,
) -> Result<Option<Match>, RegexError> {
    let mut slots = vec![UNSET; program.slots];
    let mut best: Option<Match> = None;
    let mut jobs = vec![Job::Try { pc: 0, at: start }];
    while let Some(job) = jobs.pop() {
        let (pc, at) = match job {
            Job::Restore { slot, value } => {
                slots[slot] = value;
                continue;
            }
            Job::Try { pc, at } => (pc, at),
        };
        let end = run(program, text, limit, (pc, at), &mut slots, &mut jobs, steps)?;
        let Some(end) = end else { continue };
        if best.as_ref().is_none_or(|best| end > best.end) {
            let place = |&group: &u32| (slots[2 * group as usize], slots[2 * group as usize + 1]);
            best = Some(Match { start, end, groups: groups.iter().map(place).collect() });
            if end == limit {
                break;
            }
        }
    }
    Ok(best)
}

/// Follows one path; leaves the other choices in `jobs`. The end of the match,
/// or `None` where the path fails.
fn run(
    program: &Program,
    text: &[u8],
    limit: usize,
    (mut pc, mut at): (usize, usize),
    slots: &mut [usize],
    jobs: &mut Vec<Job>,
    steps: &mut u64,
) -> Result<Option<usize>, RegexError> {
    loop {
        *steps += 1;
        if *steps > MAX_STEPS {
            return Err(RegexError::TooComplex);
        }
        let byte = text.get(at).copied().filter(|_| at < limit);
        match program.insts[pc] {
            Inst::Byte(wanted) if byte == Some(wanted) => at += 1,
            Inst::Set(set) if byte.is_some_and(|b| program.sets[set as usize].contains(b)) => {
                at += 1;
            }
            Inst::Assert(assertion) if assertion.holds(text, at) => {}
            Inst::Byte(_) | Inst::Set(_) | Inst::Assert(_) => return Ok(None),
            Inst::Split(first, second) => {
                jobs.push(Job::Try { pc: second as usize, at });
                pc = first as usize;
                continue;
            }
            Inst::Jump(to) => {
                pc = to as usize;
                continue;
            }
            Inst::Save(slot) => {
                let slot = slot as usize;
                jobs.push(Job::Restore { slot, value: slots[slot] });
                slots[slot] = at;
            }
            Inst::Progress(slot) => {
                if slots[slot as usize] == at {
                    return Ok(None);
                }
            }
            Inst::Backref(group) => {
                let slot = 2 * group as usize;
                let (from, to) = (slots[slot], slots[slot + 1]);
                if from == UNSET || to == UNSET || from > to {
                    return Ok(None);
                }
                let wanted = &text[from..to];
                if wanted.len() > limit - at || !text[at..limit].starts_with(wanted) {
                    return Ok(None);
                }
                at += wanted.len();
            }
            Inst::Match => return Ok(Some(at)),
        }
        pc += 1;
    }
}
