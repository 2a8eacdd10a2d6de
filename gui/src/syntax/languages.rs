//! The lexer's tables of languages.

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// The names in Markdown fences, and the extensions of files.
    pub(super) names: &'static [&'static str],
    /// With blanks between them.
    pub(super) keywords: &'static str,
    /// Prefixes of comments that end with the line.
    pub(super) line: &'static [&'static str],
    pub(super) block: Option<(&'static str, &'static str)>,
    /// Quotes of strings that end with the line; below, of those that do not.
    pub(super) quotes: &'static str,
    pub(super) long_quotes: &'static str,
    pub(super) shape: Shape,
}

/// Other properties of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Plain,
    /// `'a` is a lifetime, `r#"…"#` a string.
    Rust,
    /// `"""…"""` and `'''…'''`.
    TripleQuotes,
    /// A `#` within a word is no comment.
    Shell,
    /// `name: value`, `name = value`.
    Keys,
    /// `<name key="value">`.
    Tags,
    Diff,
}

/// The language with this name in a Markdown fence.
#[must_use]
pub fn named(name: &str) -> Option<&'static Language> {
    // ```rust,no_run and ```{.python}
    let name = name.trim_start_matches(['{', '.']).split([',', ' ', '}', ':']).next()?.to_lowercase();
    ALL.iter().find(|language| language.names.contains(&&*name))
}

/// The language of a file, by its name.
#[must_use]
pub fn of_path(path: &str) -> Option<&'static Language> {
    let file = path.rsplit(['/', '\\']).next()?;
    match file {
        "Makefile" | "makefile" | "GNUmakefile" => named("make"),
        "Dockerfile" | "Containerfile" => named("dockerfile"),
        "Cargo.lock" => named("toml"),
        _ => named(file.rsplit_once('.')?.1),
    }
}

const PLAIN: Language = Language {
    names: &[],
    keywords: "",
    line: &["//"],
    block: Some(("/*", "*/")),
    quotes: "\"'",
    long_quotes: "",
    shape: Shape::Plain,
};

