//! Visibility of bodies to clients: filters and distance. Clients that see the same share one snapshot.

use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use bevy_app::{App, FixedPostUpdate};
use bevy_ecs::change_detection::Tick;
use bevy_ecs::component::Immutable;
use bevy_ecs::lifecycle::RemovedComponents;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use cubewire_codec::{Precision, QuantizedSnapshot};
use cubewire_protocol::{Visibility, apply_visibility};

use super::capture::{Bodies, InSlot, capture};
use super::sender::{ClientView, SlotView};
use crate::transport::{CubewireSystems, OrDisabled};

/// A component that hides its body from some clients. Bodies without it are visible to all clients. A body with several
/// such components is visible to a client if each of them says so. A filter takes effect only after
/// [`add_visibility_filter`](VisibilityAppExt::add_visibility_filter) at the server.
///
/// It is immutable, so that each change is an insertion: filters are evaluated again only then.
pub trait VisibilityFilter: Component<Mutability = Immutable> {
    /// Component that decides, on the entity of the client's connection.
    type Client: Component;

    /// How a client sees a hidden body.
    const WHEN_HIDDEN: WhenHidden;

    /// Returns whether a client sees a body with this component. `client` is `None` if the connection does not have the
    /// component.
    fn is_visible(&self, client: Option<&Self::Client>) -> bool;

    /// Returns whether a client sees this visible body at any distance, although it has an [`Interest`]. With it,
    /// players can see their own team everywhere, but enemies only when near. Default: false.
    fn is_visible_from_afar(&self, client: Option<&Self::Client>) -> bool {
        let _ = client;
        false
    }
}

/// How a client sees a hidden body. The values of a hidden body, and changes of a frozen body, do not affect any byte
/// sent to the client. That the body exists can be guessed from slot numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhenHidden {
    /// The body vanishes.
    Despawn,
    /// The body keeps its last visible state. A body that was never visible stays absent.
    Freeze,
}

/// Registers visibility filters at a server.
pub trait VisibilityAppExt {
    /// Applies this filter to bodies that have the component.
    fn add_visibility_filter<F: VisibilityFilter>(&mut self) -> &mut Self;
}

impl VisibilityAppExt for App {
    fn add_visibility_filter<F: VisibilityFilter>(&mut self) -> &mut Self {
        let mut filters = self.world_mut().get_resource_or_init::<Filters>();
        let index = filters.count;
        filters.count += 1;
        filters.can_freeze |= F::WHEN_HIDDEN == WhenHidden::Freeze;
        let apply = move |bodies: Query<'_, '_, (&InSlot, &F)>,
                          changed: Query<'_, '_, (), Changed<F>>,
                          moved: Query<'_, '_, (), (With<F>, Changed<InSlot>)>,
                          mut removed: RemovedComponents<'_, '_, F>,
                          captured: Option<Res<'_, Bodies>>,
                          mut clients: Query<'_, '_, Viewer<'static, F>, OrDisabled>,
                          mut known: Local<'_, (usize, u64)>| {
            let (known, version) = &mut *known;
            let count = bodies.iter().len();
            let has_returned = |&body: &Entity| bodies.contains(body);
            let is_changed = removed.read().count() > 0
                || !changed.is_empty()
                || !moved.is_empty()
                || captured.is_some_and(|bodies| bodies.returned.iter().any(has_returned))
                || count != *known;
            *known = count;
            *version += u64::from(is_changed);
            for (mut hidden, client) in &mut clients {
                let rows = &mut hidden.0;
                rows.resize_with(rows.len().max(index + 1), Row::default);
                let row = &mut rows[index];
                let of = Some((*version, client.as_ref().map(DetectChanges::last_changed)));
                if row.of == of {
                    continue;
                }
                row.of = of;
                row.slots.clear();
                row.far.clear();
                let client = client.as_deref();
                for (at, filter) in &bodies {
                    if !filter.is_visible(client) {
                        row.slots.push(at.slot);
                    } else if filter.is_visible_from_afar(client) {
                        row.far.push(at.slot);
                    }
                }
                row.as_seen = match F::WHEN_HIDDEN {
                    WhenHidden::Despawn => Visibility::Hidden,
                    WhenHidden::Freeze => Visibility::Frozen,
                };
            }
        };
        self.add_systems(FixedPostUpdate, apply.after(capture).in_set(CubewireSystems::Capture))
    }
}

