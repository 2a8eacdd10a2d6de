//! What few tasks choose: files, mode, persona, template, tools, steps; and the memory of few conversations.
//! All of it is behind one button, in the palette.

use super::ModeChoice;
use crate::{
    catalog::Presets,
    words::{counted, memory_meaning, memory_use},
};
use abide_client::protocol::{
    memory::MemoryUse,
    method::catalog::{PersonaInfo, TemplateInfo},
    task::Mode,
};
use abide_host::text::visible_line;
use serde::{Deserialize, Serialize};

/// The most characters of a name on the button.
const MAX_NAME: usize = 16;

/// What the person has chosen by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Setup {
    /// `None`: the template's, else the conversation's.
    pub persona: Option<String>,
    pub template: Option<String>,
    /// `None`: the template's, the persona's, else all.
    pub tools: Option<Vec<String>>,
    /// A new conversation works in a git worktree of its own.
    pub worktree: bool,
    /// Of a new conversation.
    pub memory: MemoryUse,
}

/// A change of a setup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Persona(Option<String>),
    Template(Option<String>),
    Tools(Option<Vec<String>>),
    Mode(Mode),
    /// The most steps; 0: no limit. `None`: the usual limit.
    Steps(Option<u32>),
    Memory(MemoryUse),
    /// Attaches a file that is chosen in the desktop's dialog.
    File,
}

/// A change that is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    pub group: &'static str,
    pub what: String,
    /// Whether it is so now.
    pub is_so: bool,
    pub change: Change,
}

/// The limits of steps that are offered.
const STEPS: [u32; 5] = [10, 25, 50, 100, 0];

impl Offered {
    pub(super) fn file() -> Self {
        let what = "attach a file to the prompt…".to_owned();
        Self { group: "File", what, is_so: false, change: Change::File }
    }

    pub(super) fn mode(mode: ModeChoice, is_so: bool) -> Self {
        Self { group: "Mode", what: mode.line().to_owned(), is_so, change: Change::Mode(mode.0) }
    }

    /// `usual` is the limit where nobody chooses one.
    pub(super) fn steps(chosen: Option<u32>, usual: Option<u32>) -> impl Iterator<Item = Self> {
        let named = |steps: u32| match steps {
            0 => "no limit".to_owned(),
            steps => format!("at most {}", counted(steps.into(), "step")),
        };
        let choices = std::iter::once(None).chain(STEPS.map(Some));
        choices.map(move |steps| Self {
            group: "Steps",
            what: match steps {
                Some(steps) => named(steps),
                None => format!(
                    "as usual{}",
                    usual.map(|usual| format!(": {}", named(usual))).unwrap_or_default()
                ),
            },
            is_so: steps == chosen,
            change: Change::Steps(steps),
        })
    }
}

/// What persona and template set for a task, where nothing else sets it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Defaults<'a> {
    persona: Option<&'a PersonaInfo>,
    template: Option<&'a TemplateInfo>,
}

impl<'a> Defaults<'a> {
    /// Of a conversation with this persona and mode, which the template overrides and the persona does not.
    pub(super) fn mode(self, known: Option<Mode>) -> Option<Mode> {
        self.template.and_then(|t| t.mode).or(known).or_else(|| self.persona.and_then(|p| p.mode))
    }

    pub(super) fn model(self) -> Option<&'a str> {
        self.persona.and_then(|persona| persona.model.as_deref())
    }

    pub(super) fn max_steps(self) -> Option<u32> {
        self.template.and_then(|t| t.max_steps).or_else(|| self.persona.and_then(|p| p.max_steps))
    }

    pub(super) fn tools(self) -> Option<&'a [String]> {
        let template = self.template.and_then(|template| template.tools.as_deref());
        template.or_else(|| self.persona.and_then(|persona| persona.tools.as_deref()))
    }

    /// The persona's name, if it sets the model.
    pub(super) fn model_from(self) -> Option<&'a str> {
        self.persona.filter(|persona| persona.model.is_some()).map(|persona| &*persona.name)
    }
}

