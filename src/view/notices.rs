//! Messages to the user, shown over the scene.

use std::time::Duration;

use bevy::prelude::*;

/// How long a sentence is shown.
const SHOWN_FOR: Duration = Duration::from_secs(8);

/// Messages over the scene, and the state of recordings.
#[derive(Resource, Clone, Debug, Default)]
pub struct Notices {
    /// The length of the replay that is being recorded, next to a red dot.
    pub replay: Option<String>,
    /// The state of a connection that is not established.
    pub connection: Option<String>,
    /// That the game plays by itself.
    pub autoplay: Option<&'static str>,
    /// How to bring back the hidden panel.
    pub hint: Option<&'static str>,
    /// Whether the game is paused, as a sentence.
    pub(super) state: Option<&'static str>,
    /// Each with the time of the real clock until which it is shown.
    sentences: Vec<(String, Duration)>,
    are_hidden: bool,
}

impl Notices {
    /// Shows a sentence for a while and logs it; `now` is by the real clock.
    pub fn show(&mut self, sentence: String, now: Duration) {
        info!("{sentence}");
        self.sentences.push((sentence, now + SHOWN_FOR));
    }

    /// The sentences that are being shown, oldest first.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.sentences.iter().map(|(sentence, _)| sentence.as_str())
    }

    /// Whether none of these are shown, as the window is being recorded.
    #[must_use]
    pub const fn are_hidden(&self) -> bool {
        self.are_hidden
    }

    /// Hides everything, or shows it again: sentences are then shown for their whole time, as nobody has
    /// read them. `now` is by the real clock.
    pub fn hide(&mut self, are_hidden: bool, now: Duration) {
        if self.are_hidden && !are_hidden {
            for (_, until) in &mut self.sentences {
                *until = now + SHOWN_FOR;
            }
        }
        self.are_hidden = are_hidden;
    }

    /// Removes expired sentences; `now` is by the real clock.
    pub(super) fn expire(&mut self, now: Duration) {
        if self.are_hidden {
            return;
        }
        self.sentences.retain(|(_, until)| now < *until);
    }

    /// The text that is shown now, one line per message.
    pub(super) fn text(&self) -> String {
        if self.are_hidden {
            return String::new();
        }
        let connection = self.connection.as_deref();
        let sentences = self.sentences();
        let lines = connection.into_iter().chain(self.state);
        let lines = lines.chain(self.autoplay).chain(self.hint);
        let lines = lines.chain(sentences);
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The replay in progress; empty if there is none.
    pub(super) fn recording(&self) -> String {
        let replay = self.replay.clone().filter(|_| !self.are_hidden);
        replay.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_during_a_video_is_shown_after_it() {
        let second = Duration::from_secs(1);
        let mut notices = Notices {
            replay: Some("replay 0:01.0".to_owned()),
            ..Notices::default()
        };
        notices.show("before".to_owned(), second);
        notices.hide(true, second * 2);
        notices.show("during".to_owned(), second * 3);
        notices.expire(second * 60);
        assert_eq!((notices.text(), notices.recording()), Default::default());
        notices.hide(false, second * 60);
        notices.expire(second * 60);
        assert_eq!(notices.text(), "before\nduring");
        assert_eq!(notices.recording(), "replay 0:01.0");
        notices.expire(second * 60 + SHOWN_FOR);
        assert_eq!(notices.text(), "");
    }
}
