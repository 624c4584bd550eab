//! Sections 3, 4, 6 and 13 of `DECISIONS.md`, implemented from the text alone: how a bin is decoded, and what
//! adapts after it.

use std::sync::LazyLock;

use crate::second_bits::check;
use crate::second_predictor::Vector;

/// Chooses the values of bins from *one*, instead of decoding them.
pub(crate) type Choice<'a> = &'a mut dyn FnMut(i64) -> bool;

/// The arithmetic decoder, which also encodes what it decodes (sections 3 and 16).
pub(crate) struct Coder<'a> {
    bytes: &'a [u8],
    choice: Option<Choice<'a>>,
    at: usize,
    low: u64,
    high: u64,
    /// The bytes read, as a number inside `low..=high`.
    value: u64,
    written: Vec<u8>,
}

impl<'a> Coder<'a> {
    pub(crate) fn new(bytes: &'a [u8], choice: Option<Choice<'a>>) -> Self {
        let mut coder = Self {
            bytes,
            choice,
            at: 0,
            low: 0,
            high: u64::MAX,
            value: 0,
            written: Vec::new(),
        };
        for _ in 0..8 {
            coder.read_byte();
        }
        coder
    }

    fn read_byte(&mut self) {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.value = self.value << 8 | u64::from(byte);
        self.at += 1;
    }

    pub(crate) fn bin(&mut self, one: i64) -> bool {
        let chosen = self.choice.as_mut().map(|choose| choose(one));
        self.code(one, chosen)
    }

    /// Decodes a bin unless it has been chosen.
    fn code(&mut self, one: i64, chosen: Option<bool>) -> bool {
        let range = self.high - self.low;
        let middle = self.low + (range >> 16) * one as u64;
        let bin = chosen.unwrap_or(self.value <= middle);
        if bin {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while self.low >> 32 == self.high >> 32 {
            for _ in 0..4 {
                self.written.push((self.low >> 56) as u8);
                self.low <<= 8;
                self.high = self.high << 8 | 255;
                self.read_byte();
            }
        }
        bin
    }

    /// The encoder's bytes for these bins.
    fn end(mut self) -> Vec<u8> {
        let (low, high) = (u128::from(self.low), u128::from(self.high));
        let ending_in = |zero_bytes: u32| low.next_multiple_of(1 << (8 * zero_bytes));
        let mut numbers = (0..=8).rev().map(ending_in);
        let number = numbers.find(|number| *number <= high);
        let number = number.expect("low ends in at least no zero bytes");
        let least = self.written.len().saturating_sub(8);
        self.written.extend((number as u64).to_be_bytes());
        while self.written.len() > least && self.written.last() == Some(&0) {
            self.written.pop();
        }
        self.written
    }
}

/// The trained model (section 4), by variant except for the errors.
struct Model {
    weights: [Vec<[i64; 8]>; 2],
    adaptive: [Vec<i64>; 2],
    errors: Vec<i64>,
    blends: Vec<[i64; 8]>,
    table: [Vec<i64>; 2],
}

const WEIGHTS: usize = 506;
const ADAPTIVE: usize = 4;
const ERRORS: usize = 2928;
const BLENDS: usize = 528;
const TABLE: usize = 112_640;

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let bytes = include_bytes!("../../model.bin");
    let mut rest = bytes
        .strip_prefix(b"CWPRIOR4")
        .expect("the file is a trained model");
    // Bytes that follow.
    let mut take = |length: usize| {
        let (taken, after) = rest.split_at(length);
        rest = after;
        taken
    };
    let recordings = usize::from(take(1)[0]);
    take(8 * recordings);
    let sets = |bytes: &[u8]| {
        let (sets, _) = bytes.as_chunks::<16>();
        let word = |set: &[u8; 16], n: usize| i16::from_le_bytes([set[2 * n], set[2 * n + 1]]);
        let read = |set| [0, 1, 2, 3, 4, 5, 6, 7].map(|n| i64::from(word(set, n)));
        sets.iter().map(read).collect()
    };
    let weights = [sets(take(16 * WEIGHTS)), sets(take(16 * WEIGHTS))];
    let mut words = |count: usize| {
        let (words, _) = take(2 * count).as_chunks::<2>();
        let read = |word: &[u8; 2]| i64::from(u16::from_le_bytes(*word));
        words.iter().map(read).collect()
    };
    let adaptive = [words(ADAPTIVE), words(ADAPTIVE)];
    let errors = words(ERRORS);
    let blends = sets(take(16 * BLENDS));
    let mut table = || {
        let read = |byte: &u8| i64::from(byte.cast_signed());
        take(TABLE).iter().map(read).collect()
    };
    let table = [table(), table()];
    assert!(rest.is_empty(), "the model has more bytes");
    Model {
        weights,
        adaptive,
        errors,
        blends,
        table,
    }
});

