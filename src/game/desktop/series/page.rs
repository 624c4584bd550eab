//! The HTML page of a series, generated from `page.html`: a table of the ladder, and the videos.

use bevy::math::UVec2;
use cubewire_codec::ladder;
use cubewire_inspector::words::{factor, rounded};
use cubewire_palette::{Colors, DARK, LIGHT, Rgb};
use minijinja::{Environment, Error, Value, context};

use crate::replication::{HEADER_BYTES, TARGET_KBPS};

const PAGE: &str = include_str!("page.html");

/// Section of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// A rung next to the previous one.
    Rungs,
    /// A kind of interpolation.
    Interpolation,
}

impl Section {
    const ALL: [Self; 2] = [Self::Rungs, Self::Interpolation];

    /// Anchor, heading and introduction.
    const fn texts(self) -> [&'static str; 3] {
        match self {
            Self::Rungs => [
                "rungs",
                "Each rung next to the previous one",
                "The left half shows the previous rung and the right half the rung itself, with the same input: a \
                 katamari ball. The first rung is shown next to the simulation.",
            ],
            Self::Interpolation => [
                "interpolation",
                "Interpolation at ten snapshots a second",
                "The left half shows the simulation of a rolling ball, the right half its replica from ten \
                 snapshots a second.",
            ],
        }
    }
}

/// A recorded video with its measurements.
#[derive(Clone, Debug)]
pub(super) struct Clip {
    pub(super) section: Section,
    /// File name without `.mp4`.
    pub(super) name: String,
    /// Name of the rung or the kind of interpolation.
    pub(super) title: &'static str,
    pub(super) caption: String,
    /// Size in pixels.
    pub(super) size: UVec2,
    /// Mean bandwidth of the left and the right half, kilobits per second. `None` for the simulation.
    pub(super) mean_kbps: [Option<f64>; 2],
}

impl Clip {
    /// Whether the rung's printed bandwidth is higher than the previous rung's.
    fn is_dearer(&self) -> bool {
        match (self.section, self.mean_kbps) {
            (Section::Rungs, [Some(before), Some(after)]) => {
                rounded(after) != rounded(before) && after > before
            }
            _ => false,
        }
    }

    /// Values of the video for the template.
    fn values(&self, before: Option<&Self>, uncompressed: Option<f64>) -> Value {
        let [left, right] = self.mean_kbps;
        let before = before.filter(|_| self.section == Section::Rungs);
        let half = |name: &str, kbps: Option<f64>| match kbps {
            Some(kbps) => format!("{name} {} kbps", rounded(kbps)),
            None => name.to_owned(),
        };
        let less = before.and_then(|_| Some(factor(uncompressed? / right?)));
        context! {
            name => &*self.name,
            title => self.title,
            caption => &*self.caption,
            width => self.size.x,
            height => self.size.y,
            left => half(before.map_or("simulation", |before| before.title), left),
            right => half(self.title, right),
            times => less,
            why_dearer => self.is_dearer().then(|| why_dearer(self.title)),
        }
    }
}

/// Reason why a rung can cost more than the previous one.
fn why_dearer(rung: &str) -> &'static str {
    match rung {
        "at-rest" => "most cubes move here, and each moving cube takes one more bit for the flag",
        "changed-flags" => {
            "hardly any cube in a rolling ball keeps its position or its orientation from one baseline to \
             the next, so the two flags of every changed cube cost more than they save"
        }
        "arithmetic" | "predicted" => {
            "few cubes change here, so predictions save little, and every packet with arithmetic coding carries a \
             check"
        }
        _ => "with this input, it adds more bits to every packet than it saves",
    }
}

/// Renders the page.
///
/// # Errors
/// If the template is broken, which a test checks.
pub(super) fn html(clips: &[Clip]) -> Result<String, Error> {
    let of_section = |section: Section| clips.iter().filter(move |clip| clip.section == section);
    let rungs: Vec<_> = of_section(Section::Rungs).collect();
    let first = rungs.iter().find(|clip| clip.title == ladder::UNCOMPRESSED.name);
    let uncompressed = first.and_then(|clip| clip.mean_kbps[1]);
    let sections = Section::ALL.into_iter().filter_map(|section| {
        let [id, title, about] = section.texts();
        let clips: Vec<_> = of_section(section).collect();
        // A signal can end the series before this section.
        clips.first()?;
        let before = [None].into_iter().chain(clips.iter().copied().map(Some));
        let clips = clips.iter().zip(before);
        let clips: Vec<_> = clips.map(|(clip, before)| clip.values(before, uncompressed)).collect();
        Some(context! { id, title, about, clips })
    });
    let page = context! {
        light => variables(&LIGHT),
        dark => variables(&DARK),
        last_of_article => ladder::CHANGED_FLAGS.name,
        header_bytes => HEADER_BYTES,
        target_kbps => TARGET_KBPS.to_string(),
        ladder => rows(&rungs, uncompressed),
        sections => sections.collect::<Vec<_>>(),
    };
    Environment::new().render_named_str("page.html", PAGE, page)
}

/// Rows of the table. The row where the ladder falls below the target, and all rows after it, are marked.
fn rows(rungs: &[&Clip], uncompressed: Option<f64>) -> Vec<Value> {
    let scale = |kbps: f64| (kbps.max(SCALE_FROM_KBPS) / SCALE_FROM_KBPS).ln();
    let mut is_below = false;
    let rows = rungs.iter().filter_map(|clip| {
        let kbps = clip.mean_kbps[1]?;
        let most = uncompressed.unwrap_or(kbps);
        let crosses_target = !is_below && kbps < TARGET_KBPS;
        is_below |= crosses_target;
        Some(context! {
            name => &*clip.name,
            title => clip.title,
            kbps => rounded(kbps),
            factor => factor(most / kbps),
            percent => format!("{:.1}", 100.0 * scale(kbps) / scale(most)),
            is_dearer => clip.is_dearer(),
            is_below,
            crosses_target,
        })
    });
    rows.collect()
}

