//! Draws the distributions of [`Stats`].

use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use cubewire_codec::BitKind;
use cubewire_files::write_whole;
use cubewire_palette::{LIGHT, Rgb, bit_kind};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use crate::error::LabError;
use crate::stats::{Differences, MAX_DIFFERENCE, Stats};

const SIZE: (u32, u32) = (960, 540);
const FONT: &str = "sans-serif";

/// Of a single line.
const LINE: RGBColor = rgb(LIGHT.ink);

const fn rgb(Rgb(red, green, blue): Rgb) -> RGBColor {
    RGBColor(red, green, blue)
}

type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// Creates the folder for the pictures if it does not exist.
pub(crate) fn create_folder(folder: &Path) -> Result<(), LabError> {
    fs::create_dir_all(folder).map_err(|source| LabError::Unwritable {
        path: folder.to_owned(),
        source,
    })
}

/// Draws `position-differences.png`, `orientation-differences.png`, `changed-cubes.png` and
/// `bits.png` in `folder`.
pub(crate) fn draw(stats: &Stats, folder: &Path) -> Result<(), LabError> {
    let font = register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
    font.unwrap_or_else(|_| unreachable!("the bundled font is valid"));

    draw_file(folder.join("position-differences.png"), |area| {
        let title = "Changed positions: largest component of the difference";
        cumulative(area, title, "1/512 m", &stats.position_differences)
    })?;
    draw_file(folder.join("orientation-differences.png"), |area| {
        let title = "Changed orientations, same largest: largest difference of the other three";
        cumulative(
            area,
            title,
            "steps of 9 bits",
            &stats.orientation_differences,
        )
    })?;
    draw_file(folder.join("changed-cubes.png"), |area| {
        changed_cubes(area, &stats.changed)
    })?;
    draw_file(folder.join("bits.png"), |area| bits(area, stats))
}

fn draw_file(path: PathBuf, draw: impl FnOnce(&Area<'_>) -> Drawn) -> Result<(), LabError> {
    let mut pixels = vec![255; SIZE.0 as usize * SIZE.1 as usize * 3];
    let area = BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area();
    let drawn = draw(&area).and_then(|()| area.present().map_err(Into::into));
    drop(area);
    if let Err(error) = drawn {
        return Err(LabError::Plot {
            reason: error.to_string(),
            path,
        });
    }
    write_whole(&path, |file| write_png(file, &pixels))
        .map_err(|source| LabError::Unwritable { path, source })
}

fn write_png(file: impl Write, pixels: &[u8]) -> io::Result<()> {
    let mut encoder = png::Encoder::new(file, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    Ok(writer.finish()?)
}

fn cumulative(area: &Area<'_>, title: &str, unit: &str, differences: &Differences) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 24))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d((1_f64..MAX_DIFFERENCE as f64).log_scale(), 0_f64..100.0)?;
    chart
        .configure_mesh()
        .x_desc(format!("at most ({unit})"))
        .y_desc("percent")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 16))
        .draw()?;
    let points = (1..MAX_DIFFERENCE).map(|x| (x as f64, differences.fraction_up_to(x) * 100.0));
    chart.draw_series(LineSeries::new(points, LINE.stroke_width(2)))?;
    Ok(())
}

fn changed_cubes(area: &Area<'_>, changed: &[u32]) -> Drawn {
    let max = f64::from(changed.iter().copied().max().unwrap_or(1).max(1));
    let seconds = |frame: usize| frame as f64 / 60.0;
    let mut chart = ChartBuilder::on(area)
        .caption("Cubes that differ from the baseline", (FONT, 24))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(0_f64..seconds(changed.len()), 0_f64..max * 1.05)?;
    chart
        .configure_mesh()
        .x_desc("seconds")
        .y_desc("cubes")
        .x_label_formatter(&|x| {
            if changed.len() < 600 {
                format!("{x:.1}")
            } else {
                format!("{x:.0}")
            }
        })
        .y_label_formatter(&|y| format!("{y:.0}"))
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 16))
        .draw()?;
    let points = changed
        .iter()
        .enumerate()
        .map(|(frame, &cubes)| (seconds(frame), f64::from(cubes)));
    chart.draw_series(LineSeries::new(points, &LINE))?;
    Ok(())
}

/// One bar for each rung, stacked by kind of bit.
fn bits(area: &Area<'_>, stats: &Stats) -> Drawn {
    let packets = stats.changed.len().max(1) as f64;
    let bytes = |bits: f64| bits / packets / 8.0;
    let max = stats
        .costs
        .iter()
        .map(|cost| bytes(cost.ledger.total()))
        .fold(1.0, f64::max);
    let rungs = stats.costs.len();
    let x_range: Range<f64> = 0.0..rungs as f64;
    let mut chart = ChartBuilder::on(area)
        .caption("Mean bytes a packet, by kind", (FONT, 24))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(x_range, 0_f64..max * 1.05)?;
    let names = |x: &f64| {
        let cost = stats.costs.get(*x as usize);
        cost.filter(|_| x.fract() > 0.4)
            .map_or_else(String::new, |cost| cost.rung.name.to_owned())
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(2 * rungs + 1)
        .x_label_formatter(&names)
        .y_desc("bytes")
        .y_label_formatter(&|y| format!("{y:.0}"))
        .light_line_style(TRANSPARENT)
        .label_style((FONT, 13))
        .draw()?;
    let kinds = [
        BitKind::Header,
        BitKind::Selection,
        BitKind::Interacting,
        BitKind::Flags,
        BitKind::Position,
        BitKind::Orientation,
        BitKind::Padding,
    ];
    let mut tops = vec![0.0; rungs];
    for kind in kinds {
        let colour = rgb(bit_kind(kind));
        let bars: Vec<_> = stats
            .costs
            .iter()
            .zip(&mut tops)
            .enumerate()
            .map(|(column, (cost, top))| {
                let (left, bottom) = (column as f64, *top);
                *top += bytes(cost.ledger.kind(kind));
                Rectangle::new(
                    [(left + 0.15, bottom), (left + 0.85, *top)],
                    colour.filled(),
                )
            })
            .collect();
        chart
            .draw_series(bars)?
            .label(kind.name())
            .legend(move |(x, y)| Rectangle::new([(x, y - 6), (x + 12, y + 6)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE)
        .border_style(BLACK)
        .label_font((FONT, 16))
        .draw()?;
    Ok(())
}