/// *squash(n)* for n = −2048..=2048 (section 6).
static SQUASH: LazyLock<Vec<i64>> = LazyLock::new(|| {
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

fn squash(n: i64) -> i64 {
    SQUASH[(n + 2048) as usize]
}

// The flags of section 4.
pub(crate) const ACTIVE_CHANGES: usize = 0;
pub(crate) const RESTING_CHANGES: usize = 1;
pub(crate) const TOGGLES: usize = 2;
pub(crate) const SAME_LARGEST: usize = 3;
pub(crate) const NEXT_LARGEST: usize = 4;
pub(crate) const SAME_ORIENTATION: usize = 5;
pub(crate) const SAME_POSITION: usize = 6;

// The adaptive probabilities of section 4.
pub(crate) const UNTOUCHED_CHANGES: usize = 0;
pub(crate) const ANY_UNTOUCHED: usize = 1;
pub(crate) const AFTER_CLEAR: usize = 2;
pub(crate) const AFTER_SET: usize = 3;

/// The group of a residual's component, with its contexts (section 4).
pub(crate) struct Residual {
    pub(crate) group: usize,
    pub(crate) k: usize,
    /// *history o* or *history p*.
    pub(crate) history: usize,
    pub(crate) contexts: [usize; 4],
}

/// The adaptive tables (section 5).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tables {
    pub(crate) variant: usize,
    weights: Vec<[i64; 8]>,
    adaptive: Vec<i64>,
    errors: Vec<i64>,
}

impl Tables {
    /// The initial tables of the trained model.
    pub(crate) fn initial(variant: usize) -> Self {
        Self {
            variant,
            weights: MODEL.weights[variant].clone(),
            adaptive: MODEL.adaptive[variant].clone(),
            errors: MODEL.errors.clone(),
        }
    }
}

/// The bins of a packet, and the tables that adapt to them (section 6).
pub(crate) struct Bins<'a> {
    coder: Coder<'a>,
    tables: Tables,
    refusal: Option<&'static str>,
}

impl<'a> Bins<'a> {
    /// Decodes them from a packet.
    pub(crate) fn decode(bytes: &'a [u8], tables: Tables) -> Self {
        Self {
            coder: Coder::new(bytes, None),
            tables,
            refusal: None,
        }
    }

    /// Takes those of `choice`.
    pub(crate) fn choose(choice: Choice<'a>, tables: Tables) -> Self {
        Self {
            coder: Coder::new(&[], Some(choice)),
            tables,
            refusal: None,
        }
    }

    /// Refuses the packet at its end unless `holds` (section 16).
    pub(crate) fn require(&mut self, holds: bool, otherwise: &'static str) {
        if !holds {
            self.refusal = self.refusal.or(Some(otherwise));
        }
    }

    /// The bytes of the chosen bins.
    pub(crate) fn encoded(self) -> Vec<u8> {
        self.coder.end()
    }

    pub(crate) fn variant(&self) -> usize {
        self.tables.variant
    }

    /// The adapted tables, if the bytes are canonical (section 16).
    pub(crate) fn end(self) -> Result<Tables, String> {
        check(self.refusal.is_none(), self.refusal.unwrap_or_default())?;
        let bytes = self.coder.bytes;
        check(self.coder.end() == bytes, "the bins are not canonical")?;
        Ok(self.tables)
    }

    fn bin(&mut self, weights: [usize; 2], slots: &[usize]) -> bool {
        let mut inputs = [0; 8];
        for (input, slot) in inputs.iter_mut().zip(slots) {
            *input = 16 * MODEL.table[self.tables.variant][*slot];
        }
        inputs[slots.len()] = 256;
        let [u, v] = weights.map(|set| self.tables.weights[set]);
        let weighted = (0..8).map(|i| inputs[i] * ((u[i] >> 1) + (v[i] >> 1)));
        let mixed = (weighted.sum::<i64>() >> 14).clamp(-2047, 2047);
        let one = squash(mixed);
        let bin = self.coder.bin(one);
        let error = i64::from(((i64::from(bin) * 65536 - one) >> 1) as i16);
        for set in weights {
            for (w, input) in self.tables.weights[set].iter_mut().zip(inputs) {
                *w = (*w + ((input * 2 * error) >> 16)).clamp(-32768, 32767);
            }
        }
        bin
    }

