//! Caption of a half: its content, rung and network.

use bevy_egui::egui::{Align2, Rect, pos2};

use super::text::Pen;
use super::{Overlay, Part};
use crate::replication::LaneSettings;
use crate::view::side::Side;
use crate::view::{Exaggeration, ViewMode};

/// Distance from the lower edge of the half, points.
pub(super) const BOTTOM: f32 = 12.0;

impl Overlay {
    /// Returns the name of a half and alternative texts to follow it, longest first: rung, parts of `link` and error. The
    /// name of a replica includes `exaggeration`.
    ///
    /// Each further text leaves out one more part, for narrow halves: first the parts of the link, then the error, then
    /// the rung. A film keeps the first parts of the link longest, because the others follow from them. A window keeps
    /// the last, which are the least common.
    pub(super) fn caption(
        &self,
        (mode, exaggeration): (ViewMode, Exaggeration),
        side: Side,
        lane: Option<&LaneSettings>,
        link: &[String],
        error: Option<&str>,
    ) -> (String, Vec<String>) {
        let usual = match (lane, mode, side) {
            (None, ..) => "Simulation",
            (Some(_), ViewMode::Difference, Side::Right) => "Replica, outlined",
            _ => "Replica",
        };
        let name = self.names[side as usize].as_deref().unwrap_or(usual);
        // A column has its name above the picture.
        let is_column = self.column.is_some();
        let has_name = self.shows(Part::Labels) && !is_column;
        let exaggerated = exaggeration.text().filter(|_| lane.is_some() && has_name);
        let name = match (has_name, exaggerated) {
            (false, _) => String::new(),
            (true, None) => name.to_owned(),
            (true, Some(text)) => format!("{name}, {text}"),
        };
        let rung = lane.filter(|_| self.shows(Part::Rung) && !is_column);
        let rung = rung.map(LaneSettings::describe_rung);
        let link = if self.shows(Part::Link) { link } else { &[] };
        let error = error.filter(|_| self.shows(Part::Link));
        let error = error.map(|error| format!("error {error}"));
        let links = (0..=link.len()).map(|left_out| {
            let link = match self.title.is_some() {
                true => &link[..link.len() - left_out],
                false => &link[left_out..],
            };
            let link = link.join(", ");
            let link = (!link.is_empty()).then_some(link);
            [rung.clone(), link, error.clone()]
        });
        let shorter = [[rung.clone(), None, None], [const { None }; 3]];
        let rest = links.chain(shorter).map(|parts| {
            let parts: Vec<_> = parts.into_iter().flatten().collect();
            let rest = parts.join(" · ");
            if name.is_empty() || rest.is_empty() { rest } else { format!(" · {rest}") }
        });
        let rest = rest.collect();
        (name, rest)
    }
}

