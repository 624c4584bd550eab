//! Snapshots for clients with different visibility. Clients that see the same share one snapshot.

use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use cubewire_codec::QuantizedSnapshot;
use cubewire_protocol::{Visibility, apply_visibility};

/// The views of a tick.
#[derive(Debug)]
pub(super) struct Views<'a> {
    world: &'a Arc<QuantizedSnapshot>,
    /// Whether bodies can be frozen. If so, a view depends on the client's previous one.
    can_freeze: bool,
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
    pub(super) fn new(world: &'a Arc<QuantizedSnapshot>, can_freeze: bool) -> Self {
        Self { world, can_freeze, views: HashMap::new() }
    }

    /// Returns a client's view, and stores it in `last`, the client's view of the previous tick.
    pub(super) fn of(
        &mut self,
        visibility: &[Visibility],
        last: &mut Option<Arc<QuantizedSnapshot>>,
    ) -> Arc<QuantizedSnapshot> {
        let view = match visibility.iter().all(|seen| *seen == Visibility::Visible) {
            true => Arc::clone(self.world),
            false => self.partial(visibility, last.as_ref()),
        };
        *last = self.can_freeze.then(|| Arc::clone(&view));
        view
    }

    fn partial(
        &mut self,
        visibility: &[Visibility],
        last: Option<&Arc<QuantizedSnapshot>>,
    ) -> Arc<QuantizedSnapshot> {
        let last = last.filter(|_| visibility.contains(&Visibility::Frozen));
        if !self.views.contains_key(visibility) {
            let none = Alternatives::default();
            self.views.insert(visibility.to_vec(), none);
        }
        let known = self.views.get_mut(visibility);
        let Alternatives { by_before, distinct } = known.expect("it was just inserted");
        let before = last.map_or(ptr::null(), Arc::as_ptr);
        let view = by_before.entry(before).or_insert_with(|| {
            let mut view = QuantizedSnapshot::clone(self.world);
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
