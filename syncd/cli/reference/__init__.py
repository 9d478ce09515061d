"""`help`, `man`, `schema`, `example`, `completion`: what comes with syncd, printed."""
