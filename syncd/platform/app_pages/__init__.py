"""The platform's pages for editors and reviewers, at the addresses that answers call `urls.app`."""
