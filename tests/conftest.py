"""Settings that every test shares."""

from hypothesis import settings

# Deadlines measure the machine, not the code; the same examples each time make a red run
# repeatable.
settings.register_profile("chaingrad", deadline=None, derandomize=True)
settings.load_profile("chaingrad")
