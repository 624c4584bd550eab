//! The terms that both ends of a connection must agree on.

use std::sync::Arc;

use cubewire_codec::ladder::PREDICTED_POSITION;
use cubewire_codec::schema::{Schema, first_difference};
use cubewire_codec::{Fingerprint, Limits, Plan, Stages};
use log::debug;

use super::message::Hello;

/// Version of the wire formats of this crate, the codec, the transport and `cubewire-bevy`.
pub const PROTOCOL_VERSION: u16 = 23;

/// The scene, the items that the app has registered, and the channels for inputs. Ends with different contracts do not connect,
/// except for the fingerprint, and for the number of seats, which the server decides.
#[derive(Clone, Debug)]
pub struct Contract {
    plan: Arc<Plan>,
    schema: Vec<u8>,
    registered: String,
    pub(super) input_channels: usize,
    pub(super) has_tick_inputs: bool,
    pub(super) teleports: Option<usize>,
    /// Fingerprint of this end. Default: the [shipped](Fingerprint::shipped) model on this machine. A server does not
    /// send arithmetic coding to a client with another fingerprint.
    pub fingerprint: Fingerprint,
}

impl Contract {
    /// Creates the contract for a scene. `registered` has a line for each further item that both apps must have. Each
    /// line ends in `\n`.
    pub fn new(plan: Arc<Plan>, registered: String) -> Self {
        Self {
            schema: plan.schema().encode(),
            plan,
            registered,
            input_channels: 0,
            has_tick_inputs: false,
            teleports: None,
            fingerprint: Fingerprint::shipped(),
        }
    }

    /// Sets the number of channels for inputs. Default: 0.
    ///
    /// # Panics
    /// If it is above 255.
    #[must_use]
    pub fn with_input_channels(mut self, channels: usize) -> Self {
        assert!(channels <= 255, "{channels} channels for inputs, limit 255");
        self.input_channels = channels;
        self.registered += &format!("input channels: {channels}\n");
        self
    }

    /// Lets clients send an input for each tick: [`ClientConnection::push_tick_input`](super::ClientConnection::push_tick_input).
    #[must_use]
    pub fn with_tick_inputs(mut self) -> Self {
        self.has_tick_inputs = true;
        self.registered += "tick inputs\n";
        self
    }

    /// Sets the field that counts a body's teleports: see
    /// [`SnapshotReceiver::with_teleports`](crate::SnapshotReceiver::with_teleports). By default, no field counts them.
    ///
    /// # Panics
    /// If the schema has no field with this index.
    #[must_use]
    pub fn with_teleports(mut self, field: usize) -> Self {
        let fields = self.plan.schema().fields.len();
        assert!(field < fields, "field {field} of {fields}");
        self.teleports = Some(field);
        self.registered += &format!("teleports: field {field}\n");
        self
    }

    /// The number of channels for inputs. The last one is that of tick inputs, if there are any.
    pub(super) const fn channels(&self) -> usize {
        self.input_channels + self.has_tick_inputs as usize
    }

    /// Returns the scene.
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns the limits of a decoder: the maximum number of slots, if the scene has one.
    pub fn limits(&self) -> Limits {
        self.plan.max_slots().map_or_else(Limits::default, |max_bodies| Limits { max_bodies })
    }

    /// Returns a readable text with a line for each item of the schema and each registered item.
    pub fn text(&self) -> String {
        self.plan.schema().text() + &self.registered
    }

    /// Returns the hello of a client with this contract.
    pub fn hello(&self) -> Hello<'_> {
        Hello {
            version: PROTOCOL_VERSION,
            fingerprint: self.fingerprint,
            schema: &self.schema,
            registered: &self.registered,
        }
    }

    /// Returns the reason why a server with this contract refuses a client, or `None` if it accepts it.
    pub(super) fn refusal(&self, client: &Hello<'_>) -> Option<String> {
        if client.version != PROTOCOL_VERSION {
            let theirs = client.version;
            return Some(format!(
                "the server uses protocol version {PROTOCOL_VERSION}, but the client uses version {theirs}"
            ));
        }
        let schema = match Schema::decode(client.schema) {
            Ok(schema) => Schema { seats: self.plan.schema().seats, ..schema },
            Err(error) => return Some(format!("the client's schema is invalid: {error}")),
        };
        if schema == *self.plan.schema() && client.registered == self.registered {
            return None;
        }
        Some(difference(&self.text(), &(schema.text() + client.registered)))
    }
}

