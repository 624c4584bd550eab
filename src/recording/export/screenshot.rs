//! Pictures of the window.

use std::io;

use bevy::prelude::*;
use bevy::render::view::screenshot::{Capturing, Screenshot, ScreenshotCaptured};
use png::Compression;

use super::{RecordingFolder, Saving};
use crate::controls::Action;
use crate::recording::picture::write_rgb;

pub(super) fn on_action(action: On<Action>, mut commands: Commands) {
    if *action == Action::Screenshot {
        commands.queue(request);
    }
}

/// Requests a picture. The renderer takes one per frame.
fn request(world: &mut World) {
    let mut pending = world.query_filtered::<(), (With<Screenshot>, Without<Capturing>)>();
    if pending.iter(world).next().is_none() {
        world.spawn(Screenshot::primary_window()).observe(save);
    }
}

fn save(
    captured: On<ScreenshotCaptured>,
    folder: Res<RecordingFolder>,
    mut saving: ResMut<Saving>,
) {
    let picture = captured.image.clone();
    let about = "a picture of the window".to_owned();
    saving.save(&folder.0, "png", about, move |file| {
        let picture = picture.try_into_dynamic().map_err(io::Error::other)?;
        let picture = picture.into_rgb8();
        write_rgb(file, picture.dimensions(), picture.as_raw(), Compression::Fast)
    });
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bevy::asset::RenderAssetUsages;
    use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

    use super::super::ExportPlugin;
    use super::*;
    use crate::recording::recorder::RecorderPlugin;
    use crate::view::Notices;
    use bevy::window::PrimaryWindow;

    fn pending(app: &mut App) -> Vec<Entity> {
        let mut pictures = app.world_mut().query_filtered::<Entity, With<Screenshot>>();
        pictures.iter(app.world()).collect()
    }

    fn picture() -> Image {
        let size = Extent3d { width: 3, height: 2, depth_or_array_layers: 1 };
        // A window has the channels in the order blue, green, red.
        let pixels = [10, 20, 200, 255].repeat(6);
        let format = TextureFormat::Bgra8UnormSrgb;
        let usages = RenderAssetUsages::default();
        Image::new(size, TextureDimension::D2, pixels, format, usages)
    }

    #[test]
    fn f12_saves_one_picture_a_frame() {
        let folder = tempfile::tempdir().unwrap();
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, RecorderPlugin, ExportPlugin))
            .init_resource::<Notices>()
            .insert_resource(RecordingFolder(folder.path().to_owned()));
        app.world_mut().spawn((Window::default(), PrimaryWindow));
        app.update();
        assert_eq!(pending(&mut app), []);
        for _ in 0..2 {
            app.world_mut().trigger(Action::Screenshot);
            app.world_mut().trigger(Action::Screenshot);
            app.update();
            let entity = pending(&mut app)[0];
            assert_eq!(pending(&mut app), [entity]);
            app.world_mut().trigger(ScreenshotCaptured { entity, image: picture() });
            app.world_mut().despawn(entity);
            app.world_mut().write_message(AppExit::Success);
            app.update();
        }
        for name in ["cubewire-1.png", "cubewire-2.png"] {
            let file = fs::File::open(folder.path().join(name)).unwrap();
            let mut reader = png::Decoder::new(io::BufReader::new(file)).read_info().unwrap();
            let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut rgb).unwrap();
            assert_eq!((info.width, info.height), (3, 2));
            assert_eq!(rgb, [200, 20, 10].repeat(6));
        }
        assert!(!folder.path().join("cubewire-3.png").exists());
    }
}
