-- An index tells which records of a conversation are of which kind, so what a timeline shows needs no table of its own, and a call no
-- index by conversation and by task: each of these was another page to be written with nearly every record.
DROP INDEX records_of_conversation;
CREATE INDEX records_of_conversation ON records (conversation, seq, kind);
DROP TABLE messages;

-- How far a call is. Whose it is, is in its records.
CREATE TABLE call_states (
    -- Of call_planned.
    seq        INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,
    -- Of call_finished.
    finished   INTEGER,
    state      TEXT    NOT NULL,
    attempt    INTEGER NOT NULL,
    started_at INTEGER
) STRICT;
INSERT INTO call_states SELECT seq, id, finished, state, attempt, started_at FROM calls ORDER BY seq;
DROP TABLE calls;
ALTER TABLE call_states RENAME TO calls;
