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
