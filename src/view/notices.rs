//! Messages to the user, shown over the scene one at a time.

use std::collections::VecDeque;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_scene::TICKS_PER_SECOND;

use super::side::Side;
use crate::controls::Inputs;
use crate::history::Moment;
use crate::replication::{Lane, LaneMeter};

const SHOWN_FOR: Duration = Duration::from_secs(4);

/// Messages over the scene, and the state of recordings.
#[derive(Resource, Clone, Debug, Default)]
pub struct Notices {
    /// Length of the replay that is being recorded, shown next to a red dot.
    pub replay: Option<String>,
    pub connection: Option<String>,
    pub autoplay: Option<&'static str>,
    /// Progress of the film that is rendered. `None` without a film.
    pub film: Option<FilmProgress>,
    pub hint: Option<&'static str>,
    /// Speed of the game while it is slower than real time.
    pub(super) slow: Option<String>,
    state: Option<String>,
    sentences: VecDeque<Sentence>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FilmProgress {
    /// Rendered part, 0 to 1.
    pub fraction: f32,
    /// Estimated time until the film is complete. `None` before the first frames.
    pub left_seconds: Option<u32>,
}

#[derive(Clone, Debug)]
struct Sentence {
    text: String,
    is_error: bool,
    /// End of display on the real clock. `None` before the first frame that shows it.
    until: Option<Duration>,
}

impl Notices {
    /// Logs `sentence` and queues it for display for four seconds.
    pub fn show(&mut self, sentence: impl Into<String>) {
        self.add(Ok::<_, String>(sentence.into()));
    }

    /// Logs an error and queues it for display until a key is pressed.
    pub fn fail(&mut self, sentence: impl Into<String>) {
        self.add(Err(sentence.into()));
    }

    /// [Shows](Self::show) a sentence about a result, or [an error](Self::fail).
    pub fn add(&mut self, result: Result<String, impl ToString>) {
        let result = result.map_err(|error| error.to_string());
        match &result {
            Ok(sentence) => info!("{sentence}"),
            Err(sentence) => warn!("{sentence}"),
        }
        let is_error = result.is_err();
        let (Ok(text) | Err(text)) = result;
        self.sentences.push_back(Sentence { text, is_error, until: None });
    }

    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.sentences.iter().map(|sentence| sentence.text.as_str())
    }

    /// Removes the first message when its time is over or, for an error, when a key is pressed. `now` is the real
    /// clock.
    fn go_on(&mut self, now: Duration, is_pressed: bool) {
        let Some(first) = self.sentences.front_mut() else { return };
        let until = *first.until.get_or_insert(now + SHOWN_FOR);
        let is_over = match first.is_error {
            // Ignores the key press that caused the error.
            true => is_pressed && until < now + SHOWN_FOR,
            false => until <= now,
        };
        if is_over {
            self.sentences.pop_front();
            if let Some(next) = self.sentences.front_mut() {
                next.until = Some(now + SHOWN_FOR);
            }
        }
    }

    /// Text to show now, and whether it is an error. Queued messages come before states.
    pub(super) fn shown(&self) -> Option<(&str, bool)> {
        let sentence = self.sentences.front();
        let sentence = sentence.map(|sentence| (sentence.text.as_str(), sentence.is_error));
        let states = [self.connection.as_deref(), self.state.as_deref(), self.autoplay, self.hint];
        let state = states.into_iter().flatten().next();
        sentence.or(state.map(|state| (state, false)))
    }

    pub(super) fn recording(&self) -> &str {
        self.replay.as_deref().unwrap_or_default()
    }
}

/// Updates the text about the pause, with the age of the shown tick, and advances the queue of messages.
pub(super) fn follow(
    time: Res<Time<Virtual>>,
    clock: Res<Time<Real>>,
    inputs: Inputs<'_>,
    moment: Res<Moment>,
    lanes: Query<&LaneMeter, (With<Lane>, With<Side>)>,
    mut notices: ResMut<Notices>,
) {
    let newest = lanes.iter().filter_map(|meter| meter.newest_tick()).max();
    let ago = moment.0.and_then(|tick| newest?.checked_sub(tick));
    let ago = ago.filter(|_| time.is_paused()).map(|ticks| {
        let seconds = ticks as f64 / f64::from(TICKS_PER_SECOND);
        // The timeline names the keys that move through the past.
        format!("Paused, {seconds:.1} s ago · P resumes")
    });
    let paused = || "Paused. N steps one tick · P resumes".to_owned();
    notices.state = ago.or_else(|| time.is_paused().then(paused));
    notices.go_on(clock.elapsed(), inputs.is_any_pressed());
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn shown(notices: &Notices) -> &str {
        notices.shown().map_or("", |(text, _)| text)
    }

    #[test]
    fn an_error_stays_until_a_key_and_a_state_is_shown_in_between() {
        let mut notices = Notices { hint: Some("F2 shows the panel"), ..Notices::default() };
        notices.fail("the disk is full");
        notices.show("saved");
        notices.go_on(SECOND, true);
        notices.go_on(SECOND * 600, false);
        assert_eq!(notices.shown(), Some(("the disk is full", true)));
        notices.go_on(SECOND * 600, true);
        assert_eq!(notices.shown(), Some(("saved", false)));
        notices.go_on(SECOND * 600 + SHOWN_FOR, false);
        assert_eq!(shown(&notices), "F2 shows the panel");
    }
}
