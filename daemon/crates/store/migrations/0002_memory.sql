-- The memory: what tasks recall of other conversations.

-- normal, no_recall or private.
ALTER TABLE conversations ADD COLUMN memory TEXT NOT NULL DEFAULT 'normal';
-- Tasks recall conversations of the same scope: the workspace, or empty for all private folders, which are named
-- after their conversation.
ALTER TABLE conversations ADD COLUMN scope TEXT NOT NULL DEFAULT '';
UPDATE conversations SET scope = workspace WHERE replace(workspace, '-', '') NOT LIKE '%' || hex(id);
CREATE INDEX conversations_of_scope ON conversations (scope, id);

-- The passages of conversations that tasks may recall. Their texts are made of the records anew (memory.rs).
CREATE TABLE chunks (
    -- The record's seq times 16, and the place in the record.
    id           INTEGER PRIMARY KEY,
    conversation BLOB    NOT NULL,
    -- user, agent, answer, call, sub_task, summary or note.
    source       TEXT    NOT NULL
) STRICT;
CREATE INDEX chunks_of_conversation ON chunks (conversation);
CREATE INDEX chunks_of_summaries ON chunks (id) WHERE source = 'summary';
CREATE INDEX chunks_of_notes ON chunks (id) WHERE source = 'note';

-- Which chunks have which words; a row's id is its chunk's. It follows the records when a task recalls.
CREATE VIRTUAL TABLE memory_words USING fts5 (text, content = '', tokenize = "porter unicode61 remove_diacritics 2");
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);

-- The last record that was looked at for chunks, and the form in which chunks were made.
CREATE TABLE memory_progress (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    seq  INTEGER NOT NULL,
    form INTEGER NOT NULL
) STRICT;
INSERT INTO memory_progress VALUES (1, 0, 1);

-- What chunks mean: vectors of one embedder, a byte a number. A row's id is its chunk's, with which it goes.
CREATE TABLE vectors (
    id     INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    vector BLOB    NOT NULL
) STRICT;

-- Whose vectors they are. Those of another cannot be compared with them.
CREATE TABLE embedder (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    -- The model and the program that runs it; empty: there are no vectors.
    id        TEXT    NOT NULL,
    dimension INTEGER NOT NULL
) STRICT;
INSERT INTO embedder VALUES (1, '', 0);

-- Records that a person has taken out of the memory. They follow from the records of the hidden conversation.
CREATE TABLE forgotten (
    seq INTEGER PRIMARY KEY
) STRICT;

-- Whose words a record `recalled` has: when these are deleted, they are taken out of it.
CREATE TABLE recalled_from (
    conversation BLOB    NOT NULL,
    -- Of the record that was recalled.
    source       INTEGER NOT NULL,
    -- Of the record `recalled`.
    seq          INTEGER NOT NULL,
    PRIMARY KEY (conversation, source, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX recalled_from_by_record ON recalled_from (seq);
