//! What there is to say to the player.

use std::time::Duration;

use bevy::prelude::*;

/// How long something stays on the screen.
const SHOWN_FOR: Duration = Duration::from_secs(8);

/// Sentences over the picture, and what is being recorded.
#[derive(Resource, Clone, Debug, Default)]
pub struct Notices {
    /// Beside a red dot, while a replay is written down.
    pub replay: Option<String>,
    /// Likewise, while what is seen is recorded.
    pub video: Option<String>,
    /// How to go on.
    pub(super) hint: Option<&'static str>,
    /// Until that time of the real clock.
    said: Vec<(String, Duration)>,
}

impl Notices {
    /// Shows a sentence for a while, and writes it to the log; `now` is by the real clock.
    pub fn say(&mut self, sentence: String, now: Duration) {
        info!("{sentence}");
        self.said.push((sentence, now + SHOWN_FOR));
    }

    /// What is to be read now.
    pub(super) fn at(&mut self, now: Duration) -> impl Iterator<Item = &str> {
        self.said.retain(|(_, until)| now < *until);
        self.said.iter().map(|(sentence, _)| sentence.as_str())
    }

    /// What is being recorded now.
    pub(super) fn recording(&self) -> String {
        let both = [&self.replay, &self.video];
        let both: Vec<_> = both.into_iter().flatten().map(String::as_str).collect();
        both.join(", ")
    }
}
