//! Handles the actions that change the panel or its lane.

use bevy::prelude::*;
use cubewire_codec::ladder::LADDER;

use super::pages::ladder::{index_of, step};
use super::settings::PanelState;
use super::tour::Tour;
use crate::controls::Action;
use crate::replication::{ChangeLane, LaneSettingsQuery, Reconnect, SenderSettings};
use crate::simulation::CubeWorld;
use crate::view::Selected;

pub(super) fn on_action(
    action: On<Action>,
    mut state: ResMut<PanelState>,
    tour: Option<Res<Tour>>,
    world: Option<Res<CubeWorld>>,
    lane: Option<Single<(Entity, LaneSettingsQuery), With<Selected>>>,
    mut commands: Commands,
) {
    match *action {
        Action::Panel => state.resize(),
        Action::CubeColors => state.colors = state.colors.next(world.is_some()),
        Action::Timeline => state.timeline = !state.timeline,
        // The cards that explain the screen stay closed during the tour.
        Action::Help if tour.is_none_or(|tour| tour.step().is_none()) => {
            state.explaining = !state.explaining;
        }
        Action::Reconnect => commands.trigger(Reconnect),
        // On the page, the key shows a notice.
        Action::Film if cfg!(not(target_family = "wasm")) => {
            if state.film_card {
                commands.trigger(Action::FilmLast(state.past_film()));
            }
            state.film_card ^= true;
        }
        Action::CopyFilm(_) | Action::LeaveTour => state.film_card = false,
        _ => {}
    }
    let Some((entity, settings)) = lane.map(Single::into_inner) else { return };
    let mut settings = settings.get();
    let current = index_of(settings.sender.stages);
    let rung = match *action {
        Action::NextRung => step(current, state.last_rung, 1),
        Action::PreviousRung => step(current, state.last_rung, -1),
        Action::Rung(rung) => rung,
        Action::CutLink => {
            settings.link.conditions.cut ^= true;
            return commands.trigger(ChangeLane { entity, settings });
        }
        _ => return,
    };
    let Some(rung) = LADDER.get(rung) else { return };
    settings.sender.stages = rung.stages;
    commands.trigger(ChangeLane { entity, settings });
}

/// Remembers the last rung of the lane. `PageUp` and `PageDown` return to it from custom stages.
pub(super) fn record_rung(
    mut state: ResMut<PanelState>,
    lane: Option<Single<&SenderSettings, With<Selected>>>,
) {
    if let Some(rung) = lane.and_then(|sender| index_of(sender.stages))
        && rung != state.last_rung
    {
        state.last_rung = rung;
    }
}

#[cfg(test)]
mod tests {
    use bevy::input::ButtonInput;

    use super::super::settings::PanelSize;
    use super::*;
    use crate::controls::{BINDINGS, ControlsPlugin, PastFilm, Trigger};
    use crate::replication::{LaneSettings, LinkSettings, SenderSettings, change_lane};

    fn app() -> (App, Entity) {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, ControlsPlugin, super::super::PanelPlugin::default()))
            .init_resource::<ButtonInput<KeyCode>>()
            .add_observer(change_lane);
        let lane = app.world_mut().spawn((LaneSettings::default(), Selected)).id();
        (app, lane)
    }

    fn tap(app: &mut App, key: KeyCode) {
        let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
        keys.reset_all();
        keys.press(key);
        app.update();
    }

    /// Index of the lane's rung, and whether its link is cut.
    fn lane_of(app: &App, lane: Entity) -> (Option<usize>, bool) {
        let lane = app.world().entity(lane);
        let rung = index_of(lane.get::<SenderSettings>().unwrap().stages);
        (rung, lane.get::<LinkSettings>().unwrap().conditions.cut)
    }

    #[test]
    fn keys_change_rung_link_and_panel_without_ctrl() {
        let (mut app, lane) = app();
        for (key, action) in BINDINGS.iter().flat_map(|row| row.presses) {
            if let (Trigger::Key(key), Action::Rung(rung)) = (*key, *action) {
                tap(&mut app, key);
                assert_eq!(lane_of(&app, lane), (Some(rung), false), "{key:?}");
            }
        }
        for (key, rung, is_cut) in [
            (KeyCode::Digit3, 2, false),
            (KeyCode::PageDown, 3, false),
            (KeyCode::PageUp, 2, false),
            (KeyCode::PageUp, 1, false),
            (KeyCode::KeyL, 1, true),
            (KeyCode::KeyL, 1, false),
        ] {
            tap(&mut app, key);
            assert_eq!(lane_of(&app, lane), (Some(rung), is_cut), "{key:?}");
            assert_eq!(app.world().resource::<PanelState>().last_rung, rung);
        }
        for size in [PanelSize::Slim, PanelSize::Hidden, PanelSize::Whole] {
            tap(&mut app, KeyCode::F2);
            assert_eq!(app.world().resource::<PanelState>().size, size);
        }
        let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
        keys.press(KeyCode::ControlLeft);
        keys.press(KeyCode::Minus);
        app.update();
        assert_eq!(lane_of(&app, lane), (Some(1), false));
    }

    #[test]
    fn f11_opens_the_film_card_then_films() {
        #[derive(Resource, Default)]
        struct Filmed(Vec<PastFilm>);
        let (mut app, _) = app();
        app.init_resource::<Filmed>().add_observer(
            |action: On<Action>, mut filmed: ResMut<Filmed>| {
                if let Action::FilmLast(film) = *action {
                    filmed.0.push(film);
                }
            },
        );
        let is_open = |app: &App| app.world().resource::<PanelState>().film_card;
        tap(&mut app, KeyCode::F11);
        assert!(is_open(&app));
        tap(&mut app, KeyCode::Escape);
        assert!(!is_open(&app));
        tap(&mut app, KeyCode::F11);
        app.world_mut().resource_mut::<PanelState>().film_length = 1;
        tap(&mut app, KeyCode::F11);
        assert!(!is_open(&app));
        let wanted = PastFilm { seconds: 30, ticks_per_frame: 2 };
        assert_eq!(app.world().resource::<Filmed>().0, [wanted]);
    }
}
