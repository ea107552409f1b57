"""What is asked: a class for each kind of problem."""
