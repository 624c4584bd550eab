//! The HTML page of a series: the ladder as a table, and the videos beside one another.

use std::fmt::Write as _;

use bevy::math::UVec2;
use cubewire_codec::ladder;
use cubewire_palette::{Colors, DARK, Half, LIGHT, Rgb};

use crate::replication::{HEADER_BYTES, TARGET_KBPS};

/// The article that the ladder follows.
const ARTICLE: &str = "https://gafferongames.com/post/snapshot_compression/";

/// The part of the page that a video belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// A rung beside the one before it.
    Rungs,
    /// A kind of interpolation.
    Interpolation,
}

impl Section {
    const ALL: [Self; 2] = [Self::Rungs, Self::Interpolation];

    const fn id(self) -> &'static str {
        match self {
            Self::Rungs => "rungs",
            Self::Interpolation => "interpolation",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Rungs => "Each rung beside the one before it",
            Self::Interpolation => "Interpolation at ten snapshots a second",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Rungs => {
                "The left half shows the rung before, the right half the rung itself, for the same input: \
                 a katamari ball. The first rung is shown beside the simulation."
            }
            Self::Interpolation => {
                "The left half shows the simulation, the right half its replica from ten snapshots a \
                 second, for a rolling ball."
            }
        }
    }
}

/// A video, and what was measured while it was recorded.
#[derive(Clone, Debug)]
pub(super) struct Clip {
    pub(super) section: Section,
    /// Name of the file, without `.mp4`.
    pub(super) name: String,
    /// What is shown: a rung, or a kind of interpolation.
    pub(super) title: &'static str,
    /// A sentence or a phrase.
    pub(super) caption: String,
    /// Pixels.
    pub(super) size: UVec2,
    /// Mean bandwidth of the left and the right half, kilobits a second; none for the simulation.
    pub(super) mean_kbps: [Option<f64>; 2],
}

impl Clip {
    /// Whether the rung costs more than the one before it, as printed.
    fn is_dearer(&self) -> bool {
        match (self.section, self.mean_kbps) {
            (Section::Rungs, [Some(before), Some(after)]) => {
                figure(after) != figure(before) && after > before
            }
            _ => false,
        }
    }
}

/// Why a rung may cost more than the one before it.
fn why_dearer(rung: &str) -> &'static str {
    match rung {
        "at-rest" => {
            "most cubes move here, and each of them pays a flag that only cubes at rest gain from"
        }
        "changed-flags" => {
            "hardly any cube in a rolling ball keeps its position or its orientation from one baseline to \
             the next, so the two flags of every changed cube cost more than they save"
        }
        "arithmetic" | "predicted" => {
            "where little changes there is little to predict, and every packet with arithmetic coding \
             carries a check"
        }
        _ => "what it adds to every packet is more than it saves with this input",
    }
}

/// The page.
pub(super) fn html(clips: &[Clip]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Snapshot compression, rung by rung</title>\n<style>\n{}{STYLE}</style>\n\
         <header id=\"top\">\n<h1>Snapshot compression, rung by rung</h1>\n\
         <p>901 cubes, sent 60 times a second. Each rung of the ladder adds a stage to the ones before, or \
         replaces one; those up to <i>{}</i> are the stages of the article <a href=\"{ARTICLE}\">Snapshot \
         Compression</a> by Glenn Fiedler. Bandwidths are means over the video in article accounting: the \
         payload of each snapshot in whole bytes, and {HEADER_BYTES} bytes of IP and UDP headers.</p>\n<nav>",
        colors(),
        ladder::CHANGED_FLAGS.name,
    );
    let has = |section: Section| clips.iter().any(|clip| clip.section == section);
    let sections = Section::ALL.into_iter().filter(|&section| has(section));
    page += "<a href=\"#ladder\">The ladder</a>";
    for section in sections.clone() {
        add(
            &mut page,
            format_args!("<a href=\"#{}\">{}</a>", section.id(), section.title()),
        );
    }
    page += "</nav>\n</header>\n<main>\n";
    page += &table(clips);
    for section in sections {
        add(
            &mut page,
            format_args!(
                "<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n<div class=\"grid\">\n",
                section.id(),
                section.title(),
                section.about()
            ),
        );
        let clips: Vec<_> = clips
            .iter()
            .filter(|clip| clip.section == section)
            .collect();
        for (place, clip) in clips.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| clips[before]);
            page += &video(
                clip,
                before,
                clips.get(place + 1).copied(),
                uncompressed(&clips),
            );
        }
        page += "</div>\n</section>\n";
    }
    page += "</main>\n</html>\n";
    page
}

