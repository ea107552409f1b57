"""What the lessons draw, a module for each page; the race; and the engine that readers write."""
