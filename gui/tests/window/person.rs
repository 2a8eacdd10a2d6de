//! A simulated person at the window. Keys, clicks and the wheel take the same way as in the real window:
//! first to the widgets, then, if no widget takes them, to the window's own keys. Focus, scroll positions and
//! pictures are kept between events. The clock is simulated.

use crate::preset::{self, CONVERSATION, NOW, TASK};
use abide_client::{
    Update,
    protocol::{
        ConversationId, Timestamp,
        inbox::Pending,
        method::daemon::ListModelsReply,
        notification::Snapshot,
        task::{self, Mode},
    },
};
use abide_gui::{
    App, Message,
    app::{WindowEvent, heard},
    request::{self, Asker, Reply, Request},
    screen::sidebar,
    theme::size,
};
use abide_host::Home;
use iced_test::{
    core::{
        Event, Pixels, Point, Rectangle, Size, clipboard as desk,
        event::Status,
        keyboard::{self, Key, Modifiers, key::Named},
        mouse, renderer as style, widget, window,
    },
    futures::futures::{FutureExt as _, StreamExt as _, executor::block_on, future},
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

/// How long a window is in front before its content comes: longer than its keys are ignored after it came to
/// the front.
const OPENING_MS: i64 = 1000;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(NOW.0) };
}

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// Whether the waker was called since it was last asked.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The clipboard.
struct Desk(Option<String>);

impl desk::Clipboard for Desk {
    fn read(&self, _: desk::Kind) -> Option<String> {
        self.0.clone()
    }

    fn write(&mut self, _: desk::Kind, contents: String) {
        self.0 = Some(contents);
    }
}

/// Replies to the next requests of their methods.
type Replies = Arc<Mutex<Vec<Reply>>>;

pub(crate) struct Person {
    pub(crate) app: App,
    pub(crate) renderer: Renderer,
    pub(crate) size: Size,
    cache: Option<Cache>,
    pointer: mouse::Cursor,
    asked: Arc<Mutex<Vec<Request>>>,
    replies: Replies,
    /// The content of the clipboard.
    pub(crate) copied: Option<String>,
    /// The size of the screen, if it is known.
    pub(crate) monitor: Option<Size>,
    /// The size that the window asked to get.
    pub(crate) resized: Option<Size>,
    runtime: tokio::runtime::Runtime,
    home: tempfile::TempDir,
}

/// A window whose requests are collected. Those are answered for which there is a reply, the others never.
fn opens(home: &tempfile::TempDir, asked: &Arc<Mutex<Vec<Request>>>, replies: &Replies) -> App {
    let (log, replies) = (asked.clone(), replies.clone());
    let asker = Asker::new(move |request| {
        let mut replies = replies.lock().unwrap();
        let ready = replies.iter().position(|reply| reply.name() == request.name());
        let ready = ready.map(|at| replies.remove(at));
        log.lock().unwrap().push(request);
        ready.map_or_else(|| future::pending().boxed(), |reply| future::ready(Ok(reply)).boxed())
    });
    App::with(&Home::at(home.path()), clock, asker)
}

impl Person {
    /// A person at a window that is connected to a daemon with this overview.
    /// Before a daemon that has a model.
    pub(crate) fn before(overview: Snapshot) -> Self {
        let mut person = Self::before_unknown_models(overview);
        person.knows_models();
        person
    }

    /// A person who has had time to read the open conversation of a task with these pending items.
    pub(crate) fn reading(status: task::Status, waiting: &[Pending]) -> Self {
        Self::reading_of(status, waiting, preset::history())
    }

    pub(crate) fn reading_of(status: task::Status, waiting: &[Pending], history: Snapshot) -> Self {
        let mut person = Self::opened(status, waiting, history);
        person.wait(60_000);
        person.asked();
        person
    }

    /// A person who has just opened the conversation of a task with these pending items.
    pub(crate) fn opened(status: task::Status, waiting: &[Pending], history: Snapshot) -> Self {
        let (overview, conversation) = preset::waits(status, waiting, history);
        let mut person = Self::before(overview);
        person.open(CONVERSATION, conversation);
        person
    }

    /// The daemon sends the overview anew.
    pub(crate) fn overview(&mut self, snapshot: Snapshot) {
        self.tell(Message::Overview(vec![Update::Snapshot(Box::new(snapshot))]));
    }

    /// The daemon sends the open conversation anew.
    pub(crate) fn conversation(&mut self, snapshot: Snapshot) {
        self.tell(Message::Conversation(CONVERSATION, vec![Update::Snapshot(Box::new(snapshot))]));
    }

    /// What stands in the field of the open conversation.
    pub(crate) fn draft(&self) -> String {
        self.app.conversation().unwrap().composer.draft()
    }

