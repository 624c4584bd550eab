//! A lane with a budget, and cubes coloured by how long they have waited.

use cubewire::game::headless::LaneGame;
use cubewire::replication::{SendStates, SenderSettings};
use cubewire::view::CubeColors;
use cubewire_protocol::SendState;
use cubewire_scene::CUBES;

use crate::common::{component, game_with_view, steps};

fn send_states(game: &LaneGame) -> Option<Vec<SendState>> {
    let send_states = game.app.world().get::<SendStates>(game.lane)?;
    Some(send_states.now.clone())
}

#[test]
fn how_the_cubes_stand_is_known_while_it_is_shown_and_there_is_a_budget() {
    let mut game = game_with_view("katamari", "predicted,budget:32kbps");
    steps(&mut game, 300);
    assert_eq!(send_states(&game), None);
    game.app.insert_resource(CubeColors::Wait);
    let (mut waited, mut in_flight) = (0, 0);
    for _ in 0..120 {
        game.step();
        let send_states = send_states(&game).unwrap();
        assert_eq!(send_states.len(), CUBES);
        let sample = game.meter().samples().back().unwrap();
        let waits = send_states.iter().filter_map(|one| one.waiting_ticks(sample.tick));
        assert_eq!(waits.max().unwrap_or(0), sample.longest_wait_ticks);
        assert_eq!(sample.budget_kbps, Some(32));
        let mut ranks: Vec<_> = send_states.iter().filter_map(rank).collect();
        ranks.sort_unstable();
        assert!(ranks.iter().copied().eq(0..ranks.len()), "{ranks:?}");
        waited += ranks.len();
        let flying = |one: &&SendState| matches!(one, SendState::InFlight { .. });
        in_flight += send_states.iter().filter(flying).count();
    }
    assert!(waited > 0 && in_flight > 0, "{waited}, {in_flight}");

    component::<SenderSettings>(&mut game).budget = None;
    steps(&mut game, 2);
    assert_eq!(send_states(&game), Some(Vec::new()));
    let sample = game.meter().samples().back().unwrap();
    assert_eq!((sample.budget_kbps, sample.longest_wait_ticks), (None, 0));
    game.app.insert_resource(CubeColors::Interaction);
    steps(&mut game, 2);
    assert_eq!(send_states(&game), None);
}

fn rank(send_state: &SendState) -> Option<usize> {
    match send_state {
        SendState::Waiting(wait) => Some(wait.more_urgent),
        _ => None,
    }
}
