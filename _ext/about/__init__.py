"""What the site says of itself and of its pages."""
