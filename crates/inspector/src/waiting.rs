//! List of the bodies that wait to be sent within a budget.

use cubewire_protocol::{LongestWait, Wait};

use crate::prelude::*;

/// The bodies that waited in the last second.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    /// By slot; empty before the first measurement.
    pub waits: &'a [Option<LongestWait>],
    pub ticks_per_second: u32,
    pub names: Names<'a>,
    /// Name of the unit of lengths, and the number of it in one unit of the scene.
    pub unit: (&'static str, f32),
    /// Width of the column of names, in logical points.
    pub width: f32,
    pub hint: &'static str,
}

impl Waiting<'_> {
    /// Draws a row for each waiting body that moved, farthest first and as many as fit, and one row for all that did
    /// not move. Returns the heading's response.
    pub fn draw(&self, ui: &mut Ui, highlight: &mut Highlight) -> Response {
        let waits = self.waits.iter().enumerate();
        let waits = waits.filter_map(|(body, waited)| Some((body, (*waited)?)));
        let mut waits: Vec<(usize, LongestWait)> = waits.collect();
        waits.sort_by(|(_, a), (_, b)| {
            b.wait.error.total_cmp(&a.wait.error).then(b.ticks.cmp(&a.ticks))
        });
        let longest = waits.iter().map(|(_, waited)| waited.ticks).max().unwrap_or(0);
        let [one, several] = self.names.nouns;
        let title = match (waits.len(), self.waits.len()) {
            (_, 0) => "Measuring …".to_owned(),
            (0, _) => "Nothing waited in the last second".to_owned(),
            (1, _) => format!("Waited in the last second: 1 {one}"),
            (count, _) => {
                format!("Waited in the last second: {} {several}", grouped(count as f64))
            }
        };
        let right = match longest {
            0 => String::new(),
            ticks => format!("longest {} ms", self.millis(ticks)),
        };
        let heading = heading(ui, &title, right);
        let look = Look::of(ui);
        let said = format!("{one}, why it waited, how long, moved since sent");
        let header = Row::show(ui, ROW - 2.0, &said);
        let moved = format!("moved since sent, {}", self.unit.0);
        for (at, name) in [
            (At::Left(0.0), one),
            (At::Left(self.width), "why it waited"),
            (At::Left(header.rect.width() - BARS), "ms"),
            (At::Right(0.0), &moved),
        ] {
            header.text(ui, at, name, SMALL, look.muted);
        }
        let moved = waits.partition_point(|(_, waited)| waited.wait.error >= AT_REST);
        let (moved, resting) = waits.split_at(moved);
        let room = ((page_left(ui) - LINE - 6.0) / ROW).max(0.0) as usize;
        let room = room.saturating_sub(usize::from(!resting.is_empty()));
        let shown = moved.len().min(room.max(MIN_ROWS));
        for of in &moved[..shown] {
            self.row(ui, highlight, *of, longest);
        }
        if !resting.is_empty() {
            self.resting(ui, resting, longest);
        }
        ui.add_space(4.0);
        let words = match moved.len() - shown {
            0 => self.hint.to_owned(),
            more => format!("{more} more. {}", self.hint),
        };
        wrapped(ui, words, look.muted);
        heading
    }

    fn resting(&self, ui: &mut Ui, resting: &[(usize, LongestWait)], longest: u64) {
        let ticks = resting.iter().map(|(_, waited)| waited.ticks).max().unwrap_or(0);
        let [one, several] = self.names.nouns;
        let noun = if resting.len() == 1 { one } else { several };
        let words = format!("{} {noun} at rest, sent last", resting.len());
        let row = Row::show(ui, ROW, &format!("{words}: {} ms", self.millis(ticks)));
        self.cells(ui, &row, (ticks, longest), ["", &words, &rounded(0.0)]);
        row.response.on_hover_text(
            "They have come to rest, or differ in other fields than the pose. The time is the longest wait among \
             them.",
        );
    }

    /// Draws the row of a waiting body. Pointing at it sets the hovered body; a click selects it.
    fn row(
        &self,
        ui: &mut Ui,
        highlight: &mut Highlight,
        (body, waited): (usize, LongestWait),
        longest: u64,
    ) {
        let LongestWait { ticks, wait } = waited;
        let (why, (unit, factor)) = (self.why(&wait, ticks), self.unit);
        let off = factor * wait.error;
        let off_said = rounded(off.into());
        let name = self.names.body(body);
        let ms = self.millis(ticks);
        let said = format!("{}: {why}, {ms} ms, {off_said} {unit}", capital(&name));
        let row = Row::button(ui, ROW, &said, highlight.selected == Some(body));
        // The column's heading already names the noun.
        let short = name.strip_prefix(self.names.nouns[0]).unwrap_or(&name).trim_start();
        self.cells(ui, &row, (ticks, longest), [short, &why, &off_said]);
        if row.response.hovered() || row.response.has_focus() {
            highlight.hovered = Some(body);
        }
        let about = format!(
            "Due for {}. Its surface moved {off:.1} {unit} since it was last sent. Priority {:.1}; \
             {}. A click selects the {}.",
            crate::words::ticks(ticks),
            wait.priority,
            others(wait.more_urgent),
            self.names.nouns[0],
        );
        if row.response.on_hover_text(about).clicked() {
            highlight.selected = Some(body);
        }
    }

    /// Draws the bar of a wait, its time, and the other texts of the row.
    fn cells(
        &self,
        ui: &Ui,
        row: &Row,
        (ticks, longest): (u64, u64),
        [name, why, moved]: [&str; 3],
    ) {
        let look = Look::of(ui);
        let long = row.rect.width() - BARS;
        let end = long + BAR * ticks as f32 / longest.max(1) as f32;
        row.bar(ui, long, end, look.warning);
        row.text(ui, At::Left(0.0), name, SMALL, look.ink);
        row.text(ui, At::Left(self.width), why, SMALL, look.ink);
        row.text(ui, At::Left(end + 6.0), self.millis(ticks), SMALL, look.ink);
        row.text(ui, At::Right(0.0), moved, SMALL, look.ink);
    }

    fn why(&self, wait: &Wait, ticks: u64) -> String {
        let (unit, factor) = self.unit;
        let a_tick = factor * wait.error / ticks.max(1) as f32;
        match wait.more_urgent {
            0 => "next, it did not fit".to_owned(),
            _ if a_tick < SLOW * factor => format!("moved {a_tick:.1} {unit} a tick"),
            more => others(more),
        }
    }

    fn millis(&self, ticks: u64) -> String {
        let rate = u64::from(self.ticks_per_second);
        grouped(((1000 * ticks + rate / 2) / rate) as f64)
    }
}

