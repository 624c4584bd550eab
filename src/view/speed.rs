//! Says so while the game plays slower than real time, because drawing takes long.

use std::time::Duration;

use bevy::prelude::*;
use bevy::window::PrimaryWindow;

use super::notices::Notices;

/// Time over which the speed is measured. The first such time does not count, because shaders are compiled.
const PERIOD: Duration = Duration::from_secs(3);

/// Speed in percent of real time, rounded to 5 %, below which the game is slow.
const SLOW_PERCENT: u32 = 90;

/// Real time, and how much of it the game played. Bevy's clock of the game advances by at most 250 ms per frame.
#[derive(Debug, Default)]
pub(super) struct Played {
    real: Duration,
    game: Duration,
}

impl Played {
    /// Adds a frame. At the end of a period, returns the speed in percent and starts again.
    fn add(&mut self, real: Duration, game: Duration) -> Option<u32> {
        self.real += real;
        self.game += game;
        if self.real < PERIOD {
            return None;
        }
        let Self { real, game } = std::mem::take(self);
        Some(5 * (20.0 * game.as_secs_f64() / real.as_secs_f64()).round() as u32)
    }
}

pub(super) fn tell(
    real: Res<Time<Real>>,
    game: Res<Time<Virtual>>,
    window: Single<&Window, With<PrimaryWindow>>,
    mut played: Local<Played>,
    mut notices: ResMut<Notices>,
) {
    // The system may throttle a window in the background.
    if game.is_paused() || !window.focused {
        *played = Played::default();
        notices.slow = None;
    } else if let Some(percent) = played.add(real.delta(), game.delta())
        && real.elapsed() > PERIOD.mul_f32(1.5)
    {
        let is_slow = percent < SLOW_PERCENT;
        notices.slow = is_slow.then(|| format!("Slow graphics: playing at {percent} % speed"));
    }
}

#[cfg(test)]
mod tests {
    use bevy::time::TimePlugin;
    use bevy::time::TimeUpdateStrategy::ManualDuration;

    use super::*;

    #[test]
    fn slow_frames_are_told_until_they_are_fast_again_or_the_game_pauses() {
        let mut app = App::new();
        app.add_plugins(TimePlugin).init_resource::<Notices>().add_systems(Update, tell);
        app.world_mut().spawn((Window::default(), PrimaryWindow));
        let mut after = |frame: u64, count: u64| {
            app.insert_resource(ManualDuration(Duration::from_millis(frame)));
            (0..count).for_each(|_| app.update());
            app.world().resource::<Notices>().slow.clone()
        };
        assert_eq!(after(500, 8), None, "shaders are compiled");
        let slow = "Slow graphics: playing at 50 % speed";
        assert_eq!(after(500, 6).as_deref(), Some(slow));
        assert_eq!(after(625, 10).as_deref(), Some("Slow graphics: playing at 40 % speed"));
        assert_eq!(after(100, 70), None);
        assert_eq!(after(500, 12).as_deref(), Some(slow));
        app.world_mut().resource_mut::<Time<Virtual>>().pause();
        app.update();
        assert_eq!(app.world().resource::<Notices>().slow, None);
    }
}
