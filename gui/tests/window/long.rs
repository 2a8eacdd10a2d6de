//! A long conversation costs what is near the view.

use crate::preset;
use abide_gui::settings;
use iced_test::Simulator;

#[test]
fn of_ten_thousand_messages_only_the_last_are_built() {
    let window = preset::long(10_000);
    let mut screen = Simulator::with_size(settings(), (1280.0, 800.0), window.app.view());
    assert!(screen.find("message 9999").is_ok());
    assert!(screen.find("message 9000").is_err(), "far from the view, it is not built");
}
