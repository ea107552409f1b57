"""How problems reach a reader: on their page, in a notebook, and what judges lines of NumPy."""
