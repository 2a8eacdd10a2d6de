-- The truth: what happened, in order. Rows are only ever added, or deleted with their whole conversation.
CREATE TABLE records (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           BLOB    NOT NULL UNIQUE,
    conversation BLOB    NOT NULL,
    task         BLOB,
    at           INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    version      INTEGER NOT NULL,
    body         TEXT    NOT NULL,
    -- CRC-32 of the other columns, as checksum.rs computes it.
    checksum     INTEGER NOT NULL
) STRICT;
-- It tells which records of a conversation are of which kind, so what a timeline shows needs no table of its own.
CREATE INDEX records_of_conversation ON records (conversation, seq, kind);

-- Everything below is derived from the records (and, for tasks, from what the engine makes of them), but for read_marks.
--
-- No statistics are collected: those of a database with one conversation make SQLite read all records for each conversation. Every query
-- has an index that suits it however many rows there are.
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
    task       BLOB,
    -- Whether it gives no desktop notifications.
    muted      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_by_change ON conversations (archived, updated_at, id);

-- How far a call is. Whose it is, is in its records.
CREATE TABLE calls (
    -- Of call_assessed.
    seq        INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,
    -- Of call_finished.
    finished   INTEGER,
    state      TEXT    NOT NULL,
    attempt    INTEGER NOT NULL,
    started_at INTEGER
) STRICT;

CREATE TABLE tasks (
    id           BLOB    PRIMARY KEY,
    conversation BLOB    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    parent       BLOB,
    status       TEXT    NOT NULL,
    ended        INTEGER NOT NULL,
    started_at   INTEGER NOT NULL,
    wake_at      INTEGER,
    -- JSON of the task as lists carry it.
    brief        TEXT    NOT NULL,
    -- Whether a daemon that starts takes the task up, as the engine says.
    needs_daemon INTEGER NOT NULL
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

-- The decisions and rules that are remembered: one row each. They follow from the records of the hidden conversation (hidden.rs).
CREATE TABLE rules (
    -- SHA-256 of tool, workspace and canonical arguments; of a rule's text and workspace.
    digest    BLOB    PRIMARY KEY,
    -- Of rule_added.
    seq       INTEGER NOT NULL UNIQUE,
    allow     INTEGER NOT NULL,
    -- Of rule_remembered in the conversation of the decision, which may have been deleted. Absent: it was made in none.
    source    INTEGER,
    -- A rule of the rule language has these three; the decision on one call has none of them.
    text      TEXT,
    workspace TEXT,
    -- deny, ask or allow.
    effect    TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE client_messages (
    id           TEXT PRIMARY KEY,
    digest       TEXT NOT NULL,
    task         BLOB NOT NULL,
    conversation BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX client_messages_of_conversation ON client_messages (conversation);

-- The ids that clients have given their tasks.
CREATE TABLE external_ids (
    id           TEXT PRIMARY KEY,
    task         BLOB NOT NULL,
    conversation BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX external_ids_of_conversation ON external_ids (conversation);

-- The state of a conversation from which a reading can begin at a later record than its first. Without it all are read.
CREATE TABLE history_snapshots (
    conversation BLOB    PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    -- Of the first record that the state does not include.
    seq          INTEGER NOT NULL,
    -- Of the body, as the engine numbers it.
    form         INTEGER NOT NULL,
    body         BLOB    NOT NULL,
    -- CRC-32 of the row.
    checksum     INTEGER NOT NULL
) STRICT;

-- Which messages have which words. The messages themselves are in the records; a row's id is its record's seq.
-- It follows the records when somebody searches, not when they are appended.
CREATE VIRTUAL TABLE search USING fts5 (text, content = '', tokenize = "unicode61 remove_diacritics 2");
-- What is deleted from it is overwritten, as elsewhere.
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);

-- The last record that was looked at for it.
CREATE TABLE search_progress (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO search_progress VALUES (1, 0);

-- What clients have marked as read, up to and including seq. Not derived from anything.
CREATE TABLE read_marks (
    conversation BLOB    PRIMARY KEY,
    seq          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
