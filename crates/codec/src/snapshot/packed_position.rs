//! Position and interacting flag in one word.

/// Position of a body in steps, and whether it is interacting:
///
/// ```text
/// interacting 1 | z 21 | y 21 | x 21          two's complement
/// ```
///
/// 21 bits are enough for every [`Position::Quantized`](crate::stages::Position::Quantized). A word takes half of the
/// memory of three integers and a `bool`, and one comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedPosition(u64);

const AXIS_BITS: u32 = 21;
const AXIS: u64 = (1 << AXIS_BITS) - 1;
const INTERACTING: u64 = 1 << 63;

impl PackedPosition {
    /// Each axis must be within −2²⁰..2²⁰.
    #[inline]
    pub(crate) fn new([x, y, z]: [i32; 3], interacting: bool) -> Self {
        debug_assert!([x, y, z].iter().all(|axis| (-(1 << 20)..1 << 20).contains(axis)));
        let [x, y, z] = [x, y, z].map(|axis| u64::from(axis.cast_unsigned()) & AXIS);
        Self(x | y << AXIS_BITS | z << (2 * AXIS_BITS) | u64::from(interacting) << 63)
    }

    #[inline]
    pub(crate) const fn position(self) -> [i32; 3] {
        // Shifts each axis to the top and back, which extends its sign.
        const UNUSED: u32 = u64::BITS - AXIS_BITS;
        [
            ((self.0 << UNUSED).cast_signed() >> UNUSED) as i32,
            ((self.0 << (UNUSED - AXIS_BITS)).cast_signed() >> UNUSED) as i32,
            ((self.0 << (UNUSED - 2 * AXIS_BITS)).cast_signed() >> UNUSED) as i32,
        ]
    }

    /// The bits of x and y from bit `bits` on. Higher bits of the results contain other axes.
    #[inline]
    pub(crate) const fn shifted_xy(self, bits: u32) -> [i32; 2] {
        let shifted = self.0 >> bits;
        [shifted as i32, (shifted >> AXIS_BITS) as i32]
    }

    #[inline]
    pub(crate) const fn is_interacting(self) -> bool {
        self.0 & INTERACTING != 0
    }
}
