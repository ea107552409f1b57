"""Find what students handed in, and read it."""
