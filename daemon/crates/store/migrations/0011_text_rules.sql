-- A remembered rule of the rule language has its text, its workspace and its effect here; the decision on one call has none of them.
ALTER TABLE rules ADD COLUMN text TEXT;
ALTER TABLE rules ADD COLUMN workspace TEXT;
-- deny, ask or allow.
ALTER TABLE rules ADD COLUMN effect TEXT;
