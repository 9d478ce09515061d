"""YAML: read strictly, written as the platform's own exporter writes it."""