    /// Before a daemon that has not listed its models yet.
    pub(crate) fn before_unknown_models(overview: Snapshot) -> Self {
        let mut person = Self::opens();
        person.comes_to_front();
        person.overview(overview);
        person
    }

    /// A window that has just opened, before the system said whether it is in front.
    pub(crate) fn opens() -> Self {
        CLOCK.set(NOW.0 - OPENING_MS);
        let home = tempfile::tempdir().unwrap();
        let (asked, replies) = (Arc::default(), Replies::default());
        let settings = abide_gui::settings();
        for font in settings.fonts {
            iced_tiny_skia::graphics::text::font_system().write().unwrap().load_font(font);
        }
        let renderer =
            block_on(<Renderer as style::Headless>::new(settings.default_font, Pixels(size::PROSE), None));
        Self {
            app: opens(&home, &asked, &replies),
            renderer: renderer.unwrap(),
            size: Size::new(1280.0, 800.0),
            cache: Some(Cache::default()),
            pointer: mouse::Cursor::Unavailable,
            asked,
            replies,
            copied: None,
            monitor: None,
            resized: None,
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
            home,
        }
    }

    /// The system gives the window the keyboard, and it stays in front until keys count.
    fn comes_to_front(&mut self) {
        self.handle(Message::Window(window::Id::unique(), WindowEvent::Focused));
        CLOCK.set(CLOCK.get() + OPENING_MS);
    }

    /// Closes the window and opens it again; the daemon then has this overview.
    pub(crate) fn opens_again(&mut self, overview: Snapshot) {
        // The first has to be gone before the other opens.
        self.app = opens(&tempfile::tempdir().unwrap(), &self.asked, &self.replies);
        self.app = opens(&self.home, &self.asked, &self.replies);
        self.cache = Some(Cache::default());
        self.comes_to_front();
        self.overview(overview);
        self.knows_models();
    }

    fn knows_models(&mut self) {
        let models = ListModelsReply { mode: Mode::Auto, ..crate::beginning::models() };
        self.tell(Message::Answered(request::models(), Ok(Reply::ListModels(models))));
    }

    /// Selects the conversation in the list; the daemon answers with this snapshot.
    pub(crate) fn open(&mut self, id: ConversationId, snapshot: Snapshot) {
        self.tell(Message::Sidebar(sidebar::Message::Selected(id)));
        self.tell(Message::Conversation(id, vec![Update::Snapshot(Box::new(snapshot))]));
    }

    /// The daemon will answer the next request of this method at once.
    pub(crate) fn will_hear(&self, reply: Reply) {
        self.replies.lock().unwrap().push(reply);
    }

    /// The requests to the daemon since the last call, except those that only read.
    pub(crate) fn asked(&self) -> Vec<Request> {
        let reads = |request: &Request| {
            matches!(
                request,
                Request::ListModels(_)
                    | Request::ListPersonas(_)
                    | Request::ListTemplates(_)
                    | Request::ListTools(_)
                    | Request::GetWorkspace(_)
                    | Request::GetConfig(_)
                    | Request::ListRules(_)
                    | Request::Focus(_)
                    | Request::ListTasks(_)
                    | Request::AgentTree(_)
                    | Request::ListMessages(_)
                    | Request::MarkRead(_)
                    | Request::TaskChanges(_)
                    | Request::ListConversations(_)
                    | Request::Status(_)
                    | Request::GetMemory(_)
                    | Request::ListNotes(_)
                    | Request::SearchMemory(_)
            )
        };
        self.asked.lock().unwrap().drain(..).filter(|request| !reads(request)).collect()
    }

    /// All requests to the daemon since the last call.
    pub(crate) fn sent(&self) -> Vec<Request> {
        self.asked.lock().unwrap().drain(..).collect()
    }

    /// Advances the clock, and sends the window a message of its timer.
    pub(crate) fn wait(&mut self, ms: i64) {
        CLOCK.set(CLOCK.get() + ms);
        self.tell(Message::Settled);
    }

    /// Sends the window a message, and draws the next frame.
    pub(crate) fn tell(&mut self, message: Message) {
        self.handle(message);
        self.redraw();
    }

