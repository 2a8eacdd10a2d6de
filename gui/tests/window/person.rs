//! A person before the window: keys, clicks and the wheel go the way they go in the real one, through the widgets, and what the
//! widgets leave through the window's own keys; focus, scrolling and pictures stay from one to the next. Only the clock is theirs.

use crate::preset::NOW;
use abide_client::{
    Home, Update,
    protocol::{ConversationId, Timestamp, notification::Snapshot},
};
use abide_gui::{
    App, Message,
    app::heard,
    request::{Asker, Request},
    screen::sidebar,
    theme::size,
};
use iced_test::{
    core::{
        Event, Pixels, Point, Rectangle, Size, clipboard as desk,
        event::Status,
        keyboard::{self, Key, Modifiers, key::Named},
        mouse, renderer as style, widget, window,
    },
    futures::futures::{StreamExt as _, executor::block_on, future},
    renderer::Renderer,
    runtime::{
        Action, UserInterface, clipboard,
        task::into_stream,
        user_interface::{self, Cache},
        window::Action as Ask,
    },
    selector::Selector as _,
};
use iced_tiny_skia::Layer;
use std::{
    cell::Cell,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Instant,
};

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(NOW.0) };
}

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// Whether there is more to look at.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) struct Person {
    pub(crate) app: App,
    pub(crate) renderer: Renderer,
    pub(crate) size: Size,
    cache: Option<Cache>,
    pointer: mouse::Cursor,
    asked: Arc<Mutex<Vec<Request>>>,
    /// What is on the clipboard.
    pub(crate) copied: Option<String>,
    /// How large the screen is, if that is known.
    pub(crate) monitor: Option<Size>,
    /// The size that the window was told to have.
    pub(crate) resized: Option<Size>,
    runtime: tokio::runtime::Runtime,
    home: tempfile::TempDir,
}

/// What is asked is written down, and never answered.
fn opens(home: &tempfile::TempDir, asked: &Arc<Mutex<Vec<Request>>>) -> App {
    let log = asked.clone();
    let asker = Asker::new(move |request| {
        log.lock().unwrap().push(request);
        Box::pin(future::pending())
    });
    App::with(&Home::at(home.path()), clock, asker)
}

impl Person {
    /// Before a window that is connected to a daemon that knows this.
    pub(crate) fn before(overview: Snapshot) -> Self {
        CLOCK.set(NOW.0);
        let home = tempfile::tempdir().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let settings = abide_gui::settings();
        for font in settings.fonts {
            iced_tiny_skia::graphics::text::font_system().write().unwrap().load_font(font);
        }
        let renderer =
            block_on(<Renderer as style::Headless>::new(settings.default_font, Pixels(size::PROSE), None));
        let mut person = Self {
            app: opens(&home, &asked),
            renderer: renderer.unwrap(),
            size: Size::new(1280.0, 800.0),
            cache: Some(Cache::default()),
            pointer: mouse::Cursor::Unavailable,
            asked,
            copied: None,
            monitor: None,
            resized: None,
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
            home,
        };
        person.tell(Message::Overview(vec![Update::Snapshot(Box::new(overview))]));
        person
    }

    /// The window is closed and opened again, where the daemon knows this.
    pub(crate) fn opens_again(&mut self, overview: Snapshot) {
        self.app = opens(&self.home, &self.asked);
        self.cache = Some(Cache::default());
        self.tell(Message::Overview(vec![Update::Snapshot(Box::new(overview))]));
    }

    /// The conversation is chosen in the list, and this is what it holds.
    pub(crate) fn open(&mut self, id: ConversationId, snapshot: Snapshot) {
        self.tell(Message::Sidebar(sidebar::Message::Selected(id)));
        self.tell(Message::Conversation(id, vec![Update::Snapshot(Box::new(snapshot))]));
    }

    /// What was asked of the daemon since, apart from what only reads.
    pub(crate) fn asked(&self) -> Vec<Request> {
        let reads = |request: &Request| {
            matches!(
                request,
                Request::Models
                    | Request::Focus(_)
                    | Request::Tasks(_)
                    | Request::Older(..)
                    | Request::MarkRead(..)
            )
        };
        self.asked.lock().unwrap().drain(..).filter(|request| !reads(request)).collect()
    }

    /// All that was asked of the daemon since.
    pub(crate) fn sent(&self) -> Vec<Request> {
        self.asked.lock().unwrap().drain(..).collect()
    }

    /// Time passes, and the window hears of it.
    pub(crate) fn wait(&mut self, ms: i64) {
        CLOCK.set(CLOCK.get() + ms);
        self.tell(Message::Settled);
    }

    pub(crate) fn tell(&mut self, message: Message) {
        self.hear(message);
        self.redraw();
    }

