"""Translations: spaces that follow another one in a second language, made page by page through a provider."""