static ALL: [Language; 24] = [
    Language {
        names: &["rust", "rs"],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let \
            loop match mod move mut pub ref return self Self static struct super trait true type unsafe \
            use where while",
        quotes: "",
        long_quotes: "\"",
        shape: Shape::Rust,
        ..PLAIN
    },
    Language {
        names: &["python", "py", "pyi", "python3"],
        keywords: "False None True and as assert async await break case class continue def del elif else except \
            finally for from global if import in is lambda match nonlocal not or pass raise return self \
            try while with yield",
        line: &["#"],
        block: None,
        shape: Shape::TripleQuotes,
        ..PLAIN
    },
    Language {
        names: &["javascript", "js", "mjs", "cjs", "jsx", "typescript", "ts", "tsx", "mts"],
        keywords: "abstract as async await break case catch class const continue declare default delete do else \
            enum export extends false finally for from function if implements import in instanceof \
            interface let new null of private protected public readonly return static super switch this \
            throw true try type typeof undefined var void while yield",
        long_quotes: "`",
        ..PLAIN
    },
    Language {
        names: &["go", "golang"],
        keywords: "break case chan const continue default defer else fallthrough false for func go goto if import \
            interface map nil package range return select struct switch true type var",
        long_quotes: "`",
        ..PLAIN
    },
    Language {
        names: &["c", "h", "cpp", "c++", "cc", "cxx", "hpp", "hh", "objc", "m"],
        keywords: "auto bool break case catch char class const constexpr continue default delete do double else \
            enum extern false float for goto if inline int long namespace new noexcept nullptr override \
            private protected public return short signed sizeof static struct switch template this throw \
            true try typedef typename union unsigned using virtual void volatile while",
        ..PLAIN
    },
    Language {
        names: &["java", "kotlin", "kt", "kts", "scala", "groovy", "gradle"],
        keywords: "abstract as boolean break byte case catch char class companion const continue data def default \
            do double else enum extends false final finally float for fun if implements import in \
            instanceof int interface internal is lateinit long new null object open override package \
            private protected public record return sealed short static super suspend switch this throw \
            throws trait true try val var void when while yield",
        shape: Shape::TripleQuotes,
        ..PLAIN
    },
    Language {
        names: &["csharp", "cs", "c#"],
        keywords: "abstract as async await base bool break case catch class const continue default do else enum \
            event false finally for foreach get if in int interface internal is long namespace new null \
            out override private protected public readonly record ref return sealed set static string \
            struct switch this throw true try typeof using var virtual void while yield",
        ..PLAIN
    },
    Language {
        names: &["swift"],
        keywords: "as async await break case catch class continue default defer do else enum extension false for \
            func guard if import in init inout is let nil override private protocol public return self \
            static struct super switch throw throws true try var where while",
        quotes: "\"",
        shape: Shape::TripleQuotes,
        ..PLAIN
    },
    Language {
        names: &["bash", "sh", "shell", "zsh", "console", "fish", "ksh"],
        keywords: "case do done elif else esac export fi for function if in local readonly return select set then \
            until while",
        line: &["#"],
        block: None,
        quotes: "",
        long_quotes: "\"'",
        shape: Shape::Shell,
    },
    Language {
        names: &["make", "makefile", "mk", "cmake", "dockerfile", "docker"],
        keywords: "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM LABEL RUN SHELL USER VOLUME WORKDIR define else \
            endif endef export ifdef ifeq ifndef ifneq include",
        line: &["#"],
        block: None,
        shape: Shape::Shell,
        ..PLAIN
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl", "ndjson"],
        keywords: "false null true",
        shape: Shape::Keys,
        ..PLAIN
    },
    Language {
        names: &["toml", "ini", "cfg", "conf", "properties", "env", "desktop", "service"],
        keywords: "false true",
        line: &["#", ";"],
        block: None,
        shape: Shape::Keys,
        ..PLAIN
    },
    Language {
        names: &["yaml", "yml"],
        keywords: "false no null true yes",
        line: &["#"],
        block: None,
        shape: Shape::Keys,
        ..PLAIN
    },
    Language {
        names: &["html", "htm", "xml", "svg", "vue", "svelte", "xhtml", "plist"],
        line: &[],
        block: Some(("<!--", "-->")),
        quotes: "\"",
        shape: Shape::Tags,
        ..PLAIN
    },
    Language {
        names: &["css", "scss", "less"],
        keywords: "important import media supports keyframes font-face",
        line: &[],
        shape: Shape::Keys,
        ..PLAIN
    },
    Language {
        names: &["sql", "psql", "sqlite", "mysql"],
        keywords: "add all alter and as asc begin between by case commit create default delete desc distinct drop \
            else end exists foreign from group having if in index inner insert into is join key left like \
            limit not null on or order outer primary references right rollback select set table then union \
            unique update values view when where with",
        line: &["--"],
        long_quotes: "'",
        quotes: "\"",
        ..PLAIN
    },
    Language {
        names: &["ruby", "rb", "rake", "gemspec"],
        keywords: "and begin break case class def do else elsif end ensure false for if in module next nil not or \
            raise require rescue return self super then true unless until when while yield",
        line: &["#"],
        block: None,
        ..PLAIN
    },
    Language {
        names: &["lua"],
        keywords: "and break do else elseif end false for function goto if in local nil not or repeat return then \
            true until while",
        line: &["--"],
        block: Some(("--[[", "]]")),
        ..PLAIN
    },
    Language {
        names: &["php"],
        keywords: "abstract array as break case catch class const continue default do echo else elseif extends \
            false final fn for foreach function if implements interface match namespace new null private \
            protected public return static switch this throw true try use var while yield",
        line: &["//", "#"],
        ..PLAIN
    },
    Language {
        names: &["zig"],
        keywords: "and break catch comptime const continue defer else enum errdefer error export extern false fn \
            for if null or orelse pub return struct switch test true try undefined union unreachable var \
            while",
        block: None,
        ..PLAIN
    },
    Language {
        names: &["nix"],
        keywords: "assert else false if in inherit let null rec then true with",
        line: &["#"],
        quotes: "",
        long_quotes: "\"",
        ..PLAIN
    },
    Language {
        names: &["haskell", "hs", "elm"],
        keywords: "case class data deriving do else if import in instance let module newtype of then type where",
        line: &["--"],
        block: Some(("{-", "-}")),
        quotes: "\"",
        ..PLAIN
    },
    Language {
        names: &["elixir", "ex", "exs", "erlang"],
        keywords: "after and case cond def defmodule defp do else end false fn for if import in nil not or \
            receive rescue true try unless use when with",
        line: &["#"],
        block: None,
        shape: Shape::TripleQuotes,
        ..PLAIN
    },
    Language { names: &["diff", "patch"], line: &[], block: None, quotes: "", shape: Shape::Diff, ..PLAIN },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_known_by_its_fence_and_its_files() {
        let name = |language: Option<&'static Language>| language.map(|language| language.names[0]);
        assert_eq!(name(named("rust,no_run")), Some("rust"));
        assert_eq!(name(named("{.python}")), Some("python"));
        assert_eq!(name(named("TypeScript")), Some("javascript"));
        assert_eq!(name(named("")), None);
        assert_eq!(name(of_path("src/app/main.rs")), Some("rust"));
        assert_eq!(name(of_path("/x/Makefile")), Some("make"));
        assert_eq!(name(of_path("notes.txt")), None);
        assert_eq!(name(of_path("rs")), None);
    }

    #[test]
    fn no_name_stands_for_two_languages() {
        let mut names: Vec<&str> = ALL.iter().flat_map(|language| language.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
