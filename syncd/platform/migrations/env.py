"""What Alembic runs for each of its commands: in the caller's transaction, so that all steps happen or none does."""

from alembic import context

from syncd.platform.migrations import belongs
from syncd.platform.tables_all import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # Alembic doubts it of SQLite; with our own BEGIN it is true.
    transactional_ddl=True,
    render_as_batch=True,
    include_name=belongs,
)
context.run_migrations()
