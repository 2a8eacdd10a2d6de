//! Words are drawn in the faces that are part of the program, whatever the system has installed.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{message::Role, notification::Snapshot, task::Status};
use iced_tiny_skia::{
    Layer,
    graphics::text::{
        Text,
        cosmic_text::fontdb::{FaceInfo, ID, Weight},
        font_system,
    },
};
use std::collections::BTreeSet;

/// As most desktops have it: a family of another design, with a true 700.
fn install_a_bold_font() {
    let mut system = font_system().write().unwrap();
    let fonts = system.raw().db_mut();
    let face = fonts.faces().find(|face| face.families[0].0 == "JetBrains Mono").unwrap().clone();
    let families = vec![("Elsewhere".to_owned(), face.families[0].1)];
    fonts.push_face_info(FaceInfo { families, weight: Weight::BOLD, monospaced: false, ..face });
}

/// The faces of all letters on the screen.
fn faces(layers: &[Layer]) -> BTreeSet<ID> {
    let mut faces = BTreeSet::new();
    for text in layers.iter().flat_map(|layer| &layer.text).flat_map(|texts| texts.as_slice()) {
        let Text::Paragraph { paragraph, .. } = text else { continue };
        let Some(paragraph) = paragraph.upgrade() else { continue };
        for run in paragraph.buffer().layout_runs() {
            let letters = run.glyphs.iter().filter(|glyph| run.text[glyph.start..glyph.end].is_ascii());
            faces.extend(letters.map(|glyph| glyph.font_id));
        }
    }
    faces
}

/// A system font of exactly the weight that is asked for goes before the program's own family of another weight.
#[test]
fn bold_words_are_drawn_in_the_programs_own_faces() {
    let words =
        "Plain, **bold**, *slanted*, ***both***, `code` and **`bold code`**.\n\n# A *slanted* **heading**";
    let said = vec![preset::said(1, Role::Agent, words)];
    let (overview, snapshot) =
        preset::waits(Status::Thinking, &[], Snapshot { messages: said, ..preset::empty() });
    let mut person = Person::before(overview);
    install_a_bold_font();
    person.open(CONVERSATION, snapshot);
    let faces = faces(person.renderer.layers());
    let family = |id: &ID| font_system().write().unwrap().raw().db().face(*id).unwrap().families[0].0.clone();
    let families: BTreeSet<String> = faces.iter().map(family).collect();
    assert_eq!(families, BTreeSet::from(["Inter".to_owned(), "JetBrains Mono".to_owned()]));
    assert!(faces.len() >= 5, "regular, medium, semibold, italic and code: {faces:?}");
}
