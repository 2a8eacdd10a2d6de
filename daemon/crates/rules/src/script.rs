//! A command line, parsed: its simple commands at any depth.
//!
//! The parser is tolerant and differs from bash in places, so everything that is not known to be understood
//! is refused. Nothing that is decided here is executed by bash as understood here, except what a person has
//! seen: see [`Plain`](crate::Plain).

use crate::{Word, subscript};
use std::fmt;
use tree_sitter::{Node, Parser};

/// A longer line is not read, in bytes.
const MAX_BYTES: usize = 16 * 1024;
const MAX_COMMANDS: usize = 50;
const MAX_DEPTH: u32 = 64;

/// A parsed command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// All simple commands, those in substitutions, functions and blocks too.
    pub commands: Vec<Simple>,
    /// All redirects to and from files and descriptors.
    pub redirects: Vec<Redirect>,
    /// It is nothing but commands joined by `;`, `&&`, `||` and `|`: each of them runs, if it runs, as it is
    /// written.
    pub is_flat: bool,
    /// It is one command and its redirects, with nothing before or after it.
    pub is_single: bool,
}

/// One program and its words, or an assignment alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// `NAME=value` before the program.
    pub assignments: Vec<(String, Word)>,
    /// The program's name first.
    pub words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor, if it is written.
    pub descriptor: Option<String>,
    /// As `>`, `>>`, `>&`, `&>`, `<`.
    pub operator: String,
    pub target: Target,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A file's name, or a descriptor's number.
    Named(String),
    Unknown,
}

/// Why a line is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unclear {
    TooLong,
    TooManyCommands,
    TooDeep,
    Control(char),
    Syntax,
    /// Something that is not known to be understood, by the parser's name for it.
    Unlisted(String),
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "it is longer than {} KiB", MAX_BYTES / 1024),
            Self::TooManyCommands => write!(f, "it has more than {MAX_COMMANDS} commands"),
            Self::TooDeep => write!(f, "it is nested too deeply"),
            Self::Control(c) => write!(f, "it has the invisible character U+{:04X}", u32::from(*c)),
            Self::Syntax => write!(f, "it cannot be parsed"),
            Self::Unlisted(kind) => {
                write!(f, "it has a part that is not judged ({})", kind.replace('_', " "))
            }
        }
    }
}

impl Script {
    /// # Errors
    /// The line is not understood.
    pub fn parse(line: &str) -> Result<Self, Unclear> {
        if line.len() > MAX_BYTES {
            return Err(Unclear::TooLong);
        }
        if let Some(hidden) = line.chars().find(|c| is_hidden(*c)) {
            return Err(Unclear::Control(hidden));
        }
        if has_joined_word(line) {
            return Err(Unclear::Unlisted("a word over two lines".to_owned()));
        }
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|_| Unclear::Syntax)?;
        let tree = parser.parse(line, None).ok_or(Unclear::Syntax)?;
        if tree.root_node().has_error() {
            return Err(Unclear::Syntax);
        }
        let root = tree.root_node();
        let is_single = root.child_count() == 1 && root.byte_range() == (0..line.len());
        let reader = Reader { line, commands: Vec::new(), redirects: Vec::new(), is_flat: true };
        reader.read(root).map(|script| Self { is_single, ..script })
    }
}

struct Reader<'a> {
    line: &'a str,
    commands: Vec<Simple>,
    redirects: Vec<Redirect>,
    is_flat: bool,
}

