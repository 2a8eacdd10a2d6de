//! A list that builds only the rows near the view: layout costs the same however long the list is.
//!
//! It is anchored at the row in view, or at the end: rows that come, go or grow elsewhere move nothing in
//! view.
//!
//! The screen builds a window of its rows and says how many are hidden before and after. `diff` keeps each
//! row's widget state by its key, `layout` lays the given rows out one below the other and lets `scroll` keep
//! the anchor in place, `draw` translates them by the scroll position. When the visible part comes near the
//! edge of the window, or leaves or reaches the end, the list reports it (`on_view`), and the screen builds
//! another window. So `keys`, `rows`, the children of the tree and `Scroll::places` always have the same
//! order and length, and only the screen decides which rows exist. `select` and `mark` reach the text within
//! rows by operations on their [passages](crate::widget::passage): the list knows no text.

mod mark;
mod scroll;
mod select;

pub use mark::{CurrentMatch, Marking, WhichMatch};
pub use scroll::View;
pub use select::{End, Selection, TABLE};

use super::Element;
use crate::theme::{radius, space, tokens};
use iced::{
    Border, Event, Length, Point, Rectangle, Renderer, Shadow, Size, Theme, Vector,
    advanced::{
        Clipboard, Layout, Renderer as _, Shell, Widget, layout, mouse, overlay, renderer,
        widget::{Id, Operation, Tree, tree},
    },
    window,
};
use mark::{Marker, Shown, Sideways};
use scroll::{BuiltRow, Scroll};
use select::{Reader, Selecting};
use std::{cell::Cell, collections::HashMap, hash::Hash, ops::Range};
use uuid::Uuid;

/// The distance of one notch of the wheel, in logical pixels.
const NOTCH: f32 = 60.0;

/// See the module.
pub struct List<'a, Key, Message> {
    id: Id,
    of: Uuid,
    keys: Vec<Key>,
    rows: Vec<Element<'a, Message>>,
    hidden: (usize, usize),
    width: f32,
    /// The least margin beside the rows.
    margin: f32,
    is_fitting: fn(Key) -> bool,
    showing: Option<Key>,
    holding: Option<(Key, u32)>,
    stand_in: Option<Key>,
    on_view: Box<dyn Fn(View<Key>) -> Message + 'a>,
    selected: Option<Selected<'a, Key, Message>>,
    marking: Option<Marking<'a, Key, Message>>,
}

/// The selection, and the callback for changes of it.
struct Selected<'a, Key, Message> {
    is_any: bool,
    part: Box<dyn Fn(Key) -> Option<Range<usize>> + 'a>,
    on_select: Box<dyn Fn(Option<Selection<Key>>) -> Message + 'a>,
}

/// The list's state from frame to frame.
struct State<Key> {
    scroll: Scroll<Key>,
    selecting: Selecting<Key>,
    marked: mark::Marked<Key>,
    moves: Moves,
}

/// When all rows have moved, the whole list is painted again as one part. iced's software renderer would find
/// a part for nearly each paragraph, and each part costs a pass over all pixels of the window for its mask,
/// besides its own painting. It takes a layer whose bounds differ from the last frame's as one part, so this
/// layer changes its width: there is nothing beside the column.
#[derive(Debug, Default)]
struct Moves {
    shift: Cell<f32>,
    count: Cell<u8>,
}

impl Moves {
    /// The bounds of the layer of a list whose rows have this width and this shift.
    fn layer(&self, bounds: Rectangle, width: f32, shift: f32) -> Rectangle {
        if self.shift.replace(shift).to_bits() != shift.to_bits() {
            // The window may still show pixels of some frames ago.
            self.count.set((self.count.get() + 1) % 5);
        }
        let width = (width + space::XL).min(bounds.width);
        let x = bounds.x + ((bounds.width - width) / 2.0).floor();
        Rectangle { x, width: width - f32::from(self.count.get()) / 64.0, ..bounds }
    }
}