/// Bandwidth of the uncompressed rung, kilobits a second.
fn uncompressed(clips: &[&Clip]) -> Option<f64> {
    let mut clips = clips.iter();
    let clip = clips.find(|clip| clip.title == ladder::UNCOMPRESSED.name)?;
    clip.mean_kbps[1]
}

/// The rungs, with links to their videos, and a line where they cross the target.
fn table(clips: &[Clip]) -> String {
    let rungs = clips.iter().filter(|clip| clip.section == Section::Rungs);
    let rungs: Vec<_> = rungs.collect();
    let uncompressed = uncompressed(&rungs);
    let mut table = "<section id=\"ladder\">\n<h2>The ladder</h2>\n\
        <p>Bandwidth in the videos, and how many times less that is than uncompressed. The bars are on a \
        logarithmic scale.</p>\n\
        <table>\n<tr><th>rung<th>kbps<th>factor<th>\n"
        .to_owned();
    let mut is_above = true;
    for clip in rungs {
        let Some(kbps) = clip.mean_kbps[1] else {
            continue;
        };
        if is_above && kbps < TARGET_KBPS {
            is_above = false;
            add(
                &mut table,
                format_args!(
                    "<tr class=\"target\"><td colspan=\"4\">{TARGET_KBPS} kbps, the article’s target\n"
                ),
            );
        }
        let note = if clip.is_dearer() {
            " <i>dearer</i>"
        } else {
            ""
        };
        let factor =
            uncompressed.map_or_else(String::new, |most| format!("×{}", number(most / kbps)));
        let scale = |kbps: f64| (kbps.max(SCALE_FROM_KBPS) / SCALE_FROM_KBPS).ln();
        let percent = uncompressed.map_or(100.0, |most| 100.0 * scale(kbps) / scale(most));
        add(
            &mut table,
            format_args!(
                "<tr{}><td><a href=\"#{}\">{}</a>{note}<td>{}<td>{factor}\
                 <td><div class=\"bar\" style=\"width: {percent:.1}%\"></div>\n",
                if is_above { "" } else { " class=\"below\"" },
                escape(&clip.name),
                escape(clip.title),
                figure(kbps),
            ),
        );
    }
    table += "</table>\n</section>\n";
    table
}

/// Where the bars of the table begin, kilobits a second.
const SCALE_FROM_KBPS: f64 = 10.0;

