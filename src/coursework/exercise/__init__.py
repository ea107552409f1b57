"""What a coding exercise is, and how its page is read."""
