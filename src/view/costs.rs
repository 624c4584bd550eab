//! The cost of each cube, shown as its colour: bits, form in the packet, error or wait.

use bevy::prelude::*;
use cubewire_codec::{BitKind, Form};
use cubewire_scene::{CUBES, TICKS_PER_SECOND};

use super::side::Side;
use crate::history::{LaneHistory, Moment, ShownPast, Wanted};
use crate::replication::{CubeErrors, Lane, LaneMeter, PacketDetail, SendStates};

/// Quantity that the colour of a cube shows.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(not(target_family = "wasm"), derive(clap::ValueEnum))]
pub enum CubeColors {
    /// Whether the cube is interacting. Interacting cubes are red.
    #[default]
    Interaction,
    /// Bits per packet, mean of the last ten.
    Bits,
    /// Form of the cube's orientation in the newest packet. Positions have mostly one form.
    Form,
    /// Distance from the simulated cube, millimetres.
    Distance,
    /// Longest wait for room in the budget during the last second, milliseconds.
    Wait,
}

impl CubeColors {
    /// All modes in the order of the key.
    pub const ALL: [Self; 5] =
        [Self::Interaction, Self::Bits, Self::Form, Self::Distance, Self::Wait];

    /// The modes that a window can show. A viewer has no simulation.
    pub fn known(has_game: bool) -> impl Iterator<Item = Self> + Clone {
        Self::ALL.into_iter().filter(move |colors| has_game || !colors.is_of_sender())
    }

    pub fn next(self, has_game: bool) -> Self {
        let known: Vec<_> = Self::known(has_game).collect();
        let next = known.iter().position(|colors| *colors == self).map_or(0, |index| index + 1);
        known[next % known.len()]
    }

    /// Name, title of the legend, label for cubes below the scale, and the ends of the fixed scale in the unit of the
    /// title.
    const fn row(self) -> (&'static str, Option<&'static str>, &'static str, [f32; 2]) {
        const STEP: &str = "half a step or less";
        let (bits, mm) = ([0.0, 128.0], [HALF_STEP_MM, 64.0]);
        match self {
            Self::Interaction => ("as they are", None, "not sent", bits),
            Self::Bits => ("bits", Some("bits a packet"), "not sent", bits),
            Self::Form => ("form", Some("form of orientation"), "not sent", bits),
            Self::Distance => ("error", Some("distance, mm"), STEP, mm),
            Self::Wait => ("wait", Some("longest wait, ms"), "no wait", WAITS_MS),
        }
    }

    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Title of the legend. `None` for the default colours.
    pub const fn title(self) -> Option<&'static str> {
        self.row().1
    }

    pub(super) const fn below_scale(self) -> &'static str {
        self.row().2
    }

    /// Whether the amounts are known only on the machine with the simulation.
    pub const fn is_of_sender(self) -> bool {
        matches!(self, Self::Distance | Self::Wait)
    }

    /// Whether the scale can end at the largest amount.
    pub const fn has_scale(self) -> bool {
        matches!(self, Self::Bits | Self::Distance)
    }
}

/// Whether the scales of bits and distances have fixed ends: 128 bits, 64 mm. Otherwise they end at the largest amount,
/// rounded up, and the scale of bits starts at the tenth percentile, rounded down. The scale of waits is always fixed.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedScale(pub bool);

