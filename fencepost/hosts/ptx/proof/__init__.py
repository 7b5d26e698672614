"""That no two threads race and no barrier is missed: pairs of accesses in each interval, quick tests, a solver."""
