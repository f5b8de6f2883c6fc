"""State that outlives a session: breaker, kill switch, rollout stage. In memory, in SQLite, in Redis."""
