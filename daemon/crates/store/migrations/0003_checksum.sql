-- CRC-32 of a record's other columns, as `checksum.rs` computes it. NULL: the record was stored before there were checksums.
ALTER TABLE records ADD COLUMN checksum INTEGER;