impl Setup {
    /// `known` is the conversation's persona.
    pub(super) fn defaults<'a>(&'a self, known: Option<&'a str>, presets: &'a Presets) -> Defaults<'a> {
        let template = self.template.as_deref().and_then(|name| presets.template(name));
        let of_template = template.and_then(|template| template.persona.as_deref());
        let persona = self.persona.as_deref().or(of_template).or(known);
        Defaults { persona: persona.and_then(|name| presets.persona(name)), template }
    }

    /// What is chosen by name, in a few words each.
    pub(super) fn summary(&self, mode: Mode) -> Vec<String> {
        let name = |name: &Option<String>| name.as_deref().map(|name| cut(&visible_line(name)));
        let tools = self.tools.as_ref().filter(|_| mode != Mode::Chat).map(|tools| match tools.len() {
            0 => "no tools".to_owned(),
            count => counted(count as u64, "tool"),
        });
        let memory = (self.memory != MemoryUse::Normal).then(|| memory_use(self.memory).to_owned());
        [name(&self.persona), name(&self.template), tools, memory].into_iter().flatten().collect()
    }

    /// Personas, templates and tools, for a conversation with the persona `known`.
    pub(super) fn offered(&self, known: Option<&str>, presets: &Presets) -> Vec<Offered> {
        let mut all = self.personas(known, presets);
        all.extend(self.templates(presets));
        all.extend(self.tools(known, presets));
        all
    }

    /// How a new conversation can take part in the memory.
    pub(super) fn memory_uses(&self) -> [Offered; 3] {
        [MemoryUse::Normal, MemoryUse::NoRecall, MemoryUse::Private].map(|memory| Offered {
            group: "Memory",
            what: about(memory_use(memory), memory_meaning(memory).trim_end_matches('.')),
            is_so: self.memory == memory,
            change: Change::Memory(memory),
        })
    }

    fn personas(&self, known: Option<&str>, presets: &Presets) -> Vec<Offered> {
        let none = known.map_or_else(|| "none".to_owned(), |name| format!("the conversation's: {name}"));
        let offer = |what: String, name: Option<&str>| Offered {
            group: "Persona",
            what: visible_line(&what).into_owned(),
            is_so: self.persona.as_deref() == name,
            change: Change::Persona(name.map(str::to_owned)),
        };
        let listed = presets.personas.iter().map(|persona| {
            let what = match &persona.problem {
                Some(problem) => format!("{}: cannot be used: {problem}", persona.name),
                None => about(&persona.name, &persona.description),
            };
            offer(what, Some(&persona.name))
        });
        let lost = self.persona.as_deref().filter(|name| presets.persona(name).is_none());
        let lost = lost.map(|name| offer(format!("{name}: not found"), Some(name)));
        std::iter::once(offer(none, None)).chain(listed).chain(lost).collect()
    }

    fn templates(&self, presets: &Presets) -> Vec<Offered> {
        let offer = |what: String, name: Option<&str>| Offered {
            group: "Template",
            what: visible_line(&what).into_owned(),
            is_so: self.template.as_deref() == name,
            change: Change::Template(name.map(str::to_owned)),
        };
        let listed = presets
            .templates
            .iter()
            .map(|template| offer(about(&template.name, first_line(&template.prompt)), Some(&template.name)));
        let lost = self.template.as_deref().filter(|name| presets.template(name).is_none());
        let lost = lost.map(|name| offer(format!("{name}: not found"), Some(name)));
        let all: Vec<Offered> = listed.chain(lost).collect();
        let none = (!all.is_empty()).then(|| offer("none".to_owned(), None));
        none.into_iter().chain(all).collect()
    }

    fn tools(&self, known: Option<&str>, presets: &Presets) -> Vec<Offered> {
        if presets.tools.is_empty() {
            return Vec::new();
        }
        let defaults = self.defaults(known, presets);
        let all: Vec<String> = presets.tools.iter().map(|tool| tool.name.clone()).collect();
        let usual = match (defaults.tools(), defaults.template, defaults.persona) {
            (None, ..) => "all".to_owned(),
            (_, Some(template), _) if template.tools.is_some() => format!("those of {}", template.name),
            (_, _, persona) => format!("those of {}", persona.map_or("", |persona| &persona.name)),
        };
        let unnamed = presets.tools.iter().filter(|tool| !tool.is_named_only());
        let unnamed: Vec<String> = unnamed.map(|tool| tool.name.clone()).collect();
        let chosen = self.tools.as_deref().or_else(|| defaults.tools()).unwrap_or(&unnamed);
        let offer = |what: String, is_so, names: Option<Vec<String>>| Offered {
            group: "Tools",
            what: visible_line(&what).into_owned(),
            is_so,
            change: Change::Tools(names),
        };
        let whole = [
            offer(usual, self.tools.is_none(), None),
            offer("none".to_owned(), chosen.is_empty(), Some(Vec::new())),
        ];
        let each = presets.tools.iter().map(|tool| {
            let has_it = chosen.contains(&tool.name);
            // In the daemon's order.
            let wanted = |name: &&String| chosen.contains(name) != (**name == tool.name);
            let names = all.iter().filter(wanted).cloned().collect();
            offer(about(&tool.name, first_line(&tool.description)), has_it, Some(names))
        });
        whole.into_iter().chain(each).collect()
    }
}

fn about(name: &str, what: &str) -> String {
    if what.is_empty() { name.to_owned() } else { format!("{name}: {what}") }
}

fn first_line(text: &str) -> &str {
    text.trim_start().lines().next().unwrap_or_default()
}

fn cut(name: &str) -> String {
    if name.chars().count() <= MAX_NAME {
        return name.to_owned();
    }
    let kept: String = name.chars().take(MAX_NAME - 1).collect();
    format!("{kept}…")
}
