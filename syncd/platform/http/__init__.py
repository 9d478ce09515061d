"""HTTP: routes, lists, answers and refusals, and what a request may cost."""
