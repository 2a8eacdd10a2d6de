-- Whether a conversation gives no desktop notifications.
ALTER TABLE conversations ADD COLUMN muted INTEGER NOT NULL DEFAULT 0;
