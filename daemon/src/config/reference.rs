//! The reference of `config.toml`: every key with type, default and meaning. A test compares it with what the parser accepts.

use serde::Serialize;
use std::fmt::Write as _;

/// A table of the file.
#[derive(Serialize)]
struct Table {
    /// The header in the file, with placeholders in capitals.
    #[serde(rename = "table")]
    header: &'static str,
    meaning: &'static str,
    /// When a change takes effect.
    applies: &'static str,
    keys: &'static [Key],
}

/// A key of a table.
#[derive(Serialize)]
struct Key {
    name: &'static str,
    /// Type and unit.
    #[serde(rename = "type")]
    kind: &'static str,
    /// In TOML, where it is a value.
    default: &'static str,
    /// In TOML.
    example: &'static str,
    meaning: &'static str,
}

const NEXT_TASK: &str = "with the next task; a task that has started keeps what it started with";
const NEXT_CALL: &str = "within a second, also for the model calls of tasks that run";

const TABLES: &[Table] = &[
    Table {
        header: "model",
        meaning: "The default model.",
        applies: NEXT_TASK,
        keys: &[Key {
            name: "default",
            kind: "text, PROVIDER/MODEL",
            default: "none",
            example: "\"local/smollm2\"",
            meaning: "The model of tasks and conversations that name none. Without it, the first available \
                one: Anthropic or OpenAI if the daemon has a key, an Ollama or llama-server on this \
                machine, otherwise the scripted `demo`. Of a provider that is set up here no model is chosen by \
                itself.",
        }],
    },
    Table {
        header: "providers.NAME",
        meaning: "A model provider. NAME is the part of PROVIDER/MODEL before the slash, of the characters `a-z A-Z 0-9 - _ .`; \
            `openai`, `anthropic`, `ollama`, `llama-server` and `demo` replace the built-in ones. `abide provider add` writes such a \
            table and tests it, and knows the addresses of the usual providers.",
        applies: NEXT_CALL,
        keys: &[
            Key {
                name: "api",
                kind: "`\"openai-chat\"`, `\"openai-responses\"`, `\"anthropic\"` or `\"scripted\"`",
                default: "required",
                example: "\"openai-chat\"",
                meaning: "The provider's API: OpenAI Chat Completions (most servers have it), OpenAI Responses \
                    (keeps the reasoning of OpenAI's models from step to step), Anthropic Messages, or a file \
                    of replies.",
            },
            Key {
                name: "base_url",
                kind: "text, an http or https address",
                default: "required for `openai-chat` and `openai-responses`, but for the provider `openai`",
                example: "\"http://127.0.0.1:8089/v1\"",
                meaning: "What the API's paths are appended to: `/chat/completions`, `/responses` or `/v1/messages`. No name or \
                    password in it. Not for `scripted`.",
            },
            Key {
                name: "api_key_env",
                kind: "text, the name of a variable",
                default: "none",
                example: "\"LOCAL_API_KEY\"",
                meaning: "The variable of the daemon's environment that holds the key; it takes precedence \
                    over one that `abide key set NAME` has stored. The daemon's environment is that of the \
                    shell that started it: a variable that is set later is not there before `abide daemon \
                    restart` in that shell.",
            },
            Key {
                name: "max_parallel",
                kind: "whole number, 1 or more",
                default: "8",
                example: "2",
                meaning: "Model calls at the same time; more wait. The default for `ollama`, `llama-server` and `lmstudio` is 4, that for \
                    `scripted` is 256.",
            },
            Key {
                name: "script",
                kind: "text, a path",
                default: "required for `scripted`",
                example: "\"/home/me/replies.json\"",
                meaning: "The file of replies, for `scripted` only. It is read once: after a change of it, \
                    `abide daemon restart`.",
            },
            Key {
                name: "stall_timeout_secs",
                kind: "whole number of seconds, 1 or more",
                default: "180",
                example: "600",
                meaning: "An attempt that receives nothing of a reply for this long counts as stalled; comments, pings and empty pieces \
                    are nothing of a reply. Without this setting a reply may take longer to begin, up to 1800 s: from an address of this \
                    machine or of a private network, and from a server that sends signs of life at least this often. The default for `ollama`, `llama-server` and `lmstudio` is 600.",
            },
        ],
    },
    Table {
        header: "task",
        meaning: "The defaults of tasks; a request can override them. 0 means no limit.",
        applies: NEXT_TASK,
        keys: &[
            Key {
                name: "mode",
                kind: "`\"auto\"`, `\"chat\"`, `\"agent\"`, `\"roa\"`, `\"plan\"` or `\"tree\"`",
                default: "\"auto\"",
                example: "\"agent\"",
                meaning: "How a task works if neither its request nor its conversation says. `auto` works with tools, and the \
                    first reply without a tool call is the answer.",
            },
            Key {
                name: "max_steps",
                kind: "whole number of steps",
                default: "50",
                example: "100",
                meaning: "A step is one pass of the agent: a model call and the tool calls that it asks for.",
            },
            Key {
                name: "max_duration_secs",
                kind: "whole number of seconds",
                default: "1800",
                example: "3600",
                meaning: "Work only: time in which the task waits, for you or for another attempt of a model call, or is paused, and \
                    time in which the daemon is away or the machine sleeps, does not count.",
            },
            Key {
                name: "step_delay_ms",
                kind: "whole number of ms",
                default: "0",
                example: "250",
                meaning: "A pause before each step but the first.",
            },
            Key {
                name: "max_tokens",
                kind: "whole number of tokens",
                default: "0",
                example: "2000000",
                meaning: "The tokens of all model calls, input and output. At 80 % you are alerted; at the \
                    limit the task pauses and asks.",
            },
            Key {
                name: "max_cost_micros",
                kind: "whole number of micro-dollars",
                default: "0",
                example: "5000000",
                meaning: "The same for the cost; 1000000 is one dollar. Only models with a price count, see `[prices]`.",
            },
            Key {
                name: "question_timeout_secs",
                kind: "whole number of seconds",
                default: "0",
                example: "86400",
                meaning: "How long a question may stay unanswered before the task is cancelled.",
            },
            Key {
                name: "max_depth",
                kind: "whole number",
                default: "3",
                example: "2",
                meaning: "How deep sub-tasks may be: those of a task that you start have depth 1.",
            },
            Key {
                name: "max_children",
                kind: "whole number",
                default: "8",
                example: "4",
                meaning: "Sub-tasks of one task that are at work at the same time.",
            },
            Key {
                name: "max_tasks",
                kind: "whole number",
                default: "64",
                example: "20",
                meaning: "A task and all its sub-tasks at any depth, ended ones included.",
            },
            Key {
                name: "restart",
                kind: "`\"resume\"`, `\"ask\"` or `\"pause\"`",
                default: "\"resume\"",
                example: "\"ask\"",
                meaning: "What a starting daemon does with a task that was at work when the last daemon ended.",
            },
            Key {
                name: "park",
                kind: "`true` or `false`",
                default: "true",
                example: "false",
                meaning: "A task whose provider asks for a wait of 10 minutes or more (a limit of a subscription, for example) is parked: \
                    it pauses, the inbox and a notification say until when, and it goes on by itself then. `abide resume` tries at once. \
                    With `false` the task ends.",
            },
            Key {
                name: "compact_at_tokens",
                kind: "whole number of tokens",
                default: "60000",
                example: "150000",
                meaning: "From this much context on, the model is no longer sent old outputs of tools whole, then old steps; the last \
                    three steps stay. With 0, only when a request was too long for the model. Nothing is removed from the records.",
            },
        ],
    },
    Table {
        header: "task.roa",
        meaning: "What differs for tasks of mode `roa`.",
        applies: NEXT_TASK,
        keys: &[Key {
            name: "max_steps",
            kind: "whole number of steps",
            default: "10",
            example: "20",
            meaning: "A step reasons, acts and observes: three model calls. `max_steps` of `[task]` is not for this mode.",
        }],
    },
    Table {
        header: "worktree",
        meaning: "What a task with a git worktree of its own (`--worktree`) finds there, besides the files of the commit that it begins with. \
            No hook and no filter of the repository runs while it is made, so files of Git LFS are pointers at first.",
        applies: "with the next worktree",
        keys: &[
            Key {
                name: "setup",
                kind: "text, a command line",
                default: "none",
                example: "\"npm ci --offline\"",
                meaning: "Runs in the new worktree before the first step, as a command of the task: in the sandbox, shown and recorded. \
                    If it fails the task goes on, and its model is told.",
            },
            Key {
                name: "copy",
                kind: "list of paths, relative to the top of the work tree",
                default: "none",
                example: "[\".env\"]",
                meaning: "Files that git does not track, copied from your work tree as far as they are there. Each has at most 16 MiB.",
            },
        ],
    },
    Table {
        header: "notify",
        meaning: "Desktop notifications.",
        applies: "with the next notification",
        keys: &[
            Key {
                name: "enabled",
                kind: "`true` or `false`",
                default: "true",
                example: "false",
                meaning: "Whether the daemon notifies you of questions, approvals and ends that no window shows. (For one conversation: \
                `abide conversations mute`.)",
            },
            Key {
                name: "quiet",
                kind: "two times of the day",
                default: "none",
                example: "\"22:00-07:00\"",
                meaning: "Quiet hours, in local time: no notification is shown. What waits when they are over, and what has ended, is shown then, in one \
                notification.",
            },
        ],
    },
    Table {
        header: "daemon",
        meaning: "The daemon itself.",
        applies: "within a minute",
        keys: &[Key {
            name: "update",
            kind: "`\"auto\"`, `\"ask\"` or `\"manual\"`",
            default: "`\"auto\"`",
            example: "\"ask\"",
            meaning: "What to do when another version of the daemon's program is installed. `auto`: it takes over by itself as soon as \
                nothing is cut off by that; tasks go on where they were. `ask`: clients say that it is there, and `abide daemon update` \
                lets it take over. `manual`: the same, and only `abide daemon status` says so.",
        }],
    },
    Table {
        header: "http",
        meaning: "The HTTP interface, for other programs and devices. It is off unless an address is given here or by `abide serve`. \
            Every request needs a token (`abide token add NAME`).",
        applies: "`hosts` within a second; the others when the daemon starts",
        keys: &[
            Key {
                name: "listen",
                kind: "list of addresses",
                default: "`[]`",
                example: "[\"http://localhost:5000\"]",
                meaning: "Where the daemon listens from its start on. `localhost` is both loopback addresses. There is no TLS: for \
                    other devices, put a proxy with a certificate in front of it.",
            },
            Key {
                name: "hosts",
                kind: "list of names",
                default: "`[]`",
                example: "[\"abide.example.org\"]",
                meaning: "Names that a proxy in front of it has, with a port if only that one counts. Requests for other names are refused, \
                    but for `localhost` and the addresses that it listens on.",
            },
            Key {
                name: "plain",
                kind: "`true` or `false`",
                default: "`false`",
                example: "true",
                meaning: "Whether `listen` may have addresses that other machines reach. Who can read the network then reads the tokens, too.",
            },
        ],
    },
    Table {
        header: "prices.\"PROVIDER/MODEL\"",
        meaning: "What a model costs, over the built-in list prices of Anthropic's and OpenAI's own addresses. A model without \
            a price has no known cost: none is shown, and it does not count towards `max_cost_micros`.",
        applies: NEXT_CALL,
        keys: &[
            Key {
                name: "input",
                kind: "dollars per million tokens",
                default: "required",
                example: "0.15",
                meaning: "Input tokens that are not read from a cache.",
            },
            Key {
                name: "output",
                kind: "dollars per million tokens",
                default: "required",
                example: "0.6",
                meaning: "Output tokens, reasoning included.",
            },
            Key {
                name: "cache_read",
                kind: "dollars per million tokens",
                default: "as `input`",
                example: "0.075",
                meaning: "Input tokens that the provider reads from its cache.",
            },
            Key {
                name: "cache_write",
                kind: "dollars per million tokens",
                default: "as `input`",
                example: "0.15",
                meaning: "Input tokens that the provider writes to its cache.",
            },
        ],
    },
    Table {
        header: "sandbox",
        meaning: "What confines commands. A command in it reads everything but keys, passwords, browsers' profiles, `/run` and Abide's own \
            files; it writes only to its workspace, its repository's git folder, and temporary folders and caches of its own; it reaches \
            no network but its own loopback, and no process but its own. What other programs take from a workspace what they run (git's \
            hooks and configuration, `.envrc`, `.vscode` and their like) it cannot change. `abide daemon status` says which level this machine \
            has: `full`; `landlock`, which cannot protect those files, so that commands ask; or `none`.",
        applies: NEXT_CALL,
        keys: &[
            Key {
                name: "require",
                kind: "`\"full\"`, `\"landlock\"` or `\"none\"`",
                default: "\"landlock\"",
                example: "\"full\"",
                meaning: "The least level at which anything runs unattended. Below it every command asks, and a task with `--yes` is \
                    not started.",
            },
            Key {
                name: "network",
                kind: "`\"off\"` or `\"host\"`",
                default: "\"off\"",
                example: "\"host\"",
                meaning: "With `host` commands use the network of this machine, and always ask, also with `--yes`.",
            },
            Key {
                name: "writable",
                kind: "list of paths",
                default: "none",
                example: "[\"~/.gradle\"]",
                meaning: "Further folders that commands may write to. They are seen, too, where they would be hidden. Undo does not know them.",
            },
            Key {
                name: "hidden",
                kind: "list of paths",
                default: "none",
                example: "[\"~/notes\"]",
                meaning: "Further files and folders that commands do not see, beside keys, histories and the home's dot files.",
            },
            Key {
                name: "protect",
                kind: "list of paths, relative to the workspace",
                default: "none",
                example: "[\"scripts/release.sh\"]",
                meaning: "Further files and folders that commands cannot change, and whose change by the file tools always asks.",
            },
            Key {
                name: "max_processes",
                kind: "whole number, 1 or more",
                default: "4096",
                example: "1000",
                meaning: "A command that has more processes at the same time is ended. In the full sandbox it can hardly have more, threads \
                    included; before Linux 6.14 that is for all commands together, and not where the daemon runs as root.",
            },
            Key {
                name: "max_memory",
                kind: "whole number of MiB, 1 or more",
                default: "three quarters of the machine's memory",
                example: "8192",
                meaning: "A command whose processes use more memory together is ended. It is looked at up to ten times a second, and once a second \
                    while it uses little. What they share counts once, and what they have read of files does not count.",
            },
            Key {
                name: "max_tmp",
                kind: "whole number of MiB, 1 or more",
                default: "20480",
                example: "4096",
                meaning: "A command is ended while the temporary folders of its conversation, `/tmp` and `/var/tmp`, take more than this of the \
                    disk. They are kept from command to command, until the conversation is deleted or has run no command for a week.",
            },
        ],
    },
    Table {
        header: "tools",
        meaning: "What tools get. A command outside of the sandbox has the environment of the client that started its task, as it was then, \
            but no variable that by its name holds a secret (`GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`, `PGPASSWORD` and their like), no \
            address with a password, and nothing of the client's terminal: those are never sent nor recorded. In the sandbox a command has \
            the usual part of that: `PATH`, `HOME`, language, time zone, folders of toolchains, proxies. A window that was started from a \
            menu and a job of cron have the environment of the login shell. `abide doctor` names what is left out. Nobody sits in front \
            of a command: editors fail and say what to do instead, and programs are told not to ask.",
        applies: NEXT_CALL,
        keys: &[Key {
            name: "environment",
            kind: "list of names, or of beginnings of names with a `*`",
            default: "none",
            example: "[\"RAILS_ENV\", \"MYAPP_*\"]",
            meaning: "Further variables of that environment that commands in the sandbox get.",
        }],
    },
    Table {
        header: "policy",
        meaning: "Rules about calls, for every workspace. A rule is `shell(cargo test *)`, `edit(src/**)` or `read(**/.env)`. What is \
            denied does not run; what asks asks, unless the task was started with `--yes`; what is allowed runs without asking. Deny \
            comes before ask, ask before allow, whichever rule is more specific; all come before a tool's own setting. In `shell`, `*` as \
            the last word stands for any further words or none, and elsewhere for text within a word. A rule that denies or asks \
            matches a command anywhere in a line, also in `bash -c` and behind `sudo` and the like, and options may stand between its \
            words; where a line cannot be judged before it runs, it asks, also with `--yes` if the rule denies. A rule that allows \
            matches one plain command, without variables, globs, pipes or redirects to files; that is executed without a shell, and \
            only a program outside of the workspace and the temporary folders. Its last `*` covers no option that is known to run \
            other programs or to write files. `edit` and `read` are about the file tools; their paths are relative to the workspace.",
        applies: NEXT_CALL,
        keys: &[
            Key {
                name: "deny",
                kind: "list of rules",
                default: "none",
                example: "[\"shell(git push *)\", \"read(**/.env)\"]",
                meaning: "What must not run. For `shell` also a regular expression on the text of the line: `shell(/curl.*token/)`.",
            },
            Key {
                name: "ask",
                kind: "list of rules",
                default: "none",
                example: "[\"shell(rm *)\", \"edit(.github/**)\"]",
                meaning: "What asks although something else allows it. Regular expressions as for `deny`.",
            },
            Key {
                name: "allow",
                kind: "list of rules",
                default: "none",
                example: "[\"shell(cargo test *)\", \"edit(src/**)\"]",
                meaning: "What runs without asking. A change of what programs are configured by (`.git`, `.envrc`, `.vscode` and their like) \
                    asks whatever a rule says. Mind `git`: it runs what the repository's configuration names.",
            },
            Key {
                name: "shell",
                kind: "`\"sandboxed\"` or `\"ask\"`",
                default: "\"sandboxed\"",
                example: "\"ask\"",
                meaning: "With `sandboxed`, commands in the full sandbox run without asking where what they do can be undone: in a git \
                    work tree, and in a folder of at most 20,000 files and 200 MiB. A few ask all the same: `git reset --hard`, `git \
                    clean`, `git branch -D`, and `rm -r` of what no build makes again. What must leave the sandbox to work asks to run \
                    outside of it: `git push`, `fetch`, `pull` and `clone` (not from a path), `ssh`, `scp`, `gh`, `npm publish`, `docker`, \
                    `kubectl`, `sudo` and their like.",
            },
            Key {
                name: "edits",
                kind: "`\"sandboxed\"` or `\"ask\"`",
                default: "\"sandboxed\"",
                example: "\"ask\"",
                meaning: "The same for changes by the file tools.",
            },
        ],
    },
    Table {
        header: "personas.NAME",
        meaning: "A persona: a system prompt under a name, with what goes with it, for tasks and conversations that ask for it \
            (`abide run --persona NAME`). A file `personas/NAME.md` beside this file is one too, with the same keys but `prompt` and \
            `prompt_file` between two lines of `---`, and the prompt below them; this table overrides what the file says. `coder`, \
            `researcher` and `reviewer` are built in. `abide personas` lists all; `abide personas --write` writes the built-in ones \
            to edit.",
        applies: NEXT_TASK,
        keys: &[
            Key {
                name: "description",
                kind: "text",
                default: "that of the file",
                example: "\"Reviews code\"",
                meaning: "For people.",
            },
            Key {
                name: "prompt",
                kind: "text, not empty",
                default: "that of the file",
                example: "\"You review code and change nothing.\"",
                meaning: "Comes before the daemon's own instructions.",
            },
            Key {
                name: "prompt_file",
                kind: "text, a path in the folder of this file",
                default: "none",
                example: "\"prompts/reviewer.md\"",
                meaning: "A file with the prompt, at most 32 KiB, instead of `prompt`.",
            },
            Key {
                name: "context",
                kind: "list of paths in the folder of this file",
                default: "that of the file",
                example: "[\"style.md\"]",
                meaning: "Files that follow the prompt, each under its name, at most 32 KiB together.",
            },
            Key {
                name: "tools",
                kind: "list of tool names",
                default: "that of the file, else all tools",
                example: "[\"read\", \"list\"]",
                meaning: "The tools that it may use, none if the list is empty; those with which a task ends, asks and reports are \
                    always included. `abide tools` lists them.",
            },
            Key {
                name: "mode",
                kind: "as `mode` of `[task]`",
                default: "that of the file",
                example: "\"plan\"",
                meaning: "The mode of its tasks, if neither the request nor the conversation names one.",
            },
            Key {
                name: "model",
                kind: "text, PROVIDER/MODEL",
                default: "that of the file",
                example: "\"local/smollm2\"",
                meaning: "The same for the model.",
            },
            Key {
                name: "max_steps",
                kind: "whole number of steps",
                default: "that of the file",
                example: "30",
                meaning: "The step limit of its tasks, unless the request or the template has one.",
            },
        ],
    },
    Table {
        header: "templates.NAME",
        meaning: "A prompt with a place for the message, and settings that go with it (`abide run --template NAME`). What the \
            request itself names comes first.",
        applies: NEXT_TASK,
        keys: &[
            Key {
                name: "prompt",
                kind: "text with {input}",
                default: "required",
                example: "\"Review this change:\\n\\n{input}\"",
                meaning: "The prompt of the task. The message takes the place of {input}.",
            },
            Key {
                name: "persona",
                kind: "text, a persona's name",
                default: "none",
                example: "\"reviewer\"",
                meaning: "The persona of its tasks and of the conversations that they begin.",
            },
            Key {
                name: "mode",
                kind: "as `mode` of `[task]`",
                default: "none",
                example: "\"plan\"",
                meaning: "The mode of its tasks.",
            },
            Key {
                name: "tools",
                kind: "list of tool names",
                default: "that of the persona",
                example: "[\"read\"]",
                meaning: "As for a persona.",
            },
        ],
    },
    Table {
        header: "templates.NAME.limits",
        meaning: "The limits of a template's tasks, as in `[task]`; a limit that is not here is the persona's or that of `[task]`.",
        applies: NEXT_TASK,
        keys: &[
            Key {
                name: "max_steps",
                kind: "as in `[task]`",
                default: "none",
                example: "5",
                meaning: "As in `[task]`.",
            },
            Key {
                name: "max_duration_secs",
                kind: "as in `[task]`",
                default: "none",
                example: "600",
                meaning: "As in `[task]`.",
            },
            Key {
                name: "step_delay_ms",
                kind: "as in `[task]`",
                default: "none",
                example: "100",
                meaning: "As in `[task]`.",
            },
            Key {
                name: "max_tokens",
                kind: "as in `[task]`",
                default: "none",
                example: "100000",
                meaning: "As in `[task]`.",
            },
            Key {
                name: "max_cost_micros",
                kind: "as in `[task]`",
                default: "none",
                example: "1000000",
                meaning: "As in `[task]`.",
            },
            Key {
                name: "question_timeout_secs",
                kind: "as in `[task]`",
                default: "none",
                example: "120",
                meaning: "As in `[task]`.",
            },
            Key {
                name: "max_depth",
                kind: "as in `[task]`",
                default: "none",
                example: "1",
                meaning: "As in `[task]`.",
            },
            Key {
                name: "max_children",
                kind: "as in `[task]`",
                default: "none",
                example: "4",
                meaning: "As in `[task]`.",
            },
            Key {
                name: "max_tasks",
                kind: "as in `[task]`",
                default: "none",
                example: "10",
                meaning: "As in `[task]`.",
            },
        ],
    },
    Table {
        header: "prompts",
        meaning: "Files with the templates of notes for the model, which begin a phase or a sub-task, in the folder `prompts` beside this file, at most \
            16 KiB each. Placeholders are replaced once; other braces stay as they are. A file of the default name need not be there: \
            the template is then built in. Any other file that cannot be used keeps the tasks that need it from starting. \
            `abide prompts` shows which are in force; `abide prompts --write` writes the built-in ones to edit.",
        applies: NEXT_TASK,
        keys: &[
            Key {
                name: "agent_reason_prompt_filename",
                kind: "text, a file's name",
                default: "\"agent_reason_prompt.md\"",
                example: "\"my_reason.md\"",
                meaning: "The template of the note that begins the phase reason of mode `roa`. Its placeholders: `{user_question}`, `{files_manifest}`, `{last_observation}`.",
            },
            Key {
                name: "agent_act_prompt_filename",
                kind: "text, a file's name",
                default: "\"agent_act_prompt.md\"",
                example: "\"my_act.md\"",
                meaning: "The template of the same for the phase act of the modes `roa` and `tree`. Its placeholders: `{user_question}`, `{files_manifest}`, `{step}`.",
            },
            Key {
                name: "agent_observe_prompt_filename",
                kind: "text, a file's name",
                default: "\"agent_observe_prompt.md\"",
                example: "\"my_observe.md\"",
                meaning: "The template of the same for the phase observe. Its placeholders: `{user_question}`, `{tool_summaries}`, `{step}`.",
            },
            Key {
                name: "agent_plan_prompt_filename",
                kind: "text, a file's name",
                default: "\"agent_plan_prompt.md\"",
                example: "\"my_plan.md\"",
                meaning: "The template of the note that begins each step of mode `plan`. Its placeholders: `{user_question}`, `{files_manifest}`, `{step}`.",
            },
            Key {
                name: "agent_clarify_prompt_filename",
                kind: "text, a file's name",
                default: "\"agent_clarify_prompt.md\"",
                example: "\"my_clarify.md\"",
                meaning: "The template of the note that begins the phase clarify of mode `tree`. Its placeholders: `{user_question}`, `{files_manifest}`.",
            },
            Key {
                name: "agent_inquire_prompt_filename",
                kind: "text, a file's name",
                default: "\"agent_inquire_prompt.md\"",
                example: "\"my_inquire.md\"",
                meaning: "The template of the note that begins the phase inquire of mode `tree`. Its placeholders: `{user_question}`, `{files_manifest}`.",
            },
            Key {
                name: "agent_split_prompt_filename",
                kind: "text, a file's name",
                default: "\"agent_split_prompt.md\"",
                example: "\"my_split.md\"",
                meaning: "The template of the note that begins the phase split of mode `tree`. Its placeholders: `{user_question}`, `{files_manifest}`.",
            },
            Key {
                name: "agent_summarize_prompt_filename",
                kind: "text, a file's name",
                default: "\"agent_summarize_prompt.md\"",
                example: "\"my_summarize.md\"",
                meaning: "The template of the note that begins the phase summarize of mode `tree`. Its placeholders: `{user_question}`, `{files_manifest}`.",
            },
            Key {
                name: "agent_child_prompt_filename",
                kind: "text, a file's name",
                default: "\"agent_child_prompt.md\"",
                example: "\"my_child.md\"",
                meaning: "The note that follows a sub-task's request. It has no placeholders.",
            },
        ],
    },
];

