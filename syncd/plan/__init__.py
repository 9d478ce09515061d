"""Verbs, pure: desired, existing and base in, a plan out."""
