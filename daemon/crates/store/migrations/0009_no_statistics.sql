-- Statistics that were collected while a database had one conversation make SQLite read all records for each conversation. Every query
-- has an index that suits it however many rows there are, so none are collected any more.
DROP TABLE IF EXISTS sqlite_stat1;
DROP TABLE IF EXISTS sqlite_stat4;