    fn hear(&mut self, message: Message) {
        let runtime = self.runtime.handle().clone();
        let _time = runtime.enter();
        let mut messages = vec![message];
        while let Some(message) = messages.pop() {
            let Some(mut actions) = into_stream(self.app.update(message)) else { continue };
            // What does not come at once is for later, or for a daemon.
            let woken = Arc::new(Woken::default());
            let waker = Waker::from(woken.clone());
            loop {
                let action = match actions.poll_next_unpin(&mut Context::from_waker(&waker)) {
                    Poll::Ready(Some(action)) => action,
                    // Of many tasks not all are looked at each time.
                    Poll::Pending if woken.0.swap(false, Ordering::Relaxed) => continue,
                    Poll::Ready(None) | Poll::Pending => break,
                };
                match action {
                    Action::Output(message) => messages.insert(0, message),
                    Action::Widget(mut operation) => self.operate(&mut *operation),
                    Action::Clipboard(clipboard::Action::Write { contents, .. }) => {
                        self.copied = Some(contents);
                    }
                    Action::Window(Ask::GetMonitorSize(_, answer)) => drop(answer.send(self.monitor)),
                    Action::Window(Ask::Resize(_, size)) => self.resized = Some(size),
                    _ => {}
                }
            }
        }
    }

    fn ui<T>(
        &mut self,
        act: impl FnOnce(
            &mut UserInterface<'_, Message, iced::Theme, Renderer>,
            &mut Renderer,
            mouse::Cursor,
        ) -> T,
    ) -> T {
        let cache = self.cache.take().unwrap();
        let mut ui = UserInterface::build(self.app.view(), self.size, cache, &mut self.renderer);
        let done = act(&mut ui, &mut self.renderer, self.pointer);
        self.cache = Some(ui.into_cache());
        done
    }

    pub(crate) fn operate(&mut self, operation: &mut dyn widget::Operation) {
        let mut next = None;
        self.ui(|ui, renderer, _| ui.operate(renderer, operation));
        if let widget::operation::Outcome::Chain(operation) = operation.finish() {
            next = Some(operation);
        }
        while let Some(mut operation) = next.take() {
            self.ui(|ui, renderer, _| ui.operate(renderer, &mut *operation));
            if let widget::operation::Outcome::Chain(operation) = operation.finish() {
                next = Some(operation);
            }
        }
    }

    /// The window gets this width.
    pub(crate) fn resizes(&mut self, width: f32, height: f32) {
        self.size = Size::new(width, height);
        self.does(Event::Window(window::Event::Resized(self.size)));
    }

