//! Applies the settings of the tour's steps, plays their scripts, and restores the previous state at the end.

use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use cubewire_scene::Keys;

use crate::controls::{Action, ControlsSystems, Keyboard};
use crate::game::script_of;
use crate::panel::{Page, PanelState, PanelSystems, STEPS, Scene, Task, Tour, TourStep};
use crate::recording::ScriptPlayback;
use crate::replication::LinkSettings;
use crate::view::{
    self, CubeColors, Exaggeration, PaneContent, Selected, Side, TouchKeys, Trails, ViewMode,
};

pub(super) fn install(app: &mut App) {
    app.init_resource::<Tour>()
        .init_resource::<Course>()
        .add_systems(
            RunFixedMainLoop,
            hand_over.before(ControlsSystems).in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
        )
        .add_systems(
            Last,
            restore_tab
                .run_if(on_message::<AppExit>)
                .after(exit_on_all_closed)
                .before(PanelSystems::Save),
        )
        .add_systems(Update, (follow, tick_off).chain().after(PanelSystems::Notices));
}

pub(super) fn begin(app: &mut App, index: usize) {
    app.add_systems(PostStartup, move |world: &mut World| {
        world.trigger(Action::Tour);
        world.resource_mut::<Tour>().index = Some(index);
    });
}

#[derive(Resource, Debug, Default)]
struct Course {
    index: Option<usize>,
    /// Scene that its script plays. `None` after the player took over.
    scene: Option<Scene>,
    was_cut: bool,
    /// Setting and script from before the tour. `None` without a tour.
    before: Option<(Setting, Option<ScriptPlayback>)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Setting {
    halves: [PaneContent; Side::ALL.len()],
    selected: Side,
    view: ViewMode,
    has_trails: bool,
    exaggeration: Exaggeration,
    page: Page,
    colors: CubeColors,
}

impl Setting {
    fn of(world: &mut World) -> Self {
        let mut selected = world.query_filtered::<&Side, With<Selected>>();
        let selected = selected.iter(world).next().copied();
        let halves = Side::ALL.map(|side| view::content(world, side));
        let panel = world.resource::<PanelState>();
        Self {
            page: panel.page,
            colors: panel.colors,
            halves,
            selected: selected.unwrap_or(Side::Right),
            view: *world.resource(),
            has_trails: world.resource::<Trails>().shown,
            exaggeration: *world.resource(),
        }
    }

    fn of_step(step: &TourStep) -> Self {
        Self {
            halves: [step.left, step.right].map(|half| half.parse().expect("a test parses it")),
            selected: Side::Right,
            view: step.view,
            has_trails: step.has_trails,
            exaggeration: Exaggeration::None,
            page: step.page,
            colors: step.colors,
        }
    }

    fn apply(self, world: &mut World) -> Result {
        for (side, half) in Side::ALL.into_iter().zip(self.halves) {
            view::show(world, side, half)?;
        }
        world.flush();
        view::select_half(world, self.selected);
        world.resource_mut::<ViewMode>().set_if_neq(self.view);
        world.resource_mut::<Trails>().shown = self.has_trails;
        world.insert_resource(self.exaggeration);
        let mut panel = world.resource_mut::<PanelState>();
        (panel.page, panel.colors) = (self.page, self.colors);
        Ok(())
    }
}

fn follow(tour: Res<Tour>, course: Res<Course>, mut commands: Commands) {
    if tour.index != course.index {
        let index = tour.index;
        commands.queue(move |world: &mut World| turn(world, index));
    }
}

fn turn(world: &mut World, index: Option<usize>) -> Result {
    world.resource_scope(|world, mut course: Mut<Course>| {
        course.index = index;
        course.was_cut = false;
        // The final card covers the last step.
        if index == Some(STEPS.len()) {
            return Ok(());
        }
        match index.and_then(|index| STEPS.get(index)) {
            Some(step) => course.show(world, step),
            None => course.leave(world),
        }
    })
}

impl Course {
    fn show(&mut self, world: &mut World, step: &TourStep) -> Result {
        if self.before.is_none() {
            self.before = Some((Setting::of(world), world.get_resource().cloned()));
            // The tour replaces the explanation of the screen.
            world.resource_mut::<PanelState>().explaining = false;
        }
        if world.resource::<Time<Virtual>>().is_paused() {
            world.trigger(Action::Pause);
        }
        Setting::of_step(step).apply(world)?;
        // Do not restart the scene if the next step has the same one, so that rungs can be compared.
        if self.scene != Some(step.scene) {
            self.scene = Some(step.scene);
            world.insert_resource(ScriptPlayback::new(script_of(step.scene)));
        }
        world.resource_mut::<Tour>().plays = true;
        Ok(())
    }

    fn leave(&mut self, world: &mut World) -> Result {
        self.scene = None;
        let Some((setting, script)) = self.before.take() else { return Ok(()) };
        match script {
            Some(script) => world.insert_resource(script),
            None => drop(world.remove_resource::<ScriptPlayback>()),
        }
        setting.apply(world)
    }
}

/// Restores the tab from before the tour if the window is closed during it.
fn restore_tab(course: Res<Course>, mut panel: ResMut<PanelState>) {
    if let Some((before, _)) = &course.before {
        panel.page = before.page;
    }
}

/// Stops the script when the player presses a key. During a pause, keys move through the past instead.
fn hand_over(
    clock: Res<Time<Virtual>>,
    keyboard: Keyboard<'_>,
    touch: Option<Res<TouchKeys>>,
    mut tour: ResMut<Tour>,
    mut course: ResMut<Course>,
    mut commands: Commands,
) {
    let held = view::held(&keyboard, touch.as_deref());
    if course.scene.is_none() || clock.is_paused() || held == Keys::default() {
        return;
    }
    course.scene = None;
    tour.plays = false;
    commands.remove_resource::<ScriptPlayback>();
}

fn tick_off(
    link: Option<Single<&LinkSettings, With<Selected>>>,
    mut tour: ResMut<Tour>,
    mut course: ResMut<Course>,
) {
    // The step may not be set up yet.
    if tour.index != course.index {
        return;
    }
    let is_cut = link.is_some_and(|link| link.conditions.cut);
    course.was_cut |= is_cut;
    let is_done = match tour.step().and_then(|step| step.task) {
        Some(Task::TakeOver) => course.scene.is_none(),
        Some(Task::CutLink) => course.was_cut && !is_cut,
        None => false,
    };
    tour.is_done |= is_done;
}

#[cfg(test)]
pub(super) mod tests;