/// Returns a sentence about the first line that differs between two contracts.
fn difference(server: &str, client: &str) -> String {
    let lines = first_difference(server, client).unwrap_or_default();
    let [server, client] = lines.map(|line| line.chars().take(200).collect::<String>());
    let difference = match [&*server, &*client] {
        ["", ""] => "equal texts with different bytes".to_owned(),
        [only, ""] => format!("only the server has `{only}`"),
        ["", only] => format!("only the client has `{only}`"),
        _ => format!("the server has `{server}`, but the client has `{client}`"),
    };
    format!("the protocols differ: {difference}")
}

/// Reason why a receiver does not get arithmetic coding. Arithmetic coding needs the same trained model and the same
/// arithmetic at both ends, which they compare by the fingerprints in hello and welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum FallbackReason {
    /// The trained models differ.
    #[error("the two ends have different trained models")]
    Model,
    /// The two machines get different results from the same calculation.
    #[error("the two machines compute different results")]
    Arithmetic,
}

impl FallbackReason {
    /// Compares two fingerprints. Returns `None` if they are equal.
    pub(crate) fn between(theirs: Fingerprint, own: Fingerprint) -> Option<Self> {
        if theirs == own {
            return None;
        }
        let has_same_model = theirs.model == own.model;
        let reason = if has_same_model { Self::Arithmetic } else { Self::Model };
        debug!("fallback: no arithmetic coding: {reason}");
        Some(reason)
    }

    /// Returns the stages to use in place of arithmetic `stages`: [`PREDICTED_POSITION`], which uses integers and no
    /// model. `None` if `stages` do not use arithmetic coding.
    pub fn instead_of(stages: Stages) -> Option<Stages> {
        let is_arithmetic = stages.delta.is_arithmetic();
        is_arithmetic.then_some(PREDICTED_POSITION.stages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named() {
        let server = "scene: x\nticks: 60\nfield fuel: 0 to 9\nfield wool: 0 to 9\ninput u8\n";
        for (client, named) in [
            ("scene: x\nticks: 30\n", "the server has `ticks: 60`, but the client has `ticks: 30`"),
            ("scene: x\nticks: 60\n", "only the server has `field fuel: 0 to 9`"),
            (
                "scene: x\nticks: 60\nfield wool: 0 to 9\ninput u8\n",
                "only the server has `field fuel: 0 to 9`",
            ),
            (
                "scene: x\nticks: 60\nfield age: flag\nfield fuel: 0 to 9\nfield wool: 0 to 9\ninput u8\n",
                "only the client has `field age: flag`",
            ),
            (
                "scene: x\nticks: 60\nfield fuel: 0 to 9\nfield fur: 0 to 9\ninput u8\n",
                "the server has `field wool: 0 to 9`, but the client has `field fur: 0 to 9`",
            ),
            (
                "scene: x\nticks: 60\nfield fuel: 0 to 9\nfield wool: 0 to 9\ninput u16\n",
                "the server has `input u8`, but the client has `input u16`",
            ),
        ] {
            let difference = difference(server, client);
            assert_eq!(difference, format!("the protocols differ: {named}"));
        }
    }

    #[test]
    fn a_client_with_another_contract_is_refused() {
        let ours = Contract::new(Plan::cubes(), "input u8\n".to_owned());
        assert_eq!(ours.refusal(&ours.hello()), None);
        let refused = |hello: Hello<'_>| ours.refusal(&hello).unwrap();
        let hello = ours.hello();
        let version = PROTOCOL_VERSION + 1;
        let theirs = format!("but the client uses version {version}");
        assert!(refused(Hello { version, ..hello }).ends_with(&theirs));
        let registered = "input u16\n";
        let both = "the server has `input u8`, but the client has `input u16`";
        assert!(refused(Hello { registered, ..hello }).ends_with(both));
        let inputs = ours.clone().with_input_channels(2);
        let only = "only the client has `input channels: 2`";
        assert!(refused(inputs.hello()).ends_with(only));
        let slower = Schema { ticks_per_second: 50, ..ours.plan.schema().clone() };
        let schema = &*slower.encode();
        let both = "the server has `ticks: 60`, but the client has `ticks: 50`";
        assert!(refused(Hello { schema, ..hello }).ends_with(both));
        let four = Schema { seats: 4, ..ours.plan.schema().clone() };
        assert_eq!(ours.refusal(&Hello { schema: &four.encode(), ..hello }), None);
        let schema = &hello.schema[1..];
        let malformed = "the client's schema is invalid: schema: malformed";
        assert_eq!(refused(Hello { schema, ..hello }), malformed);
    }
}