    pub(crate) fn clicks_right(&mut self, text: &str) {
        let there = self.finds(text).unwrap();
        self.points(there.center());
        self.does(Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Right)));
        self.does(Event::Mouse(mouse::Event::ButtonReleased(mouse::Button::Right)));
    }

    /// A frame: what widgets tell while it is made is heard before it is drawn.
    pub(crate) fn redraw(&mut self) {
        let now = Instant::now();
        for _ in 0..3 {
            let event = Event::Window(window::Event::RedrawRequested(now));
            let (messages, _) = self.happens(&[event]);
            if messages.is_empty() {
                break;
            }
            for message in messages {
                self.hear(message);
            }
        }
        self.frames(&[now]);
    }

    /// What is drawn at these times, if nothing happens but that time passes.
    pub(crate) fn frames(&mut self, times: &[Instant]) -> Vec<Vec<Layer>> {
        let theme = self.app.theme();
        let style = style::Style { text_color: theme.palette().text };
        self.ui(|ui, renderer, pointer| {
            let frames = times.iter().map(|now| {
                // A widget draws itself as it was when it heard of this frame.
                let event = Event::Window(window::Event::RedrawRequested(*now));
                drop(ui.update(&[event], pointer, renderer, &mut desk::Null, &mut Vec::new()));
                ui.draw(renderer, &theme, &style, pointer);
                renderer.layers().to_vec()
            });
            frames.collect()
        })
    }

    /// What another frame would tell the window, and so make yet another one: nothing, if all is at rest.
    pub(crate) fn told_by_a_frame(&mut self) -> Vec<Message> {
        self.happens(&[Event::Window(window::Event::RedrawRequested(Instant::now()))]).0
    }

    fn happens(&mut self, events: &[Event]) -> (Vec<Message>, Vec<Status>) {
        self.ui(|ui, renderer, pointer| {
            let mut messages = Vec::new();
            let (_, statuses): (user_interface::State, _) =
                ui.update(events, pointer, renderer, &mut desk::Null, &mut messages);
            (messages, statuses)
        })
    }

    /// Something happens to the window; the frame after it is drawn.
    fn does(&mut self, event: Event) {
        let (mut messages, statuses) = self.happens(std::slice::from_ref(&event));
        messages.extend(heard(event, statuses[0], window::Id::unique()));
        for message in messages {
            self.hear(message);
        }
        self.redraw();
    }

    pub(crate) fn press(&mut self, key: Key, modifiers: Modifiers) {
        let text = match &key {
            Key::Character(letter) if !modifiers.command() => Some(letter.clone()),
            Key::Named(Named::Space) => Some(" ".into()),
            _ => None,
        };
        self.does(Event::Keyboard(keyboard::Event::KeyPressed {
            key: key.clone(),
            modified_key: key,
            physical_key: keyboard::key::Physical::Unidentified(keyboard::key::NativeCode::Unidentified),
            location: keyboard::Location::Standard,
            modifiers,
            text,
            repeat: false,
        }));
    }

    pub(crate) fn named(&mut self, key: Named) {
        self.press(Key::Named(key), Modifiers::empty());
    }

    pub(crate) fn letter(&mut self, letter: &str) {
        self.press(Key::Character(letter.into()), Modifiers::empty());
    }

    pub(crate) fn control(&mut self, letter: &str) {
        self.press(Key::Character(letter.into()), Modifiers::CTRL);
    }

    pub(crate) fn writes(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                ' ' => self.named(Named::Space),
                letter => self.letter(&letter.to_string()),
            }
        }
    }

    /// Where this text is, if it is shown.
    pub(crate) fn finds(&mut self, text: &str) -> Option<Rectangle> {
        let mut find = text.to_owned().find();
        self.ui(|ui, renderer, _| {
            ui.operate(renderer, &mut widget::operation::black_box(&mut find));
        });
        match widget::Operation::finish(&find) {
            widget::operation::Outcome::Some(found) => found.and_then(|found| found.visible_bounds()),
            _ => None,
        }
    }

    /// Whether all of this text is within the visible part of what scrolls it.
    pub(crate) fn finds_whole(&mut self, text: &str) -> bool {
        let mut find = text.to_owned().find();
        self.ui(|ui, renderer, _| {
            ui.operate(renderer, &mut widget::operation::black_box(&mut find));
        });
        let widget::operation::Outcome::Some(Some(found)) = widget::Operation::finish(&find) else {
            return false;
        };
        let height = found.bounds().height;
        found.visible_bounds().is_some_and(|seen| seen.height > height - 1.0)
    }

    /// Everywhere that this text is shown.
    pub(crate) fn finds_all(&mut self, text: &str) -> Vec<Rectangle> {
        let mut find = text.to_owned().find_all();
        self.ui(|ui, renderer, _| {
            ui.operate(renderer, &mut widget::operation::black_box(&mut find));
        });
        match widget::Operation::finish(&find) {
            widget::operation::Outcome::Some(found) => {
                found.into_iter().filter_map(|found| found.visible_bounds()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// All texts that are built, in order.
    pub(crate) fn texts(&mut self) -> Vec<String> {
        struct Texts(Vec<String>);
        impl widget::Operation for Texts {
            fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn widget::Operation)) {
                operate(self);
            }

            fn text(&mut self, _id: Option<&widget::Id>, _bounds: Rectangle, text: &str) {
                self.0.push(text.to_owned());
            }
        }
        let mut texts = Texts(Vec::new());
        self.operate(&mut texts);
        texts.0
    }

    pub(crate) fn points(&mut self, at: Point) {
        self.pointer = mouse::Cursor::Available(at);
        self.does(Event::Mouse(mouse::Event::CursorMoved { position: at }));
    }

    pub(crate) fn clicks(&mut self, text: &str) {
        let there = self.finds(text);
        assert!(there.is_some(), "{text:?} is not shown");
        self.points(there.unwrap().center());
        self.does(Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Left)));
        self.does(Event::Mouse(mouse::Event::ButtonReleased(mouse::Button::Left)));
    }

    /// The button goes down here.
    pub(crate) fn holds(&mut self, at: Point) {
        self.points(at);
        self.does(Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Left)));
    }

    pub(crate) fn lets_go(&mut self) {
        self.does(Event::Mouse(mouse::Event::ButtonReleased(mouse::Button::Left)));
    }

    /// From one point to another with the button held.
    pub(crate) fn drags(&mut self, from: Point, to: Point) {
        self.holds(from);
        self.points(to);
        self.lets_go();
    }

    /// The same, so fast that the window hears of all of it at once.
    pub(crate) fn drags_at_once(&mut self, from: Point, to: Point) {
        self.pointer = mouse::Cursor::Available(to);
        let (messages, _) = self.happens(&[
            Event::Mouse(mouse::Event::CursorMoved { position: from }),
            Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Left)),
            Event::Mouse(mouse::Event::CursorMoved { position: to }),
        ]);
        for message in messages {
            self.hear(message);
        }
        self.redraw();
        self.lets_go();
    }

    /// Notches of the wheel over the page, up if positive.
    pub(crate) fn wheels(&mut self, notches: f32) {
        self.wheels_over(Point::new(800.0, 300.0), notches);
    }

    /// The same over this place.
    pub(crate) fn wheels_over(&mut self, place: Point, notches: f32) {
        self.points(place);
        let delta = mouse::ScrollDelta::Lines { x: 0.0, y: notches };
        self.does(Event::Mouse(mouse::Event::WheelScrolled { delta }));
    }
}
