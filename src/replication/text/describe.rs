//! Describes the settings of a lane in words, for captions, labels and warnings.

use std::time::Duration;

use cubewire_codec::stages::Delta;
use cubewire_codec::{Stages, ladder};
use cubewire_link::{Bandwidth, Conditions, Jitter, Loss, Preset};
use cubewire_protocol::{BaselineChoice, FallbackReason, Interpolation};

use crate::replication::settings::{LaneSettings, PlayAt, PlayoutDelay, Predict};

/// The name of the rung with these stages, or `custom`.
pub fn rung_name(stages: Stages) -> &'static str {
    ladder::rung_of(stages).map_or("custom", |rung| rung.name)
}

/// A sentence for a lane if its receiver cannot use the chosen stages. `None` if it can.
pub fn fallback(chosen: Stages, reason: Option<FallbackReason>) -> Option<String> {
    let (reason, instead) = (reason?, FallbackReason::instead_of(chosen)?);
    let [instead, chosen] = [instead, chosen].map(rung_name);
    Some(format!("{instead} instead of {chosen}: {reason}."))
}

/// A sentence for the server about a viewer without arithmetic coding. The server does not know which stages were chosen.
pub fn fallback_of_viewer(reason: FallbackReason) -> String {
    format!("Without arithmetic coding: {reason}.")
}

