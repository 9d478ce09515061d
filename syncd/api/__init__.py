"""The platform over HTTP: one transport, and one class per resource group; sole importer of httpx."""
