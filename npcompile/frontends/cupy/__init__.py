"""Rules of CuPy: one for each function, method, attribute and operator on its arrays. The modules of rules import CuPy, so they
are loaded only when an array or a function of CuPy has been met; `library` is loaded always."""
