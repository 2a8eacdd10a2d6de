-- The truth: what happened, in order. Rows are only ever added, or deleted with their whole conversation.
CREATE TABLE records (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           BLOB    NOT NULL UNIQUE,
    conversation BLOB    NOT NULL,
    task         BLOB,
    at           INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    body         TEXT    NOT NULL
) STRICT;
CREATE INDEX records_of_conversation ON records (conversation);

-- Everything below is derived from the records (and, for tasks, from what the engine makes of them), but for read_marks.
CREATE TABLE conversations (
    id         BLOB    PRIMARY KEY,
    title      TEXT    NOT NULL,
    workspace  TEXT    NOT NULL,
    mode       TEXT,
    model      TEXT,
    persona    TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived   INTEGER NOT NULL,
    -- Messages after the read mark that are not the person's own.
    unread     INTEGER NOT NULL,
    -- The newest root task.
    task       BLOB
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_by_change ON conversations (archived, updated_at, id);

-- Which records are messages. Their words are in the records.
CREATE TABLE messages (
    conversation BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    seq          INTEGER NOT NULL,
    -- The person's own.
    own          INTEGER NOT NULL,
    PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;

-- Where a call's records are, and how far it is.
CREATE TABLE calls (
    id           BLOB    PRIMARY KEY,
    conversation BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    task         BLOB    NOT NULL,
    -- Of call_planned.
    seq          INTEGER NOT NULL,
    -- Of call_finished.
    finished     INTEGER,
    state        TEXT    NOT NULL,
    attempt      INTEGER NOT NULL,
    started_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_of_conversation ON calls (conversation, seq);
CREATE INDEX calls_of_task ON calls (task, seq);

CREATE TABLE tasks (
    id           BLOB    PRIMARY KEY,
    conversation BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    parent       BLOB,
    status       TEXT    NOT NULL,
    ended        INTEGER NOT NULL,
    started_at   INTEGER NOT NULL,
    wake_at      INTEGER,
    -- JSON of the task as lists carry it.
    brief        TEXT    NOT NULL
) STRICT;
CREATE INDEX tasks_by_start ON tasks (started_at, id);
CREATE INDEX tasks_of_conversation ON tasks (conversation, started_at, id);
CREATE INDEX tasks_unfinished ON tasks (started_at, id) WHERE ended = 0;
CREATE INDEX tasks_by_wake ON tasks (wake_at) WHERE wake_at IS NOT NULL;

-- The long and rarely changing parts of a task, so that they are not written again with every step.
CREATE TABLE task_texts (
    task       BLOB PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    prompt     TEXT NOT NULL,
    -- JSON array.
    scratchpad TEXT NOT NULL
) STRICT;

-- Questions and approvals. Closed ones stay, without their content, so that a late answer finds its task.
CREATE TABLE inbox (
    id           BLOB    PRIMARY KEY,
    kind         TEXT    NOT NULL,
    conversation BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    task         BLOB    NOT NULL,
    at           INTEGER NOT NULL,
    -- JSON; absent: closed.
    item         TEXT
) STRICT;
CREATE INDEX inbox_open ON inbox (at, id) WHERE item IS NOT NULL;
CREATE INDEX inbox_of_task ON inbox (task) WHERE item IS NOT NULL;
CREATE INDEX inbox_of_conversation ON inbox (conversation);

CREATE TABLE rules (
    seq          INTEGER PRIMARY KEY,
    conversation BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- SHA-256 of tool, workspace and canonical arguments.
    digest       BLOB    NOT NULL,
    allow        INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_by_digest ON rules (digest, seq);
CREATE INDEX rules_of_conversation ON rules (conversation);

CREATE TABLE client_messages (
    id           TEXT PRIMARY KEY,
    digest       TEXT NOT NULL,
    task         BLOB NOT NULL,
    conversation BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX client_messages_of_conversation ON client_messages (conversation);

-- What clients have marked as read, up to and including seq. Not derived from anything.
CREATE TABLE read_marks (
    conversation BLOB    PRIMARY KEY,
    seq          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
