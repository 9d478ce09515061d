"""`notify`: try the receivers of notifications."""