impl<'a, Key, Message> List<'a, Key, Message> {
    /// `hidden` rows before and after are not built; `on_view` is called when that should change.
    pub fn new(
        id: Id,
        rows: impl IntoIterator<Item = (Key, Element<'a, Message>)>,
        hidden: (usize, usize),
        on_view: impl Fn(View<Key>) -> Message + 'a,
    ) -> Self {
        let (keys, rows) = rows.into_iter().unzip();
        let on_view = Box::new(on_view);
        let of = Uuid::nil();
        Self {
            id,
            of,
            keys,
            rows,
            hidden,
            width: space::COLUMN,
            margin: space::XL,
            is_fitting: |_| false,
            showing: None,
            holding: None,
            stand_in: None,
            on_view,
            selected: None,
            marking: None,
        }
    }

    /// Makes its text selectable. `part` returns the selected bytes of a row's text; it is given if any row
    /// has some. `on_select` gets the person's selection, or `None` when there is no longer one.
    #[must_use]
    pub fn selecting(
        self,
        is_any: bool,
        part: impl Fn(Key) -> Option<Range<usize>> + 'a,
        on_select: impl Fn(Option<Selection<Key>>) -> Message + 'a,
    ) -> Self {
        let selected = Selected { is_any, part: Box::new(part), on_select: Box::new(on_select) };
        Self { selected: Some(selected), ..self }
    }

    /// Marks matches in a row, and scrolls to one of them.
    #[must_use]
    pub fn marking(self, marking: Option<Marking<'a, Key, Message>>) -> Self {
        Self { marking, ..self }
    }

    /// With at least this margin on either side.
    #[must_use]
    pub fn margin(self, margin: f32) -> Self {
        Self { margin, ..self }
    }

    /// These rows are no higher than the view, so that each can be wholly visible.
    #[must_use]
    pub fn fitting(self, is_fitting: fn(Key) -> bool) -> Self {
        Self { is_fitting, ..self }
    }

    /// The identity of the listed thing: a list of another one starts at its end.
    #[must_use]
    pub fn of(self, of: Uuid) -> Self {
        Self { of, ..self }
    }

    /// A row that stands for rows not loaded yet: when they come, the view stays in place.
    #[must_use]
    pub fn stand_in(self, row: Key) -> Self {
        Self { stand_in: Some(row), ..self }
    }

    /// Scrolls a row into view, once: later layouts with the same row do nothing, until it was `None`.
    #[must_use]
    pub fn showing(self, row: Option<Key>) -> Self {
        Self { showing: row, ..self }
    }

    /// The row in which a person has just opened or closed something, and the number of that action: its top
    /// stays in place, unless the opened part would end below the view and there is room above the row. Each
    /// action has its effect once.
    #[must_use]
    pub fn holding(self, row: Option<(Key, u32)>) -> Self {
        Self { holding: row, ..self }
    }
}

fn scroller<Key: 'static>(tree: &Tree) -> &Scroll<Key> {
    &tree.state.downcast_ref::<State<Key>>().scroll
}

fn scroller_mut<Key: 'static>(state: &mut tree::State) -> &mut Scroll<Key> {
    &mut state.downcast_mut::<State<Key>>().scroll
}

impl<Key, Message> List<'_, Key, Message> {
    /// The width of rows in a list of this width.
    fn column(&self, width: f32) -> f32 {
        (width - 2.0 * self.margin).min(self.width).max(0.0)
    }
}

impl<Key: Copy + Eq + Hash + 'static, Message> List<'_, Key, Message> {
    /// The end of a selection nearest to a point of the window, among the visible rows.
    fn end_at(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        at: Point,
    ) -> Option<End<Key>> {
        let bounds = layout.bounds();
        let scroll = scroller::<Key>(tree);
        let y = at.y.clamp(bounds.y, bounds.y + (bounds.height - 1.0).max(0.0));
        let row = scroll.row_at(y - bounds.y)?;
        let point = Point::new(at.x, y + scroll.shift());
        let mut reader = Reader::at(point);
        let state = tree.children.get_mut(row)?;
        let layout = layout.children().nth(row)?;
        self.rows.get_mut(row)?.as_widget_mut().operate(state, layout, renderer, &mut reader);
        Some(reader.end(*self.keys.get(row)?))
    }

