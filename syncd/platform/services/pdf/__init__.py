"""Content as PDF: gathered here, laid out by a process that has no network, little time and little memory."""
