//! The HTML page of a series, generated from `page.html`.

use cubewire_codec::ladder;
use cubewire_palette::{Colors, DARK, LIGHT, Rgb};
use minijinja::{Environment, Error, context};

use super::Episode;
use crate::replication::HEADER_BYTES;

const PAGE: &str = include_str!("page.html");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Rungs,
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

/// Renders the page of these videos. The texts are the content and the bandwidth of each half.
pub(super) fn html(clips: &[(&Episode, [String; 2])]) -> Result<String, Error> {
    let sections = Section::ALL.into_iter().filter_map(|section| {
        let [id, title, about] = section.texts();
        let clips = clips.iter().filter(|(episode, _)| episode.section == section);
        let clips = clips.map(|(episode, [left, right])| {
            context! {
                name => &*episode.name,
                title => episode.title,
                caption => &*episode.caption,
                width => episode.film.size.x,
                height => episode.film.size.y,
                left,
                right,
            }
        });
        let clips: Vec<_> = clips.collect();
        // A signal can end the series before this section.
        (!clips.is_empty()).then(|| context! { id, title, about, clips })
    });
    let page = context! {
        light => variables(&LIGHT),
        dark => variables(&DARK),
        last_of_article => ladder::CHANGED_FLAGS.name,
        header_bytes => HEADER_BYTES,
        sections => sections.collect::<Vec<_>>(),
    };
    Environment::new().render_named_str("page.html", PAGE, page)
}

fn variables(colors: &Colors) -> String {
    let named = [
        ("ground", colors.ground),
        ("ink", colors.ink),
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
    use bevy::math::UVec2;

    use super::super::{Series, episodes};
    use super::*;

    #[test]
    fn every_video_is_on_the_page_and_links_lead_somewhere() {
        let mut episodes = episodes(Series::Article, UVec2::new(320, 180));
        episodes[1].caption = "1 < 2 & \"3\"".to_owned();
        let halves = || ["simulation".to_owned(), "17\u{2009}369 kbps".to_owned()];
        let clips: Vec<_> = episodes.iter().map(|episode| (episode, halves())).collect();
        let page = html(&clips).unwrap();
        for (Episode { name, .. }, _) in &clips {
            for part in [
                format!("<figure id=\"{name}\">"),
                format!("src=\"{name}.mp4\" width=\"320\" height=\"180\""),
                format!("<a href=\"{name}.mp4\">"),
            ] {
                assert!(page.contains(&part), "no {part} in\n{page}");
            }
        }
        for part in [
            "https://gafferongames.com/post/snapshot_compression/",
            "<a href=\"#07-delta\">→ delta</a>",
            "<span class=\"left\">simulation</span> | <span class=\"right\">17\u{2009}369 kbps</span></p>",
            "<p>1 &lt; 2 &amp; &quot;3&quot;</p>",
        ] {
            assert!(page.contains(part), "no {part} in\n{page}");
        }
        for target in page.split("href=\"#").skip(1) {
            let id = target.split('"').next().unwrap();
            assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        }
        let rungs = html(&clips[..2]).unwrap();
        assert!(!rungs.contains("#interpolation"), "nothing was recorded for it");
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