    /// Handles the pointer's selection, unless the event was for a widget in a row.
    fn select(
        &mut self,
        tree: &mut Tree,
        event: &Event,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        renderer: &Renderer,
        shell: &mut Shell<'_, Message>,
    ) {
        let Some(is_any) = self.selected.as_ref().map(|selected| selected.is_any) else { return };
        let bounds = layout.bounds();
        let told = match event {
            Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Left)) => {
                let state: &State<Key> = tree.state.downcast_ref();
                let at = cursor.position_over(bounds).filter(|_| !shell.is_event_captured());
                let at = at.map(|at| state.selecting.pressed_at(bounds).unwrap_or(at));
                let end = at.and_then(|at| Some((at, self.end_at(tree, layout, renderer, at)?)));
                let state: &mut State<Key> = tree.state.downcast_mut();
                let selection = end.and_then(|(at, end)| state.selecting.press(at, end));
                (is_any || selection.is_some()).then_some(selection)
            }
            Event::Mouse(mouse::Event::CursorMoved { position }) => {
                let state: &mut State<Key> = tree.state.downcast_mut();
                if !state.selecting.moves(*position) {
                    return;
                }
                if select::pull(bounds, *position) != 0.0 {
                    shell.request_redraw();
                }
                self.reach(tree, layout, renderer, *position)
            }
            Event::Mouse(mouse::Event::ButtonReleased(mouse::Button::Left)) => {
                let state: &mut State<Key> = tree.state.downcast_mut();
                state.selecting.release();
                None
            }
            Event::Window(window::Event::RedrawRequested(_)) => {
                let state: &mut State<Key> = tree.state.downcast_mut();
                let Some(at) = state.selecting.at() else { return };
                let pull = select::pull(bounds, at);
                if pull == 0.0 || !state.scroll.scroll(pull) {
                    return;
                }
                shell.request_redraw();
                self.reach(tree, layout, renderer, at)
            }
            _ => None,
        };
        if let (Some(selection), Some(selected)) = (told, &self.selected) {
            shell.publish((selected.on_select)(selection));
        }
    }

    fn reach(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        at: Point,
    ) -> Option<Option<Selection<Key>>> {
        let end = self.end_at(tree, layout, renderer, at)?;
        let mut reached = tree.state.downcast_mut::<State<Key>>().selecting.reach(end)?;
        if let Some(selection) = &mut reached {
            selection.between = self.between(tree, layout, renderer, selection);
        }
        Some(reached)
    }

    /// The texts of the built rows between the ends. An end that is not built is beyond the rows on its side,
    /// which is not known: then it is all rows on both sides of the other one.
    fn between(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        selection: &Selection<Key>,
    ) -> Vec<(Key, String)> {
        let place = |end: &End<Key>| self.keys.iter().position(|key| *key == end.row);
        let rows = match (place(&selection.anchor), place(&selection.focus)) {
            (Some(from), Some(to)) => from.min(to) + 1..from.max(to),
            _ => 0..self.keys.len(),
        };
        let built = self.keys.iter().zip(&mut self.rows).zip(&mut tree.children).zip(layout.children());
        let texts = built.skip(rows.start).take(rows.len()).map(|(((key, row), state), layout)| {
            let mut reader = Reader::reading();
            row.as_widget_mut().operate(state, layout, renderer, &mut reader);
            (*key, reader.text())
        });
        texts.collect()
    }

    /// Gives each row its selected part to draw.
    fn mark(&mut self, tree: &mut Tree, nodes: &[layout::Node], renderer: &Renderer) {
        let is_any = self.selected.as_ref().is_some_and(|selected| selected.is_any);
        let selecting = &mut tree.state.downcast_mut::<State<Key>>().selecting;
        if !std::mem::replace(&mut selecting.is_marked, is_any) && !is_any {
            return;
        }
        let Some(selected) = &self.selected else { return };
        let rows = self.rows.iter_mut().zip(&mut tree.children).zip(&self.keys).zip(nodes);
        for (((row, state), &key), node) in rows {
            let mut reader = Reader::marking((selected.part)(key).filter(|_| is_any));
            row.as_widget_mut().operate(state, Layout::new(node), renderer, &mut reader);
        }
    }
}

