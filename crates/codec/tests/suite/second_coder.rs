//! Sections 3, 4, 6 and 13 of `DECISIONS.md`, written from the text alone: how a decision is read, and
//! what it teaches.

use std::sync::LazyLock;

use crate::second_decoder::check;

/// What chooses outcomes where none are read, from *one*.
pub(crate) type Choice<'a> = &'a mut dyn FnMut(i64) -> bool;

/// The arithmetic decoder, which also writes what the encoder would (sections 3 and 16).
struct Coder<'a> {
    bytes: &'a [u8],
    choice: Option<Choice<'a>>,
    at: usize,
    low: u32,
    high: u32,
    /// What was read, inside `low..=high`.
    value: u32,
    written: Vec<u8>,
}

impl<'a> Coder<'a> {
    fn new(bytes: &'a [u8], choice: Option<Choice<'a>>) -> Self {
        let mut coder = Self {
            bytes,
            choice,
            at: 0,
            low: 0,
            high: u32::MAX,
            value: 0,
            written: Vec::new(),
        };
        for _ in 0..4 {
            coder.read_byte();
        }
        coder
    }

    fn read_byte(&mut self) {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.value = self.value << 8 | u32::from(byte);
        self.at += 1;
    }

    fn decide(&mut self, one: i64) -> bool {
        let chosen = self.choice.as_mut().map(|choose| choose(one));
        let one = one as u32;
        let range = self.high - self.low;
        let middle = self.low + (range >> 16) * one + (((range & 65535) * one) >> 16);
        let outcome = chosen.unwrap_or(self.value <= middle);
        if outcome {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while self.low >> 24 == self.high >> 24 {
            self.written.push((self.low >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 255;
            self.read_byte();
        }
        outcome
    }

    /// What the encoder writes for the outcomes.
    fn end(mut self) -> Vec<u8> {
        let (low, high) = (u64::from(self.low), u64::from(self.high));
        let ending_in = |zero_bytes: u32| low.next_multiple_of(1 << (8 * zero_bytes));
        let mut numbers = (0..=4).rev().map(ending_in);
        let number = numbers.find(|number| *number <= high);
        let number = number.expect("low ends in at least no zero bytes");
        self.written.extend((number as u32).to_be_bytes());
        while self.written.last() == Some(&0) {
            self.written.pop();
        }
        self.written
    }
}

/// The prior (section 4), each but the errors by way.
struct Prior {
    weights: [Vec<[i64; 8]>; 2],
    adaptive: [Vec<i64>; 2],
    errors: Vec<i64>,
    table: [Vec<i64>; 2],
}

const WEIGHTS: usize = 296;
const ADAPTIVE: usize = 4736;
const ERRORS: usize = 4096;
const TABLE: usize = 311_296;

static PRIOR: LazyLock<Prior> = LazyLock::new(|| {
    let bytes = include_bytes!("../../prior.bin");
    let mut rest = bytes
        .strip_prefix(b"CWPRIOR1")
        .expect("the file is a prior");
    // Bytes that follow.
    let mut take = |length: usize| {
        let (taken, after) = rest.split_at(length);
        rest = after;
        taken
    };
    let recordings = usize::from(take(1)[0]);
    take(8 * recordings);
    let mut weights = || {
        let (sets, _) = take(16 * WEIGHTS).as_chunks::<16>();
        let word = |set: &[u8; 16], n: usize| i16::from_le_bytes([set[2 * n], set[2 * n + 1]]);
        let read = |set| [0, 1, 2, 3, 4, 5, 6, 7].map(|n| i64::from(word(set, n)));
        sets.iter().map(read).collect()
    };
    let weights = [weights(), weights()];
    let mut words = |count: usize| {
        let (words, _) = take(2 * count).as_chunks::<2>();
        let read = |word: &[u8; 2]| i64::from(u16::from_le_bytes(*word));
        words.iter().map(read).collect()
    };
    let adaptive = [words(ADAPTIVE), words(ADAPTIVE)];
    let errors = words(ERRORS);
    let mut table = || {
        let read = |byte: &u8| i64::from(byte.cast_signed());
        take(TABLE).iter().map(read).collect()
    };
    let table = [table(), table()];
    assert!(rest.is_empty(), "the prior goes on");
    Prior {
        weights,
        adaptive,
        errors,
        table,
    }
});

/// *probability(n)* for n = −2048..=2048 (section 6).
static PROBABILITY: LazyLock<Vec<i64>> = LazyLock::new(|| {
    let one: u128 = 1 << 32;
    let mut power = one;
    let mut upper = Vec::new();
    for _ in 0..=2048 {
        let probability = (power << 16) / (power + one);
        upper.push((probability as i64).clamp(16, 65520));
        power = (power * 4_311_777_322) >> 32;
    }
    let lower = upper[1..].iter().rev().map(|upper| 65536 - upper);
    lower.chain(upper.iter().copied()).collect()
});

fn probability(n: i64) -> i64 {
    PROBABILITY[(n + 2048) as usize]
}

/// *odds(p)* by p >> 4 (section 6).
static ODDS: LazyLock<Vec<i64>> = LazyLock::new(|| {
    let odds = |v: i64| {
        let fits = |n: &i64| probability(*n) <= v;
        (-2047..=2047).rev().find(fits).unwrap_or(-2047)
    };
    (0..4096).map(|p| odds(16 * p + 8)).collect()
});

// The sites of section 4.
pub(crate) const MOVED_CHANGES: usize = 0;
pub(crate) const LYING_CHANGES: usize = 1;
pub(crate) const TOGGLES: usize = 2;
pub(crate) const LARGEST_IS_THE_GUESSES: usize = 3;
pub(crate) const LARGEST_IS_THE_NEXT: usize = 4;
pub(crate) const ANY_UNTOUCHED: usize = 5;
pub(crate) const SAME_ORIENTATION: usize = 6;
pub(crate) const SAME_POSITION: usize = 7;

/// The component of a residual, with its contexts (section 4).
pub(crate) struct Residual {
    pub(crate) component: usize,
    pub(crate) adaptive: usize,
    pub(crate) contexts: [usize; 4],
}

/// What decisions change (section 5).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Probabilities {
    pub(crate) way: usize,
    weights: Vec<[i64; 8]>,
    adaptive: Vec<i64>,
    errors: Vec<i64>,
}

impl Probabilities {
    /// The prior's part.
    pub(crate) fn of_prior(way: usize) -> Self {
        Self {
            way,
            weights: PRIOR.weights[way].clone(),
            adaptive: PRIOR.adaptive[way].clone(),
            errors: PRIOR.errors.clone(),
        }
    }
}

/// Decisions, and what is learned from them (section 6).
pub(crate) struct Decisions<'a> {
    coder: Coder<'a>,
    learned: Probabilities,
    refusal: Option<&'static str>,
}

impl<'a> Decisions<'a> {
    /// Those of a packet.
    pub(crate) fn read(bytes: &'a [u8], learned: Probabilities) -> Self {
        Self {
            coder: Coder::new(bytes, None),
            learned,
            refusal: None,
        }
    }