    fn handle(&mut self, message: Message) {
        let runtime = self.runtime.handle().clone();
        let _time = runtime.enter();
        let mut messages = vec![message];
        while let Some(message) = messages.pop() {
            let Some(mut actions) = into_stream(self.app.update(message)) else { continue };
            // Only actions that are ready at once are carried out. Others wait for a time or for a daemon.
            let woken = Arc::new(Woken::default());
            let waker = Waker::from(woken.clone());
            loop {
                let action = match actions.poll_next_unpin(&mut Context::from_waker(&waker)) {
                    Poll::Ready(Some(action)) => action,
                    // A set of tasks polls only some of them each time, and wakes for the others.
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

    /// Resizes the window.
    pub(crate) fn resizes(&mut self, width: f32, height: f32) {
        self.size = Size::new(width, height);
        self.input(Event::Window(window::Event::Resized(self.size)));
    }

    pub(crate) fn clicks_right(&mut self, text: &str) {
        let there = self.finds(text).unwrap();
        self.points(there.center());
        self.input(Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Right)));
        self.input(Event::Mouse(mouse::Event::ButtonReleased(mouse::Button::Right)));
    }

    /// Draws a frame. Messages that widgets send for it are handled before it is drawn.
    pub(crate) fn redraw(&mut self) {
        let now = Instant::now();
        for _ in 0..3 {
            let event = Event::Window(window::Event::RedrawRequested(now));
            let (messages, _) = self.feed(&[event]);
            if messages.is_empty() {
                break;
            }
            for message in messages {
                self.handle(message);
            }
        }
        self.frames(&[now]);
    }

    /// The frames drawn at these times, without events in between.
    pub(crate) fn frames(&mut self, times: &[Instant]) -> Vec<Vec<Layer>> {
        let theme = self.app.theme();
        let style = style::Style { text_color: theme.palette().text };
        self.ui(|ui, renderer, pointer| {
            let frames = times.iter().map(|now| {
                // A widget draws itself in the state that it has after this event.
                let event = Event::Window(window::Event::RedrawRequested(*now));
                drop(ui.update(&[event], pointer, renderer, &mut desk::Null, &mut Vec::new()));
                ui.draw(renderer, &theme, &style, pointer);
                renderer.layers().to_vec()
            });
            frames.collect()
        })
    }

    /// The messages that another frame would send, each of which would cause yet another frame. None if the
    /// window is at rest.
    pub(crate) fn messages_of_a_frame(&mut self) -> Vec<Message> {
        self.feed(&[Event::Window(window::Event::RedrawRequested(Instant::now()))]).0
    }

    /// Whether the widgets want another frame after that of this time.
    pub(crate) fn wants_a_frame_after(&mut self, now: Instant) -> bool {
        let event = Event::Window(window::Event::RedrawRequested(now));
        self.ui(|ui, renderer, pointer| {
            let (state, _) = ui.update(&[event], pointer, renderer, &mut desk::Null, &mut Vec::new());
            match state {
                user_interface::State::Updated { redraw_request, .. } => {
                    redraw_request != window::RedrawRequest::Wait
                }
                user_interface::State::Outdated => true,
            }
        })
    }

    fn feed(&mut self, events: &[Event]) -> (Vec<Message>, Vec<Status>) {
        let mut desk = Desk(self.copied.take());
        let fed = self.ui(|ui, renderer, pointer| {
            let mut messages = Vec::new();
            let (_, statuses): (user_interface::State, _) =
                ui.update(events, pointer, renderer, &mut desk, &mut messages);
            (messages, statuses)
        });
        self.copied = desk.0;
        fed
    }

    /// Sends an event to the widgets, then to the window's own keys, and draws the next frame.
    fn input(&mut self, event: Event) {
        let (mut messages, statuses) = self.feed(std::slice::from_ref(&event));
        messages.extend(heard(event, statuses[0], window::Id::unique()));
        for message in messages {
            self.handle(message);
        }
        self.redraw();
    }

    pub(crate) fn press(&mut self, key: Key, modifiers: Modifiers) {
        let nowhere = keyboard::key::Physical::Unidentified(keyboard::key::NativeCode::Unidentified);
        self.press_key(key, nowhere, modifiers);
    }

    /// Presses the key at this place of the keyboard, which has this letter.
    pub(crate) fn press_at(&mut self, letter: &str, place: keyboard::key::Code, modifiers: Modifiers) {
        self.press_key(Key::Character(letter.into()), keyboard::key::Physical::Code(place), modifiers);
    }

    fn press_key(&mut self, key: Key, physical_key: keyboard::key::Physical, modifiers: Modifiers) {
        let text = match &key {
            // With Ctrl a letter gives a control character, a digit itself.
            Key::Character(letter) if !modifiers.command() || letter.parse::<u8>().is_ok() => {
                Some(letter.clone())
            }
            Key::Named(Named::Space) => Some(" ".into()),
            _ => None,
        };
        self.input(Event::Keyboard(keyboard::Event::KeyPressed {
            key: key.clone(),
            modified_key: key,
            physical_key,
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

    pub(crate) fn control_shift(&mut self, letter: &str) {
        self.press(Key::Character(letter.into()), Modifiers::CTRL | Modifiers::SHIFT);
    }

    /// Pastes a text that was copied elsewhere.
    pub(crate) fn pastes(&mut self, text: &str) {
        self.copied = Some(text.to_owned());
        self.control("v");
    }

    pub(crate) fn writes(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                ' ' => self.named(Named::Space),
                letter => self.letter(&letter.to_string()),
            }
        }
    }

    /// Whether a call is shown that cannot be allowed because its end was not.
    pub(crate) fn has_unread(&mut self) -> bool {
        self.texts().iter().any(|text| text.starts_with("Scroll to the end to allow"))
    }

    /// Scrolls by keys until the end of the selected card has been shown, and waits until it can be allowed.
    pub(crate) fn reads(&mut self) {
        for _ in 0..200 {
            if !self.has_unread() {
                break;
            }
            self.named(Named::PageDown);
        }
        assert!(!self.has_unread(), "the end does not come");
        self.wait(600);
    }

    /// Picks the first action that the palette finds by these words.
    pub(crate) fn picks(&mut self, words: &str) {
        self.press(Key::Character("P".into()), Modifiers::CTRL | Modifiers::SHIFT);
        self.writes(words);
        self.named(Named::Enter);
    }

    /// The visible bounds of this text, if it is shown.
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

    /// The bounds of this text, also of what is scrolled out of view.
    pub(crate) fn finds_bounds(&mut self, text: &str) -> Option<Rectangle> {
        let mut find = text.to_owned().find();
        self.ui(|ui, renderer, _| {
            ui.operate(renderer, &mut widget::operation::black_box(&mut find));
        });
        match widget::Operation::finish(&find) {
            widget::operation::Outcome::Some(found) => found.map(|found| found.bounds()),
            _ => None,
        }
    }

    /// Whether the whole text is visible, and not scrolled out of view in part.
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

    /// The visible bounds of each widget with this text.
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

    /// All texts of the widget tree, in order.
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

    /// The number of fields and buttons that have the keyboard.
    pub(crate) fn focused(&mut self) -> usize {
        struct Focused(usize);
        impl widget::Operation for Focused {
            fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn widget::Operation)) {
                operate(self);
            }

            fn focusable(
                &mut self,
                _id: Option<&widget::Id>,
                _bounds: Rectangle,
                state: &mut dyn widget::operation::Focusable,
            ) {
                self.0 += usize::from(state.is_focused());
            }
        }
        let mut focused = Focused(0);
        self.operate(&mut focused);
        focused.0
    }

    pub(crate) fn points(&mut self, at: Point) {
        self.pointer = mouse::Cursor::Available(at);
        self.input(Event::Mouse(mouse::Event::CursorMoved { position: at }));
    }

    /// The folders of its home.
    pub(crate) fn home(&self) -> Home {
        Home::at(self.home.path())
    }

    pub(crate) fn clicks(&mut self, text: &str) {
        let there = self.finds(text);
        assert!(there.is_some(), "{text:?} is not shown");
        self.clicks_at(there.unwrap().center());
    }

    /// Shows the steps of the task, which has ended; or folds them.
    pub(crate) fn unfolds(&mut self) {
        self.tell(Message::Thread(abide_gui::screen::conversation::Message::StepsToggled(TASK)));
    }

    pub(crate) fn clicks_at(&mut self, at: Point) {
        self.holds(at);
        self.lets_go();
    }

    /// Presses the mouse button at a point.
    pub(crate) fn holds(&mut self, at: Point) {
        self.points(at);
        self.input(Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Left)));
    }

