-- Whether a daemon that starts takes the task up, as the engine says. Before, it was read off the task's status and calls.
ALTER TABLE tasks ADD COLUMN needs_daemon INTEGER NOT NULL DEFAULT 0;
UPDATE tasks SET needs_daemon = 1 WHERE ended = 0 AND (
    status IN ('running', 'thinking', 'tool_executing')
    OR EXISTS (
        SELECT 1 FROM json_each(tasks.brief, '$.activeCalls') call
        WHERE json_extract(call.value, '$.state') IN ('running', 'queued')
    )
);
