//! A list of which only a window is built: layout costs what is near the view, however long the list is.
//!
//! It anchors at the row a person looks at, or at the end: rows that come, go or grow elsewhere move nothing in view.

mod scroll;
mod select;

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
use scroll::{Place, Scroll};
use select::{Reader, Selecting};
use std::{cell::Cell, collections::HashMap, hash::Hash, ops::Range};
use uuid::Uuid;

/// Rows beyond the view that should be built.
const MARGIN: usize = 8;
/// Of one notch of the wheel, in logical pixels.
const NOTCH: f32 = 60.0;

/// See the module.
pub struct List<'a, Key, Message> {
    id: Id,
    of: Uuid,
    keys: Vec<Key>,
    rows: Vec<Element<'a, Message>>,
    hidden: (usize, usize),
    width: f32,
    /// Beside it, at least.
    margin: f32,
    is_fitting: fn(Key) -> bool,
    showing: Option<Key>,
    holding: Option<(Key, u32)>,
    stand_in: Option<Key>,
    on_view: Box<dyn Fn(View<Key>) -> Message + 'a>,
    selected: Option<Selected<'a, Key, Message>>,
}

/// What is drawn as selected, and who is told when that should change.
struct Selected<'a, Key, Message> {
    is_any: bool,
    part: Box<dyn Fn(Key) -> Option<Range<usize>> + 'a>,
    on_select: Box<dyn Fn(Option<Selection<Key>>) -> Message + 'a>,
}

/// What a list remembers from frame to frame.
struct State<Key> {
    scroll: Scroll<Key>,
    selecting: Selecting<Key>,
    moves: Moves,
}

/// When all rows have moved, all of the list is painted anew as one part. iced's software renderer would find a part for nearly
/// each paragraph instead, and each part costs a pass over all pixels of the window, for its mask, besides what is painted in it. It
/// takes a layer that has other bounds than in the frame before as one part, so these get another width: there is nothing beside
/// the column.
#[derive(Debug, Default)]
struct Moves {
    shift: Cell<f32>,
    count: Cell<u8>,
}

impl Moves {
    /// The bounds of the layer of a list whose rows have this width and are drawn with this shift.
    fn layer(&self, bounds: Rectangle, width: f32, shift: f32) -> Rectangle {
        if self.shift.replace(shift).to_bits() != shift.to_bits() {
            // A window may have the pixels of some frames ago.
            self.count.set((self.count.get() + 1) % 5);
        }
        let width = (width + space::XL).min(bounds.width);
        let x = bounds.x + ((bounds.width - width) / 2.0).floor();
        Rectangle { x, width: width - f32::from(self.count.get()) / 64.0, ..bounds }
    }
}

impl<'a, Key, Message> List<'a, Key, Message> {
    /// `hidden` rows before and after are not built; `on_view` is told when that should change.
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
        }
    }

    /// Text in it can be selected. `part` says which bytes of a row's text are, if any row has some; `on_select` is told what the
    /// person selects, or that nothing is selected any more.
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

    /// With at least so much room on either side.
    #[must_use]
    pub fn margin(self, margin: f32) -> Self {
        Self { margin, ..self }
    }

    /// These rows are no higher than the view: each can be seen whole.
    #[must_use]
    pub fn fitting(self, is_fitting: fn(Key) -> bool) -> Self {
        Self { is_fitting, ..self }
    }

    /// What it lists: for another one it begins at its end, wherever it stood.
    #[must_use]
    pub fn of(self, of: Uuid) -> Self {
        Self { of, ..self }
    }

    /// The row that stands for what is not here yet: what a person looks at stays in place when that comes.
    #[must_use]
    pub fn stand_in(self, row: Key) -> Self {
        Self { stand_in: Some(row), ..self }
    }

    /// Brings a row into view, once: what is said with the next layouts changes nothing until it was `None`.
    #[must_use]
    pub fn showing(self, row: Option<Key>) -> Self {
        Self { showing: row, ..self }
    }

    /// The row in which a person has just opened or closed something, and the number of that act: its top stays where it is, unless
    /// what was opened would end below the view and there is room above the row. Each act has an effect once.
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
    /// How wide rows are in a list of this width.
    fn column(&self, width: f32) -> f32 {
        (width - 2.0 * self.margin).min(self.width).max(0.0)
    }
}

impl<Key: Copy + Eq + Hash + 'static, Message> List<'_, Key, Message> {
    /// The place in a row that is nearest to a point of the window, among the rows that are seen.
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

    /// What the pointer selects, unless the event was for something in a row.
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
        tree.state.downcast_mut::<State<Key>>().selecting.reach(end)
    }

    /// Has each row draw what is selected of it.
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
            places: self.keys.iter().map(|&key| Place { key, top: 0.0, height: 0.0 }).collect(),
            of: self.of,
            ..Scroll::default()
        };
        tree::State::new(State { scroll, selecting: Selecting::default(), moves: Moves::default() })
    }

    fn children(&self) -> Vec<Tree> {
        self.rows.iter().map(Tree::new).collect()
    }

    /// Each row keeps its state by its key.
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
        // Where they lie, layout says; which they are must be known to the next diff.
        let known: HashMap<Key, Place<Key>> = scroll.places.iter().map(|place| (place.key, *place)).collect();
        let place = |&key| known.get(&key).copied().unwrap_or(Place { key, top: 0.0, height: 0.0 });
        scroll.places = self.keys.iter().map(place).collect();
    }

    fn layout(&mut self, tree: &mut Tree, renderer: &Renderer, limits: &layout::Limits) -> layout::Node {
        let size = limits.max();
        let width = self.column(size.width);
        let left = ((size.width - width) / 2.0).round();
        let limits = |height| layout::Limits::new(Size::ZERO, Size::new(width, height));
        let mut top = 0.0;
        let mut places = Vec::with_capacity(self.rows.len());
        let mut nodes = Vec::with_capacity(self.rows.len());
        for ((row, state), &key) in self.rows.iter_mut().zip(&mut tree.children).zip(&self.keys) {
            let most = if (self.is_fitting)(key) { size.height } else { f32::INFINITY };
            let node = row.as_widget_mut().layout(state, renderer, &limits(most));
            let height = node.size().height;
            places.push(Place { key, top, height });
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
        if let Some(view) = scroll.news(MARGIN) {
            shell.publish((self.on_view)(view));
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
        // Beside the rows, so it needs no layer above theirs.
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

/// The pointer as rows see it: outside the view it is over none of them.
fn inner_cursor(cursor: mouse::Cursor, bounds: Rectangle, translation: Vector) -> mouse::Cursor {
    match cursor.position_over(bounds) {
        Some(position) => mouse::Cursor::Available(position + translation),
        None => cursor.levitate() + translation,
    }
}

fn handle<Key: Copy + PartialEq>(scroll: &Scroll<Key>, bounds: Rectangle) -> Option<Rectangle> {
    let (top, height) = scroll.handle()?;
    let x = bounds.x + bounds.width - space::SCROLLBAR - 2.0;
    // On whole pixels: otherwise each row that comes paints it anew.
    Some(Rectangle { x, y: (bounds.y + top).round(), width: space::SCROLLBAR, height: height.round() })
}

/// Whether the event was for the scrollbar.
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
