"""The repository: Git through a hardened process runner; the one room that imports GitPython."""
