"""A revision and the files that hold it in a repository: pure, reversible, the platform's own Git Sync layout."""