    /// Those that `choice` takes.
    pub(crate) fn choose(choice: Choice<'a>, learned: Probabilities) -> Self {
        Self {
            coder: Coder::new(&[], Some(choice)),
            learned,
            refusal: None,
        }
    }

    /// Refuses the packet, in the end, unless `holds` (section 16).
    pub(crate) fn require(&mut self, holds: bool, otherwise: &'static str) {
        if !holds {
            self.refusal = self.refusal.or(Some(otherwise));
        }
    }

    /// What is written for those that were chosen.
    pub(crate) fn written(self) -> Vec<u8> {
        self.coder.end()
    }

    pub(crate) fn way(&self) -> usize {
        self.learned.way
    }

    /// What is learned, if the bytes are what an encoder writes (section 16).
    pub(crate) fn end(self) -> Result<Probabilities, String> {
        check(self.refusal.is_none(), self.refusal.unwrap_or_default())?;
        let bytes = self.coder.bytes;
        check(self.coder.end() == bytes, "not an encoder's decisions")?;
        Ok(self.learned)
    }

    fn decide(&mut self, weights: usize, adaptive: usize, places: &[usize]) -> bool {
        let mut odds = [0; 8];
        for (odds, place) in odds.iter_mut().zip(places) {
            *odds = 16 * PRIOR.table[self.learned.way][*place];
        }
        odds[places.len()] = ODDS[(self.learned.adaptive[adaptive] >> 4) as usize];
        let weights = &mut self.learned.weights[weights];
        let weighted = odds.iter().zip(weights.iter()).map(|(odds, w)| odds * w);
        let mixed = (weighted.sum::<i64>() >> 14).clamp(-2047, 2047);
        let one = probability(mixed);
        let outcome = self.coder.decide(one);
        let error = i64::from(((i64::from(outcome) * 65536 - one) >> 1) as i16);
        for (w, odds) in weights.iter_mut().zip(odds) {
            *w = (*w + ((odds * 4 * error) >> 16)).clamp(-32768, 32767);
        }
        self.adapt(adaptive, outcome);
        outcome
    }