/// Costs of the cubes in both halves, now or at the [`Moment`].
#[derive(Resource, Clone, Debug, Default)]
pub(super) struct Costs {
    halves: [Vec<Cost>; Side::ALL.len()],
    /// In the unit of [`CubeColors::title`].
    pub(super) scale: Scale,
    pub(super) unknown: Option<&'static str>,
    /// Tenth percentile of the amounts above 0 and the largest amount, at the tick of the legend. The scale covers them.
    pub(super) range: [f32; 2],
    counts: [[usize; 1 + Form::ALL.len()]; Side::ALL.len()],
    /// Colours and tick of the legend's figures, which change four times a second.
    told: Option<(CubeColors, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// From the first amount to the second. An amount of 0 has no colour. Smaller amounts have the colour of the first.
    Linear([f32; 2]),
    /// From the first amount to the second. Smaller amounts have no colour.
    Logarithmic([f32; 2]),
}

impl Default for Scale {
    fn default() -> Self {
        Self::Linear([0.0, 1.0])
    }
}

impl Scale {
    /// Scale of these colours for a [range](Costs::range), rounded so that it seldom changes, or with fixed ends without it.
    pub(super) fn of(colors: CubeColors, range: Option<[f32; 2]>) -> Self {
        let [start, end] = colors.row().3;
        match (colors, range) {
            // Most errors and waits are small, and a few are many times larger.
            (CubeColors::Distance | CubeColors::Wait, None) => Self::Logarithmic([start, end]),
            (CubeColors::Distance | CubeColors::Wait, Some([_, largest])) => {
                let end = start * (largest / start).max(2.0).log2().ceil().exp2();
                Self::Logarithmic([start, end])
            }
            (_, None) => Self::Linear([start, end]),
            (_, Some([low, largest])) => {
                let start = (low / BITS).floor() * BITS;
                let end = (largest / BITS).ceil() * BITS;
                Self::Linear([start, end.max(start + BITS)])
            }
        }
    }

    /// Position of an amount between the ends of the scale, 0 to 1, or `None` if the amount has no colour.
    pub(super) fn fraction(self, amount: f32) -> Option<f32> {
        match self {
            Self::Linear([start, end]) => {
                (amount > 0.0).then(|| ((amount - start) / (end - start)).max(0.0))
            }
            Self::Logarithmic([start, end]) => {
                (amount >= start).then(|| (amount / start).ln() / (end / start).ln())
            }
        }
    }

    /// Amount at a position between the ends. Inverse of [`fraction`](Self::fraction).
    pub(super) fn amount(self, fraction: f32) -> f32 {
        match self {
            Self::Linear([start, end]) => start + fraction * (end - start),
            Self::Logarithmic([start, end]) => start * (end / start).powf(fraction),
        }
    }
}

/// Ends of the scale of waits, 1 and 16 ticks, in milliseconds.
const WAITS_MS: [f32; 2] = [TICK_MS, 16.0 * TICK_MS];

/// Half a quantization step of the default positions, 1/512 m.
const HALF_STEP_MM: f32 = 0.5 * 1000.0 / 512.0;

/// The ends of the scale of bits are multiples of this.
const BITS: f32 = 8.0;

const TICK_MS: f32 = 1000.0 / TICKS_PER_SECOND as f32;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    /// In the unit of the colour mode.
    pub(super) amount: f32,
    /// Form of the orientation in the packet. `None` if the cube was not sent.
    pub(super) form: Option<Form>,
}

impl Costs {
    /// Number of cubes per half with this form. `None` counts the cubes without a colour.
    pub(super) fn counts(&self, form: Option<Form>) -> [usize; Side::ALL.len()] {
        self.counts.map(|counts| counts[class(form)])
    }

    fn count(&mut self, colors: CubeColors) {
        for (half, counts) in self.halves.iter().zip(&mut self.counts) {
            *counts = [0; 1 + Form::ALL.len()];
            // A packet has no items for cubes after the last one that it carries.
            counts[0] = CUBES.saturating_sub(half.len());
            for cost in half {
                counts[match colors {
                    CubeColors::Form => class(cost.form),
                    _ => usize::from(self.scale.fraction(cost.amount).is_some()),
                }] += 1;
            }
        }
    }

    pub(super) fn of(&self, side: Side, cube: usize) -> Cost {
        let half = &self.halves[side as usize];
        half.get(cube).copied().unwrap_or_default()
    }
}

fn class(form: Option<Form>) -> usize {
    form.map_or(0, |form| 1 + form as usize)
}

const AVERAGED_PACKETS: usize = 10;

/// Maximum age of a packet in ticks, at ten snapshots per second.
const MAX_AGE_TICKS: u64 = 12;

pub(super) fn want_history(colors: Res<CubeColors>, mut wanted: ResMut<Wanted>) {
    wanted.colors = *colors != CubeColors::Interaction;
}

type CostingLane<'a> = (&'a Side, &'a LaneMeter, &'a CubeErrors, &'a SendStates, &'a LaneHistory);