impl<Key: Copy + Eq + Hash + 'static, Message> List<'_, Key, Message> {
    /// Marks the matches in their row, and scrolls to the wanted one, once for each step.
    fn mark_found(&mut self, tree: &mut Tree, nodes: &[layout::Node], renderer: &Renderer) {
        let Self { keys, rows, marking, .. } = self;
        let State { scroll, marked, .. } = tree.state.downcast_mut::<State<Key>>();
        let row = marking.as_ref().map(|marking| marking.row);
        let mut operate = |key: Key, operation: &mut dyn Operation| {
            let at = keys.iter().position(|known| *known == key);
            let row = at.and_then(|at| Some((rows.get_mut(at)?, tree.children.get_mut(at)?, nodes.get(at)?)));
            if let Some((row, state, node)) = row {
                row.as_widget_mut().operate(state, Layout::new(node), renderer, operation);
            }
        };
        if let Some(before) = marked.row.filter(|before| Some(*before) != row) {
            operate(before, &mut Marker::new(&|_| Vec::new(), None));
        }
        marked.row = row;
        let Some(marking) = marking else {
            *marked = mark::Marked::default();
            return;
        };
        let mut counter = Marker::new(&*marking.find, None);
        operate(marking.row, &mut counter);
        let of = counter.count;
        let Some(at) = marking.wanted.among(of) else { return };
        let mut marker = Marker::new(&*marking.find, Some(at));
        operate(marking.row, &mut marker);
        marked.place = Some((mark::CurrentMatch { row: marking.row, at, of }, marking.act));
        if let Some(bounds) = marker.bounds.filter(|_| marked.act != Some(marking.act)) {
            marked.act = Some(marking.act);
            operate(marking.row, &mut Sideways(bounds));
            scroll.bring(bounds.y, bounds.height);
        }
    }
}

