"""What several features of the site use."""