pub(super) fn measure(
    colors: Res<CubeColors>,
    fixed: Res<FixedScale>,
    moment: Res<Moment>,
    past: ShownPast<'_>,
    lanes: Query<CostingLane<'_>, With<Lane>>,
    mut costs: ResMut<Costs>,
) {
    if *colors == CubeColors::Interaction {
        return;
    }
    let costs = &mut *costs;
    let mut steady_tick = None;
    for side in Side::ALL {
        // The half of the simulation uses the costs of the lane in the other half.
        let lane = lanes.iter().find(|(half, ..)| **half == side).or_else(|| lanes.iter().next());
        let half = &mut costs.halves[side as usize];
        half.clear();
        let Some((_, meter, errors, send_states, history)) = lane else { continue };
        steady_tick = meter.steady_tick(moment.0);
        match *colors {
            CubeColors::Interaction => {}
            CubeColors::Bits | CubeColors::Form => add_bits(half, meter, moment.0),
            CubeColors::Distance => {
                let of_past = past.tick().map(|tick| history.errors_at(tick, &past.world));
                let errors = of_past.as_ref().unwrap_or(&errors.0);
                half.extend(
                    errors.iter().map(|error| Cost { amount: error.metres * 1000.0, form: None }),
                );
            }
            CubeColors::Wait if moment.0.is_none() => add_waits(half, send_states),
            CubeColors::Wait => {}
        }
    }
    let is_empty = colors.is_of_sender() && costs.halves.iter().all(Vec::is_empty);
    costs.unknown = is_empty.then(|| match (*colors, moment.0) {
        (CubeColors::Wait, None) => "no budget, no waits",
        _ => "not recorded",
    });
    let told = steady_tick.map(|tick| (*colors, tick));
    let is_new = costs.told != told;
    if is_new {
        costs.told = told;
        costs.range = range(costs.halves.iter().flatten());
    }
    let has_scale = !fixed.0 && colors.has_scale();
    costs.scale = Scale::of(*colors, has_scale.then_some(costs.range));
    if is_new {
        costs.count(*colors);
    }
}

/// Tenth percentile of the amounts above 0, and the largest amount. 0 without amounts.
fn range<'a>(costs: impl Iterator<Item = &'a Cost>) -> [f32; 2] {
    let amounts = costs.map(|cost| cost.amount);
    let mut amounts: Vec<_> = amounts.filter(|amount| *amount > 0.0).collect();
    amounts.sort_by(f32::total_cmp);
    let at = |index: usize| amounts.get(index).copied().unwrap_or_default();
    [at(amounts.len() / 10), at(amounts.len().saturating_sub(1))]
}

/// Adds the mean bits of the newest packets and the form in the newest one. At a past moment, uses that one packet
/// only.
fn add_bits(half: &mut Vec<Cost>, meter: &LaneMeter, moment: Option<u64>) {
    let Some(newest) = moment.or(meter.newest_tick()) else { return };
    let packets = meter
        .back_from(moment)
        .take_while(|sample| newest - sample.tick < MAX_AGE_TICKS * AVERAGED_PACKETS as u64)
        .flat_map(|sample| sample.snapshots.iter())
        .filter_map(|packet| packet.detail.as_deref());
    let count = match moment {
        Some(_) => 1,
        None => AVERAGED_PACKETS,
    };
    let packets: Vec<_> = packets.take(count).collect();
    for (age, packet) in packets.iter().enumerate() {
        add_packet(half, packet, packets.len() as f32, age == 0);
    }
}

fn add_waits(half: &mut Vec<Cost>, send_states: &SendStates) {
    let longest = send_states.waits.longest().into_iter();
    half.extend(longest.map(|waited| Cost {
        amount: TICK_MS * waited.map_or(0, |waited| waited.ticks) as f32,
        form: None,
    }));
}