impl<Key, Message> Widget<Message, Theme, Renderer> for List<'_, Key, Message>
where
    Key: Copy + Eq + Hash + 'static,
{
    fn size(&self) -> Size<Length> {
        Size::new(Length::Fill, Length::Fill)
    }

    fn tag(&self) -> tree::Tag {
        tree::Tag::of::<State<Key>>()
    }

    fn state(&self) -> tree::State {
        let scroll = Scroll::<Key> {
            places: self.keys.iter().map(|&key| BuiltRow { key, top: 0.0, height: 0.0 }).collect(),
            of: self.of,
            ..Scroll::default()
        };
        tree::State::new(State {
            scroll,
            selecting: Selecting::default(),
            marked: mark::Marked::default(),
            moves: Moves::default(),
        })
    }

    fn children(&self) -> Vec<Tree> {
        self.rows.iter().map(Tree::new).collect()
    }

    /// Each row's state is kept by its key.
    fn diff(&self, tree: &mut Tree) {
        let scroll = scroller_mut::<Key>(&mut tree.state);
        if scroll.of != self.of {
            tree.state = self.state();
            tree.children = self.children();
            return;
        }
        let old = scroll.places.iter().map(|place| place.key).zip(tree.children.drain(..));
        let mut old: HashMap<Key, Tree> = old.collect();
        tree.children = self
            .keys
            .iter()
            .zip(&self.rows)
            .map(|(key, row)| match old.remove(key) {
                None => Tree::new(row),
                Some(mut known) => {
                    known.diff(row);
                    known
                }
            })
            .collect();
        // The layout computes their places; the keys must be known to the next diff.
        let known: HashMap<Key, BuiltRow<Key>> =
            scroll.places.iter().map(|place| (place.key, *place)).collect();
        let place = |&key| known.get(&key).copied().unwrap_or(BuiltRow { key, top: 0.0, height: 0.0 });
        scroll.places = self.keys.iter().map(place).collect();
    }

    fn layout(&mut self, tree: &mut Tree, renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        let size = limits.max();
        let width = self.column(size.width);
        let left = (size.width - width) / 2.0;
        let limits = |height| layout::Limits::new(Size::ZERO, Size::new(width, height));
        let mut top = 0.0;
        let mut places = Vec::with_capacity(self.rows.len());
        let mut nodes = Vec::with_capacity(self.rows.len());
        for ((row, state), &key) in self.rows.iter_mut().zip(&mut tree.children).zip(&self.keys) {
            let most = if (self.is_fitting)(key) { size.height.floor() } else { f32::INFINITY };
            let node = row.as_widget_mut().layout(state, renderer, &limits(most));
            // Rows begin at whole pixels.
            let height = node.size().height.ceil();
            places.push(BuiltRow { key, top, height });
            nodes.push(node);
            top += height;
        }
        let scroll = scroller_mut::<Key>(&mut tree.state);
        scroll.stand_in = self.stand_in;
        let held = scroll.hold(self.holding);
        scroll.lay_out(places, self.hidden, size.height);
        if let Some(row) = held {
            scroll.reveal(row);
        }
        scroll.show(self.showing);
        let tops = scroll.places.iter().map(|place| scroll.base + place.top);
        let nodes = nodes.into_iter().zip(tops).map(|(node, top)| node.move_to(Point::new(left, top)));
        let nodes: Vec<layout::Node> = nodes.collect();
        self.mark(tree, &nodes, renderer);
        self.mark_found(tree, &nodes, renderer);
        layout::Node::with_children(size, nodes)
    }

    fn operate(
        &mut self,
        tree: &mut Tree,
        layout: Layout<'_>,
        renderer: &Renderer,
        operation: &mut dyn Operation,
    ) {
        let bounds = layout.bounds();
        let scroll = scroller_mut::<Key>(&mut tree.state);
        let translation = Vector::new(0.0, scroll.shift());
        operation.scrollable(Some(&self.id), bounds, bounds, translation, scroll);
        operation.traverse(&mut |operation| {
            for ((row, state), layout) in self.rows.iter_mut().zip(&mut tree.children).zip(layout.children())
            {
                row.as_widget_mut().operate(state, layout, renderer, operation);
            }
        });
    }

    fn update(
        &mut self,
        tree: &mut Tree,
        event: &Event,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        renderer: &Renderer,
        clipboard: &mut dyn Clipboard,
        shell: &mut Shell<'_, Message>,
        _viewport: &Rectangle,
    ) {
        let bounds = layout.bounds();
        let scroll = scroller_mut::<Key>(&mut tree.state);
        if grab(scroll, event, bounds, cursor) {
            shell.capture_event();
            shell.request_redraw();
        } else {
            let translation = Vector::new(0.0, scroll.shift());
            let inner = inner_cursor(cursor, bounds, translation);
            let viewport = bounds + translation;
            if let Event::Window(window::Event::RedrawRequested(_)) = event {
                let seen = scroll.visible();
                let rows = self.rows.iter_mut().zip(&mut tree.children).zip(layout.children());
                for ((row, state), layout) in rows.skip(seen.start).take(seen.len()) {
                    row.as_widget_mut().operate(state, layout, renderer, &mut Shown(viewport));
                }
            }
            for ((row, state), layout) in self.rows.iter_mut().zip(&mut tree.children).zip(layout.children())
            {
                row.as_widget_mut()
                    .update(state, event, layout, inner, renderer, clipboard, shell, &viewport);
            }
            self.select(tree, event, layout, cursor, renderer, shell);
        }
        let scroll = scroller_mut::<Key>(&mut tree.state);
        if let Event::Mouse(mouse::Event::WheelScrolled { delta }) = event
            && !shell.is_event_captured()
            && cursor.is_over(bounds)
        {
            let by = match delta {
                mouse::ScrollDelta::Lines { y, .. } => -y * NOTCH,
                mouse::ScrollDelta::Pixels { y, .. } => -y,
            };
            if scroll.scroll(by) {
                shell.request_redraw();
            }
            shell.capture_event();
        }
        if let Some(view) = scroll.news() {
            shell.publish((self.on_view)(view));
        }
        let place = tree.state.downcast_mut::<State<Key>>().marked.news();
        if let (Some(place), Some(marking)) = (place, &self.marking) {
            shell.publish((marking.on_place)(place));
        }
    }

    fn draw(
        &self,
        tree: &Tree,
        renderer: &mut Renderer,
        theme: &Theme,
        style: &renderer::Style,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        _viewport: &Rectangle,
    ) {
        let bounds = layout.bounds();
        let State { scroll, moves, .. } = tree.state.downcast_ref::<State<Key>>();
        let translation = Vector::new(0.0, scroll.shift());
        let inner = inner_cursor(cursor, bounds, translation);
        let viewport = bounds + translation;
        let layer = moves.layer(bounds, self.column(bounds.width), scroll.shift());
        renderer.with_layer(layer, |renderer| {
            renderer.with_translation(Vector::new(0.0, -scroll.shift()), |renderer| {
                let rows = self.rows.iter().zip(&tree.children).zip(layout.children());
                let seen = scroll.visible();
                for ((row, state), layout) in rows.skip(seen.start).take(seen.len()) {
                    row.as_widget().draw(state, renderer, theme, style, layout, inner, &viewport);
                }
            });
        });
        // It is beside the rows, so it needs no layer above theirs.
        if let Some(handle) = handle(scroll, bounds) {
            let quad = renderer::Quad {
                bounds: handle,
                border: Border { radius: radius::KEY.into(), ..Border::default() },
                shadow: Shadow::default(),
                snap: true,
            };
            renderer.fill_quad(quad, tokens(theme).line);
        }
    }

    fn mouse_interaction(
        &self,
        tree: &Tree,
        layout: Layout<'_>,
        cursor: mouse::Cursor,
        _viewport: &Rectangle,
        renderer: &Renderer,
    ) -> mouse::Interaction {
        let bounds = layout.bounds();
        let translation = Vector::new(0.0, scroller::<Key>(tree).shift());
        let inner = inner_cursor(cursor, bounds, translation);
        let viewport = bounds + translation;
        let rows = self.rows.iter().zip(&tree.children).zip(layout.children());
        rows.map(|((row, state), layout)| {
            row.as_widget().mouse_interaction(state, layout, inner, &viewport, renderer)
        })
        .max()
        .unwrap_or_default()
    }

    fn overlay<'b>(
        &'b mut self,
        tree: &'b mut Tree,
        layout: Layout<'b>,
        renderer: &Renderer,
        viewport: &Rectangle,
        translation: Vector,
    ) -> Option<overlay::Element<'b, Message, Theme, Renderer>> {
        let shift = scroller::<Key>(tree).shift();
        let translation = translation - Vector::new(0.0, shift);
        overlay::from_children(&mut self.rows, tree, layout, renderer, viewport, translation)
    }
}

