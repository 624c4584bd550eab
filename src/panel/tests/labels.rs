//! Every painted text is legible: no overlap, no cut text, no small font, and no missing glyph.

use bevy_egui::egui::FontFamily;

use super::*;
use crate::panel::pages::ranges::tradeoff::Tradeoff;
use crate::theme::has_glyph;

struct Label {
    text: String,
    rect: Rect,
    font: FontId,
    /// Whether its end is elided or clipped.
    is_cut: bool,
}

fn labels(harness: &Test) -> Vec<Label> {
    let labels = painted(harness).filter_map(|(clip, text)| {
        let rect = text.galley.mesh_bounds.translate(text.pos.to_vec2());
        let seen = rect.intersect(clip);
        let section = text.galley.job.sections.first()?;
        seen.is_positive().then(|| Label {
            text: text.galley.text().to_owned(),
            is_cut: text.galley.elided || rect.width() > seen.width() + 1.0,
            rect: seen,
            font: section.format.font_id.clone(),
        })
    });
    labels.collect()
}

/// Returns a panel with all optional content: measured rungs, two close changes of stages, a budget with waiting cubes, a
/// selected cube, and a link with every condition.
fn full(page: Page, is_compared: bool) -> Panel {
    let stages = ladder::CHANGED_FLAGS.stages;
    let mut panel = measured(page, stages);
    panel.meter = meter_of(1_500, &packet_of(stages), |tick, sample, _| {
        sample.stages = match tick {
            ..900 => ladder::DELTA.stages,
            900..910 => ladder::INDEX.stages,
            _ => stages,
        };
        sample.budget_kbps = is_compared.then_some(64);
    });
    panel.halves.as_mut().unwrap().left_is_lane = is_compared;
    panel.settings.sender.budget = is_compared.then_some(64);
    panel.past.first = Some(0);
    if is_compared {
        panel.selection.cube = Some(1);
        panel.errors = vec![CubeError { metres: 0.1234, degrees: 12.34 }; 10];
        panel.settings.link.conditions = Preset::by_name("wi-fi-bad").unwrap().conditions.clone();
        let wait = |more_urgent: usize| {
            let since = 1_300 + more_urgent as u64;
            SendState::Waiting(Wait { since, error: 1.234, priority: 1_234.5, more_urgent })
        };
        panel.send_states.now = (0..900).map(wait).collect();
        panel.send_states.now[899] = SendState::UpToDate { sent: Some(1_250) };
        panel.send_states.record(1_499);
    }
    panel
}

const SIZES: [Vec2; 5] =
    [LOW, SIZE, vec2(1440.0, 900.0), vec2(1920.0, 1080.0), vec2(3840.0, 2160.0)];

fn check(harness: &mut Test, what: &str, wrong: &mut Vec<String>) {
    harness.run_steps(4);
    let labels = labels(harness);
    assert!(labels.len() > 3, "{what}");
    for (index, label) in labels.iter().enumerate() {
        let Label { text, rect, font, is_cut } = label;
        // Text in an input field scrolls.
        if *is_cut && font.family == FontFamily::Proportional {
            wrong.push(format!("{what}: {text:?} is cut"));
        }
        if font.size < 12.0 {
            wrong.push(format!("{what}: {text:?} has {} points", font.size));
        }
        let missing = harness
            .ctx
            .fonts_mut(|fonts| text.chars().find(|&glyph| !has_glyph(fonts, &font.family, glyph)));
        if let Some(glyph) = missing {
            wrong.push(format!("{what}: {glyph:?} of {text:?} is missing"));
        }
        for other in &labels[..index] {
            let both = rect.intersect(other.rect);
            // Part of a byte of the selected cube is painted again in another colour.
            let is_byte = font.family == FontFamily::Monospace && other.text == *text;
            if both.width() > 1.0 && both.height() > 1.0 && !is_byte {
                wrong.push(format!("{what}: {:?} and {text:?} at {both}", other.text));
            }
        }
    }
}

#[test]
fn labels_of_every_page_are_legible() {
    let (mut wrong, mut widths) = (Vec::new(), [None; SIZES.len()]);
    for page in pages() {
        for is_compared in [false, true] {
            let mut harness = open(full(page, is_compared));
            harness.state_mut().state.size_if_narrow = Some(PanelSize::Whole);
            for (index, size) in SIZES.into_iter().enumerate() {
                harness.set_size(size);
                let what = format!("{page:?} at {size}, two lanes: {is_compared}");
                check(&mut harness, &what, &mut wrong);
                let width = harness.state().drawn.inset.right;
                if *widths[index].get_or_insert(width) != width && size != LOW {
                    wrong.push(format!("{what}: {width} wide"));
                }
                for preset in cubewire_link::PRESETS.iter().filter(|_| page == Page::Link) {
                    let link = &mut harness.state_mut().settings.link;
                    link.conditions = preset.conditions.clone();
                    check(&mut harness, &format!("{}, {what}", preset.title), &mut wrong);
                }
                for column in Column::ALL.into_iter().filter(|_| page == Page::Ladder) {
                    harness.state_mut().state.column = column;
                    check(&mut harness, &format!("{column:?}, {what}"), &mut wrong);
                }
                if page == Page::Ladder {
                    harness.state_mut().state.timeline = true;
                    harness.state_mut().past.moment = Some(1_000);
                    check(&mut harness, &format!("timeline, {what}"), &mut wrong);
                    harness.state_mut().state.timeline = false;
                    harness.state_mut().past.moment = None;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_of_any_magnitude_have_legible_labels() {
    let mut wrong = Vec::new();
    for mm in [0.001, 0.9, 30.0, 99.0, 101.0, 2_000.0, 70_000.0] {
        let mut panel = full(Page::Ranges, false);
        let stages = ladder::DELTA.stages;
        panel.tradeoffs.0.push(Tradeoff { stages, kbps: 400.0, mm, degrees: 0.1 });
        let mut harness = open(panel);
        check(&mut harness, &format!("{mm} mm"), &mut wrong);
        assert!(paints(&harness, |text| text.ends_with(" mm") || text.ends_with(" m")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn labels_of_bar_cards_and_tour_are_legible() {
    let mut wrong = Vec::new();
    let mut harness = open(full(Page::Ladder, true));
    for width in [400.0, 520.0, 560.0, 640.0, 800.0] {
        harness.set_size(vec2(width, 240.0));
        check(&mut harness, &format!("slim bar, {width} wide"), &mut wrong);
    }
    let mut harness = open(full(Page::Ladder, false));
    let whole = (SIZES[0], Some(PanelSize::Whole));
    for (size, chosen) in SIZES.map(|size| (size, None)).into_iter().chain([whole]) {
        harness.set_size(size);
        harness.state_mut().state.size_if_narrow = chosen;
        harness.state_mut().state.explaining = true;
        harness.state_mut().status.tour = Some(Tour::default());
        check(&mut harness, &format!("cards at {size}"), &mut wrong);
        for index in 0..=STEPS.len() {
            harness.state_mut().status.tour = Some(Tour { index: Some(index), ..Tour::default() });
            check(&mut harness, &format!("step {index} at {size}"), &mut wrong);
        }
        // The card at the end is between the headline and the captions of the halves.
        let id = Id::new("end of the tour");
        let card = harness.ctx.memory(|memory| memory.area_rect(id)).unwrap();
        let headline = if size.x < 1_000.0 { 64.0 } else { 92.0 };
        let captions = size.y - harness.state().drawn.inset.bottom - 36.0;
        assert!(card.top() > headline && card.bottom() < captions, "{card:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
