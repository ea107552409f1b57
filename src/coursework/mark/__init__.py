"""Mark submissions, and read the marks that a teacher writes by hand."""