impl Pen<'_> {
    /// Paints the caption in the lower left corner of a half: the name in the half's colour, then the first text of
    /// `rest` that fits.
    pub(super) fn caption(&self, half: Rect, side: Side, name: &str, rest: &[String]) {
        let width = half.width() - 2.0 * self.sizes.margin;
        let rest = self.fitting(name, rest, width);
        if name.is_empty() && rest.is_empty() {
            return;
        }
        let colors = self.colors();
        let parts =
            [(name, self.sizes.small, side.color_of(colors)), (rest, self.sizes.small, colors.ink)];
        let at = pos2(half.min.x + self.sizes.margin, half.max.y - BOTTOM);
        self.strip(at, Align2::LEFT_BOTTOM, width, &parts);
    }

    /// First text that fits after the name into a strip of this width, or an empty text.
    fn fitting<'a>(&self, name: &str, rest: &'a [String], width: f32) -> &'a str {
        let fits = |rest: &&String| {
            let line = format!("{name}{rest}");
            let part = (&line[..], self.sizes.small, self.colors().ink);
            !self.line(&[part], width - self.beside()).elided
        };
        rest.iter().find(fits).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::overlay::text::tests::with_pen;

    const USUAL: (ViewMode, Exaggeration) = (ViewMode::Split, Exaggeration::None);

    fn caption(lane: &str, is_remote: bool) -> String {
        let lane: LaneSettings = lane.parse().unwrap();
        let link = lane.describe(is_remote);
        let overlay = Overlay::default();
        let (name, rest) = overlay.caption(USUAL, Side::Right, Some(&lane), &link, None);
        name + &rest[0]
    }

    #[test]
    fn a_caption_names_the_rung_with_its_budget_and_whether_the_network_is_real() {
        let odd = "rung:predicted,link:perfect,interpolation:extrapolate";
        for (lane, is_remote, start) in [
            (odd, false, "Replica · predicted · Perfect, extrapolate → linear: needs velocity"),
            (
                odd,
                true,
                "Replica · predicted · real network, nothing added, extrapolate → linear: needs velocity",
            ),
            ("rung:predicted,budget:64kbps", false, "Replica · predicted within 64 kbps · "),
            // Without a delta the packet carries all cubes, so the budget is not shown.
            ("rung:uncompressed,budget:64kbps", false, "Replica · uncompressed · "),
        ] {
            let caption = caption(lane, is_remote);
            assert!(caption.starts_with(start), "{caption}");
        }
    }

    #[test]
    fn a_replica_with_exaggerated_errors_says_so_also_under_another_name() {
        let lane = LaneSettings::default();
        let names = [None, Some("Ours".to_owned())];
        let overlay = Overlay { names, ..Overlay::default() };
        let view = (ViewMode::Split, Exaggeration::Ten);
        let name = |side, lane| overlay.caption(view, side, lane, &[], None).0;
        assert_eq!(name(Side::Left, Some(&lane)), "Replica, errors × 10");
        assert_eq!(name(Side::Right, Some(&lane)), "Ours, errors × 10");
        assert_eq!(name(Side::Left, None), "Simulation");
    }

    #[test]
    fn in_a_narrow_half_the_link_is_left_out_part_by_part_and_the_error_stays() {
        let lane: LaneSettings = "rung:at-rest,rate:10,interpolation:none".parse().unwrap();
        let link = lane.describe(false);
        let overlay = Overlay::default();
        let error = Some("12.3 mm");
        let (name, rest) = overlay.caption(USUAL, Side::Left, Some(&lane), &link, error);
        with_pen(|pen| {
            let shown = [500.0, 404.0, 300.0, 250.0, 140.0, 70.0]
                .map(|width| pen.fitting(&name, &rest, width));
            let wanted = [
                " · at-rest · 100 ms round trip, 10 a second, no interpolation · error 12.3 mm",
                " · at-rest · 10 a second, no interpolation · error 12.3 mm",
                " · at-rest · no interpolation · error 12.3 mm",
                " · at-rest · error 12.3 mm",
                " · at-rest",
                "",
            ];
            assert_eq!(shown, wanted);
        });
    }

    #[test]
    fn in_a_narrow_film_the_network_stays_longer_than_the_delay_that_it_causes() {
        let lane: LaneSettings = "rung:predicted,link:4g,rate:20".parse().unwrap();
        let overlay = Overlay { title: Some("a film".to_owned()), ..Overlay::default() };
        let link = lane.describe_in_full();
        let (_, rest) = overlay.caption(USUAL, Side::Right, Some(&lane), &link, None);
        let wanted = [
            " · predicted · 4G, 20 snapshots a second, shown 230 ms later",
            " · predicted · 4G, 20 snapshots a second",
            " · predicted · 4G",
            " · predicted",
        ];
        assert_eq!(rest[..4], wanted);
    }

    #[test]
    fn hidden_parts_leave_no_separators() {
        let lane = LaneSettings::default();
        let caption = |hidden: &[Part]| {
            let overlay = Overlay { hidden: hidden.to_vec(), ..Overlay::default() };
            let (name, rest) = overlay.caption(
                USUAL,
                Side::Right,
                Some(&lane),
                &lane.describe(false),
                Some("1 mm"),
            );
            name + &rest[0]
        };
        assert_eq!(caption(&[Part::Link]), "Replica · changed-flags");
        assert_eq!(caption(&[Part::Labels, Part::Link]), "changed-flags");
        assert_eq!(caption(&[Part::Labels, Part::Link, Part::Rung]), "");
        assert_eq!(caption(&[]), "Replica · changed-flags · 100 ms round trip · error 1 mm");
    }
}
