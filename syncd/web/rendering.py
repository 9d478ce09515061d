"""The one Jinja2 environment: templates of this package, strict about names, that escape every value."""

from functools import cache
from typing import TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

Html: TypeAlias = Markup
"""Text that is HTML already, for whoever only hands it on."""


@cache
def _make_environment() -> Environment:
    return Environment(
        loader=PackageLoader("syncd.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render_template(name: str, **values: object) -> Markup:
    """Render a template of `templates/` to HTML. Text among the values is escaped; `Markup` stands as it is."""
    return Markup(_make_environment().get_template(name).render(values))  # noqa: S704