/// Bandwidth at which the bars of the table start, kilobits per second.
const SCALE_FROM_KBPS: f64 = 10.0;

/// CSS variables with the colours of a theme.
fn variables(colors: &Colors) -> String {
    let named = [
        ("ground", colors.ground),
        ("ink", colors.ink),
        ("muted", colors.muted),
        ("warning", colors.warning),
        ("line", colors.line),
        ("left", colors.left),
        ("right", colors.right),
    ];
    let variables = named
        .map(|(name, Rgb(red, green, blue))| format!("--{name}: #{red:02x}{green:02x}{blue:02x};"));
    variables.join(" ")
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder::LADDER;

    use super::*;

    /// Clips of every rung. Each costs half as much as the previous one, except the rung `dearer`.
    fn ladder(dearer: &str) -> Vec<Clip> {
        let mut kbps = 17_368.8;
        let mut before = None;
        let clips = LADDER.iter().enumerate().map(|(index, rung)| {
            kbps *= match index {
                0 => 1.0,
                _ if rung.name == dearer => 1.1,
                _ => 0.5,
            };
            Clip {
                section: Section::Rungs,
                name: format!("{:02}-{}", index + 1, rung.name),
                title: rung.name,
                caption: rung.summary.to_owned(),
                size: UVec2::new(320, 180),
                mean_kbps: [before.replace(kbps), Some(kbps)],
            }
        });
        clips.collect()
    }

    #[test]
    fn every_video_is_on_the_page_with_its_caption_and_linked_from_the_table() {
        let mut clips = ladder("");
        clips.push(Clip {
            section: Section::Interpolation,
            name: "interpolation-hermite".to_owned(),
            title: "hermite",
            caption: "1 < 2 & \"3\"".to_owned(),
            size: UVec2::new(320, 180),
            mean_kbps: [None, Some(1164.0)],
        });
        let page = html(&clips).unwrap();
        for clip in &clips {
            for part in [
                format!("<figure id=\"{}\">", clip.name),
                format!("src=\"{}.mp4\" width=\"320\" height=\"180\"", clip.name),
                format!("<a href=\"{}.mp4\">", clip.name),
            ] {
                assert!(page.contains(&part), "no {part} in\n{page}");
            }
        }
        for part in [
            "https://gafferongames.com/post/snapshot_compression/",
            "<a href=\"#07-delta\">delta</a><td>271<td>64×<td>",
            "<a href=\"#07-delta\">→ delta</a>",
            "<span class=\"left\">position 543 kbps</span> | <span class=\"right\">delta 271 \
             kbps</span></p>\n<p>64× less than uncompressed</p>",
            "<span class=\"left\">simulation</span> | <span class=\"right\">uncompressed 17\u{2009}369 kbps</span></p>\n<p class=\"links\">",
            "<span class=\"left\">simulation</span> | <span class=\"right\">hermite 1\u{2009}164 kbps</span></p>",
            "<p>1 &lt; 2 &amp; &quot;3&quot;</p>",
        ] {
            assert!(page.contains(part), "no {part} in\n{page}");
        }
        assert!(!page.contains("Dearer"), "{page}");
    }

    #[test]
    fn links_within_the_page_lead_somewhere() {
        let page = html(&ladder("")).unwrap();
        let targets: Vec<_> = page.split("href=\"#").skip(1).collect();
        assert!(targets.len() > 2 * LADDER.len());
        for target in targets {
            let id = target.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        }
        assert!(!page.contains("#interpolation"), "nothing was recorded for it");
    }

    #[test]
    fn the_target_is_between_the_last_rung_above_and_the_first_below() {
        let page = html(&ladder("")).unwrap();
        let at = |part: &str| page.find(part).unwrap();
        let target = at("256 kbps, the article’s target");
        // 271.4 and 135.7 kbps.
        assert!(at("<a href=\"#07-delta\">delta") < target);
        assert!(target < at("<tr class=\"below\"><td><a href=\"#08-index\">index"));
    }

    #[test]
    fn a_rung_that_costs_more_than_the_one_before_says_why() {
        for rung in &LADDER[1..] {
            let page = html(&ladder(rung.name)).unwrap();
            assert_eq!(page.matches("class=\"dearer\"").count(), 1, "{}", rung.name);
            assert!(page.contains(&format!("{}</a> <i>costs more</i>", rung.name)), "{page}");
        }
        let page = html(&ladder("changed-flags")).unwrap();
        let wanted = "Costs more than relative-orientation: hardly any cube in a rolling ball keeps its position";
        assert!(page.contains(wanted), "{page}");
    }

    #[test]
    fn every_colour_of_the_style_is_one_of_the_palette() {
        let style = PAGE.split("<style>").nth(1).unwrap();
        let style = style.split("</style>").next().unwrap();
        assert!(!style.contains('#') && !style.contains("rgb"));
        let variables = variables(&LIGHT);
        for used in style.split("var(--").skip(1) {
            let name = used.split(')').next().unwrap();
            assert!(variables.contains(&format!("--{name}: #")), "{name}");
        }
    }
}
