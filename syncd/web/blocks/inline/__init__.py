"""What stands in a line of text: words with marks, signs, formulas, footnotes."""