/// Number of registered filters, and whether any of them freezes bodies.
#[derive(Resource, Debug, Default)]
pub(super) struct Filters {
    count: usize,
    pub(super) can_freeze: bool,
}

/// A client's filter results, and its deciding component.
type Viewer<'a, F> = (&'a mut Hidden, Option<Ref<'a, <F as VisibilityFilter>::Client>>);

/// The filters' results for a client, by filter.
#[derive(Component, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(super) struct Hidden(Vec<Row>);

#[derive(Debug, Default)]
struct Row {
    /// State that the row was computed for: a version that increases when bodies change, and the tick of the last
    /// change of the client's component. `None` at first.
    of: Option<(u64, Option<Tick>)>,
    /// Visibility of the hidden `slots`.
    as_seen: Visibility,
    slots: Vec<usize>,
    /// Slots that are visible at any distance.
    far: Vec<usize>,
}

/// On the entity of a client's connection: the client sees only near bodies, and bodies that a filter shows [from
/// afar](VisibilityFilter::is_visible_from_afar). Within a [`ByteBudget`](super::ByteBudget), nearer bodies are sent
/// more often: at distance d, a body's priority grows 1 / (1 + d / `near`) times as fast.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Interest {
    /// A body appears when it is nearer than this, in units.
    pub near: f32,
    /// A body vanishes when it is farther than this, in units. A value above `near` keeps bodies from flickering.
    pub far: f32,
    /// Center of the distances; `None` for the connection's entity. If the entity loses its `Transform` or is disabled,
    /// its last position counts. A client sees no bodies until its center has had a `Transform`.
    pub center: Option<Entity>,
}

impl Interest {
    /// Returns an interest around a body.
    ///
    /// # Panics
    /// If `far` is less than `near`.
    pub const fn around(body: Entity, near: f32, far: f32) -> Self {
        assert!(near <= far, "`near` must not exceed `far`");
        Self { near, far, center: Some(body) }
    }
}

/// Computes the visibility and priority of each slot for a client.
pub(super) fn look(
    bodies: &Bodies,
    client: &mut ClientView,
    hidden: Option<&Hidden>,
    interest: Option<&Interest>,
    center: Option<Vec3>,
) {
    let slots = bodies.slots.len();
    client.slots.resize_with(slots, SlotView::default);
    client.visibility.clear();
    client.visibility.resize(slots, Visibility::Visible);
    for row in hidden.iter().flat_map(|hidden| &hidden.0) {
        for &slot in &row.slots {
            let seen = &mut client.visibility[slot];
            if *seen != Visibility::Hidden {
                *seen = row.as_seen;
            }
        }
    }
    client.gains.clear();
    client.gains.extend(&bodies.gains);
    let Some(interest) = interest else {
        client.slots.iter_mut().for_each(|slot| slot.is_near = false);
        client.center = None;
        return;
    };
    client.center = center.filter(|at| at.is_finite()).or(client.center);
    let mut is_seen_from_afar = vec![false; slots];
    for row in hidden.iter().flat_map(|hidden| &hidden.0) {
        row.far.iter().for_each(|&slot| is_seen_from_afar[slot] = true);
    }
    for (slot, body) in bodies.slots.iter().enumerate() {
        let distance = |center| body.position.distance(center);
        let distance = client.center.map_or(f32::MAX, distance);
        let SlotView { seen, is_near, .. } = &mut client.slots[slot];
        let is_same = seen.is_some() && *seen == bodies.world.life(slot);
        let limit =
            if is_same && *is_near { interest.far.max(interest.near) } else { interest.near };
        *is_near = distance <= limit || is_seen_from_afar[slot];
        if !*is_near {
            client.visibility[slot] = Visibility::Hidden;
        }
        client.gains[slot] /= 1.0 + distance / interest.near.max(f32::MIN_POSITIVE);
    }
}