    /// A bit of an even decision (section 3).
    pub(crate) fn even(&mut self) -> i64 {
        i64::from(self.fixed(32768))
    }

    /// A decision that teaches nothing.
    pub(crate) fn fixed(&mut self, one: i64) -> bool {
        self.coder.decide(one)
    }

    fn adapt(&mut self, adaptive: usize, outcome: bool) {
        let p = &mut self.learned.adaptive[adaptive];
        *p = (*p + ((i64::from(outcome) * 65535 - *p) >> 5)).clamp(32, 65503);
    }

    /// A decision of a site (section 4).
    pub(crate) fn site(&mut self, site: usize, adaptive: usize, contexts: &[usize]) -> bool {
        let places = contexts.iter().enumerate();
        let places: Vec<usize> = places
            .map(|(input, context)| 2048 * site + 1024 * input + context)
            .collect();
        self.decide(site, 16 * site + adaptive, &places)
    }

    /// Whether an untouched cube changes (section 10).
    pub(crate) fn untouched_changes(&mut self) -> bool {
        let adaptive = 16 * LYING_CHANGES + 15;
        let outcome = self.coder.decide(self.learned.adaptive[adaptive]);
        self.adapt(adaptive, outcome);
        outcome
    }

    /// A node of a residual (section 4).
    fn node(&mut self, of: &Residual, n: usize) -> usize {
        let c = of.component;
        let place = |input: usize| 16384 + (4 * c + input) * 12288 + 48 * of.contexts[input] + n;
        let places = [0, 1, 2, 3].map(place);
        let adaptive = 128 + (16 * c + of.adaptive) * 48 + n;
        usize::from(self.decide(8 + 48 * c + n, adaptive, &places))
    }

    /// A residual (section 13).
    pub(crate) fn residual(&mut self, of: &Residual) -> i64 {
        let mut path = 1;
        for _ in 0..3 {
            path = 2 * path + self.node(of, path);
        }
        let mut d = path - 8;
        if d == 0 {
            return 0;
        }
        if d == 7 {
            while d < 20 && self.node(of, 8 + (d - 7).min(7)) == 1 {
                d += 1;
            }
        }
        let is_negative = self.node(of, 0) == 1;
        let m = d.min(12);
        let mut size = 1;
        if d >= 2 {
            let first = self.node(of, 16 + m - 2);
            size = 2 * size + first as i64;
            if d >= 3 {
                size = 2 * size + self.node(of, 27 + 2 * (m - 3) + first) as i64;
            }
        }
        for _ in 3..d {
            size = 2 * size + self.even();
        }
        if is_negative { -size } else { size }
    }

    /// The guesses of a class that are chosen and other (section 11).
    pub(crate) fn best_guesses(&self, errors: usize, guesses: usize) -> (usize, usize) {
        if self.learned.way == 0 {
            return (0, 1);
        }
        let mut order: Vec<usize> = (0..guesses).collect();
        order.sort_by_key(|guess| self.learned.errors[errors + guess]);
        (order[0], order[1])
    }

    /// Learns how far each guess of a class was off, and gives the best (section 11).
    pub(crate) fn learn_errors(&mut self, errors: usize, off: &[i64]) -> usize {
        if self.learned.way == 0 {
            return 0;
        }
        for (e, off) in self.learned.errors[errors..].iter_mut().zip(off) {
            if *e != 65535 {
                *e += (16 * off.min(&2000) - *e) >> 5;
            }
        }
        let least = off.iter().min();
        off.iter().position(|off| Some(off) == least).unwrap_or(0)
    }
}
