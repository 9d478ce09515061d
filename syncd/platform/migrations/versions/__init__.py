"""One module for each change of the tables, named by its number; none is ever edited once it was released."""