fn others(more_urgent: usize) -> String {
    match more_urgent {
        0 => "it was next".to_owned(),
        1 => "1 was more urgent".to_owned(),
        more => format!("{more} were more urgent"),
    }
}

/// Movement per tick below which a body counts as slow, in units of the scene.
const SLOW: f32 = 0.002;

/// Movement since it was sent below which a body counts as at rest, in units of the scene.
const AT_REST: f32 = 0.000_05;

/// Minimum number of rows. Below it, the page scrolls.
const MIN_ROWS: usize = 3;

/// Distance of the bars from the right edge, and their greatest length, in logical points.
const BARS: f32 = 160.0;
const BAR: f32 = 64.0;

#[cfg(test)]
mod tests {
    use cubewire_codec::Plan;

    use super::*;

    #[test]
    fn wait_is_explained_by_speed_or_by_urgency() {
        let plan = Plan::cubes();
        let waiting = Waiting {
            waits: &[],
            ticks_per_second: 60,
            names: Names::of_cubes(&plan),
            unit: ("mm", 1000.0),
            width: 48.0,
            hint: "",
        };
        for (error, more_urgent, said) in [
            (0.011, 8, "moved 1.1 mm a tick"),
            (0.9, 8, "8 were more urgent"),
            (0.9, 1, "1 was more urgent"),
            (0.9, 0, "next, it did not fit"),
        ] {
            let wait = Wait { since: 90, error, priority: 1.0, more_urgent };
            assert_eq!(waiting.why(&wait, 10), said);
        }
    }
}
