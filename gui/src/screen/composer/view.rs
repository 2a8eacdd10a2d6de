//! Draws the composer.

use super::{About, Attached, Composer, Held, Message, ModeChoice, ModelChoice, Permission, Stance};
use crate::{
    effect::field,
    font,
    picker::Choice,
    theme::{size, space, style},
    widget::{
        Element, Look, action, beside,
        elide::elided,
        field::field,
        key, nothing,
        pill::pill,
        report,
        resting_caret::resting_caret,
        scrolls, secondary, word,
        words_over::with_words_over,
        writing::{Said, binding},
    },
    words::{self, counted},
};
use abide_host::text::visible_line;
use iced::{
    Bottom, Center, Fill, Shrink, Theme, Top,
    widget::{
        Column, Container, Row, column, container, pick_list, row, text::Wrapping, text_editor,
        text_editor::Binding,
    },
};
use std::fmt;

/// The placeholder of a field for an answer.
pub const ANSWER: &str = "Your answer";

/// The label of the button that stops the task, and its label while Esc stops.
pub const STOP: &str = "Stop";
pub const STOPS: &str = "Esc again stops";

impl Composer {
    /// `models` are the models to choose from; `model` and `mode` are the conversation's. While a card waits,
    /// the composer is one row, so that the card has the room; in a low window it always is. Then the
    /// settings are one click away.
    #[must_use]
    pub fn view<'a>(&'a self, stance: Stance<'_>, about: &About<'a>, look: Look) -> Element<'a, Message> {
        let is_low = look.is_low;
        let is_waiting = matches!(stance, Stance::Question(..));
        let needs_person = match stance {
            // The card above needs the room.
            Stance::Working(_) => stance.needs_below() > 0,
            stance => stance.needs_person(),
        };
        let is_row = needs_person || is_low;
        let is_empty = self.content.text().trim().is_empty();
        let has_selection = self.content.selection().is_some();
        let mut pastes = self.pasted.chips().map(paste_chip).peekable();
        let folds = pastes.peek().is_some();
        // A row of text is as high as the buttons beside it.
        let above = match (is_row, is_low) {
            (false, _) => space::XS,
            (true, false) => 5.5,
            (true, true) => 1.5,
        };
        // It always takes text: a draft until it can be sent.
        let meant = |said| match said {
            Said::Back => Message::WrittenBefore { is_back: true },
            Said::Forth => Message::WrittenBefore { is_back: false },
            Said::Submitted => Message::Submitted,
            Said::SubmittedOtherwise => Message::ModifySubmitted,
        };
        let editor = text_editor(&self.content)
            .id(field::COMPOSER)
            .size(size::PROSE)
            .line_height(size::LINE_HEIGHT)
            .wrapping(Wrapping::WordOrGlyph)
            .padding([above, space::XS])
            .height(Shrink)
            .min_height(if is_row { space::EDITOR_ROW } else { space::EDITOR_LEAST })
            .max_height(look.tallest)
            .style(style::editor(is_waiting))
            .key_binding(move |press| {
                let meant = binding(&press, is_empty, has_selection, &meant)?;
                // iced would copy the marks.
                let copies = || Binding::Custom(Message::SelectionCopied);
                Some(match meant {
                    Binding::Copy if folds => copies(),
                    Binding::Cut if folds && has_selection => {
                        Binding::Sequence(vec![copies(), Binding::Delete])
                    }
                    meant => meant,
                })
            })
            .on_action(Message::Edited);
        let editor = with_words_over(resting_caret(editor), self.placeholder(stance, about, above));
        let editor = report::caret(editor, self.has_caret, Message::Focused);
        let buttons = self.buttons(stance, about, look);
        let can_choose = matches!(stance, Stance::Ready) && is_low && !about.is_new;
        let shows_choices = can_choose && self.shows_choices;
        // The editor keeps its place in the widget tree, and so its caret.
        let (head, foot) = if is_row {
            let sign = if shows_choices { "−" } else { "+" };
            let more = can_choose.then(|| word(sign, Message::ChoicesToggled).into());
            let foot = if shows_choices || about.is_new && is_low {
                let choices = column![].extend(self.choices(stance, about)).push(self.note(stance, about));
                Some(choices.spacing(space::XS).into())
            } else {
                self.kept(stance).filter(|_| !look.is_least)
            };
            (row![editor].extend(more).push(buttons), foot)
        } else {
            let note = row![container(self.note(stance, about)).width(Fill), buttons];
            let note = note.spacing(space::S).align_y(Center);
            let foot = column![].extend(self.choices(stance, about)).push(note).spacing(space::XS);
            (row![editor], Some(foot.into()))
        };
        let head = head.spacing(space::S).align_y(if is_row { Bottom } else { Top });
        let card: fn(&Theme) -> container::Style =
            if is_waiting { style::composer_waiting } else { style::composer };
        let files = self.attached.iter().enumerate().map(|(at, file)| file_chip(at, file));
        let mut chips = pastes.chain(files).peekable();
        let chips = chips.peek().is_some().then(|| {
            let chips = Row::with_children(chips).spacing(space::XS).wrap().vertical_spacing(space::XS);
            container(scrolls(chips)).max_height(look.tallest).into()
        });
        let parts = [Some(head.into()), chips, foot];
        container(Column::with_children(parts.into_iter().flatten()).spacing(space::S))
            .padding(if is_row && is_low { space::XS } else { space::M })
            .width(Fill)
            .style(card)
            .into()
    }

    /// The empty field's placeholder, with an ellipsis at its end: iced's own is cut.
    fn placeholder<'a>(&self, stance: Stance<'_>, about: &About<'_>, above: f32) -> Element<'a, Message> {
        if !self.content.text().is_empty() {
            return nothing();
        }
        let words = self.hint(stance, about);
        let is_waiting = matches!(stance, Stance::Question(..));
        let words = elided(words, size::PROSE, font::PROSE);
        let words = words.style(if is_waiting { style::needs_you } else { style::muted });
        container(words).padding([above, space::XS]).into()
    }

    fn hint(&self, stance: Stance<'_>, about: &About<'_>) -> String {
        match stance {
            _ if self.is_sending() => "Sending…".to_owned(),
            Stance::Ready if about.is_new => "What shall the agent do?".to_owned(),
            Stance::Ready => "What next?".to_owned(),
            // The banner says what there is to say.
            Stance::Away => String::new(),
            Stance::Working(_) if stance.needs_below() > 0 => match stance.needs_below() {
                1 => "A sub-task needs you: answer above, or write to the agent.".to_owned(),
                more => format!("{more} sub-tasks need you: answer above, or write to the agent."),
            },
            Stance::Working(_) => "Write to the agent while it works, or close this window.".to_owned(),
            // Letters are the field's while it has the caret.
            Stance::Approval(_) if about.has_caret => {
                "Write to the agent, or decide above: Esc, then A or R.".to_owned()
            }
            Stance::Approval(_) => "Decide above, or write to the agent.".to_owned(),
            Stance::Paused(_) => "Paused. Write to the agent, or let it go on.".to_owned(),
            Stance::Question(..) => ANSWER.to_owned(),
        }
    }

    /// What becomes of the text: a draft is kept as one, and a task at work may get it as its new
    /// instructions.
    fn kept<'a>(&self, stance: Stance<'_>) -> Option<Element<'a, Message>> {
        if matches!(stance, Stance::Question(..)) {
            return match self.held()? {
                Held::Answer => None,
                Held::Draft => Some(secondary("This is a draft. Enter twice answers with it.").into()),
                Held::Armed => Some(secondary("Enter answers with this draft.").into()),
            };
        }
        let is_kept = matches!(stance, Stance::Working(_) | Stance::Approval(_) | Stance::Paused(_))
            && !self.content.text().trim().is_empty();
        is_kept.then(|| {
            let modify = word("Make it the task's new instructions", Message::ModifySubmitted);
            row![modify, key("Ctrl ↵")].align_y(Center).into()
        })
    }

    /// What the permission means, or what becomes of the text.
    fn note<'a>(&self, stance: Stance<'_>, about: &About<'_>) -> Element<'a, Message> {
        match stance {
            Stance::Ready => secondary(self.permission().meaning(about.here)).into(),
            _ => self.kept(stance).unwrap_or_else(|| secondary("").into()),
        }
    }

    fn choices<'a>(&'a self, stance: Stance<'_>, about: &About<'a>) -> Option<Element<'a, Message>> {
        if !matches!(stance, Stance::Ready) {
            return None;
        }
        let here = about.here;
        let mut choices: Vec<Element<'a, Message>> = Vec::new();
        if about.is_new {
            let browse = word("…", Message::ChoosePressed(Choice::Folder));
            choices.push(row![self.folder_field(), browse].spacing(space::XS).align_y(Center).into());
            choices.extend(
                here.filter(|here| here.is_work_tree).map(|here| self.worktree(here.branch.as_deref())),
            );
        }
        choices.push(self.model_picker(about));
        let permission = self.permission();
        let list = pick_list(Permission::offered(here), Some(permission), Message::PermissionPicked);
        choices.push(pill(list, permission.to_string()));
        choices.push(self.setup_button(about));
        let choices = Row::with_children(choices).spacing(space::S).align_y(Center);
        Some(choices.wrap().vertical_spacing(space::XS).into())
    }

    fn model_picker<'a>(&'a self, about: &About<'a>) -> Element<'a, Message> {
        let chosen =
            self.model.clone().or_else(|| about.model.map(|model| ModelChoice::Named(model.to_owned())));
        let mut models = self.models(about.persona, about.catalog);
        let model = chosen.or_else(|| models.first().cloned());
        // The conversation's model may be gone from the list.
        models.extend(model.clone().filter(|model| !models.contains(model)));
        let models: Vec<Fitted> = models.into_iter().map(Fitted).collect();
        let model = model.map(Fitted);
        let shown = model.as_ref().map(Fitted::to_string).unwrap_or_default();
        pill(pick_list(models, model, |Fitted(model)| Message::ModelPicked(model)), shown)
    }

    /// Whether the conversation works in the folder itself, on this branch, or in a worktree of its own.
    fn worktree<'a>(&self, branch: Option<&str>) -> Element<'a, Message> {
        let choice =
            |is_own| WorkTree { is_own, branch: branch.map(|branch| visible_line(branch).into_owned()) };
        let chosen = choice(self.setup.worktree);
        let shown = chosen.to_string();
        let list = pick_list([false, true].map(choice), Some(chosen), |choice| {
            Message::WorktreePicked(choice.is_own)
        });
        pill(list, shown)
    }

    /// The folder's field. Without the keyboard it shows the end of a path that is too long; iced's own shows
    /// the beginning.
    fn folder_field(&self) -> Element<'_, Message> {
        let shape = (size::SECONDARY, [4.0, 8.0]);
        let hint = "Folder: a scratch one";
        let input = field(hint, shape, &self.workspace, Message::WorkspaceChanged, |input| {
            input.id(field::FOLDER).on_submit(Message::ChoiceEntered).width(space::FOLDER)
        });
        let input = report::caret(input, self.folder_has_caret, Message::FolderFocused);
        let end = if self.folder_has_caret || self.workspace.is_empty() {
            nothing()
        } else {
            let path = elided(&*self.workspace, size::SECONDARY, font::PROSE).from_left();
            let path = container(path).padding([0.0, 7.0]).center_y(Fill).style(style::field_ground);
            // The field's border stays in view.
            container(path).padding(1).into()
        };
        with_words_over(input, end)
    }

    /// Names what is chosen of what few tasks choose.
    fn setup_button<'a>(&self, about: &About<'_>) -> Element<'a, Message> {
        let mode = self.mode_of_next((about.persona, about.mode), about.catalog);
        let mut chosen = self.setup.summary(mode);
        if mode != about.catalog.default_mode() {
            chosen.insert(0, ModeChoice(mode).to_string());
        }
        chosen.extend(self.max_steps.map(|steps| match steps {
            0 => "no limit of steps".to_owned(),
            steps => counted(steps.into(), "step"),
        }));
        let words =
            if chosen.is_empty() { "+ More".to_owned() } else { format!("+ {}", chosen.join(" · ")) };
        word(words, Message::SetupPressed).into()
    }

    fn buttons<'a>(&self, stance: Stance<'_>, about: &About<'_>, look: Look) -> Element<'a, Message> {
        let action = |label, name: Option<Container<'a, Message>>| {
            action(label, name.filter(|_| look.has_caps)).padding(style::button_padding(look.is_low))
        };
        let press = |message| about.is_steady.then_some(message);
        let enter = || key("↵").style(style::key_on_accent);
        let stop = || {
            let escape = key("Esc").style(if about.escape_stops { style::key_bad } else { style::key_off });
            let label = if about.is_stop_armed { STOPS } else { STOP };
            let stop = action(label, Some(escape)).style(style::danger);
            stop.on_press_maybe(press(Message::StopPressed)).passed_by()
        };
        let is_empty = self.content.text().trim().is_empty();
        let can_send = about.can_send && !self.is_sending() && !is_empty;
        // Without a text there is nothing to send to a task at work.
        let send = || -> Element<'a, Message> {
            if is_empty {
                return nothing();
            }
            let send = action("Send", Some(enter())).style(style::primary);
            send.on_press_maybe(can_send.then_some(Message::Submitted)).into()
        };
        let buttons = match stance {
            Stance::Ready => row![
                action("Send", Some(enter()))
                    .style(style::primary)
                    .on_press_maybe(can_send.then_some(Message::Submitted))
            ],
            Stance::Away => row![action("Send", Some(enter())).style(style::primary)],
            Stance::Working(_) | Stance::Approval(_) if !stance.can_go_on() => {
                row![
                    send(),
                    action("Pause", None).style(style::quiet).on_press_maybe(press(Message::PausePressed)),
                    stop()
                ]
            }
            Stance::Working(_) | Stance::Approval(_) | Stance::Paused(_) => {
                row![
                    send(),
                    action("Go on", None).style(style::primary).on_press_maybe(press(Message::ResumePressed)),
                    stop()
                ]
            }
            Stance::Question(..) => row![
                stop(),
                action("Reply", Some(enter()))
                    .style(style::primary)
                    .on_press_maybe(press(Message::Submitted).filter(|_| can_send)),
            ],
        };
        buttons.spacing(space::S).align_y(Center).into()
    }
}