const INTRODUCTION: &str = "\
# The configuration

`~/.config/abide/config.toml`, or `$ABIDE_HOME/config/config.toml`; `abide daemon status` shows which. It is
[TOML](https://toml.io/), every key is optional unless it says otherwise, and no file is the same as an empty one.

The daemon reads it again when it has changed: no restart is needed. An invalid file is refused with its line and key, and the
previous configuration stays in force, also when the daemon starts again; `abide daemon status`, `abide doctor`, `abide models` and
`abide run` report it.
`abide config check` checks it without a daemon, and `abide config edit` lets you edit a copy that takes its place only when it is valid.
API keys do not belong here: `abide key set PROVIDER` stores them.

This page is what `abide config reference` prints.
";

/// The reference page in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    for table in TABLES {
        let _ = write!(
            page,
            "\n## `[{}]`\n\n{}\nA change applies {}.\n\n",
            table.header, table.meaning, table.applies
        );
        page.push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
        for Key { name, kind, default, meaning, .. } in table.keys {
            let is_value = toml::from_str::<toml::Table>(&format!("v = {default}")).is_ok();
            let default = if is_value { format!("`{default}`") } else { (*default).to_owned() };
            let _ = writeln!(page, "| `{name}` | {kind} | {default} | {meaning} |");
        }
    }
    let _ = write!(page, "\n## All of it\n\n```toml\n{}```\n", example());
    page
}