/// The pointer for the rows: outside of the view it is over none.
fn inner_cursor(cursor: mouse::Cursor, bounds: Rectangle, translation: Vector) -> mouse::Cursor {
    match cursor.position_over(bounds) {
        Some(position) => mouse::Cursor::Available(position + translation),
        None => cursor.levitate() + translation,
    }
}

fn handle<Key: Copy + PartialEq>(scroll: &Scroll<Key>, bounds: Rectangle) -> Option<Rectangle> {
    let (top, height) = scroll.handle()?;
    let x = bounds.x + bounds.width - space::SCROLLBAR - 2.0;
    // On whole pixels, so that a new row does not repaint it.
    Some(Rectangle { x, y: (bounds.y + top).round(), width: space::SCROLLBAR, height: height.round() })
}

/// Handles events of the scrollbar; returns whether the event was for it.
fn grab<Key: Copy + PartialEq>(
    scroll: &mut Scroll<Key>,
    event: &Event,
    bounds: Rectangle,
    cursor: mouse::Cursor,
) -> bool {
    let Some(position) = cursor.land().position() else { return false };
    match (event, scroll.grabbed) {
        (Event::Mouse(mouse::Event::ButtonPressed(mouse::Button::Left)), None) => {
            let Some(handle) = handle(scroll, bounds) else { return false };
            let lane = Rectangle { x: handle.x - 4.0, width: handle.width + 6.0, ..bounds };
            if !cursor.is_over(lane) {
                return false;
            }
            let is_on_handle = (handle.y..=handle.y + handle.height).contains(&position.y);
            let grip = if is_on_handle { position.y - handle.y } else { handle.height / 2.0 };
            scroll.grabbed = Some(grip);
            scroll.drag(position.y - grip - bounds.y);
            true
        }
        (Event::Mouse(mouse::Event::CursorMoved { .. }), Some(grip)) => {
            scroll.drag(position.y - grip - bounds.y);
            true
        }
        (Event::Mouse(mouse::Event::ButtonReleased(mouse::Button::Left)), Some(_)) => {
            scroll.grabbed = None;
            true
        }
        _ => false,
    }
}

impl<'a, Key, Message> From<List<'a, Key, Message>> for Element<'a, Message>
where
    Key: Copy + Eq + Hash + 'static,
    Message: 'a,
{
    fn from(list: List<'a, Key, Message>) -> Self {
        Self::new(list)
    }
}
