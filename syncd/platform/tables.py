"""The one table catalogue: `schema` and `content_schema` register their tables here, `storage` creates them."""

import sqlalchemy as sa

metadata = sa.MetaData()