/// The tables and their keys, for programs.
///
/// # Errors
/// Memory is exhausted.
pub fn reference_json() -> serde_json::Result<String> {
    serde_json::to_string_pretty(TABLES)
}

/// An example file with every key.
fn example() -> String {
    let mut file = String::new();
    for table in TABLES {
        // A provider has either an address or a script, so the example has one of each.
        for scripted in [false, true] {
            let is_script = |key: &&Key| key.name == "script";
            if scripted && !table.keys.iter().any(|key| is_script(&key)) {
                continue;
            }
            let name = if scripted { "tape" } else { "local" };
            let header = table.header.replace("PROVIDER/MODEL", "local/smollm2");
            let header = match header.split_once(".NAME") {
                Some((table @ ("personas" | "templates"), rest)) => format!("{table}.review{rest}"),
                Some((table, _)) => format!("{table}.{name}"),
                None => header,
            };
            let _ = writeln!(file, "{}[{header}]", if file.is_empty() { "" } else { "\n" });
            // A persona has either a prompt or a file with it.
            let is_here = |key: &&Key| is_script(key) == scripted || (scripted && key.name == "api");
            for key in table.keys.iter().filter(|key| is_here(key) && key.name != "prompt_file") {
                let value = if scripted && key.name == "api" { "\"scripted\"" } else { key.example };
                let _ = writeln!(file, "{} = {value}", key.name);
            }
        }
    }
    file
}

#[cfg(test)]
mod tests;
