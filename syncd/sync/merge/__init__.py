"""The one merge of the program: what two commits have both known, and what they come to together."""