fn add_packet(half: &mut Vec<Cost>, packet: &PacketDetail, packets: f32, is_newest: bool) {
    for item in packet.items() {
        let Some(cube) = item.body.map(usize::from) else { continue };
        if half.len() <= cube {
            half.resize(cube + 1, Cost::default());
        }
        let cost = &mut half[cube];
        cost.amount += item.bits as f32 / packets;
        if is_newest {
            // An orientation that is not sent, or as one flag, is unchanged.
            let form = match item.kind {
                BitKind::Orientation => item.form.or(Some(Form::Exact)),
                BitKind::Position | BitKind::Interacting | BitKind::Flags => Some(Form::Exact),
                _ => None,
            };
            cost.form = cost.form.max(form);
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::ecs::system::RunSystemOnce;
    use bevy::math::vec3;
    use cubewire_codec::ladder::{DELTA, LADDER, RELATIVE_ORIENTATION};
    use cubewire_codec::{BodyState, Snapshot, Stages};
    use cubewire_protocol::{SendState, Wait};

    use super::*;
    use crate::replication::{PacketRecord, Sample, itemized};

    /// Packets of a world of five cubes: the first moves a little, the second moves far, two turn, and one rests.
    fn meter(stages: Stages, packets: u64) -> LaneMeter {
        let cube = |x: f32| BodyState { position: vec3(x, 1.0, 2.0), ..BodyState::default() };
        let initial = Snapshot { bodies: (0..5).map(|x| cube(x as f32)).collect() };
        let mut moved = initial.clone();
        moved.bodies[0].position.x += 0.01;
        moved.bodies[1].position.x += 10.0;
        moved.bodies[2].orientation = Quat::from_rotation_x(0.02);
        moved.bodies[3].orientation = Quat::from_rotation_x(0.3);
        let packet = PacketRecord::new(0, &itemized(stages, &initial, &moved), stages);
        LaneMeter::from_samples((0..packets).map(|tick| Sample {
            tick,
            snapshots: vec![packet.clone()],
            ..Sample::default()
        }))
    }

    fn costs(meter: &LaneMeter, moment: Option<u64>) -> Vec<Cost> {
        let mut half = Vec::new();
        add_bits(&mut half, meter, moment);
        half
    }

    #[test]
    fn the_bits_of_the_cubes_are_those_of_the_packet_without_what_they_share() {
        for rung in LADDER {
            let meter = meter(rung.stages, 5);
            let packet = &meter.samples()[4].snapshots[0];
            let shared = packet.detail.as_ref().unwrap().items();
            let shared = shared.filter(|item| item.body.is_none());
            let shared: f64 = shared.map(|item| item.bits).sum();
            for moment in [None, Some(2)] {
                let of_cubes: f32 = costs(&meter, moment).iter().map(|cost| cost.amount).sum();
                let all = packet.payload_bytes as f64 * 8.0;
                let sum = f64::from(of_cubes) + shared;
                assert!((sum - all).abs() < 0.01, "{}: {sum} of {all}", rung.name);
            }
        }
    }

    #[test]
    fn colours_that_a_viewer_lacks_are_followed_by_the_first() {
        use CubeColors::{Bits, Distance, Form, Interaction, Wait};

        for (colors, in_game, in_viewer) in [
            (Interaction, Bits, Bits),
            (Form, Distance, Interaction),
            (Distance, Wait, Interaction),
            (Wait, Interaction, Interaction),
        ] {
            assert_eq!([true, false].map(|has_game| colors.next(has_game)), [in_game, in_viewer]);
        }
    }

    #[test]
    fn the_form_is_that_of_the_orientation() {
        let forms = |stages| -> Vec<Option<Form>> {
            costs(&meter(stages, 3), None).iter().map(|cost| cost.form).collect()
        };
        let relative = forms(RELATIVE_ORIENTATION.stages);
        let [exact, small, large] = [Form::Exact, Form::Small, Form::Large].map(Some);
        assert_eq!(relative, [exact, exact, small, large, None]);
        // Without differences, a changed cube has a whole orientation. The last cube has a changed bit.
        let whole = Some(Form::Whole);
        assert_eq!(forms(DELTA.stages), [whole, whole, whole, whole, None]);
        let mut costs = Costs {
            halves: [Vec::new(), costs(&meter(DELTA.stages, 3), None)],
            ..Costs::default()
        };
        costs.count(CubeColors::Form);
        let counts = [Some(Form::Whole), Some(Form::Small), None].map(|form| costs.counts(form)[1]);
        assert_eq!(counts, [4, 0, CUBES - 4]);
    }

    #[test]
    fn the_scale_of_bits_covers_the_cubes_that_are_sent() {
        for (range, ends) in [
            (None, [0.0, 128.0]),
            (Some([0.0, 0.0]), [0.0, 8.0]),
            (Some([45.0, 65.0]), [40.0, 72.0]),
            (Some([48.0, 64.0]), [48.0, 64.0]),
            (Some([337.0, 337.0]), [336.0, 344.0]),
        ] {
            let scale = Scale::of(CubeColors::Bits, range);
            assert_eq!(scale, Scale::Linear(ends));
            assert_eq!(scale.fraction(0.0), None);
            assert_eq!(scale.fraction(0.5 * ends[0] + 0.001).map(f32::round), Some(0.0));
            assert_eq!(
                ends.map(|end| scale.fraction(end)),
                [(ends[0] > 0.0).then_some(0.0), Some(1.0)]
            );
        }
        // A few small cubes among many do not stretch the scale.
        let mut amounts = vec![60.0; 95];
        amounts.extend([0.0, 0.0, 1.0, 2.0, 70.0]);
        let costs: Vec<_> = amounts.into_iter().map(|amount| Cost { amount, form: None }).collect();
        assert_eq!(range(costs.iter()), [60.0, 70.0]);
        assert_eq!(range([].iter()), [0.0; 2]);
    }

    #[test]
    fn the_scale_of_errors_ends_at_a_power_of_two_and_below_its_start_is_no_colour() {
        let amount = 0.97;
        let scale = Scale::of(CubeColors::Distance, Some([amount, 2.0 * amount]));
        assert_eq!(scale.fraction(amount), None);
        let ends = [1.01, 2.0].map(|times| scale.fraction(times * amount).unwrap());
        assert!(ends[0] < 0.1 && ends[1] > 0.9, "{ends:?}");
    }

    #[test]
    fn waits_have_a_colour_by_their_magnitude_and_where_there_are_none_the_legend_says_why() {
        let mut world = World::new();
        world.init_resource::<FixedScale>();
        world.init_resource::<crate::history::WorldHistory>();
        world.init_resource::<Costs>();
        world.insert_resource(CubeColors::Wait);
        let meter = LaneMeter::from_samples([Sample { tick: 20, ..Sample::default() }]);
        let lane = (Lane, Side::Right, LaneHistory::default(), meter);
        let lane = world.spawn(lane).id();
        let unknown = |world: &mut World, now: &[SendState], moment| {
            world.insert_resource(Moment(moment));
            let mut send_states = SendStates { now: now.to_vec(), ..SendStates::default() };
            for tick in [14, 20] {
                send_states.record(tick);
            }
            world.entity_mut(lane).insert(send_states);
            world.run_system_once(measure).unwrap();
            world.resource::<Costs>().unknown
        };
        let send_states = [
            SendState::Waiting(Wait { since: 9, error: 0.1, priority: 1.0, more_urgent: 0 }),
            SendState::InFlight { sent: 9 },
        ];
        assert_eq!(unknown(&mut world, &send_states, None), None);
        for half in Side::ALL {
            let costs = world.resource::<Costs>();
            let ticks = [0, 1].map(|cube| costs.of(half, cube).amount / TICK_MS);
            assert_eq!(ticks.map(f32::round), [5.0, 0.0]);
            assert_eq!(costs.counts(None), [CUBES - 1; 2]);
            // The scale is fixed and logarithmic: 1 to 4 ticks take as much of it as 4 to 16.
            let at = [1.0, 4.0, 16.0].map(|ticks| costs.scale.fraction(ticks * TICK_MS));
            assert_eq!(at.map(|at| (100.0 * at.unwrap()).round()), [0.0, 50.0, 100.0]);
        }
        let past = unknown(&mut world, &send_states, Some(19));
        assert_eq!(past, Some("not recorded"));
        let unlimited = unknown(&mut world, &[], None);
        assert_eq!(unlimited, Some("no budget, no waits"));
    }
}
