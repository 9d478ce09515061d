"""The only place where plans meet I/O: a folder for each flow, in the order in which they may import each other."""