impl Reader<'_> {
    /// A cursor goes over all nodes: recursion would take a stack as deep as the line is nested.
    fn read(mut self, root: Node<'_>) -> Result<Script, Unclear> {
        let mut cursor = root.walk();
        let mut depth = 0;
        loop {
            self.node(cursor.node(), depth)?;
            if cursor.goto_first_child() {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Unclear::TooDeep);
                }
                continue;
            }
            loop {
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    let Self { commands, redirects, is_flat, .. } = self;
                    return Ok(Script { commands, redirects, is_flat, is_single: false });
                }
                depth -= 1;
            }
        }
    }

    fn node(&mut self, node: Node<'_>, depth: u32) -> Result<(), Unclear> {
        if node.is_error() || node.is_missing() {
            return Err(Unclear::Syntax);
        }
        // The parser does not look for them there.
        if node.kind() == "heredoc_body"
            && self.line.get(node.byte_range()).is_some_and(|text| text.contains('`'))
        {
            return Err(Unclear::Unlisted("a backtick in a here-document".to_owned()));
        }
        if self.is_evaluated(node) {
            return Err(Unclear::Unlisted("a subscript that is evaluated".to_owned()));
        }
        match Kind::of(node)? {
            Kind::Flat => {}
            Kind::Nesting => self.is_flat = false,
            Kind::Command => self.command(node)?,
            Kind::Assignment => {
                // One before a program is read with its command.
                if node.parent().is_none_or(|parent| parent.kind() != "command") {
                    self.is_flat = false;
                    let assignments = self.assignment(node).into_iter().collect();
                    self.push(Simple { assignments, words: Vec::new() })?;
                }
            }
            Kind::Redirect => self.redirect(node)?,
        }
        if depth == 1 && node.kind() == "&" {
            self.is_flat = false;
        }
        Ok(())
    }

    /// Whether this is a literal with a substitution in a subscript, where bash may evaluate it: everywhere
    /// but in the words of most programs.
    fn is_evaluated(&self, node: Node<'_>) -> bool {
        let is_text =
            matches!(node.kind(), "word" | "string" | "raw_string" | "ansi_c_string" | "concatenation");
        let Some(parent) = node.parent().filter(|parent| is_text && parent.kind() != "concatenation") else {
            return false;
        };
        let raw = self.line.get(node.byte_range()).unwrap_or_default();
        let holds = match Word::at(node, self.line) {
            Word::Literal(text) => subscript::is_run(&text),
            Word::Unknown => subscript::may_be_run(raw),
        };
        holds && (parent.kind() != "command" || self.is_evaluating(parent))
    }

    /// Whether this command is a builtin that takes its words for names of variables or for numbers.
    fn is_evaluating(&self, command: Node<'_>) -> bool {
        let mut cursor = command.walk();
        let words = command.children(&mut cursor).map(|child| Word::at(child, self.line));
        let mut words = words.skip_while(|word| {
            word.literal().is_some_and(|word| matches!(word, "builtin" | "command") || word.starts_with('-'))
        });
        words.next().is_some_and(|word| word.literal().is_some_and(subscript::is_evaluating))
    }

    fn push(&mut self, command: Simple) -> Result<(), Unclear> {
        if self.commands.len() == MAX_COMMANDS {
            return Err(Unclear::TooManyCommands);
        }
        self.commands.push(command);
        Ok(())
    }

    fn command(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let mut cursor = node.walk();
        let mut command = Simple::default();
        let mut end = None;
        for child in node.children(&mut cursor) {
            // To bash they are one word.
            if end == Some(child.start_byte()) && child.is_named() && !child.kind().ends_with("redirect") {
                return Err(Unclear::Unlisted("words that are not apart".to_owned()));
            }
            end = Some(child.end_byte());
            match child.kind() {
                "variable_assignment" => match self.assignment(child) {
                    Some(assignment) if command.words.is_empty() => command.assignments.push(assignment),
                    // An argument of `export`.
                    assignment => {
                        command.assignments.extend(assignment);
                        command.words.push(match self.line.get(child.byte_range()) {
                            Some(text) if !text.contains(['$', '`', '*', '?', '[', '\'', '"', '\\']) => {
                                Word::Literal(text.to_owned())
                            }
                            _ => Word::Unknown,
                        });
                    }
                },
                "herestring_redirect" | "file_redirect" | "heredoc_redirect" => {}
                "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "unsetenv" => {
                    command.words.push(Word::Literal(child.kind().to_owned()));
                }
                _ => command.words.push(Word::at(child, self.line)),
            }
        }
        self.push(command)
    }

    fn assignment(&self, node: Node<'_>) -> Option<(String, Word)> {
        let name = self.line.get(node.child_by_field_name("name")?.byte_range())?;
        let value = match node.child_by_field_name("value") {
            Some(value) => Word::at(value, self.line),
            None => Word::Literal(String::new()),
        };
        let is_whole =
            node.child_count() <= 3 && self.line.get(node.byte_range())?.get(name.len()..)?.starts_with('=');
        Some((name.to_owned(), if is_whole { value } else { Word::Unknown }))
    }

    fn redirect(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let (mut descriptor, mut operator, mut targets) = (None, String::new(), Vec::new());
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let text = self.line.get(child.byte_range()).unwrap_or_default();
            match child.kind() {
                "file_descriptor" => descriptor = Some(text.to_owned()),
                _ if !child.is_named() => operator.push_str(text),
                _ => targets.push(Word::at(child, self.line)),
            }
        }
        // The parser takes the words after the file for further files; bash takes them for words of the
        // command.
        let target = match (targets.pop(), targets.is_empty()) {
            (Some(Word::Literal(name)), true) => Target::Named(name),
            (Some(Word::Unknown), true) => Target::Unknown,
            (None, _) if operator.ends_with('-') => Target::Unknown,
            _ => return Err(Unclear::Unlisted("words after a redirect".to_owned())),
        };
        self.redirects.push(Redirect { descriptor, operator, target });
        Ok(())
    }
}