    /// A bypass bin (section 3).
    pub(crate) fn bypass(&mut self) -> i64 {
        i64::from(self.fixed(32768))
    }

    /// A bin of constant probability.
    pub(crate) fn fixed(&mut self, one: i64) -> bool {
        self.coder.bin(one)
    }

    /// The same, but where bins are chosen it is `value`.
    pub(crate) fn written(&mut self, one: i64, value: bool) -> bool {
        let chosen = self.coder.choice.is_some().then_some(value);
        self.coder.code(one, chosen)
    }

    /// A flag (section 4).
    pub(crate) fn flag(&mut self, flag: usize, contexts: &[usize]) -> bool {
        let slots = contexts.iter().enumerate();
        let slots: Vec<usize> = slots
            .map(|(input, context)| 2048 * flag + 1024 * input + context)
            .collect();
        self.bin([2 * flag, 2 * flag + 1], &slots)
    }

    /// A flag without mixing (section 6).
    pub(crate) fn unmixed(&mut self, flag: usize) -> bool {
        let bin = self.coder.bin(self.tables.adaptive[flag]);
        let p = &mut self.tables.adaptive[flag];
        *p = (*p + ((i64::from(bin) * 65535 - *p) >> 5)).clamp(32, 65503);
        bin
    }

    /// A bin of a residual (section 4).
    fn residual_bin(&mut self, of: &Residual, n: usize) -> usize {
        let g = of.group;
        let slot = |input: usize| 14336 + (4 * g + input) * 8192 + 32 * of.contexts[input] + n;
        let slots = [0, 1, 2, 3].map(slot);
        let first = 14 + 164 * g;
        let weights = if n >= 14 {
            let w = first + 64 + n - 14;
            [w, w + 82]
        } else {
            let w = first + n.min(7);
            [w + 8 * of.k, w + 82 + 8 * (of.history / 2)]
        };
        usize::from(self.bin(weights, &slots))
    }

    /// A residual (section 13).
    pub(crate) fn residual(&mut self, of: &Residual) -> i64 {
        let mut path = 1;
        for _ in 0..3 {
            path = 2 * path + self.residual_bin(of, path - 1);
        }
        let mut d = path - 8;
        if d == 0 {
            return 0;
        }
        if d == 7 {
            while d < 20 && self.residual_bin(of, 25 + (d - 7).min(6)) == 1 {
                d += 1;
            }
        }
        let is_negative = self.residual_bin(of, 7 + d.min(7) - 1) == 1;
        let m = d.min(12);
        let mut size = 1;
        if d >= 2 {
            size = 2 * size + self.residual_bin(of, 14 + m - 2) as i64;
            if d >= 3 {
                size = 2 * size + i64::from(self.fixed(28672));
            }
        }
        for _ in 3..d {
            size = 2 * size + self.bypass();
        }
        if is_negative { -size } else { size }
    }

    /// The selected and the secondary candidate of a class (section 11).
    pub(crate) fn best_candidates(&self, errors: usize, candidates: usize) -> (usize, usize) {
        if self.tables.variant == 0 {
            return (0, 1);
        }
        let mut order: Vec<usize> = (0..candidates).collect();
        order.sort_by_key(|candidate| self.tables.errors[errors + candidate]);
        (order[0], order[1])
    }

    /// The sum of a blend (section 14).
    pub(crate) fn blend(&self, blend: usize, differences: &[Vector]) -> Vector {
        [0, 1, 2].map(|axis| {
            let w = MODEL.blends[2 * blend + usize::from(axis == 2)];
            let mut sum = 0.0;
            for (w, difference) in w.into_iter().zip(differences) {
                sum += (w as f32 * (1.0 / 4096.0)) * difference[axis];
            }
            sum
        })
    }

    /// Whether the blend is the prediction (section 11).
    pub(crate) fn is_blended(&self, blend: usize) -> bool {
        let errors = &self.tables.errors[2400 + 2 * blend..];
        errors[1] < errors[0]
    }

    /// Updates the mean error of each candidate of a class, and gives the best one (section 11).
    pub(crate) fn update_errors(&mut self, errors: usize, off: &[i64]) -> usize {
        if self.tables.variant == 0 {
            return 0;
        }
        for (e, off) in self.tables.errors[errors..].iter_mut().zip(off) {
            if *e != 65535 {
                *e += (16 * off.min(&2000) - *e) >> 5;
            }
        }
        let least = off.iter().min();
        off.iter().position(|off| Some(off) == least).unwrap_or(0)
    }
}
