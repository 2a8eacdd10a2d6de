-- A remembered decision outlives the conversation in which it was made: the table refers to none any more.
CREATE TABLE lasting_rules (
    seq          INTEGER PRIMARY KEY,
    -- In which it was made. It may have been deleted, and the record with it.
    conversation BLOB    NOT NULL,
    -- SHA-256 of tool, workspace and canonical arguments.
    digest       BLOB    NOT NULL,
    allow        INTEGER NOT NULL
) STRICT;
INSERT INTO lasting_rules SELECT seq, conversation, digest, allow FROM rules;
DROP TABLE rules;
ALTER TABLE lasting_rules RENAME TO rules;
CREATE INDEX rules_by_digest ON rules (digest, seq);
CREATE INDEX rules_of_conversation ON rules (conversation);
