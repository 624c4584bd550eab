//! Over bad links all ends equal.

use cubewire_link::Jitter;

use super::*;

fn conditions(loss: f64) -> Conditions {
    Conditions {
        latency: Duration::from_millis(50),
        jitter: Jitter::Uniform {
            spread: Duration::from_millis(30),
        },
        loss: Loss::bursts(loss, 2.0),
        duplicate_probability: 0.1,
        ..Conditions::PERFECT
    }
}

#[test]
fn whatever_is_lost_both_ends_are_equal_in_the_end() {
    for loss in [0.05, 0.3] {
        let mut net = TestNet::with_conditions(protocol, conditions(loss), 5);
        net.add_client();
        let mut bodies = Vec::new();
        for tick in 0..600 {
            play(&mut net, &mut bodies, tick);
            net.tick();
            if tick == 300 {
                net.add_client();
            }
        }
        assert!(bodies.len() > 20);
        net.ticks(240);
        let expected = states(server(&mut net), false);
        assert_eq!(expected.len(), bodies.len());
        for client in &mut net.clients {
            assert_eq!(expected, states(client.world_mut(), true));
        }
    }
}

#[test]
fn after_a_long_silence_all_is_equal_again() {
    let mut net = TestNet::with_conditions(protocol, conditions(0.05), 6);
    net.add_client();
    let mut bodies = Vec::new();
    for tick in 0..900 {
        if tick == 100 || tick == 600 {
            net.network.set_conditions(Conditions {
                cut: tick == 100,
                ..conditions(0.05)
            });
        }
        play(&mut net, &mut bodies, tick);
        net.tick();
    }
    net.ticks(300);
    let expected = states(server(&mut net), false);
    assert_eq!(expected, states(net.clients[0].world_mut(), true));
}
