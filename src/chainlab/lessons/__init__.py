"""What the lessons draw, a module for each page, and the engine that the reader writes."""
