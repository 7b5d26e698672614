"""What registers hold, as exact functions of the thread, loop iterations and parameters."""
