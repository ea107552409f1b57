"""What problems are made of: graphs, numbers, and the mistakes that people make with them."""
