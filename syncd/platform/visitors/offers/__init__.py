"""What pages of a published site offer beside their content: a PDF, a form that asks whether they helped, answers."""
