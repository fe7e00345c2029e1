"""What every test starts from."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for threads that torch has not met; it is read when torch is loaded

import torch

torch.set_num_threads(1)  # tiny tensors: threads would only get in each other's way