/// A video with its caption, and links to its neighbours.
fn video(
    clip: &Clip,
    before: Option<&Clip>,
    after: Option<&Clip>,
    uncompressed: Option<f64>,
) -> String {
    let Clip {
        title,
        size: UVec2 { x, y },
        ..
    } = clip;
    let (name, title, caption) = (escape(&clip.name), escape(title), escape(&clip.caption));
    let mut text = format!(
        "<figure id=\"{name}\">\n<video src=\"{name}.mp4\" width=\"{x}\" height=\"{y}\" controls loop muted \
         playsinline preload=\"metadata\" aria-label=\"{title}\"></video>\n<figcaption>\n\
         <h3>{title}</h3>\n<p>{caption}</p>\n<p class=\"figures\">"
    );
    let [left, right] = clip.mean_kbps;
    let what = match (clip.section, before) {
        (Section::Rungs, Some(before)) => before.title,
        _ => "simulation",
    };
    add(
        &mut text,
        format_args!("<span class=\"left\">{}", escape(what)),
    );
    if let Some(kbps) = left {
        add(&mut text, format_args!(" {} kbps", figure(kbps)));
    }
    text += "</span> | ";
    add(&mut text, format_args!("<span class=\"right\">{title}"));
    if let Some(kbps) = right {
        add(&mut text, format_args!(" {} kbps", figure(kbps)));
    }
    text += "</span>";
    text += "</p>\n";
    if let (Section::Rungs, Some(_), Some(kbps), Some(most)) =
        (clip.section, before, right, uncompressed)
    {
        let times = number(most / kbps);
        add(
            &mut text,
            format_args!("<p>{times} times less than uncompressed</p>\n"),
        );
    }
    if let (true, Some(before)) = (clip.is_dearer(), before) {
        add(
            &mut text,
            format_args!(
                "<p class=\"dearer\">Dearer than {}: {}.</p>\n",
                escape(before.title),
                why_dearer(clip.title)
            ),
        );
    }
    add(
        &mut text,
        format_args!("<p class=\"links\"><a href=\"{name}.mp4\">{name}.mp4</a>"),
    );
    for (clip, arrow) in [(before, "← "), (after, "→ ")] {
        if let Some(clip) = clip {
            let (name, title) = (escape(&clip.name), escape(clip.title));
            add(
                &mut text,
                format_args!(" <a href=\"#{name}\">{arrow}{title}</a>"),
            );
        }
    }
    text += " <a href=\"#top\">↑ top</a></p>\n</figcaption>\n</figure>\n";
    text
}

/// The colours of both themes as variables.
fn colors() -> String {
    let of = |colors: &Colors| {
        let named = [
            ("surface", colors.surface),
            ("ink", colors.ink),
            ("muted", colors.muted),
            ("warning", colors.warning),
            ("line", colors.sky),
            ("left", colors.half(Half::Left)),
            ("right", colors.half(Half::Right)),
        ];
        let lines = named.map(|(name, Rgb(red, green, blue))| {
            format!("--{name}: #{red:02x}{green:02x}{blue:02x};")
        });
        format!(":root {{ {} }}", lines.join(" "))
    };
    format!(
        "{}\n@media (prefers-color-scheme: dark) {{ {} }}\n",
        of(&LIGHT),
        of(&DARK)
    )
}

const STYLE: &str = "\
:root { color-scheme: light dark }
* { box-sizing: border-box }
html { scroll-behavior: smooth }
body {
  font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1.5rem clamp(1rem, 3vw, 3rem) 4rem;
  max-width: 110rem; color: var(--ink); background: var(--surface)
}
header p, section > p { max-width: 46rem }
h1 { font-size: 2rem; line-height: 1.2; margin: 1rem 0 }
h2 { font-size: 1.4rem; margin: 3rem 0 .5rem }
h3 { font-size: 1.1rem; margin: .6rem 0 0 }
a { color: var(--left) }
nav { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem }
table { border-collapse: collapse; width: 100%; max-width: 60rem; font-variant-numeric: tabular-nums }
th, td { padding: .15rem 1rem .15rem 0; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
th { color: var(--muted); font-weight: normal }
td:last-child { width: 100%; padding-right: 0 }
td i { color: var(--warning) }
.target td { border-top: 2px solid var(--ink); text-align: left; color: var(--muted) }
.bar { height: .7rem; background: var(--muted) }
.below .bar { background: var(--left) }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 2rem 1.5rem }
figure { margin: 0; scroll-margin-top: 1rem; border-top: 1px solid var(--line); padding-top: .8rem }
video { display: block; width: 100%; height: auto; background: var(--line) }
figcaption p { margin: .2rem 0 }
.figures span { white-space: nowrap }
.left { color: var(--left) }
.right { color: var(--right) }
.dearer { color: var(--warning) }
.links { font-size: .9rem; display: flex; flex-wrap: wrap; gap: 0 1rem }
";

fn figure(kbps: f64) -> String {
    format!("{kbps:.1}")
}