impl LaneSettings {
    pub fn rung_name(&self) -> &'static str {
        rung_name(self.sender.stages)
    }

    /// The rung, and its budget if it has one that applies.
    pub fn describe_rung(&self) -> String {
        let rung = self.rung_name();
        match self.sender.kept_budget() {
            Some(kbps) => format!("{rung} within {kbps} kbps"),
            None => rung.to_owned(),
        }
    }

    /// The simulated network, send rate and interpolation in words. Lists all network conditions that are not zero, and the
    /// send rate and interpolation only if they differ from the defaults. The simulated network of a `remote` lane is in
    /// addition to a real one.
    pub fn describe(&self, remote: bool) -> Vec<String> {
        let simulated = &self.link.conditions;
        let network = match (remote, is_perfect(simulated), simulated.cut) {
            (false, ..) => link(simulated),
            (true, true, false) => "real network, nothing added".to_owned(),
            (true, true, true) => "real network, cut".to_owned(),
            (true, false, _) => format!("real network, plus {}", link(simulated)),
        };
        let rate = (self.sender.send_interval_ticks != Self::default().sender.send_interval_ticks)
            .then(|| self.describe_rate());
        let [play, prediction] = self.unusual_play();
        let parts = [Some(network), rate, self.unusual_interpolation(), play, prediction];
        parts.into_iter().flatten().collect()
    }

    /// The simulated network in words. Mentions explicitly when there is no loss.
    pub fn describe_network(&self) -> String {
        let conditions = &self.link.conditions;
        let no_loss = Preset::of(conditions).is_none() && loss(conditions.loss).is_none();
        link(conditions) + if no_loss { ", no loss" } else { "" }
    }

    /// Like [`describe`](Self::describe), but with the default send rate and, if it is known in advance, the delay of the
    /// replica behind the simulation.
    pub fn describe_in_full(&self) -> Vec<String> {
        let rate = self.sender.snapshots_per_second();
        let delay = match self.playout.delay {
            PlayoutDelay::Rule if self.sender.kept_budget().is_none() => {
                Some(self.playout.rule_delay(&self.sender))
            }
            PlayoutDelay::Fixed(delay) => Some(delay),
            PlayoutDelay::Rule | PlayoutDelay::Adaptive => None,
        };
        let [play, prediction] = self.unusual_play();
        let parts = [
            Some(self.describe_network()),
            Some(format!("{rate} snapshots a second")),
            self.unusual_interpolation(),
            play,
            prediction,
            delay.and_then(|delay| self.describe_lag(delay)),
        ];
        parts.into_iter().flatten().collect()
    }

    /// The delay of the replica behind the simulation with this playout delay, rounded to 10 ms. `None` without interpolation,
    /// or with a recorded trace.
    pub fn describe_lag(&self, playout_delay: Duration) -> Option<String> {
        let interpolation = self.effective_interpolation();
        let conditions = &self.link.conditions;
        let is_known = interpolation.waits() && conditions.trace.is_none();
        let lag = conditions.latency + playout_delay;
        let ms = 10 * (lag.as_millis() + 5).div_euclid(10);
        is_known.then(|| format!("shown {ms} ms later"))
    }

    fn unusual_interpolation(&self) -> Option<String> {
        let is_unusual = self.playout.interpolation != Interpolation::default();
        is_unusual.then(|| self.describe_interpolation())
    }

    /// Where the player plays, if not at the simulation.
    fn unusual_play(&self) -> [Option<String>; 2] {
        let is_unusual = self.playout.play_at != PlayAt::default();
        let words: [fn(&Self) -> String; 2] = [Self::describe_play, Self::describe_prediction];
        words.map(|words| is_unusual.then(|| words(self)))
    }

    fn describe_play(&self) -> String {
        format!("played at the {}", self.playout.play_at.name())
    }

    fn describe_prediction(&self) -> String {
        match self.playout.predict {
            Predict::None => "no prediction".to_owned(),
            Predict::World if self.sender.stages.delta == Delta::ArithmeticSimulated => {
                "all cubes predicted".to_owned()
            }
            Predict::Own | Predict::World => "own cube predicted".to_owned(),
        }
    }

    /// Describes the differences in `new`. `None` if there are no differences.
    pub fn describe_change(&self, new: &Self) -> Option<String> {
        let first = [
            (self.sender.stages != new.sender.stages).then(|| new.rung_name().to_owned()),
            link_change(&self.link.conditions, &new.link.conditions),
        ];
        let others: [fn(&Self) -> String; 8] = [
            Self::describe_rate,
            Self::describe_interpolation,
            Self::describe_prediction,
            Self::describe_play,
            |lane| match lane.sender.baseline {
                BaselineChoice::Newest => "baseline newest".to_owned(),
                BaselineChoice::Smallest => "baseline smallest".to_owned(),
            },
            |lane| match lane.sender.budget {
                Some(kbps) => format!("budget of {kbps} kbps"),
                None => "no budget".to_owned(),
            },
            |lane| format!("seed {}", lane.link.seed),
            |lane| match lane.playout.delay {
                PlayoutDelay::Rule => "playout delay by rule".to_owned(),
                PlayoutDelay::Adaptive => "adaptive playout delay".to_owned(),
                PlayoutDelay::Fixed(delay) => format!("playout delay {}", ms(delay)),
            },
        ];
        let others = others.map(|describe| [self, new].map(describe)).into_iter();
        let others = others.filter(|[old, new]| old != new).map(|[_, new]| new);
        let description: Vec<_> = first.into_iter().flatten().chain(others).collect();
        (!description.is_empty()).then(|| description.join(", "))
    }

    fn describe_rate(&self) -> String {
        format!("{} a second", self.sender.snapshots_per_second())
    }

    fn describe_interpolation(&self) -> String {
        let name = |kind: Interpolation| match kind {
            Interpolation::None => "no interpolation",
            kind => kind.name(),
        };
        let wanted = self.playout.interpolation;
        let shown = self.effective_interpolation();
        if wanted == shown {
            name(wanted).to_owned()
        } else {
            format!("{} → {}: needs velocity", name(wanted), name(shown))
        }
    }

    pub fn velocity_warning(&self) -> Option<String> {
        let wanted = self.playout.interpolation.name();
        let shown = self.effective_interpolation();
        self.lacks_velocity().then(|| {
            format!(
                "{wanted} → {}: {wanted} needs velocities, which {} does not send; the rungs up to {} \
                 send them",
                shown.name(),
                self.rung_name(),
                ladder::AT_REST.name
            )
        })
    }
}