#[derive(Debug)]
pub(super) struct Views<'a> {
    bodies: &'a Bodies,
    /// Whether bodies can be frozen. If so, a view depends on the client's previous one.
    can_freeze: bool,
    by_precision: HashMap<Precision, PrecisionViews>,
}

/// Views in one precision.
#[derive(Debug)]
struct PrecisionViews {
    /// The view of a client that sees everything.
    all: Arc<QuantizedSnapshot>,
    /// By visibility of each slot.
    views: HashMap<Vec<Visibility>, Alternatives>,
}

/// Views with the same visibility but different contents of frozen bodies.
#[derive(Debug, Default)]
struct Alternatives {
    /// By address of the client's previous view; null if that view does not matter.
    by_before: HashMap<*const QuantizedSnapshot, Arc<QuantizedSnapshot>>,
    /// Different views, up to [`MAX_COMPARED`].
    distinct: Vec<Arc<QuantizedSnapshot>>,
}

/// Limit of the views that a new one is compared with. Two are equal if their clients had the same values of the frozen
/// bodies.
const MAX_COMPARED: usize = 4;

impl<'a> Views<'a> {
    pub(super) fn new(bodies: &'a Bodies, can_freeze: bool) -> Self {
        Self { bodies, can_freeze, by_precision: HashMap::new() }
    }

    /// Returns a client's view, and stores it in `last`, the client's view of the previous tick.
    pub(super) fn of(
        &mut self,
        precision: Precision,
        visibility: &[Visibility],
        last: &mut Option<Arc<QuantizedSnapshot>>,
    ) -> Arc<QuantizedSnapshot> {
        let views = self.by_precision.entry(precision).or_insert_with(|| PrecisionViews {
            all: self.bodies.in_precision(precision),
            views: HashMap::new(),
        });
        // Frozen bodies are copied from the last view.
        if let Some(last) = last.as_mut().filter(|last| last.precision() != precision) {
            let converted = last.in_precision(precision, |slot| last.body(slot));
            *last = Arc::new(converted.expect("a quantized pose is valid in another precision"));
        }
        let view = match visibility.iter().all(|seen| *seen == Visibility::Visible) {
            true => Arc::clone(&views.all),
            false => views.partial(visibility, last.as_ref()),
        };
        *last = self.can_freeze.then(|| Arc::clone(&view));
        view
    }
}

impl PrecisionViews {
    fn partial(
        &mut self,
        visibility: &[Visibility],
        last: Option<&Arc<QuantizedSnapshot>>,
    ) -> Arc<QuantizedSnapshot> {
        let last = last.filter(|_| visibility.contains(&Visibility::Frozen));
        if !self.views.contains_key(visibility) {
            self.views.insert(visibility.to_vec(), Alternatives::default());
        }
        let known = self.views.get_mut(visibility);
        let Alternatives { by_before, distinct } = known.expect("it was just inserted");
        let before = last.map_or(ptr::null(), Arc::as_ptr);
        let view = by_before.entry(before).or_insert_with(|| {
            let mut view = QuantizedSnapshot::clone(&self.all);
            apply_visibility(&mut view, last.map(AsRef::as_ref), visibility);
            match distinct.iter().find(|known| ***known == view) {
                Some(known) => Arc::clone(known),
                None => {
                    let view = Arc::new(view);
                    if distinct.len() < MAX_COMPARED {
                        distinct.push(Arc::clone(&view));
                    }
                    view
                }
            }
        });
        Arc::clone(view)
    }
}
