"""The tools of a course: release assignments, check and grade submissions."""
