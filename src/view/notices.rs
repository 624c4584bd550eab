//! Messages to the user, shown over the scene.

use std::time::Duration;

use bevy::prelude::*;

/// How long a sentence is shown.
const SHOWN_FOR: Duration = Duration::from_secs(8);

/// Messages over the picture, and the state of recordings.
#[derive(Resource, Clone, Debug, Default)]
pub struct Notices {
    /// The length of the replay that is being recorded, beside a red dot.
    pub replay: Option<String>,
    /// Likewise, of the video.
    pub video: Option<String>,
    /// The state of a connection that is not established.
    pub connection: Option<String>,
    /// How to bring back the hidden panel.
    pub hint: Option<&'static str>,
    /// Whether the game is paused, as a sentence.
    pub(super) state: Option<&'static str>,
    /// Each with the time of the real clock until which it is shown.
    sentences: Vec<(String, Duration)>,
}

impl Notices {
    /// Shows a sentence for a while and logs it; `now` is by the real clock.
    pub fn show(&mut self, sentence: String, now: Duration) {
        info!("{sentence}");
        self.sentences.push((sentence, now + SHOWN_FOR));
    }

    /// Removes expired sentences; `now` is by the real clock.
    pub(super) fn expire(&mut self, now: Duration) {
        self.sentences.retain(|(_, until)| now < *until);
    }

    /// The text that is shown now, one line per message.
    pub(super) fn text(&self) -> String {
        let connection = self.connection.as_deref();
        let sentences = self.sentences.iter().map(|(sentence, _)| sentence.as_str());
        let lines = connection.into_iter().chain(self.state);
        let lines = lines.chain(self.hint).chain(sentences);
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The recordings in progress; empty if there are none.
    pub(super) fn recording(&self) -> String {
        let both = [&self.replay, &self.video];
        let both: Vec<_> = both.into_iter().flatten().map(String::as_str).collect();
        both.join(", ")
    }
}