/// What a node means for the reading.
enum Kind {
    /// It occurs in flat lines too.
    Flat,
    /// What is beneath it runs under a condition, elsewhere, or not as it is written.
    Nesting,
    Command,
    Assignment,
    Redirect,
}

impl Kind {
    /// The list of what is understood; everything else is refused.
    fn of(node: Node<'_>) -> Result<Self, Unclear> {
        Ok(match node.kind() {
            "program"
            | "list"
            | "pipeline"
            | "redirected_statement"
            | "command_name"
            | "word"
            | "number"
            | "string"
            | "string_content"
            | "raw_string"
            | "concatenation"
            | "file_descriptor"
            | "variable_name"
            | ";"
            | "&&"
            | "||"
            | "|"
            | "\n"
            | "\""
            | "="
            | ">"
            | ">>"
            | ">&"
            | "&>"
            | "&>>"
            | ">|"
            | "<"
            | "<&"
            | "{"
            | "}"
            | ","
            | "&" => Self::Flat,
            "command" | "declaration_command" | "unset_command" => Self::Command,
            "variable_assignment" => Self::Assignment,
            "file_redirect" => Self::Redirect,
            "expansion" if is_evaluating(node) => {
                return Err(Unclear::Unlisted("an expansion that evaluates its text".to_owned()));
            }
            "simple_expansion"
            | "expansion"
            | "special_variable_name"
            | "command_substitution"
            | "process_substitution"
            | "subshell"
            | "compound_statement"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "for_statement"
            | "while_statement"
            | "do_group"
            | "case_statement"
            | "case_item"
            | "function_definition"
            | "negated_command"
            | "test_command"
            | "binary_expression"
            | "unary_expression"
            | "test_operator"
            | "extglob_pattern"
            | "regex"
            | "comment"
            | "ansi_c_string"
            | "heredoc_redirect"
            | "heredoc_start"
            | "heredoc_body"
            | "heredoc_content"
            | "heredoc_end"
            | "herestring_redirect"
            | "variable_assignments" => Self::Nesting,
            "((" | "$((" | "$[" => return Err(Unclear::Unlisted("arithmetic".to_owned())),
            _ if !node.is_named() => Self::Nesting,
            kind => return Err(Unclear::Unlisted(kind.to_owned())),
        })
    }
}

/// `${x@P}` runs what is in `x`, and so does the index of an array.
fn is_evaluating(expansion: Node<'_>) -> bool {
    let mut cursor = expansion.walk();
    expansion.children(&mut cursor).any(|child| matches!(child.kind(), "@" | "!" | "subscript" | ":"))
}

/// Whether a backslash at the end of a line joins two parts of a word, which the parser takes for two words.
fn has_joined_word(line: &str) -> bool {
    let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    line.match_indices("\\\n").any(|(at, joint)| {
        !is_blank(line[..at].chars().next_back()) && !is_blank(line[at + joint.len()..].chars().next())
    })
}

/// Control characters but newline and tab, blanks other than the space, and characters that are invisible or
/// change the direction of the text.
fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' | ' ' => false,
        c if c.is_control() || c.is_whitespace() => true,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}
