//! Tracks which cubes are interacting. They are drawn red, and the others grey.

/// Ticks of rest after which a cube is no longer interacting.
pub const GREY_AFTER_TICKS: u16 = 100;

/// Tracks the interacting cubes. Those of players always are. A cube that touches an interacting one becomes
/// interacting, too, through a whole pile in one step. A cube that has rested long enough stops
/// interacting.
#[derive(Clone, Debug)]
pub struct Interaction {
    /// Whether each cube is interacting.
    pub interacting: Vec<bool>,
    /// Number of ticks that each cube has rested, at most 65 535.
    pub rest_ticks: Vec<u16>,
    players: Vec<usize>,
    neighbours: Vec<Vec<u16>>,
    to_visit: Vec<u16>,
}

impl Interaction {
    /// Creates a state from flags and rest ticks by cube, and the indices of the players' cubes. It continues like the state that
    /// they were read from.
    ///
    /// # Panics
    /// If the number of cubes is outside 1..=65 536 or differs between two arguments, or an index is out of range.
    pub fn new(mut interacting: Vec<bool>, rest_ticks: Vec<u16>, players: Vec<usize>) -> Self {
        let cubes = interacting.len();
        assert!((1..=65_536).contains(&cubes), "{cubes} cubes");
        assert_eq!(cubes, rest_ticks.len(), "one count per cube");
        for &player in &players {
            interacting[player] = true;
        }
        let neighbours = vec![Vec::new(); cubes];
        Self { interacting, rest_ticks, players, neighbours, to_visit: Vec::new() }
    }

    /// Adds a cube with the next index.
    ///
    /// # Panics
    /// If there are 65 536 cubes.
    pub fn add(&mut self, interacting: bool, rest_ticks: u16, is_player: bool) {
        let cube = self.interacting.len();
        assert!(cube < 65_536, "{cube} cubes");
        self.interacting.push(interacting || is_player);
        self.rest_ticks.push(rest_ticks);
        self.neighbours.push(Vec::new());
        self.players.extend(is_player.then_some(cube));
    }

    /// Advances by one tick. `contacts` are the pairs of touching cubes, in any order. `at_rest` says
    /// for each cube whether the physics engine has put it to sleep.
    ///
    /// # Panics
    /// If a contact has an index out of range, or `at_rest` does not have one flag for each cube.
    pub fn step(&mut self, contacts: impl IntoIterator<Item = (u16, u16)>, at_rest: &[bool]) {
        assert_eq!(at_rest.len(), self.interacting.len(), "one flag per cube");
        for (cube, &rests) in at_rest.iter().enumerate() {
            let ticks = &mut self.rest_ticks[cube];
            *ticks = if rests { ticks.saturating_add(1) } else { 0 };
            if *ticks >= GREY_AFTER_TICKS && !self.players.contains(&cube) {
                self.interacting[cube] = false;
            }
        }

        for neighbours in &mut self.neighbours {
            neighbours.clear();
        }
        for (a, b) in contacts {
            self.neighbours[usize::from(a)].push(b);
            self.neighbours[usize::from(b)].push(a);
        }
        self.to_visit.extend(
            (0..=u16::MAX).zip(&self.interacting).filter_map(|(cube, &is)| is.then_some(cube)),
        );
        while let Some(cube) = self.to_visit.pop() {
            for &other in &self.neighbours[usize::from(cube)] {
                let (from, to) = (usize::from(cube), usize::from(other));
                // Two resting cubes do not affect each other, because otherwise a pile would never turn grey.
                let both_rest = at_rest[from] && at_rest[to];
                if !self.interacting[to] && !both_rest {
                    self.interacting[to] = true;
                    self.to_visit.push(other);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAKE: [bool; 5] = [false; 5];

    fn start() -> Interaction {
        Interaction::new(vec![false; 5], vec![0; 5], vec![0])
    }

    #[test]
    fn one_touch_spreads_over_a_pile_in_one_step() {
        let mut interaction = start();
        interaction.step([(3, 2), (1, 2)], &AWAKE);
        assert_eq!(interaction.interacting, [true, false, false, false, false], "all are grey");
        interaction.step([(3, 2), (1, 2), (1, 0)], &AWAKE);
        assert_eq!(interaction.interacting, [true, true, true, true, false]);
    }

    #[test]
    fn a_cube_turns_grey_once_it_has_rested_long_enough() {
        let mut interaction = start();
        interaction.step([(0, 1)], &AWAKE);
        let rests = [false, true, false, false, false];
        // Moving restarts the time.
        for _ in 0..2 {
            for _ in 1..GREY_AFTER_TICKS {
                interaction.step([], &rests);
                assert!(interaction.interacting[1]);
            }
            interaction.step([], &AWAKE);
        }
        for _ in 1..=GREY_AFTER_TICKS {
            assert!(interaction.interacting[1]);
            interaction.step([], &rests);
        }
        assert!(!interaction.interacting[1]);
    }

    #[test]
    fn a_moving_neighbour_spreads_interaction_and_a_resting_one_does_not() {
        let mut interaction = start();
        interaction.step([(0, 1)], &AWAKE);
        interaction.step([(1, 2)], &[false, true, true, false, false]);
        assert!(!interaction.interacting[2]);
        interaction.step([(1, 2)], &[false, false, true, false, false]);
        assert!(interaction.interacting[2]);
    }

    #[test]
    fn a_restored_state_goes_on_as_the_original_does() {
        let mut original = start();
        let rests = [false, true, false, true, false];
        original.step([(0, 1), (1, 2)], &rests);
        for _ in 0..60 {
            original.step([], &rests);
        }
        let (interacting, rest_ticks) = (original.interacting.clone(), original.rest_ticks.clone());
        let mut restored = Interaction::new(interacting, rest_ticks, vec![0]);
        for tick in 0..60 {
            assert_eq!(restored.interacting, original.interacting, "{tick}");
            assert_eq!(restored.rest_ticks, original.rest_ticks, "{tick}");
            original.step([(2, 4)], &rests);
            restored.step([(2, 4)], &rests);
        }
        assert!(!restored.interacting[1]);
    }

    #[test]
    fn players_never_turn_grey() {
        let mut interaction = Interaction::new(vec![false; 5], vec![0; 5], vec![0, 4]);
        for _ in 0..2 * GREY_AFTER_TICKS {
            assert_eq!(interaction.interacting, [true, false, false, false, true]);
            interaction.step([], &[true; 5]);
        }
        assert_eq!(interaction.interacting, [true, false, false, false, true]);
    }
}