/// The text of each condition, `None` if it is zero, with the words for zero. In the order of the fields of [`Conditions`].
fn conditions(link: &Conditions) -> [(Option<String>, &'static str); 6] {
    let is_traced = link.trace.is_some();
    // A trace replaces latency, jitter, loss and reordering.
    let own = |text: Option<String>| text.filter(|_| !is_traced);
    let latency = (link.latency > Duration::ZERO).then(|| ms(link.latency * 2) + " round trip");
    let traced = is_traced.then(|| "recorded delays".to_owned());
    let duplicate = link.duplicate_probability;
    let duplicate = (duplicate > 0.0).then(|| percent(duplicate) + " sent twice");
    let reordered = link.reordering.map(|reordering| reordering.probability);
    let reordered = reordered.filter(|&probability| probability > 0.0);
    let reordered = reordered.map(|probability| percent(probability) + " reordered");
    [
        (traced.or(latency), "no delay"),
        (own(jitter(link.jitter)), "no jitter"),
        (own(loss(link.loss)), "no loss"),
        (duplicate, "no duplicates"),
        (own(reordered), "no reordering"),
        (link.bandwidth.map(bandwidth), "no bandwidth limit"),
    ]
}

/// Whether no condition is set, apart from a cut link.
fn is_perfect(link: &Conditions) -> bool {
    conditions(link).iter().all(|(text, _)| text.is_none())
}

const PERFECT: &str = "Perfect";

fn link(link: &Conditions) -> String {
    let mut parts: Vec<String> = match Preset::of(link) {
        Some(preset) => vec![preset.title.to_owned()],
        None if is_perfect(link) => vec![PERFECT.to_owned()],
        None => conditions(link).into_iter().filter_map(|(text, _)| text).collect(),
    };
    if link.cut {
        parts.push("cut".to_owned());
    }
    parts.join(", ")
}

/// Describes the differences in `new`. `None` if there are no differences.
fn link_change(old: &Conditions, new: &Conditions) -> Option<String> {
    let whole = |link: &Conditions| Conditions { cut: false, ..link.clone() };
    let mut parts: Vec<String> = match Preset::of(new) {
        _ if whole(old) == whole(new) => Vec::new(),
        Some(preset) => vec![format!("link: {}", preset.title)],
        None => {
            let both = conditions(old).into_iter().zip(conditions(new));
            let changed = || both.clone().filter(|(old, new)| old.0 != new.0).map(|(_, new)| new);
            let ended = changed().filter(|(text, _)| text.is_none()).count();
            // A list of several ended conditions would be long, and the conditions of a preset were not listed before.
            if ended > 1 || Preset::of(old).is_some() {
                vec![link(&whole(new))]
            } else {
                changed().map(|(text, zero)| text.unwrap_or_else(|| zero.to_owned())).collect()
            }
        }
    };
    if old.cut != new.cut {
        parts.push(if new.cut { "link cut" } else { "link restored" }.to_owned());
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn jitter(jitter: Jitter) -> Option<String> {
    match jitter {
        Jitter::Uniform { spread } if spread > Duration::ZERO => {
            Some(format!("±{} jitter", ms(spread)))
        }
        Jitter::LogNormal { median, .. } if median > Duration::ZERO => {
            Some(format!("{} jitter", ms(median)))
        }
        _ => None,
    }
}

fn loss(loss: Loss) -> Option<String> {
    let mean = loss.mean_fraction();
    if mean == 0.0 {
        return None;
    }
    let how = if matches!(loss, Loss::GilbertElliott { .. }) { "lost in bursts" } else { "lost" };
    Some(format!("{} {how}", percent(mean)))
}

fn bandwidth(bandwidth: Bandwidth) -> String {
    let bits = bandwidth.bits_per_second as f64;
    if bits < 1e6 {
        format!("{} kbit/s", significant(bits / 1e3))
    } else {
        format!("{} Mbit/s", significant(bits / 1e6))
    }
}

fn ms(time: Duration) -> String {
    format!("{} ms", significant(time.as_secs_f64() * 1e3))
}

fn percent(fraction: f64) -> String {
    format!("{} %", significant(fraction * 100.0))
}

/// Three significant digits where possible, and no fewer digits than the integer part: 1000, 66.7, 0.05.
fn significant(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        1.0.. => 1,
        0.1.. => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if decimals == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(text: &str) -> LaneSettings {
        text.parse().unwrap()
    }

    #[test]
    fn every_setting_that_matters_is_named() {
        for (text, wanted) in [
            ("rung:delta", "100 ms round trip"),
            ("link:4g,rate:10,interpolation:none", "4G, 10 a second, no interpolation"),
            (
                "link:latency=25ms+jitter=uniform/33.333ms+loss=0.0005+duplicate=0.05\
                 +reordering=0.01/20ms/200ms+bandwidth=1500000/64000+cut",
                "50 ms round trip, ±33.3 ms jitter, 0.05 % lost, 5 % sent twice, 1 % reordered, \
                 1.5 Mbit/s, cut",
            ),
            (
                "link:jitter=log-normal/5ms/0.8+loss=bursts/0.2/4+bandwidth=64000/9000",
                "5 ms jitter, 20 % lost in bursts, 64 kbit/s",
            ),
            ("link:perfect+cut", "Perfect, cut"),
            ("link:loss=0", "Perfect"),
            ("link:latency=500ms", "1000 ms round trip"),
            (
                "rung:predicted,interpolation:hermite,rate:10",
                "100 ms round trip, 10 a second, hermite → linear: needs velocity",
            ),
            ("rung:at-rest,interpolation:hermite", "100 ms round trip, hermite"),
        ] {
            assert_eq!(lane(text).describe(false).join(", "), wanted, "{text}");
        }
    }

    #[test]
    fn trace_is_named_with_the_remaining_conditions() {
        let mut lane = lane("rung:delta,link:4g+duplicate=0.05+loss=0.5");
        let trace = cubewire_link::Trace::from_csv("sent_ms,delay_ms\n0,1\n");
        lane.link.conditions.trace = Some(trace.unwrap().into());
        let wanted = "recorded delays, 5 % sent twice, 10 Mbit/s";
        assert_eq!(lane.describe(false).join(", "), wanted);
        let before = LaneSettings::default();
        let change = LaneSettings { sender: before.sender, ..lane };
        assert_eq!(before.describe_change(&change).as_deref(), Some(wanted));
    }

    #[test]
    fn real_network_is_described_with_additions() {
        for (text, wanted) in [
            ("link:perfect,rate:20", "real network, nothing added, 20 a second"),
            ("link:4g", "real network, plus 4G"),
            ("link:perfect+cut", "real network, cut"),
        ] {
            assert_eq!(lane(text).describe(true).join(", "), wanted);
        }
    }

    #[test]
    fn an_interpolation_without_velocities_is_warned_of() {
        let warning = |text| lane(text).velocity_warning();
        assert_eq!(
            warning("rung:predicted,interpolation:hermite").unwrap(),
            "hermite → linear: hermite needs velocities, which predicted does not send; the rungs up \
             to at-rest send them"
        );
        assert_eq!(warning("rung:at-rest,interpolation:hermite"), None);
        assert_eq!(warning("rung:predicted,interpolation:none"), None);
    }

    #[test]
    fn fallback_is_described_if_arithmetic_was_chosen() {
        let of = |text: &str, reason| fallback(lane(text).sender.stages, reason);
        let model = Some(FallbackReason::Model);
        assert_eq!(
            of("rung:predicted", model).unwrap(),
            "predicted-position instead of predicted: the two ends have different trained models."
        );
        assert_eq!(of("rung:delta", model), None);
        assert_eq!(of("rung:predicted", None), None);
        assert_eq!(
            fallback_of_viewer(FallbackReason::Arithmetic),
            "Without arithmetic coding: the two machines compute different results."
        );
    }

    #[test]
    fn a_change_names_what_changed_and_nothing_else() {
        let change = |before: &str, after: &str| lane(before).describe_change(&lane(after));
        let custom = "rung:delta,link:latency=25ms+loss=0.003,rate:20";
        for case in "\
            rung:delta | rung:index | index
            CUSTOM | rung:index,link:latency=25ms+loss=0.003,rate:20 | index
            CUSTOM | rung:delta,link:latency=25ms+loss=0.003+cut,rate:20 | link cut
            CUSTOM | rung:delta,link:latency=25ms,rate:20 | no loss
            CUSTOM | rung:delta,link:latency=40ms+loss=0.003,rate:20 | 80 ms round trip
            CUSTOM | rung:delta,link:article,rate:20 | link: The article
            CUSTOM | rung:delta,link:latency=25ms+loss=0.003,rate:60 | 60 a second
            rung:delta,link:4g+cut | rung:delta,link:4g | link restored
            rung:delta,link:4g | rung:delta | 100 ms round trip
            link:hostile+bandwidth=64000/9000 | link:latency=25ms+loss=0.003+cut | 50 ms round trip, 0.3 % lost, link cut
            rung:at-rest,interpolation:hermite | rung:delta,interpolation:hermite | delta, hermite → linear: needs velocity
            rung:delta | rung:delta,playout:150ms,baseline:smallest,seed:7 | baseline smallest, seed 7, playout delay 150 ms
            rung:delta,budget:64kbps | rung:delta,budget:32kbps | budget of 32 kbps
            rung:delta,budget:64kbps | rung:delta | no budget
            playout:150ms,interpolation:none | playout:adaptive | linear, adaptive playout delay"
            .lines()
        {
            let case = case.trim_start().replace("CUSTOM", custom);
            let [before, after, wanted] = case.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{case}");
            };
            assert_eq!(change(before, after).as_deref(), Some(wanted), "{case}");
        }
        assert_eq!(change(custom, custom), None);
    }
}