/// As in 2.5, or 150.
fn number(factor: f64) -> String {
    let decimals = usize::from(factor < 10.0);
    format!("{factor:.decimals$}")
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// Appends to a string, which cannot fail.
fn add(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder::LADDER;

    use super::*;

    /// Every rung, with these bandwidths; the next costs half as much, unless it is named.
    fn ladder(dearer: &str) -> Vec<Clip> {
        let mut kbps = 17_368.8;
        let mut before = None;
        let clips = LADDER.iter().enumerate().map(|(place, rung)| {
            kbps *= match place {
                0 => 1.0,
                _ if rung.name == dearer => 1.1,
                _ => 0.5,
            };
            Clip {
                section: Section::Rungs,
                name: format!("{:02}-{}", place + 1, rung.name),
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
        let page = html(&clips);
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
            ARTICLE,
            "<a href=\"#07-delta\">delta</a><td>271.4<td>×64<td>",
            "<a href=\"#07-delta\">→ delta</a>",
            "<span class=\"left\">position 542.8 kbps</span> | <span class=\"right\">delta 271.4 \
             kbps</span></p>\n<p>64 times less than uncompressed</p>",
            "<span class=\"left\">simulation</span> | <span class=\"right\">uncompressed 17368.8 kbps</span></p>\n<p class=\"links\">",
            "<span class=\"left\">simulation</span> | <span class=\"right\">hermite 1164.0 kbps</span></p>",
            "<p>1 &lt; 2 &amp; &quot;3&quot;</p>",
        ] {
            assert!(page.contains(part), "no {part} in\n{page}");
        }
        assert!(!page.contains("Dearer"), "{page}");
    }

    #[test]
    fn links_within_the_page_lead_somewhere() {
        let page = html(&ladder(""));
        let targets: Vec<_> = page.split("href=\"#").skip(1).collect();
        assert!(targets.len() > 2 * LADDER.len());
        for target in targets {
            let id = target.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        }
        assert!(
            !page.contains("#interpolation"),
            "nothing was recorded for it"
        );
    }

    #[test]
    fn the_target_is_between_the_last_rung_above_and_the_first_below() {
        let page = html(&ladder(""));
        let at = |part: &str| page.find(part).unwrap();
        let target = at("256 kbps, the article’s target");
        // 271.4 and 135.7 kbps.
        assert!(at("<a href=\"#07-delta\">delta") < target);
        assert!(target < at("<tr class=\"below\"><td><a href=\"#08-index\">index"));
    }

    #[test]
    fn a_rung_that_costs_more_than_the_one_before_says_why() {
        for rung in &LADDER[1..] {
            let page = html(&ladder(rung.name));
            assert_eq!(page.matches("class=\"dearer\"").count(), 1, "{}", rung.name);
            assert!(
                page.contains(&format!("{}</a> <i>dearer</i>", rung.name)),
                "{page}"
            );
        }
        let page = html(&ladder("changed-flags"));
        let wanted = "Dearer than relative-orientation: hardly any cube in a rolling ball keeps its position";
        assert!(page.contains(wanted), "{page}");
    }

    /// Contrast by WCAG 2.2.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |color: &str| {
            let channel = |place: usize| {
                let value = u8::from_str_radix(&color[place..place + 2], 16).unwrap();
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_has_a_contrast_of_4_5_in_both_themes() {
        let colors = colors();
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        assert_eq!(colors.matches(":root").count(), 2);
        for theme in colors.split(":root").skip(1) {
            let color = |name: &str| {
                let rest = theme.split(&format!("--{name}: ")).nth(1).unwrap();
                &rest[..7]
            };
            for text in ["ink", "muted", "left", "right", "warning"] {
                let contrast = contrast(color(text), color("surface"));
                assert!(contrast >= 4.5, "{text}: {contrast:.2} in {theme}");
            }
        }
        // Every colour of the style is one of these.
        assert!(!STYLE.contains('#') && !STYLE.contains("rgb"));
        for used in STYLE.split("var(--").skip(1) {
            let name = used.split(')').next().unwrap();
            assert!(colors.contains(&format!("--{name}: ")), "{name}");
        }
    }
}
