//! Code in the words of interpreters: `python3 -c '…'`. It is in no shell's language, so what it runs is not known.

use crate::{
    Word, awk,
    options::{Options, beginnings, options},
    sed,
    shell::is_stream,
};

/// An interpreter, or an editor or debugger that takes commands of its own.
struct Interpreter {
    /// Options with code.
    code: Options,
    /// Letters of options with another value.
    values: &'static str,
    /// It runs a file that is its first operand, to which all further words belong, and without one what it reads.
    has_file: bool,
}

const fn interpreter(code: Options, values: &'static str) -> Interpreter {
    Interpreter { code, values, has_file: true }
}

const fn editor(code: Options) -> Interpreter {
    Interpreter { code, values: "", has_file: false }
}

static INTERPRETERS: &[Interpreter] = &[
    interpreter(options(&["python", "pypy", "ipython"], &[], "c"), "WX"),
    interpreter(options(&["perl"], &[], "eE"), "I"),
    interpreter(options(&["ruby"], &[], "e"), "rIE"),
    interpreter(options(&["node", "nodejs", "bun"], &["eval", "print"], "ep"), "rC"),
    interpreter(options(&["php"], &["run", "process-code"], "rBRE"), "dcz"),
    interpreter(options(&["lua", "luajit", "texlua"], &[], "e"), "l"),
    interpreter(options(&["Rscript", "julia"], &["eval", "print"], "eE"), ""),
    interpreter(options(&["osascript"], &[], "e"), "l"),
    interpreter(options(&["elixir", "groovy", "scala"], &["eval"], "e"), ""),
    interpreter(options(&["expect"], &[], "c"), "df"),
    interpreter(options(&["guile", "gosh"], &[], "ce"), "lL"),
    interpreter(options(&["tclsh", "wish"], &[], ""), ""),
    interpreter(beginnings(&["deno"], &["eval", "repl"]), ""),
    interpreter(beginnings(&["pwsh", "powershell"], &["-c", "-C", "-e", "-E"]), ""),
    editor(Options {
        words: &["+", "--cmd"],
        ..options(&["vi", "vim", "nvim", "ex", "view", "gvim"], &[], "cS")
    }),
    editor(options(&["emacs"], &["eval", "execute", "funcall"], "f")),
    editor(beginnings(&["gdb"], &["-ex", "--ex", "-iex", "--iex", "-eval", "--eval", "-ix", "-x"])),
    editor(options(&["lldb"], &["one-line"], "oOkKQ")),
    editor(options(&["make", "gmake"], &["eval"], "")),
];

/// Whether the interpreter runs code that is not known. `is_near`: it certainly is a command, so it reads code if nothing else is named.
pub(crate) fn is_unknown(program: &str, words: &[Word], is_near: bool) -> bool {
    match program {
        "awk" | "gawk" | "mawk" | "nawk" => return awk::may_run(words),
        "sed" | "gsed" => return sed::may_run(words),
        _ => {}
    }
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let Some(interpreter) = INTERPRETERS.iter().find(|known| known.code.programs.contains(&name)) else {
        return false;
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.literal().unwrap_or_default();
        // An editor's `+10` is a line.
        let is_line = text.strip_prefix('+').is_some_and(|line| line.chars().all(|c| c.is_ascii_digit()));
        if interpreter.code.has(text) && !is_line {
            return true;
        }
        if !interpreter.has_file {
            continue;
        }
        match text.strip_prefix('-') {
            None | Some("") => return word.literal().is_some() && is_stream(word),
            // A module of python, or what it only shows.
            Some("m" | "V" | "v" | "h" | "-version" | "-help" | "-test") => return false,
            Some(letters)
                if !letters.starts_with('-') && letters.ends_with(|c| interpreter.values.contains(c)) =>
            {
                words.next();
            }
            Some(_) => {}
        }
    }
    interpreter.has_file && is_near
}
