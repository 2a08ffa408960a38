"""Rules of SciPy. Its modules import SciPy, so they are loaded only when a function of SciPy has been met."""
