"""Templates: content to start from. A template is a space of the same organization, or one that the platform has.

The product's own catalogue is not public, so the id of a template is the id of a space whose main content is copied,
or one of the names in `builtin`. Two steps, since no content is written inside a transaction::

    prepared = templates.prepare(storage, caller, space_id, use, onto=revision_id)
    with storage.write() as connection:
        saved = templates.apply(storage, connection, prepared, by=caller.user_id)
"""

from syncd.platform.templates.application import PreparedContent, apply_template, prepare_template

__all__ = ["PreparedContent", "apply_template", "prepare_template"]
