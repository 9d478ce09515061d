"""Operations, schemas and webhooks of an OpenAPI description, as a reader needs them."""
