"""Pages for people: values in, HTML out, without I/O."""
