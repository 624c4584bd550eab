//! Human-readable text of a schema.

use super::{Range, Schema, Support};

impl Schema {
    /// Returns a line for each item, in the order of the fields. The text is for display only; it cannot be parsed.
    pub fn text(&self) -> String {
        let world = &self.world;
        let mut lines = vec![
            format!("scene: {}", self.name),
            format!("ticks: {}", self.ticks_per_second),
            format!("up: {:?}", self.up),
        ];
        for (axis, range) in ["X", "Y", "Z"].into_iter().zip(&self.position) {
            let Range { min, max, steps_per_unit } = range;
            lines.push(format!(
                "position {axis}: {min} to {max} in {steps_per_unit} steps per unit"
            ));
        }
        let bits = self.component_bits;
        lines.push(format!("orientation: {bits} bits, {:?} levels", self.levels));
        lines.extend(self.anchor.map(|body| format!("anchor: {body}")));
        let kinds = self.kinds.iter();
        lines.extend(kinds.map(|kind| format!("kind {}: {:?}", kind.name, kind.shape)));
        let fields = self.fields.iter();
        lines.extend(fields.map(|field| format!("field {}: {:?}", field.name, field.form)));
        lines.push(format!("gravity: {}", world.gravity));
        lines.extend(world.floor.map(|height| format!("floor: {height}")));
        lines.push(format!("max-speed: {}", world.max_speed));
        lines.extend(world.linear.map(|linear| format!("linear: {linear:?}")));
        lines.push(format!("slots: {:?}", self.slots));
        let Support { floats, other_steps, velocities, simulation } = self.support;
        lines.extend(floats.then(|| "supports floats".to_owned()));
        lines.extend(other_steps.then(|| "supports other-steps".to_owned()));
        lines.extend(velocities.then(|| "supports velocities".to_owned()));
        lines.extend(simulation.then(|| "supports simulation".to_owned()));
        lines.push(format!("seats: {}\n", self.seats));
        lines.join("\n")
    }
}

/// Returns the first lines that differ between two [texts](Schema::text). The texts may have further lines after the
/// schema. An empty string stands for a missing item.
pub fn first_difference<'t>(ours: &'t str, theirs: &'t str) -> Option<[&'t str; 2]> {
    let (mut our_lines, mut their_lines) = (ours.lines(), theirs.lines());
    let [our, their] = loop {
        match [our_lines.next(), their_lines.next()] {
            [None, None] => return None,
            [our, their] if our == their => {}
            differing => break differing.map(Option::unwrap_or_default),
        }
    };
    let lacks = |text: &str, line| !text.lines().any(|other| subject(other) == subject(line));
    Some(match [lacks(theirs, our), lacks(ours, their)] {
        [true, false] => [our, ""],
        [false, true] => ["", their],
        _ => [our, their],
    })
}

/// The item that a line describes: `ticks`, `field health`, or the whole line.
fn subject(line: &str) -> &str {
    line.split(": ").next().unwrap_or_default()
}
