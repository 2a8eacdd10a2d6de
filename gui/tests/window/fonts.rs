//! Text is drawn in the program's own typefaces, whatever fonts the system has.

use crate::{
    drawn,
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{message::Role, notification::Snapshot, task::Status};
use iced_tiny_skia::{
    Layer,
    graphics::text::{
        Text,
        cosmic_text::{
            SwashCache,
            fontdb::{FaceInfo, ID, Weight},
        },
        font_system,
    },
};
use std::collections::BTreeSet;

/// Installs what most desktops have: a family of another design, with a face of weight 700.
fn install_a_bold_font() {
    let mut system = font_system().write().unwrap();
    let fonts = system.raw().db_mut();
    let face = fonts.faces().find(|face| face.families[0].0 == "Abide JetBrains Mono").unwrap().clone();
    let families = vec![("Elsewhere".to_owned(), face.families[0].1)];
    fonts.push_face_info(FaceInfo { families, weight: Weight::BOLD, monospaced: false, ..face });
}

/// The faces of all visible letters.
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

/// A system font of exactly the requested weight would take precedence over the program's own family of
/// another weight. So would a system family of the same name, which is why the program's families have names
/// that no other font has.
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
    assert_eq!(families, BTreeSet::from(["Abide Inter".to_owned(), "Abide JetBrains Mono".to_owned()]));
    assert!(faces.len() >= 5, "regular, medium, semibold, italic and code: {faces:?}");
}

/// The width in pixels of each character's picture in this text.
fn pictures(role: Role, said: &str) -> Vec<(String, u32)> {
    let said = vec![preset::said(1, role, said)];
    let mut person = Person::opened(Status::Thinking, &[], Snapshot { messages: said, ..preset::empty() });
    let mut pictures = Vec::new();
    let mut cache = SwashCache::new();
    for text in person.renderer.layers().iter().flat_map(|layer| &layer.text).flat_map(|text| text.as_slice())
    {
        let Text::Paragraph { paragraph, .. } = text else { continue };
        let Some(paragraph) = paragraph.upgrade() else { continue };
        for run in paragraph.buffer().layout_runs() {
            for glyph in run.glyphs {
                let key = glyph.physical((0.0, 0.0), 1.0).cache_key;
                let picture = cache.get_image_uncached(font_system().write().unwrap().raw(), key);
                let width = picture.map_or(0, |picture| picture.placement.width);
                pictures.push((run.text[glyph.start..glyph.end].to_owned(), width));
            }
        }
    }
    pictures
}

/// A character without a font is drawn as a box. If it were not drawn, it would be missing from a command
/// that a person approves.
#[test]
fn a_character_without_a_font_is_drawn_as_a_box() {
    // A noncharacter, so that it is in no font of any system.
    let lacking = "\u{7fffe}";
    let pictures = pictures(
        Role::Agent,
        &format!("before {lacking} after, `code {lacking}`, *slanted {lacking}*, **{lacking}**"),
    );
    let drawn: Vec<u32> =
        pictures.iter().filter(|(text, _)| text == lacking).map(|(_, width)| *width).collect();
    assert_eq!(drawn.len(), 4, "{pictures:?}");
    assert!(drawn.iter().all(|width| *width > 3), "{drawn:?}");
}

#[test]
fn invisible_characters_are_not_drawn_as_boxes() {
    // ASCII alone is shaped in another way than other text.
    let mut pictures = pictures(Role::User, "a\tb");
    assert!(pictures.iter().any(|(text, _)| text == "\t"), "{pictures:?}");
    pictures.extend(self::pictures(Role::Agent, "a\u{2060}b\tc `d\te` f\u{ad}g h\u{fe0f}i"));
    let is_blank =
        |text: &str| text.chars().all(|c| c.is_whitespace() || "\u{2060}\u{ad}\u{fe0f}".contains(c));
    let drawn: Vec<_> = pictures.iter().filter(|(text, width)| is_blank(text) && *width > 1).collect();
    assert!(drawn.is_empty(), "{drawn:?}");
}

/// The emoji itself is in words where no font has it, so a person need not guess; they cannot know which font
/// is missing.
#[test]
fn where_no_font_has_emoji_it_is_said_once_which_one_has() {
    let said = |seq, text| {
        preset::waits(
            Status::Thinking,
            &[],
            Snapshot { messages: vec![preset::said(seq, Role::Agent, text)], ..preset::empty() },
        )
    };
    let is_told =
        |person: &mut Person| person.texts().iter().any(|text| text.contains("fonts-noto-color-emoji"));
    let (overview, plain) = said(1, "done ✓");
    let mut person = Person::before(overview.clone());
    person.open(CONVERSATION, plain);
    assert!(!is_told(&mut person), "no emoji was shown yet");
    let (_, party) = said(2, "done 🎉");
    person.open(CONVERSATION, party.clone());
    let lacks = drawn::words(&mut person).iter().any(|words| words.contains("(party)"));
    assert_eq!(is_told(&mut person), lacks);
    if lacks {
        person.clicks("Close");
    }
    person.open(CONVERSATION, party.clone());
    assert!(!is_told(&mut person));
    person.opens_again(overview);
    person.open(CONVERSATION, party);
    assert!(!is_told(&mut person));
}
