"""What all tests share."""

import os

# Networks in tests are small, and tests run side by side: threads would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
