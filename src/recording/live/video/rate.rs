//! Selects the pictures of a display that become frames of a video with another frame rate.

use std::time::Duration;

/// Assigns frame numbers of a video with a fixed rate to the pictures of a display with any rate. Pictures of a faster
/// display are skipped. With a slower display, frame numbers are skipped, and those frames repeat the previous picture.
///
/// Pictures arrive slightly early or late. A frame takes a picture from its own time up to [`MAX_LAG`] frames later, so
/// a display with the rate of the video loses at most one picture to jitter.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameRate {
    per_second: u32,
    /// Number of the next frame.
    next: u64,
}

/// Maximum lag of a picture in frames. Beyond it, frame numbers are skipped.
const MAX_LAG: f64 = 2.0;

impl FrameRate {
    pub(super) const fn new(per_second: u32) -> Self {
        Self { per_second, next: 0 }
    }

    /// Returns the frame number for a picture at `time` since the start of the video, or `None` to skip the picture.
    pub(super) fn frame_at(&mut self, time: Duration) -> Option<u64> {
        let frames = time.as_secs_f64() * f64::from(self.per_second);
        let lag = frames - self.next as f64;
        if lag < 0.0 {
            return None;
        }
        let frame = match lag < MAX_LAG {
            true => self.next,
            false => (frames - MAX_LAG + 1.0) as u64,
        };
        self.next = frame + 1;
        Some(frame)
    }

    /// Number of frames so far, including skipped ones.
    pub(super) const fn frames(&self) -> u64 {
        self.next
    }

    /// Start time of a frame.
    pub(super) fn time(per_second: u32, frame: u64) -> Duration {
        let nanoseconds = u128::from(frame) * 1_000_000_000 / u128::from(per_second);
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of the pictures of a display in ten seconds. Each is early or late by up to `jitter` frames of the
    /// display.
    fn pictures(rate: f64, jitter: f64) -> impl Iterator<Item = f64> {
        let mut random = 1_u64;
        (0..(10.0 * rate) as u64).map(move |picture| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let by = (random >> 40) as f64 / f64::from(1 << 23) - 1.0;
            ((picture as f64 + by * jitter) / rate).max(0.0)
        })
    }

    /// Frame numbers of the pictures, and the number of skipped pictures.
    fn film(per_second: u32, pictures: impl Iterator<Item = f64>) -> (Vec<u64>, usize) {
        let mut rate = FrameRate::new(per_second);
        let (mut frames, mut left_out) = (Vec::new(), 0);
        for time in pictures {
            match rate.frame_at(Duration::from_secs_f64(time)) {
                Some(frame) => {
                    let lag = time * f64::from(per_second) - frame as f64;
                    assert!((-0.001..2.001).contains(&lag), "frame {frame} at {time} s");
                    frames.push(frame);
                }
                None => left_out += 1,
            }
            let wanted = time * f64::from(per_second);
            let ahead = rate.frames() as f64 - wanted;
            assert!(ahead.abs() < 1.001, "{ahead} frames ahead at {time} s");
        }
        assert!(frames.is_sorted_by(|one, other| one < other));
        (frames, left_out)
    }

    #[test]
    fn a_video_has_its_rate_on_every_display() {
        for per_second in [60, 30] {
            for display in [24.0, 50.0, 59.94, 60.0, 60.06, 75.0, 90.0, 120.0, 144.0, 165.0, 240.0]
            {
                for jitter in [0.0, 0.2, 0.4] {
                    let (frames, left_out) = film(per_second, pictures(display, jitter));
                    let (rate, pictures) = (f64::from(per_second), (10.0 * display) as usize);
                    // Every frame has a separate picture if there are enough.
                    let wanted = (10.0 * rate).min(pictures as f64) as usize;
                    let few = frames.len().abs_diff(wanted);
                    assert!(few <= 3, "{} of {wanted} at {display} Hz", frames.len());
                    assert_eq!(frames.len() + left_out, pictures);
                }
            }
        }
    }

    #[test]
    fn a_display_of_the_same_rate_loses_at_most_one_picture() {
        for jitter in [0.0, 0.1, 0.2, 0.4, 0.49] {
            let (frames, left_out) = film(60, pictures(60.0, jitter));
            assert!(left_out <= 1 && frames.len() >= 599, "{left_out}");
        }
    }

    #[test]
    fn a_display_that_stutters_leaves_frames_out_and_none_behind() {
        let stutters = |time: &f64| time % 1.7 > 0.4;
        for display in [50.0, 60.0, 75.0, 144.0] {
            let (frames, _) = film(60, pictures(display, 0.2).filter(stutters));
            assert!(frames.windows(2).any(|pair| pair[1] - pair[0] > 20));
        }
    }

    #[test]
    fn frames_begin_at_multiples_of_their_time() {
        assert_eq!(FrameRate::time(60, 0), Duration::ZERO);
        assert_eq!(FrameRate::time(60, 90), Duration::from_millis(1500));
        assert_eq!(FrameRate::time(30, 1 << 34).as_secs(), (1 << 34) / 30);
    }
}
