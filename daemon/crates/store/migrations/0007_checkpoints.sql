-- The state of a conversation from which a reading can begin at a later record than its first. Derived: without it all are read.
CREATE TABLE checkpoints (
    conversation BLOB    PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    -- Of the first record that the state does not include.
    seq          INTEGER NOT NULL,
    -- Of the body, as the engine numbers it.
    form         INTEGER NOT NULL,
    body         BLOB    NOT NULL,
    -- CRC-32 of the row.
    checksum     INTEGER NOT NULL
) STRICT;