    pub(crate) fn lets_go(&mut self) {
        self.input(Event::Mouse(mouse::Event::ButtonReleased(mouse::Button::Left)));
    }

    /// Drags from one point to another.
    pub(crate) fn drags(&mut self, from: Point, to: Point) {
        self.holds(from);
        self.points(to);
        self.lets_go();
    }

    /// Drags so fast that the window gets the events all at once.
    pub(crate) fn drags_at_once(&mut self, from: Point, to: Point) {
        self.pointer = mouse::Cursor::Available(to);
        let (messages, _) = self.feed(&[
            Event::Mouse(mouse::Event::CursorMoved { position: from }),
            Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Left)),
            Event::Mouse(mouse::Event::CursorMoved { position: to }),
        ]);
        for message in messages {
            self.handle(message);
        }
        self.redraw();
        self.lets_go();
    }

    /// Turns the wheel over the page by notches; up if positive.
    pub(crate) fn wheels(&mut self, notches: f32) {
        self.wheels_over(Point::new(800.0, 300.0), notches);
    }

    /// Turns the wheel over a point.
    pub(crate) fn wheels_over(&mut self, place: Point, notches: f32) {
        self.points(place);
        let delta = mouse::ScrollDelta::Lines { x: 0.0, y: notches };
        self.input(Event::Mouse(mouse::Event::WheelScrolled { delta }));
    }
}
