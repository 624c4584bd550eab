//! Bars for snapshots that arrived in time, arrived late, or were lost, for each quarter of a second.

use crate::panel::prelude::*;
use crate::replication::ArrivalCounts;

pub(super) fn draw(ui: &mut Ui, meter: &LaneMeter, seconds: u32) {
    heading(ui, "What arrived", format!("{seconds} s")).on_hover_text(
        "Snapshots by the quarter of a second in which they were sent. Late snapshots arrived after they should \
         have been shown.",
    );
    let quarters = quarters(meter, seconds);
    plot(ui, &quarters, seconds);
    counts(ui, quarters.into_iter().sum());
}

/// Counts the arrivals in each quarter of the last seconds, the oldest first. Quarters begin at multiples of [`QUARTER`]
/// ticks, so that a bar keeps its value while it moves.
fn quarters(meter: &LaneMeter, seconds: u32) -> Vec<ArrivalCounts> {
    let mut quarters = vec![ArrivalCounts::default(); 4 * seconds as usize];
    let last = meter.newest_tick().unwrap_or(0) / QUARTER;
    for sample in meter.samples().iter().rev() {
        let back = (last - sample.tick / QUARTER) as usize;
        let Some(index) = quarters.len().checked_sub(1 + back) else { break };
        quarters[index].add(sample, meter.settled_tick());
    }
    quarters
}

/// Draws the bars: on-time arrivals from the bottom, late ones above them, and losses from the top.
fn plot(ui: &mut Ui, quarters: &[ArrivalCounts], seconds: u32) {
    let look = Look::of(ui);
    let (plot, response) = plot_area(ui, 36.0);
    let most = quarters.iter().map(|quarter| quarter.0.iter().sum()).fold(1, usize::max) as f64;
    let count = quarters.len() as f64;
    let chart = Chart::new(ui, plot, 0.0..=count, 0.0..=most, Scale::Linear);
    let part = |index: usize, from: f64, to: f64, color: Color32| {
        if to > from {
            let x = index as f64;
            let bar = Rect::from_two_pos(chart.at(x, from), chart.at(x + 0.8, to));
            chart.painter.rect_filled(bar, 0.0, color);
        }
    };
    for (index, quarter) in quarters.iter().enumerate() {
        let [in_time, late, lost] = quarter.0.map(|count| count as f64);
        part(index, 0.0, in_time, look.quiet);
        part(index, in_time, in_time + late, look.warning);
        part(index, most - lost, most, look.error);
    }
    chart.levels(ui, [0.0, most].map(|mark| (mark, grouped(mark))));
    chart.ago(ui, seconds);
    let hovered = response.hover_pos().map(|at| chart.x_at(at.x) as usize);
    if let Some(ArrivalCounts([in_time, late, lost])) =
        hovered.and_then(|index| quarters.get(index))
    {
        response.on_hover_text_at_pointer(format!("{in_time} in time, {late} late, {lost} lost"));
    }
}

fn counts(ui: &mut Ui, arrivals: ArrivalCounts) {
    let look = Look::of(ui);
    let ArrivalCounts([in_time, late, lost]) = arrivals;
    let number = |count: usize| grouped(count as f64);
    let share = |index: usize| format!("{} %", rounded(arrivals.percent(index)));
    let short = [(in_time, "in time"), (late, "late"), (lost, "lost")];
    let short = short.map(|(count, what)| format!("{} {what}", number(count)));
    let mut words = short.clone();
    for index in [1, 2] {
        words[index] += &format!(", {}", share(index));
    }
    let row = Row::show(ui, ROW, &words.join("; "));
    let width_of = |words: &String| width(ui, words, SMALL) + 31.0;
    if words.iter().map(width_of).sum::<f32>() > row.rect.width() {
        words = short;
    }
    let mut x = 0.0;
    for (words, color) in words.iter().zip([look.quiet, look.warning, look.error]) {
        swatch(ui.painter(), row.rect, x, color);
        row.text(ui, At::Left(x + 15.0), words, SMALL, look.ink);
        x += width_of(words);
    }
}

/// A quarter of a second, ticks.
const QUARTER: u64 = TICKS_PER_SECOND as u64 / 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::{ARRIVAL, meter_of};
    use crate::replication::PacketArrival;

    #[test]
    fn snapshots_count_in_the_quarter_of_sending() {
        let packet = PacketRecord::default();
        let mut meter = meter_of(150, &packet, |tick, sample, packet| {
            let is_late = tick < 15;
            let has_arrived = is_late || (30..144).contains(&tick);
            packet.arrival = has_arrived.then_some(PacketArrival { is_late, ..ARRIVAL });
            sample.lost = usize::from(tick == 144);
        });
        let quarters = quarters(&meter, 3);
        assert_eq!(quarters.len(), 12);
        assert_eq!(quarters[..2], [ArrivalCounts::default(); 2]);
        assert_eq!(quarters[2].0, [0, 15, 0], "late");
        assert_eq!(quarters[3].0, [0, 0, 15], "lost for longer than a second");
        assert_eq!(quarters[4].0, [15, 0, 0]);
        assert_eq!(quarters[11].0, [9, 0, 1], "the others are on their way");
        assert_eq!(meter.arrivals(3).0, [114, 15, 16]);
        meter.link_since = 130;
        let since = meter.arrivals(3);
        assert_eq!((since.0, since.lost_percent() as u32), ([14, 0, 1], 6));
    }
}
