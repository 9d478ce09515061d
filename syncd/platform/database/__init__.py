"""The database: SQLite or PostgreSQL, and what every table is made of."""
