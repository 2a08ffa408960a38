"""Rules of torch: one for each function, method, attribute and operator on tensors. The modules of rules import torch, so they
are loaded only when a tensor or a function of torch has been met; `library` and `gateway` are loaded always."""
