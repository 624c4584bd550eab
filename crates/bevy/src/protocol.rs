//! What was registered, compiled: what both ends work with.

use std::fmt;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use cubewire_codec::schema::{self, FieldForm};
use cubewire_codec::{Plan, Stages};
use cubewire_protocol::Contract;

use crate::cold::ColdEntry;
use crate::messages::MessageEntry;

/// Reads a field of a body. The slots of bodies are for those to which it refers.
type ReadField = dyn Fn(EntityRef<'_>, &dyn Fn(Entity) -> Option<usize>) -> f64 + Send + Sync;

/// Writes a field of a body, unless that has been despawned. The bodies of slots are for those to which it refers.
type WriteField = dyn Fn(&mut World, Entity, f64, &dyn Fn(usize) -> Option<Entity>) + Send + Sync;

/// A field and how to get at it.
pub(crate) struct FieldEntry {
    pub(crate) schema: schema::Field,
    pub(crate) read: Box<ReadField>,
    pub(crate) write: Box<WriteField>,
    /// The only kinds of bodies that have it; empty for all.
    pub(crate) kinds: &'static [&'static str],
}

impl FieldEntry {
    pub(crate) const fn form(&self) -> &FieldForm {
        &self.schema.form
    }

    pub(crate) const fn is_reference(&self) -> bool {
        matches!(self.schema.form, FieldForm::Body)
    }
}

/// All that was registered. Exists once plugins have finished.
#[derive(Resource, Clone, Debug)]
pub struct Protocol(pub(crate) Arc<Compiled>);

pub(crate) struct Compiled {
    pub(crate) plan: Arc<Plan>,
    pub(crate) contract: Contract,
    pub(crate) stages: Stages,
    pub(crate) kinds: Vec<&'static str>,
    /// In the order of the schema. That has [`HAS_COLD`](Protocol::HAS_COLD) before them if there are cold components, and
    /// [`TELEPORTS`](Protocol::TELEPORTS) after them if there are teleports.
    pub(crate) fields: Vec<FieldEntry>,
    pub(crate) has_teleports: bool,
    pub(crate) cold: Vec<ColdEntry>,
    pub(crate) inputs: Vec<MessageEntry>,
    pub(crate) to_server: Vec<MessageEntry>,
    pub(crate) to_client: Vec<MessageEntry>,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.contract.text())
    }
}

/// Why an app panics that has none when it starts.
pub(crate) const NO_PROTOCOL: &str =
    "`ServerPlugin` and `ClientPlugin` need a `CubewirePlugin`, and that `App::finish` was called";

impl Protocol {
    /// The name of the field that says whether a body has components of [`replicate`](crate::CubewireAppExt::replicate): a client
    /// shows it only once they have arrived. It is the first field, a flag, if such components are registered.
    pub const HAS_COLD: &str = "has_cold";

    /// The name of the field with the number of ticks in which a body was [teleported](crate::Teleport), modulo 256. It is the
    /// last field, if [teleports are replicated](crate::CubewireAppExt::replicate_teleports).
    pub const TELEPORTS: &str = "teleports";

    /// All that was registered, a line each, for people: what two ends compare when they connect. Its beginning is the text of
    /// the [schema](schema::Schema::text).
    #[must_use]
    pub fn text(&self) -> String {
        self.0.contract.text()
    }

    /// The compiled schema.
    #[must_use]
    pub fn plan(&self) -> &Arc<Plan> {
        &self.0.plan
    }
}

impl Compiled {
    /// Whether the first field says that a body has cold data.
    pub(crate) const fn has_cold(&self) -> bool {
        !self.cold.is_empty()
    }

    /// Fields on the wire before those that were registered.
    pub(crate) fn hidden_fields(&self) -> usize {
        self.has_cold().into()
    }

    /// The field that counts teleports, by its index on the wire.
    #[cfg(feature = "client")]
    pub(crate) fn teleports(&self) -> Option<usize> {
        self.has_teleports
            .then(|| self.plan.schema().fields.len() - 1)
    }

    /// The fields that refer to bodies, by their index on the wire.
    pub(crate) fn references(&self) -> impl Iterator<Item = usize> {
        let fields = self.fields.iter().enumerate();
        let references = fields.filter(|(_, field)| field.is_reference());
        references.map(|(index, _)| index + self.hidden_fields())
    }

    pub(crate) fn kind(&self, name: &str) -> Option<u8> {
        self.kinds
            .iter()
            .position(|&kind| kind == name)
            .map(|kind| kind as u8)
    }
}
