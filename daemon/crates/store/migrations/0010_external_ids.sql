-- The ids that clients have given their tasks.
CREATE TABLE external_ids (
    id           TEXT PRIMARY KEY,
    task         BLOB NOT NULL,
    conversation BLOB NOT NULL REFERENCES conversations (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX external_ids_of_conversation ON external_ids (conversation);