/// Where a new conversation works that is begun in a git work tree.
#[derive(Clone, PartialEq)]
struct WorkTree {
    is_own: bool,
    branch: Option<String>,
}

impl fmt::Display for WorkTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_own, &self.branch) {
            (true, _) => f.write_str("new worktree"),
            (false, Some(branch)) => write!(f, "on {branch}"),
            (false, None) => f.write_str("in the folder itself"),
        }
    }
}

/// A model in a picker with limited room: of a long name the provider and the end are shown.
#[derive(Clone, PartialEq)]
struct Fitted(ModelChoice);

/// The most characters of a model's name.
pub const MAX_MODEL: usize = 30;

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&words::shortened_model(&self.0.to_string(), MAX_MODEL))
    }
}

/// The chip of an attached file, with a button to remove it.
fn file_chip<'a>(at: usize, file: &Attached) -> Element<'a, Message> {
    chip(row![beside(file.label()), cross(Message::AttachedRemoved(at))])
}

/// The chip of a folded paste, with a button to put it into the text and one to remove it.
fn paste_chip<'a>((mark, label): (char, String)) -> Element<'a, Message> {
    let unfold = word("Unfold", Message::PastedUnfolded(mark)).padding([0.0, 4.0]);
    chip(row![beside(label), unfold, cross(Message::PastedRemoved(mark))])
}

fn cross<'a>(message: Message) -> Element<'a, Message> {
    word("×", message).padding([0.0, 4.0]).into()
}

fn chip<'a>(parts: Row<'a, Message>) -> Element<'a, Message> {
    container(parts.spacing(space::XS).align_y(Center)).padding([2.0, space::S]).style(style::code).into()
}
