//! The level of H.264 that a file declares, from Table A-1 of ITU-T H.264. A player refuses a file of a level that it does
//! not support, and may fail to play a file that declares too low a level.
//!
//! `OpenH264` takes every rate above 60 frames a second for 60, and knows no level above 5.2.

/// Smallest level for a picture size and a number of frames a second, as `level_idc`: ten times the level.
pub(super) fn level((width, height): (u32, u32), fps: u32) -> u8 {
    let [wide, high] = [width, height].map(|side| side.div_ceil(16));
    let blocks = wide * high;
    let fits = |&&(_, per_second, per_frame): &&(u8, u32, u32)| {
        let longest = wide.max(high);
        blocks * fps <= per_second && blocks <= per_frame && longest * longest <= 8 * per_frame
    };
    LEVELS.iter().find(fits).unwrap_or(&LEVELS[LEVELS.len() - 1]).0
}

/// Levels with their largest number of macroblocks a second (`MaxMBPS`) and in a frame (`MaxFS`). Levels 2 and 4.1 have those
/// of the level before.
const LEVELS: [(u8, u32, u32); 17] = [
    (10, 1_485, 99),
    (11, 3_000, 396),
    (12, 6_000, 396),
    (13, 11_880, 396),
    (21, 19_800, 792),
    (22, 20_250, 1_620),
    (30, 40_500, 1_620),
    (31, 108_000, 3_600),
    (32, 216_000, 5_120),
    (40, 245_760, 8_192),
    (42, 522_240, 8_704),
    (50, 589_824, 22_080),
    (51, 983_040, 36_864),
    (52, 2_073_600, 36_864),
    (60, 4_177_920, 139_264),
    (61, 8_355_840, 139_264),
    (62, 16_711_680, 139_264),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_is_used_up_to_its_limits() {
        assert!(LEVELS.is_sorted());
        for pair in LEVELS.windows(2) {
            let [(below, per_second, per_frame), (_, faster, larger)] = [pair[0], pair[1]];
            // A row of macroblocks is too long for every level, so the picture is a square.
            let side = per_frame.isqrt();
            let size = (16 * side, 16 * side);
            let fps = per_second / (side * side);
            assert!(level(size, fps) <= below, "{below}");
            if faster > per_second {
                assert!(level(size, fps + 1) > below, "{below}");
            }
            if larger > per_frame {
                assert!(level((16 * (side + 1), 16 * (side + 1)), 1) > below, "{below}");
            }
        }
    }

    #[test]
    fn films_have_the_level_of_their_size_and_rate() {
        for (size, fps, wanted) in [
            ((16, 16), 1, 10),
            ((640, 360), 60, 31),
            ((640, 360), 240, 40),
            ((1280, 720), 30, 31),
            ((1280, 720), 60, 32),
            ((1280, 720), 120, 42),
            ((1920, 1080), 60, 42),
            ((1920, 1080), 120, 51),
            ((1080, 1920), 120, 51),
            ((3840, 2160), 60, 52),
            ((3840, 2160), 240, 61),
            // Long pictures need a level with large frames.
            ((3840, 16), 1, 40),
            ((3840, 2160), 1000, 62),
        ] {
            assert_eq!(level(size, fps), wanted, "{size:?} at {fps}");
        }
    }
}
