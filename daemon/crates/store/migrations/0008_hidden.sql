-- A remembered decision is a record of the hidden conversation (hidden.rs), from which this table follows: one row a call.
-- The decisions that count at this moment become such records.
INSERT INTO records (seq, id, conversation, at, kind, version, body)
SELECT
    (SELECT coalesce(max(seq), 0) FROM records) + row_number() OVER (ORDER BY r.seq),
    randomblob(16),
    x'ab1de000000080008000000000000000',
    coalesce(s.at, unixepoch('subsec') * 1000),
    'rule_added',
    1,
    json_object(
        'rule', lower(hex(r.digest)),
        'allow', json(iif(r.allow, 'true', 'false')),
        'source', s.seq,
        'by', NULL
    )
FROM rules r LEFT JOIN records s ON s.seq = r.seq
WHERE r.seq = (SELECT max(seq) FROM rules WHERE digest = r.digest);

CREATE TABLE current_rules (
    -- SHA-256 of tool, workspace and canonical arguments.
    digest BLOB    PRIMARY KEY,
    -- Of rule_added.
    seq    INTEGER NOT NULL UNIQUE,
    allow  INTEGER NOT NULL,
    -- Of rule_remembered in the conversation of the decision, which may have been deleted.
    source INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO current_rules
SELECT unhex(body ->> '$.rule'), seq, body ->> '$.allow', body ->> '$.source' FROM records WHERE kind = 'rule_added';
DROP TABLE rules;
ALTER TABLE current_rules RENAME TO rules;
